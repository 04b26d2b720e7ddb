"""Look-ups of works at OpenAlex and CrossRef, on request: replies are stored like cited pages, or come from a file."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items, materials, pages
from annotator.actions.material.model_drafts import blank_unit
from annotator.actions.project import people
from annotator.actions.project.file import Progress, Project
from annotator.domain.common import Change, Refusal, counted, required, words_that_hold
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.evidence import Reference, work_keys
from annotator.domain.material.item import Page, PageState, Source, SourceFormat, SourceKind
from annotator.domain.texts.identifier import different_works, work_named
from annotator.exchange.folders import parse, read_json
from annotator.exchange.formats import bibliographies
from annotator.exchange.formats.bibliographies import Bibliography, ReadEntry, Work
from annotator.exchange.texts import documents

if TYPE_CHECKING:
    from annotator.exchange.pages.fetching import Fetcher

IMPORTED = "import references"


@dataclass(frozen=True, slots=True)
class OfferedReference(ReadEntry):
    """An entry to take, and which reference it repeats; a doubtful one is taken only if a person says so."""

    repeats: str = ""

    @property
    def fresh(self) -> bool:
        return self.reference is not None and not self.repeats and not self.doubt

    @property
    def doubtful(self) -> bool:
        return self.reference is not None and not self.repeats and bool(self.doubt)

    def words(self) -> str:
        result = self.reference
        named = " ".join(self.text.split())
        if result is not None:
            named = ". ".join(
                filter(None, (result.text, result.authors, str(result.year or ""), result.identifier))
            )
        marks = {
            f"repeats {self.repeats}: ": self.repeats,
            f"not read ({self.place}: {self.why.rstrip('.')}): ": self.why,
            f"doubtful, {self.doubt} ({self.place}): ": self.doubt,
        }
        return "".join(words_that_hold(marks)[:1]) + named


@dataclass(frozen=True, slots=True)
class EvidenceOffer:
    form: str
    entries: tuple[OfferedReference, ...]

    @property
    def fresh(self) -> tuple[Reference, ...]:
        return tuple(entry.reference for entry in self.entries if entry.fresh and entry.reference is not None)

    @property
    def doubtful(self) -> tuple[Reference, ...]:
        return tuple(
            entry.reference for entry in self.entries if entry.doubtful and entry.reference is not None
        )

    def words(self) -> str:
        repeated = sum(bool(entry.repeats) for entry in self.entries)
        unread = sum(entry.reference is None for entry in self.entries)
        parts = (
            f"{len(self.fresh):,} new",
            f"{len(self.doubtful):,} doubtful" if self.doubtful else "",
            f"{repeated} repeated" if repeated else "",
            f"{unread} not read" if unread else "",
        )
        return f"{counted(len(self.entries), 'entry', 'entries')} ({self.form}): {', '.join(filter(None, parts))}."


def from_text(project: Project, item_id: str, text: str, name: str = "") -> EvidenceOffer:
    """The references of a pasted text or a file's; the format is detected."""
    return _offer(project, item_id, bibliographies.read(text, name))


def from_file(project: Project, item_id: str, path: Path) -> EvidenceOffer:
    content = documents.read(path)
    if content.startswith(b"%PDF-"):
        return _offer(project, item_id, _listed([_laid_out(content, path.name)]))
    return from_text(project, item_id, documents.plain_text(content, path.name), path.name)


def from_sources(project: Project, item_id: str) -> EvidenceOffer:
    beside = [source for source in items.sources(project, item_id) if not source.drafted]
    files = {one.id: items.file_bytes(project, one.id) for one in beside if one.format is SourceFormat.PDF}
    texts = (_laid_out(content, one.title) if (content := files.get(one.id)) else one.text for one in beside)
    return _offer(project, item_id, _listed(texts))


def the_source_itself(project: Project, item_id: str) -> EvidenceOffer:
    """The item's sources as references: the gold evidence of a research paper."""
    beside = required(
        [source for source in items.sources(project, item_id) if not source.drafted],
        "The item has no source.",
        "Add the paper beside the item first.",
    )
    result = tuple(
        ReadEntry(f"source {place}", one.title, _as_reference(one))
        for place, one in enumerate(beside, start=1)
    )
    return _offer(project, item_id, Bibliography("the source itself", result))


