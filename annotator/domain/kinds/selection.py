"""Selection ratings: how well a candidate question suits the benchmark, dimension by dimension."""

import operator
from collections.abc import Iterator, Sequence
from enum import StrEnum
from statistics import fmean

from pydantic import Field

from annotator.domain.common import Text
from annotator.domain.kinds.artifact import (
    AlignmentRule,
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    error,
    warning,
)


class Recommendation(StrEnum):
    """What a rater would do with the question."""

    KEEP = "keep"
    REWORK = "rework"
    DROP = "drop"


class DimensionRating(Unit):
    """A five-point rating of one dimension; `text` names the dimension, `note` gives the reason."""

    rating: int | None = Field(default=None, ge=1, le=5)


class Selection(Document[DimensionRating], kind=Kind.SELECTION):
    """One rater's ratings of one question; `remark` is the overall impression (ResearcherBench, appendix B.5)."""

    # Left out if empty: earlier ratings are stored as they always were.
    recommendation: Recommendation | None = Field(
        default=None,
        exclude_if=operator.not_,
        description="Whether to keep the question, rework it or drop it",
    )
    improve: Text = Field(
        default="",
        max_length=20_000,
        exclude_if=operator.not_,
        description="What another wording would improve",
    )


def findings(selection: Selection, context: Context) -> Iterator[Finding]:
    """Every finding on ratings (ResearcherBench, appendices B.4 and B.5)."""
    for unit in selection.units:
        if unit.rating is None:
            yield error(
                "no-rating", "Not rated yet.", "Rate it from 1 (poor) to 5 (excellent).", unit.id, "rating"
            )
        elif not unit.note.strip():
            yield warning("no-reason", "No reason is given.", "Say in a sentence why.", unit.id, "note")
    ratings = _ratings(selection)
    if ratings and len(ratings) == len(selection.units):
        yield from _on_the_whole(selection, fmean(ratings), context.bar)


def _on_the_whole(selection: Selection, mean: float, bar: float) -> Iterator[Finding]:
    advised = selection.recommendation
    if advised is None:
        yield warning(
            "no-recommendation", "No recommendation yet.", "Keep it, have it reworked or drop it.",
            field="recommendation",
        )  # fmt: skip
    elif (advised is Recommendation.KEEP) != (mean >= bar):
        side = "below" if mean < bar else "at or above"
        yield warning(
            "recommendation",
            f"You would {advised.value} it, and its mean of {mean:.2f} is {side} the bar of {bar:g}.",
            "Look at the ratings and at the recommendation again.",
            field="recommendation",
        )
    if advised is Recommendation.REWORK and not selection.improve.strip():
        yield warning(
            "no-improvement", "It is not said what to improve.", "Name what another wording would settle.",
            field="improve",
        )  # fmt: skip


def _ratings(selection: Selection) -> Sequence[int]:
    return [unit.rating for unit in selection.units if unit.rating is not None]


def _summary(selection: Selection, bar: float) -> str:
    ratings = _ratings(selection)
    if not ratings:
        return f"not rated yet, the bar is {bar:g}"
    mean = fmean(ratings)
    so_far = "" if len(ratings) == len(selection.units) else " for now"
    return f"mean {mean:.2f}{so_far}, {'✓ at or above' if mean >= bar else 'below'} the bar of {bar:g}"


SPEC = KindSpec(
    Selection,
    title="Selection",
    unit="dimension",
    units="dimensions",
    what="Selection rates how well the question suits the benchmark, from 1 (poor) to 5 (excellent) on each dimension.",
    prompt="",
    table="selection_ratings",
    fields=(
        UnitField(
            "rating",
            "Rating",
            ((1, "poor", ""), (2, "weak", ""), (3, "usable", ""), (4, "sound", ""), (5, "excellent", "")),
            level="ordinal",
            correlated=True,
        ),
    ),
    whole=(
        UnitField(
            "recommendation",
            "Recommendation",
            (
                (Recommendation.KEEP, "keep", "It belongs into the benchmark as it stands"),
                (Recommendation.REWORK, "rework", "Another wording could make it fit"),
                (Recommendation.DROP, "drop", "No wording would make it fit"),
            ),
        ),
        UnitField("remark", "Overall impression"),
        UnitField("improve", "What to improve"),
    ),
    lint=findings,
    summary=_summary,
    says="rating",
    aligned=AlignmentRule.KEY,
    overlap=(),
    given=frozenset({"text"}),
    scored="rating",
)
