"""The people of the project: roles, joining, leaving, and who this window works as."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from annotator.actions.assignments import assignments
from annotator.actions.labelling.board import StatusTotal
from annotator.actions.project import people
from annotator.domain.experts.person import Person, Role
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.lines_table import LinesTable

ALIASES = "Pseudonym in every export; the name is never exported."
NAME, _, _, _, _, WORK, STANDING = range(7)
ROLES = {2: Role.ANNOTATOR, 3: Role.ADJUDICATOR, 4: Role.COORDINATOR}


class PeopleTable(QWidget):
    """The table of people with a line to add one; `model.editable` says whether this person may change it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._open: Mapping[str, StatusTotal] = {}
        self.model = PeopleModel(desk)
        self.list = LinesTable("People", self.model, self.model.widths, stretched=NAME)
        self.list.firm = self.model.firm
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.activated.connect(lambda _: self.work_as())
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._offer())
        self.answer = MessageBar()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 10, 0, 0)
        column.setSpacing(8)
        column.addWidget(PlainLabel(
            "Everyone sees their own work and the consensus, never another annotator's work. Names stay in "
            "this file; exports contain only the alias. When people leave, their work is "
            "kept.", "hint", wrap=True,
        ))  # fmt: skip
        column.addWidget(self.list, 1)
        self.answer.float_over(self.list)
        self.adding = self._new_person()
        column.addWidget(self.adding)
        column.addLayout(self._foot())
        self.rebind()

    def _new_person(self) -> QWidget:
        self.name, self.alias = LineField(placeholderText="Name of a new person"), LineField()
        self.name.setAccessibleName("Name of a new person")
        self.alias.setPlaceholderText("Alias: next free")
        self.alias.setAccessibleName("Alias of the new person; by default the next free one")
        self.alias.setMaximumWidth(170)
        for field in (self.name, self.alias):
            field.returnPressed.connect(self.add)
        self.roles = {role: QCheckBox(role.value) for role in Role}
        self.roles[Role.ANNOTATOR].setChecked(True)
        add = KeyButton("Add")
        add.clicked.connect(self.add)
        line = QWidget()
        line.setLayout(wrapping(self.name, self.alias, *self.roles.values(), add))
        return line

    def _foot(self) -> QHBoxLayout:
        self.rename, self.leaving = KeyButton("Rename"), KeyButton("Left the project")
        self.work = KeyButton("Work as this person", "↵", role="primary")
        for button, slot in (
            (self.rename, self.begin_renaming),
            (self.leaving, self.leave_or_return),
            (self.work, self.work_as),
        ):
            button.clicked.connect(slot)
        return horizontal(self.rename, self.leaving, StretchSpace(1), self.work)

    def rebind(self) -> None:
        """Print the keys as they now are on the buttons."""
        self.rename.set_key(keys.shown("rename_person"))
        self.leaving.set_key(keys.shown("leave_or_return"))

    def focus_first(self) -> None:
        self.list.setFocus()

    def fill(
        self, everybody: Sequence[Person], work: Mapping[str, StatusTotal], *, coordinates: bool
    ) -> None:
        """Show everybody as they now are; only a coordinator may change it and is told of everybody's work."""
        chosen, editable = self._person(), coordinates and not self._desk.project.readonly
        self._open = work
        self.model.editable = editable
        self.model.fill(everybody, work)
        wanted = chosen.id if chosen else self._desk.project.by
        if self.list.currentIndex().row() < 0 or chosen is None:
            self.list.setCurrentIndex(self.model.index(max(0, self.model.row_of(wanted)), NAME))
        self.adding.setVisible(editable)
        self.list.setColumnHidden(WORK, not coordinates)
        self.rename.setVisible(editable)
        self.leaving.setVisible(editable)
        self._offer()

    def add(self) -> None:
        """Add the person whose name was typed."""
        roles = tuple(role for role, box in self.roles.items() if box.isChecked())
        if not self.name.text().strip():
            self.name.setFocus()
            return
        change = self._desk.do(people.add_person, self.name.text(), roles, self.alias.text().strip())
        if change is not None:
            self.name.clear()
            self.alias.clear()
            self.list.setCurrentIndex(self.model.index(self.model.row_of(change.subject), NAME))
            self.name.setFocus()

    def begin_renaming(self) -> None:
        if self.model.editable and self._person() is not None:
            self.list.setFocus()
            self.list.edit(self.model.index(self.list.currentIndex().row(), NAME))

    def leave_or_return(self) -> None:
        """Let the chosen person leave the project, or take them back in."""
        person = self._person()
        if person is None or not self.model.editable:
            return
        verb = people.deactivate if person.active else people.reactivate
        self.answer.clear()
        if self._desk.do(verb, person.id) is not None and person.active:
            self._offer_withdrawal(person)

    def _offer_withdrawal(self, person: Person) -> None:
        """What is still asked of someone who left would never be handed in, and its pair never complete."""
        work = self._open.get(person.id)
        left = work.assignments - work.handed_in if work else 0
        if left <= 0:
            return
        pieces = counted(left, "piece")
        self.answer.show_message(
            "warning",
            f"{person.name} left the project with {pieces} of work not handed in.",
            "Until these are withdrawn and handed out again, their pairs stay incomplete.",
        )
        self.answer.set_action(f"Withdraw {pieces}", lambda: self._withdraw(person.id))

    def _withdraw(self, person_id: str) -> None:
        if self._desk.do(assignments.withdraw_open, person_id) is not None:
            self.answer.show_message(
                "success", "Withdrawn.", "Hand out the same plan again to fill the gaps with other people."
            )

    def work_as(self) -> None:
        person = self._person()
        window: Any = self.window()
        if person is not None and person.active and hasattr(window, "choose_person"):
            window.choose_person(person.id)

    def _person(self) -> Person | None:
        return self.model.at(self.list.currentIndex().row())

    def _offer(self) -> None:
        person = self._person()
        here = person is not None and person.id == self._desk.project.by
        self.leaving.set_words("Left the project" if person is None or person.active else "Returned")
        self.leaving.setEnabled(person is not None and not here)
        self.leaving.set_hint("Work as somebody else first" if here else "All their work is kept")
        self.rename.setEnabled(person is not None)
        self.work.setEnabled(person is not None and person.active)
        self.list.setAccessibleDescription("Space ticks a role, Enter works as the person")


