"""Lists of papers as arXiv sends them: Atom feeds, read without their doctype."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import xml_tree

_ATOM, _ARXIV = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ID = re.compile(r"arxiv\.org/abs/(.+?)(v(\d+))?/?$")


@dataclass(frozen=True, slots=True)
class ListedPaper:
    """A paper as a feed describes it: `version` is its latest, `published` the moment of its first."""

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
    """The papers of a reply, and how many there are in all."""

    total: int
    papers: tuple[ListedPaper, ...]


def read(content: bytes, name: str) -> Feed:
    """The papers of a feed; Refusal when it is none, or tells of an error."""
    again = "Remove it from the folder and collect again."
    try:
        root = xml_tree(content)
    except ValueError as error:
        raise Refusal(f"“{name}” is not a feed of arXiv: {error}.", again) from None
    if root.tag != f"{_ATOM}feed":
        raise Refusal(f"“{name}” is not a feed of arXiv.", again)
    errors = [one for one in root.iter(f"{_ATOM}entry") if "/api/errors" in _text(one, f"{_ATOM}id")]
    if errors:
        raise Refusal(
            f"arXiv refused the query of “{name}”: {_text(errors[0], f'{_ATOM}summary')}.",
            "Correct the categories or the days.",
        )
    total = _text(root, f"{_SEARCH}totalResults")
    return Feed(int(total) if total.isdecimal() else 0, tuple(_papers(root)))


def _papers(root: ElementTree.Element) -> Iterator[ListedPaper]:
    for one in root.iter(f"{_ATOM}entry"):
        named = _ID.search(_text(one, f"{_ATOM}id"))
        if named is None:
            continue
        primary = one.find(f"{_ARXIV}primary_category")
        yield ListedPaper(
            id=named[1],
            version=int(named[3] or 1),
            title=_text(one, f"{_ATOM}title"),
            abstract=_text(one, f"{_ATOM}summary"),
            published=_text(one, f"{_ATOM}published"),
            authors=tuple(_text(author, f"{_ATOM}name") for author in one.iter(f"{_ATOM}author")),
            comment=_text(one, f"{_ARXIV}comment"),
            journal=_text(one, f"{_ARXIV}journal_ref"),
            doi=_text(one, f"{_ARXIV}doi"),
            category=primary.get("term", "") if primary is not None else "",
        )


def _text(element: ElementTree.Element, tag: str) -> str:
    """The words of a child on one line; empty where it is not there."""
    return " ".join((element.findtext(tag) or "").split())
