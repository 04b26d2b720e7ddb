"""References read from a report without a model: its reference lists, links, DOIs and arXiv ids."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from annotator.domain.common import derived_id
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.texts.identifier import Identifier, normal_title, same_title
from annotator.domain.texts.words import unspaced
from annotator.protocols.citations import NamedWork, named_in

SHORTEST = 12
SHORTEST_UNSPACED = 4
MOST_NAMES = 6
# Text of an entry beyond this does not identify the work.
LONGEST = 2_000
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{6,400})[\"”»]")
_BEFORE_VENUE = re.compile(r"\.$|\b[Ii]n:?$")
_ITALIC = re.compile(r"(?<![*_\w])([*_])(?![*_\s])([^*_\n]{6,400})(?<!\s)\1(?![*_\w])")
# Authors (2024). Title. Journal … — and the like with a month or a letter.
_BY_YEAR = re.compile(
    r"\((?:19|20)\d\d[a-z]?(?:,[^()\n]{0,30})?\)[.,:]?\s+(?P<title>\S.{5,400}?)(?:[.?!](?:\s|$)|$)", re.DOTALL
)
_LINK = re.compile(r"!?\[[^\[\]\n]{0,500}\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*[^()\n]{0,500}\)")
_ADDRESS = re.compile(
    r"https?://\S+|\b(?:doi[:\s]*)?10\.\d{4,9}/\S+"
    r"|\barxiv(?: preprint)?(?:[\s:]*arxiv)?[\s:]*\d{4}\.\d{4,5}(?:v\d+)?",
    re.IGNORECASE,
)
_ACCESSED = re.compile(r"\b(?:last )?(?:accessed|retrieved|visited)\b.*", re.IGNORECASE | re.DOTALL)
_YEAR = re.compile(r"(?<![\w./-])(?:1[89]|20)\d\d(?=[a-z]?(?![\w/-]))")
_YEAR_AFTER = re.compile(r"\.\s+\(?(?:1[89]|20)\d\d[a-z]?\W*$")
_AFTER_COMMA = re.compile(r",\s+(?:1[89]|20)\d\d\W*$")
_YEAR_ONLY = re.compile(r"\W*(?:1[89]|20)\d\d[a-z]?\W*")
# A full stop that ends neither an initial nor an abbreviation usual in such lists.
_SENTENCE = re.compile(
    r"(?<!\b[A-Z])(?<!\bal)(?<!\b[Ee]d)(?<!\b[Ee]ds)(?<!\b[Vv]ol)(?<!\bvs)\.\s+"
    r"|(?<=[?!])\s+(?=(?:In|arXiv|CoRR|Proceedings|Journal|Transactions|Advances|Nature|Science|IEEE|ACM)\b)"
)
# The usual spellings of a name: A. B. van Lee; Lee, A. B.; Lee AB; Anna B. van Lee.
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ]"
_WORD = rf"(?>(?:(?:d[aeiou]s?|de[lnr]|della|van|von|zu|la|le|el|al|bin|ter?)[ -])*)(?:[dlO]['’])?{_CAPITAL}[\w'’-]*+"
_INITIALS = rf"(?>(?:{_CAPITAL}[a-z]?\.[ -]{{0,2}})*)(?<=\.|-| )"
_SHORT_NAME = (
    rf"(?>{_CAPITAL}\.[ -]{{0,2}}{_INITIALS}{_WORD}(?: {_WORD}){{0,2}}"
    rf"|{_WORD}(?:[ -]{_WORD}){{0,2}},\s+{_CAPITAL}[a-z]?\.(?>(?:[ -]{{0,2}}[^\W\d_]\.)*))"
)
_BARE_NAME = rf"(?>{_WORD}(?:[ -]{_WORD})?? {_CAPITAL}{{1,3}}(?!\w))"
_FULL_NAME = rf"(?>{_WORD}(?>(?: (?:{_CAPITAL}\.|{_WORD})){{1,4}}))"
_NAME = rf"(?>{_SHORT_NAME}|{_FULL_NAME})"
_BETWEEN = r"(?>[,;]?\s+(?:and|&)\s+|\s*[,;]\s+)"
_OTHERS = r"(?:,?\s+(?:and|&)\s+others|,?\s+et\s+al\b\.?|,?\s+\(?[Ee]ds?\.?\)?)"
_IN_YEAR = r"[.,]?\s*\(?(?:1[89]|20)\d\d[a-z]?\)?"
# Compiled when the first report is read: this takes as long as loading all protocols.
_LED_BY_NAMES = (
    rf"^(?:(?:[^\s,]+\s+){{1,3}}et\s+al\.?,?(?:{_IN_YEAR}\s*[,.:–—-])?"
    rf"|{_SHORT_NAME}(?>(?:{_BETWEEN}{_SHORT_NAME})*){_OTHERS}?(?:{_IN_YEAR})?\s*(?:[.,:–—]|(?<=\.))"
    rf"|{_BARE_NAME}(?:(?>(?:, {_BARE_NAME})+){_OTHERS}?|{_OTHERS})\s*[.:]"
    rf"|{_NAME}(?:(?>(?:{_BETWEEN}{_NAME})+){_OTHERS}?|{_OTHERS})(?:{_IN_YEAR})?\s*(?:[.:]|(?<=\.))"
    rf"|{_WORD}, {_NAME}(?>(?:{_BETWEEN}{_NAME}){{2,}}){_OTHERS}?(?:{_IN_YEAR})?\s*(?:[.:]|(?<=\.))"
    rf"|{_FULL_NAME}{_IN_YEAR}\s*[.:])\s+(?P<rest>\S.*)"
)
# One full name, then a sentence that is no venue: “Jane Doe. Deep rivers of the north. Water, 2020.”
_LED_BY_ONE = re.compile(
    rf"^{_WORD}(?: (?:{_CAPITAL}\.|{_WORD})){{1,2}}\.\s+(?P<rest>(?!In:?\s|Proc|arXiv|Journal|Trans|Advances|CoRR)"
    r"(?:[^\s.]+\s+){1,40}[a-z][^.]*(?:\.\s.*|\.?$))",
    re.DOTALL,
)
_ONLY_NAMES = (
    rf"^(?:{_SHORT_NAME}(?>(?:{_BETWEEN}{_NAME})*){_OTHERS}?|{_BARE_NAME}(?>(?:, {_BARE_NAME})+){_OTHERS}?"
    rf"|(?:{_WORD}, )?{_FULL_NAME}(?:(?>(?:{_BETWEEN}{_NAME})+){_OTHERS}?|{_OTHERS}))[.,:]?$"
)
_FIRST_NAME = rf"{_SHORT_NAME}|(?:{_BARE_NAME}|{_FULL_NAME})(?=[,.:;]|\s+(?:and|&|et)\b|\s*\(|$)|{_WORD},$"
_VENUE = re.compile(
    r",\s+(?=[Ii]n:?\s|(?:Proc|Phys|Ann|Trans|Adv|Int|J|IEEE|ACM|Journal|Nature|Science|arXiv|CoRR|[A-Z][a-z]+\.\s[A-Z])\b)"
)
_PAGES = re.compile(r"(?:pp?\.?\s*)?\d+\s*[–-]\s*\d+")
_AUTHORS = re.compile(r"\bet al$|(?:^|[\s,])[A-Z]\.|^(?:[^\s,]+,? ){1,8}(?:and|&) [^\s,]+(?: [^\s,]+)?$")
_BEFORE_TITLE = re.compile(
    r"^(?:\[?(?:arxiv:)?\d{4}\.\d{4,5}(?:v\d+)?\\?\]?|\[?\(?PDF\)?\]?|title:)\s*", re.IGNORECASE
)
_LAST_YEAR = re.compile(r"[\s,(]+(?:1[89]|20)\d\d\)?\W*$")
_AUTHOR_AND_YEAR = re.compile(r"\b(?:19|20)\d\d\b|\bet al\b")
_MARKS = re.compile(r"[*`\\]+|(?<!\w)_+|_+(?!\w)")
_EDGES = " \t\n.,;:–—-|()[]\"'“”‘’«»"


class ReferenceEntry(NamedTuple):
    """A parsed reference; empty, or None, for missing parts."""

    title: str = ""
    authors: str = ""
    year: int | None = None


def read_entry(text: str, link_words: str = "") -> ReferenceEntry:
    """The entry with its title found by marks or position: quoted, after the year, in italics or a link, after the
    authors.
    """
    plain = _LINK.sub(" ", text[:LONGEST])
    years = [int(result[0]) for result in _YEAR.finditer(_ACCESSED.sub("", _ADDRESS.sub(" ", plain)))]
    year = years[-1] if years else None
    for result in (_quoted(plain), _by_year(plain), _in_italics(plain), ReferenceEntry(as_title(link_words))):
        if result.title:
            return result._replace(year=year)
    return _by_order(plain)._replace(year=year)


def as_title(text: str) -> str:
    """The text as a title, without marks; empty if it cannot be one (a number, a site's name, author and year)."""
    bare = _BEFORE_TITLE.sub("", " ".join(_MARKS.sub("", text).split())).strip(_EDGES)
    if _ADDRESS.match(bare):
        return ""
    words, letters = bare.split(), len(normal_title(bare))
    if unspaced(bare):
        return bare if letters >= SHORTEST_UNSPACED else ""
    by_author = len(words) <= MOST_NAMES and _AUTHOR_AND_YEAR.search(bare)
    return "" if len(words) < 2 or letters < SHORTEST or by_author else bare


def is_names(text: str) -> bool:
    return bool(re.match(_ONLY_NAMES, " ".join(text.split())))


def begins_with_names(text: str) -> bool:
    return bool(re.match(_FIRST_NAME, text))


def _quoted(text: str) -> ReferenceEntry:
    result = _QUOTED.search(text)
    return ReferenceEntry(as_title(result[1]), _names(text[: result.start()])) if result else ReferenceEntry()


def _by_year(text: str) -> ReferenceEntry:
    result = _BY_YEAR.search(text)
    if not result or _PAGES.match(result["title"]):
        return ReferenceEntry()
    italic = _ITALIC.match(text, result.start("title"))
    title = italic[2] if italic else _ADDRESS.sub(" ", result["title"])
    return ReferenceEntry(as_title(title), _names(text[: result.start()]))


def _in_italics(text: str) -> ReferenceEntry:
    """The text in italics as the title, unless a sentence or “In” precedes it: then it is the journal."""
    result = _ITALIC.search(text)
    before = text[: result.start()].strip() if result else ""
    journal = bool(_BEFORE_VENUE.search(before)) and not before.endswith("al.")
    return ReferenceEntry(as_title(result[2]), _names(before)) if result and not journal else ReferenceEntry()


def _by_order(text: str) -> ReferenceEntry:
    """Authors, then the title, separated by commas or full stops; the first sentence if there are no authors."""
    bare = " ".join(_MARKS.sub("", _ADDRESS.sub(" ", text)).split()).strip(" ,;:–—-|()[]")
    bare = _LAST_YEAR.sub("", bare)
    if led := re.match(_LED_BY_NAMES, bare, re.DOTALL) or _LED_BY_ONE.match(bare):
        title = _AFTER_COMMA.sub("", _SENTENCE.split(led["rest"])[0])
        title = _VENUE.split(title)[0] if bare[: led.start("rest")].rstrip().endswith(",") else title
        return ReferenceEntry(as_title(title), _names(_YEAR_AFTER.sub("", bare[: led.start("rest")])))
    first, *others = [
        part for part in _SENTENCE.split(bare) if _names(part) and not _YEAR_ONLY.fullmatch(part)
    ] or [""]
    if others and (_AUTHORS.search(first) or not as_title(first)) and (title := as_title(others[0])):
        return ReferenceEntry(title, _names(first))
    return ReferenceEntry(as_title(first))


def _names(text: str) -> str:
    """The text before a title, as names; empty if it has no letters."""
    bare = " ".join(_MARKS.sub("", _ADDRESS.sub(" ", text)).split()).strip(_EDGES)
    return bare if any(character.isalpha() for character in bare) and len(bare) <= LONGEST else ""


Span = tuple[int, int]
_LIST_HEADINGS = """
    references, reference, reference list, list of references, references and sources, sources, sources and references,
    sources cited, citations, bibliography, selected bibliography, works cited, literature, literature cited,
    key references, selected references, footnotes, endnotes, quellen, literatur, literaturverzeichnis, références,
    bibliographie, sources et références, referencias, bibliografía, fuentes, referências, bibliografia, riferimenti,
    fonti, источники, литература, список литературы, 参考文献, 参考资料, 參考文獻, 引用文献, 出典,
    참고문헌, المراجع, المصادر
"""
LIST_HEADINGS = frozenset(" ".join(heading.split()) for heading in _LIST_HEADINGS.split(","))
_HEADING = re.compile(
    r"^[ ]{0,3}(?:\#{1,6}[ \t]+(?P<marked>\S.*)|(?:\*\*|__)(?P<bold>[^*_\n]+)(?:\*\*|__)[ \t]*:?)[ \t]*$"
    r"|^(?P<plain>[^\W\d_][^\n]{1,40})$",
    re.MULTILINE | re.VERBOSE,
)
_AROUND_HEADING = re.compile(r"^[\W\d_]+|[\W_]+$")
_FOOTNOTE = re.compile(r"^[ ]{0,3}\[\^?[\w-]{1,12}\]:[ \t]+\S.*$", re.MULTILINE)
_LINE = re.compile(r"^.*\S.*$", re.MULTILINE)
MARKER = re.compile(
    r"[ \t>]*(?:\\?\[\^?[\w-]{1,12}\\?\]:?(?!\()|\(?\d{1,3}[.)]|[-*+•–]|\^\d{1,3})[ \t]+(?=\S)"
)


def is_list_heading(text: str) -> bool:
    return _AROUND_HEADING.sub("", text).casefold() in LIST_HEADINGS


def entries_of(report: str) -> list[Span]:
    """The spans of the entries of all lists of references, in order: under a heading that says so, and footnotes."""
    entries = [entry for section in _sections(report) for entry in divided(report, *section)]
    taken = [start for start, _ in entries]
    notes = [note.span() for note in _FOOTNOTE.finditer(report)]
    return sorted([*entries, *(note for note in notes if not inside(note[0], entries, taken))])


def _sections(report: str) -> Iterator[Span]:
    """The text under each heading of a list of references, up to the next heading."""
    headings = [
        heading
        for heading in _HEADING.finditer(report)
        if not heading["plain"] or is_list_heading(heading["plain"])
    ]
    ends = [heading.start() for heading in headings[1:]] + [len(report)]
    for heading, end in zip(headings, ends, strict=False):
        if is_list_heading(heading["marked"] or heading["bold"] or heading["plain"]):
            yield heading.end(), end


def divided(report: str, start: int, end: int) -> Iterator[Span]:
    """The spans of the entries of a list: from marker to marker, otherwise paragraphs, otherwise lines."""
    lines = [line.span() for line in _LINE.finditer(report, start, end)]
    gaps = [report.count("\n", a, b) > 1 for (_, a), (b, _) in pairwise(lines)]
    marked = [bool(MARKER.match(report, a, b)) for a, b in lines]
    by_marker, by_gap = any(marked), any(gaps)
    begins = [True]
    for gap, marker in zip(gaps, marked[1:], strict=True):
        begins.append(gap or (marker if by_marker else not by_gap))
    starts = [place for place, new in enumerate(begins) if new]
    for first, after in zip(starts, [*starts[1:], len(lines)], strict=True):
        if lines:
            yield lines[first][0], lines[after - 1][1]


def inside(place: int, spans: Sequence[Span], starts: Sequence[int]) -> bool:
    """Whether a position is in one of the spans, which start at `starts`."""
    at = bisect_right(starts, place) - 1
    return at >= 0 and place < spans[at][1]


NAME = "adra.references"
# In normalised letters, as many as retrieval matches titles by (appendix G): a shorter title may name several works.
SAME_TITLE = 20
LONGEST_QUOTE = 20_000
# Of several identifiers of one work the first of these is chosen.
_RANK = {"doi": 0, "arxiv": 1, "isbn": 2, "url": 3}


@dataclass(frozen=True, slots=True)
class WorkMention:
    """A work referred to: its first position, half-open [start, end), and its number in a list."""

    identifier: Identifier | None
    entry: ReferenceEntry
    start: int
    end: int
    mark: str = ""

    @property
    def keys(self) -> list[str]:
        """The keys that identify the work: its identifier, and its title if it is long or the only key."""
        title = normal_title(self.entry.title)
        telling = title if len(title) >= SAME_TITLE or not self.identifier else ""
        return [key for key in (str(self.identifier or ""), telling) if key]


def references(report: str, source_id: str = "") -> Evidence:
    """Every work that a report refers to, once each, those of its lists first; the same on every run.

    A reference's id is derived from its identifier and title; its anchor is the first mention in the report.
    """
    entries = entries_of(report)
    units: dict[str, Reference] = {}
    listed, starts = _by_mark(list(_listed(report, entries))), [start for start, _ in entries]
    linked = (_link(work) for work in named_in(report) if not inside(work.start, entries, starts))
    for result in _merged([*listed, *linked]):
        end = min(result.end, result.start + LONGEST_QUOTE)
        unit = as_reference(result, Anchor.at(report, result.start, end, source_id))
        units.setdefault(unit.id, unit)
    return Evidence(units=tuple(units.values()))


def as_reference(work: WorkMention, anchor: Anchor) -> Reference:
    """A mention as a reference whose id is derived from its identifier and title."""
    identifier, entry = str(work.identifier or ""), work.entry
    return Reference(
        id=derived_id(NAME, identifier, entry.title),
        text=entry.title,
        identifier=identifier,
        authors=entry.authors,
        year=entry.year,
        anchor=anchor,
    )


# The lists.


def _listed(report: str, entries: Iterable[Span]) -> Iterator[WorkMention]:
    """One work for each entry, and one for each link in it that refers to another work."""
    for start, end in entries:
        marker = MARKER.match(report, start, end)
        named = list(named_in(report, start, end))
        words = next((work.words for work in named if as_title(work.words)), "")
        entry = read_entry(report[marker.end() if marker else start : end], words)
        elsewhere = [_speaks_of_another(work, entry) for work in named]
        own = [work for work, other in zip(named, elsewhere, strict=True) if not other]
        aside = [work for work, other in zip(named, elsewhere, strict=True) if other]
        if not own:
            own, aside = aside[:1], aside[1:]
        best = min(own, key=lambda work: _RANK[work.identifier.scheme], default=None)
        if best or entry.title:
            mark = "".join(filter(str.isdigit, marker[0])) if marker else ""
            yield WorkMention(best.identifier if best else None, entry, start, end, mark)
        yield from map(_link, aside)


def _speaks_of_another(work: NamedWork, entry: ReferenceEntry) -> bool:
    title = as_title(work.words)
    return bool(title) and not same_title(title, entry.title)


def _by_mark(listed: Sequence[WorkMention]) -> Iterator[WorkMention]:
    """The entries of all lists; of two lists one may give the title of [1] and the other its address."""
    titles = {result.mark: result for result in listed if result.mark and not result.identifier}
    addresses = {result.mark: result for result in listed if result.mark and not result.entry.title}
    both = titles.keys() & addresses.keys()
    for result in listed:
        if result.mark not in both or result not in (titles[result.mark], addresses[result.mark]):
            yield result
        elif result is titles[result.mark]:
            yield _joined(result, addresses[result.mark])


# The links, DOIs and arXiv ids in the text around them.


def _link(work: NamedWork) -> WorkMention:
    return WorkMention(work.identifier, ReferenceEntry(as_title(work.words)), work.start, work.end)


# One work, however often it is mentioned.


def _merged(everything: Iterable[WorkMention]) -> list[WorkMention]:
    """Each work once, at its first mention, with the most complete data.

    Two with different DOIs or arXiv ids are different works, whatever their titles.
    """
    places: dict[str, int] = {}
    works: list[WorkMention] = []
    for result in everything:
        known = [places[key] for key in result.keys if key in places]
        at = next((place for place in known if _may_be_one(works[place], result)), len(works))
        if at == len(works):
            works.append(result)
        else:
            works[at] = _joined(works[at], result)
        for key in (*works[at].keys, *result.keys):
            places.setdefault(key, at)
    return works


def _may_be_one(a: WorkMention, b: WorkMention) -> bool:
    """Whether no identifier contradicts that they are one work; two addresses may lead to one work."""
    if a.identifier is None or b.identifier is None or a.identifier == b.identifier:
        return True
    return a.identifier.scheme != b.identifier.scheme or a.identifier.scheme == "url"


def _joined(a: WorkMention, b: WorkMention) -> WorkMention:
    known = [one for one in (a.identifier, b.identifier) if one]
    identifier = min(known, key=lambda one: _RANK[one.scheme], default=None)
    entry = ReferenceEntry(
        a.entry.title or b.entry.title, a.entry.authors or b.entry.authors, a.entry.year or b.entry.year
    )
    return replace(a, identifier=identifier, entry=entry)
