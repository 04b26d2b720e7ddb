"""Entries of a reference list: the work's title, authors and year."""

import re
from typing import NamedTuple

from annotator.domain.texts.identifier import normal_title
from annotator.domain.texts.words import unspaced

SHORTEST = 12
SHORTEST_UNSPACED = 4
MOST_NAMES = 6
# What an entry says beyond that is not about which work it is.
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
# A full stop that ends neither an initial nor an abbreviation of such lists.
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
_LED_BY_NAMES = re.compile(
    rf"^(?:(?:[^\s,]+\s+){{1,3}}et\s+al\.?,?(?:{_IN_YEAR}\s*[,.:–—-])?"
    rf"|{_SHORT_NAME}(?>(?:{_BETWEEN}{_SHORT_NAME})*){_OTHERS}?(?:{_IN_YEAR})?\s*(?:[.,:–—]|(?<=\.))"
    rf"|{_BARE_NAME}(?:(?>(?:, {_BARE_NAME})+){_OTHERS}?|{_OTHERS})\s*[.:]"
    rf"|{_NAME}(?:(?>(?:{_BETWEEN}{_NAME})+){_OTHERS}?|{_OTHERS})(?:{_IN_YEAR})?\s*(?:[.:]|(?<=\.))"
    rf"|{_WORD}, {_NAME}(?>(?:{_BETWEEN}{_NAME}){{2,}}){_OTHERS}?(?:{_IN_YEAR})?\s*(?:[.:]|(?<=\.))"
    rf"|{_FULL_NAME}{_IN_YEAR}\s*[.:])\s+(?P<rest>\S.*)",
    re.DOTALL,
)
# One name in full, then a sentence that is no venue: “Jane Doe. Deep rivers of the north. Water, 2020.”
_LED_BY_ONE = re.compile(
    rf"^{_WORD}(?: (?:{_CAPITAL}\.|{_WORD})){{1,2}}\.\s+(?P<rest>(?!In:?\s|Proc|arXiv|Journal|Trans|Advances|CoRR)"
    r"(?:[^\s.]+\s+){1,40}[a-z][^.]*(?:\.\s.*|\.?$))",
    re.DOTALL,
)
_ONLY_NAMES = re.compile(
    rf"^(?:{_SHORT_NAME}(?>(?:{_BETWEEN}{_NAME})*){_OTHERS}?|{_BARE_NAME}(?>(?:, {_BARE_NAME})+){_OTHERS}?"
    rf"|(?:{_WORD}, )?{_FULL_NAME}(?:(?>(?:{_BETWEEN}{_NAME})+){_OTHERS}?|{_OTHERS}))[.,:]?$"
)
_FIRST_NAME = re.compile(
    rf"{_SHORT_NAME}|(?:{_BARE_NAME}|{_FULL_NAME})(?=[,.:;]|\s+(?:and|&|et)\b|\s*\(|$)|{_WORD},$"
)
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
    """A parsed reference; empty, or None, for what the entry does not say."""

    title: str = ""
    authors: str = ""
    year: int | None = None


def read_entry(text: str, link_words: str = "") -> ReferenceEntry:
    """The title as its marks or its place show it: quoted, after the year, in italics or a link, after the authors."""
    plain = _LINK.sub(" ", text[:LONGEST])
    year = _year(plain)
    for found in (_quoted(plain), _by_year(plain), _in_italics(plain), ReferenceEntry(as_title(link_words))):
        if found.title:
            return found._replace(year=year)
    return _by_order(plain)._replace(year=year)


def as_title(text: str) -> str:
    """The text as a title, without marks; empty when it cannot be one (a number, a site's name, author and year)."""
    bare = _BEFORE_TITLE.sub("", " ".join(_MARKS.sub("", text).split())).strip(_EDGES)
    if _ADDRESS.match(bare):
        return ""
    words, letters = bare.split(), len(normal_title(bare))
    if unspaced(bare):
        return bare if letters >= SHORTEST_UNSPACED else ""
    by_author = len(words) <= MOST_NAMES and _AUTHOR_AND_YEAR.search(bare)
    return "" if len(words) < 2 or letters < SHORTEST or by_author else bare


def is_names(text: str) -> bool:
    """Whether a text may be a list of names rather than a title."""
    return bool(_ONLY_NAMES.match(" ".join(text.split())))


def begins_with_names(text: str) -> bool:
    """Whether an entry begins with the names of its authors."""
    return bool(_FIRST_NAME.match(text))


def _quoted(text: str) -> ReferenceEntry:
    found = _QUOTED.search(text)
    return ReferenceEntry(as_title(found[1]), _names(text[: found.start()])) if found else ReferenceEntry()


def _by_year(text: str) -> ReferenceEntry:
    found = _BY_YEAR.search(text)
    if not found or _PAGES.match(found["title"]):
        return ReferenceEntry()
    italic = _ITALIC.match(text, found.start("title"))
    title = italic[2] if italic else _ADDRESS.sub(" ", found["title"])
    return ReferenceEntry(as_title(title), _names(text[: found.start()]))


def _in_italics(text: str) -> ReferenceEntry:
    """What is in italics, unless a sentence or “In” stands before it: then it is the journal."""
    found = _ITALIC.search(text)
    before = text[: found.start()].strip() if found else ""
    journal = bool(_BEFORE_VENUE.search(before)) and not before.endswith("al.")
    return ReferenceEntry(as_title(found[2]), _names(before)) if found and not journal else ReferenceEntry()


def _by_order(text: str) -> ReferenceEntry:
    """Authors, then the title, by commas or by full stops; the first sentence where there are no authors."""
    bare = " ".join(_MARKS.sub("", _ADDRESS.sub(" ", text)).split()).strip(" ,;:–—-|()[]")
    bare = _LAST_YEAR.sub("", bare)
    if led := _LED_BY_NAMES.match(bare) or _LED_BY_ONE.match(bare):
        title = _AFTER_COMMA.sub("", _SENTENCE.split(led["rest"])[0])
        title = _VENUE.split(title)[0] if bare[: led.start("rest")].rstrip().endswith(",") else title
        return ReferenceEntry(as_title(title), _names(_YEAR_AFTER.sub("", bare[: led.start("rest")])))
    first, *others = [
        part for part in _SENTENCE.split(bare) if _names(part) and not _YEAR_ONLY.fullmatch(part)
    ] or [""]
    if others and (_AUTHORS.search(first) or not as_title(first)) and (title := as_title(others[0])):
        return ReferenceEntry(title, _names(first))
    return ReferenceEntry(as_title(first))


def _year(text: str) -> int | None:
    years = [int(found[0]) for found in _YEAR.finditer(_ACCESSED.sub("", _ADDRESS.sub(" ", text)))]
    return years[-1] if years else None


def _names(text: str) -> str:
    """What stands before a title, as names; empty when there are no letters in it."""
    bare = " ".join(_MARKS.sub("", _ADDRESS.sub(" ", text)).split()).strip(_EDGES)
    return bare if any(character.isalpha() for character in bare) and len(bare) <= LONGEST else ""
