"""Runs that extract parts from responses, or gold from sources."""

import asyncio
from collections.abc import Container, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from annotator.actions.items import extracts, materials
from annotator.actions.items.extracts import Subject, keep_row
from annotator.actions.judges import judges, prompts
from annotator.actions.material import responding
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import Reply, RunJournal, call_of
from annotator.actions.runs.judge_cases import Key, RunRequest, checked_scope, system_ids
from annotator.actions.runs.run_kind import DocumentRun, RunWork
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.common import Change, Refusal, new_id, one_of, required, well_formed
from annotator.domain.judges.judge import Judge, JudgeKind, Status
from annotator.domain.judges.protocol import (
    Case,
    Extraction,
    Material,
    Protocol,
)
from annotator.domain.kinds.artifact import Anchor, Document, Kind, Unit
from annotator.domain.material.extract import (
    Extract,
    KeyPoint,
    KeyPoints,
    ResponsePart,
    WriterAid,
    by_judge,
    class_of,
)
from annotator.domain.material.item import ExtractState, Page, by_set
from annotator.domain.texts.difference import find
from annotator.judging.runner import Finished
from annotator.protocols import EXTRACTIONS
from annotator.storage.tables import CALL, EXTRACT, ITEM, JUDGE, RESPONSE, RUN, SYSTEM


class ExtractionRun(DocumentRun):
    """A run in which a judge extracts, by the order's `protocol`, from everything not yet extracted."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        extraction = checked(project, order)
        self.things = "items" if isinstance(extraction.makes, Kind) else "reports"
        judge = judges.named(project, order.judge)
        self._origin = by_set(extraction.rubric_set) if extraction.rubric_set else by_judge(judge.id)
        return judge, self.protocol_by(extraction, extraction.name, extraction.needs)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        project, order, extraction = self.project, self.order, self._extraction
        e = EXTRACT.c
        # What this judge has extracted before, in this run or another; for a rubric set, what any judge has.
        before = select(e.item_id, e.response_id).where(
            e.origin == self._origin, e.kind == extraction.makes.value
        )
        already = {_key(extraction, *subject) for subject in project.query(before)}
        chosen = _chosen(project, order, extraction, materials.MaterialRequest((), texts=False))
        keys = [_key(extraction, material.item.id, material.response.id) for material in chosen]
        return RunWork(
            self.protocol,
            lambda: self.cases(already),
            len(keys),
            sum(key in already for key in keys),
            f"{self.things} read for {extraction.title.lower()}",
            already,
            whole=self.cases,
        )

    def cases(self, without: Container[Key] = frozenset()) -> Iterator[Case]:
        """The cases of the material, which is held until it is extracted from."""
        extraction = self._extraction
        for material in _chosen(self.project, self.order, extraction, materials.for_extracting(extraction)):
            key = _key(extraction, material.item.id, material.response.id)
            if key not in without:
                self._materials[material.item.id, material.response.id] = material
                yield Case(extraction.name, material.item, material.response, "", (Unit(id=key[1]),))

    def keep(self, journal: RunJournal, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write the extracts; failures do not count as done."""
        count = 0
        for finished in done:
            case = finished.case
            subject = case.item.id, case.response.id
            result = self._extracted.pop(subject, None)
            if result is not None and result.document is not None and result.status is Status.OK:
                flags = " ".join(verdict.flags for verdict in finished.verdicts.values())
                keep_row(
                    db, subject, self._extraction.makes, result.document, self._origin, flags=flags,
                    run_id=journal.run_id,
                )  # fmt: skip
                count += 1
        return count


run = ExtractionRun.run


def named(extraction: str) -> Extraction:
    """The extraction of that name; the Refusal lists the existing names."""
    return one_of(extraction, EXTRACTIONS, f"There is no extraction “{extraction}”.", "Available:")


def checked(project: Project, order: RunRequest) -> Extraction:
    """The extraction that an order names; raises Refusal for an order that cannot be run."""
    extraction = named(order.protocol)
    if judges.named(project, order.judge).kind == JudgeKind.DERIVED:
        raise Refusal(
            "A vote cannot extract from a text.", "Choose a judge with an endpoint, or the baseline."
        )
    checked_scope(project, order)
    return extraction


