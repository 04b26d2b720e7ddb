"""What a gold plan is: the ordered sub-tasks that lead to a good report."""

from typing import ClassVar

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit


class Subtask(Unit):
    """A step of a gold plan: one complete sentence of 8 to 20 words."""


class Plan(Document[Subtask]):
    """5 to 10 sub-tasks, from motivation to conclusion (ADRA §4)."""

    KIND: ClassVar[Kind] = Kind.PLAN
    UNIT: ClassVar[type[Unit]] = Subtask
