"""What a report consists of, and what an exemplar cites.

DeepScholar-Bench: report statistics, Table 6; references of the exemplars, Figures 3 and 6 and Table 7.
"""

from dataclasses import dataclass
from typing import ClassVar

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Kind
from annotator.protocols.citations import read
from annotator.protocols.deepscholar.references import by_work, on_arxiv
from annotator.protocols.deepscholar.sentences import baseline


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """Characters, words, sentences and citations of a report without its lists of references.

    The exemplar's own list is made by this program, and a list is no prose. `references` counts the different sources
    that its sentences cite, `citations` every citation, tables included.
    """

    PRINTED: ClassVar[str] = "DeepScholar-Bench, Table 6."
    DEPARTURES: ClassVar[tuple[str, ...]] = (
        "The exemplars are counted as they are read here: without LaTeX commands and without what their authors "
        "commented out. The paper counts the LaTeX with both.",
        "Sentences are cut after headings, tables and code are set aside; the paper's count takes them for sentences.",
    )

    characters: int
    words: int
    sentences: int
    references: int
    citations: int


def report_figures(material: Material) -> ReportFigures:
    """The same on every run; words are parted by white space."""
    found = baseline(material).document
    units = found.units if found else ()
    cited = read(material.response.text, every=True)
    text = "".join(cited.report[start:end] for start, end in cited.body)
    inline = sum(max(1, len(one.urls) + len(one.lost)) for one in cited.citations)
    sources = {one.key for unit in units for one in unit.cites}
    rows = sum(unit.anchor is not None and unit.anchor.quote.startswith("|") for unit in units)
    return ReportFigures(len(text), len(text.split()), len(units) - rows, len(sources), inline)


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A work that an exemplar cites; without `importance` where nobody has said it."""

    on_arxiv: bool
    importance: str
    citations: int | None


def cited_works(material: Material) -> list[CitedWork]:
    """The works that an item's exemplar cites, each once; important where one of its references is."""
    found = []
    for address, references in by_work(material.units(Kind.EVIDENCE)).items():
        page, said = material.pages.get(address), {one.importance for one in references} - {""}
        importance = "important" if "important" in said else next(iter(said), "")
        known = page.citations if page is not None else None
        found.append(CitedWork(any(map(on_arxiv, references)), importance, known))
    return found