def _chosen(
    project: Project, order: RunRequest, extraction: Extraction, wanted_material: materials.MaterialRequest
) -> Iterator[Material]:
    systems = system_ids(project, order.systems)
    for at_hand in materials.each(
        project, wanted_material, materials.item_ids(project, order.items, answered=True)
    ):
        if isinstance(extraction.makes, Kind):
            yield at_hand.own
            continue
        for material in at_hand.responses:
            if not systems or material.response.system_id in systems:
                yield material


def _key(extraction: Extraction, item_id: str, response_id: str) -> Key:
    """The key of a case: for an item, which has no response, the item itself."""
    return response_id, extraction.makes.value if response_id else item_id, 1


GONE = Refusal("That unit no longer exists.", "Look at the list again.")


@people.for_coordinators(materials.DOES)
def of(project: Project, subject: Subject, kind: ResponsePart | Kind) -> Extract | None:
    """The version in force; None if there is none."""
    item_id, response_id = subject
    with project.store.read() as db:
        return extracts.standing(db, [item_id]).get((item_id, response_id), {}).get(kind.value)


def add_unit(
    project: Project, subject: Subject, kind: ResponsePart | Kind, after: str = "", **fields: Any
) -> Change:
    """Add a unit that was overlooked, below `after` or at the end; the Refusal names what does not fit."""
    document = _document(project, subject, kind)
    made = _checked(document, {"id": new_id(), **_quoted(project, document, fields)})
    place = _place(document, after) + 1 if after else len(document.units)
    return _write(project, subject, kind, document, (*document.units[:place], made, *document.units[place:]))


def change_unit(
    project: Project, subject: Subject, kind: ResponsePart | Kind, unit_id: str, **fields: Any
) -> Change:
    """Change fields of a unit; it keeps its id, and with it its judgements."""
    document = _document(project, subject, kind)
    place = _place(document, unit_id)
    made = _checked(
        document, document.units[place].model_dump(mode="json") | _quoted(project, document, fields)
    )
    return _write(
        project, subject, kind, document, (*document.units[:place], made, *document.units[place + 1 :])
    )


def remove_unit(project: Project, subject: Subject, kind: ResponsePart | Kind, unit_id: str) -> Change:
    """Remove a unit; a judge's version stays beside it."""
    document = _document(project, subject, kind)
    place = _place(document, unit_id)
    return _write(project, subject, kind, document, (*document.units[:place], *document.units[place + 1 :]))


def part_unit(project: Project, subject: Subject, kind: ResponsePart | Kind, unit_id: str) -> Change:
    """Split a merged key point into its units again; raises Refusal if nothing was merged."""
    document = _document(project, subject, kind)
    place = _place(document, unit_id)
    parted = document.units[place].parted()
    if len(parted) == 1:
        raise Refusal("Nothing was merged into this one.", "Nothing was changed.")
    units = (*document.units[:place], *parted, *document.units[place + 1 :])
    return _write(project, subject, kind, document, units)


def confirm(project: Project, subject: Subject, kind: ResponsePart | Kind) -> Change:
    """Confirm the version in force; raises Refusal if there is none, or it is already confirmed."""
    result = required(
        of(project, subject, kind),
        f"There is no {kind.value} to confirm.",
        "Have a judge extract it, or write it yourself.",
    )
    if open_points(result):
        units = tuple(unit.model_copy(update={"accepted": True}) for unit in result.document.units)
        return _write(project, subject, kind, result.document, units)
    if result.state is ExtractState.CONFIRMED:
        raise Refusal("That is already confirmed.", "Nothing was changed.")
    return extracts.confirm(project, result.id)


def open_points(extract: Extract | None) -> int:
    """The number of units of a person's own version that they have not accepted, if units are accepted one by one."""
    if extract is None or not extract.origin.startswith("person:"):
        return 0
    return sum(not getattr(unit, "accepted", True) for unit in extract.document.units)


