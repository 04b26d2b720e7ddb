"""One verdict with its question, report and context, for ruling or reviewing."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import or_, select

from annotator.actions.items import materials
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import come_to, counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.sets.validation_units import Key, UnitPlace
from annotator.domain.experts.person import Role
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS


@dataclass(frozen=True, slots=True)
class ReadingSide:
    """What a rater gave beside a value: reason, passage, and its place in the report if known."""

    why: str = ""
    quote: str = ""
    quote_start: int | None = None
    flags: str = ""


@dataclass(frozen=True, slots=True)
class VerdictReading:
    """A case to read, never with the name of a system.

    `other` is the report shown second of a pair. Of a claim `address` is the page it cites with its text in `page`,
    or `page_state` and `page_cause` say why it could not be read; `context` and `context_start` say where the claim
    stands in the report. `given` are the words held beside the unit, such as a sub-task of the system's plan; `sides`
    what those who speak of it gave beside their values.
    """

    item_id: str
    item_key: str
    question: str
    unit: str
    weight: float
    report: str
    other: str | None = None
    address: str = ""
    page: str = ""
    page_state: str = ""
    page_cause: str = ""
    context: str = ""
    context_start: int | None = None
    given: tuple[str, ...] = ()
    sides: Mapping[str, ReadingSide] = field(default_factory=dict)


def reading(
    project: Project, protocol: str, place: UnitPlace, raters: Collection[str] = ()
) -> VerdictReading:
    """What a verdict on a unit was about, and what these raters say of it beside their values.

    Refusal for anyone who is still to label its item blind.
    """
    reviews.refuse_blind(project, place.item_id)
    shape = label_cases.shape_of(project, protocol)
    material = materials.of_response(project, materials.for_judging(shape), place.response_id)
    for case in shape.cases(material) if material is not None else ():
        if any(unit.id == place.unit_id for unit in case.units):
            given = sides(project, protocol, raters, {place.key})
            return _reading(place, case, {rater: side for (rater, _), side in given.items()})
    raise Refusal("The judged unit is no longer in this project.", "Read the list again.")


def sides(
    project: Project, protocol: str, raters: Collection[str], keys: Collection[Key] = ()
) -> dict[tuple[str, Key], ReadingSide]:
    """What these raters gave beside their values: (rater, unit) → side, of all units or of some; of a judge at the
    first trial whose value counts.

    Of people only for coordinators, and nothing on items that the person asking is still to label blind.
    """
    person, j = people.someone(project), counted_rows().c
    question = select(
        j.rater_id, j.response_id, j.unit_id, j.rationale, j.note, j.quote, j.quote_start, j.flags, j.value, j.status
    ).order_by(j.trial).where(
        j.protocol == protocol, or_(j.trial == 1, j.rater_kind == RaterKind.JUDGE.value), j.rater_id.in_(raters),
        j.item_id.not_in(reviews.still_blind(project, person.id)),
    )  # fmt: skip
    if not person.has(Role.COORDINATOR):
        question = question.where(j.rater_kind == RaterKind.JUDGE.value)
    if keys:
        responses, units = zip(*keys, strict=True)
        question = question.where(j.response_id.in_(set(responses)), j.unit_id.in_(set(units)))
    with project.store.read() as db:
        rows = db.execute(question).all()
    of: dict[tuple[str, Key], list[Any]] = defaultdict(list)
    for row in rows:
        if not keys or (row.response_id, row.unit_id) in keys:
            of[row.rater_id, (row.response_id, row.unit_id)].append(row)
    standing = {key: come_to(PROTOCOLS[protocol].scale, each)[1] for key, each in of.items()}
    return {
        key: ReadingSide(row.rationale or row.note, row.quote, row.quote_start, row.flags)
        for key, row in standing.items()
    }


def _reading(place: UnitPlace, case: Case, given: Mapping[str, ReadingSide]) -> VerdictReading:
    unit = next(one for one in case.units if one.id == place.unit_id)
    page = {name: str(case.given.get(name, "")) for name in label_cases.PAGE_FIELDS}
    # Claims stand in the report; a criterion may be tied to a source, which is not what was judged.
    anchor = unit.anchor if unit.anchor is not None and not unit.anchor.source_id else None
    return VerdictReading(
        place.item_id, place.item_key, case.item.question, unit.text if case.other is None else "", place.weight,
        label_cases.text_of(case), case.other.text if case.other is not None else None, **page,
        context=anchor.quote if anchor is not None else str(getattr(unit, "context", "")),
        context_start=anchor.start if anchor is not None and anchor.start >= 0 else None,
        given=tuple(label_cases.beside(case)), sides=given,
    )  # fmt: skip
