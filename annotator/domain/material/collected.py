"""Papers collected to become items: kept ones with section and citations, refused ones with the reason."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class RefusalStage(StrEnum):
    """The steps at which a candidate may be refused, in their order."""

    FILTER = "filter"
    SOURCE = "source"
    ASSEMBLE = "assemble"
    SECTION = "section"
    CLEAN = "clean"
    CITE = "cite"


@dataclass(frozen=True, slots=True)
class CitedEntry:
    """A work that a section cites under a key; `link` is its page on arXiv. Empty where nothing is known."""

    key: str
    title: str = ""
    link: str = ""
    doi: str = ""
    url: str = ""
    authors: str = ""
    year: int | None = None
    abstract: str = ""


@dataclass(frozen=True, slots=True)
class CollectedPaper:
    """A paper with the section that serves as exemplar, in LaTeX, and the works that it cites in order of mention."""

    arxiv_id: str
    title: str
    abstract: str
    published: str
    category: str
    section: str
    cited: tuple[CitedEntry, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RefusedPaper:
    """A candidate that was left out: at which stage, and why."""

    id: str
    stage: RefusalStage
    reason: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Funnel:
    """What became of all candidates; `exemplars` are the kept sections as they will be shown, by arXiv id.

    `rules` are those by which papers were kept.
    """

    candidates: int
    kept: tuple[CollectedPaper, ...] = ()
    refused: tuple[RefusedPaper, ...] = ()
    exemplars: Mapping[str, str] = field(default_factory=dict)
    rules: Mapping[str, int] = field(default_factory=dict)

    def left(self) -> dict[RefusalStage, int]:
        """How many candidates are left after each stage."""
        left, found = self.candidates, {}
        for stage in RefusalStage:
            left -= sum(one.stage is stage for one in self.refused)
            found[stage] = left
        return found
