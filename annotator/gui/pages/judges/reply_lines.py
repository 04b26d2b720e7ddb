"""Qt models of judgements and the calls behind them."""

from collections.abc import Sequence

from annotator.actions.runs.judgement_replies import Reply
from annotator.actions.runs.run_judgements import JudgementLine
from annotator.actions.validation.judge_comparing import RaterDifference
from annotator.domain.texts.moments import local
from annotator.gui.review.judge_words import STATUS_WORDS, flag_words, spent, value_look, value_words
from annotator.gui.tables.cells import Column


def _flags(line: JudgementLine) -> str:
    return ", ".join(map(flag_words, line.flags))


LINES: Sequence[Column[JudgementLine]] = (
    Column("Item", lambda line: line.item_key, 48, fitted=True),
    Column("System", lambda line: line.system, 124),
    Column("Asked about", lambda line: line.unit, 150),
    Column(
        "Verdict",
        lambda line: value_words(line.protocol, line.value, line.status),
        150,
        tip=lambda line: line.cause or value_words(line.protocol, line.value, line.status),
        look=lambda line: value_look(line.protocol, line.value),
    ),
    Column("Flags", _flags, 130, look=lambda line: ("flag", "state-unconfirmed") if line.flags else None),
    Column("Trial", lambda line: str(line.trial), 44, number=True),
)
CALLS: Sequence[Column[Reply]] = (
    Column("At", lambda reply: f"{local(reply.at):%H:%M:%S}", 74),
    Column(
        "Result",
        lambda reply: "Readable" if reply.call.status == "ok" else STATUS_WORDS.get(reply.call.status, ""),
        130,
        look=lambda reply: (
            ("check", "state-agreed") if reply.call.status == "ok" else ("question", "state-missing")
        ),
    ),
    Column("Tries", lambda reply: str(reply.call.attempts), 48, number=True),
    Column("Cost", lambda reply: spent(reply.call.bill_usd, 1), 78, number=True),
    Column("Reply", lambda reply: reply.call.raw or reply.call.cause, 180),
)
DIFFERENCES: Sequence[Column[RaterDifference]] = (
    Column("Item", lambda one: one.item_key, 48, fitted=True),
    Column("System", lambda one: one.system, 110),
    Column("Asked about", lambda one: one.unit, 220),
    Column(
        "First",
        lambda one: value_words(one.protocol, one.value_a),
        90,
        look=lambda one: value_look(one.protocol, one.value_a),
    ),
    Column("Why", lambda one: one.why_a, 150),
    Column(
        "Second",
        lambda one: value_words(one.protocol, one.value_b),
        90,
        look=lambda one: value_look(one.protocol, one.value_b),
    ),
    Column("Why", lambda one: one.why_b, 150),
)
