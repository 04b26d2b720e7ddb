"""Revisions of a document: a list, newest first, and the words of the chosen one."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit, QSplitter, QWidget

from annotator.actions.authoring import artifacts
from annotator.actions.authoring.artifacts import RevisionLine
from annotator.actions.project import people
from annotator.domain.kinds.artifact import Artifact
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.review.revision_text import as_text, line
from annotator.gui.widgets import icons
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import vertical

# While typing goes on the list is not read again at every revision.
SETTLE_MS = 800


class HistoryList(QWidget):
    """The revisions of an artifact, read only while visible."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.desk = desk
        self._artifact: Artifact | None = None
        self._revisions: list[RevisionLine] = []
        self.list, self.words = QListWidget(), QPlainTextEdit()
        self.list.setAccessibleName("Revisions, newest first")
        self.list.currentRowChanged.connect(self._show_words)
        self.words.setReadOnly(True)
        self.words.setTabChangesFocus(True)
        self.words.setAccessibleName("Text of the selected revision")
        parts = QSplitter(Qt.Orientation.Vertical)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.list)
        parts.addWidget(self.words)
        vertical(parts, on=self, margins=0)
        self._settle = later(self, self.wake, SETTLE_MS)

    def follow(self, artifact: Artifact | None) -> None:
        """List this artifact's revisions from now on."""
        other = self._artifact is None or artifact is None or artifact.id != self._artifact.id
        self._artifact = artifact
        if other:
            self.wake()
        else:
            self._settle.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Read what has come since."""
        super().showEvent(event)
        self.wake()

    def wake(self) -> None:
        """Read the revisions again, if the list is seen."""
        if not self.isVisible():
            return
        found = self.desk.ask(artifacts.revision_lines, self._artifact.id) if self._artifact else []
        if [r.id for r in found or []] == [r.id for r in self._revisions]:
            return
        self._revisions = found or []
        aliases = {person.id: person.alias for person in self.desk.ask(people.people) or []}
        self.list.clear()
        for revision in self._revisions:
            entry = QListWidgetItem(line(revision, aliases.get(revision.by, "")))
            if revision.sealed:
                entry.setIcon(icons.icon("lock", theme.current().px(16), "state-agreed"))
            self.list.addItem(entry)
        self.list.setCurrentRow(0)

    def _show_words(self, row: int) -> None:
        words = ""
        if self._artifact is not None and 0 <= row < len(self._revisions):
            numbers = (self._revisions[row].number,)
            for whole in self.desk.ask(artifacts.revisions, self._artifact.id, numbers) or ():
                words = as_text(self._artifact.kind, whole)
        self.words.setPlainText(words)
