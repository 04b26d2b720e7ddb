"""References read from a report without a model: its reference lists, links, DOIs and arXiv ids."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.texts.change import derived_id
from annotator.domain.texts.identifier import Identifier, normal_title, same_title
from annotator.protocols.adra.entry import ReferenceEntry, as_title, read_entry
from annotator.protocols.adra.lists import MARKER, Span, entries_of, inside
from annotator.protocols.works import NamedWork, named_in

NAME = "adra.references"
# In normal letters, as many as retrieval matches titles by (appendix G): a shorter title names several works.
SAME_TITLE = 20
LONGEST_QUOTE = 20_000
# Of several identifiers of one work the first of these is kept.
_RANK = {"doi": 0, "arxiv": 1, "isbn": 2, "url": 3}


@dataclass(frozen=True, slots=True)
class FoundWork:
    """A work referred to: its first place, half-open [start, end), and its number in a list."""

    identifier: Identifier | None
    entry: ReferenceEntry
    start: int
    end: int
    mark: str = ""

    @property
    def keys(self) -> list[str]:
        """What makes it the same as another: its identifier, and its title when it is long or all there is."""
        title = normal_title(self.entry.title)
        telling = title if len(title) >= SAME_TITLE or not self.identifier else ""
        return [key for key in (str(self.identifier or ""), telling) if key]


def references(report: str, source_id: str = "") -> Evidence:
    """Every work that a report refers to, once each, those of its lists first; the same on every run.

    A reference's id follows from what is known of it; its anchor shows where the report first names it.
    """
    entries = entries_of(report)
    units: dict[str, Reference] = {}
    listed = _by_mark(list(_listed(report, entries)))
    for found in _merged([*listed, *_linked(report, entries)]):
        end = min(found.end, found.start + LONGEST_QUOTE)
        unit = as_reference(found, Anchor.at(report, found.start, end, source_id))
        units.setdefault(unit.id, unit)
    return Evidence(units=tuple(units.values()))


def as_reference(found: FoundWork, anchor: Anchor) -> Reference:
    """What was found as a reference whose id follows from its identifier and title."""
    identifier, entry = str(found.identifier or ""), found.entry
    return Reference(
        id=derived_id(NAME, identifier, entry.title),
        text=entry.title,
        identifier=identifier,
        authors=entry.authors,
        year=entry.year,
        anchor=anchor,
    )


# The lists.


def _listed(report: str, entries: Iterable[Span]) -> Iterator[FoundWork]:
    """One work for each entry, and one for each link of it that speaks of something else."""
    for start, end in entries:
        marker = MARKER.match(report, start, end)
        named = list(named_in(report, start, end))
        words = next((one.words for one in named if as_title(one.words)), "")
        entry = read_entry(report[marker.end() if marker else start : end], words)
        elsewhere = [_speaks_of_another(one, entry) for one in named]
        own = [one for one, other in zip(named, elsewhere, strict=True) if not other]
        aside = [one for one, other in zip(named, elsewhere, strict=True) if other]
        if not own:
            own, aside = aside[:1], aside[1:]
        best = min(own, key=_rank, default=None)
        if best or entry.title:
            mark = "".join(filter(str.isdigit, marker[0])) if marker else ""
            yield FoundWork(best.identifier if best else None, entry, start, end, mark)
        yield from map(_link, aside)


def _speaks_of_another(one: NamedWork, entry: ReferenceEntry) -> bool:
    title = as_title(one.words)
    return bool(title) and not same_title(title, entry.title)


def _by_mark(listed: Sequence[FoundWork]) -> Iterator[FoundWork]:
    """The entries of all lists; of two lists one may give the title of [1] and the other its address."""
    titles = {found.mark: found for found in listed if found.mark and not found.identifier}
    addresses = {found.mark: found for found in listed if found.mark and not found.entry.title}
    both = titles.keys() & addresses.keys()
    for found in listed:
        if found.mark not in both or found not in (titles[found.mark], addresses[found.mark]):
            yield found
        elif found is titles[found.mark]:
            yield _joined(found, addresses[found.mark])


def _rank(one: NamedWork) -> int:
    return _RANK[one.identifier.scheme]


# The links, DOIs and arXiv ids in the text around them.


def _linked(report: str, entries: Sequence[Span]) -> Iterator[FoundWork]:
    starts = [start for start, _ in entries]
    yield from (_link(one) for one in named_in(report) if not inside(one.start, entries, starts))


def _link(one: NamedWork) -> FoundWork:
    return FoundWork(one.identifier, ReferenceEntry(as_title(one.words)), one.start, one.end)


# One work, however often it is named.


def _merged(everything: Iterable[FoundWork]) -> list[FoundWork]:
    """Each work once, where it first stands, with the best that is known of it.

    Two with different DOIs or arXiv ids are different works, whatever their titles.
    """
    places: dict[str, int] = {}
    works: list[FoundWork] = []
    for found in everything:
        known = [places[key] for key in found.keys if key in places]
        at = next((place for place in known if _may_be_one(works[place], found)), len(works))
        if at == len(works):
            works.append(found)
        else:
            works[at] = _joined(works[at], found)
        for key in (*works[at].keys, *found.keys):
            places.setdefault(key, at)
    return works


def _may_be_one(a: FoundWork, b: FoundWork) -> bool:
    """Whether no identifier speaks against it; two addresses may lead to one work."""
    if a.identifier is None or b.identifier is None or a.identifier == b.identifier:
        return True
    return a.identifier.scheme != b.identifier.scheme or a.identifier.scheme == "url"


def _joined(a: FoundWork, b: FoundWork) -> FoundWork:
    known = [one for one in (a.identifier, b.identifier) if one]
    identifier = min(known, key=lambda one: _RANK[one.scheme], default=None)
    entry = ReferenceEntry(
        a.entry.title or b.entry.title, a.entry.authors or b.entry.authors, a.entry.year or b.entry.year
    )
    return replace(a, identifier=identifier, entry=entry)
