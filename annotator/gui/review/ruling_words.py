"""What is said on the page: fields and values in words, and how the state of a ruling is shown."""

from collections.abc import Sequence
from typing import Any

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Confidence, Origin, Provenance, Reason
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.labels import UNSURE, Label
from annotator.domain.kinds.unit import Unit
from annotator.gui.forms.kind_guideline import FIELDS
from annotator.gui.forms.kind_words import WORDS, Words
from annotator.gui.review.adjudication_queue import measure_of
from annotator.gui.review.verdicts import face
from annotator.gui.widgets.chips import Chip

LABEL_WORDS = Words("Labels", "label", "labels", "A label says what a report does of a criterion.", "")
# Kind by kind, the fields that stand beside the words, in the order in which they are shown.
SHOWN: dict[Kind, tuple[str, ...]] = {
    Kind.RUBRIC: ("weight",),
    Kind.EVIDENCE: ("identifier", "authors", "year"),
    Kind.DIAGNOSTICS: ("label", "aspect"),
    Kind.NUGGETS: ("importance",),
    Kind.CHECKLIST: ("share",),
    Kind.SELECTION: ("rating",),
    Kind.LABELS: ("value",),
}
NAMES = {"value": "label", "aspect": "part"}
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
# The acts whose keys take letters, in the order of the letters.
LETTER_ACTS = ("take_a", "take_b", "take_c", "take_d")
# The acts whose keys cast a first vote, in the order of the values.
VOTE_ACTS = ("take_a", "take_b", "take_both", "write_own", "take_c", "take_d")
# Means over what one rater said are not agreement, and their A and B are not the letters.
NOT_AGREEMENT = "item_score"


def words_of_kind(kind: Kind) -> Words:
    """What a kind and its units are called."""
    return WORDS.get(kind, LABEL_WORDS)


def title_of(stage: Stage, kind: Kind) -> str:
    """What is adjudicated, as a title."""
    return words_of_kind(kind).title if stage_of(kind) is stage else stage.value.capitalize()


def value_words(name: str, value: Any, values: Sequence[str] = ()) -> str:
    """One value as people say it: “weight 3”, “True”, “Not met”."""
    if name == "value":
        known = tuple(each for each in values if each != UNSURE)
        return face(str(value)).words if len(known) == 2 else str(value).capitalize()
    if value is None or value == "":
        return f"no {FIELDS.get(name, name).lower()}"
    if name in ("weight", "rating"):
        return f"{name} {value}"
    if name == "share":
        return f"share {value:.2f}"
    return str(value).capitalize() if name in ("label", "aspect", "importance") else str(value)


def field_chips(
    kind: Kind, unit: Unit, differing: Sequence[str] = (), values: Sequence[str] = ()
) -> list[Chip]:
    """The fields of a unit beside its words; those that differ between the letters stand out."""
    made = []
    for name in SHOWN.get(kind, ()):
        value = getattr(unit, name)
        if name in ("authors", "year", "identifier") and not value and name not in differing:
            continue
        words = value_words(name, value, values)
        made.append(Chip(words, "cross", "disagree") if name in differing else Chip(words))
    return made


def difference_chips(row: SheetRow) -> list[Chip]:
    """What of a contested row differs, field by field."""
    if row.ruling.unanimous:
        return []
    if len(row.units) == 1 and not row.differing:
        return [Chip(f"only {next(iter(row.units))}", "cross", "disagree")]
    return [Chip(_different(name), "cross", "disagree") for name in row.differing]


def _different(name: str) -> str:
    if name == "text":
        return "words differ"
    return f"{NAMES.get(name, FIELDS.get(name, name)).lower()} differs"


def about(row: SheetRow) -> str:
    """The words of a row in a line: those of its first unit, or what a label is about."""
    first = next(iter(row.units.values()), None)
    if isinstance(first, Label):
        return row.heading
    if first is None:
        return row.made[0][0].text if row.made else ""
    return first.text


def ruled(row: SheetRow, lacks: set[str]) -> Chip:
    """The state of a ruling: its icon, its word and its colour."""
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
    """Where a unit of the consensus comes from."""
    match provenance.origin:
        case Origin.BOTH:
            return Chip("both" if len(provenance.sources) < 3 else "all", "check", "agreed")
        case Origin.EDITED:
            return Chip("edited", "author", "incomplete")
        case Origin.NEW:
            return Chip("new", "plus", "incomplete")
        case _:
            return Chip(provenance.letter, "", "missing")


def figures_words(figures: Sequence[Figure]) -> str:
    """Figures in a line; an undefined one says so."""
    return " · ".join(_figure(each) for each in figures if not each.name.startswith(NOT_AGREEMENT))


def _figure(figure: Figure) -> str:
    if figure.value is None:
        return f"{measure_of(figure.name)} undefined{f' ({figure.note})' if figure.note else ''}"
    return f"{measure_of(figure.name)} {figure.value:.2f}"
