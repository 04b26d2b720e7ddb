"""Editor of an extract: a list of units, fields of the selected one, saved at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QLineEdit,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from annotator.actions.items.extracts import CurrentPart, PartStatus, standing_of, whose
from annotator.actions.material import extracting
from annotator.domain.common import counted, local
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.extract import Claim, Extract, KeyPoint, ResponsePart, Sentence
from annotator.gui import theme
from annotator.gui.parts import holds
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    StretchSpace,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.fields import GrowingEdit, LineField

# Status of a version → words, icon, colour.
STANDINGS: dict[PartStatus | None, tuple[str, str, str]] = {
    None: ("not extracted", "minus", "state-missing"),
    PartStatus.DRAWN: ("to confirm", "question", "state-unconfirmed"),
    PartStatus.IMPORTED: ("to confirm", "import", "state-unconfirmed"),
    PartStatus.CONFIRMED: ("confirmed", "check", "state-agreed"),
    PartStatus.EDITED: ("corrected", "author", "state-agreed"),
}
# The status of an existing common pool.
FROZEN = ("frozen", "lock", "state-agreed")
UNIT_TITLES = {
    "claims": ("Claim", "Cites"),
    "references": ("Title", "Identifier"),
    "sentences": ("Sentence", "Cites"),
    "key points": ("Key point", "Pages"),
    "common pool": ("Key point", "Pages"),
}


@dataclass(frozen=True, slots=True)
class ExtractLine:
    """A report, or an item if `response_id` is empty, with its extract of one kind."""

    item_id: str
    response_id: str
    item: str
    question: str
    system: str
    label: str
    about: str
    part: CurrentPart | None

    @property
    def place(self) -> tuple[str, str]:
        return self.item_id, self.response_id

    @property
    def standing(self) -> PartStatus | None:
        return self.part.standing if self.part else None


def places_alike(line: ExtractLine | None, other: ExtractLine | None) -> bool:
    """Whether both are the same report or item; False if one is None."""
    return line is not None and other is not None and line.place == other.place


# A unit with its number in its extract.
NumberedUnit = tuple[int, Unit]


def named_by(unit: Unit) -> str:
    """What a claim or sentence cites, a work's identifier, a key point's addresses and marks; otherwise empty."""
    if isinstance(unit, KeyPoint):
        marks = (f"{len(unit.merged):,} merged" if unit.merged else "", "vital" if unit.vital else "")
        return ", ".join(filter(None, ("" if unit.accepted else "open", *marks, *unit.addresses)))
    if isinstance(unit, Claim):
        return unit.url or "nothing"
    if isinstance(unit, Sentence):
        lost = f"{unit.dangling} lead to nothing" if unit.dangling else ""
        return ", ".join(filter(None, (*(cite.key for cite in unit.cites), lost))) or "nothing"
    return unit.identifier if isinstance(unit, Reference) else ""


def _muted(_row: NumberedUnit) -> tuple[str, str]:
    return "", "text-muted"


def unit_columns(kind: str) -> Sequence[Column[NumberedUnit]]:
    """The columns: a unit's number and text, and for some kinds what `named_by` returns."""
    titles = UNIT_TITLES.get(kind, ("Words",))
    return (
        Column("", lambda row: str(row[0]), tip=lambda row: row[1].text, look=_muted),
        Column(titles[0], lambda row: row[1].text.strip() or "(empty)", tip=lambda row: row[1].text),
        *(Column(title, lambda row: named_by(row[1]), look=_muted) for title in titles[1:]),
    )


def _explained(line: ExtractLine) -> str:
    if line.part is None:
        return line.about
    flags = (
        f"\nMarks: {', '.join(flag.replace('_', ' ') for flag in line.part.flags)}" if line.part.flags else ""
    )
    cited = f", {line.part.cited:,} of them cite" if line.part.kind == "claims" else ""
    when = f"{local(line.part.at):%Y-%m-%d %H:%M}"
    units = counted(line.part.units, "unit")
    return f"{line.about}\nBy {line.part.whose}, {when}: {units}{cited}{flags}"


