"""The Check page: checks the whole file and lists what it found."""

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QListWidget,
    QSizePolicy,
)

from annotator.actions.releases import checking
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, vertical

CHECKED = {
    "item": ("item",),
    "source": ("source",),
    "response": ("report",),
    "artifact": ("artifact",),
    "revision": ("revision",),
    "judgement": ("judgement",),
    "call": ("call to a judge", "calls to judges"),
    "audit": ("recorded change",),
}


class CheckPage(Page):
    """One button, one list of findings."""

    NAME = "Check"
    ICON = "check"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        title = PlainLabel("Check this project", "title")
        hint = PlainLabel(
            "Every page of the file, every hash of what people wrote, and every link between rows is checked.",
            "hint",
            wrap=True,
        )
        self.answer, self.counted = QLabel(), QLabel()
        for label, role in ((self.answer, "subtitle"), (self.counted, "hint")):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
            label.setProperty("role", role)
        card = QFrame()
        card.setProperty("role", "card")
        vertical(self.answer, self.counted, on=card)
        self.list = QListWidget()
        self.list.setAccessibleName("Findings")
        self.list.hide()
        self.again = push_button("Check now", self._check, "primary")
        self.mend = push_button("Repair what can be rebuilt", self._mend)
        self.mend.hide()
        self.restore = push_button("See the backups", lambda: self.desk.go("Backups"))
        foot = horizontal(StretchSpace(1), self.mend, self.restore, self.again)
        self.list.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        parts = title, hint, card, (self.list, 1), StretchSpace(0), foot
        vertical(*parts, on=self, margins=(20, 16, 20, 12))

    def arrive(self, place: dict[str, Any]) -> None:
        self._check()

    def focus_first(self) -> None:
        self.again.setFocus()

    def _check(self) -> None:
        self.answer.setText("Checking…")
        self.counted.clear()
        self.again.setEnabled(False)
        self.desk.ask_later(self._show, checking.check)

    def _show(self, report: Any) -> None:
        self.again.setEnabled(True)
        self.list.clear()
        for problem in report.problems:
            self.list.addItem(str(problem))
        self.list.setVisible(bool(report.problems))
        mendable = any(problem.todo == checking.MENDABLE for problem in report.problems)
        self.mend.setVisible(mendable and not self.desk.project.readonly)
        found = len(report.problems)
        self.answer.setText(f"{counted(found, 'problem')} found." if found else "✓  Everything is in order.")
        parts = [
            counted(number, *words) for name, words in CHECKED.items() if (number := report.counted.get(name))
        ]
        self.counted.setText(f"Checked: {', '.join(parts)}." if parts else "")
        self.desk.tell_end("The project is checked.", "Check", self)

    def _mend(self) -> None:
        self.desk.do(checking.mend)
        self._check()
