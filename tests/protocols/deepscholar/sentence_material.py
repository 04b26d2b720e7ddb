"""Reports cut into sentences that cite works by one letter, as tests of precision and coverage put them together."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Anchor, cell_id
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.extract import CitedSource, ResponsePart, Sentence, Sentences
from annotator.domain.material.item import Page, PageState
from tests.protocols.deepscholar.related_work_material import ITEM, report

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
    pages = {
        f"doi:10.1000/{text}": Page(
            url=f"doi:10.1000/{text}",
            state=PageState.OK,
            text=f"Abstract {text}.",
            title=f"Title {text}",
            fetched_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for text in texts
    }
    ids = {ResponsePart.SENTENCES: "e"}
    return Material(ITEM, report(), parts=parts, part_ids=ids, pages=pages, window=window)


def cited(name: str, work: str) -> str:
    return cell_id(name, f"doi:10.1000/{work}")


def said(**of: str) -> Mapping[str, str]:
    """Verdicts by sentence and work: `a_x="yes"`."""
    return {cited(*name.split("_")): value for name, value in of.items()}
