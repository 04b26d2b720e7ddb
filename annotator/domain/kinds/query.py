"""What a query is: the question as an expert would put it to a deep-research system."""

from typing import ClassVar

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.unit import Unit


class Wording(Unit):
    """One wording of the query; the first is the one that is asked."""


class Query(Document[Wording]):
    """The query of one item, with alternatives if any (ADRA §4)."""

    KIND: ClassVar[Kind] = Kind.QUERY
    UNIT: ClassVar[type[Unit]] = Wording
