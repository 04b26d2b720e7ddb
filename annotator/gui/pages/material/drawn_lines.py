"""Qt models of extracts: a row per report or item, and a row per unit of one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.items.drawn_parts import CurrentPart, PartStatus
from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.keypoints import KeyPoint
from annotator.domain.material.part import Claim, ResponsePart, Sentence
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.gui import theme
from annotator.gui.tables.cells import Column
from annotator.gui.tables.rows import Index, RowsModel, resetting
from annotator.gui.widgets.basics import tooltip

# How far a version is → words, icon, colour.
STANDINGS: dict[PartStatus | None, tuple[str, str, str]] = {
    None: ("not extracted", "minus", "state-missing"),
    PartStatus.DRAWN: ("to confirm", "question", "state-unconfirmed"),
    PartStatus.IMPORTED: ("to confirm", "import", "state-unconfirmed"),
    PartStatus.CONFIRMED: ("confirmed", "check", "state-agreed"),
    PartStatus.EDITED: ("corrected", "author", "state-agreed"),
}
# Of a common pool that is there.
FROZEN = ("frozen", "lock", "state-agreed")
UNIT_COLUMNS = {
    "claims": ("", "Claim", "Cites"),
    "references": ("", "Title", "Identifier"),
    "sentences": ("", "Sentence", "Cites"),
    "key points": ("", "Key point", "Pages"),
    "common pool": ("", "Key point", "Pages"),
}


@dataclass(frozen=True, slots=True)
class DrawnLine:
    """A report, or an item where `response_id` is empty, with its extract of one kind."""

    item_id: str
    response_id: str
    item: str
    question: str
    system: str
    label: str
    about: str
    drawn: CurrentPart | None

    @property
    def place(self) -> tuple[str, str]:
        """What a line is known by: its item and its report."""
        return self.item_id, self.response_id

    @property
    def standing(self) -> PartStatus | None:
        """How far it is; None where nothing is drawn."""
        return self.drawn.standing if self.drawn else None


def places_alike(one: DrawnLine | None, other: DrawnLine | None) -> bool:
    """Whether both are the same report or item; nothing is like nothing."""
    return one is not None and other is not None and one.place == other.place


class UnitsModel(RowsModel[Unit]):
    """The units of one version: words, and citations or identifiers."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(("", "Words"), parent)

    def show(self, kind: str, units: Sequence[Unit]) -> None:
        """Show other units, in place where they are the same ones."""
        columns = UNIT_COLUMNS.get(kind, ("", "Words"))
        if columns == self.columns and [unit.id for unit in units] == [unit.id for unit in self._rows]:
            self.take_over(units, in_place=True)
            return
        with resetting(self):
            self._rows, self.columns = units, columns

    def row_of(self, unit_id: str) -> int:
        """The row of a unit; -1 when it is not there."""
        return next((row for row, unit in enumerate(self._rows) if unit.id == unit_id), -1)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A unit's number, its words, and the last column of its kind."""
        if not index.isValid():
            return None
        unit, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return (str(index.row() + 1), " ".join(unit.text.split()) or "(empty)", named_by(unit))[column]
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip((unit.text, unit.text, named_by(unit))[column])
        if role == Qt.ItemDataRole.ForegroundRole and column != 1:
            return theme.token("text-muted")
        return None


def named_by(unit: Unit) -> str:
    """What a claim or a sentence cites, what a work is known by, where a key point stands; else nothing."""
    if isinstance(unit, KeyPoint):
        marks = (f"{len(unit.merged):,} merged" if unit.merged else "", "vital" if unit.vital else "")
        return ", ".join(filter(None, ("" if unit.accepted else "open", *marks, *unit.addresses)))
    if isinstance(unit, Claim):
        return unit.url or "nothing"
    if isinstance(unit, Sentence):
        lost = f"{unit.dangling} lead to nothing" if unit.dangling else ""
        return ", ".join(filter(None, (*(one.key for one in unit.cites), lost))) or "nothing"
    return unit.identifier if isinstance(unit, Reference) else ""


def _explained(line: DrawnLine) -> str:
    if line.drawn is None:
        return line.about
    flags = (
        f"\nMarks: {', '.join(flag.replace('_', ' ') for flag in line.drawn.flags)}"
        if line.drawn.flags
        else ""
    )
    cited = f", {line.drawn.cited:,} of them cite" if line.drawn.kind == "claims" else ""
    when = f"{local(line.drawn.at):%Y-%m-%d %H:%M}"
    units = counted(line.drawn.units, "unit")
    return f"{line.about}\nBy {line.drawn.whose}, {when}: {units}{cited}{flags}"


def _shown(line: DrawnLine) -> tuple[str, str, str]:
    frozen = line.drawn is not None and line.drawn.kind == ResponsePart.POOL
    return FROZEN if frozen else STANDINGS[line.standing]


def columns(label: str) -> Sequence[Column[DrawnLine]]:
    """The reports or items to draw from, told from one another by their `label`."""
    return (
        Column("Item", lambda line: line.item, 120, tip=lambda line: line.question[:1000]),
        Column(label, lambda line: line.label, 76, tip=_explained),
        Column("Units", lambda line: f"{line.drawn.units:,}" if line.drawn else "", 52, tip=_explained),
        Column(
            "State",
            lambda line: _shown(line)[0],
            102,
            tip=_explained,
            look=lambda line: _shown(line)[1:],
        ),
    )


ITEM, _, UNITS, STATE = range(4)
