"""Qt model of the people: a row per person, roles as check boxes."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt

from annotator.actions.labelling.board import StatusTotal
from annotator.actions.project import people
from annotator.domain.experts.person import Person, Role
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.rows import Index, RowsModel
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

COLUMNS = ("Name", "Alias", "Annotator", "Adjudicator", "Coordinator", "Handed in", "Standing")
NAME, ALIAS, _, _, _, WORK, STANDING = range(len(COLUMNS))
ROLES = {2: Role.ANNOTATOR, 3: Role.ADJUDICATOR, 4: Role.COORDINATOR}


class PeopleModel(RowsModel[Person]):
    """Editable names and role check boxes, where `editable` permits."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(COLUMNS, desk)
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
        return next((row for row, person in enumerate(self._rows) if person.id == person_id), -1)

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
        """What a cell shows."""
        if not index.isValid():
            return None
        person, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.CheckStateRole and column in ROLES:
            return Qt.CheckState.Checked if person.has(ROLES[column]) else Qt.CheckState.Unchecked
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole):
            return self._words(person, column)
        if role == Qt.ItemDataRole.ForegroundRole and not person.active:
            return theme.token("text-disabled")
        if role == Qt.ItemDataRole.DecorationRole and column == STANDING:
            return self._picture(person)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(self._explained(person, column))
        if role == Qt.ItemDataRole.AccessibleTextRole and column in ROLES:
            return f"{COLUMNS[column]}: {'yes' if person.has(ROLES[column]) else 'no'}"
        return None

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

    def _words(self, person: Person, column: int) -> str:
        if column == NAME:
            return person.name
        if column == ALIAS:
            return person.alias
        if column == WORK:
            work = self._work.get(person.id)
            return f"{work.handed_in} of {work.assignments}" if work else "nothing assigned"
        if column == STANDING:
            return self._standing(person)
        return ""

    def _standing(self, person: Person) -> str:
        if not person.active:
            return "left the project"
        return "this window" if person.id == self._desk.project.by else ""

    def _picture(self, person: Person) -> Any:
        size = theme.current().px(15)
        if not person.active:
            return icon("minus", size, "state-missing")
        return icon("annotator", size, "accent") if person.id == self._desk.project.by else None

    def _explained(self, person: Person, column: int) -> str:
        if column == NAME:
            return f"{person.name}\nid {person.id}"
        if column == ALIAS:
            return "Pseudonym in every export; the name is never exported."
        work = self._work.get(person.id)
        if column == WORK and work is not None:
            return "\n".join(f"{state}: {count}" for state, count in work.states.items())
        return ""
