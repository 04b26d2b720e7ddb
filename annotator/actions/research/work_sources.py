"""What is known of the works that a project names: from a table, replies of OpenAlex, a folder, or the services."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from urllib.parse import urlencode

from annotator.actions.material import lookups
from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import Project
from annotator.actions.research.named_works import CompletedWorks, KnownWork, complete, named
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints import collecting, known_works
from annotator.exchange.eprints.folder import MANIFEST, Collection
from annotator.exchange.formats.works import Work, works_of
from annotator.exchange.pages.manners import OneTurn
from annotator.exchange.reading import read_json
from annotator.exchange.table_files import READERS, Table, read_table

COUNTS = ("cited_by_count", "counted_on")
TABLES = READERS.keys() - {".json"}
AT_ONCE, GAP_S = 100, 3.0


def from_place(project: Project, path: Path, progress: Progress = lambda *_: None) -> CompletedWorks:
    """What a table, a file with replies of OpenAlex, or a folder with either says; no network."""
    progress("reading works", 0, 0)
    problems: list[str] = []
    known = list(_in_place(path, problems))
    if not known and not problems:
        raise Refusal(
            f"“{path.name}” holds no works.",
            "Choose a table with identifier and abstract or cited_by_count, replies of OpenAlex, or a folder of them.",
        )
    return complete(project, known, problems, path.name)


def _in_place(path: Path, problems: list[str]) -> Iterator[KnownWork]:
    places = [path]
    if path.is_dir():
        yield from map(KnownWork, Collection.at(path).all_works())
        replies = sorted(one for one in path.rglob("*.json") if one.name != MANIFEST)
        places = replies + sorted(one for one in path.glob("[!.~]*") if one.suffix.casefold() in TABLES)
    for place in places:
        if place.suffix.casefold() == ".json":
            yield from _replies(place)
        else:
            yield from _rows(read_table(place, ("identifier",)), problems)


def _replies(place: Path) -> Iterator[KnownWork]:
    day = datetime.fromtimestamp(place.stat().st_mtime, UTC).date()
    yield from (_known(one, day) for one in works_of(read_json(place)))


def _known(work: Work, day: date) -> KnownWork:
    one = work.reference
    known = CatalogueWork(one.identifier, one.text, work.abstract, work.published, one.authors)
    return KnownWork(known, work.citations, day)


def _rows(table: Table, problems: list[str]) -> Iterator[KnownWork]:
    for index, row in enumerate(table.rows):
        for work in known_works.of_rows([row]):
            if not any(row.get(name) for name in COUNTS):
                yield KnownWork(work)
                continue
            try:
                count, day = int(float(row["cited_by_count"])), date.fromisoformat(row["counted_on"])
                if count < 0:
                    raise ValueError
            except (ValueError, KeyError, OverflowError):
                reason = "it has no number of citations with its day; it is left out."
                problems.append(str(table.problem(index, reason)))
                continue
            yield KnownWork(work, count, day)


def look_up(
    project: Project,
    progress: Progress = lambda *_: None,
    *,
    api: str = collecting.API,
    services: Sequence[str] = (),
    allow_private: bool = False,
) -> CompletedWorks:
    """Ask arXiv for the abstracts that lack, then OpenAlex for citations that nobody has counted; politely."""
    lacking = named(project).without_abstract
    ids = [one.removeprefix("arxiv:") for one in lacking if one.startswith("arxiv:")]
    problems: list[str] = []
    first = complete(
        project,
        asyncio.run(_abstracts(ids, api, problems, progress, allow_private=allow_private)),
        (),
        "arXiv",
    )
    wanted = dict.fromkeys((*named(project).without_citations, *lacking))
    progress("looking up citations", 0, len(wanted))
    found = asyncio.run(lookups.asked(project, wanted, services))
    problems += [f"{doi}: {cause}" for doi, cause in found.lacking.items()]
    told = [(address, found.of(address)) for address in wanted]
    known = [_under(address, *one) for address, one in told if one is not None]
    second = complete(project, known, problems, "OpenAlex")
    return CompletedWorks(first.abstracts + second.abstracts, second.citations, 0, tuple(problems))


def _under(address: str, work: Work, day: date) -> KnownWork:
    """What a service says of the work that was asked for, whatever it calls it itself."""
    known = _known(work, day)
    return KnownWork(CatalogueWork(address, known.work.title, known.work.abstract), known.citations, day)


async def _abstracts(
    ids: Sequence[str], api: str, problems: list[str], progress: Progress, *, allow_private: bool
) -> list[KnownWork]:
    from annotator.exchange.eprints.collecting import patiently, polite_fetcher

    found: list[KnownWork] = []
    waiting = [list(ids[at : at + AT_ONCE]) for at in range(0, len(ids), AT_ONCE)]
    async with polite_fetcher(OneTurn(at_once=1, pause_s=GAP_S), allow_private=allow_private) as fetcher:
        while waiting:
            batch = waiting.pop(0)
            progress("looking up abstracts", len(found), len(ids))
            query = urlencode({"id_list": ",".join(batch), "max_results": len(batch)})
            answer, _ = await patiently(fetcher, f"{api}?{query}")
            try:
                found += map(KnownWork, collecting.works_of(answer.content))
            except Refusal as refusal:
                # Where one id is none, arXiv refuses all of them.
                half = len(batch) // 2
                waiting[:0] = [batch[:half], batch[half:]] if half and answer.status == 400 else []
                if not half or answer.status != 400:
                    problems.append(f"arXiv: {answer.cause or refusal.happened}")
    return found
