"""What a review made of a draft, unit by unit."""

from dataclasses import dataclass
from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.documents import KINDS, document_of

KEPT_AS, CHANGED, ADDED, REMOVED = "kept", "changed", "added", "removed"
# Of a unit, what is told elsewhere or means nothing to people.
UNTOLD = {"id", "text", "note", "anchor", "more_anchors", "insight_id", "inspirations"}


@dataclass(frozen=True, slots=True)
class ReviewedUnit:
    """A unit of a draft beside what its review made of it, with the reviewer's comment."""

    unit_id: str
    before: str
    after: str
    comment: str
    change: str


def compared(draft: dict[str, Any], reviewed: Document[Any]) -> list[ReviewedUnit]:
    """Unit by unit what a review made of a draft, in its order; then what it took out."""
    before = {unit.id: unit for unit in document_of(reviewed.KIND, draft).units}
    found = []
    for unit in reviewed.units:
        old = before.pop(unit.id, None)
        same = old is not None and old.model_copy(update={"note": unit.note}) == unit
        change = ADDED if old is None else KEPT_AS if same else CHANGED
        words = _words(old, reviewed.KIND), _words(unit, reviewed.KIND)
        found.append(ReviewedUnit(unit.id, *words, unit.note, change))
    return found + [
        ReviewedUnit(gone.id, _words(gone, reviewed.KIND), "", "", REMOVED) for gone in before.values()
    ]


def _words(unit: Any, kind: Kind) -> str:
    if unit is None:
        return ""
    more = unit.model_dump(mode="json", exclude=UNTOLD)
    said = (
        (KINDS[kind].called(name), value) for name, value in more.items() if value not in (None, "", [], ())
    )
    return "\n".join([unit.text, *(f"{name}: {value}" for name, value in said)])
