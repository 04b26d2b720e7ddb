"""Rulings and their states in words."""

from collections.abc import Sequence

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.actions.labelling.label_rows import UNSURE
from annotator.domain.experts.adjudication import BOTH, DROP, OWN, Confidence, Origin, Provenance, Reason
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.texts.estimate import of_items
from annotator.gui.review.adjudication_queue import measure_of
from annotator.gui.widgets.chips import Chip

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


def votes_of(values: Sequence[str]) -> dict[str, str]:
    """Act → the value that its key votes for; unsure has the key that it has everywhere."""
    digits = dict(zip(VOTE_ACTS, (value for value in values if value != UNSURE), strict=False))
    return digits | ({UNSURE: UNSURE} if UNSURE in values else {})


# Means over what one rater said are not agreement, and their A and B are not the letters.
NOT_AGREEMENT = "item_score"


def title_of(stage: Stage, kind: Kind) -> str:
    return KINDS[kind].title if stage_of(kind) is stage else stage.value.capitalize()


def difference_chips(kind: Kind, row: SheetRow) -> list[Chip]:
    """What of a contested row differs, field by field."""
    if row.ruling.unanimous:
        return []
    if len(row.units) == 1 and not row.differing:
        return [Chip(f"only {next(iter(row.units))}", "cross", "disagree")]
    spec = KINDS[kind]
    names = [
        "words differ" if name == "text" else f"{spec.called(name).lower()} differs" for name in row.differing
    ]
    return [Chip(words, "cross", "disagree") for words in names]


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
        # Of one item, what labels hang together by is the report.
        why = of_items(figure.note, "report")
        return f"{measure_of(figure)} undefined{f' ({why})' if why else ''}"
    return f"{measure_of(figure)} {figure.value:.2f}"
