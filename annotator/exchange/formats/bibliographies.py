"""Bibliographies: BibTeX, RIS, PubMed, EndNote, Web of Science, CSV, CSL JSON, LaTeX, replies of CrossRef or OpenAlex,
and lists of works, DOIs or arXiv ids.
"""

import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

from annotator.domain.common import Refusal, counted, required
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.item import SourceKind
from annotator.domain.texts.identifier import work_named
from annotator.domain.texts.words import unspaced
from annotator.exchange.folders import parse
from annotator.exchange.table_files import csv_rows
from annotator.exchange.texts.latex import (
    ListedEntry,
    is_prose,
    listed_entries,
    numbered_entries,
    plain_decoder,
)
from annotator.protocols.registry import (
    LIST_MARKER,
    divided_list,
    is_list_heading,
    is_names,
    list_entries,
    works_referred_to,
)

# Both services are asked for a work by its DOI; arXiv ids become arXiv's own DOIs.
SERVICES = {
    "openalex": "https://api.openalex.org/works/doi:{}",
    "crossref": "https://api.crossref.org/works/{}",
}
FIRST_YEAR, LAST_YEAR = 1000, 2200
_YEAR = re.compile(r"(?<!\d)\d{4}")
_DATE = re.compile(r"(?<!\d)\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)")


@dataclass(frozen=True, slots=True)
class Work:
    """A work as a service describes it; unknown fields are empty, or None."""

    reference: Reference
    published: str = ""
    venue: str = ""
    citations: int | None = None
    kind: SourceKind = SourceKind.UNKNOWN
    references: tuple[Reference, ...] = ()
    abstract: str = ""

    def metadata(self) -> dict[str, Any]:
        values = {
            "kind": self.kind.value, "published": self.published, "venue": self.venue, "citations": self.citations,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value not in ("", None)}


def doi_of(text: str) -> str:
    """The DOI by which a service knows a work named in a text; empty if it has none."""
    result = work_named(text)
    if result is None or result.scheme not in ("doi", "arxiv"):
        return ""
    return result.value if result.scheme == "doi" else f"10.48550/arXiv.{result.value}"


def works_of(tree: Any) -> list[Work]:
    """The works of a reply of either service, or of a file of several or in CSL JSON; empty for anything else."""
    return [work for record in records(tree) if (work := work_of(record))]


def records(tree: Any) -> list[Any]:
    """The entries of a reply or a file, each of which should be a record of a work."""
    if isinstance(tree, list):
        return [record for one in tree for record in records(one)]
    held = tree if isinstance(tree, dict) else {}
    inside = next((held[name] for name in ("message", "items", "results") if name in held), None)
    return records(inside) if isinstance(inside, dict | list) else [tree]


def work_of(record: Any) -> Work | None:
    """The work that a record describes; None if it is no record of one."""
    known = _dict(record).keys()
    if not (
        known & {"DOI", "doi", "display_name"} or ("title" in known and known & {"type", "issued", "author"})
    ):
        return None
    return _openalex(record) if known & {"doi", "display_name", "authorships"} else _crossref(record)


def _crossref(record: dict[str, Any]) -> Work:
    """A record of CrossRef, or of CSL JSON, which has the same form."""
    names = [
        _words(one.get("given"), one.get("family") or one.get("name") or one.get("literal"))
        for one in _dicts(record.get("author"))
    ]
    published = _day(record.get("issued"))
    named = [text for name in ("DOI", "ISBN", "URL") if work_named(text := _first(record.get(name)))]
    return Work(
        _reference(_first(record.get("title")), next(iter(named), ""), names, published[:4]),
        published,
        _first(record.get("container-title")),
        _count(record.get("is-referenced-by-count")),
        references=tuple(_listed(one) for one in _dicts(record.get("reference"))),
    )


def _listed(record: dict[str, Any]) -> Reference:
    title = record.get("article-title") or record.get("volume-title") or record.get("series-title")
    return _reference(
        title or record.get("unstructured"),
        record.get("DOI"),
        [_words(record.get("author"))],
        record.get("year"),
    )


