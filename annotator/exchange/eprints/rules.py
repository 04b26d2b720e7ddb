"""Which papers are kept: first versions that were accepted, in English, neither too long nor without references."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotator.domain.texts.words import COMMON
from annotator.exchange.eprints.feeds import ListedPaper

LEAST_COMMON = 0.15
_ACCEPTED = re.compile(r"\baccepted\b|\bto appear\b|\bpublished\b", re.IGNORECASE)
_PENDING = re.compile(
    r"\bsubmitted\b|\bunder (?:peer )?review\b|\brejected\b|\bnot accepted\b", re.IGNORECASE
)
_WITHDRAWN = re.compile(r"\bwithdrawn\b|\bretracted\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a paper needs. `h_indices` are those of authors by name; with `least_h` one of a paper's must reach it."""

    any_version: bool = False
    journal_counts: bool = False
    any_comment: bool = False
    most_words: int = 1000
    least_references: int = 5
    least_h: int = 0
    h_indices: Mapping[str, int] = field(default_factory=dict)

    def against(self, paper: ListedPaper) -> str:
        """Why a candidate is left out, by what the feed says of it; empty when it is not."""
        if _WITHDRAWN.search(paper.comment):
            return "Its comment says that it is withdrawn."
        if paper.version > 1 and not self.any_version:
            return f"Version {paper.version} is the latest; only papers with a single version count."
        if not self.any_comment and (unsure := self._unaccepted(paper)):
            return unsure
        if not is_english(paper.abstract):
            return "Its abstract is not in English."
        if self.least_h and self._best_h(paper) < self.least_h:
            return f"No author is known to have an h-index of {self.least_h}."
        return ""

    def _unaccepted(self, paper: ListedPaper) -> str:
        if self.journal_counts and paper.journal:
            return ""
        if not paper.comment:
            return "It has no comment that says that it was accepted."
        if pending := _PENDING.search(paper.comment):
            return f"Its comment says “{pending[0]}”."
        if not _ACCEPTED.search(paper.comment):
            return "Its comment does not say that it was accepted."
        return ""

    def _best_h(self, paper: ListedPaper) -> int:
        return max((self.h_indices.get(name.casefold(), 0) for name in paper.authors), default=0)


def is_english(text: str) -> bool:
    """Whether enough of a text's words are the common ones of English."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return sum(word in COMMON for word in words) >= LEAST_COMMON * len(words) > 0
