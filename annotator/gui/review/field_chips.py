"""The fields of units, rulings, figures and revisions in words and chips."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from annotator.actions.adjudication.adjudicating import SheetRow
from annotator.actions.authoring.artifacts import RevisionLine
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.experts.adjudication import (
    BOTH,
    DROP,
    OWN,
    Confidence,
    Figure,
    Origin,
    Provenance,
    Reason,
)
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.kinds.artifact import Kind, Revision, Unit, UnitField
from annotator.domain.kinds.documents import KINDS, Label, document_of
from annotator.domain.texts.estimate import of_items
from annotator.gui import keys
from annotator.gui.review.verdict_words import face
from annotator.gui.widgets.bars import FlowRow
from annotator.gui.widgets.basics import tooltip, with_properties
from annotator.gui.widgets.chips import Chip, Chips

TAKES = {BOTH: "both kept", OWN: "own wording", DROP: "dropped"}
REASONS: tuple[tuple[str, Reason, str], ...] = (
    ("reason_wording", Reason.WORDING, "Wording"),
    ("reason_scope", Reason.SCOPE, "Scope"),
    ("reason_weight", Reason.WEIGHT, "Weight"),
    ("reason_error", Reason.ERROR, "Error"),
    ("reason_duplicate", Reason.DUPLICATE, "Duplicate"),
    ("reason_missing", Reason.MISSING, "Missing"),
    ("reason_gap", Reason.GUIDELINE_GAP, "Guideline gap"),
    ("reason_other", Reason.OTHER, "Other"),
)
CONFIDENCES: tuple[tuple[str, Confidence, str], ...] = (
    ("sure_low", Confidence.LOW, "Low"),
    ("sure_medium", Confidence.MEDIUM, "Medium"),
    ("sure_high", Confidence.HIGH, "High"),
)
# The acts that select documents by letter, in the order of the letters.
LETTER_ACTS = ("take_a", "take_b", "take_c", "take_d")
# The acts that cast a first vote, in the order of the values.
VOTE_ACTS = ("take_a", "take_b", "take_both", "write_own", "take_c", "take_d")


def votes_of(values: Sequence[str]) -> dict[str, str]:
    """Act → the value its key votes for; “unsure” has its usual key."""
    digits = dict(zip(VOTE_ACTS, (value for value in values if value != UNSURE), strict=False))
    return digits | ({UNSURE: UNSURE} if UNSURE in values else {})


# Means over one rater's scores are not agreement, and their A and B are not the letters of documents.
NOT_AGREEMENT = "item_score"


def title_of(stage: Stage, kind: Kind) -> str:
    return KINDS[kind].title if stage_of(kind) is stage else stage.value.capitalize()


def difference_chips(kind: Kind, row: SheetRow) -> list[Chip]:
    """Chips for what differs in a contested row, field by field."""
    if row.ruling.unanimous:
        return []
    if len(row.units) == 1 and not row.differing:
        return [Chip(f"only {next(iter(row.units))}", "cross", "disagree")]
    spec = KINDS[kind]
    return [
        Chip(
            "words differ" if name == "text" else f"{spec.called(name).lower()} differs", "cross", "disagree"
        )
        for name in row.differing
    ]


def about(row: SheetRow) -> str:
    """The text of a row in one line: that of its first unit, or for a label its heading."""
    first = next(iter(row.units.values()), None)
    if isinstance(first, Label):
        return row.heading
    if first is None:
        return row.made[0][0].text if row.made else ""
    return first.text


def ruled(row: SheetRow, lacks: set[str]) -> Chip:
    """The state of a ruling as a chip: icon, words and colour."""
    ruling = row.ruling
    if ruling.open:
        if ruling.unanimous:
            return Chip("agreed, not yet confirmed", "question", "unconfirmed")
        return Chip("undecided", "new", "missing")
    words = (
        "agreed"
        if ruling.unanimous and ruling.take == BOTH
        else TAKES.get(ruling.take, f"takes {ruling.take}")
    )
    if "own" in lacks:
        return Chip(f"{words} · unfinished", "clock", "incomplete")
    if "reason" in lacks:
        return Chip(f"{words} · why?", "question", "incomplete")
    reason = f" · {ruling.reason.value}" if ruling.reason else ""
    return Chip(f"{words}{reason}", "trash" if ruling.take == DROP else "check", "agreed")


def origin(provenance: Provenance) -> Chip:
    match provenance.origin:
        case Origin.BOTH:
            return Chip("both" if len(provenance.sources) < 3 else "all", "check", "agreed")
        case Origin.EDITED:
            return Chip("edited", "author", "incomplete")
        case Origin.NEW:
            return Chip("new", "plus", "incomplete")
        case _:
            return Chip(provenance.letter, "", "missing")


MEASURES = {
    "f1": "F1",
    "kappa": "κ",
    "alpha": "α",
    "ac1": "AC1",
    "tau": "τ",
    "pi": "π",
    "icc": "ICC",
    "jaccard": "Jaccard",
}


def measure_of(figure: Figure) -> str:
    """The display name of a figure: “match F1”, “weight κ linear”."""
    *before, last = figure.name.removeprefix("repaired_").split("_")
    linear = " linear" if last == "kappa" and ", linear weights" in figure.method else ""
    return " ".join([*before, MEASURES.get(last, last)]) + linear


def figures_words(figures: Sequence[Figure]) -> str:
    """Agreement figures in one line; an undefined one is named as such."""
    return " · ".join(_figure(each) for each in figures if not each.name.startswith(NOT_AGREEMENT))


def frozen_words(key: str, figures: Sequence[Figure] | None) -> str:
    """The message about a newly frozen agreement; empty if none was frozen."""
    return f"Agreement on {key} is frozen: {figures_words(figures[:1]) or 'no figure'}." if figures else ""


def _figure(figure: Figure) -> str:
    if figure.value is None:
        # For a single item, the labels' unit of resampling is the report.
        why = of_items(figure.note, "report")
        return f"{measure_of(figure)} undefined{f' ({why})' if why else ''}"
    return f"{measure_of(figure)} {figure.value:.2f}".replace("-", "−")


FORMAT = "d MMM yyyy, HH:mm"


def moment(at: datetime) -> str:
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(at.timestamp())), FORMAT)


# Fields not worth a line: ids, and those shown elsewhere.
UNTOLD = frozenset(("id", "text", "anchor", "more_anchors", "insight_id", "inspirations"))

# Past-tense words for the actions in a list of revisions.
DONE = {
    "start": "begun",
    "add unit": "one added",
    "delete unit": "one deleted",
    # Only in projects of earlier versions.
    "retire unit": "one deleted",
    "move unit": "order changed",
    "change anchor, more_anchors": "quotation changed",
    "restore": "undone or redone",
    "reopen": "reopened",
    "note": "remark changed",
}


def as_text(kind: Kind, revision: Revision) -> str:
    document = document_of(kind, revision.content)
    return "\n\n".join(_unit(kind, number, unit) for number, unit in enumerate(document.units, start=1))


def line(revision: RevisionLine, alias: str) -> str:
    """A revision on two lines: number and action, then time and author."""
    done = (
        "submitted"
        if revision.sealed
        else DONE.get(revision.verb, revision.verb.replace("change", "changed"))
    )
    return f"{revision.number} · {done}\n{moment(revision.at)} · {alias or 'imported'}"


def _unit(kind: Kind, number: int, unit: Unit) -> str:
    values = [
        f"{KINDS[kind].called(name)}: {', '.join(value) if isinstance(value, list) else value}"
        for name, value in unit.model_dump(mode="json", exclude=set(UNTOLD)).items()
        if value not in (None, "", [])
    ]
    return "\n".join(
        [f"{number}. {unit.text or '(empty)'}", *(f"    {one}" for one in (*values, *quotations(unit)))]
    )


def quotations(unit: Unit) -> list[str]:
    return [f"Quotation: “{' '.join(anchor.quote.split())}”" for anchor in unit.anchors]


def value_words(field: UnitField, value: Any, protocol: str = "") -> str:
    """A value as displayed: “weight 3”, “True”, or “Not met” for a label under a protocol."""
    if field.name == "value":
        return face(str(value), protocol).words
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or f"no {field.title.lower()}"
    if value is None or value == "":
        return f"no {field.title.lower()}"
    if isinstance(value, float) and not field.options:
        return f"{field.title.lower()} {value:.2f}"
    if not field.options:
        return str(value)
    number = str(value).lstrip("-").replace(".", "", 1).isdigit()
    return f"{field.title.lower()} {value}" if number else str(value).capitalize()


def protocol_of(unit: Unit | None) -> str:
    return unit.protocol if isinstance(unit, Label) else ""


def field_chips(kind: Kind, unit: Unit, differing: Sequence[str] = ()) -> list[Chip]:
    """Chips for the fields of a unit besides its text; those that differ between documents are marked."""
    made = []
    for field in KINDS[kind].shown:
        value = getattr(unit, field.name)
        if (field.optional or not field.options) and value in (None, "") and field.name not in differing:
            continue
        words = value_words(field, value, protocol_of(unit))
        made.append(Chip(words, "cross", "disagree") if field.name in differing else Chip(words))
    return made


class KeyChips(QWidget):
    """A row of option buttons after their question; the common part of their keys is shown once."""

    chosen = Signal(object)

    def __init__(self, question: str, options: Sequence[tuple[str, Any, str]]) -> None:
        """`options` are tuples of (act of the key table, value, words)."""
        super().__init__()
        self._question, self._options = question, tuple(options)
        self._key_chips = Chips(wrap=False)
        self.buttons: list[QToolButton] = []
        row = FlowRow(self, gap=4)
        row.addWidget(self._key_chips)
        for _, value, _ in self._options:
            button = with_properties(
                QToolButton(), checkable=True, role="choice", focusPolicy=Qt.FocusPolicy.NoFocus
            )
            button.clicked.connect(lambda _=False, value=value: self.chosen.emit(value))
            self.buttons.append(button)
            row.addWidget(button)
        self._shared, self._visible_keys = "", False
        self.show_keys()

    def show_keys(self) -> None:
        shown = [keys.shown(act) for act, *_ in self._options]
        before = {key[: key.rfind("+") + 1] for key in shown}
        self._shared = before.pop() if len(before) == 1 else ""
        for button, key, (_, _, words) in zip(self.buttons, shown, self._options, strict=True):
            button.setText(f"{key.removeprefix(self._shared)} {words}")
            with_properties(
                button,
                toolTip=tooltip(f"{words} ({key})"),
                accessibleName=f"{self._question} {words}, key {key}",
            )
        self._ask()

    def show_value(self, value: Any, *, required: bool, locked: bool) -> None:
        """Check the button of a value; if one is `required`, ask for it visibly."""
        self._visible_keys = required
        for button, (_, known, _) in zip(self.buttons, self._options, strict=True):
            button.setChecked(known is value)
            button.setEnabled(not locked)
        self._ask()

    def _ask(self) -> None:
        words = f"{self._question}  {self._shared}".strip()
        self._key_chips.show_chips(
            [Chip(words, "question", "incomplete") if self._visible_keys else Chip(words, "", "missing")]
        )
