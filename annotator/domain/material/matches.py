"""Matches between the references of a report and gold ones: which are the same work, and by which key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from annotator.domain.kinds.evidence import Reference

Key = Literal["doi", "arxiv", "title"]


@dataclass(frozen=True, slots=True)
class RetrievalMatch:
    """A retrieved reference, the gold one it matches, and the key in its normal spelling."""

    retrieved: Reference
    gold: Reference
    by: Key
    key: str


@dataclass(frozen=True, slots=True)
class RetrievalComparison:
    """Matches with the gold evidence, other retrieved references, and gold ones not found.

    `conflicts` are those of the latter two that share a title and differ in their DOI or arXiv id.
    """

    matches: tuple[RetrievalMatch, ...]
    superfluous: tuple[Reference, ...]
    lacking: tuple[Reference, ...]
    conflicts: tuple[tuple[Reference, Reference], ...] = ()


@dataclass(frozen=True, slots=True)
class Matching:
    """A protocol's way to match retrieved references with gold ones; `about` explains it."""

    compare: Callable[[Sequence[Reference], Sequence[Reference]], RetrievalComparison]
    about: str
