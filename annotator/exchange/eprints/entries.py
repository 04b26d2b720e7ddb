"""The entries of a paper's own bibliographies for the works that a section cites, by key; and arXiv's feeds."""

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from xml.etree import ElementTree

from annotator.domain.material.extract import CitedEntry
from annotator.domain.material.item import CatalogueWork
from annotator.domain.texts.identifier import Identifier, work_named
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints.assembling import Assembled, file_named
from annotator.exchange.folders import xml_tree
from annotator.exchange.formats.bibliographies import arxiv_mentioned, bibtex, made
from annotator.exchange.texts.latex import masked, plain_decoder

ON_ARXIV = "http://arxiv.org/abs/{}"
_NAMED = re.compile(r"\\bibliography\s*\{([^{}]*)\}|\\addbibresource\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_BIB_ENTRY = re.compile(r"(?<![\w.])@(\w+)\s*[{(]\s*([^\s,{}()]*)")
_ITEM = re.compile(r"\\bibitem\b")
_END = re.compile(r"\\end\s*\{thebibliography\}")
_BIBLATEX = re.compile(r"\\entry\{([^{}]*)\}(.{0,20000}?)\\endentry", re.DOTALL)
_FIELD, _VERBATIM = (
    r"\\field\{{{}\}}\{{",
    re.compile(r"\\verb\{(\w+)\}\s*\\verb\s+(.*?)\s*\\endverb", re.DOTALL),
)
_GIVEN, _FAMILY = re.compile(r"\bgiven=\{"), re.compile(r"\bfamily=\{")
_QUOTED = re.compile(r"``(.+?)[,.]?''|“(.+?)[,.]?”|(?<!\w)\"(.+?)[,.]?\"", re.DOTALL)
_EMPHASIZED = re.compile(r"\\(?:emph|textit)\s*\{|\{\\(?:em|it)\b")
_BLOCK = re.compile(r"\\newblock\b")
# No author writes a longer entry, label or field; an unclosed one ends there.
_LONGEST, _MOST = 5_000, 5_000
_YEAR = re.compile(r"(?<![\d./:])(1[89]\d\d|20\d\d)(?![\d/])")
_DOI = re.compile(r"10\.\d{4,9}/[^\s{}]+")
_ADDRESS = re.compile(r"\\(?:url|href)\s*\{([^{}]*)\}|(https?://[^\s{}]+)")


def entries(keys: Sequence[str], files: Mapping[str, str], paper: Assembled) -> dict[str, CitedEntry]:
    """The entry of each key: from BibTeX, else from a typeset bibliography, else from the paper itself.

    A key without any entry gets an empty one.
    """
    cited = {key.lower(): key for key in keys}
    result: dict[str, CitedEntry] = {}
    readers: tuple[Callable[[], Iterator[CitedEntry]], ...] = (
        lambda: _of_files(_bibs(files, paper), _of_bibtex, cited),
        lambda: _of_files(_set_lists(files, paper), _of_list, cited),
        lambda: _of_list(masked(paper.text), cited),
    )
    for read in readers:
        if len(result) < len(cited):
            for entry in read():
                key = cited.get(entry.key.lower())
                if key and key not in result and (entry.title or entry.link or entry.doi or entry.url):
                    result[key] = replace(entry, key=key)
    return {key: result.get(key, CitedEntry(key)) for key in keys}


def _of_files(
    texts: Iterator[str],
    read: Callable[[str, Collection[str]], Iterator[CitedEntry]],
    cited: Collection[str],
) -> Iterator[CitedEntry]:
    for text in texts:
        yield from read(text, cited)


def _bibs(files: Mapping[str, str], paper: Assembled) -> Iterator[str]:
    base = posixpath.dirname(paper.main)
    names = [
        name for result in _NAMED.finditer(masked(paper.text)) for name in (result[1] or result[2]).split(",")
    ]
    named = [name for one in names if (name := file_named(files, one, base, (".bib",))).endswith(".bib")]
    return (files[name] for name in dict.fromkeys(named or (name for name in files if name.endswith(".bib"))))


def _set_lists(files: Mapping[str, str], paper: Assembled) -> Iterator[str]:
    own = paper.main.rpartition(".")[0] + ".bbl"
    return (
        files[name] for name in sorted(files, key=lambda name: (name != own, name)) if name.endswith(".bbl")
    )


def _of_bibtex(text: str, cited: Collection[str]) -> Iterator[CitedEntry]:
    """The wanted entries of a file, which may list a whole field; the rest is not parsed."""
    starts = list(_BIB_ENTRY.finditer(text))
    blocks = [
        text[one.start() : after.start() if after else len(text)]
        for one, after in zip_longest(starts, starts[1:])
        if one[1].lower() == "string" or one[2].lower() in cited
    ]
    for entry in bibtex("\n".join(blocks)) if blocks else ():
        if entry.reference is not None:
            reference = entry.reference
            identifiers = [named for words in entry.named if (named := work_named(words))]
            yield _entry(entry.said, reference.text, identifiers, reference.authors, reference.year)


def _entry(
    key: str, title: str, identifiers: Sequence[Identifier], authors: str, year: int | None
) -> CitedEntry:
    by_scheme = {identifier.scheme: identifier.value for identifier in reversed(identifiers)}
    link = ON_ARXIV.format(by_scheme["arxiv"]) if "arxiv" in by_scheme else ""
    return CitedEntry(key, title, link, by_scheme.get("doi", ""), by_scheme.get("url", ""), authors, year)


def _of_list(text: str, cited: Collection[str]) -> Iterator[CitedEntry]:
    for result in islice(_BIBLATEX.finditer(text), _MOST):
        if result[1].lower() in cited:
            yield _of_biblatex(result[1], result[2])
    begins = [match.end() for match in islice(_ITEM.finditer(text), _MOST)]
    for begin, after in zip_longest(begins, begins[1:], fillvalue=len(text)):
        key, start = _item_key(text, begin)
        if key.lower() in cited:
            end = _END.search(text, start, after)
            body = text[start : end.start() if end else after].removesuffix("\\bibitem")
            yield _of_item(key, body[:_LONGEST])


def _item_key(text: str, at: int) -> tuple[str, int]:
    """The key of an entry behind its label, which may hold brackets within braces, and the offset where its words
    begin.
    """
    while at < len(text) and (text[at].isspace() or text[at] == "%"):
        at = (text.find("\n", at) + 1 or len(text)) if text[at] == "%" else at + 1
    if text[at : at + 1] == "[":
        depth = 0
        for result in re.compile(r"\\.|[{}\]]", re.DOTALL).finditer(text, at, at + _LONGEST):
            depth += {"{": 1, "}": -1}.get(result[0], 0)
            if result[0] == "]" and depth <= 0:
                at = result.end()
                break
    key = re.compile(r"[\s%]*\{([^{}]*)\}").match(text, at)
    return (key[1].strip(), key.end()) if key else ("", at)


def _of_item(key: str, body: str) -> CitedEntry:
    """An entry's data from its words: the title is quoted, in the second block or emphasized, the authors are before
    it.
    """
    quoted, blocks = _QUOTED.search(body), _BLOCK.split(body)
    if quoted:
        title, authors = next(filter(None, quoted.groups())), body[: quoted.start()]
    elif len(blocks) > 1:
        title, authors = blocks[1], blocks[0]
    elif emphasized := _EMPHASIZED.search(body):
        title, authors = _braced(body, emphasized.end()), body[: emphasized.start()]
    else:
        title, authors = "", ""
    year = [int(one) for one in _YEAR.findall(body)]
    addresses = [one[0] or one[1] for one in _ADDRESS.findall(body)]
    doi = _DOI.search(body)
    named = [arxiv_mentioned(body), doi[0].rstrip(".,;") if doi else "", *addresses]
    identifiers = [result for one in named if (result := work_named(one))]
    return _entry(
        key,
        _plain(title).rstrip(".,"),
        identifiers,
        _plain(authors).rstrip("., "),
        year[-1] if year else None,
    )


def _of_biblatex(key: str, body: str) -> CitedEntry:
    verbatim = {result[1]: result[2] for result in _VERBATIM.finditer(body)}
    fields = {name: _field(body, name) for name in ("title", "year", "eprinttype", "journaltitle")}
    names = body.partition("\\name{author}")[2].partition("\\name{")[0]
    people = [
        " ".join((_braced(names, given.end()) if given else "", _braced(names, family.end()))).strip()
        for family in _FAMILY.finditer(names)
        if (given := _GIVEN.search(names, family.end(), family.end() + 200)) or True
    ]
    mentioned = arxiv_mentioned(fields["journaltitle"])
    identifiers = [
        work_named(one)
        for one in (verbatim.get("eprint", ""), mentioned, verbatim.get("doi", ""), verbatim.get("url", ""))
    ]
    reference = made(_plain(fields["title"]), "", _plain(", ".join(people)), fields["year"])
    return _entry(
        key,
        reference.text,
        [identifier for identifier in identifiers if identifier],
        reference.authors,
        reference.year,
    )


def _field(body: str, name: str) -> str:
    result = re.search(_FIELD.format(name), body)
    return _braced(body, result.end()) if result else ""


def _braced(text: str, start: int) -> str:
    """The text in the braces that were opened just before `start`."""
    depth = 1
    for result in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, start, start + _LONGEST):
        depth += {"{": 1, "}": -1}.get(result[0], 0)
        if depth == 0:
            return text[start : result.start()]
    return text[start : start + _LONGEST]


def _plain(latex: str) -> str:
    return " ".join(plain_decoder().latex_to_text(latex, tolerant_parsing=True).split())


_ATOM, _ARXIV = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ID = re.compile(r"arxiv\.org/abs/(.+?)(v(\d+))?/?$")


@dataclass(frozen=True, slots=True)
class ListedPaper:
    """A paper in a feed: `version` is its latest, `published` the moment of its first."""

    id: str
    version: int
    title: str
    abstract: str
    published: str
    authors: tuple[str, ...] = ()
    comment: str = ""
    journal: str = ""
    doi: str = ""
    category: str = ""

    @property
    def work(self) -> CatalogueWork:
        authors = ", ".join(self.authors)
        return CatalogueWork(f"arxiv:{self.id}", self.title, self.abstract, self.published[:10], authors)

    @property
    def key(self) -> str:
        return f"{self.id}v{self.version}"


@dataclass(frozen=True, slots=True)
class Feed:
    total: int
    papers: tuple[ListedPaper, ...]


def read(content: bytes, name: str) -> Feed:
    """The papers of a feed; Refusal if it is none, or reports an error."""
    again = "Remove it from the folder and collect again."
    try:
        root = xml_tree(content)
    except ValueError as error:
        raise Refusal(f"“{name}” is not a feed of arXiv: {error}.", again) from None
    if root.tag != f"{_ATOM}feed":
        raise Refusal(f"“{name}” is not a feed of arXiv.", again)
    errors = [
        element for element in root.iter(f"{_ATOM}entry") if "/api/errors" in _text(element, f"{_ATOM}id")
    ]
    if errors:
        raise Refusal(
            f"arXiv refused the query of “{name}”: {_text(errors[0], f'{_ATOM}summary')}.",
            "Correct the categories or the days.",
        )
    total = _text(root, f"{_SEARCH}totalResults")
    return Feed(int(total) if total.isdecimal() else 0, tuple(_papers(root)))


def _papers(root: ElementTree.Element) -> Iterator[ListedPaper]:
    for element in root.iter(f"{_ATOM}entry"):
        named = _ID.search(_text(element, f"{_ATOM}id"))
        if named is None:
            continue
        primary = element.find(f"{_ARXIV}primary_category")
        yield ListedPaper(
            id=named[1],
            version=int(named[3] or 1),
            title=_text(element, f"{_ATOM}title"),
            abstract=_text(element, f"{_ATOM}summary"),
            published=_text(element, f"{_ATOM}published"),
            authors=tuple(_text(author, f"{_ATOM}name") for author in element.iter(f"{_ATOM}author")),
            comment=_text(element, f"{_ARXIV}comment"),
            journal=_text(element, f"{_ARXIV}journal_ref"),
            doi=_text(element, f"{_ARXIV}doi"),
            category=primary.get("term", "") if primary is not None else "",
        )


def _text(element: ElementTree.Element, tag: str) -> str:
    """The words of a child element on one line; empty if there is none."""
    return " ".join((element.findtext(tag) or "").split())
