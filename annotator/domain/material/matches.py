"""What comes of holding the references of a report against gold ones: which are the same work, and by what."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from annotator.domain.kinds.evidence import Reference

Key = Literal["doi", "arxiv", "title"]


@dataclass(frozen=True, slots=True)
class Match:
    """A retrieved reference and the gold one it is, and the key, in its normal spelling, by which that is known."""

    retrieved: Reference
    gold: Reference
    by: Key
    key: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found of the gold evidence and why, what else was retrieved, and what was not found.

    `conflicts` are those of the latter two that share a title and differ in their DOI or arXiv id.
    """

    matches: tuple[Match, ...]
    superfluous: tuple[Reference, ...]
    lacking: tuple[Reference, ...]
    conflicts: tuple[tuple[Reference, Reference], ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """How a protocol holds retrieved references against gold ones; `about` says by what two are the same work."""

    compare: Callable[[Sequence[Reference], Sequence[Reference]], Comparison]
    about: str
