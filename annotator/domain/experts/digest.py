"""Feedback on one person's work: row by row, what the consensus did with it and why."""

from enum import StrEnum
from typing import Any

from pydantic import model_validator

from annotator.domain.experts.adjudication import DisputeState, Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.texts.frozen_record import FrozenRecord

# The settings that hold what an annotator was sent of a consensus begin with it.
RECEIVED = "digest:"


class Fate(StrEnum):
    """What happened to a unit. Where only a field changed, the word is that field's name and “changed”."""

    KEPT = "kept"
    REWORDED = "reworded"
    MERGED = "merged"
    DROPPED = "dropped"
    ADDED = "added"


class DigestRow(FrozenRecord):
    """One's own unit, the consensus's, and what changed; either unit is None where there is none.

    `change` is a Fate or, where the words stayed, “weight changed”, “label changed” …; `heading` says what a label
    is about.
    """

    own: dict[str, Any] | None
    consensus: dict[str, Any] | None
    change: str
    reason: Reason | None = None
    rationale: str = ""
    heading: str = ""


class DigestDispute(FrozenRecord):
    """One's own objection and what came of it."""

    text: str
    state: DisputeState
    answer: str = ""
    answered_version: int = 0


class StageDigest(FrozenRecord):
    """What happened to one's own work in the consensus of one stage of an item."""

    item_id: str
    stage: Stage
    version: int
    rows: tuple[DigestRow, ...]
    dispute: DigestDispute | None = None

    @model_validator(mode="after")
    def _of_units(self) -> "StageDigest":
        """Every unit in it is one of the stage's kind, so that whatever shows it finds all its fields."""
        if self.stage.kind is None:
            raise ValueError("this stage makes no document")
        unit = DOCUMENTS[self.stage.kind].UNIT
        for row in self.rows:
            for tree in (row.own, row.consensus):
                if tree is not None:
                    unit.model_validate(tree)
        return self
