"""What CrossRef, OpenAlex and CSL JSON say of works: publication, citations and, of CrossRef's, the references."""

import re
from dataclasses import dataclass
from typing import Any

from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.source import SourceKind
from annotator.domain.texts import identifier

# So that both are asked for one work by its DOI; arXiv's own DOIs stand for arXiv ids.
SERVICES = {
    "openalex": "https://api.openalex.org/works/doi:{}",
    "crossref": "https://api.crossref.org/works/{}",
}
FIRST_YEAR, LAST_YEAR = 1000, 2200
_YEAR = re.compile(r"(?<!\d)\d{4}")
_DATE = re.compile(r"(?<!\d)\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?(?!\d)")


@dataclass(frozen=True, slots=True)
class Work:
    """A work as a service describes it; empty, or None, where it says nothing."""

    reference: Reference
    published: str = ""
    venue: str = ""
    citations: int | None = None
    kind: SourceKind = SourceKind.UNKNOWN
    references: tuple[Reference, ...] = ()
    abstract: str = ""

    def metadata(self) -> dict[str, Any]:
        """What it says of a source of which it is the description."""
        told = {
            "kind": self.kind.value, "published": self.published, "venue": self.venue, "citations": self.citations,
        }  # fmt: skip
        return {name: value for name, value in told.items() if value not in ("", None)}


def doi_of(text: str) -> str:
    """The DOI by which a service knows a work that is named so; empty when it has none."""
    found = identifier.work_named(text)
    if found is None or found.scheme not in ("doi", "arxiv"):
        return ""
    return found.value if found.scheme == "doi" else f"10.48550/arXiv.{found.value}"


def works_of(tree: Any) -> list[Work]:
    """The works of a reply of either service, or of a file of several or in CSL JSON; none of something else."""
    return [work for told in records(tree) if (work := work_of(told))]


def records(tree: Any) -> list[Any]:
    """What a reply or a file lists: each should be a record of a work."""
    if isinstance(tree, list):
        return [record for one in tree for record in records(one)]
    held = tree if isinstance(tree, dict) else {}
    inside = next((held[name] for name in ("message", "items", "results") if name in held), None)
    return records(inside) if isinstance(inside, dict | list) else [tree]


def work_of(told: Any) -> Work | None:
    """The work that a record describes; None where it is no record of one."""
    known = _dict(told).keys()
    if not (
        known & {"DOI", "doi", "display_name"} or ("title" in known and known & {"type", "issued", "author"})
    ):
        return None
    return _openalex(told) if known & {"doi", "display_name", "authorships"} else _crossref(told)


def _crossref(told: dict[str, Any]) -> Work:
    """A record of CrossRef, or of CSL JSON, whose form is the same."""
    names = [
        _words(one.get("given"), one.get("family") or one.get("name") or one.get("literal"))
        for one in _dicts(told.get("author"))
    ]
    published = _day(told.get("issued"))
    named = [text for name in ("DOI", "ISBN", "URL") if identifier.work_named(text := _first(told.get(name)))]
    return Work(
        _reference(_first(told.get("title")), next(iter(named), ""), names, published[:4]),
        published,
        _first(told.get("container-title")),
        _count(told.get("is-referenced-by-count")),
        references=tuple(_listed(one) for one in _dicts(told.get("reference"))),
    )


def _listed(told: dict[str, Any]) -> Reference:
    title = told.get("article-title") or told.get("volume-title") or told.get("series-title")
    return _reference(
        title or told.get("unstructured"), told.get("DOI"), [_words(told.get("author"))], told.get("year")
    )


def _openalex(told: dict[str, Any]) -> Work:
    names = [_words(_dict(one.get("author")).get("display_name")) for one in _dicts(told.get("authorships"))]
    venue = _dict(_dict(told.get("primary_location")).get("source")).get("display_name")
    kinds = {"review": SourceKind.REVIEW, "article": SourceKind.RESEARCH}
    return Work(
        _reference(
            told.get("title") or told.get("display_name"),
            told.get("doi"),
            names,
            told.get("publication_year"),
        ),
        _words(told.get("publication_date"))[:10],
        _words(venue),
        _count(told.get("cited_by_count")),
        kinds.get(_words(told.get("type")), SourceKind.UNKNOWN),
        abstract=_in_order(_dict(told.get("abstract_inverted_index"))),
    )


def _in_order(places: dict[str, Any]) -> str:
    """A text whose words are told with the places at which they stand."""
    words = [
        (at, word)
        for word, ats in places.items()
        if isinstance(ats, list)
        for at in ats
        if isinstance(at, int)
    ]
    return " ".join(word for _, word in sorted(words))


def _reference(title: Any, doi: Any, names: list[str], year: Any) -> Reference:
    named = identifier.work_named(_words(doi))
    return made(_words(title), str(named or _words(doi)), ", ".join(filter(None, names)), _words(year))


def made(title: str, named: str, authors: str, year: str) -> Reference:
    """A reference of these words, cut to what its fields hold; what is no year is left out."""
    number = int(found[0]) if (found := _YEAR.search(year)) else 0
    return Reference(
        text=" ".join(title.split())[:20_000],
        identifier=named.strip()[:1000],
        authors=_cut(" ".join(authors.split())),
        year=number if FIRST_YEAR <= number <= LAST_YEAR else None,
    )


def _cut(authors: str) -> str:
    """Authors by whole names, as many as a reference holds."""
    return authors if len(authors) <= 2000 else f"{authors[:1990].rpartition(', ')[0]} et al."


def _day(issued: Any) -> str:
    """2024-03-01 of {"date-parts": [[2024, 3, 1]]}, numbers or text, or of words with a date, as far as it goes.

    Of a range it is where it begins.
    """
    parts = _dict(issued).get("date-parts")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else [issued]
    told = "-".join(f"{part:0>2}" for part in map(_words, first[:3]) if part)
    found = _DATE.search(told or _words(_dict(issued).get("raw") or _dict(issued).get("literal")))
    return found[0] if found else ""


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
