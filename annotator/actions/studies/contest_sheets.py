"""How comparisons in pairs are set out: the table of wins with what must be said of it, and every pair."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from annotator.actions.results import result_pictures
from annotator.actions.sheets.result_sheets import (  # fmt: skip
    Cell,
    Line,
    Picture,
    Sheet,
    Source,
    columns,
    count,
    figure,
    in_words,
    or_why,
    text,
)
from annotator.actions.studies.contests import Pair, Report
from annotator.domain.texts.counting import counted
from annotator.protocols.researcherbench.contests import Outcome
from annotator.protocols.researcherbench.pairwise import NAME

# What an outcome is to the first of two systems, and the state of the work that it looks like.
WORDS = {
    Outcome.WIN: "{a} wins",
    Outcome.LOSS: "{b} wins",
    Outcome.TIE: "a tie",
    Outcome.INCONSISTENT: "the order decides",
    Outcome.ERROR: "missing",
}
STATES = {Outcome.INCONSISTENT: "disagree", Outcome.ERROR: "missing"}


def sheets(found: Report) -> tuple[Sheet, ...]:
    """The table of wins, how far order and length decide, and the pairs behind it."""
    if not found.standings:
        return ()
    return (_standings(found), _biases(found), _list(found))


def _standings(found: Report) -> Sheet:
    heads = columns(
        "System",
        ("Win rate", "Wins / comparisons judged in both orders, with Wilson's 95 % interval (Table 7)"),
        ("Wins", "In both orders"),
        ("Losses", "In both orders"),
        ("Ties", "A tie in both orders"),
        ("Order decides", "The verdict changes with the order; counted as a tie in the win rate"),
        ("Missing", "Not judged in both orders; never counted as a tie"),
        ("Mean length", "Mean length of its reports in characters"),
    )
    lines = [
        Line((
            text(row.system), _rate(found, row.system), count(row.win), count(row.loss), count(row.tie),
            count(row.inconsistent), count(row.error), count(found.lengths.get(row.system), form=",.0f"),
        ))
        for row in found.standings
    ]  # fmt: skip
    return Sheet("Table of wins", heads, tuple(lines), tuple(_told(found)), tuple(_pictures(found)))


def _biases(found: Report) -> Sheet:
    """How far the order and the length of reports decide, each with its interval."""
    rows = [
        ("Order decides", "Of the pairs judged in both orders, those whose verdict changes", found.flip_rate),
        ("First one named", "Of the verdicts that name a winner; one half is no bias", found.first_slot_rate),
    ]
    if found.length_bias is not None:
        of = "Of a system's mean report length and its win rate, over systems"
        bias = found.length_bias
        rows += [
            ("Pearson's r", of, bias.pearson),
            ("Spearman's ρ", of, bias.spearman),
            ("R²", of, bias.r_squared),
        ]
    lines = tuple(Line((text(name), figure(own), text(of))) for name, of, own in rows)
    return Sheet("Order and length", columns("Figure", "Value", "Of what"), lines)


def _rate(found: Report, system: str) -> Cell:
    return replace(figure(found.win_rates[system]), metric="win_rate")


def _pictures(found: Report) -> Iterator[Picture]:
    judge = f", judged by {found.rater.name}" if found.rater else ""
    rates, title = list(found.win_rates.items()), f"Win rate{judge}"
    axis = "wins / comparisons judged in both orders, Wilson's 95 % interval"
    yield Picture("wins", title, partial(result_pictures.shares, rates, title, axis))
    points = [
        result_pictures.Point(name, found.lengths[name], rate.value, low=rate.low, high=rate.high)
        for name, rate in rates
        if rate.value is not None and name in found.lengths
    ]
    title = f"Win rate against mean length{judge}"
    yield Picture(
        "length", title, partial(result_pictures.plane, title, points, "Mean length, characters", "Win rate")
    )
    systems = [name for name, _ in rates]
    title = f"Wins of each system (down) over each other (across){judge}"
    yield Picture("duels", title, partial(result_pictures.duels, title, systems, _duels(found)))


def _duels(found: Report) -> dict[tuple[str, str], float | None]:
    """Of each two systems, the share of their comparisons judged in both orders that the first one wins."""
    won, met = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for pair in found.pairs:
        if pair.outcome is not Outcome.ERROR:
            met[pair.a, pair.b] += 1
            met[pair.b, pair.a] += 1
            won[pair.a, pair.b] += pair.outcome is Outcome.WIN
            won[pair.b, pair.a] += pair.outcome is Outcome.LOSS
    return {pair: won[pair] / times for pair, times in met.items()}


def _told(found: Report) -> Iterator[str]:
    judge = found.rater.name if found.rater else ""
    yield f"Judged by {judge}: {counted(len(found.pairs), 'pair')}, each in both orders, by its first trial."
    flips = found.flip_rate
    yield (
        f"Position: the verdict changes with the order in {in_words(flips)} of the pairs; the report shown first is "
        f"named in {in_words(found.first_slot_rate)} of the verdicts that name a winner (one half is no bias)."
    )
    if found.length_bias is not None:
        bias = found.length_bias
        yield (
            f"Length and win rate over {bias.pearson.n} systems: Pearson's r {or_why(bias.pearson)}, Spearman's ρ "
            f"{or_why(bias.spearman)}, R² {or_why(bias.r_squared)}."
        )
    missing = flips.missing
    if missing:
        yield (
            f"{counted(missing, 'pair was', 'pairs were')} not judged in both orders; "
            f"of {found.never_asked:,} of them nobody was asked."
        )


def _list(found: Report) -> Sheet:
    heads = columns(
        "Item", "First system", "Second system", "Outcome", "Shown in this order", "Shown the other way round"
    )
    lines = []
    for pair in found.pairs:
        outcome = WORDS[pair.outcome].format(a=pair.a, b=pair.b)
        state = STATES.get(pair.outcome, "")
        seen = (_named(pair.a_first, pair.a, pair.b), _named(pair.b_first, pair.b, pair.a))
        cells = (
            text(pair.item_key),
            text(pair.a),
            text(pair.b),
            text(outcome, state=state),
            *map(text, seen),
        )
        lines.append(Line(cells, item_id=pair.item_id, source=_source(found, pair)))
    return Sheet("Every pair", heads, tuple(lines))


def _source(found: Report, pair: Pair) -> Source | None:
    if found.rater is None or not pair.asked:
        return None
    return Source(NAME, found.rater.id, item_id=pair.item_id, response_id=pair.a_id, unit_id=pair.b_id)


def _named(value: str | None, first: str, second: str) -> str:
    """A verdict by the name of the system that it is for."""
    return {"first": first, "second": second, "tie": "tie", None: "missing"}[value]
