"""Gold plans: the ordered sub-tasks that lead to a good report."""

import re
from collections.abc import Iterator, Sequence

from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    count_band,
    echoes,
    marked,
    near_duplicates,
    phrases,
    warning,
    word_band,
)


class Subtask(Unit):
    """A step of a gold plan: one complete sentence of 8 to 20 words."""


class Plan(Document[Subtask], kind=Kind.PLAN):
    """5 to 10 sub-tasks, from motivation to conclusion (ADRA §4)."""


SUBTASKS = (5, 10)
WORDS = (8, 20)
# A stand-alone number: 0.85, 12 %, 3,000. Not a name (GPT-4, CO2, 3D), not a year, not a numbering.
_FIGURE = re.compile(
    r"(?<![\w.,/–-])(?!(?:1[5-9]|20)\d\d\b(?!\s*%))(?!\d+[.)]\s)\d+(?:[.,]\d+)*(?:\s*%|(?![\w/-]))"
)
_SENTENCE = re.compile(r"\W*[A-Z0-9].*[.!]\W*$", re.DOTALL)
_BEGINNING = (
    r"motivat\w*|background|context\w*|challeng\w*|problems?|gaps?|needs?|limitation\w*|importance|why|introduc\w*|"
    r"defin\w*|scope|review\w*|survey\w*|identif\w*|establish\w*|investigat\w*|understand\w*|explor\w*|explain\w*|"
    r"examin\w*|overview|outline|state of the art|literature|clarif\w*|summari[sz]e\w*"
)
_END = (
    r"conclu\w*|summar\w*|synthes\w*|implication\w*|future|discuss\w*|recommend\w*|limitation\w*|outlook|contribution\w*|"
    r"findings?|results?|insights?|assess\w*|evaluat\w*|compar\w*|perspectives?|directions?|integrat\w*|propos\w*"
)


def findings(plan: Plan, context: Context) -> Iterator[Finding]:
    """Every finding on a plan (ADRA §4.3)."""
    units = [unit for unit in plan.units if unit.text.strip()]
    yield from count_band(units, *SUBTASKS, "sub-tasks")
    for unit in units:
        yield from word_band(unit, *WORDS)
    yield from marked(
        "low-level-number",
        _FIGURE,
        units,
        "“{found}” is a low-level detail.",
        "Keep to the goal; figures belong in the report.",
    )
    yield from near_duplicates(units, "sub-task")
    yield from echoes(units, context.question)
    if context.english:
        for unit in units:
            if not _SENTENCE.match(unit.text):
                yield warning(
                    "sentence",
                    "This is not a complete sentence.",
                    "Begin with a capital letter and end with a full stop.",
                    unit.id,
                )
        yield from _course(units)


def _course(units: Sequence[Unit]) -> Iterator[Finding]:
    """Warnings unless a plan of sufficient length opens with the motivation and closes with a conclusion."""
    if len(units) < SUBTASKS[0]:
        return
    if not any(phrases(_BEGINNING).search(unit.text) for unit in units[:2]):
        yield warning(
            "no-motivation",
            "The plan does not open with the motivation.",
            "Begin with the problem and why it matters.",
        )
    if not any(phrases(_END).search(unit.text) for unit in units[-2:]):
        yield warning(
            "no-conclusion", "The plan does not close with a conclusion.", "End with what the findings mean."
        )


SPEC = KindSpec(
    Plan,
    title="Plan",
    unit="sub-task",
    units="sub-tasks",
    what="A gold plan is the list of sub-tasks, in order, that lead from the motivation to the conclusion of a "
    "good report.",
    prompt="One sub-task, as a full sentence of 8 to 20 words.",
    table="subtasks",
    lint=findings,
    ordered=True,
    order_measured=True,
)
