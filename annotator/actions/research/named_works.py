"""Works that reports and the gold evidence name: which lack an abstract or citations, and what is kept of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.items.materials import WantedMaterial
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import page_hash
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.page import PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identifier import work_named
from annotator.storage import upserts
from annotator.storage.tables import PAGE

SCHEMES = ("arxiv", "doi")
# More problems are not told one by one.
MOST_TOLD = 20


@dataclass(frozen=True, slots=True)
class KnownWork:
    """A work, and how often it had been cited by a day where that is known."""

    work: CatalogueWork
    citations: int | None = None
    counted_on: date | None = None


@dataclass(frozen=True, slots=True)
class NamedWorks:
    """The works on arXiv, or with a DOI, that a project names, by address; and of which something is not known."""

    titles: Mapping[str, str]
    without_abstract: tuple[str, ...]
    without_citations: tuple[str, ...]

    def words(self) -> str:
        if not self.titles:
            return "No report and no gold evidence names a work on arXiv or with a DOI yet."
        lacks = f"{len(self.without_abstract):,} without an abstract, {len(self.without_citations):,} without citations"
        return f"{counted(len(self.titles), 'work')} named by reports and gold evidence: {lacks}."


@dataclass(frozen=True, slots=True)
class CompletedWorks:
    """How many works got an abstract and citations, how many others were told of, and what went wrong."""

    abstracts: int
    citations: int
    elsewhere: int
    problems: tuple[str, ...] = ()

    def words(self) -> list[str]:
        said = [
            f"New: abstracts of {counted(self.abstracts, 'work')}, citations of {counted(self.citations, 'work')}."
        ]
        said += [f"{counted(self.elsewhere, 'work')} left out: not named in this project."] * bool(
            self.elsewhere
        )
        more = len(self.problems) - MOST_TOLD
        return [*said, *self.problems[:MOST_TOLD], *([f"and {more:,} more"] if more > 0 else [])]


def named(project: Project) -> NamedWorks:
    """What reports, their sentences and the gold evidence name."""
    titles: dict[str, str] = {}
    wanted = WantedMaterial((Kind.EVIDENCE,), texts=False)
    for at_hand in materials.each(project, wanted, materials.item_ids(project)):
        for address, title in _named_by(at_hand):
            found = work_named(address) if address else None
            if found is not None and found.scheme in SCHEMES:
                titles[str(found)] = titles.get(str(found)) or title
    question = select(PAGE.c.url, PAGE.c.text != "", PAGE.c.citations.is_not(None))
    with project.store.read() as db:
        here = {url: (text, cited) for url, text, cited in db.execute(question)}
    return NamedWorks(
        titles,
        tuple(one for one in titles if not here.get(one, (False, False))[0]),
        tuple(one for one in titles if not here.get(one, (False, False))[1]),
    )


def _named_by(at_hand: materials.MaterialAtHand) -> Iterator[tuple[str, str]]:
    listed = [*at_hand.own.units(Kind.EVIDENCE)]
    for response in at_hand.responses:
        listed += [*response.units(Kind.EVIDENCE), *response.units(ResponsePart.REFERENCES)]
        for sentence in response.units(ResponsePart.SENTENCES):
            yield from ((one.address, one.title) for one in sentence.cites)
    yield from ((one.identifier, one.text) for one in listed)


def complete(
    project: Project, known: Iterable[KnownWork], problems: Sequence[str] = (), where: str = ""
) -> CompletedWorks:
    """Keep what is said of the works that the project names: abstracts that it lacks, and the newest citations."""
    told: dict[str, list[KnownWork]] = {}
    for one in known:
        told.setdefault(one.work.key, []).append(one)
    titles = named(project).titles
    abstracts = citations = 0
    with project.store.write() as db:
        for address in told.keys() & titles.keys():
            found = db.execute(select(PAGE).where(PAGE.c.url == address)).mappings().first()
            before = dict(found) if found is not None else _blank(address, titles[address])
            row = _completed(before, told[address])
            if row != before:
                abstracts += row["text"] != before["text"]
                citations += row["citations_on"] != before["citations_on"]
                upserts.put(db, PAGE, row)
        if abstracts or citations:
            image = {"from": where, "abstracts": abstracts, "citations": citations}
            record(project, db, Change("page", new_id(), "complete works", after=image))
    return CompletedWorks(abstracts, citations, len(told.keys() - titles.keys()), tuple(problems))


def _blank(address: str, title: str) -> dict[str, Any]:
    return {
        "url": address, "state": PageState.OK.value, "text": "", "title": title, "final_url": "",
        "content_type": "abstract", "cause": "", "fetched_at": now(), "by_reader": "", "citations": None,
        "citations_on": None, "sha256": page_hash(""),
    }  # fmt: skip


def _completed(before: dict[str, Any], known: Sequence[KnownWork]) -> dict[str, Any]:
    """A work with what it lacked: a text that is there stays, since verdicts rest on it."""
    row = dict(before)
    if not row["text"] and (abstract := next((one.work.abstract for one in known if one.work.abstract), "")):
        title = next((one.work.title for one in known if one.work.title), "")
        row |= {
            "text": abstract, "sha256": page_hash(abstract), "state": PageState.OK.value, "cause": "",
            "title": title or row["title"], "content_type": "abstract", "fetched_at": now(),
        }  # fmt: skip
    counts = [
        (one.counted_on, one.citations) for one in known if one.counted_on and one.citations is not None
    ]
    # Of several records of one day the larger counts: a published version may hold the citations.
    newest = max(counts, default=None)
    if newest is not None and (row["citations_on"] is None or newest[0] >= row["citations_on"]):
        row |= {"citations_on": newest[0], "citations": newest[1]}
    return row
