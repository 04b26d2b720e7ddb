"""Actions on assignments: withdraw, change the due date, reassign."""

from collections.abc import Callable, Sequence
from datetime import datetime

from PySide6.QtCore import QDate, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDateEdit, QFrame, QMenu, QWidget

from annotator.actions.assignments import assignments
from annotator.actions.labelling.board import AssignmentStatus
from annotator.domain.experts.person import Person
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.due import end_of_day
from annotator.gui.desk.naming import named
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.layouts import StretchSpace, horizontal
from annotator.gui.widgets.plain import PlainLabel

FORTNIGHT = 14
_INSIDE = Qt.ShortcutContext.WidgetWithChildrenShortcut


class DueBar(QFrame):
    """A line to choose another date; Enter sets it, Esc cancels."""

    chosen = Signal(object)
    """A datetime, or None for no date."""
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self.words, self.date = PlainLabel("", "strong"), QDateEdit(QDate.currentDate().addDays(FORTNIGHT))
        self.date.setCalendarPopup(True)
        self.date.setDisplayFormat("ddd d MMM yyyy")
        self.date.setAccessibleName("Due by the end of")
        set_it, none = KeyButton("Set", "↵", role="primary"), KeyButton("No date")
        cancel = KeyButton("Leave unchanged", "Esc", role="quiet")
        set_it.clicked.connect(self._set)
        none.clicked.connect(lambda: self._tell(None))
        cancel.clicked.connect(self.close_bar)
        horizontal(
            self.words, self.date, set_it, none, StretchSpace(1), cancel, on=self, margins=(12, 6, 8, 6)
        )
        for key, slot in (("Return", self._set), ("Enter", self._set), ("Esc", self.close_bar)):
            action = QAction(self)
            action.setShortcut(QKeySequence(key))
            action.setShortcutContext(_INSIDE)
            action.triggered.connect(slot)
            self.addAction(action)
        theme.set_role(self, level="info")
        self.hide()

    def open_for(self, lines: Sequence[AssignmentStatus]) -> None:
        """Ask for the date of these."""
        due = next((line.due for line in lines if line.due), None)
        if due is not None:
            date = local(due).date()
            self.date.setDate(QDate(date.year, date.month, date.day))
        self.words.setText(f"{counted(len(lines), 'piece')} due by the end of")
        self.show()
        self.date.setFocus()

    def close_bar(self) -> None:
        """Leave everything as it is."""
        self.hide()
        self.left.emit()

    def _set(self) -> None:
        self._tell(end_of_day(self.date.date()))

    def _tell(self, due: datetime | None) -> None:
        self.hide()
        self.chosen.emit(due)
        self.left.emit()


class BoardActs:
    """Acts on the chosen lines, with the result in `answer`."""

    def __init__(
        self, desk: Desk, chosen: Callable[[], Sequence[AssignmentStatus]], answer: MessageBar
    ) -> None:
        self._desk, self._chosen, self._answer = desk, chosen, answer

    def withdraw(self) -> None:
        """Take the chosen pieces back; those handed in stay."""
        lines = self._chosen()
        if not lines or self._desk.project.readonly:
            return
        change = self._desk.do(assignments.withdraw_all, [line.assignment_id for line in lines])
        if change is not None:
            gone = len(change.before["rows"])
            kept = len(lines) - gone
            rest = f" {counted(kept, 'piece')} stayed: handed in already." if kept else ""
            self._say(
                f"Withdrew {counted(gone, 'piece')}.{rest}", "Existing work is kept; nobody else sees it."
            )

    def set_due(self, due: datetime | None) -> None:
        """Give the chosen pieces another date."""
        ids = [line.assignment_id for line in self._chosen()]
        if ids and self._desk.do(assignments.change_due, ids, due) is not None:
            self._answer.clear()

    def offer_people(self, parent: QWidget, at: QPoint) -> QMenu | None:
        """A menu of those who could take the chosen piece over; None where there is nothing to hand over."""
        lines = self._chosen()
        if len(lines) != 1 or self._desk.project.readonly:
            if lines:
                self._answer.show_message("info", "Pieces are reassigned one by one.", "Select a single row.")
            return None
        menu = self.people_menu(lines[0], parent)
        menu.popup(at)
        return menu

    def people_menu(self, line: AssignmentStatus, parent: QWidget) -> QMenu:
        """Those who could take a piece over."""
        menu = QMenu("Reassign to", parent)
        found = self._desk.ask(assignments.candidates, line.assignment_id) or []
        for person in found if not line.handed_in else ():
            self._add(menu, line, person)
        if menu.isEmpty():
            why = "It is handed in already" if line.handed_in else "Nobody else may do this piece"
            menu.addAction(why).setEnabled(False)
        return menu

    def _add(self, menu: QMenu, line: AssignmentStatus, person: Person) -> None:
        action = menu.addAction(named(person.alias, person.name).replace("&", "&&"))
        action.triggered.connect(lambda: self.reassign(line, person.id, person.name))

    def reassign(self, line: AssignmentStatus, person_id: str, name: str) -> None:
        """Hand a piece to someone else."""
        if self._desk.do(assignments.reassign, line.assignment_id, person_id) is not None:
            self._say(f"Item {line.item_key} went to {name}.", f"{line.person}'s work on it stays theirs.")

    def _say(self, happened: str, todo: str) -> None:
        self._answer.show_message("success", happened, f"{todo} {keys.shown('undo')} undoes it.")
