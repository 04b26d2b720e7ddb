"""Material for judging the responses of items, read in a few queries, a batch of items at a time."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import ColumnElement, select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating, citation_window, criterion_weights, question_types
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import extracts, roles
from annotator.actions.items.items import item_of
from annotator.actions.project.file import Project
from annotator.domain.judges.presentation import CITED_PAGE
from annotator.domain.judges.protocol import Extraction, Material, Protocol
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.weights import Weights
from annotator.domain.material.extract import Extract
from annotator.domain.material.item import Item
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import CONTINUATION, EXEMPLAR, Response
from annotator.domain.material.source import Source, SourceFormat
from annotator.domain.texts import identifier
from annotator.storage.tables import (
    ITEM,
    PAGE,
    RESPONSE,
    SOURCE,
    SYSTEM,
)

# The setting that holds the pairs drawn for a protocol, with how they were drawn.
PAIRS = "drawn_pairs"
PairsDrawn = dict[str, dict[str, frozenset[str]]]
# So many items are read together, more where no report, page or source is read; and so many addresses looked up.
STRETCH, WORDLESS = 32, 256
_ASKED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class WantedMaterial:
    """The material to read: kinds of artifact, report texts, cited pages, sources.

    Without `parts` nothing is read of what was drawn from the reports. Continuations of halved tasks are no reports:
    they are read alone, or not at all. The pages are those that parts and gold name, or whose addresses `cites` gives.
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


@dataclass(frozen=True, slots=True)
class _Settings:
    """What a project decides about all its material."""

    weights: Weights
    pairs: PairsDrawn
    window: int


def _settings(project: Project) -> _Settings:
    return _Settings(criterion_weights.allowed(project), pairs_drawn(project), citation_window.width(project))


def for_judging(shape: Protocol) -> WantedMaterial:
    return WantedMaterial(shape.needs, pages=_paged(shape), parts=_drawn(shape))


def for_counting(shape: Protocol) -> WantedMaterial:
    """What shows which units there are: words and pages only where units come from the response."""
    texts = shape.unit_kind is None and bool(shape.values)
    return WantedMaterial(shape.needs, texts=texts, pages=texts and _paged(shape), parts=_drawn(shape))


def for_asking(shape: Protocol) -> WantedMaterial:
    """What shows which units a person is asked about, without a word of any report or page."""
    read = _paged(shape)
    return WantedMaterial(shape.needs, texts=False, pages=read, page_texts=False, parts=bool(shape.parts))


def for_scoring(shape: Protocol) -> WantedMaterial:
    # Of what is judged by cited pages, figures may hang on which of them could be read.
    paged = bool(shape.parts) and (not shape.values or shape.presentation.read == CITED_PAGE)
    return WantedMaterial(
        shape.needs, texts=shape.unit_kind is None, pages=paged, page_texts=False, parts=_drawn(shape),
        continuations=shape.mode == CONTINUATION,
    )  # fmt: skip


def _paged(shape: Protocol) -> bool:
    """Whether it reads the pages or works that a response or its gold names."""
    return shape.works or bool(shape.parts)


def _drawn(shape: Protocol) -> bool:
    """Whether anything that was drawn from responses is judged or counted."""
    return bool(shape.parts) or any(metric.parts for metric in shape.metrics)


def for_extracting(extraction: Extraction) -> WantedMaterial:
    return WantedMaterial(
        extraction.needs, sources=not isinstance(extraction.makes, ResponsePart), pages=extraction.cites is not None,
        cites=extraction.cites,
    )  # fmt: skip


def named(db: Connection, *which: ColumnElement[bool]) -> dict[str, tuple[str, str]]:
    """Response → its item's key and its system's name, of those responses or of all."""
    question = (
        select(RESPONSE.c.id, ITEM.c.key, SYSTEM.c.name)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(*which)
    )
    return {row[0]: (row[1], row[2]) for row in db.execute(question)}


