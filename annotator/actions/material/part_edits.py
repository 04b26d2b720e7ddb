"""Corrections of extracts, unit by unit, in a person's own version, which counts from then on."""

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import ValidationError
from sqlalchemy import select

from annotator.actions.items import drawn_parts, extracts, materials
from annotator.actions.items.extracts import Subject
from annotator.actions.items.report_lines import DOES
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.artifact import Anchor, Document, Kind
from annotator.domain.material.extract import Extract, ExtractState, class_of
from annotator.domain.material.keypoints import KeyPoint, KeyPoints
from annotator.domain.material.page import Page
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.writer_aid import WriterAid
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.quotation import find
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import RESPONSE

GONE = Refusal("That unit no longer exists.", "Look at the list again.")


def of(project: Project, subject: Subject, kind: ResponsePart | Kind) -> Extract | None:
    """The version that stands; None where nobody drew anything."""
    people.refuse_others(project, DOES)
    item_id, response_id = subject
    with project.store.read() as db:
        return extracts.standing(db, [item_id]).get((item_id, response_id), {}).get(kind.value)


def add_unit(
    project: Project, subject: Subject, kind: ResponsePart | Kind, after: str = "", **fields: Any
) -> Change:
    """A unit that was overlooked, below the one named in `after` or at the end; Refusal names what does not fit."""
    document = _document(project, subject, kind)
    made = _checked(document, {"id": new_id(), **_quoted(project, document, fields)})
    place = _place(document, after) + 1 if after else len(document.units)
    return _write(project, subject, kind, document, (*document.units[:place], made, *document.units[place:]))


def change_unit(
    project: Project, subject: Subject, kind: ResponsePart | Kind, unit_id: str, **fields: Any
) -> Change:
    """Give fields of a unit other values; it keeps its id, and with it what was judged of it."""
    document = _document(project, subject, kind)
    place = _place(document, unit_id)
    values = document.units[place].model_dump(mode="json")
    made = _checked(document, values | _quoted(project, document, fields))
    return _write(
        project, subject, kind, document, (*document.units[:place], made, *document.units[place + 1 :])
    )


def remove_unit(project: Project, subject: Subject, kind: ResponsePart | Kind, unit_id: str) -> Change:
    """Take out what is none; what a judge drew stays beside it."""
    document = _document(project, subject, kind)
    place = _place(document, unit_id)
    return _write(project, subject, kind, document, (*document.units[:place], *document.units[place + 1 :]))


def part_unit(project: Project, subject: Subject, kind: ResponsePart | Kind, unit_id: str) -> Change:
    """Make what was merged into a key point units of their own again; Refusal where nothing was."""
    document = _document(project, subject, kind)
    place = _place(document, unit_id)
    parted = document.units[place].parted()
    if len(parted) == 1:
        raise Refusal("Nothing was merged into this one.", "Nothing was changed.")
    units = (*document.units[:place], *parted, *document.units[place + 1 :])
    return _write(project, subject, kind, document, units)


def confirm(project: Project, subject: Subject, kind: ResponsePart | Kind) -> Change:
    """Say that the version that stands is right; Refusal where there is none, or it was confirmed before."""
    found = of(project, subject, kind)
    if found is None:
        raise Refusal(
            f"There is no {kind.value} to confirm.", "Have a judge extract it, or write it yourself."
        )
    if open_points(found):
        units = tuple(unit.model_copy(update={"accepted": True}) for unit in found.document.units)
        return _write(project, subject, kind, found.document, units)
    if found.state is ExtractState.CONFIRMED:
        raise Refusal("That is already confirmed.", "Nothing was changed.")
    return extracts.confirm(project, found.id)


def open_points(found: Extract | None) -> int:
    """How many units of a person's own version they have not accepted, where each is accepted by itself."""
    if found is None or not found.origin.startswith("person:"):
        return 0
    return sum(not getattr(unit, "accepted", True) for unit in found.document.units)


def confirm_all(
    project: Project,
    kind: ResponsePart | Kind | WriterAid,
    systems: Sequence[str] = (),
    items: Sequence[str] = (),
) -> int:
    """Say that all versions of a kind that wait for it are right, of some systems and items if named; how many."""
    people.refuse_others(project, DOES)
    judge_cases.checked_scope(project, RunRequest("", systems=tuple(systems), items=tuple(items)))
    chosen, wanted = judge_cases.system_ids(project, systems), set(materials.item_ids(project, items))
    with project.store.read() as db:
        of_system = dict(db.execute(select(RESPONSE.c.id, RESPONSE.c.system_id)).all())
    waiting = [
        drawn[kind.value].extract_id
        for (item_id, response_id), drawn in drawn_parts.standing(project).items()
        if kind.value in drawn and drawn[kind.value].standing in drawn_parts.OPEN
        if item_id in wanted and (not chosen or of_system.get(response_id) in chosen)
    ]
    if not waiting:
        raise Refusal(f"Nothing to confirm: {kind.value}.", "Nothing was changed.")
    with project.store.write():
        for extract_id in waiting:
            extracts.confirm(project, extract_id)
    return len(waiting)


def _document(project: Project, subject: Subject, kind: ResponsePart | Kind) -> Document[Any]:
    found = of(project, subject, kind)
    return found.document if found is not None else class_of(kind.value, subject[1])()


def _write(
    project: Project,
    subject: Subject,
    kind: ResponsePart | Kind,
    document: Document[Any],
    units: tuple[Any, ...],
) -> Change:
    if kind is ResponsePart.POOL:
        raise Refusal(
            "The common pool is frozen: every report is asked about these key points.",
            "Undo the freezing, or change the key points of the reports.",
        )
    return extracts.write_own(project, subject, kind, document.with_units(units))


def _quoted(project: Project, document: Document[Any], fields: dict[str, Any]) -> dict[str, Any]:
    """The fields, typed spans of a key point as quotations of its pages; whoever changes one accepts it.

    Refusal names a span that stands in no page.
    """
    if not isinstance(document, KeyPoints):
        return fields
    fields = {"accepted": True} | fields
    if "spans" not in fields:
        return fields
    with project.store.read() as db:
        read = materials.pages_at(db, [one.address for one in document.pages])
    lines = [line.strip() for line in fields.pop("spans").splitlines() if line.strip()]
    return fields | KeyPoint().quoting([_quotation(read.values(), line) for line in lines])


def _quotation(read: Iterable[Page], words: str) -> Anchor:
    for page in read:
        if span := find(page.text, words):
            return Anchor.at(page.text, *span, page.url)
    raise Refusal(
        f"“{words[:200]}” stands in no page that was read here.",
        "Copy the words from the page. Nothing was changed.",
    )


def _place(document: Document[Any], unit_id: str) -> int:
    for place, unit in enumerate(document.units):
        if unit.id == unit_id:
            return place
    raise GONE


def _checked(document: Document[Any], values: dict[str, Any]) -> Any:
    try:
        return document.UNIT.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "value"
        raise Refusal(f"The {field} does not fit: {first['msg'].lower()}.", "Nothing was changed.") from None
