"""Bibliographies: BibTeX, RIS, CSV, LaTeX, replies of CrossRef or OpenAlex, and lists of works, DOIs or arXiv ids."""

import csv
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from typing import Any

from annotator.domain.kinds.evidence import Reference
from annotator.domain.texts.identifier import work_named
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats.works import made, works_of
from annotator.exchange.reading import parse
from annotator.protocols.lent import (
    LIST_MARKER,
    divided_list,
    is_list_heading,
    list_entries,
    works_referred_to,
)

LONGEST_SAID = 200
_BIBTEX = re.compile(r"^\s*@\w+\s*[{(]", re.MULTILINE)
_RIS = re.compile(r"^TY  - ", re.MULTILINE)
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[[^\]]*\])?\s*\{[^}]*\}")
_END_OF_LIST = re.compile(r"\\end\{thebibliography\}.*", re.DOTALL)
_COLUMNS = {
    "title": ("title", "article title", "name"),
    "identifier": ("doi", "identifier", "id", "arxiv", "arxiv id", "isbn", "url", "link", "address"),
    "authors": ("authors", "author", "author full names"),
    "year": ("year", "publication year", "date", "published"),
}
_NAMING = ("doi", "eprint", "isbn", "url")
# Where an entry that has no field for it tells the arXiv id: “arXiv preprint arXiv:2301.00001”, “abs/2301.00001”.
_MENTIONING = ("journal", "volume", "note", "howpublished", "booktitle", "number")
_ON_ARXIV = re.compile(
    r"(?:arxiv[^\w]{0,3}|\babs/|arxiv\.org/\w+/)(\d{4}\.\d{4,5}|[a-z][a-z-]*(?:\.[a-z]{2})?/\d{7})(?!\d)",
    re.I,
)
# A PDF's lines: a word that is parted at the end of one, a page's number, and how an entry without a number begins.
_PARTED = re.compile(r"[-\u00ad\ufffe\ufffd]\n(?=[a-zß-ÿ])|(?<=/)\n(?=\S)")
_PAGE_NUMBER = re.compile(r"^\s*\d{1,4}\s*$", re.MULTILINE)
_LED = re.compile(
    r"(?<=[.\d)/])\n(?=[A-ZÀ-Þ][\w'’-]+(?:[ -][A-ZÀ-Þ][\w'’-]+)?,\s+[A-ZÀ-Þ](?:\.|[\w'’-]+))", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class ReadEntry:
    """An entry of a bibliography: where it stands, its words, and the reference read from it or why there is none.

    `named` are all identifiers that an entry of BibTeX tells, whose words are its key.
    """

    place: str
    said: str
    reference: Reference | None = None
    why: str = ""
    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Bibliography:
    """What a text was read as, and its entries in their order."""

    form: str
    entries: tuple[ReadEntry, ...]


def read(text: str, name: str = "") -> Bibliography:
    """The entries of a text, which shows itself what it is; `name` is its file's name, where it has one."""
    text = text.replace("\r\n", "\n")
    form, reader = next((form, reader) for form, fits, reader in _FORMS if fits(text, name.lower()))
    found = tuple(_checked(entry) for entry in reader(text))
    if not found:
        raise Refusal("Nothing is listed there.", "Give a list of works, BibTeX, RIS or CSV.")
    return Bibliography(form, found)


def own_list(text: str) -> Bibliography:
    """The list of references at the end of a paper, from the text of a PDF, Markdown or LaTeX; it may be empty."""
    if _BIBITEM.search(text):
        return Bibliography("LaTeX", tuple(map(_checked, _latex(text))))
    joined = _LED.sub("\n\n", _PARTED.sub("", _PAGE_NUMBER.sub("", text.replace("\f", ""))))
    joined = re.sub(r"\n{3,}", "\n", joined) if "\f" in text else joined
    spans = list_entries(joined)
    return Bibliography(
        "the source's own list",
        tuple(
            _checked(_entry(joined[a:b], f"entry {number}")) for number, (a, b) in enumerate(spans, start=1)
        ),
    )


def arxiv_mentioned(words: str) -> str:
    """The arXiv id that an entry mentions somewhere; empty where there is none."""
    found = _ON_ARXIV.search(words)
    return f"arxiv:{found[1].lower()}" if found else ""


def _checked(entry: ReadEntry) -> ReadEntry:
    """The same without a reference that names nothing."""
    found = entry.reference
    if entry.why or (found is not None and (found.text or work_named(found.identifier))):
        return entry
    return ReadEntry(entry.place, entry.said, None, "Neither a title nor an identifier was found in it.")


def bibtex(text: str, *, outside: bool = False) -> Iterator[ReadEntry]:
    """The entries of BibTeX, each under its key; with `outside` also what stands between them, which BibTeX skips."""
    import bibtexparser
    from bibtexparser.middlewares import LatexDecodingMiddleware
    from bibtexparser.model import DuplicateBlockKeyBlock, ImplicitComment

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = bibtexparser.parse_string(text, append_middleware=[LatexDecodingMiddleware()])
    found: list[tuple[int, ReadEntry]] = []
    for entry in library.entries:
        fields = {field.key.lower(): str(field.value) for field in entry.fields}
        place = f"line {entry.start_line + 1}"
        named = _told_identifiers(fields)
        read_ = ReadEntry(place, entry.key, _from_fields(fields, named), named=named)
        found.append((entry.start_line, read_))
    for block in library.failed_blocks:
        if isinstance(block, DuplicateBlockKeyBlock):
            again = [replace(one, place=f"line {block.start_line + 1}") for one in bibtex(block.raw)]
        else:
            again = [_unread(block.start_line, block.raw, "This is no complete BibTeX entry.")]
        found += [(block.start_line, one) for one in again]
    for block in library.blocks if outside else ():
        if isinstance(block, ImplicitComment):
            found += [(block.start_line, one) for one in _beside_entries(block.start_line, block.comment)]
    return (entry for _, entry in sorted(found, key=lambda one: one[0]))


def _beside_entries(first: int, text: str) -> Iterator[ReadEntry]:
    """Identifiers that were pasted between the entries of BibTeX; any other line there is told, but for comments."""
    for number, line in enumerate(text.splitlines(), start=first):
        named = _named(line)
        yield from (ReadEntry(f"line {number + 1}", said, made("", work, "", "")) for _, said, work in named)
        if line.strip() and not named and not line.lstrip().startswith("%"):
            yield _unread(number, line.strip(), "It stands outside of the BibTeX entries.")


def _told_identifiers(fields: dict[str, str]) -> tuple[str, ...]:
    """All identifiers of an entry in BibTeX, in their normal spelling."""
    mentioned = arxiv_mentioned(" ".join(fields.get(name, "") for name in _MENTIONING))
    told = [*(fields.get(name, "") for name in _NAMING), mentioned]
    return tuple(str(named) for one in told if (named := work_named(one)))


def _from_fields(fields: dict[str, str], named: Sequence[str]) -> Reference:
    names = [
        " ".join(reversed(one.split(", ", 1))) for one in re.split(r"\s+and\s+", fields.get("author", ""))
    ]
    return made(
        fields.get("title", ""), next(iter(named), ""), ", ".join(names),
        fields.get("year") or fields.get("date", ""),
    )  # fmt: skip


def _ris(text: str) -> Iterator[ReadEntry]:
    import rispy

    for start, record in _pieces(
        text, re.compile(r"^TY  - .*?(?:^ER  -[^\n]*|(?=^TY  - )|\Z)", re.MULTILINE | re.DOTALL)
    ):
        ended = record if re.search(r"^ER  -", record, re.MULTILINE) else f"{record.rstrip()}\nER  - "
        try:
            (told,) = rispy.loads(ended)
        except (ValueError, OSError, KeyError):
            yield _unread(_line(text, start) - 1, record, "This is no complete RIS record.")
            continue
        title = told.get("title") or told.get("primary_title") or told.get("short_title") or ""
        urls = [*told.get("urls", []), told.get("url", "")]
        named = next(
            (str(work_named(one)) for one in (told.get("doi", ""), *urls) if work_named(one or "")), ""
        )
        names = [
            " ".join(reversed(one.split(", ", 1)))
            for one in told.get("authors") or told.get("first_authors") or []
        ]
        year = told.get("year") or told.get("publication_year") or told.get("date") or ""
        yield ReadEntry(
            f"line {_line(text, start)}", title or named, made(title, named, ", ".join(names), year)
        )


def _table(text: str) -> Iterator[ReadEntry]:
    columns = _columns(text)
    reader = csv.reader(StringIO(text), delimiter=_delimiter(text))
    next(reader)
    for row in reader:
        if any(cell.strip() for cell in row):
            told = {
                name: [row[at].strip() for at in places if at < len(row)] for name, places in columns.items()
            }
            named = next((str(work_named(one)) for one in told["identifier"] if work_named(one)), "")
            title, authors, year = (next(iter(told[name]), "") for name in ("title", "authors", "year"))
            yield ReadEntry(
                f"line {reader.line_num}", ", ".join(row)[:LONGEST_SAID], made(title, named, authors, year)
            )


def _columns(text: str) -> dict[str, list[int]]:
    head = next(csv.reader(StringIO(text), delimiter=_delimiter(text)), [])
    cells = [cell.strip().lstrip("\ufeff").lower() for cell in head]
    return {name: [cells.index(one) for one in called if one in cells] for name, called in _COLUMNS.items()}


def _delimiter(text: str) -> str:
    head = text.lstrip().partition("\n")[0]
    return max(",;\t", key=head.count)


def _is_table(text: str, _name: str) -> bool:
    columns = _columns(text)
    return bool(columns["title"] or columns["identifier"])


def _latex(text: str) -> Iterator[ReadEntry]:
    from pylatexenc.latex2text import LatexNodes2Text

    decode = LatexNodes2Text().latex_to_text
    begins = [found for found in _BIBITEM.finditer(text)]
    for found, after in zip(begins, [*begins[1:], None], strict=True):
        body = _END_OF_LIST.sub("", text[found.end() : after.start() if after else len(text)])
        plain = decode(body.replace(r"\newblock", " "), tolerant_parsing=True) if body.strip() else ""
        yield _entry(" ".join(plain.split()), f"line {_line(text, found.start())}")


def _json(text: str) -> Iterator[ReadEntry]:
    works = works_of(parse(text.encode(), "The list"))
    listed = (
        works[0].references if len(works) == 1 and works[0].references else [one.reference for one in works]
    )
    for number, one in enumerate(listed, start=1):
        yield ReadEntry(f"entry {number}", one.text or one.identifier, one)


def _list(text: str) -> Iterator[ReadEntry]:
    """The works of a list. Lines of identifiers alone stand for themselves, except below the words of another entry."""
    begun = 0
    for line in [*re.finditer(r"^.*$", text, re.MULTILINE), None]:
        start, end = line.span() if line else (len(text), len(text))
        named = _named(text[start:end])
        if line and not (named and not text[begun:start].rpartition("\n\n")[2].strip()):
            continue
        yield from _worded(text, begun, start)
        for at, said, work in named:
            yield ReadEntry(f"line {_line(text, start + at)}", said, made("", work, "", ""))
        begun = end


def _named(line: str) -> list[tuple[int, str, str]]:
    """Place, words and identifier of each, where a line holds nothing but identifiers."""
    tokens = list(re.finditer(r"[^\s,;]+", line))
    works = [work_named(token[0]) for token in tokens]
    return (
        [(one.start(), one[0], str(work)) for one, work in zip(tokens, works, strict=True)]
        if all(works)
        else []
    )


def _worded(text: str, start: int, end: int) -> Iterator[ReadEntry]:
    for first, last in divided_list(text, start, end):
        said = text[first:last]
        if not is_list_heading(said):
            yield _entry(said, f"line {_line(text, first)}")


def _entry(said: str, place: str) -> ReadEntry:
    """An entry of a list, read by the finder of reports' references."""
    bare = said[found.end() :] if (found := LIST_MARKER.match(said)) else said
    alone = work_named(bare.strip())
    if alone:
        return ReadEntry(place, said, made("", str(alone), "", ""))
    units = works_referred_to(f"# References\n\n- {' '.join(bare.split())}\n").units
    first = units[0] if units else None
    return ReadEntry(place, said, first and first.model_copy(update={"anchor": None}))


def _unread(line: int, raw: Any, why: str) -> ReadEntry:
    return ReadEntry(f"line {line + 1}", str(raw)[:LONGEST_SAID], None, why)


def _pieces(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    return ((found.start(), found[0]) for found in pattern.finditer(text))


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


_FORMS: tuple[tuple[str, Callable[[str, str], bool], Callable[[str], Iterator[ReadEntry]]], ...] = (
    ("BibTeX", lambda text, _: bool(_BIBTEX.search(text)), partial(bibtex, outside=True)),
    ("RIS", lambda text, _: bool(_RIS.search(text)), _ris),
    ("LaTeX", lambda text, _: bool(_BIBITEM.search(text)), _latex),
    ("JSON", lambda text, _: text.lstrip()[:1] in ("{", "["), _json),
    ("CSV", _is_table, _table),
    ("a list", lambda _text, _name: True, _list),
)
