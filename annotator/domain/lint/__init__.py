"""What the guidelines object to, kind by kind."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.lint import checklist, diagnostics, evidence, facts, plan, query, rubric, selection
from annotator.domain.lint.finding import Finding, error
from annotator.domain.lint.rubric import weight_shares
from annotator.domain.lint.wording import Context, english

__all__ = ["Finding", "lint", "weight_shares"]

LINTERS: dict[Kind, Callable[[Any, Context], Iterable[Finding]]] = {
    Kind.QUERY: query.findings,
    Kind.RUBRIC: rubric.findings,
    Kind.PLAN: plan.findings,
    Kind.EVIDENCE: evidence.findings,
    Kind.DIAGNOSTICS: diagnostics.findings,
    Kind.NUGGETS: facts.nuggets,
    Kind.CHECKLIST: checklist.findings,
    Kind.INSIGHTS: facts.insights,
    Kind.SELECTION: selection.findings,
}
NOUNS: dict[Kind, str] = {
    Kind.QUERY: "wording",
    Kind.RUBRIC: "criterion",
    Kind.PLAN: "sub-task",
    Kind.EVIDENCE: "reference",
    Kind.DIAGNOSTICS: "statement",
    Kind.NUGGETS: "nugget",
    Kind.CHECKLIST: "point",
    Kind.INSIGHTS: "insight",
    Kind.SELECTION: "rating",
}


def lint(
    document: Document[Any], question: str = "", source_text: str = "", language: str = "en"
) -> list[Finding]:
    """What the guideline objects to in an artifact, errors first; pure, and quick enough to run at every key.

    `language` is the BCP 47 tag of the item: checks that know English only are silent for any other, and for
    text that is plainly not English.
    """
    context = Context(question, source_text, english(language, (unit.text for unit in document.units)))
    found = [*_empty(document), *LINTERS[document.KIND](document, context)]
    return sorted(found, key=lambda finding: finding.level != "error")


def _empty(document: Document[Any]) -> Iterator[Finding]:
    noun = NOUNS[document.KIND]
    if not document.units:
        yield error("no-units", f"There is no {noun} yet.", f"Add the first {noun}.")
    for unit in document.units:
        if not unit.text.strip():
            words = "title" if document.KIND is Kind.EVIDENCE else "text"
            yield error("empty", f"The {words} is missing.", f"Write it, or remove the {noun}.", unit.id)
