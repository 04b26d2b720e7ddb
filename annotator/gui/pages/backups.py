"""The Backups page: inspect a backup, then restore it; the present file is set aside."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from annotator.actions.project import backups
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState


class BackupList(QWidget):
    """The backups of a project file, which need not itself be readable."""

    restored = Signal(object)
    """The project file, with the backup's content in it."""
    refused = Signal(object)

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self.setWindowTitle(f"Backups of {path.name}")
        self.resize(720, 460)
        self.list = QListWidget()
        self.list.setAccessibleName("Backups, newest first")
        self.list.currentItemChanged.connect(lambda *_: self._peek())
        self.about = PlainLabel("Select a backup to see its contents.", wrap=True)
        card = QFrame()
        card.setProperty("role", "card")
        QVBoxLayout(card).addWidget(self.about)
        self.take = push_button("Restore this backup", self._restore, "primary")
        foot = horizontal(StretchSpace(1), self.take)
        self.nothing = EmptyState(
            "restore",
            "No backup yet",
            "One is made every half hour of work, before every import, and when you ask for it.",
        )
        self.body = stacked(self.list, self.nothing)
        vertical((self.body, 1), card, foot, on=self, margins=0)
        self._card = card
        self.fill()

    def fill(self) -> None:
        """List the backups again."""
        self.list.clear()
        found = backups.listing(self._path)
        for backup in found:
            when = f"{local(backup.at):%A %d %B %Y, %H:%M:%S}"
            about = [when, f"{backup.size / 1e6:.1f} MB", backup.why, backup.problem]
            entry = QListWidgetItem("   ".join(part for part in about if part))
            entry.setData(Qt.ItemDataRole.UserRole, backup.path)
            self.list.addItem(entry)
        self.body.setCurrentWidget(self.list if found else self.nothing)
        for widget in (self._card, self.take):
            widget.setVisible(bool(found))
        self.take.setEnabled(False)
        self.list.setCurrentRow(0 if found else -1)

    def _peek(self) -> None:
        entry: QListWidgetItem | None = self.list.currentItem()
        if entry is None:
            return
        try:
            found = backups.peek(entry.data(Qt.ItemDataRole.UserRole))
        except Refusal as refusal:
            self.about.setText(str(refusal))
            self.take.setEnabled(False)
            return
        last = f"{local(found.last_change):%Y-%m-%d %H:%M:%S}" if found.last_change else "never"
        self.about.setText(
            f"“{found.title}”: {counted(found.items, 'item')}, {counted(found.artifacts, 'artifact')}, "
            f"{counted(found.judgements, 'judgement')}. "
            f"Last change: {last}. {found.problem}"
        )
        self.take.setEnabled(not found.problem)

    def _restore(self) -> None:
        entry: QListWidgetItem | None = self.list.currentItem()
        if entry is None:
            return
        try:
            backups.restore(self._path, entry.data(Qt.ItemDataRole.UserRole))
        except Refusal as refusal:
            self.about.setText(str(refusal))
            self.refused.emit(refusal)
            return
        self.restored.emit(self._path)
        self.close()


class BackupsPage(Page):
    """Backups of the open project."""

    NAME = "Backups"
    ICON = "restore"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        title = PlainLabel("Backups", "title")
        hint = PlainLabel(
            "A verified copy is made every half hour of work and before every import. "
            "Restoring keeps the current file under another name; nothing is deleted.",
            "hint",
            wrap=True,
        )
        self.list = BackupList(desk.project.path)
        # The open file must be given back before another takes its place.
        self.list.take.clicked.disconnect()
        self.list.take.clicked.connect(self._restore)
        self.now = push_button("Back up now", self._back_up)
        self.now.setEnabled(not desk.project.readonly)
        vertical(
            title,
            hint,
            (self.list, 1),
            horizontal(self.now, StretchSpace(1)),
            on=self,
            margins=(20, 16, 20, 12),
        )

    def arrive(self, place: dict[str, Any]) -> None:
        self.list.fill()

    def focus_first(self) -> None:
        self.list.list.setFocus()

    def _back_up(self) -> None:
        if self.desk.do(backups.make, "asked for") is not None:
            self.list.fill()

    def _restore(self) -> None:
        entry = self.list.list.currentItem()
        window: Any = self.window()
        if entry is not None and hasattr(window, "restore_backup"):
            window.restore_backup(entry.data(Qt.ItemDataRole.UserRole))
