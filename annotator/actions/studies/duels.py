"""Duels of systems: wins, order effects and length effects."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, result_raters, scoring
from annotator.actions.results.result_raters import PEOPLE, ResultRater, are_people, chosen
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    P_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    chance,
    columns,
    count,
    figure,
    in_words,
    or_why,
    text,
)
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.pairs import PairOutcome, outcome
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.stats.agreement.correlation import p_of
from annotator.stats.validation.duels import (
    Duel,
    DuelRecord,
    LengthBias,
    first_slot_rate,
    flip_rate,
    length_bias,
    win_table,
)
from annotator.storage.tables import ITEM, JUDGEMENT, RESPONSE

# Where judges compare two reports; people do so blind, in one order only.
JUDGED = tuple(
    name for name, shape in PROTOCOLS.items() if shape.paired and not (shape.by_people or shape.exemplar)
)


@dataclass(frozen=True, slots=True)
class DuelPair:
    """Two systems' responses on an item, and a judge's verdicts in both orders (None: missing).

    `key` is that of the item and the run of the systems on it.
    """

    key: str
    item_id: str
    item_key: str
    a: str
    b: str
    a_first: str | None
    b_first: str | None
    outcome: PairOutcome
    asked: bool
    """Whether the judge was asked in either order."""
    a_id: str = ""
    b_id: str = ""


@dataclass(frozen=True, slots=True)
class DuelsReport:
    """The table of wins, the effects of order and length, and every pair."""

    protocol: str
    rater: ResultRater | None
    standings: tuple[DuelRecord, ...]
    win_rates: Mapping[str, Estimate]
    flip_rate: Estimate
    first_slot_rate: Estimate
    lengths: Mapping[str, float]
    length_bias: LengthBias | None
    never_asked: int
    pairs: tuple[DuelPair, ...] = field(default=())


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """What the view lets choose: whose judgements, and of what was asked where that may differ."""
    several = len(JUDGED) > 1
    asked = ViewChoice("protocol", "Asked", tuple((PROTOCOLS[name].title, name) for name in JUDGED))
    found = {name: response_scores.rater_choice(project, name) for name in JUDGED}
    whose = [
        ViewChoice(
            one.name,
            one.words,
            tuple(value for value in one.values if not are_people(value[1])),
            only_if=("protocol", (name,)) if several else None,
        )
        for name, one in found.items()
    ]
    cuts = response_scores.cut_choices(project)
    return (asked, *whose, *cuts) if several else (*whose, *cuts)


def report(
    project: Project, judge: str = "", protocol: str = JUDGED[0], mode: str = "", among: str = ""
) -> DuelsReport:
    """A judge's comparisons of every two responses on an item in the same run, in one mode: that of the results.

    A judge asked several times counts by what its trials come to; `biases` counts all.
    A pair that was not judged in both orders is missing, also when nobody was asked. People compare blind and in one
    order only; what they say is compared with scores in `preferences`.
    """
    judges = (one for one in result_raters.raters(project, protocol) if one.id != PEOPLE)
    rater = chosen(judges, judge)
    met = list(_pairs(project, protocol, rater.id, 0, mode, among)) if rater else []
    duels = [Duel(pair.key, pair.a, pair.b, pair.a_first, pair.b_first, pair.item_id) for pair in met]
    standings, lengths = win_table(duels), response_scores.mean_lengths(project, mode, among)
    rates = {row.system: row.win_rate for row in standings}
    known = {system: rate.value for system, rate in rates.items() if system in lengths}
    return DuelsReport(
        protocol,
        rater,
        tuple(standings),
        rates,
        flip_rate(duels),
        first_slot_rate(duels),
        lengths,
        length_bias(lengths, known) if rates else None,
        sum(not pair.asked for pair in met),
        tuple(met),
    )


def pairs(project: Project, protocol: str, rater_id: str, trial: int = 1) -> list[DuelPair]:
    """Each two rivals on an item once, by name of system, at one trial of the judge's; runs are distinguished."""
    return list(_pairs(project, protocol, rater_id, trial))


def trials(project: Project, protocol: str, rater_id: str) -> list[int]:
    j = JUDGEMENT.c
    question = (
        select(j.trial).where(j.protocol == protocol, j.rater_id == rater_id).distinct().order_by(j.trial)
    )
    with project.store.read() as db:
        return list(db.execute(question).scalars())


def _pairs(
    project: Project, protocol: str, rater_id: str, trial: int, mode: str = "", among: str = ""
) -> Iterator[DuelPair]:
    names, items = response_scores.systems_named(project), response_scores.items_named(project, among)
    j, r = JUDGEMENT.c, RESPONSE.c
    said_by = select(j.response_id, j.unit_id, j.value, j.status).where(
        j.protocol == protocol, j.rater_id == rater_id, *([j.trial == trial] if trial else [])
    )
    responses = select(r.id, r.item_id, r.system_id, r.trial).where(
        r.item_id.in_(select(ITEM.c.id).where(response_scores.in_use(among))),
        r.mode == (mode or scoring.main_mode(project)),
    )
    trials: dict[tuple[str, str], list[str]] = defaultdict(list)
    rivals: dict[tuple[str, int], list[tuple[str, str]]] = defaultdict(list)
    with project.store.read() as db:
        for first, second, value, status in db.execute(said_by):
            trials[first, second] += [value] if status == Status.OK.value else []
        for id_, item_id, system_id, run in db.execute(responses):
            rivals[item_id, run].append((names[system_id], id_))
    said = {pair: PROTOCOLS[protocol].scale.agreed(values) for pair, values in trials.items()}
    places = {item_id: place for place, item_id in enumerate(items)}
    for (item_id, run), members in sorted(rivals.items(), key=lambda one: (places[one[0][0]], one[0][1])):
        for (a, a_id), (b, b_id) in combinations(sorted(members), 2):
            orders = said.get((a_id, b_id)), said.get((b_id, a_id))
            asked = (a_id, b_id) in said or (b_id, a_id) in said
            yield DuelPair(
                f"{item_id}/{run}",
                item_id,
                items[item_id].key,
                a,
                b,
                *orders,
                outcome(*orders),
                asked,
                a_id,
                b_id,
            )