def of_research(project: Project, item_id: str) -> bool:
    kinds = {source.kind for source in items.sources(project, item_id)} - {SourceKind.UNKNOWN}
    return kinds == {SourceKind.RESEARCH}


def take(project: Project, item_id: str, references: Sequence[Reference], form: str) -> Change:
    """Add references to the person's own evidence, started if missing, in one undoable change."""
    if not references:
        raise Refusal("There is nothing new to take.", "Nothing was changed.")
    given = [
        reference.model_dump(mode="json", include={"text", "identifier", "authors", "year"})
        for reference in references
    ]
    with project.store.write():
        own = own_evidence(project, item_id)
        artifact_id = own.id if own else artifacts.start(project, item_id, Kind.EVIDENCE).subject
        return artifacts.add_units(
            project, artifact_id, given, instead_of=blank_unit(own.document) if own else "", verb=IMPORTED,
            about={"imported": {"form": form, "count": len(given)}},
        )  # fmt: skip


def own_evidence(project: Project, item_id: str) -> Artifact | None:
    me = people.someone(project).id
    result = (
        artifact for artifact in annotating.artifacts_of(project, item_id) if artifact.kind is Kind.EVIDENCE
    )
    return next((one for one in result if one.author_id == me and one.state is not State.CONSENSUS), None)


def _laid_out(content: bytes, name: str) -> str:
    from annotator.exchange.pages import worker

    return worker.pdf_text(content, name, layout=True)


def _listed(texts: Iterable[str]) -> Bibliography:
    result = [bibliographies.own_list(text) for text in texts]
    entries = required(
        tuple(entry for bibliography in result for entry in bibliography.entries),
        "No list of references was found.",
        "Looked for was a heading such as References or Bibliography with entries below it. A scanned PDF has no "
        "text; paste the list or give it as a file.",
    )
    return Bibliography(result[0].form, entries)


def _as_reference(source: Source) -> Reference:
    named = str(work_named(source.identifier) or "") or source.identifier
    return Reference(
        text=source.title, identifier=named, year=int(source.published[:4]) if source.published else None
    )


def _offer(project: Project, item_id: str, read: Bibliography) -> EvidenceOffer:
    own = own_evidence(project, item_id)
    known: list[tuple[str, Reference]] = [
        (f"reference {number}", unit)
        for number, unit in enumerate(own.document.units if own else (), start=1)
    ]
    result = []
    for entry in read.entries:
        repeats = _repeated(entry.reference, known) if entry.reference else ""
        result.append(
            OfferedReference(
                entry.place, entry.text, entry.reference, entry.why, entry.named, entry.doubt, repeats
            )
        )
        if entry.reference and not repeats and not entry.doubt:
            known.append((entry.place, entry.reference))
    return EvidenceOffer(read.form, tuple(result))


def _repeated(reference: Reference, known: Collection[tuple[str, Reference]]) -> str:
    """The place of the same work, empty if there is none; works with different DOIs differ, whatever their titles."""
    keys, named = set(work_keys(reference)), work_named(reference.identifier)
    return next(
        (
            place
            for place, other in known
            if keys & set(work_keys(other)) and not different_works(named, work_named(other.identifier))
        ),
        "",
    )


LOOK_UP = "look references up"
FILLED = ("text", "authors", "year")


@dataclass(frozen=True, slots=True)
class WorkLookups:
    """The works found by their DOI, with the day, and those not found, with the cause."""

    works: Mapping[str, tuple[Work, date]] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    def of(self, identifier: str) -> tuple[Work, date] | None:
        return self.works.get(bibliographies.doi_of(identifier).lower())

    def words(self) -> str:
        lacking = "; ".join(f"{doi}: {cause}" for doi, cause in self.lacking.items())
        return f"{counted(len(self.works), 'work')} found{f', not found: {lacking}' if lacking else ''}."


def in_file(path: Path) -> WorkLookups:
    """The works in a file with replies of either service; they are dated by the file's modification."""
    result = required(
        bibliographies.works_of(read_json(path)),
        f"“{path.name}” holds no works of CrossRef or OpenAlex.",
        "Choose another file.",
    )
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    return WorkLookups(
        {bibliographies.doi_of(work.reference.identifier).lower(): (work, day) for work in result}
    )


# A service that could not be reached this many times in a row is not asked any more.
UNREACHED = 2
NOT_ASKED = "It was not asked for: its service could not be reached."


