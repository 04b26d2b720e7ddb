"""Look-ups of works at OpenAlex and CrossRef, on request: replies are kept as cited pages are, or come from a file."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotator.actions.authoring import artifacts
from annotator.actions.items import metadata, pages, sources
from annotator.actions.items.metadata import Thing
from annotator.actions.items.page_fetching import FetchRequest, fetcher_of
from annotator.actions.material import evidence_import
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import Project
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.page import Page, PageState
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identifier import work_named
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats import works
from annotator.exchange.formats.works import Work
from annotator.exchange.reading import parse, read_json

if TYPE_CHECKING:
    from annotator.exchange.pages.fetching import Fetcher

FOUND = "look references up"
FILLED = ("text", "authors", "year")


@dataclass(frozen=True, slots=True)
class FoundWorks:
    """What was found of works by their DOI, on which day, and of which there was nothing, with its cause."""

    found: Mapping[str, tuple[Work, date]] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)

    def of(self, identifier: str) -> tuple[Work, date] | None:
        """The work that is named so, and the day of what is said of it."""
        return self.found.get(works.doi_of(identifier).lower())

    def words(self) -> str:
        lacking = "; ".join(f"{doi}: {cause}" for doi, cause in self.lacking.items())
        return f"{counted(len(self.found), 'work')} found{f', not found: {lacking}' if lacking else ''}."


def in_file(path: Path) -> FoundWorks:
    """The works of a file with replies of either service; they are of its day of writing."""
    found = works.works_of(read_json(path))
    if not found:
        raise Refusal(f"“{path.name}” holds no works of CrossRef or OpenAlex.", "Choose another file.")
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    return FoundWorks({works.doi_of(one.reference.identifier).lower(): (one, day) for one in found})


async def asked(
    project: Project,
    identifiers: Iterable[str],
    services: Sequence[str] = (),
    *,
    refresh: bool = False,
    make: Callable[[FetchRequest], "Fetcher"] = fetcher_of,
) -> FoundWorks:
    """What the services say of works; a reply that is kept is asked for again only to `refresh` it.

    `services` are addresses with {} for the DOI, asked in turn; being the person's choice, they may be private.
    """
    found: dict[str, tuple[Work, date]] = {}
    named = {one: works.doi_of(one) for one in identifiers}
    lacking = {one: "It has no DOI and no arXiv id." for one, doi in named.items() if not doi}
    async with make(FetchRequest(allow_private=bool(services))) as fetcher:
        for doi in dict.fromkeys(filter(None, named.values())):
            for service in services or tuple(works.SERVICES.values()):
                page = await _page(project, fetcher, service.format(doi), refresh=refresh)
                told = _work(page)
                if told is not None:
                    found[doi.lower()] = told, page.fetched_at.date()
                    break
                lacking[doi] = page.cause or "The reply is not a work."
    return FoundWorks(found, {name: cause for name, cause in lacking.items() if name.lower() not in found})


async def _page(project: Project, fetcher: "Fetcher", address: str, *, refresh: bool) -> Page:
    kept = None if refresh else pages.page(project, address)
    if kept is not None and kept.state is PageState.OK and kept.text:
        return kept
    page = (await fetcher.fetch(address)).page
    if page.state is PageState.OK:
        pages.take_in(project, page)
    return page


def _work(page: Page) -> Work | None:
    if page.state is not PageState.OK:
        return None
    try:
        return next(iter(works.works_of(parse(page.text.encode(), page.url))), None)
    except Refusal:
        return None


def to_complete(project: Project, item_id: str) -> list[str]:
    """The identifiers in the person's own evidence whose title, authors or year are lacking."""
    own = evidence_import.own_evidence(project, item_id)
    units: Sequence[Reference] = own.document.units if own else ()
    return [one.identifier for one in units if work_named(one.identifier) and _lacks(one)]


def complete(project: Project, item_id: str, found: FoundWorks) -> Change:
    """Fill in the titles, authors and years that are lacking in the person's own evidence, in one act."""
    own = evidence_import.own_evidence(project, item_id)
    if own is None:
        raise Refusal("You have no evidence for this item yet.", "Import references first.")
    given: dict[str, dict[str, Any]] = {}
    for unit in own.document.units:
        told = found.of(unit.identifier)
        fields = {name: getattr(told[0].reference, name) for name in _lacks(unit)} if told else {}
        if known := {name: value for name, value in fields.items() if value}:
            given[unit.id] = known
    return artifacts.change_units(project, own.id, given, FOUND)


def look_up_evidence(
    project: Project, item_id: str, progress: Progress = lambda *_: None
) -> tuple[Change, FoundWorks]:
    """Ask for what the person's own evidence lacks, and fill it in."""
    wanted = to_complete(project, item_id)
    progress("looking up", 0, len(wanted))
    found = asyncio.run(asked(project, wanted))
    return complete(project, item_id, found), found


def look_up_sources(
    project: Project, item_ids: Sequence[str], progress: Progress = lambda *_: None
) -> tuple[Change, FoundWorks]:
    """Ask about the sources of these items, and keep what is said of them."""
    wanted = [one.identifier for key in item_ids for one in sources.sources(project, key) if one.identifier]
    progress("looking up", 0, len(wanted))
    found = asyncio.run(asked(project, wanted))
    return describe_sources(project, item_ids, found), found


def describe_sources(project: Project, item_ids: Iterable[str], found: FoundWorks) -> Change:
    """Give sources the date, venue, citations and kind that were found, in one act."""
    values: dict[str, dict[str, Any]] = {}
    for item_id in item_ids:
        for source in sources.sources(project, item_id):
            if told := found.of(source.identifier):
                work, day = told
                values[source.id] = work.metadata()
                if work.citations is not None:
                    values[source.id]["citations_on"] = day
    return metadata.describe(project, Thing.SOURCE, values)


def _lacks(unit: Reference) -> list[str]:
    return [name for name in FILLED if not getattr(unit, name)]
