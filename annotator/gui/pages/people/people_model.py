"""Qt model of the people: a row per person, roles as check boxes."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt

from annotator.actions.labelling.board import StatusTotal
from annotator.actions.project import people
from annotator.domain.experts.person import Person, Role
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.rows import Index

ALIASES = "Pseudonym in every export; the name is never exported."
NAME, _, _, _, _, WORK, STANDING = range(7)
ROLES = {2: Role.ANNOTATOR, 3: Role.ADJUDICATOR, 4: Role.COORDINATOR}


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
