"""Table of the judgements behind a figure."""

from collections.abc import Sequence

from annotator.actions.results.results_behind import JudgementBehind
from annotator.gui.review.judge_words import value_look, value_words
from annotator.gui.tables.cells import Column


def verdict(line: JudgementBehind) -> str:
    """A judgement's value, or why there is none, in a word or two."""
    said = line.judgement
    # Of a pair the one that is better, by name.
    named = {"first": line.system, "second": line.unit}
    return named.get(said.value or "") or value_words(said.protocol, said.value, said.status)


JUDGEMENTS: Sequence[Column[JudgementBehind]] = (
    Column("Item", lambda line: line.item_key, 60, tip=lambda line: line.question),
    Column("System", lambda line: line.system, 120),
    Column(
        "Verdict", verdict, 110, look=lambda line: value_look(line.judgement.protocol, line.judgement.value)
    ),
    Column("Asked about", lambda line: line.unit, 300),
    Column("Weight", lambda line: f"{line.weight:g}", 66),
    Column("By", lambda line: line.rater, 100),
    Column("Why", lambda line: line.judgement.rationale or line.judgement.cause, 120),
)
