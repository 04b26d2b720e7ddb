"""What diagnostics are: boolean statements about a paper, each with its gold label and aspect."""

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit


class Aspect(StrEnum):
    """The five parts of a paper that diagnostics must cover (ADRA §4)."""

    BACKGROUND = "background"
    PROBLEM = "problem"
    METHODOLOGY = "methodology"
    RESULTS = "results"
    FUTURE = "future directions"


class Statement(Unit):
    """A declarative sentence that the source supports (True) or does not (False)."""

    label: bool | None = Field(default=None, description="Gold label; empty while not yet decided")
    aspect: Aspect | None = None


class Diagnostics(Document[Statement]):
    """15 to 20 statements over all five aspects (ADRA §4)."""

    KIND: ClassVar[Kind] = Kind.DIAGNOSTICS
    UNIT: ClassVar[type[Unit]] = Statement
