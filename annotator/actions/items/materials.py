"""Material for judging the responses of items, read in a few queries, a batch of items at a time."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Table, func, select, update
from sqlmodel import SQLModel

from annotator.actions.authoring import annotating, settings as settings_module
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import extracts, items
from annotator.actions.items.items import LeftOut
from annotator.actions.project import file, people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, Text, grouped, natural, required, sha256
from annotator.domain.judges.protocol import CITED_PAGE, Case, Extraction, Material, Protocol
from annotator.domain.kinds.artifact import Kind, Unit, Weights
from annotator.domain.material.extract import Extract, ResponsePart
from annotator.domain.material.item import (
    CONTINUATION,
    EXEMPLAR,
    GROUPS,
    Item,
    Page,
    PageState,
    Response,
    Source,
    SourceFormat,
    spelled,
)
from annotator.domain.stored import ResponseFields, SourceFields, SystemFields
from annotator.domain.texts import identifier
from annotator.domain.texts.rendered import RENDERER_VERSION, Rendered
from annotator.storage.tables import ITEM, PAGE, RENDERING, RESPONSE, SOURCE, SYSTEM, add_missing

# The setting with the pairs sampled for a protocol and how they were sampled.
PAIRS = "drawn_pairs"
PairsDrawn = dict[str, dict[str, frozenset[str]]]
# The number of items read together, more if no report, page or source is read; and of addresses per query.
STRETCH, WORDLESS = 32, 256
_PER_QUERY = 500


@dataclass(frozen=True, slots=True)
class MaterialRequest:
    """The material to read: kinds of artifact, report texts, cited pages, sources.

    Without `parts`, extracts of the reports are not read. Continuations of halved tasks are not reports: they are read
    alone or not at all. The pages are those that parts and gold name, or whose addresses `cites` gives.
    """

    kinds: tuple[Kind, ...]
    texts: bool = True
    pages: bool = False
    sources: bool = False
    page_texts: bool = True
    parts: bool = True
    continuations: bool = False
    cites: Callable[[Material], Iterable[str]] | None = None


@dataclass(frozen=True, slots=True)
class MaterialAtHand:
    """An item with the material of each response, by system; `own` is that of the item without a response."""

    item: Item
    own: Material
    responses: tuple[Material, ...]

    def cases(self, protocol: Protocol) -> Iterator[Case]:
        """The cases of all responses under a protocol."""
        return (case for material in self.responses for case in protocol.cases(material))


@dataclass(frozen=True, slots=True)
class _Settings:
    weights: Weights
    pairs: PairsDrawn
    window: int


def _settings(project: Project) -> _Settings:
    return _Settings(settings_module.allowed(project), sampled_pairs(project), settings_module.width(project))


def for_judging(protocol: Protocol) -> MaterialRequest:
    return MaterialRequest(protocol.needs, pages=_paged(protocol), parts=_by_pairs(protocol))


def for_counting(protocol: Protocol) -> MaterialRequest:
    """The material that determines the units: texts and pages only if units come from the response."""
    texts = protocol.unit_kind is None and bool(protocol.values)
    return MaterialRequest(
        protocol.needs, texts=texts, pages=texts and _paged(protocol), parts=_by_pairs(protocol)
    )


def for_asking(protocol: Protocol) -> MaterialRequest:
    """The material that determines the units a person is asked about, without the texts of reports and pages."""
    return MaterialRequest(
        protocol.needs, texts=False, pages=_paged(protocol), page_texts=False, parts=bool(protocol.parts)
    )


def for_scoring(protocol: Protocol) -> MaterialRequest:
    # Figures judged by cited pages may depend on which of them could be read.
    paged = bool(protocol.parts) and (not protocol.values or protocol.presentation.read == CITED_PAGE)
    return MaterialRequest(
        protocol.needs, texts=protocol.unit_kind is None, pages=paged, page_texts=False, parts=_by_pairs(protocol),
        continuations=protocol.mode == CONTINUATION,
    )  # fmt: skip


def _paged(protocol: Protocol) -> bool:
    return protocol.works or bool(protocol.parts)


def _by_pairs(protocol: Protocol) -> bool:
    return bool(protocol.parts) or any(metric.parts for metric in protocol.metrics)


def for_extracting(extraction: Extraction) -> MaterialRequest:
    return MaterialRequest(
        extraction.needs, sources=not isinstance(extraction.makes, ResponsePart), pages=extraction.cites is not None,
        cites=extraction.cites,
    )  # fmt: skip


def named(db: Connection, *which: ColumnElement[bool]) -> dict[str, tuple[str, str]]:
    """Response → its item's key and its system's name, for those responses or for all."""
    question = (
        select(RESPONSE.c.id, ITEM.c.key, SYSTEM.c.name)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(*which)
    )
    return {row[0]: (row[1], row[2]) for row in db.execute(question)}


def item_ids(project: Project, keys: Sequence[str] = (), *, answered: bool = False) -> list[str]:
    """The ids of the items in use, or of those with these keys, in the project's order.

    With `answered`, only those that systems answer.
    """
    only = [*([items.ANSWERED] if answered else []), *([ITEM.c.key.in_(keys)] if keys else [])]
    question = select(ITEM.c.id).where(ITEM.c.retired.is_(False), *only)
    return list(project.query(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).scalars())


def each(project: Project, material: MaterialRequest, ids: Sequence[str]) -> Iterator[MaterialAtHand]:
    """The material item by item; only a batch of items is in memory at a time.

    Reports on items that systems do not answer are left out.
    """
    settings = _settings(project)
    types = settings_module.types(project) if material.sources else ()
    subjects = _subjects(project) if material.sources else ()
    heavy = material.texts or material.sources or material.parts or (material.pages and material.page_texts)
    for start in range(0, len(ids), step := STRETCH if heavy else WORDLESS):
        chosen = ids[start : start + step]
        with project.store.read() as db:
            result = _batch(db, material, chosen, settings)
        yield from (replace(hand, own=replace(hand.own, types=types, subjects=subjects)) for hand in result)


def _subjects(project: Project) -> tuple[str, ...]:
    subject = ITEM.c.subject
    return tuple(
        project.query(
            select(subject).where(subject != "", ITEM.c.retired.is_(False)).distinct().order_by(subject)
        ).scalars()
    )


def of_response(project: Project, material: MaterialRequest, response_id: str) -> Material | None:
    """The material of one response; None if it is not in use or does not exist."""
    settings = _settings(project)
    with project.store.read() as db:
        item_id = db.execute(select(RESPONSE.c.item_id).where(RESPONSE.c.id == response_id)).scalar()
        result = _batch(db, replace(material, pages=False), [item_id] if item_id else [], settings)
        own = [
            replace(hand, responses=tuple(one for one in hand.responses if one.response.id == response_id))
            for hand in result
        ]
        own = _with_pages(db, own, material) if material.pages else own
    return own[0].responses[0] if own and own[0].responses else None


def _batch(
    db: Connection, material: MaterialRequest, ids: Sequence[str], settings: _Settings
) -> list[MaterialAtHand]:
    rows = {row["id"]: dict(row) for row in db.execute(select(ITEM).where(ITEM.c.id.in_(ids))).mappings()}
    responses = _responses(db, ids, texts=material.texts, continuations=material.continuations)
    extractses = extracts.standing(db, ids) if material.parts else {}
    settled = {kind: annotating.judged_rows(db, kind, ids) for kind in material.kinds}
    sources = _sources(db, ids) if material.sources else {}
    result = []
    for item_id in ids:
        item, rivals = items.item_of(rows[item_id]), responses.get(item_id, [])
        judged = {
            kind: artifact_of(of_item[item_id]) for kind, of_item in settled.items() if item_id in of_item
        }
        own = Material(
            item=item,
            response=Response(id="", item_id=item_id, system_id="", text=""),
            documents={kind: artifact.document for kind, artifact in judged.items()},
            artifact_ids={kind: artifact.id for kind, artifact in judged.items()},
            sources=sources.get(item_id, ()),
            facing=[response for response in rivals if response.mode == EXEMPLAR],
            weights=settings.weights,
            window=settings.window,
        )
        of_item = extractses.get((item_id, ""), {})
        pool = {kind: of_item[kind] for kind in (ResponsePart.POOL.value,) if kind in of_item}
        made = tuple(
            _material(own, rival, rivals, pool | extractses.get((item_id, rival.id), {}), settings.pairs)
            for rival in rivals
        )
        result.append(MaterialAtHand(item, own, made))
    return _with_pages(db, result, material) if material.pages else result


def _material(
    own: Material,
    response: Response,
    rivals: Sequence[Response],
    extracts: dict[str, Extract],
    pairs: PairsDrawn,
) -> Material:
    return Material(
        item=own.item,
        response=response,
        documents=own.documents,
        artifact_ids=own.artifact_ids,
        parts={ResponsePart(kind): extract.document for kind, extract in extracts.items()},
        part_ids={ResponsePart(kind): extract.id for kind, extract in extracts.items()},
        others=[
            other
            for other in rivals
            if other.system_id != response.system_id
            and (other.trial, other.mode) == (response.trial, response.mode)
        ],
        facing=[other for other in rivals if (response.mode == EXEMPLAR) is not (other.mode == EXEMPLAR)],
        weights=own.weights,
        window=own.window,
        extracts={protocol: of.get(response.id, frozenset()) for protocol, of in pairs.items()},
    )


def sampled_pairs(project: Project) -> PairsDrawn:
    """Protocol → response → those it is to be compared with, for protocols for which pairs were sampled."""
    result: PairsDrawn = {}
    for protocol, draw in project.get(PAIRS, {}).items():
        both = grouped(pair for a, b in draw["pairs"] for pair in ((a, b), (b, a)))
        result[protocol] = {one: frozenset(others) for one, others in both.items()}
    return result


def _responses(
    db: Connection, ids: Sequence[str], *, texts: bool, continuations: bool
) -> dict[str, list[Response]]:
    columns = [
        column for column in RESPONSE.c if column.name != "sha256" and (texts or column.name != "text")
    ]
    question = (
        select(*columns)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(RESPONSE.c.item_id.in_(ids), (RESPONSE.c.mode == CONTINUATION) == continuations)
        .where(RESPONSE.c.item_id.not_in(items.SOURCES_ONLY.where(ITEM.c.id.in_(ids))))
        .order_by(SYSTEM.c.name, RESPONSE.c.trial, RESPONSE.c.id)
    )
    rows = db.execute(question).mappings()
    return grouped((row["item_id"], Response(**{"text": "", **row})) for row in rows)


def _sources(db: Connection, ids: Sequence[str]) -> dict[str, list[Source]]:
    columns = [column for column in SOURCE.c if column.name != "sha256"]
    question = select(*columns).where(SOURCE.c.item_id.in_(ids)).order_by(SOURCE.c.position, SOURCE.c.id)
    return grouped(
        (row["item_id"], Source(**{**row, "format": SourceFormat(row["format"])}))
        for row in db.execute(question).mappings()
    )


def _with_pages(
    db: Connection, hands: list[MaterialAtHand], wanted_material: MaterialRequest
) -> list[MaterialAtHand]:
    cites = wanted_material.cites or _addresses
    named = {material.response.id: set(cites(material)) for hand in hands for material in hand.responses}
    every = {address for addresses in named.values() for address in addresses}
    pages = pages_at(db, every, texts=wanted_material.page_texts)

    def with_pages(material: Material) -> Material:
        cited = {url: pages[url] for url in named[material.response.id] if url in pages}
        return replace(material, pages=cited)

    return [replace(hand, responses=tuple(map(with_pages, hand.responses))) for hand in hands]


def _addresses(material: Material) -> set[str]:
    documents = (*material.parts.values(), *material.documents.values())
    units = [unit for document in documents for unit in document.units]
    texts = [
        *(str(getattr(unit, name, "")) for unit in units for name in ("url", "identifier")),
        *(one.address for unit in units for one in getattr(unit, "cites", ())),
    ]
    return {str(result) for text in texts if text and (result := identifier.parse(text))}


def pages_at(db: Connection, addresses: Iterable[str], *, texts: bool = True) -> dict[str, Page]:
    """The snapshots of the pages at some normalised addresses; those never fetched are left out."""
    ordered, result = sorted(addresses), {}
    columns = [column for column in PAGE.c if texts or column.name != "text"]
    for start in range(0, len(ordered), _PER_QUERY):
        some = ordered[start : start + _PER_QUERY]
        for row in db.execute(select(*columns).where(PAGE.c.url.in_(some))).mappings():
            result[row["url"]] = Page(**{"text": "", **row, "state": PageState(row["state"])})
    return result


def html(project: Project, text: str) -> Rendered:
    key = sha256(text)
    row = project.query(
        select(RENDERING.c.html, RENDERING.c.plain, RENDERING.c.reason).where(
            RENDERING.c.text_sha256 == key, RENDERING.c.version == RENDERER_VERSION
        )
    ).first()
    if row:
        return Rendered(html=row.html, plain=row.plain, reason=row.reason)
    rendered = _rendered(text)
    if not project.readonly:
        _keep(project, key, rendered)
    return rendered


def warm(project: Project, progress: Callable[[str, int, int], None] | None = None) -> int:
    """Render every response that is not yet in the cache; return their number.

    Renderings for whose formulas time ran out are not cached: the rest is rendered when a person opens them.
    """
    cached = select(RENDERING.c.text_sha256).where(RENDERING.c.version == RENDERER_VERSION)
    waiting = project.query(
        select(RESPONSE.c.id, RESPONSE.c.sha256).where(RESPONSE.c.sha256.not_in(cached))
    ).all()
    for place, row in enumerate(waiting):
        rendered = _rendered(
            project.query(select(RESPONSE.c.text).where(RESPONSE.c.id == row.id)).scalar_one()
        )
        _keep(project, row.sha256, rendered)
        if progress:
            progress("rendering reports", place + 1, len(waiting))
    return len(waiting)


def _rendered(text: str) -> Rendered:
    # Imported late: most texts that a page opens with are cached.
    from annotator.exchange.texts.rendering import render

    return render(text)


def _keep(project: Project, key: str, r: Rendered) -> None:
    if r.unfinished:
        return
    row = {
        "text_sha256": key,
        "version": RENDERER_VERSION,
        "html": r.html,
        "plain": r.plain,
        "reason": r.reason,
    }
    with file.unmoved(project), project.store.write() as db:
        add_missing(db, RENDERING, row)


DOES = "can prepare material"
# A system in a mode: its reports with the gold plan given differ from those without.
Column = tuple[str, str]


class ReportLine(Response):
    """A report whose text is left out. `parts` holds its extracts, by kind."""

    text: Text = ""
    system: str
    characters: int
    parts: Mapping[str, extracts.CurrentPart]

    @property
    def column(self) -> Column:
        return self.system, self.mode


@dataclass(frozen=True, slots=True)
class ReportsLine:
    """A row of reports on one item; `sources` counts those with text, `parts` holds the item's extracts."""

    id: str
    key: str
    question: str
    question_type: str
    sources: int
    parts: Mapping[str, extracts.CurrentPart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reports:
    """All reports of the active items that systems answer, by item and column; `left_out` counts the others."""

    items: tuple[ReportsLine, ...]
    columns: tuple[Column, ...]
    lines: Mapping[tuple[str, Column], tuple[ReportLine, ...]]
    left_out: LeftOut = field(default_factory=LeftOut)

    @property
    def count(self) -> int:
        return sum(map(len, self.lines.values()))

    @property
    def lacking(self) -> int:
        """The number of missing reports: items without a report of a column, summed over the columns."""
        return len(self.items) * len(self.columns) - len(self.lines)


@people.for_coordinators(DOES)
def reports(project: Project) -> Reports:
    partses = extracts.standing_parts(project)
    about = [column for column in RESPONSE.c if column.name in Response.model_fields.keys() - {"text"}]
    length = func.length(RESPONSE.c.text).label("characters")
    question = (
        select(*about, SYSTEM.c.name.label("system"), length)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(ITEM.c.retired.is_(False), items.ANSWERED)
        .order_by(RESPONSE.c.trial, RESPONSE.c.id)
    )
    report_lines = (
        ReportLine(**row, parts=partses.get((row["item_id"], row["id"]), {}))
        for row in project.query(question).mappings()
    )
    lines = grouped(((line.item_id, line.column), line) for line in report_lines)
    columns = sorted({column for _, column in lines}, key=lambda one: (natural(one[0]), one[1]))
    by_cell = {key: tuple(result) for key, result in lines.items()}
    return Reports(_items(project, partses), tuple(columns), by_cell, items.left_out(project))


@people.for_coordinators(DOES)
def text_of(project: Project, response_id: str) -> str:
    return str(project.query(select(RESPONSE.c.text).where(RESPONSE.c.id == response_id)).scalar() or "")


def _items(
    project: Project, partses: Mapping[tuple[str, str], Mapping[str, extracts.CurrentPart]]
) -> tuple[ReportsLine, ...]:
    source_counts = (
        select(SOURCE.c.item_id, func.count().label("number"))
        .where(func.length(SOURCE.c.text) > 0)
        .group_by(SOURCE.c.item_id)
    )
    question = (
        select(ITEM.c.id, ITEM.c.key, ITEM.c.question, ITEM.c.question_type)
        .where(ITEM.c.retired.is_(False), items.ANSWERED)
        .order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    )
    with project.store.read() as db:
        sources = {row.item_id: row.number for row in db.execute(source_counts)}
        return tuple(
            ReportsLine(**row, sources=sources.get(row["id"], 0), parts=partses.get((row["id"], ""), {}))
            for row in db.execute(question).mappings()
        )


class TaskOrigin(NamedTuple):
    """The origin of an item's task: its seminar with its sources, and the inspirations it is made of."""

    seminar: Item
    sources: Sequence[Source]
    inspirations: Sequence[Unit]


def origin(project: Project, item: Item) -> TaskOrigin | None:
    """The origin of an item made from a task; None for any other, or if its seminar is not in this project."""
    with project.store.read() as db:
        ids = list(db.execute(select(ITEM.c.id).where(ITEM.c.key == item.origin)).scalars())
        lists, leads = (annotating.judged_rows(db, kind, ids) for kind in (Kind.TASKS, Kind.INSPIRATIONS))
    for seminar_id, row in lists.items():
        task = next((unit for unit in artifact_of(row).document.units if unit.id == item.made_from), None)
        if task is not None:
            known = artifact_of(leads[seminar_id]).document.units if seminar_id in leads else ()
            return TaskOrigin(
                items.read(project, seminar_id),
                items.sources(project, seminar_id),
                [one for one in known if one.id in task.inspirations],
            )
    return None


class Thing(StrEnum):
    SYSTEM = "system"
    RESPONSE = "response"
    SOURCE = "source"


# Thing → its table, the class of its fields, and those that can be changed.
_DESCRIBED: dict[Thing, tuple[Table, type[SQLModel], set[str]]] = {
    Thing.SYSTEM: (SYSTEM, SystemFields, {"group", "footnote", "notes"}),
    Thing.RESPONSE: (
        RESPONSE, ResponseFields, {"collected_on", "product_version", "settings", "collected_by", "cutoff"},
    ),
    Thing.SOURCE: (
        SOURCE, SourceFields, {"title", "identifier", "kind", "published", "venue", "citations", "citations_on"},
    ),
}  # fmt: skip

# Fields of numbers and days: None if unknown, never empty.
WITHOUT_EMPTY = frozenset({"collected_on", "cutoff", "citations", "citations_on"})


@people.for_coordinators(DOES)
def describe(project: Project, thing: Thing, values: Mapping[str, Mapping[str, Any]]) -> Change:
    """Change fields of things, by id and field, in one undoable change; the Refusal names a value that does not fit.

    Days are written as 2025-03-24. Unchanged values make no change.
    """
    with project.store.write() as db:
        before, after = {}, {}
        for row_id, fields in values.items():
            old, new = _write(db, thing, row_id, fields)
            if old != new:
                before[row_id], after[row_id] = old, new
        if not after:
            return Change("metadata", thing, "nothing new", None, {})
        names = sorted({name for fields in values.values() for name in fields})
        verb = f"change {', '.join(names).replace('_', ' ')}"
        return record(project, db, Change("metadata", thing, verb, before, after))


@people.for_coordinators(DOES)
def restore(_project: Project, db: Connection, thing: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    for row_id, image in present.items():
        if _write(db, Thing(thing), row_id, goal[row_id])[0] != image:
            raise Refusal("This was changed elsewhere since.", "Look at it again; nothing was undone.")


@people.for_coordinators(DOES)
def systems(project: Project) -> list[dict[str, Any]]:
    return [dict(row) for row in project.query(select(SYSTEM).order_by(SYSTEM.c.name)).mappings()]


def system_named(project: Project, name: str) -> str:
    """The id of a system; the Refusal lists the existing ones."""
    known = {row["name"]: row["id"] for row in systems(project)}
    if name not in known:
        raise Refusal(f"There is no system “{name}”.", f"Systems: {', '.join(known) or 'none'}.")
    return str(known[name])


def responses_of(
    project: Project, system: str, *, items: Collection[str] = (), trial: int = 0, mode: str = ""
) -> list[str]:
    """The ids of a system's responses, of some items (by key), one trial or one mode; raises Refusal if none."""
    question = (
        select(RESPONSE.c.id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(RESPONSE.c.system_id == system_named(project, system))
    )
    for narrowed, condition in (
        (items, ITEM.c.key.in_(items)), (trial, RESPONSE.c.trial == trial), (mode, RESPONSE.c.mode == spelled(mode)),
    ):  # fmt: skip
        question = question.where(condition) if narrowed else question
    return required(
        list(project.query(question).scalars()),
        f"“{system}” has no such reports.",
        "Check items, run and mode; nothing was changed.",
    )


def group_names(known: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys([*sorted({row["group"] for row in known} - {""}), *GROUPS]))


def _write(
    db: Connection, thing: Thing, row_id: str, fields: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Write fields of a thing; return the images of these fields before and after."""
    rows, model, names = _DESCRIBED[thing]
    if unknown := sorted(fields.keys() - names):
        raise Refusal(f"A {thing} has no “{unknown[0]}” that can be changed.", "Nothing was changed.")
    row = db.execute(select(rows).where(rows.c.id == row_id)).mappings().first()
    if row is None:
        raise KeyError(row_id)
    sqlmodel = model.model_validate({name: row[name] for name in model.model_fields})
    new = _checked(model, {**sqlmodel.model_dump(), **fields})
    only = set(fields)
    if new != sqlmodel:
        values = {name: getattr(new, name) for name in fields}
        db.execute(update(rows).where(rows.c.id == row_id).values(**values))
    return sqlmodel.model_dump(mode="json", include=only), new.model_dump(mode="json", include=only)


def _checked(model: type[SQLModel], values: Mapping[str, Any]) -> SQLModel:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]).replace("_", " ")
        raise Refusal(
            f"The {name} “{first['input']}” does not fit: {first['msg'].lower()}.",
            "Nothing was changed. Days are written as 2025-03-24.",
        ) from None
