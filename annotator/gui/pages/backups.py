"""The Backups page: inspect a backup, then restore it; the present file is set aside."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QSizePolicy, QVBoxLayout, QWidget

from annotator.actions.project import backups
from annotator.actions.releases import checking
from annotator.domain.common import Refusal, counted, local
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import (
    PlainLabel,
    Stack,
    StretchSpace,
    add_entry,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState

MOMENT = "%A %d %B %Y, %H:%M:%S"


class BackupList(QWidget):
    """The backups of a project file, which itself need not be readable."""

    restored = Signal(object)
    """The project file, restored from a backup."""

    def __init__(self, path: Path, restore: Callable[[Path], object] | None = None) -> None:
        super().__init__()
        self._path, self._put_back = path, restore or self._put_back_here
        self.setWindowTitle(f"Backups of {path.name}")
        self.resize(720, 460)
        self.list = with_properties(QListWidget(), accessibleName="Backups, newest first")
        self.list.currentItemChanged.connect(lambda *_: self._peek())
        self.about = PlainLabel("Select a backup to see its contents.", wrap=True)
        self._card = with_properties(QFrame(), role="card")
        QVBoxLayout(self._card).addWidget(self.about)
        self.take = push_button("Restore this backup", self._restore, "primary")
        self.nothing = EmptyState(
            "restore",
            "No backup yet",
            "One is made every half hour of work, before every import, and when you ask for it.",
        )
        self.body = Stack(self.list, self.nothing)
        vertical((self.body, 1), self._card, horizontal(StretchSpace(1), self.take), on=self, margins=0)
        self.fill()

    def fill(self) -> None:
        self.list.clear()
        result = backups.listing(self._path)
        for backup in result:
            when = format(local(backup.at), MOMENT)
            about = [when, f"{backup.size / 1e6:.1f} MB", backup.why, backup.problem]
            add_entry(self.list, "   ".join(part for part in about if part), backup.path)
        self.body.setCurrentWidget(self.list if result else self.nothing)
        for widget in (self._card, self.take):
            widget.setVisible(bool(result))
        self.take.setEnabled(False)
        self.list.setCurrentRow(0 if result else -1)

    def _peek(self) -> None:
        entry: QListWidgetItem | None = self.list.currentItem()
        if entry is None:
            return
        try:
            result = backups.peek(entry.data(Qt.ItemDataRole.UserRole))
        except Refusal as refusal:
            self.about.setText(str(refusal))
            self.take.setEnabled(False)
            return
        last = format(local(result.last_change), MOMENT) if result.last_change else "never"
        self.about.setText(
            f"“{result.title}”: {counted(result.items, 'item')}, {counted(result.artifacts, 'document')}, "
            f"{counted(result.judgements, 'judgement')}. "
            f"Last change: {last}. {result.problem}"
        )
        self.take.setEnabled(not result.problem)

    def _restore(self) -> None:
        entry: QListWidgetItem | None = self.list.currentItem()
        if entry is not None:
            self._put_back(entry.data(Qt.ItemDataRole.UserRole))

    def _put_back_here(self, backup: Path) -> None:
        try:
            backups.restore(self._path, backup)
        except Refusal as refusal:
            self.about.setText(str(refusal))
            return
        self.restored.emit(self._path)
        self.close()


class BackupsPage(Page):
    NAME = "Backups"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        # The open file must be closed before another replaces it.
        self.list = BackupList(session.project.path, session.restore_wanted.emit)
        self.now = push_button("Back up now", self._back_up, enabled=not session.project.readonly)
        vertical(
            PlainLabel("Backups", "title"),
            PlainLabel(
                "A verified copy is made every half hour of work and before every import. "
                "Restoring keeps the current file under another name; nothing is deleted.",
                "hint",
                wrap=True,
            ),
            (self.list, 1),
            horizontal(self.now, StretchSpace(1)),
            on=self,
            margins=(20, 16, 20, 12),
        )
        self.focus_on = self.list.list

    def navigate(self, place: dict[str, Any]) -> None:
        self.list.fill()

    def _back_up(self) -> None:
        if self.session.do(backups.make, "asked for") is not None:
            self.list.fill()


CHECKED = {
    "item": ("item",),
    "source": ("source",),
    "response": ("report",),
    "artifact": ("document",),
    "revision": ("revision",),
    "judgement": ("judgement",),
    "call": ("call to a judge", "calls to judges"),
    "audit": ("recorded change",),
}


class CheckPage(Page):
    NAME = "Check"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.answer, self.counted = PlainLabel("", "subtitle", wrap=True), PlainLabel("", "hint", wrap=True)
        card = with_properties(QFrame(), role="card")
        vertical(self.answer, self.counted, on=card)
        self.list = with_properties(QListWidget(), accessibleName="Findings", visible=False)
        self.again = push_button("Check now", self._check, "primary")
        self.mend = push_button("Repair what can be rebuilt", self._mend, visible=False)
        self.restore = push_button("See the backups", lambda: self.session.go("Backups"))
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        vertical(
            PlainLabel("Check this project", "title"),
            PlainLabel(
                "Every page of the file, every hash of what people wrote, and every link between rows is checked.",
                "hint",
                wrap=True,
            ),
            card,
            (self.list, 1),
            StretchSpace(0),
            horizontal(StretchSpace(1), self.mend, self.restore, self.again),
            on=self,
            margins=(20, 16, 20, 12),
        )
        self.focus_on = self.again

    def navigate(self, place: dict[str, Any]) -> None:
        self._check()

    def _check(self) -> None:
        self.answer.setText("Checking…")
        self.counted.clear()
        self.again.setEnabled(False)
        self.session.ask_later(self._show, checking.check)

    def _show(self, report: Any) -> None:
        self.again.setEnabled(True)
        self.list.clear()
        for problem in report.problems:
            self.list.addItem(str(problem))
        self.list.setVisible(bool(report.problems))
        mendable = any(problem.todo == checking.MENDABLE for problem in report.problems)
        self.mend.setVisible(mendable and not self.session.project.readonly)
        result = len(report.problems)
        self.answer.setText(
            f"{counted(result, 'problem')} found." if result else "✓  Everything is in order."
        )
        parts = [
            counted(number, *words) for name, words in CHECKED.items() if (number := report.counted.get(name))
        ]
        self.counted.setText(f"Checked: {', '.join(parts)}." if parts else "")
        self.session.tell_end("The project is checked.", "Check", self)

    def _mend(self) -> None:
        self.session.do(checking.mend)
        self._check()
