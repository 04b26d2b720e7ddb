"""The table of all document kinds: how each is read, and what its guideline checks."""

from collections.abc import Iterator
from typing import Any

from annotator.domain.kinds import (
    checklist,
    diagnostics,
    evidence,
    insights,
    inspirations,
    labels,
    nuggets,
    plan,
    query,
    rubric,
    selection,
    tasks,
)
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.checks import Context, english
from annotator.domain.kinds.finding import Finding, error
from annotator.domain.kinds.question_types import BAR
from annotator.domain.kinds.spec import KindSpec
from annotator.domain.kinds.weights import USUAL, Weights

# In the order in which the papers let experts write them.
KINDS: dict[Kind, KindSpec] = {
    spec.kind: spec
    for spec in (
        query.SPEC,
        insights.SPEC,
        inspirations.SPEC,
        tasks.SPEC,
        plan.SPEC,
        evidence.SPEC,
        diagnostics.SPEC,
        rubric.SPEC,
        checklist.SPEC,
        nuggets.SPEC,
        selection.SPEC,
        labels.SPEC,
    )
}
DOCUMENTS: dict[Kind, type[Document[Any]]] = {kind: spec.document for kind, spec in KINDS.items()}
# What experts write; labels are given to what they wrote.
WRITTEN = tuple(kind for kind in KINDS if kind is not Kind.LABELS)


def document_of(kind: Kind, tree: Any) -> Document[Any]:
    """The typed document of a JSON tree; pydantic's ValidationError names what does not fit."""
    return DOCUMENTS[kind].model_validate(tree)


def lint(
    document: Document[Any],
    question: str = "",
    source_text: str = "",
    language: str = "en",
    weights: Weights = USUAL,
    bar: float = BAR,
) -> list[Finding]:
    """What the guideline objects to in an artifact, errors first; pure, and quick enough to run at every key.

    `language` is the BCP 47 tag of the item: checks that know English only are silent for any other, and for
    text that is plainly not English. `weights` are those that the project allows, `bar` is the mean
    at which it keeps a question.
    """
    spec = KINDS[document.KIND]
    context = Context(
        question, source_text, english(language, (unit.text for unit in document.units)), weights, bar
    )
    found = [*_empty(spec, document), *spec.lint(document, context)]
    return sorted(found, key=lambda finding: finding.level != "error")


def _empty(spec: KindSpec, document: Document[Any]) -> Iterator[Finding]:
    if not document.units:
        yield error("no-units", f"There is no {spec.unit} yet.", f"Add the first {spec.unit}.")
    for unit in document.units:
        if not unit.text.strip() and not getattr(unit, spec.instead or "text").strip():
            yield error(
                "empty", f"The {spec.text} is missing.", f"Write it, or remove the {spec.unit}.", unit.id
            )
