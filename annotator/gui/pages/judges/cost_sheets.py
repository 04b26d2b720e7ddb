"""Cost tables: a line per purpose, judge, run, question, system or unit."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from annotator.actions.judging.judge_costs import Cost, total
from annotator.actions.judging.judge_offers import title
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    columns,
    count,
    text,
)
from annotator.domain.texts.counting import counted, usd
from annotator.gui.review.judge_words import spent

UNIT, QUESTION, SYSTEM, JUDGE = "criterion", "question", "system", "judge"
PURPOSE, RUN = "purpose", "run"
# What costs are told by, in words.
BY: Mapping[str, str] = {
    UNIT: "Criterion or other unit",
    QUESTION: "Question",
    SYSTEM: "System",
    JUDGE: "Judge",
    PURPOSE: "Purpose",
    RUN: "Run",
}
COST = (
    "US dollars for all calls, including failed and repeated ones, at the prices on the day of the call. "
    "If several judgements share a call, because units were asked together or a reply was reused, its cost "
    "is split evenly. Costs that belong to no single question, system or criterion (drift checks, attacks, "
    "extraction, test calls) have their own row. An interrupted request counts at the typical cost of its "
    "run."
)
EACH = "Cost divided by the number of judgements with known cost."
UNKNOWN = (
    "Judgements from a call of unknown cost: its model has no price in the table, or the server did not "
    "report tokens. Unknown is never zero: the total is a lower bound."
)
JUDGEMENTS = "Judgements from a call, with or without a verdict."
# The columns of money and of what it was for, after those that name a line.
FIGURES = (
    ("protocol", "What it judged"),
    ("judgements", "Judgements", JUDGEMENTS),
    ("cost_usd", "Cost", COST),
    ("each_usd", "A judgement", EACH),
    ("unpriced", "Cost unknown", UNKNOWN),
)
HEADS: Mapping[str, tuple[tuple[str, str], ...]] = {
    UNIT: (("item", "Item"), ("unit", "Asked about")),
    QUESTION: (("item", "Item"), ("question", "Question")),
    SYSTEM: (("system", "System"),),
    JUDGE: (("judge", "Judge"),),
    PURPOSE: (("purpose", "Purpose"),),
    RUN: (("run", "Run"),),
}


def sheet(by: str, found: Sequence[Cost], words: Mapping[tuple[str, str, str], str]) -> ResultSheet:
    """Costs by one of `BY`, the dearest first; `words` says what (item's key, protocol, unit) or (item's key) means."""
    heads: tuple[SheetColumn, ...] = columns(*HEADS[by], *FIGURES)
    lines = tuple(SheetLine((*_named(by, one, words), *_figures(one)), unit_id=one.name) for one in found)
    return ResultSheet("costs", f"Costs by {BY[by].casefold()}", heads, lines, told(found))


def _named(by: str, one: Cost, words: Mapping[tuple[str, str, str], str]) -> tuple[SheetCell, ...]:
    if not one.name or by == RUN:
        return tuple(text(said) for said in (replace(one, protocol="").words(by), "")[: len(HEADS[by])])
    if by == UNIT:
        said = words.get((one.item, one.protocol, one.name), one.name)
        return text(one.item), text(said, said)
    if by == QUESTION:
        said = " ".join(words.get((one.name, "", ""), "").split())
        return text(one.name), text(said, said)
    return (text(one.name),)


def _figures(one: Cost) -> tuple[SheetCell, ...]:
    known = one.judgements - one.unpriced if one.judgements else 0
    each = one.cost_usd / known if one.cost_usd is not None and known else None
    rest = f"the cost of {one.unpriced:,} is not known" if one.unpriced else "the cost of all is known"
    guess = f"; {one.guessed:,} requests without an answer count at the usual cost" if one.guessed else ""
    tip = f"{counted(one.judgements, 'judgement')}; {rest}{guess}."
    return (
        text(title(one.protocol)),
        count(one.judgements),
        _money(one.cost_usd, spent(one.cost_usd, 1, one.unpriced), tip),
        _money(each, usd(each) if each is not None else "–", tip),
        SheetCell(
            f"{one.unpriced:,}", one.unpriced, state="incomplete" if one.unpriced else "", value=one.unpriced
        ),
    )


def _money(amount: float | None, words: str, tip: str) -> SheetCell:
    return SheetCell(words, amount, tip, "missing" if amount is None else "", value=amount)


def told(found: Sequence[Cost]) -> tuple[str, ...]:
    """What all lines come to together."""
    judgements, unpriced = (sum(getattr(one, name) for one in found) for name in ("judgements", "unpriced"))
    if not found:
        return ("This had no cost.",)
    whole = f"{spent(total(found), 1, unpriced)} for {counted(judgements, 'judgement')}"
    rest = f"; the cost of {unpriced:,} is not known" if unpriced else ""
    return (f"Together {whole}{rest}. The cost of a shared call is split evenly.",)