def _openalex(record: dict[str, Any]) -> Work:
    names = [
        _words(_dict(one.get("author")).get("display_name")) for one in _dicts(record.get("authorships"))
    ]
    venue = _dict(_dict(record.get("primary_location")).get("source")).get("display_name")
    kinds = {"review": SourceKind.REVIEW, "article": SourceKind.RESEARCH}
    return Work(
        _reference(
            record.get("title") or record.get("display_name"),
            record.get("doi"),
            names,
            record.get("publication_year"),
        ),
        _words(record.get("publication_date"))[:10],
        _words(venue),
        _count(record.get("cited_by_count")),
        kinds.get(_words(record.get("type")), SourceKind.UNKNOWN),
        abstract=_in_order(_dict(record.get("abstract_inverted_index"))),
    )


def _in_order(places: dict[str, Any]) -> str:
    words = [
        (at, word)
        for word, ats in places.items()
        if isinstance(ats, list)
        for at in ats
        if isinstance(at, int)
    ]
    return " ".join(word for _, word in sorted(words))


def _reference(title: Any, doi: Any, names: list[str], year: Any) -> Reference:
    named = work_named(_words(doi))
    return made(_words(title), str(named or _words(doi)), ", ".join(filter(None, names)), _words(year))


def made(title: str, named: str, authors: str, year: str) -> Reference:
    """A reference with these fields, cut to their maximum lengths; an invalid year is left out."""
    number = int(result[0]) if (result := _YEAR.search(year)) else 0
    return Reference(
        text=" ".join(title.split())[:20_000],
        identifier=named.strip()[:1000],
        authors=_cut(" ".join(authors.split())),
        year=number if FIRST_YEAR <= number <= LAST_YEAR else None,
    )


def _cut(authors: str) -> str:
    return authors if len(authors) <= 2000 else f"{authors[:1990].rpartition(', ')[0]} et al."


def _day(issued: Any) -> str:
    """2024-03-01 from {"date-parts": [[2024, 3, 1]]}, numbers or text, or from words with a date, as far as given.

    A range gives its beginning.
    """
    parts = _dict(issued).get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else [issued]
    date_text = "-".join(f"{part:0>2}" for part in map(_words, first[:3]) if part)
    result = _DATE.search(date_text or _words(_dict(issued).get("raw") or _dict(issued).get("literal")))
    return result[0] if result else ""


def _words(*values: Any) -> str:
    return " ".join(str(value) for value in values if isinstance(value, str | int) and value).strip()


def _first(value: Any) -> str:
    return _words(value[0]) if isinstance(value, list) and value else _words(value)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


