"""Which class is the document of which kind: the one table of all artifact kinds."""

from typing import Any

from annotator.domain.artifact import Document, Kind
from annotator.domain.checklist import Checklist
from annotator.domain.diagnostics import Diagnostics
from annotator.domain.evidence import Evidence
from annotator.domain.insights import Insights
from annotator.domain.labels import Labels
from annotator.domain.nuggets import Nuggets
from annotator.domain.plan import Plan
from annotator.domain.query import Query
from annotator.domain.rubric import Rubric
from annotator.domain.selection import Selection

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
