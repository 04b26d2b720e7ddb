"""Protocols, paper by paper: how a report is judged and what its scores mean."""

from collections import UserDict
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeVar

from annotator.domain.texts.refusal import Refusal

if TYPE_CHECKING:
    from annotator.domain.judges.paper import Paper, Taxonomy
    from annotator.domain.judges.protocol import Composite, Extraction, Protocol
    from annotator.domain.kinds.kind import Kind


K = TypeVar("K")
V = TypeVar("V")


class LateTable(UserDict[K, V]):
    """What `read` finds, once somebody asks for any of it: a window opens and shows its first page without."""

    def __init__(self, read: Callable[[], Mapping[K, V]]) -> None:
        self._read = read

    # A cached property can be written, too.
    @cached_property
    def data(self) -> dict[K, V]:  # type: ignore[override]
        return dict(self._read())


@cache
def papers() -> "tuple[Paper, ...]":
    """Every paper; they are loaded when somebody first asks, and a window's first page does not."""
    from annotator.protocols import adra, arena, deepscholar, researcherbench

    return (researcherbench.PAPER, adra.PAPER, deepscholar.PAPER, arena.PAPER)


class UnknownProtocol(Refusal, KeyError):
    """There is no protocol of the name that is asked for."""

    # A KeyError would put its words in quotes.
    __str__ = Refusal.__str__


class ProtocolTable(LateTable[str, "Protocol"]):
    """Protocols by name; an unknown name gets a refusal in words."""

    def __getitem__(self, name: str) -> "Protocol":
        if name not in self:
            raise UnknownProtocol(f"There is no protocol “{name[:80]}”.", f"Available: {', '.join(self)}.")
        return super().__getitem__(name)


PROTOCOLS = ProtocolTable(
    lambda: {protocol.name: protocol for paper in papers() for protocol in paper.protocols}
)
# The protocol that is meant where none is named: the first.
USUAL = "researcherbench.coverage"
# The title of the paper that a protocol is of.
PAPER_TITLES: "LateTable[str, str]" = LateTable(
    lambda: {protocol.name: paper.title for paper in papers() for protocol in paper.protocols}
)
# The protocol that is meant where units of a kind are judged, and none is named: the first.
USUAL_OF: "LateTable[Kind, Protocol]" = LateTable(
    lambda: {protocol.unit_kind: protocol for protocol in [*PROTOCOLS.values()][::-1] if protocol.unit_kind}
)
# What is always submitted item by item; labels of other protocols are where they are handed out, else by report.
TO_SUBMIT: "LateTable[str, Protocol]" = LateTable(
    lambda: {name: one for name, one in PROTOCOLS.items() if one.submitted}
)
EXTRACTIONS: "LateTable[str, Extraction]" = LateTable(
    lambda: {one.name: one for paper in papers() for one in paper.extractions}
)
# What a model may be asked to draft for a person, as a paper says.
DRAFTS: "LateTable[str, Extraction]" = LateTable(
    lambda: {one.name: one for paper in papers() for one in paper.drafts}
)
PAPERS: "LateTable[str, Paper]" = LateTable(lambda: {paper.name: paper for paper in papers()})
# Figures made of others, each with its paper.
COMPOSITES: "LateTable[str, tuple[Paper, Composite]]" = LateTable(
    lambda: {one.name: (paper, one) for paper in papers() for one in paper.composites}
)
# How people look again at verdicts, by the name that stands in their labels.
TAXONOMIES: "LateTable[str, Taxonomy]" = LateTable(
    lambda: {one.name: one for paper in papers() for one in paper.taxonomies}
)


def assigned_protocols(names: str) -> tuple[str, ...]:
    """The protocols that an assignment to label names, in the table's order; the usual ones where it names none."""
    requested = names.split() or TO_SUBMIT
    return tuple(name for name in PROTOCOLS if name in requested)