def _shown(line: ExtractLine) -> tuple[str, str, str]:
    frozen = line.part is not None and line.part.kind == ResponsePart.POOL
    return FROZEN if frozen else STANDINGS[line.standing]


def columns(label: str) -> Sequence[Column[ExtractLine]]:
    """The columns of the reports or items to extract from; `label` is the title of what distinguishes them."""
    return (
        Column("Item", lambda line: line.item, 120, tip=lambda line: line.question[:1000]),
        Column(label, lambda line: line.label, 76, tip=_explained),
        Column(
            "Units", lambda line: f"{line.part.units:,}" if line.part else "", 52, tip=_explained, room=380
        ),
        Column(
            "State",
            lambda line: _shown(line)[0],
            102,
            tip=_explained,
            look=lambda line: _shown(line)[1:],
            firm=True,
        ),
    )


ITEM, _, _, STATE = range(4)


NAMES = {
    "claims": "claim",
    "plan": "sub-task",
    "references": "reference",
    "sentences": "sentence",
    "key points": "key point",
    "insights": "insight",
}
NO_POOL = (
    "No pool yet. Freezing it takes the key points of all reports on this item that were accepted, each once; every "
    "report can then be asked about the same ones."
)
NUMBER_WIDTH, WORDS_WIDTH, CITED_WIDTH, LEAST_HEIGHT = 34, 150, 130, 130


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field by name: its label and maximum height; one line has no line breaks."""

    name: str
    words: str
    lines: int = 1
    whole_number: bool = False


TEXT = {
    "claims": "Claim",
    "plan": "Sub-task",
    "references": "Title",
    "sentences": "Sentence",
    "key points": "Key point",
    "common pool": "Key point",
    "insights": "Insight",
}
MORE: dict[str, tuple[FieldSpec, ...]] = {
    "claims": (
        FieldSpec("url", "Cites"),
        FieldSpec("context", "In the report", 3),
        FieldSpec("section", "Section", whole_number=True),
    ),
    "references": (
        FieldSpec("identifier", "Identifier"),
        FieldSpec("authors", "Authors"),
        FieldSpec("year", "Year", whole_number=True),
    ),
    "sentences": (FieldSpec("heading", "Under"),),
    "key points": (FieldSpec("spans", "In the page", 4), FieldSpec("note", "Note", 3)),
    "common pool": (FieldSpec("spans", "In the page", 4),),
    "insights": (FieldSpec("note", "Why", 3),),
}


def specs(kind: str) -> tuple[FieldSpec, ...]:
    return (FieldSpec("text", TEXT.get(kind, "Words"), 4), *MORE.get(kind, ()))


class UnitFields(QWidget):
    """The fields of one unit; `changed` announces unsaved edits."""

    edited = Signal()

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.unit: Unit | None = None
        self._specs = specs(kind)
        self.fields: dict[str, GrowingEdit | QLineEdit] = {}
        # The values as passed to the fields: a line break that a field drops was not typed.
        self._shown: dict[str, str] = {}
        form = QFormLayout(
            self,
            fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow,
            rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapLongRows,
        )
        form.setContentsMargins(0, 0, 0, 0)
        for spec in self._specs:
            how: dict[str, Any] = {"accessibleName": spec.words, "textChanged": lambda *_: self.edited.emit()}
            field = GrowingEdit(1, spec.lines, **how) if spec.lines > 1 else LineField(**how)
            self.fields[spec.name] = field
            form.addRow(spec.words, field)

    def show_unit(self, unit: Unit | None) -> None:
        same = unit is not None and self.unit is not None and unit.id == self.unit.id
        self.unit = unit
        for name, field in self.fields.items():
            value = getattr(unit, name, "") if unit is not None else ""
            shown = "" if value is None else str(value)
            if same and shown == _text(field) == self._shown[name]:
                # Leave it, so that the caret stays.
                continue
            blocked = field.blockSignals(True)
            field.setPlainText(shown) if isinstance(field, GrowingEdit) else field.setText(shown)
            field.blockSignals(blocked)
            self._shown[name] = _text(field)

    def changed(self) -> dict[str, Any]:
        """Field → typed value, for the fields that were changed."""
        if self.unit is None:
            return {}
        return {
            spec.name: self._typed(spec)
            for spec in self._specs
            if _text(self.fields[spec.name]) != self._shown[spec.name]
        }

    def lock(self, locked: bool) -> None:
        for field in self.fields.values():
            field.setReadOnly(locked)

    def _typed(self, spec: FieldSpec) -> Any:
        text = _text(self.fields[spec.name])
        if spec.whole_number:
            # Text that is not a number is left for the kind's validation to refuse, in words.
            return int(text) if text.strip().isdecimal() else (text.strip() or None)
        return text.strip()


def _text(field: GrowingEdit | QLineEdit) -> str:
    return field.toPlainText() if isinstance(field, GrowingEdit) else field.text()


class PartEditor(Pane):
    """Editor of the current version. A correction makes a version of the person's own."""

    chosen = Signal(object)
    """Another unit is current; None for none."""
    replies_wanted = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.line: ExtractLine | None = None
        self.kind: ResponsePart | Kind = ResponsePart.CLAIMS
        self.extract: Extract | None = None
        self.model = CellsModel[NumberedUnit](unit_columns(""), self)
        self.list = LinesTable(
            "Units", self.model, (NUMBER_WIDTH, WORDS_WIDTH, CITED_WIDTH), stretched=1, moved=self._turn
        )
        self._panes: dict[str, UnitFields] = {}
        self._stack = QStackedWidget()
        self.fields = self._pane("claims")
        self.standing, self.about = Chips(), ElidedLabel("", "hint")
        self.nothing, self.merged = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.confirming = KeyButton(
            "Confirm", act="confirm_drawn", hint="Confirm it without changes", press=self.confirm
        )
        self.adding = KeyButton("Add", act="new_drawn", role="quiet", press=self.add)
        self.removing = KeyButton("Remove", act="remove_drawn", role="quiet", press=self.remove)
        self.keeping = KeyButton("Keep", act="keep_drawn", role="primary", press=self.keep)
        self.cited = push_button(
            "See its page", self._ask_page, "quiet", toolTip="Show the page that this claim cites"
        )
        self.replies = KeyButton(
            "Raw replies", act="raw_replies", role="quiet", press=self.replies_wanted, checkable=True
        )
        self.accepting = KeyButton("Accept", act="accept_drawn", press=self.accept)
        self.vital = KeyButton(
            "Vital",
            act="vital_drawn",
            role="quiet",
            hint="An answer without it would fail the task",
            press=self.turn_vital,
            checkable=True,
        )
        self.parting = KeyButton(
            "Part",
            act="part_drawn",
            role="quiet",
            hint="Make what was merged key points of their own",
            press=self.part,
        )
        points = horizontal(self.parting, self.vital, StretchSpace(1), self.accepting)
        foot = horizontal(self.cited, StretchSpace(1), self.keeping)
        self.card = with_properties(QFrame(), role="card")
        vertical(self._stack, self.merged, points, foot, on=self.card)
        self.card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        theme.scale(self.list.setMinimumHeight, LEAST_HEIGHT)
        self._filler = QWidget()
        vertical(
            horizontal(self.standing, StretchSpace(1), self.replies, self.confirming),
            horizontal((self.about, 1), self.adding, self.removing),
            self.nothing,
            (self.list, 1),
            (self._filler, 1),
            self.card,
            on=self,
            margins=(8, 0, 0, 0),
            spacing=6,
        )

    def show_line(self, line: ExtractLine | None, kind: ResponsePart | Kind) -> None:
        """Show the extract of one kind from a report; text typed before is saved first.

        If the same extract is shown again, text being typed stays.
        """
        same = kind is self.kind and places_alike(self.line, line)
        if same and self.fields.changed() and holds(self.fields):
            return
        self.keep()
        requested = self.unit.id if same and self.unit else ""
        row = self.list.currentIndex().row() if same else 0
        self.line, self.kind = line, kind
        self.fields = self._pane(kind.value)
        self._stack.setCurrentWidget(self.fields)
        self.extract = self.session.ask(extracting.of, line.place, kind) if line is not None else None
        units = self.extract.document.units if self.extract else ()
        columns = unit_columns(kind.value)
        titles = [column.title for column in columns]
        self.model.show([*enumerate(units, 1)], None if titles == self.model.columns else columns)
        place = self._row_of(requested)
        goal = place if place >= 0 else max(0, min(row, len(units) - 1))
        if units:
            self.list.setCurrentIndex(self.model.index(goal, 1))
        self._show_state()
        self._turn()

    @property
    def unit(self) -> Unit | None:
        row = self.model.at(self.list.currentIndex().row())
        return row[1] if row is not None else None

    def _row_of(self, unit_id: str) -> int:
        return self.model.place_of(lambda row: row[1].id == unit_id)

    def go_to(self, unit_id: str) -> None:
        if (row := self._row_of(unit_id)) >= 0:
            self.list.setCurrentIndex(self.model.index(row, 1))

    def keep(self) -> bool:
        """Save what was typed into the fields; whether everything is saved."""
        changed = self.fields.changed()
        if not changed or self.line is None or self.fields.unit is None:
            return True
        return self._do(extracting.change_unit, self.fields.unit.id, **changed)

    def add(self) -> None:
        """Add a unit below the current one, and focus its text."""
        if not self._may() or not self.keep():
            return
        after = self.unit.id if self.unit else ""
        before = {unit.id for unit in self.extract.document.units} if self.extract else set()
        if self._do(extracting.add_unit, after):
            units = self.extract.document.units if self.extract else ()
            self.go_to(next((unit.id for unit in units if unit.id not in before), ""))
            self.fields.fields["text"].setFocus()

    def remove(self) -> None:
        """Remove the current unit; undo brings it back."""
        unit = self.unit
        if unit is None or not self._may():
            return
        self.fields.show_unit(unit)
        self._do(extracting.remove_unit, unit.id)

    def accept(self) -> None:
        """Accept the current key point, and go on to the next one."""
        if self._changed(accepted=True):
            self.list.setCurrentIndex(self.model.index(self.list.currentIndex().row() + 1, 1))

    def turn_vital(self) -> None:
        """Mark the current key point as vital, or no longer; this also accepts it."""
        self._changed(vital=not getattr(self.unit, "vital", False))

    def part(self) -> None:
        """Split what was merged into the current key point into key points of their own."""
        if isinstance(self.unit, KeyPoint) and self._may() and self.keep():
            self._do(extracting.part_unit, self.unit.id)

    def _changed(self, **marks: bool) -> bool:
        if not (isinstance(self.unit, KeyPoint) and self._may() and self.keep()):
            return False
        return self._do(extracting.change_unit, self.unit.id, **marks)

    def confirm(self) -> None:
        """Confirm the extract without changes; for an item, freeze its common pool."""
        if self.kind is ResponsePart.POOL and self.line is not None and self.confirming.isEnabled():
            from annotator.actions.papers import human_agreement

            key = self.line.item
            self._is_done(self.session.do(lambda project: human_agreement.freeze(project, [key]).changes))
        elif self.confirming.isEnabled() and self._may() and self.keep():
            self._do(extracting.confirm)

    def _pane(self, kind: str) -> UnitFields:
        if kind not in self._panes:
            pane = UnitFields(kind)
            pane.edited.connect(self._offer)
            self._panes[kind] = pane
            self._stack.addWidget(pane)
        return self._panes[kind]

    def _may(self) -> bool:
        frozen = self.kind is ResponsePart.POOL
        return self.line is not None and not self.session.project.readonly and not frozen

    def _do(self, verb: Any, *args: Any, **fields: Any) -> bool:
        """Run an action on the extract and show the result; whether it succeeded."""
        assert self.line is not None
        return self._is_done(self.session.do(verb, self.line.place, self.kind, *args, **fields))

    def _is_done(self, change: object) -> bool:
        """Show the current state; False if the change was refused, in which case the typed text stays."""
        if change is None:
            return False
        line, kind = self.line, self.kind
        # The typed text is in the file: the fields may be filled again.
        self.fields.show_unit(None)
        self.show_line(line, kind)
        return True

    def _turn(self) -> None:
        unit = self.unit
        if (
            self.fields.unit is not None
            and (unit is None or unit.id != self.fields.unit.id)
            and self.fields.changed()
        ):
            current_id, goal = self.fields.unit.id, unit.id if unit else ""
            if not self.keep():
                self.go_to(current_id)
                return
            self.go_to(goal)
            unit = self.unit
        if not (self.fields.changed() and unit is not None and self.fields.unit == unit):
            self.fields.show_unit(unit)
        self._offer()
        self.chosen.emit(unit)

    def _offer(self) -> None:
        may, unit = self._may(), self.unit
        self.card.setVisible(unit is not None)
        self.fields.lock(not may)
        self.keeping.setEnabled(may and bool(self.fields.changed()))
        self.adding.setEnabled(may)
        self.removing.setEnabled(may and unit is not None)
        url = getattr(unit, "url", "") if unit is not None else ""
        self.cited.setVisible(self.kind is ResponsePart.CLAIMS)
        self._offer_point(unit if isinstance(unit, KeyPoint) else None, may=may)
        self.cited.setEnabled(bool(url))

    def _offer_point(self, point: KeyPoint | None, *, may: bool) -> None:
        """Show the acts on a key point, and what was merged into it."""
        for button in (self.accepting, self.vital, self.parting):
            button.setVisible(self.kind is ResponsePart.KEYPOINTS)
            button.setEnabled(may and point is not None)
        self.accepting.setEnabled(may and point is not None and not self._accepted(point))
        self.parting.setEnabled(may and point is not None and bool(point.merged))
        self.vital.setChecked(point is not None and point.vital)
        texts = [f"“{one.text}”" for one in point.merged] if point is not None else []
        self.merged.show_words(f"Merged with it: {'; '.join(texts)}" if texts else "")

    def _accepted(self, point: KeyPoint) -> bool:
        from annotator.actions.papers import human_agreement

        result = self.extract
        return result is not None and point in human_agreement.accepted(result)

    def _ask_page(self) -> None:
        if url := str(getattr(self.unit, "url", "")):
            self.session.go("Material", url=url)

    def _show_state(self) -> None:
        result = self.extract
        standing: PartStatus | None = standing_of(result.origin, result.state) if result else None
        pool = self.kind is ResponsePart.POOL
        words, picture, colour = FROZEN if pool and result else STANDINGS[standing]
        self.standing.show_chips([Chip(words, picture, colour.removeprefix("state-"))] if self.line else [])
        waits = standing in (PartStatus.DRAWN, PartStatus.IMPORTED) or extracting.open_points(result) > 0
        self.confirming.set_words("Freeze the pool" if pool else "Confirm")
        free = self.line is not None and not self.session.project.readonly
        self.confirming.setEnabled(free and (result is None if pool else waits))
        self.replies.setVisible(result is not None and result.run_id is not None)
        self.about.setVisible(result is not None)
        if result is not None:
            marks = ", ".join(flag.replace("_", " ") for flag in result.flags.split())
            by = self.session.ask(whose, result.origin)
            self.about.setText(f"By {by}, {local(result.at):%Y-%m-%d}{f' · marks: {marks}' if marks else ''}")
        name = NAMES.get(self.kind.value, "unit")
        self.nothing.setText(
            NO_POOL
            if self.kind is ResponsePart.POOL
            else f"Nothing extracted yet. Have a judge extract it above, or add the first {name} yourself."
            if result is None
            else f"The judge found no {name}. Add one if this is wrong."
        )
        self.nothing.setVisible(self.line is not None and not (result and result.document.units))
        self.list.setVisible(bool(result and result.document.units))
        self._filler.setVisible(self.list.isHidden())
