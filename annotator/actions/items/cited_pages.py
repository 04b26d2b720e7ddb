"""Cited pages and their states: read, unreadable with the cause, or not fetched; and the claims that cite each."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from sqlalchemy import func, select

from annotator.actions.items import drawn_parts, materials, pages
from annotator.actions.items.page_fetching import FetchPlan
from annotator.actions.items.report_lines import DOES
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.material.page import PageState
from annotator.domain.material.part import ResponsePart
from annotator.storage.tables import PAGE


@dataclass(frozen=True, slots=True)
class CitedPage:
    """A page that is cited or stored; `state` is None when it was never fetched."""

    url: str
    claims: int
    reports: int
    state: PageState | None = None
    title: str = ""
    cause: str = ""
    final_url: str = ""
    fetched_at: datetime | None = None
    by_reader: str = ""
    characters: int = 0
    sha256: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it was read and its text is here; it may have stayed where it was released."""
        return self.state is PageState.OK and self.characters > 0


@dataclass(frozen=True, slots=True)
class CitingClaim:
    """A claim that cites a page, and its report."""

    item_id: str
    item: str
    response_id: str
    system: str
    unit_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CitedPages:
    """All cited or stored pages, by address, and the claims that cite each."""

    pages: tuple[CitedPage, ...]
    citing: Mapping[str, Sequence[CitingClaim]]

    def plan(self, *, refresh: bool) -> FetchPlan:
        """What fetching them would do: those that are cited and not read, or with `refresh` all that are cited."""
        cited = [page for page in self.pages if page.claims]
        wanted = [page.url for page in cited if refresh or not page.is_here]
        return FetchPlan(tuple(wanted), len(cited) - len(wanted))


def cited(project: Project) -> CitedPages:
    """How the cited pages stand, without their texts; only a coordinator is told which system cites what."""
    people.refuse_others(project, DOES)
    return _found(project)


def lines(project: Project, *, every: bool = False) -> tuple[CitedPage, ...]:
    """The same pages for anyone, without who cites them; on request also those that reports give without a claim."""
    return _found(project, pages.given(project) if every else ()).pages


def _found(project: Project, given: Iterable[str] = ()) -> CitedPages:
    citing: defaultdict[str, list[CitingClaim]] = defaultdict(list)
    normal = cache(pages.normal)
    for url, one in _claims(project):
        citing[normal(url)].append(one)
    names = [name for name in CitedPage.__dataclass_fields__ if name in PAGE.c]
    question = select(*(PAGE.c[name] for name in names), func.length(PAGE.c.text).label("characters"))
    with project.store.read() as db:
        kept = {row["url"]: dict(row) for row in db.execute(question).mappings()}
    found = []
    for url in sorted({*citing, *kept, *given}):
        row = kept.get(url, {"url": url})
        if "state" in row:
            row["state"] = PageState(row["state"])
        by = citing.get(url, ())
        found.append(CitedPage(**row, claims=len(by), reports=len({one.response_id for one in by})))
    return CitedPages(tuple(found), citing)


def _claims(project: Project) -> Iterator[tuple[str, CitingClaim]]:
    """(address as cited, claim) of each claim that cites something, as the claims now stand."""
    used = set(materials.item_ids(project))
    with project.store.read() as db:
        named = materials.named(db)
    for item_id, response_id, tree in drawn_parts.contents(project, ResponsePart.CLAIMS):
        for unit in tree["units"] if item_id in used else ():
            if url := unit["url"].strip():
                key, system = named[response_id]
                yield url, CitingClaim(item_id, key, response_id, system, unit["id"], unit["text"])
