"""Kinds of document, the stages that make them and their states; roles of items and people, reasons of rulings."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """The kinds of document the papers ask experts for."""

    QUERY = "query"
    RUBRIC = "rubric"
    PLAN = "plan"
    EVIDENCE = "evidence"
    DIAGNOSTICS = "diagnostics"
    NUGGETS = "nuggets"
    CHECKLIST = "checklist"
    INSIGHTS = "insights"
    INSPIRATIONS = "inspirations"
    TASKS = "tasks"
    SELECTION = "selection"
    LABELS = "labels"


class Stage(StrEnum):
    """A step of the work that can be handed out."""

    SELECTION = "selection"
    QUERY = "query"
    PLAN = "plan"
    EVIDENCE = "evidence"
    DIAGNOSTICS = "diagnostics"
    RUBRIC = "rubric"
    NUGGETS = "nuggets"
    CHECKLIST = "checklist"
    INSIGHTS = "insights"
    INSPIRATIONS = "inspirations"
    TASKS = "tasks"
    LABELLING = "labelling"
    ADJUDICATION = "adjudication"

    @property
    def kind(self) -> Kind | None:
        """The kind of artifact that this stage makes; None for adjudication, which works on all of them."""
        if self is Stage.ADJUDICATION:
            return None
        return Kind.LABELS if self is Stage.LABELLING else Kind(self.value)


def stage_of(kind: Kind) -> Stage:
    return Stage.LABELLING if kind is Kind.LABELS else Stage(kind.value)


class State(StrEnum):
    """How far an artifact has come."""

    DRAFT = "draft"
    SEALED = "sealed"
    CONSENSUS = "consensus"


class Role(StrEnum):
    """What a person may do in a project."""

    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    COORDINATOR = "coordinator"


class Reason(StrEnum):
    """Why a ruling departs from what an annotator wrote."""

    WORDING = "wording"
    SCOPE = "scope"
    WEIGHT = "weight"
    ERROR = "error"
    DUPLICATE = "duplicate"
    MISSING = "missing"
    GUIDELINE_GAP = "guideline gap"
    OTHER = "other"


class ItemRole(StrEnum):
    """The role of an item in a benchmark."""

    QUESTION, PAPER, SEMINAR, TASK = "question", "paper", "seminar", "task"


@dataclass(frozen=True, slots=True)
class WhatFollows:
    """The consequences of a role: whether systems answer such an item (only then are there reports to label, judge
    and count), and which kinds of document experts write for it.
    """

    answered: bool
    kinds: frozenset[Kind]


_OF_SEMINARS = frozenset({Kind.INSPIRATIONS, Kind.TASKS})


FOLLOWS: Mapping[ItemRole, WhatFollows] = {
    # Without a transcript or a task, a question cannot be told from a seminar in preparation.
    ItemRole.QUESTION: WhatFollows(answered=True, kinds=frozenset(Kind)),
    ItemRole.PAPER: WhatFollows(answered=True, kinds=frozenset(Kind) - _OF_SEMINARS),
    ItemRole.SEMINAR: WhatFollows(answered=False, kinds=_OF_SEMINARS),
    ItemRole.TASK: WhatFollows(answered=True, kinds=frozenset(Kind) - _OF_SEMINARS),
}
