"""What lies before whoever rules on a verdict or reviews it: the question, the report, what stands beside it."""

from dataclasses import dataclass

from annotator.actions import label_cases, materials, reviews
from annotator.actions.project import Project
from annotator.actions.validation_units import Place
from annotator.domain.protocol import Case
from annotator.domain.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Reading:
    """A case to be read: never with the name of a system.

    `other` is the report shown second of a pair. Of a claim `address` is the page it cites with its text in `page`,
    or `page_state` and `page_cause` say why it could not be read; `context` and `context_start` say where the claim
    stands in the report. `given` are the words held beside the unit, such as a sub-task of the system's plan.
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


def reading(project: Project, protocol: str, place: Place) -> Reading:
    """What a verdict on a unit was about; Refusal for whoever is still to label its item blind."""
    reviews.refuse_blind(project, place.item_id)
    shape = label_cases.shape_of(project, protocol)
    material = materials.of_response(project, materials.for_judging(shape), place.response_id)
    for case in shape.cases(material) if material is not None else ():
        if any(unit.id == place.unit_id for unit in case.units):
            return _reading(place, case)
    raise Refusal("What was judged there is no longer in this project.", "Read the list again.")


def _reading(place: Place, case: Case) -> Reading:
    unit = next(one for one in case.units if one.id == place.unit_id)
    page = {name: str(case.given.get(name, "")) for name in label_cases.PAGE_FIELDS}
    # Claims stand in the report; a criterion may be tied to a source, which is not what was judged.
    anchor = unit.anchor if unit.anchor is not None and not unit.anchor.source_id else None
    return Reading(
        place.item_id, place.item_key, case.item.question, unit.text if case.other is None else "", place.weight,
        case.response.text, case.other.text if case.other is not None else None, **page,
        context=anchor.quote if anchor is not None else str(getattr(unit, "context", "")),
        context_start=anchor.start if anchor is not None and anchor.start >= 0 else None,
        given=tuple(label_cases.beside(case)),
    )  # fmt: skip