LONGEST_QUOTE = 200
NO_RECORD = "It is no record of a work: it has neither a DOI nor a title with authors, date or type."
# A longer entry is probably two, or something else.
LONGEST_ENTRY = 900
OUTSIDE = "It stands outside of the BibTeX entries."
NO_TITLE = "Neither a title nor an identifier was found in it."
PROSE, ROW = "it reads like prose", "it is a row of a table, code, or hardly any words"
LONG, CUT = f"it is longer than {LONGEST_ENTRY} characters", "the title begins with a small letter"
_OTHER_THINGS = {
    PROSE: "read like prose",
    ROW: "are rows of a table, code, or hardly any words",
    LONG: f"are longer than {LONGEST_ENTRY} characters",
    CUT: "begin with a small letter",
}
# Additions to an entry on pages made from LaTeX.
_CITED_BY, _LINKS = (
    re.compile(r"\s*\bCited by: .*$|\bNote: ?", re.DOTALL),
    re.compile(r"External Links: (\d{4}\.\d{4,5})\b"),
)
_WORD = re.compile(r"(?<!\S)[\W_]*[^\W\d_]{2,}(?:['’-][^\W\d_]+)*[\W_]*(?!\S)")
_CODE = re.compile(
    r"[{};]\s*$|^\s*(?:#include|import |from \w+ import|def |class |return\b|if |for |</?\w+)"
    r"|\w\([^()]*\)\s*[;{]\s*$|[=!]=|^(?!.*,\s).*\S,\S.*,\S"
)
_BIBTEX = re.compile(r"^\s*@\w+\s*[{(]", re.MULTILINE)
# Tagged formats: how a record begins, a line, and the RIS tag with the meaning of a line's tag.
_TAGGED: dict[str, tuple[str, str, dict[str, str]]] = {
    "RIS": (r"^TY {0,2}[-–] ", r"^([A-Z][A-Z\d]) {0,2}[-–](?: (.*)|$)()", {"L3": "UR"}),
    "PubMed": (
        r"^PMID *- *\d",
        r"^([A-Z]{2,4}) *- (.*?)( \[(?:doi|pii)\])?$",
        {"PMID": "TY", "TI": "TI", "FAU": "AU", "AU": "A1", "DP": "PY", "LID [doi]": "DO", "AID [doi]": "DO"},
    ),
    "EndNote": (
        r"^%0 ",
        r"^%(\S)(?: (.*)|$)()",
        {"0": "TY", "T": "TI", "A": "AU", "D": "PY", "R": "DO", "U": "UR"},
    ),
    "Web of Science": (
        r"^PT [A-Z]\b",
        r"^([A-Z][A-Z\d])(?: (.*)|$)()",
        {"PT": "TY", "TI": "TI", "AF": "AU", "AU": "A1", "PY": "PY", "DI": "DO"},
    ),
}
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]*\])?\s*\{[^}]*\}")
_END_OF_LIST = re.compile(r"\\end\{thebibliography\}.*", re.DOTALL)
_COLUMNS = {
    "title": ("title", "article title", "name"),
    "identifier": ("doi", "identifier", "id", "arxiv", "arxiv id", "isbn", "url", "link", "address"),
    "authors": ("authors", "author", "author names", "author full names"),
    "year": ("year", "publication year", "date", "published"),
}
# Embase's “fields by row”: the name of a field and its values in each row, an empty one between the records.
_BY_ROW = re.compile(r'^"?AUTHOR NAMES"?,', re.MULTILINE)
_NAMING = ("doi", "eprint", "isbn", "url", "howpublished")
# Characters that are special to TeX, replaced by private ones while fields with addresses are decoded; in other
# fields all but the tie and mathematics are literal, for nobody comments within a field.
_SHIELD = {ord(sign): 0xE000 + place for place, sign in enumerate("%&#_^~$<>-'`")}
_SHIELDED = {private: sign for sign, private in _SHIELD.items()}
_FIELD = re.compile(r"[\s\"}]([A-Za-z][\w-]*)\s*=")
_ESCAPED = re.compile(r"\\([%&#_$^~])(?:\{\})?|\$(?:\\sim|([<>]))\$")
# Fields that may mention the arXiv id if the entry has no field for it: “arXiv preprint arXiv:2301.00001”,
# “abs/2301.00001”.
_MENTIONING = ("journal", "volume", "note", "howpublished", "booktitle", "number")
_READ = {"title", "author", "year", "date", *_NAMING, *_MENTIONING}
_ON_ARXIV = re.compile(
    r"(?:arxiv[^\w]{0,3}|\babs/|arxiv\.org/\w+/)(\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[a-z]{2})?/\d{7})(?!\d)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry of a bibliography: its place, its words, and the reference read from it or why there is none.

    `doubt` is a reason why the reference may be wrong, empty if none. `named` are all identifiers of a BibTeX entry,
    whose words are its key.
    """

    place: str
    text: str
    reference: Reference | None = None
    why: str = ""
    named: tuple[str, ...] = ()
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Bibliography:
    form: str
    entries: tuple[ReadEntry, ...]


def read(text: str, name: str = "") -> Bibliography:
    """The entries of a text, whose format is detected; `name` is its file's name, if it has one.

    Refusal if hardly anything in it could be a reference.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    form, reader = next((form, reader) for form, fits, reader in _FORMS if fits(text, name.lower()))
    if reader is _list and len(own := own_list(text).entries) > 1:
        return Bibliography("the list of references in it", own)
    result = required(
        tuple(_checked(entry) for entry in reader(text)),
        "Nothing is listed there.",
        "Give a list of works, BibTeX, RIS or CSV.",
    )
    sure = sum(bool(one.reference and not one.doubt) for one in result)
    others = Counter(
        _OTHER_THINGS.get(one.doubt, "hold neither a title nor an identifier")
        for one in result
        if one.doubt in _OTHER_THINGS or one.why in (NO_TITLE, OUTSIDE)
    )
    if 2 * others.total() > len(result) and 10 * sure < len(result):
        seen = " and ".join(f"{count:,} {what}" for what, count in others.most_common(2))
        raise Refusal(
            f"{f'“{name}”' if name else 'The text'} holds no list of references: of "
            f"{counted(len(result), 'line or entry', 'lines or entries')}, {seen}.",
            "Looked for were a title with authors, a year, a DOI, an arXiv id or an address; BibTeX, RIS, CSV with a "
            "column “title” or “doi”. Nothing was taken: give a file of references.",
        )
    return Bibliography(form, result)


def own_list(text: str) -> Bibliography:
    """The lists of references of a paper, from the text or the layout of a PDF, Markdown or LaTeX; it may be empty."""
    if _BIBITEM.search(text):
        return Bibliography("LaTeX", tuple(map(_checked, _latex(text))))
    listed = listed_entries(text) or [ListedEntry(text[a:b], 0) for a, b in list_entries(text)]
    result = [
        _checked(_entry(entry.words, f"entry {n}", entry.odd)) for n, entry in enumerate(listed, start=1)
    ]
    led = sum(bool(entry.reference and entry.reference.authors) for entry in result)
    if 5 * led > 4 * len(result):
        result = [
            replace(entry, doubt="no authors were found")
            if entry.reference and not (entry.doubt or entry.reference.authors)
            else entry
            for entry in result
        ]
    return Bibliography("the source's own list", tuple(result))


def arxiv_mentioned(words: str) -> str:
    """The arXiv id mentioned anywhere in an entry; empty if there is none."""
    result = _ON_ARXIV.search(words)
    return f"arxiv:{result[1].lower()}" if result else ""


def _checked(entry: ReadEntry) -> ReadEntry:
    result = entry.reference
    if entry.why or (result is not None and (result.text or work_named(result.identifier))):
        return entry
    return ReadEntry(entry.place, entry.text, None, NO_TITLE)


def bibtex(text: str, *, outside: bool = False) -> Iterator[ReadEntry]:
    """The entries of BibTeX, each under its key; with `outside` also the text between them, which BibTeX skips.

    If an entry has a field several times, the first counts, as in BibTeX.
    """
    import bibtexparser
    from bibtexparser.middlewares import LatexDecodingMiddleware
    from bibtexparser.middlewares.parsestack import default_parse_stack
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, ImplicitComment

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = bibtexparser.parse_string(text, parse_stack=[])
    for block in library.failed_blocks:
        if isinstance(block, DuplicateFieldKeyBlock):
            library.replace(block, block.ignore_error_block, fail_on_duplicate_key=False)
    result: list[tuple[int, ReadEntry]] = []
    for entry in library.entries:
        first = {field.key.lower(): field for field in reversed(entry.fields)}
        entry.fields = [field for name, field in first.items() if name in _READ]
        for field in entry.fields:
            if lacking := _without_comma(field.value):
                why = f"A comma is missing between “{field.key}” and “{lacking}”."
                result.append((entry.start_line, _unread(field.start_line, entry.raw, why)))
                library.remove(entry)
                break
            field.value = _shielded(field.value, verbatim=field.key.lower() in _NAMING)
    for middleware in (*default_parse_stack(), LatexDecodingMiddleware(decoder=plain_decoder("verbatim"))):
        library = middleware.transform(library)
    for entry in library.entries:
        fields = {field.key.lower(): str(field.value).translate(_SHIELDED) for field in entry.fields}
        place = f"line {entry.start_line + 1}"
        named = _identifiers(fields)
        result.append(
            (entry.start_line, ReadEntry(place, entry.key, _from_fields(fields, named), named=named))
        )
    for block in library.failed_blocks:
        if isinstance(block, DuplicateBlockKeyBlock):
            again = [replace(one, place=f"line {block.start_line + 1}") for one in bibtex(block.raw)]
        else:
            cause = getattr(block.error, "abort_reason", block.error)
            again = [_unread(block.start_line, block.raw, f"This is no complete BibTeX entry. {cause}")]
        result += [(block.start_line, one) for one in again]
    for block in library.blocks if outside else ():
        if isinstance(block, ImplicitComment):
            result += [
                (block.start_line, beside_entry)
                for beside_entry in _beside_entries(block.start_line, block.comment)
            ]
    return (entry for _, entry in sorted(result, key=lambda one: one[0]))


def _without_comma(value: str) -> str:
    """The name of a field that follows within a raw value because a comma is missing; empty if there is none."""
    if not _FIELD.search(value):
        return ""
    plain = re.sub(r"\\[{}]", "", value)
    depths = accumulate({"{": 1, "}": -1}.get(sign, 0) for sign in plain)
    bare = "".join(sign for sign, depth in zip(plain, depths, strict=True) if not depth)
    result = _FIELD.search(re.sub(r'"[^"]*"', '"', bare))
    return result[1] if result else ""


def _shielded(value: str, *, verbatim: bool) -> str:
    """A field's value protected so that decoding changes no literal characters."""
    plain = (
        _ESCAPED.sub(lambda match: (match[1] or match[2] or "~").translate(_SHIELD), value)
        if verbatim
        else value
    )
    signs = r"(?<!\\)[%&#_^~$<>'`-]" if verbatim else r"(?<!\\)[%&]"
    return re.sub(signs, lambda match: match[0].translate(_SHIELD), plain)


def _beside_entries(first: int, text: str) -> Iterator[ReadEntry]:
    """Identifiers pasted between the entries of BibTeX; any other line there is reported, except comments."""
    for number, line in enumerate(text.splitlines(), start=first):
        named = _named(line)
        yield from (ReadEntry(f"line {number + 1}", raw, made("", work, "", "")) for _, raw, work in named)
        if line.strip() and not named and not line.lstrip().startswith("%"):
            yield _unread(number, line.strip(), OUTSIDE)


def _identifiers(fields: dict[str, str]) -> tuple[str, ...]:
    mentioned = arxiv_mentioned(" ".join(fields.get(name, "") for name in _MENTIONING))
    texts = [*(fields.get(name, "") for name in _NAMING), mentioned]
    return tuple(str(named) for one in texts if (named := work_named(one)))


def _from_fields(fields: dict[str, str], named: Sequence[str]) -> Reference:
    names = [
        " ".join(reversed(one.split(", ", 1))) for one in re.split(r"\s+and\s+", fields.get("author", ""))
    ]
    return made(
        fields.get("title", ""), next(iter(named), ""), ", ".join(names),
        fields.get("year") or fields.get("date", ""),
    )  # fmt: skip


def _tagged(form: str, text: str) -> Iterator[ReadEntry]:
    import rispy

    begins, line, meaning = _TAGGED[form]

    def as_ris(match: re.Match[str]) -> str:
        tag = meaning.get(match[1] + match[3] if match[3] else match[1], match[1] if form == "RIS" else "ZZ")
        return f"{tag}  - {match[2] or ''}"

    starts = [begun.start() for begun in re.finditer(begins, text, re.MULTILINE)]
    for start, end in pairwise((*starts, len(text))):
        record = re.sub(line, as_ris, text[start:end], flags=re.MULTILINE)
        try:
            (fields,) = rispy.loads(f"{record.rstrip()}\nER  - ")
        except (ValueError, OSError, KeyError):
            yield _unread(_line(text, start) - 1, record, f"This is no complete record of {form}.")
            continue
        title = fields.get("title") or fields.get("primary_title") or fields.get("short_title") or ""
        urls = [*fields.get("urls", []), fields.get("url", "")]
        named = next(
            (str(work_named(one)) for one in (fields.get("doi", ""), *urls) if work_named(one or "")), ""
        )
        names = [
            " ".join(reversed(one.split(", ", 1)))
            for one in fields.get("authors") or fields.get("first_authors") or []
            if one
        ]
        year = fields.get("year") or fields.get("publication_year") or fields.get("date") or ""
        yield ReadEntry(
            f"line {_line(text, start)}", title or named, made(title, named, ", ".join(names), year)
        )


def _table(text: str) -> Iterator[ReadEntry]:
    columns: dict[str, list[int]] = {}
    head: list[str] = []
    for line, row in csv_rows(text, "The text"):
        if not columns:
            columns, head = _columns(row), row
        elif any(cell.strip() for cell in row[len(head) :]):
            yield _unread(line - 1, ", ".join(row), f"It has {len(row):,} cells, the head has {len(head):,}.")
        elif any(cell.strip() for cell in row):
            cells = {
                name: [row[at].strip() for at in places if at < len(row)] for name, places in columns.items()
            }
            entry = _of_cells(line, ", ".join(row), cells)
            telling = entry.reference and (
                entry.reference.identifier or re.search("title|author", ",".join(head), re.I)
            )
            yield replace(entry, doubt="" if telling else ROW)


def _by_row(text: str) -> Iterator[ReadEntry]:
    cells: dict[str, list[str]] = {}
    begun = 0
    for line, row in (*csv_rows(text, "The text"), (0, [])):
        name = next((one for one, called in _COLUMNS.items() if row and row[0].strip().lower() in called), "")
        if not any(cell.strip() for cell in row) and cells:
            yield _of_cells(begun, ", ".join(map(", ".join, cells.values())), cells)
            cells = {}
        elif name:
            begun = begun if cells else line
            cells.setdefault(name, []).append(", ".join(cell.strip() for cell in row[1:] if cell.strip()))


def _of_cells(line: int, raw: str, cells: Mapping[str, Sequence[str]]) -> ReadEntry:
    named = next((str(work_named(one)) for one in cells.get("identifier", ()) if work_named(one)), "")
    title, authors, year = (next(iter(cells.get(name, ())), "") for name in ("title", "authors", "year"))
    return ReadEntry(f"line {line}", raw[:LONGEST_QUOTE], made(title, named, authors, year))


def _columns(head: Sequence[str]) -> dict[str, list[int]]:
    cells = [cell.strip().lower() for cell in head]
    return {name: [cells.index(one) for one in called if one in cells] for name, called in _COLUMNS.items()}


def _is_table(text: str, _name: str) -> bool:
    try:
        columns = _columns(next(csv_rows(text, ""), (0, []))[1])
    except Refusal:
        return False
    return bool(columns["title"] or columns["identifier"])


def _latex(text: str) -> Iterator[ReadEntry]:
    decode = plain_decoder().latex_to_text
    begins = [result for result in _BIBITEM.finditer(text)]
    for result, after in zip(begins, [*begins[1:], None], strict=True):
        body = _END_OF_LIST.sub("", text[result.end() : after.start() if after else len(text)])
        plain = decode(body.replace(r"\newblock", " "), tolerant_parsing=True) if body.strip() else ""
        yield _entry(" ".join(plain.split()), f"line {_line(text, result.start())}")


def _json(text: str) -> Iterator[ReadEntry]:
    entries = records(parse(text.encode(), "The list"))
    works = [work_of(one) for one in entries]
    own = works[0].references if len(works) == 1 and works[0] else ()
    for number, reference in enumerate(own or [work.reference if work else None for work in works], start=1):
        raw = (
            (reference.text or reference.identifier)
            if reference
            else str(entries[number - 1])[:LONGEST_QUOTE]
        )
        yield ReadEntry(f"entry {number}", raw, reference, "" if reference else NO_RECORD)


def _list(text: str) -> Iterator[ReadEntry]:
    """The works of a list. Lines with only identifiers are works of their own, except below the words of another
    entry.
    """
    begun = 0
    for line in [*re.finditer(r"^.*$", text, re.MULTILINE), None]:
        start, end = line.span() if line else (len(text), len(text))
        named = _named(text[start:end])
        if line and not (named and not text[begun:start].rpartition("\n\n")[2].strip()):
            continue
        yield from _worded(text, begun, start)
        for at, raw, work in named:
            yield ReadEntry(f"line {_line(text, start + at)}", raw, made("", work, "", ""))
        begun = end


def _named(line: str) -> list[tuple[int, str, str]]:
    """Offset, words and identifier of each, if a line holds nothing but identifiers."""
    tokens = list(re.finditer(r"[^\s,;]+", line))
    works = [work_named(token[0]) for token in tokens]
    return (
        [(match.start(), match[0], str(work)) for match, work in zip(tokens, works, strict=True)]
        if all(works)
        else []
    )


def _worded(text: str, start: int, end: int) -> Iterator[ReadEntry]:
    first_line = _line(text, start) - 1
    if numbered := numbered_entries(text[start:end]):
        yield from (_entry(entry.words, f"line {first_line + entry.line}", entry.odd) for entry in numbered)
        return
    for first, last in divided_list(text, start, end):
        raw = text[first:last]
        if not is_list_heading(raw):
            yield _entry(raw, f"line {_line(text, first)}")


def _entry(raw: str, place: str, odd: str = "") -> ReadEntry:
    """An entry of a list, parsed by the same code as reports' references."""
    bare = raw
    while result := LIST_MARKER.match(bare):
        bare = bare[result.end() :]
    bare = _LINKS.sub(r"arXiv:\1", _CITED_BY.sub("", bare))
    alone = work_named(bare.strip())
    if alone:
        return ReadEntry(place, raw, made("", str(alone), "", ""), doubt=odd)
    units = works_referred_to(f"# References\n\n- {' '.join(bare.split())}\n").units
    first = units[0] if units else None
    doubt = odd or (_doubt(bare, first) if first else "")
    return ReadEntry(place, raw, first and first.model_copy(update={"anchor": None}), doubt=doubt)


def _doubt(raw: str, reference: Reference) -> str:
    """The first reason why a reference read from these words may be wrong; empty if there is none."""
    checks = (
        (unspaced(raw), ""),
        (len(_WORD.findall(raw)) < 3 or _CODE.search(raw), ROW),
        (is_prose(raw), PROSE),
        (len(raw) > LONGEST_ENTRY, LONG),
        (not reference.text, "no title was found"),
        (is_names(reference.text), "the title looks like names"),
        (reference.text[:1].islower(), CUT),
        (not reference.identifier and not reference.year, "no year was found"),
        (not reference.identifier and not reference.authors, "no authors were found"),
    )
    return next((reason for holds, reason in checks if holds), "")


def _unread(line: int, raw: Any, why: str) -> ReadEntry:
    return ReadEntry(f"line {line + 1}", str(raw)[:LONGEST_QUOTE], None, why)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _holding(pattern: str | re.Pattern[str]) -> Callable[[str, str], bool]:
    return lambda text, _: bool(re.search(pattern, text))


_FORMS: tuple[tuple[str, Callable[[str, str], bool], Callable[[str], Iterator[ReadEntry]]], ...] = (
    ("BibTeX", _holding(_BIBTEX), partial(bibtex, outside=True)),
    *((form, _holding(f"(?m){begins}"), partial(_tagged, form)) for form, (begins, *_) in _TAGGED.items()),
    ("LaTeX", _holding(_BIBITEM), _latex),
    ("JSON", lambda text, _: text.lstrip()[:1] in ("{", "["), _json),
    ("CSV", _holding(_BY_ROW), _by_row),
    ("CSV", _is_table, _table),
    ("a list", lambda _text, _name: True, _list),
)
