"""Material of one paper: reports, an exemplar, nuggets, works and cited sentences, as tests put it together."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Anchor, Kind, cell_id
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.extract import CitedSource, ResponsePart, Sentence, Sentences
from annotator.domain.material.item import EXEMPLAR, Item, Page, PageState, Response

ITEM = Item(
    id="i", key="2506.00001v1", question="Write the related-work section. Abstract: trees cool streets"
)
EXEMPLARS = Response(id="people", item_id="i", system_id="x", text="Trees cool.", mode=EXEMPLAR)


def report(text: str = "Trees cool streets [1].") -> Response:
    return Response(id="r", item_id="i", system_id="s", text=text)


def page(url: str, text: str, title: str) -> Page:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Page(url=url, state=PageState.OK, text=text, title=title, fetched_at=at)


def with_nuggets(*nuggets: tuple[str, str], support: str = "", text: str = "Trees cool.") -> Material:
    """A report on an item with nuggets, each given by its id and importance."""
    units = tuple(
        Nugget.model_validate(
            {"id": name, "text": f"{name} fact", "importance": importance, "support": support}
        )
        for name, importance in nuggets
    )
    return Material(ITEM, report(text), {Kind.NUGGETS: Nuggets(units=units)}, {Kind.NUGGETS: "a"})


def with_works(*works: tuple[str, str], abstracts: dict[str, str] | None = None) -> Material:
    """A report that names works, each given by its id and address; `abstracts` by normal address."""
    units = tuple(Reference(id=name, text=name, identifier=address) for name, address in works)
    pages = {url: page(url, text, "T") for url, text in (abstracts or {}).items()}
    return Material(
        ITEM,
        report(),
        parts={ResponsePart.REFERENCES: Evidence(units=units)},
        part_ids={ResponsePart.REFERENCES: "e"},
        pages=pages,
        facing=(EXEMPLARS,),
    )


# Sixty characters: no reading passes over it.
LONG = "Trees cool streets in summer, as many measurements have told"


def sentence(name: str, cites: str = "", dangling: int = 0, text: str = "", later: str = "") -> Sentence:
    """A sentence that cites works of one letter each; those in `later` stand behind another in one mark."""
    words = text or f"{LONG} {name}"
    return Sentence(
        id=name,
        text=words,
        anchor=Anchor.at(words, 0, len(words)),
        cites=tuple(CitedSource(address=f"doi:10.1000/{cite}", later=cite in later) for cite in cites),
        dangling=dangling,
        marks=len(cites) + dangling,
    )


def cut(sentences: Sequence[Sentence], texts: str = "", listed: str = "", window: int = 1) -> Material:
    """A report of these sentences; `texts` are the works whose abstracts are at hand, `listed` those it refers to."""
    parts: dict[ResponsePart, Evidence | Sentences] = {
        ResponsePart.SENTENCES: Sentences(units=tuple(sentences))
    }
    if listed:
        parts[ResponsePart.REFERENCES] = Evidence(units=tuple(Reference(id=one, text=one) for one in listed))
    addresses = {text: f"doi:10.1000/{text}" for text in texts}
    pages = {url: page(url, f"Abstract {text}.", f"Title {text}") for text, url in addresses.items()}
    ids = {ResponsePart.SENTENCES: "e"}
    return Material(ITEM, report(), parts=parts, part_ids=ids, pages=pages, window=window)


def cited(name: str, work: str) -> str:
    return cell_id(name, f"doi:10.1000/{work}")


def said(**of: str) -> Mapping[str, str]:
    """Verdicts by sentence and work: `a_x="yes"`."""
    return {cited(*name.split("_")): value for name, value in of.items()}
