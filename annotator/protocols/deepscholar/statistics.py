"""What a report consists of: its length, its sentences, and how much it cites (DeepScholar-Bench, Table 6)."""

from dataclasses import dataclass

from annotator.domain.judges.protocol import Material
from annotator.protocols.citations import read
from annotator.protocols.deepscholar.sentences import baseline


@dataclass(frozen=True, slots=True)
class ReportFigures:
    """Characters and words of the whole report, sentences of its body, and its citations outside its lists.

    `references` counts the different sources that its sentences cite, `citations` every citation, tables included.
    """

    characters: int
    words: int
    sentences: int
    references: int
    citations: int


def report_figures(material: Material) -> ReportFigures:
    """The same on every run; words are parted by white space."""
    text, found = material.response.text, baseline(material).document
    units = found.units if found else ()
    inline = sum(max(1, len(one.urls) + len(one.lost)) for one in read(text, every=True).citations)
    sources = {one.key for unit in units for one in unit.cites}
    return ReportFigures(len(text), len(text.split()), len(units), len(sources), inline)