def item_ids(project: Project, keys: Sequence[str] = (), *, answered: bool = False) -> list[str]:
    """The ids of the items in use, or of those with these keys, in the project's order.

    With `answered` only of those that systems answer.
    """
    used = ITEM.c.retired.is_(False)
    question = select(ITEM.c.id).where(used, roles.ANSWERED) if answered else select(ITEM.c.id).where(used)
    if keys:
        question = question.where(ITEM.c.key.in_(keys))
    with project.store.read() as db:
        ordered = question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
        return list(db.execute(ordered).scalars())


def each(project: Project, wanted: WantedMaterial, ids: Sequence[str]) -> Iterator[MaterialAtHand]:
    """Item by item, all that is at hand; only a stretch of items is in memory at a time.

    A report on an item that systems do not answer is not at hand.
    """
    settings = _settings(project)
    types = question_types.types(project) if wanted.sources else ()
    subjects = _subjects(project) if wanted.sources else ()
    heavy = wanted.texts or wanted.sources or wanted.parts or (wanted.pages and wanted.page_texts)
    for start in range(0, len(ids), step := STRETCH if heavy else WORDLESS):
        chosen = ids[start : start + step]
        with project.store.read() as db:
            found = _stretch(db, wanted, chosen, settings)
        yield from (replace(one, own=replace(one.own, types=types, subjects=subjects)) for one in found)


def _subjects(project: Project) -> tuple[str, ...]:
    """The subjects of the items in use, in alphabetical order."""
    subject = ITEM.c.subject
    question = select(subject).where(subject != "", ITEM.c.retired.is_(False)).distinct().order_by(subject)
    with project.store.read() as db:
        return tuple(db.execute(question).scalars())


def of_response(project: Project, wanted: WantedMaterial, response_id: str) -> Material | None:
    """All that is at hand about one response; None when it is not there."""
    settings = _settings(project)
    question = select(RESPONSE.c.item_id).where(RESPONSE.c.id == response_id)
    with project.store.read() as db:
        item_id = db.execute(question).scalar()
        found = _stretch(db, replace(wanted, pages=False), [item_id] if item_id else [], settings)
        own = [replace(one, responses=_only(one, response_id)) for one in found]
        own = _with_pages(db, own, wanted) if wanted.pages else own
    return own[0].responses[0] if own and own[0].responses else None


def _only(at_hand: MaterialAtHand, response_id: str) -> tuple[Material, ...]:
    return tuple(material for material in at_hand.responses if material.response.id == response_id)


def _stretch(
    db: Connection, wanted: WantedMaterial, ids: Sequence[str], settings: _Settings
) -> list[MaterialAtHand]:
    rows = {row["id"]: dict(row) for row in db.execute(select(ITEM).where(ITEM.c.id.in_(ids))).mappings()}
    responses = _responses(db, ids, texts=wanted.texts, continuations=wanted.continuations)
    drawn = extracts.standing(db, ids) if wanted.parts else {}
    settled = {kind: annotating.judged_rows(db, kind, ids) for kind in wanted.kinds}
    sources = _sources(db, ids) if wanted.sources else {}
    found = []
    for item_id in ids:
        item = item_of(rows[item_id])
        judged = {
            kind: artifact_of(of_item[item_id]) for kind, of_item in settled.items() if item_id in of_item
        }
        own = Material(
            item=item,
            response=Response(id="", item_id=item_id, system_id="", text=""),
            documents={kind: artifact.document for kind, artifact in judged.items()},
            artifact_ids={kind: artifact.id for kind, artifact in judged.items()},
            sources=sources.get(item_id, ()),
            facing=[one for one in responses[item_id] if one.mode == EXEMPLAR],
            weights=settings.weights,
            window=settings.window,
        )
        rivals = responses[item_id]
        of_item = drawn.get((item_id, ""), {})
        pool = {kind: of_item[kind] for kind in (ResponsePart.POOL.value,) if kind in of_item}
        made = tuple(
            _material(own, one, rivals, pool | drawn.get((item_id, one.id), {}), settings.pairs)
            for one in rivals
        )
        found.append(MaterialAtHand(item, own, made))
    return _with_pages(db, found, wanted) if wanted.pages else found


