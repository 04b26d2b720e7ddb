"""ADRA reasoning: a report must let its reader distinguish true statements from false ones (§3.3, appendix F).

The judge has nothing but the report, and calls each statement true, false or cannot-tell.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import (
    Case,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Target,
    Value,
    ValueLook,
    Verdicts,
    nominal,
)
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.diagnostics import Statement
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.adra import counts
from annotator.protocols.adra.counts import CountFigure, CountTally, estimate
from annotator.protocols.merging import at_least, by_passages
from annotator.protocols.several import ModelReply, QuotingReply, UnitQuestion, Word, missing_notes

NAME = "adra.reasoning"

DEPARTURES = (
    "The judge may say that it cannot tell; the paper does not say how a report that is silent on a statement is "
    "counted. Both readings are given. Strict (the default): silence is never correct, and on a false statement no "
    "false positive either, so the four counts of appendix F need not add up to all statements. Silence as false: a "
    "statement that the report does not settle counts as called false, which is what the gold label means where the "
    "source is silent; with it the four counts add up.",
    "The judge reads the report alone: not the question, not the paper, not the gold label, not the aspect.",
    "A true or a false must quote the report; a quote that is not found there is flagged for people, and the verdict "
    "stands.",
    "The paper's printed tables do not fit its formulas: counted over all statements, of which 64.71 % are true "
    "(appendix H.1), precision 61.59 and recall 40.22 allow an accuracy of at most 45.09; 59.18 is printed (Table 2, "
    "OpenAI, Avg.).",
)

# Appendix F: the counts and their figures.


@dataclass(frozen=True, slots=True)
class TruthCounts(CountTally):
    """Counts of judged statements. Predicted are those called true, gold those that are true; `correct` = TP + TN."""

    correct: int
    statements: int


def accuracy(tally: CountTally) -> float | None:
    """(TP + TN) / all statements."""
    if not isinstance(tally, TruthCounts):
        raise TypeError("an accuracy is of statements")
    return tally.correct / tally.statements if tally.statements else None


ACCURACY = CountFigure("accuracy", "accuracy", "(TP + TN) / all", accuracy, "no statement was judged")
PRECISION = replace(counts.PRECISION, undefined="no statement was said to be true")
RECALL = replace(counts.RECALL, undefined="no statement is true")
F1 = replace(counts.F1, undefined="no statement is true and none was said to be")

# A gold label and a rater's value of the statement, None if that is missing.
Pair = tuple[bool, str | None]

PROMPTS = ("adra.reasoning", "adra.reasoning.together")
TRUE, FALSE, CANNOT_TELL = "true", "false", "cannot-tell"


@dataclass(frozen=True, slots=True)
class StatementReading:
    """A way to count statements on which a report is silent, with the names of its metrics and its meaning."""

    prefix: str
    title: str
    silence: str
    """The value that cannot-tell counts as."""
    meaning: str


STRICT = StatementReading(
    "reasoning",
    "",
    CANNOT_TELL,
    "*Strict* (the default): cannot-tell is never correct and is no prediction.",
)
SILENCE_AS_FALSE = StatementReading(
    "reasoning_silence",
    "silence as false",
    FALSE,
    "*Silence as false*: cannot-tell counts as called false, since the gold label is False also where the source is "
    "silent.",
)


def count(pairs: Sequence[Pair], reading: StatementReading = STRICT) -> TruthCounts:
    """The counts of the judged statements, in one reading; ValueError on another value."""
    known = [(label, _read(value, reading)) for label, value in pairs if value is not None]
    tp = sum(label and value == TRUE for label, value in known)
    tn = sum(not label and value == FALSE for label, value in known)
    predicted, gold = sum(value == TRUE for _, value in known), sum(label for label, _ in known)
    return TruthCounts(predicted, tp, gold, tp, correct=tp + tn, statements=len(known))


def _read(value: str, reading: StatementReading) -> str:
    if value not in (TRUE, FALSE, CANNOT_TELL):
        raise ValueError(f"a statement is said to be true, false or cannot-tell, not {value!r}")
    return reading.silence if value == CANNOT_TELL else value


def score(
    figure: CountFigure, pairs: Sequence[Pair], over_valid: bool = False, reading: StatementReading = STRICT
) -> Estimate:
    """A figure of the statements of one item, in one reading; `n` counts those that were judged.

    With any missing the value is None unless `over_valid`, which gives that of the others; `floor` and `ceiling`
    bound its possible values.
    """
    method = ", ".join(filter(None, (figure.formula, reading.title)))
    if not pairs:
        return Estimate(None, method=method, note="there is no statement with a gold label")
    missing = sum(value is None for _, value in pairs)
    usable = not missing or (over_valid and missing < len(pairs))
    value = figure.of(count(pairs, reading)) if usable else None
    notes = missing_notes(missing, len(pairs), usable)
    notes += [figure.undefined] * (usable and value is None)
    could_be = [figure.of(count(filled, reading)) for filled in _extremes(pairs)]
    return estimate(
        value, could_be, n=len(pairs) - missing, missing=missing, method=method, note="; ".join(notes)
    )


def _extremes(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """The extreme ways to fill in missing values, separately for true and for false statements.

    Every figure rises with each true statement called true and falls with each false one, if it is defined; so its
    minimum and maximum are among these four.
    """
    for of_true, of_false in product((TRUE, FALSE), repeat=2):
        yield [
            (label, value if value is not None else of_true if label else of_false) for label, value in pairs
        ]


def _score(
    reading: StatementReading, figure: CountFigure, scored: RatedResponse, over_valid: bool
) -> Estimate:
    pairs = [(label, scored.values.get(unit.id)) for unit, label in _labelled(scored.material)]
    return score(figure, pairs, over_valid, reading)


def _labelled(material: Material) -> list[tuple[Statement, bool]]:
    units = material.units(Kind.DIAGNOSTICS)
    return [(unit, unit.label) for unit in units if unit.label is not None]


_MEANING = {
    ACCURACY: "Undefined when no statement has a gold label.",
    PRECISION: "Undefined when no statement is said to be true.",
    RECALL: "A true statement of which the rater cannot tell is a false negative in both readings. Undefined when no "
    "statement is true.",
    F1: "0 when nothing is said to be true though something is. Undefined when no statement is true and none is "
    "said to be.",
}


def _metric(reading: StatementReading, figure: CountFigure) -> Metric:
    definition = (
        f"`{figure.formula}` over the statements of one item (ADRA §3.3, appendix F, Eqs. 9–12). A rater who knows "
        "only the report calls each statement true, false or cannot-tell. TP: true and called true; FP: false and "
        "called true; TN: false and called false; FN: true and not called true. "
        f"{reading.meaning} {_MEANING[figure]} Statements without a gold label are left out."
    )
    title = f"Reasoning {figure.title}" + (f" ({reading.title})" if reading.title else "")
    return Metric(f"{reading.prefix}.{figure.name}", title, definition, partial(_score, reading, figure))


# Precision, recall and F1 depend only on calls of true: silence changes accuracy alone.
METRICS = (
    *(_metric(STRICT, figure) for figure in (ACCURACY, PRECISION, RECALL, F1)),
    _metric(SILENCE_AS_FALSE, ACCURACY),
)

# Section 3.3: the report is questioned, one statement at a time.


def cases(material: Material) -> Iterator[Case]:
    """One case for each statement with a decided gold label, without the fields that would reveal that label.

    Statements that come without any label, as raters receive them, are all asked about.
    """
    decided = [statement for statement, _ in _labelled(material)]
    for statement in decided or material.units(Kind.DIAGNOSTICS):
        blind = Statement(id=statement.id, text=statement.text, aspect=statement.aspect)
        yield material.case(NAME, Kind.DIAGNOSTICS, blind)


def aspect(unit: Unit) -> str:
    """The part of a paper that a statement is about; empty while undecided."""
    if not isinstance(unit, Statement):
        raise TypeError(f"{type(unit).__name__} is not a statement")
    return unit.aspect.value if unit.aspect else ""


class Told(QuotingReply, value="verdict", unquoted=(CANNOT_TELL,)):
    """What a judge replies about one statement. The evidence comes first, so that the verdict follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be true, false or cannot-tell, in exactly those letters, and "
        "nothing else. On the next line, after a true or a false, copy the passage of the report that decided it "
        "between double quotes. On the last line give your reason in one or two sentences."
    )
    verdict: Annotated[Literal["true", "false", "cannot-tell"], Word] = Field(
        description="What the report lets its reader say of the statement"
    )


