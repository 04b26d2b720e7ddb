"""Works kept in a folder, and which of them an entry of a bibliography means."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from annotator.domain.material.extract import CitedEntry
from annotator.domain.material.item import CatalogueWork
from annotator.domain.texts.identifier import Identifier, normal_title, work_named
from annotator.exchange.eprints.entries import ON_ARXIV

LEAST_SHARED, YEARS_APART = 0.6, 1


@dataclass(frozen=True, slots=True)
class Resolved:
    """An entry with what its work adds to it; `note` tells why a work that fits was not taken."""

    entry: CitedEntry
    note: str = ""


class KnownWorks:
    """Works by identifier, by whole title and by the last names of their authors."""

    def __init__(self, works: Iterable[CatalogueWork]) -> None:
        self._named: dict[str, CatalogueWork] = {}
        self._titled: defaultdict[str, list[CatalogueWork]] = defaultdict(list)
        self._by: defaultdict[str, list[CatalogueWork]] = defaultdict(list)
        for work in works:
            named = work_named(work.identifier)
            if named is None or str(named) in self._named:
                continue
            self._named[str(named)] = work
            self._titled[normal_title(work.title)].append(work)
            for name in _last_names(work.authors):
                self._by[name].append(work)

    def __contains__(self, named: Identifier) -> bool:
        return str(named) in self._named

    def resolved(self, entry: CitedEntry, published: str, own: str) -> Resolved:
        """The entry with its work, by what names it or else by its title.

        Nothing that appeared after the day `published`, and not the paper itself, whose arXiv id is `own`.
        """
        named = [
            str(result) for one in (entry.link, entry.doi, entry.url) if one and (result := work_named(one))
        ]
        works = [self._named[one] for one in named if one in self._named] or self._titled_so(entry)
        works = [work for work in works if work_named(work.identifier) != work_named(f"arXiv:{own}")]
        late = [work for work in works if published and work.published > published[: len(work.published)]]
        fit = next((work for work in works if work not in late), None)
        if fit is not None:
            return Resolved(_with(entry, fit))
        note = f"{late[0].identifier} appeared on {late[0].published}, after the paper" if late else ""
        return Resolved(entry, note)

    def _titled_so(self, entry: CitedEntry) -> list[CatalogueWork]:
        """Works of the same whole title, those of an author first; else similar ones of an author and time."""
        title = normal_title(entry.title)
        if not title:
            return []
        names = set(normal_title(entry.authors).split())
        same = self._titled.get(title, [])
        if same:
            return sorted(same, key=lambda work: not names & _last_names(work.authors))
        near = {one.identifier: one for name in names for one in self._by.get(name, ())}
        words = set(title.split())
        alike = [(_shared(words, one.title), one) for one in near.values() if _is_near(one.year, entry.year)]
        return [
            one
            for share, one in sorted(alike, key=lambda told: (-told[0], told[1].identifier))
            if share >= LEAST_SHARED
        ]


def _with(entry: CitedEntry, work: CatalogueWork) -> CitedEntry:
    result = work_named(work.identifier)
    link = ON_ARXIV.format(result.value) if result and result.scheme == "arxiv" else entry.link
    doi = result.value if result and result.scheme == "doi" else ""
    return replace(
        entry,
        title=entry.title or work.title,
        link=link,
        doi=entry.doi or doi,
        authors=entry.authors or work.authors,
        year=entry.year or work.year,
        abstract=work.abstract,
    )


def _last_names(authors: str) -> set[str]:
    """The last words of names parted by commas, in their normal spelling."""
    names = (normal_title(one).split() for one in re.split(r",|;| and ", authors))
    return {words[-1] for words in names if words and len(words[-1]) > 1}


def _shared(words: set[str], title: str) -> float:
    other = set(normal_title(title).split())
    return len(words & other) / len(words | other)


def _is_near(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and abs(one - other) <= YEARS_APART


def of_rows(rows: Iterable[Mapping[str, str]]) -> list[CatalogueWork]:
    """The works of a table with the columns identifier and title, and as many of the others as it has."""
    return [
        CatalogueWork(
            *(row.get(name, "") for name in ("identifier", "title", "abstract", "published", "authors"))
        )
        for row in rows
        if row.get("identifier")
    ]
