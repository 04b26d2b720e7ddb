"""Which class is the document of which kind: the one table of all artifact kinds."""

from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.checklist import Checklist
from annotator.domain.kinds.diagnostics import Diagnostics
from annotator.domain.kinds.evidence import Evidence
from annotator.domain.kinds.insights import Insights
from annotator.domain.kinds.labels import Labels
from annotator.domain.kinds.nuggets import Nuggets
from annotator.domain.kinds.plan import Plan
from annotator.domain.kinds.query import Query
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.kinds.selection import Selection

DOCUMENTS: dict[Kind, type[Document[Any]]] = {
    document.KIND: document
    for document in (
        Query,
        Rubric,
        Plan,
        Evidence,
        Diagnostics,
        Nuggets,
        Checklist,
        Insights,
        Selection,
        Labels,
    )
}


def document_of(kind: Kind, tree: Any) -> Document[Any]:
    """The typed document of a JSON tree; pydantic's ValidationError names what does not fit."""
    return DOCUMENTS[kind].model_validate(tree)
