"""Protocols, paper by paper: how a report is judged and what its scores mean."""

from collections import UserDict
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, TypeVar

from annotator.domain.common import Refusal

if TYPE_CHECKING:
    from annotator.domain.judges.paper import Paper, Taxonomy
    from annotator.domain.judges.protocol import Composite, Extraction, Protocol
    from annotator.domain.kinds.kind import Kind


K = TypeVar("K")
V = TypeVar("V")


class LateTable(UserDict[K, V]):
    """A mapping that `read` makes on first access: a window opens and shows its first page without it."""

    def __init__(self, read: Callable[[], Mapping[K, V]]) -> None:
        self._read = read

    # A cached property can also be assigned.
    @cached_property
    def data(self) -> dict[K, V]:  # type: ignore[override]
        return dict(self._read())


@cache
def papers() -> "tuple[Paper, ...]":
    """Every paper; loaded on first use, which the window's first page does not need."""
    from annotator.protocols import adra, arena, deepscholar, researcherbench

    return (researcherbench.PAPER, adra.PAPER, deepscholar.PAPER, arena.PAPER)


class UnknownProtocol(Refusal, KeyError):
    """No protocol has the requested name."""

    # A KeyError would put its message in quotes.
    __str__ = Refusal.__str__


class ProtocolTable(LateTable[str, "Protocol"]):
    """Protocols by name; an unknown name raises UnknownProtocol."""

    def __getitem__(self, name: str) -> "Protocol":
        if name not in self:
            raise UnknownProtocol(f"There is no protocol “{name[:80]}”.", f"Available: {', '.join(self)}.")
        return super().__getitem__(name)


PROTOCOLS = ProtocolTable(
    lambda: {protocol.name: protocol for paper in papers() for protocol in paper.protocols}
)
# The protocol used if none is named: the first.
USUAL = "researcherbench.coverage"
# Protocol → the title of its paper.
PAPER_TITLES: "LateTable[str, str]" = LateTable(
    lambda: {protocol.name: paper.title for paper in papers() for protocol in paper.protocols}
)
# Kind of unit → the protocol used if none is named: the first that judges such units.
USUAL_OF: "LateTable[Kind, Protocol]" = LateTable(
    lambda: {protocol.unit_kind: protocol for protocol in [*PROTOCOLS.values()][::-1] if protocol.unit_kind}
)
# Protocols whose labels are always submitted item by item; those of others are if they are assigned, else by report.
TO_SUBMIT: "LateTable[str, Protocol]" = LateTable(
    lambda: {name: one for name, one in PROTOCOLS.items() if one.submitted}
)
EXTRACTIONS: "LateTable[str, Extraction]" = LateTable(
    lambda: {one.name: one for paper in papers() for one in paper.extractions}
)
# The documents that a model may draft for a person, as the papers describe.
DRAFTS: "LateTable[str, Extraction]" = LateTable(
    lambda: {one.name: one for paper in papers() for one in paper.drafts}
)
PAPERS: "LateTable[str, Paper]" = LateTable(lambda: {paper.name: paper for paper in papers()})
# Figures composed of others, each with its paper.
COMPOSITES: "LateTable[str, tuple[Paper, Composite]]" = LateTable(
    lambda: {one.name: (paper, one) for paper in papers() for one in paper.composites}
)
# Taxonomies for reviewing verdicts, by the name stored in their labels.
TAXONOMIES: "LateTable[str, Taxonomy]" = LateTable(
    lambda: {one.name: one for paper in papers() for one in paper.taxonomies}
)


def assigned_protocols(names: str) -> tuple[str, ...]:
    """The protocols that a labelling assignment names, in the table's order; the default ones if it names none."""
    requested = names.split() or TO_SUBMIT
    return tuple(name for name in PROTOCOLS if name in requested)
