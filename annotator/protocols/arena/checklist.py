"""ACE: a report rated from 0 to 10 on each point of a checklist made for its task.

DeepResearch Arena: adaptively-generated checklist evaluation, and both prompts for it in appendix D.
"""

from collections.abc import Iterator, Sequence
from math import fsum, inf
from typing import Annotated, ClassVar, Literal, Self

from pydantic import BeforeValidator, Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import (
    Ask,
    Case,
    Extracted,
    Extraction,
    Level,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Verdicts,
    extracting,
    numbers,
)
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.checklist import POINTS, Checklist, CheckPoint, unequal
from annotator.domain.material.item import Item
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.citations import read
from annotator.protocols.merging import by_passages
from annotator.protocols.several import (
    ModelReply,
    QuotingReply,
    UnitQuestion,
    blocks,
    missing_notes,
    of_empty,
)

NOT_KNOWN = "not known"


def trait(item: Item, name: str) -> str:
    return item.traits.get(name, "").strip() or NOT_KNOWN


def described(item: Item) -> dict[str, str]:
    values = {"category": item.subject, "family": item.question_type}
    known = {name: words.strip() or NOT_KNOWN for name, words in values.items()}
    return known | {"difficulty": trait(item, "difficulty")}


NAME = "arena.checklist"
PROMPTS = (NAME, f"{NAME}.together")
RATINGS = tuple(str(rating) for rating in range(11))
METHOD = "Σ w · rating / Σ w"
MOST = 10
DEPARTURES = (
    "The text wants two models, one that writes the checklist and another that rates by it; the paper's experiments "
    "used gemini-2.5-flash for both. Here the two are chosen apart, and a figure whose judge also drafted the "
    "checklist says so.",
    "A checklist is settled before any report is judged by it, and its draft is made of the task alone. The paper does "
    "not say when its checklists were made.",
    "Shares that sum to 0.98 to 1.02 are divided by their sum, and the figure says so; other sums are refused. The "
    "paper asks for a sum of about 1.",
    "A rating that did not come is missing: it is never 0, and the range it leaves is given. The paper does not say "
    "what becomes of such replies.",
    "Each point is rated in a call of its own, as in the paper, unless the judge is set to be asked several together. "
    "A judge quotes what decided it, which the paper does not ask for.",
    "The paper prints one example with its weights and 4.35 as its score, and not the ratings.",
)
DEFINITION = """\
$$\\text{ACE} = \\frac{\\sum_i w_i \\cdot rating_i}{\\sum_i w_i}, \\qquad 0 \\le rating_i \\le 10$$

How a report is rated on the points of its task's checklist, each by its share: 8–10 mastery, 5–7 basic competence, 1–4
inadequate, 0 nothing on the point. From 0 to 10. Undefined without a checklist, and while its shares do not sum to 1
(0.98 to 1.02 are divided by their sum). With ratings missing it is over the others, and the range is given in which it
lies.
"""


def ace(points: Sequence[tuple[float, str | None]], over_valid: bool = False) -> Estimate:
    """The score of one report, from (share, rating or None if missing) of each point; `n` counts the ratings."""
    counted = [(share, value) for share, value in points if share > 0]
    if not counted:
        what = "a checklist without shares" if points else "no checklist"
        return Estimate(None, method=METHOD, note=f"the item has {what}")
    whole = fsum(share for share, _ in counted)
    if fault := unequal(whole):
        return Estimate(None, method=METHOD, note=fault)
    if odd := {value for _, value in counted if value is not None} - set(RATINGS):
        raise ValueError(f"a rating is a whole number from 0 to 10, not {odd.pop()!r}")
    known = [(share, int(value)) for share, value in counted if value is not None]
    missing = len(counted) - len(known)
    total, weighed = fsum(share * rating for share, rating in known), fsum(share for share, _ in known)
    usable = not missing or (over_valid and bool(known))
    notes = [
        *([f"the shares sum to {whole:.2f} and are divided by that"] * (abs(whole - 1) > 1e-6)),
        *missing_notes(missing, len(counted), usable, "ratings are missing"),
    ]
    return Estimate(
        total / weighed if usable else None,
        n=len(known),
        missing=missing,
        floor=total / whole,
        ceiling=(total + MOST * (whole - weighed)) / whole,
        method=METHOD,
        note="; ".join(notes),
    )