class OneTold(ModelReply):
    """What a judge replies about one of several statements."""

    id: str = Field(description="The name of the listed statement, such as s1")
    told: Told = Field(description="What is said of it")

    def as_verdict(self, case: Case, flags: tuple[str, ...]) -> Verdict:
        return self.told.as_verdict(case, flags)


class Together(ModelReply):
    """What a judge replies about several statements at once."""

    answers: list[OneTold] = Field(description="One entry for each listed statement")


QUESTION = UnitQuestion(
    PROMPTS, (Told, Together), ("statement", "statements"), lambda _: {}, fenced=("report",), letter="s"
)
judge, judge_together = QUESTION.judge, QUESTION.judge_together


# No network: the floor under every judge (not in the paper).

# Half of a statement's words: there are no public verdicts to fit it to.
BASELINE_THRESHOLD = 0.5


def baseline(case: Case) -> Verdicts:
    """True if one passage of the report holds enough of the statement's terms, cannot-tell otherwise.

    It never says false: words alone cannot contradict.
    """
    return by_passages(case, "statement", at_least(BASELINE_THRESHOLD, TRUE, CANNOT_TELL), unmet=CANNOT_TELL)


REASONING = Protocol(
    name=NAME,
    title="Statements that the report settles",
    citation="ADRA, §3.3, §4.5 and appendix F",
    needs=(Kind.DIAGNOSTICS,),
    metrics=METRICS,
    scale=nominal(
        Value(TRUE, "True", "Going by the report alone, it is true", ValueLook.GOOD),
        Value(FALSE, "False", "Going by the report alone, it is false", ValueLook.BAD),
        Value(CANNOT_TELL, "Cannot tell", "The report is silent on it, or leaves it open", ValueLook.NEITHER),
    ),
    presentation=Presentation(
        "Statements",
        "Going by the report alone, is each statement true? (ADRA)",
        "statement",
        "statements",
        waits="the gold label is not decided",
        lacking=(
            "No statement has its gold label yet",
            "A statement can be labelled once its gold label is set. Set it on the Author page.",
        ),
        mended_on="Author",
    ),
    cases=cases,
    judge=judge,
    judge_together=judge_together,
    baseline=baseline,
    prompts=PROMPTS,
    facet=aspect,
    target=Target(TRUE, "verdict"),
    departures=DEPARTURES,
    floor="It never says False of a statement, since words alone cannot contradict: only true ones can be right.",
)
