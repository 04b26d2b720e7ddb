"""Protocols, paper by paper: how a report is judged and what its scores mean."""

from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Composite, Extraction, Protocol
from annotator.domain.judges.taxonomy import Taxonomy
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import adra, arena, deepscholar, researcherbench
from annotator.protocols.adra import lists, reading
from annotator.protocols.arena import continuations as continuations
from annotator.protocols.arena import ranking
from annotator.protocols.arena.leakage import ComparedContinuation as ComparedContinuation
from annotator.protocols.arena.leakage import compared as compared
from annotator.protocols.deepscholar.statistics import ReportFigures as ReportFigures
from annotator.protocols.deepscholar.statistics import report_figures as report_figures

PAPERS: tuple[Paper, ...] = (researcherbench.PAPER, adra.PAPER, deepscholar.PAPER, arena.PAPER)


class ProtocolTable(dict[str, Protocol]):
    """Protocols by name; an unknown name gets a refusal in words."""

    def __missing__(self, name: str) -> Protocol:
        raise Refusal(f"There is no protocol “{name[:80]}”.", f"Available: {', '.join(self)}.")


PROTOCOLS: dict[str, Protocol] = ProtocolTable(
    {shape.name: shape for paper in PAPERS for shape in paper.protocols}
)
# The protocol that is meant where none is named.
USUAL = next(iter(PROTOCOLS))
# The title of the paper that a protocol is of.
PAPER_TITLES: dict[str, str] = {shape.name: paper.title for paper in PAPERS for shape in paper.protocols}
# The protocol that is meant where units of a kind are judged, and none is named.
USUAL_OF: dict[Kind, Protocol] = {
    kind: next(shape for shape in PROTOCOLS.values() if shape.unit_kind is kind)
    for kind in Kind
    if any(shape.unit_kind is kind for shape in PROTOCOLS.values())
}
# What is always submitted; labels of other protocols are where they are handed out, and else count as they are given.
TO_SUBMIT: tuple[str, ...] = tuple(shape.name for shape in PROTOCOLS.values() if shape.submitted)
EXTRACTIONS: dict[str, Extraction] = {one.name: one for paper in PAPERS for one in paper.extractions}
# What a model may be asked to draft for a person, as a paper says.
DRAFTS: tuple[Extraction, ...] = tuple(one for paper in PAPERS for one in paper.drafts)
# The system that a paper describes, to be run on any model.
reference_system = deepscholar.system
# How a judge compares two tasks, and how the value that it gives is read.
RANKING, ranked_value = ranking.RANKING, ranking.read
# Figures made of others, each with its paper.
COMPOSITES: dict[str, tuple[Paper, Composite]] = {
    one.name: (paper, one) for paper in PAPERS for one in paper.composites
}
# How people look again at verdicts, by the name that stands in their labels.
TAXONOMIES: dict[str, Taxonomy] = {one.name: one for paper in PAPERS for one in paper.taxonomies}
# The finder of the works that a text refers to, and of the lists in which they stand, for any text.
works_referred_to, list_entries = reading.references, lists.entries_of
divided_list, is_list_heading, LIST_MARKER = lists.divided, lists.is_list_heading, lists.MARKER


def asked(names: str) -> tuple[str, ...]:
    """The protocols that an assignment to label names, in the table's order; the usual ones where it names none."""
    wanted = names.split() or TO_SUBMIT
    return tuple(name for name in PROTOCOLS if name in wanted)