async def look_up(
    project: Project,
    identifiers: Iterable[str],
    services: Sequence[str] = (),
    *,
    refresh: bool = False,
    make: Callable[[pages.FetchRequest], "Fetcher"] = pages.fetcher_of,
) -> WorkLookups:
    """Look up works at the services; a stored reply is requested again only with `refresh`.

    `services` are addresses with {} for the DOI, asked in turn; as the person chose them, they may be private.
    """
    result: dict[str, tuple[Work, date]] = {}
    unreached = Counter[str]()
    named = {identifier: bibliographies.doi_of(identifier) for identifier in identifiers}
    lacking = {one: "It has no DOI and no arXiv id." for one, doi in named.items() if not doi}
    async with make(pages.FetchRequest(allow_private=bool(services))) as fetcher:
        for doi in dict.fromkeys(filter(None, named.values())):
            for service in services or tuple(bibliographies.SERVICES.values()):
                page = None if refresh else _stored(project, service.format(doi))
                if page is None and unreached[service] == UNREACHED:
                    lacking.setdefault(doi, NOT_ASKED)
                    continue
                if page is None:
                    reply = await fetcher.fetch(service.format(doi))
                    page = reply.page
                    unreached[service] = unreached[service] + 1 if reply.reached is False else 0
                    if page.state is PageState.OK:
                        pages.take_in(project, page)
                work = _work(page)
                if work is not None:
                    result[doi.lower()] = work, page.fetched_at.date()
                    break
                lacking[doi] = page.cause or "The reply is not a work."
    return WorkLookups(result, {name: cause for name, cause in lacking.items() if name.lower() not in result})


def _stored(project: Project, address: str) -> Page | None:
    """The project's stored reply of an address; None if there is none with a text."""
    page = pages.page(project, address)
    return page if page is not None and page.state is PageState.OK and page.text else None


def _work(page: Page) -> Work | None:
    if page.state is not PageState.OK:
        return None
    try:
        return next(iter(bibliographies.works_of(parse(page.text.encode(), page.url))), None)
    except Refusal:
        return None


def to_complete(project: Project, item_id: str) -> list[str]:
    """The identifiers in the person's own evidence whose title, authors or year are missing."""
    own = own_evidence(project, item_id)
    units: Sequence[Reference] = own.document.units if own else ()
    return [unit.identifier for unit in units if work_named(unit.identifier) and _lacks(unit)]


def complete(project: Project, item_id: str, works: WorkLookups) -> Change:
    """Fill in missing titles, authors and years in the person's own evidence, in one change."""
    own = required(
        own_evidence(project, item_id), "You have no evidence for this item yet.", "Import references first."
    )
    given: dict[str, dict[str, Any]] = {}
    for unit in own.document.units:
        match = works.of(unit.identifier)
        fields = {name: getattr(match[0].reference, name) for name in _lacks(unit)} if match else {}
        if known := {name: value for name, value in fields.items() if value}:
            given[unit.id] = known
    return artifacts.change_units(project, own.id, given, LOOK_UP)


def look_up_evidence(
    project: Project, item_id: str, progress: Progress = lambda *_: None
) -> tuple[Change, WorkLookups]:
    """Look up what the person's own evidence is missing, and fill it in."""
    identifiers = to_complete(project, item_id)
    progress("looking up", 0, len(identifiers))
    result = asyncio.run(look_up(project, identifiers))
    return complete(project, item_id, result), result


def look_up_sources(
    project: Project, item_ids: Sequence[str], progress: Progress = lambda *_: None
) -> tuple[Change, WorkLookups]:
    identifiers = [
        source.identifier for key in item_ids for source in items.sources(project, key) if source.identifier
    ]
    progress("looking up", 0, len(identifiers))
    result = asyncio.run(look_up(project, identifiers))
    return describe_sources(project, item_ids, result), result


def describe_sources(project: Project, item_ids: Iterable[str], works: WorkLookups) -> Change:
    """Set the date, venue, citations and kind of sources from the works found, in one change."""
    values: dict[str, dict[str, Any]] = {}
    for item_id in item_ids:
        for source in items.sources(project, item_id):
            if match := works.of(source.identifier):
                work, day = match
                values[source.id] = work.metadata()
                if work.citations is not None:
                    values[source.id]["citations_on"] = day
    return materials.describe(project, materials.Thing.SOURCE, values)


def _lacks(unit: Reference) -> list[str]:
    return [name for name in FILLED if not getattr(unit, name)]
