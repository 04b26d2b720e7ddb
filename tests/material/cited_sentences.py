"""Sentences with their sources, as the stories of protocols know them: pages for what they cite, and plain figures."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from annotator.actions.items import pages
from annotator.actions.project.file import Project
from annotator.domain.material.item import Page, PageState
from annotator.domain.material.part import Sentence
from annotator.domain.texts.canonical import now

Drawn = Iterable[tuple[str, Sequence[Sentence]]]
Shares = dict[tuple[str, str], list[float]]


def fetch(project: Project, drawn: Drawn, text: str) -> None:
    """A page for every address that a sentence cites, each with words of its own."""
    for address in {one.address for _, result in drawn for unit in result for one in unit.cites} - {""}:
        words = f"{text} {address}"
        pages.take_in(project, Page(url=address, state=PageState.OK, text=words, fetched_at=now()))


def precision(drawn: Drawn) -> Shares:
    """Where every source is right; as released, the share of sentences of 50 characters that cite one."""
    shares: Shares = defaultdict(list)
    for system, result in drawn:
        cited = [
            (len(one.cites), len(one.cites) + one.dangling) for one in result if one.cites or one.dangling
        ]
        long = [one for one in result if len(one.anchor.quote) >= 50]
        shares["citation_precision", system].append(sum(a for a, _ in cited) / sum(b for _, b in cited))
        shares["citation_precision.sentence", system].append(fmean(a / b for a, b in cited))
        shares["citation_precision.released", system].append(fmean(bool(one.cites) for one in long))
    return shares


def coverage(drawn: Drawn) -> Shares:
    """Where every sentence is borne out by what it is asked about with first; as released, those that cite."""
    shares: Shares = defaultdict(list)
    for system, result in drawn:
        long = [one for one in result if len(one.text) >= 50]
        shares["claim_coverage", system].append(1.0)
        shares["claim_coverage.released", system].append(fmean(bool(one.cites) for one in long))
    return shares