@people.for_coordinators(materials.DOES)
def confirm_all(
    project: Project,
    kind: ResponsePart | Kind | WriterAid,
    systems: Sequence[str] = (),
    items: Sequence[str] = (),
) -> int:
    """Confirm all waiting versions of a kind, of some systems and items if given; return their number."""
    checked_scope(project, RunRequest("", systems=tuple(systems), items=tuple(items)))
    chosen, item_ids = system_ids(project, systems), set(materials.item_ids(project, items))
    of_system = dict(project.query(select(RESPONSE.c.id, RESPONSE.c.system_id)).all())
    waiting = required(
        [
            parts[kind.value].extract_id
            for (item_id, response_id), parts in extracts.standing_parts(project).items()
            if kind.value in parts and parts[kind.value].standing in extracts.OPEN
            if item_id in item_ids and (not chosen or of_system.get(response_id) in chosen)
        ],
        f"Nothing to confirm: {kind.value}.",
        "Nothing was changed.",
    )
    with project.store.write():
        for extract_id in waiting:
            extracts.confirm(project, extract_id)
    return len(waiting)


def _document(project: Project, subject: Subject, kind: ResponsePart | Kind) -> Document[Any]:
    result = of(project, subject, kind)
    return result.document if result is not None else class_of(kind.value, subject[1])()


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
    """The fields, with typed spans of a key point as quotations of its pages; changing a key point accepts it.

    The Refusal names a span that occurs in no page.
    """
    if not isinstance(document, KeyPoints):
        return fields
    fields = {"accepted": True} | fields
    if "spans" not in fields:
        return fields
    with project.store.read() as db:
        read = materials.pages_at(db, [page.address for page in document.pages])
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
    return well_formed(document.UNIT, values, "_")


@people.for_coordinators(materials.DOES)
def replies(project: Project, extract_id: str) -> tuple[Reply, ...]:
    """The replies that an extract was read from, newest first.

    Empty for what a person wrote, what was imported and what asked no model, and if the prompt or the text has changed
    since, so that its questions are no longer known.
    """
    question = (
        select(
            EXTRACT.c.item_id, EXTRACT.c.response_id, EXTRACT.c.run_id, RUN.c.protocol, RUN.c.judge_id,
            ITEM.c.key, SYSTEM.c.name.label("system"),
        )
        .join(RUN, RUN.c.id == EXTRACT.c.run_id)
        .join(ITEM, ITEM.c.id == EXTRACT.c.item_id)
        .outerjoin(RESPONSE, RESPONSE.c.id == EXTRACT.c.response_id)
        .outerjoin(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(EXTRACT.c.id == extract_id)
    )  # fmt: skip
    row = project.query(question).mappings().first()
    if row is None:
        return ()
    if row["protocol"] not in EXTRACTIONS:
        origin = responding.origin_of(project, row["response_id"])
        return _calls(project, CALL.c.id.in_(origin.calls)) if origin else ()
    judge = Judge(**project.query(select(JUDGE).where(JUDGE.c.id == row["judge_id"])).mappings().one())
    if judge.kind != JudgeKind.ENDPOINT:
        return ()
    systems = (row["system"],) if row["system"] else ()
    order = RunRequest(judge.name, row["protocol"], systems, (row["key"],))
    return _calls(
        project, CALL.c.cache_key.in_(asyncio.run(_keys(project, order, judge, row["response_id"])))
    )


async def _keys(project: Project, order: RunRequest, judge: Judge, response_id: str) -> set[str]:
    from annotator.judging.calls.asking import weighed
    from annotator.judging.calls.client import Endpoint

    kind = ExtractionRun(project, order)
    endpoint, edited, result = Endpoint.of(judge), prompts.edited(project), set[str]()
    for case in kind.cases():
        if case.response.id == response_id and kind.protocol.judge is not None:
            result |= {
                question.key for question in await weighed(kind.protocol.judge, case, endpoint, edited)
            }
    return result


def _calls(project: Project, condition: ColumnElement[bool]) -> tuple[Reply, ...]:
    rows = project.query(select(CALL).where(condition).order_by(CALL.c.at.desc(), CALL.c.id)).mappings().all()
    return tuple(Reply(call_of(row), row["at"], own=True) for row in rows)