def score(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    points = scored.material.units(Kind.CHECKLIST)
    return ace([(point.share, scored.values.get(point.id)) for point in points], over_valid)


def cases(material: Material) -> Iterator[Case]:
    """One case for each point, without its share and its author's note."""
    for point in material.units(Kind.CHECKLIST):
        yield material.case(NAME, Kind.CHECKLIST, Unit(id=point.id, text=point.words))


# A point at a time, or several in one call.


class Rating(QuotingReply, value="rating", unquoted=RATINGS):
    """What a judge replies about one point. The ground comes first, so that the rating follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be a whole number from 0 to 10 and nothing else. On the next line, "
        "if a passage of the report decided it, copy that between double quotes. On the last line give your reason in "
        "one or two sentences."
    )
    quote: str = Field(
        description="The report's own words that tell most, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="What is there and what is lacking, in one or two sentences")
    rating: Annotated[
        Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], BeforeValidator(str)
    ] = Field(description="A whole number from 0, nothing on this point, to 10, mastery")


class RatingOfOne(Rating):
    """What a judge replies about one of several points."""

    id: str = Field(description="The name of the listed point, such as p1")


class RatingsTogether(ModelReply):
    """What a judge replies about several points at once: once about each, by its name."""

    answers: list[RatingOfOne] = Field(description="One answer for each listed point")


QUESTION = UnitQuestion(
    PROMPTS,
    (Rating, RatingsTogether),
    ("point", "point"),
    lambda case: {"question": case.item.question, **described(case.item)},
    letter="p",
    empty=RATINGS[0],
)
judge, judge_together = QUESTION.judge, QUESTION.judge_together


# No network: ten times the share of a point's terms that one passage holds; not fitted to anything.


def baseline(case: Case) -> Verdicts:
    """A rating by the share of the point's terms that one passage of the report holds."""
    return of_empty(case, RATINGS[0]) or by_passages(case, "point", _verdict, unmet=RATINGS[0])


def _verdict(share: float, _passage: str) -> tuple[str, str]:
    return RATINGS[int(MOST * share + 0.5)], f"baseline: {share:.2f} of its terms in one passage"


BANDS = {
    range(1): "0: nothing on this point",
    range(1, 5): "1 to 4: inadequate; much is lacking or wrong",
    range(5, 8): "5 to 7: basic; what matters is there, without depth",
    range(8, 11): "8 to 10: mastery; a specialist would have little to add",
}

CHECKLIST = Protocol(
    name=NAME,
    title="Points of a checklist, rated from 0 to 10",
    citation="DeepResearch Arena, Evaluation Methodology and appendix D",
    needs=(Kind.CHECKLIST,),
    metrics=(Metric("ace", "ACE", DEFINITION, score, unit="of 10", within=(0.0, 10.0), credit=float),),
    scale=numbers(0, MOST, level=Level.INTERVAL, hints=BANDS),
    presentation=Presentation(
        "Checklist",
        "How well does the report do on each point, from 0 to 10? (DeepResearch Arena)",
        "point",
        "points",
        lacking=("No checklist yet", "A report can be labelled once its item has a checklist."),
        mended_on="Author",
    ),
    cases=cases,
    judge=judge,
    judge_together=judge_together,
    baseline=baseline,
    prompts=PROMPTS,
    weight=lambda unit: getattr(unit, "share", 0.0),
    target=Target(RATINGS[-1], "rating"),
    departures=DEPARTURES,
)


# Checklists drafted by a model from the task alone, before any report is seen. DeepResearch Arena: the first
# stage of ACE, and its prompt in appendix D.

DRAFT_NAME = "arena.checklist.make"
NORMALIZED = "shares_normalized"
DRAFT_DEPARTURES = (
    "A draft is a proposal: what a person takes of it is theirs, and nothing of it is gold before that.",
    "Weights that sum to 0.98 to 1.02 are divided by their sum and "
    "the draft is flagged; other sums, and fewer than 3 or more than 6 points, spoil the draft.",
)


class DraftedPoint(ModelReply):
    """A point as the model drafted it."""

    title: str = Field(min_length=1, max_length=200, description="What is rated, in a few words")
    description: str = Field(
        min_length=1, max_length=2000, description="What a report must do to be rated high on it"
    )
    weight: float = Field(gt=0, le=1, description="Its part of the whole; all weights sum to 1")


class DraftedChecklist(ModelReply, again="Give the same checklist again."):
    """The points that a model proposes."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each point write three lines that begin with TITLE:, DESCRIPTION: and WEIGHT:, and "
        "leave one empty line before the next."
    )
    points: list[DraftedPoint] = Field(description="The points, that with the greatest weight first")

    @classmethod
    def from_text(cls, text: str) -> Self:
        points = blocks(text, title="TITLE", description="DESCRIPTION", weight="WEIGHT")
        return cls.model_validate({"points": points})


@extracting
async def make(material: Material, ask: Ask) -> Extracted:
    """3 to 6 weighted points for a task."""
    item = material.item
    fields = {"question": item.question, "phase": trait(item, "phase"), **described(item)}
    answer = await ask(DRAFT_NAME, fields, DraftedChecklist, fenced=tuple(fields))
    points: list[DraftedPoint] = answer.needed().points
    least, most = POINTS
    if not least <= len(points) <= most:
        cause = f"The draft has {len(points):,} points; a checklist has {least} to {most}."
        return Extracted(None, Status.INVALID, cause, answer.flags)
    total = fsum(point.weight for point in points)
    if fault := unequal(total):
        return Extracted(None, Status.INVALID, fault, answer.flags)
    units = tuple(
        CheckPoint(title=one.title.strip(), text=one.description.strip(), share=one.weight / total)
        for one in sorted(points, key=lambda point: -point.weight)
    )
    exact = abs(total - 1) < 1e-6
    return Extracted(Checklist(units=units), flags=(*answer.flags, *([] if exact else [NORMALIZED])))


CHECKLIST_MADE = Extraction(
    name=DRAFT_NAME,
    title="Checklist for a task",
    citation="DeepResearch Arena, Evaluation Methodology and appendix D",
    makes=Kind.CHECKLIST,
    prompts=(DRAFT_NAME,),
    extract=make,
    sources=False,
    departures=DRAFT_DEPARTURES,
)


# The number of references in a report: a column of the paper's Table 3.

ADDRESSES = "different addresses in the report"
REFERENCES_DEFINITION = """\
How many different addresses a report gives (DeepResearch Arena, Table 3), DOIs and arXiv numbers among them; the same
address counts once, however it is spelled. Undefined where the task has no checklist: the figure stands beside ACE.
"""
REFERENCES_DEPARTURES = (
    "The paper does not say what it counts as a reference; here it is each different address.",
)


def references(scored: RatedResponse, _over_valid: bool = False) -> Estimate:
    if not scored.material.units(Kind.CHECKLIST):
        return Estimate(None, method=ADDRESSES, note="the item has no checklist")
    result = float(len(read(scored.material.response.text, every=True).addresses))
    return Estimate(result, n=1, floor=result, ceiling=result, method=ADDRESSES)


REFERENCES = Protocol(
    name="arena.references",
    title="How many references a report has",
    citation="DeepResearch Arena, Table 3",
    needs=(Kind.CHECKLIST,),
    metrics=(
        Metric(
            "references", "References", REFERENCES_DEFINITION, references, unit="addresses", within=(0.0, inf)
        ),
    ),
    departures=REFERENCES_DEPARTURES,
)