def _material(
    own: Material,
    response: Response,
    rivals: Sequence[Response],
    drawn: dict[str, Extract],
    pairs: PairsDrawn,
) -> Material:
    return Material(
        item=own.item,
        response=response,
        documents=own.documents,
        artifact_ids=own.artifact_ids,
        parts={ResponsePart(kind): extract.document for kind, extract in drawn.items()},
        part_ids={ResponsePart(kind): extract.id for kind, extract in drawn.items()},
        others=[other for other in rivals if _rivals(response, other)],
        facing=[other for other in rivals if (response.mode == EXEMPLAR) is not (other.mode == EXEMPLAR)],
        weights=own.weights,
        window=own.window,
        drawn={protocol: of.get(response.id, frozenset()) for protocol, of in pairs.items()},
    )


def pairs_drawn(project: Project) -> PairsDrawn:
    """Protocol → response → those it was drawn to be compared with, of protocols for which pairs were drawn."""
    found: PairsDrawn = {}
    for protocol, draw in project.get(PAIRS, {}).items():
        both: dict[str, set[str]] = defaultdict(set)
        for a, b in draw["pairs"]:
            both[a].add(b)
            both[b].add(a)
        found[protocol] = {one: frozenset(others) for one, others in both.items()}
    return found


def _rivals(a: Response, b: Response) -> bool:
    return a.system_id != b.system_id and (a.trial, a.mode) == (b.trial, b.mode)


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
        .where(RESPONSE.c.item_id.not_in(roles.SOURCES_ONLY.where(ITEM.c.id.in_(ids))))
        .order_by(SYSTEM.c.name, RESPONSE.c.trial, RESPONSE.c.id)
    )
    found: dict[str, list[Response]] = defaultdict(list)
    for row in db.execute(question).mappings():
        found[row["item_id"]].append(Response(**{"text": "", **row}))
    return found


def _sources(db: Connection, ids: Sequence[str]) -> dict[str, list[Source]]:
    found: dict[str, list[Source]] = defaultdict(list)
    question = select(SOURCE).where(SOURCE.c.item_id.in_(ids)).order_by(SOURCE.c.position, SOURCE.c.id)
    for row in db.execute(question).mappings():
        fields = {key: value for key, value in row.items() if key != "sha256"}
        found[row["item_id"]].append(Source(**fields | {"format": SourceFormat(row["format"])}))
    return found


def _with_pages(db: Connection, found: list[MaterialAtHand], wanted: WantedMaterial) -> list[MaterialAtHand]:
    """The same with the pages that each response cites."""
    cites = wanted.cites or _addresses
    named = {material.response.id: set(cites(material)) for one in found for material in one.responses}
    every = {address for addresses in named.values() for address in addresses}
    pages = pages_at(db, every, texts=wanted.page_texts)

    def with_pages(material: Material) -> Material:
        cited = {url: pages[url] for url in named[material.response.id] if url in pages}
        return replace(material, pages=cited)

    return [replace(one, responses=tuple(map(with_pages, one.responses))) for one in found]


def _addresses(material: Material) -> set[str]:
    """The normal addresses that the parts of a response and the gold name."""
    documents = (*material.parts.values(), *material.documents.values())
    units = [unit for document in documents for unit in document.units]
    said = [str(getattr(unit, name, "")) for unit in units for name in ("url", "identifier")]
    said += [one.address for unit in units for one in getattr(unit, "cites", ())]
    return {str(found) for text in said if text and (found := identifier.parse(text))}


def pages_at(db: Connection, addresses: Iterable[str], *, texts: bool = True) -> dict[str, Page]:
    """The snapshots of the pages at some normal addresses; those never fetched are not among them."""
    ordered, found = sorted(addresses), {}
    columns = [column for column in PAGE.c if texts or column.name != "text"]
    for start in range(0, len(ordered), _ASKED_AT_ONCE):
        some = ordered[start : start + _ASKED_AT_ONCE]
        for row in db.execute(select(*columns).where(PAGE.c.url.in_(some))).mappings():
            found[row["url"]] = Page(**{"text": "", **row, "state": PageState(row["state"])})
    return found