class PeopleModel(CellsModel[Person]):
    """Editable names and role check boxes, where `editable` permits."""

    def __init__(self, desk: Desk) -> None:
        roles = (("Annotator", 96), ("Adjudicator", 104), ("Coordinator", 108))
        super().__init__(
            (
                Column(
                    "Name",
                    lambda person: person.name,
                    260,
                    tip=lambda person: f"{person.name}\nid {person.id}",
                    look=_gone,
                ),
                Column("Alias", lambda person: person.alias, 110, tip=lambda _: ALIASES, look=_gone),
                *(Column(title, lambda _: "", width) for title, width in roles),
                Column("Handed in", self._handed_in, 130, tip=self._by_state, look=_gone),
                Column(
                    "Standing", self._standing, 120, tip=lambda _: "", look=self._look_of_standing, firm=True
                ),
            ),
            desk,
        )
        self._desk = desk
        self._work: Mapping[str, StatusTotal] = {}
        self.editable = False

    def fill(self, everybody: Sequence[Person], work: Mapping[str, StatusTotal]) -> None:
        """Show these people in this order, each with what is assigned to them."""
        self._work = work
        same = [person.id for person in everybody] == [person.id for person in self._rows]
        self.take_over(list(everybody), in_place=same)

    def row_of(self, person_id: str) -> int:
        """The row of a person, or -1."""
        return self.place_of(lambda person: person.id == person_id)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Names can be edited and roles ticked by those who may."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if self.editable and index.column() == NAME:
            flags |= Qt.ItemFlag.ItemIsEditable
        if self.editable and index.column() in ROLES:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows; a role is a box, a name is typed."""
        person, held = self.at(index.row()), ROLES.get(index.column())
        if person is not None and held and role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if person.has(held) else Qt.CheckState.Unchecked
        if person is not None and held and role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{self.columns[index.column()]}: {'yes' if person.has(held) else 'no'}"
        if person is not None and role == Qt.ItemDataRole.EditRole and index.column() == NAME:
            return person.name
        return super().data(index, role)

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Rename a person, or give or take a role."""
        person, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.EditRole and column == NAME:
            name = str(value).strip()
            return name != person.name and self._desk.do(people.rename_person, person.id, name) is not None
        if role == Qt.ItemDataRole.CheckStateRole and column in ROLES:
            wanted = Qt.CheckState(value) == Qt.CheckState.Checked
            held = {each for each in Role if person.has(each)} - {ROLES[column]}
            roles = tuple(held | {ROLES[column]}) if wanted else tuple(held)
            return self._desk.do(people.set_roles, person.id, roles) is not None
        return False

    def _handed_in(self, person: Person) -> str:
        work = self._work.get(person.id)
        return f"{work.handed_in:,} of {work.assignments:,}" if work else "nothing assigned"

    def _by_state(self, person: Person) -> str:
        work = self._work.get(person.id)
        return "\n".join(f"{state}: {count}" for state, count in work.states.items()) if work else ""

    def _standing(self, person: Person) -> str:
        if not person.active:
            return "left the project"
        return "this window" if person.id == self._desk.project.by else ""

    def _look_of_standing(self, person: Person) -> tuple[str, str] | None:
        if not person.active:
            return "minus", "state-missing"
        return ("annotator", "accent") if person.id == self._desk.project.by else None


def _gone(person: Person) -> tuple[str, str] | None:
    return None if person.active else ("", "text-disabled")
