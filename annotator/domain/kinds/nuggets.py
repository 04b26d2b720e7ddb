"""What nuggets are: facts a good text holds, each vital or merely okay."""

from typing import ClassVar, Literal

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit


class Nugget(Unit):
    """One fact, vital or okay."""

    importance: Literal["vital", "okay"] = "okay"


class Nuggets(Document[Nugget]):
    """The facts of one item (DeepScholar, nugget coverage)."""

    KIND: ClassVar[Kind] = Kind.NUGGETS
    UNIT: ClassVar[type[Unit]] = Nugget