# What an outcome is to the first of two systems, and the state of the work that it looks like.
WORDS = {
    PairOutcome.WIN: "{a} wins",
    PairOutcome.LOSS: "{b} wins",
    PairOutcome.TIE: "a tie",
    PairOutcome.INCONSISTENT: "the order decides",
    PairOutcome.ERROR: "missing",
}
STATES = {PairOutcome.INCONSISTENT: "disagree", PairOutcome.ERROR: "missing"}


def sheets(found: DuelsReport) -> tuple[ResultSheet, ...]:
    """The table of wins, how far order and length decide, and the pairs behind it."""
    if not found.standings:
        return ()
    return (_standings(found), _biases(found), _list(found))


def _standings(found: DuelsReport) -> ResultSheet:
    heads = columns(
        SYSTEM_COLUMN,
        (
            "win_rate",
            "Win rate",
            "Wins / comparisons judged in both orders, with Wilson's 95 % interval over items (Table 7)",
        ),
        ("wins", "Wins", "In both orders"),
        ("tie", "Ties", "No win in both orders for either: as the win rate counts them"),
        ("losses", "Losses", "In both orders"),
        ("ties", "Tie in both", "Of the ties, those in both orders"),
        ("order_decides", "Order decides", "Of the ties, those whose verdict changes with the order"),
        ("missing", "Missing", "Not judged in both orders; never counted as a tie"),
        ("mean_length", "Mean length", "Mean length of its reports in characters"),
    )
    lines = [
        SheetLine((
            text(row.system), _rate(found, row.system), count(row.win), count(row.tie + row.inconsistent),
            count(row.loss), count(row.tie), count(row.inconsistent), count(row.error),
            count(found.lengths.get(row.system), form=",.0f"),
        ))
        for row in found.standings
    ]  # fmt: skip
    return ResultSheet(
        "wins", "Table of wins", heads, tuple(lines), tuple(_told(found)), tuple(_pictures(found))
    )


def _biases(found: DuelsReport) -> ResultSheet:
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
    heads = columns(("figure", "Figure"), ("value", "Value"), P_COLUMN, ("of", "Of what"))
    correlated = ("Pearson's r", "Spearman's ρ")
    lines = tuple(
        SheetLine((text(name), figure(own), chance(p_of(own) if name in correlated else None), text(of)))
        for name, of, own in rows
    )
    return ResultSheet("biases", "Order and length", heads, lines)


def _rate(found: DuelsReport, system: str) -> SheetCell:
    return replace(figure(found.win_rates[system]), metric=PROTOCOLS[found.protocol].metrics[0].name)


def _pictures(found: DuelsReport) -> Iterator[SheetPicture]:
    judge = f", judged by {found.rater.name}" if found.rater else ""
    rates, title = list(found.win_rates.items()), f"Win rate{judge}"
    axis = "wins / comparisons judged in both orders, Wilson's 95 % interval over items"
    yield SheetPicture("wins", title, partial(result_pictures.shares, rates, title, axis))
    points = [
        result_pictures.PicturePoint(name, found.lengths[name], rate.value, low=rate.low, high=rate.high)
        for name, rate in rates
        if rate.value is not None and name in found.lengths
    ]
    title = f"Win rate against mean length{judge}"
    yield SheetPicture(
        "length", title, partial(result_pictures.plane, title, points, "Mean length, characters", "Win rate")
    )
    systems = [name for name, _ in rates]
    title = f"Wins of each system (down) over each other (across){judge}"
    yield SheetPicture("duels", title, partial(result_pictures.duels, title, systems, _duels(found)))


def _duels(found: DuelsReport) -> dict[tuple[str, str], float | None]:
    """Of each two systems, the share of their comparisons judged in both orders that the first one wins."""
    won, met = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for pair in found.pairs:
        if pair.outcome is not PairOutcome.ERROR:
            met[pair.a, pair.b] += 1
            met[pair.b, pair.a] += 1
            won[pair.a, pair.b] += pair.outcome is PairOutcome.WIN
            won[pair.b, pair.a] += pair.outcome is PairOutcome.LOSS
    return {pair: won[pair] / times for pair, times in met.items()}


def _told(found: DuelsReport) -> Iterator[str]:
    judge = found.rater.name if found.rater else ""
    yield f"Judged by {judge}: {counted(len(found.pairs), 'pair')}, each in both orders."
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


def _list(found: DuelsReport) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, ("first", "First system"), ("second", "Second system"), ("outcome", "Outcome"),
        ("in_this_order", "Shown in this order"), ("in_the_other_order", "Shown the other way round"),
    )  # fmt: skip
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
        lines.append(SheetLine(cells, item_id=pair.item_id, source=_source(found, pair)))
    return ResultSheet("pairs", "Every pair", heads, tuple(lines))


def _source(found: DuelsReport, pair: DuelPair) -> FigureSource | None:
    if found.rater is None or not pair.asked:
        return None
    return FigureSource(
        found.protocol, found.rater.id, item_id=pair.item_id, response_id=pair.a_id, unit_id=pair.b_id
    )


def _named(value: str | None, first: str, second: str) -> str:
    """A verdict by the name of the system that it is for."""
    return {"first": first, "second": second, "tie": "tie", None: "missing"}[value]
