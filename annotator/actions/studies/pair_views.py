"""Views of pairs: systems compared by judges in both orders, and people's blind preferences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import get_args

from sqlalchemy import and_, select

from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, scoring
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
    picture,
    text,
)
from annotator.domain.common import counted, grouped, nested
from annotator.domain.judges.contest import FIRST, SECOND, TIE, Choice as Preferred, PairOutcome, preferred
from annotator.domain.judges.judge import RaterKind, Status
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS, TAXONOMIES
from annotator.stats.agreement.levels import p_of
from annotator.stats.validation.duels import (
    OUTCOMES,
    Duel,
    ScoredPair,
    agreement,
    better,
    first_slot_rate,
    flip_rate,
    length_bias,
    win_table,
)
from annotator.storage.tables import ITEM, JUDGEMENT, RESPONSE

# The protocols by which judges compare two reports; people compare blind, in one order only.
JUDGED = tuple(
    name
    for name, protocol in PROTOCOLS.items()
    if protocol.paired and not (protocol.by_people or protocol.exemplar)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuelPair(Duel):
    """A duel of two systems' responses on an item, its `question`; `item_id` combines the item and the run on it."""

    item_key: str
    # Whether the judge was asked in either order.
    is_asked: bool
    a_id: str
    b_id: str


def duels_choices(project: Project) -> tuple[ViewChoice, ...]:
    """The view's choices: the rater, and the protocol if there are several."""
    several = len(JUDGED) > 1
    choice = ViewChoice("protocol", "Asked", tuple((PROTOCOLS[name].title, name) for name in JUDGED))
    whose = [
        replace(
            one,
            values=tuple(value for value in one.values if not result_raters.are_people(value[1])),
            only_if=("protocol", (name,)) if several else None,
        )
        for name in JUDGED
        for one in [results.rater_choice(project, name)]
    ]
    cuts = results.cut_choices(project)
    return (choice, *whose, *cuts) if several else (*whose, *cuts)


def duels(
    project: Project, judge: str = "", protocol: str = JUDGED[0], mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:
    """A judge's comparisons of every two responses on an item in the same run, in one mode: that of the results.

    A judge asked several times counts by the aggregate of its trials; `biases` counts all of them. A pair that was not
    judged in both orders is missing, even if nobody was asked. People compare blind and in one order only;
    `preferences` compares their choices with scores.
    """
    rater = result_raters.chosen(
        (one for one in result_raters.raters(project, protocol) if one.id != result_raters.PEOPLE), judge
    )
    every = list(_pairs(project, protocol, rater.id, 0, mode, among)) if rater else []
    if rater is None or not every:
        return ()
    standings, lengths = win_table(every), results.mean_lengths(project, mode, among)
    rates = {row.system: row.win_rate for row in standings}
    flips, first_named = flip_rate(every), first_slot_rate(every)
    bias = length_bias(lengths, {system: rate.value for system, rate in rates.items() if system in lengths})
    win_rate = PROTOCOLS[protocol].metrics[0].name
    return (
        ResultSheet(
            "wins",
            "Table of wins",
            WIN_COLUMNS,
            tuple(
                SheetLine((
                    text(row.system), replace(figure(row.win_rate), metric=win_rate), count(of[PairOutcome.WIN]),
                    count(of[PairOutcome.TIE] + of[PairOutcome.INCONSISTENT]),
                    *(count(of[outcome]) for outcome in (PairOutcome.LOSS, PairOutcome.TIE, PairOutcome.INCONSISTENT)),
                    count(of[PairOutcome.ERROR]), count(lengths.get(row.system), form=",.0f"),
                ))
                for row in standings for of in [row.outcomes]
            ),
            (
                f"Judged by {rater.name}: {counted(len(every), 'pair')}, each in both orders.",
                f"Position: the verdict changes with the order in {in_words(flips)} of the pairs; the report shown "
                f"first is named in {in_words(first_named)} of the verdicts that name a winner (one half is no bias).",
                f"Length and win rate over {bias['R²'].n} systems: "
                f"{', '.join(f'{name} {or_why(own)}' for name, own in bias.items())}.",
                *([f"{counted(flips.missing, 'pair was', 'pairs were')} not judged in both orders; of "
                   f"{sum(not pair.is_asked for pair in every):,} of them nobody was asked."] if flips.missing else []),
            ),
            tuple(_duels_pictures(f", judged by {rater.name}", rates, lengths, every)),
            rater=rater,
        ),
        _biases(flips, first_named, bias),
        ResultSheet(
            "pairs",
            "Every pair",
            columns(
                ITEM_COLUMN, ("first", "First system"), ("second", "Second system"), ("outcome", "Outcome"),
                ("in_this_order", "Shown in this order"), ("in_the_other_order", "Shown the other way round"),
            ),
            tuple(
                SheetLine(
                    (
                        text(pair.item_key), text(pair.a), text(pair.b),
                        text(WORDS[pair.outcome].format(a=pair.a, b=pair.b), state=STATES.get(pair.outcome, "")),
                        text(_named(pair.a_first, pair.a, pair.b)), text(_named(pair.b_first, pair.b, pair.a)),
                    ),
                    item_id=pair.question,
                    source=FigureSource(
                        protocol, rater.id, item_id=pair.question, response_id=pair.a_id, unit_id=pair.b_id
                    ) if pair.is_asked else None,
                )
                for pair in every
            ),
        ),
    )  # fmt: skip


def pairs(project: Project, protocol: str, rater_id: str, trial: int = 1) -> list[DuelPair]:
    """Each pair of rivals on an item once, by name of system, at one trial of the judge; runs are distinguished."""
    return list(_pairs(project, protocol, rater_id, trial))


def trials(project: Project, protocol: str, rater_id: str) -> list[int]:
    j = JUDGEMENT.c
    question = (
        select(j.trial).where(j.protocol == protocol, j.rater_id == rater_id).distinct().order_by(j.trial)
    )
    return list(project.query(question).scalars())


def _pairs(
    project: Project, protocol: str, rater_id: str, trial: int, mode: str = "", among: str = ""
) -> Iterator[DuelPair]:
    names, items = results.systems_named(project), results.items_named(project, among)
    j, r = JUDGEMENT.c, RESPONSE.c
    verdicts = select(j.response_id, j.unit_id, j.value, j.status).where(
        j.protocol == protocol, j.rater_id == rater_id, *([j.trial == trial] if trial else [])
    )
    responses = select(r.id, r.item_id, r.system_id, r.trial).where(
        r.item_id.in_(select(ITEM.c.id).where(results.in_use(among))),
        r.mode == (mode or scoring.main_mode(project)),
    )
    with project.store.read() as db:
        trials = grouped(
            ((first, second), value if status == Status.OK.value else None)
            for first, second, value, status in db.execute(verdicts)
        )
        rivals = grouped(
            ((item_id, run), (names[system_id], id_))
            for id_, item_id, system_id, run in db.execute(responses)
        )
    agreed = {
        pair: PROTOCOLS[protocol].scale.agreed([value for value in values if value is not None])
        for pair, values in trials.items()
    }
    places = {item_id: place for place, item_id in enumerate(items)}
    for (item_id, run), members in sorted(rivals.items(), key=lambda one: (places[one[0][0]], one[0][1])):
        for (a, a_id), (b, b_id) in combinations(sorted(members), 2):
            orders = agreed.get((a_id, b_id)), agreed.get((b_id, a_id))
            yield DuelPair(
                f"{item_id}/{run}", a, b, *orders, item_id, item_key=items[item_id].key,
                is_asked=(a_id, b_id) in agreed or (b_id, a_id) in agreed, a_id=a_id, b_id=b_id,
            )  # fmt: skip


WIN_COLUMNS = columns(
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
# The meaning of an outcome for the first of two systems, and the state of work it is shown as.
WORDS = {
    PairOutcome.WIN: "{a} wins",
    PairOutcome.LOSS: "{b} wins",
    PairOutcome.TIE: "a tie",
    PairOutcome.INCONSISTENT: "the order decides",
    PairOutcome.ERROR: "missing",
}
STATES = {PairOutcome.INCONSISTENT: "disagree", PairOutcome.ERROR: "missing"}


def _biases(flips: Estimate, first_named: Estimate, bias: Mapping[str, Estimate]) -> ResultSheet:
    of = "Of a system's mean report length and its win rate, over systems"
    rows = (
        ("Order decides", "Of the pairs judged in both orders, those whose verdict changes", flips),
        ("First one named", "Of the verdicts that name a winner; one half is no bias", first_named),
        *((name, of, own) for name, own in bias.items()),
    )
    correlated = ("Pearson's r", "Spearman's ρ")
    return ResultSheet(
        "biases",
        "Order and length",
        columns(("figure", "Figure"), ("value", "Value"), P_COLUMN, ("of", "Of what")),
        tuple(
            SheetLine((text(name), figure(own), chance(p_of(own) if name in correlated else None), text(of)))
            for name, of, own in rows
        ),
    )


def _duels_pictures(
    judge: str, rates: Mapping[str, Estimate], lengths: Mapping[str, float], duel_pairs: Sequence[DuelPair]
) -> Iterator[SheetPicture]:
    yield picture(
        "wins",
        f"Win rate{judge}",
        pictures.intervals,
        list(rates.items()),
        "wins / comparisons judged in both orders, Wilson's 95 % interval over items",
    )
    points = [
        pictures.PicturePoint(name, lengths[name], rate.value, low=rate.low, high=rate.high)
        for name, rate in rates.items()
        if rate.value is not None and name in lengths
    ]
    yield picture(
        "length",
        f"Win rate against mean length{judge}",
        pictures.plane,
        points,
        "Mean length, characters",
        "Win rate",
    )
    yield picture(
        "duels",
        f"Wins of each system (down) over each other (across){judge}",
        pictures.heat,
        list(rates),
        list(rates),
        _duels(duel_pairs),
        (0.0, 1.0),
    )


def _duels(duel_pairs: Sequence[DuelPair]) -> dict[tuple[str, str], float | None]:
    """For every two systems, the share of their comparisons judged in both orders that the first one wins."""
    won, times = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for pair in duel_pairs:
        if pair.outcome is not PairOutcome.ERROR:
            times[pair.a, pair.b] += 1
            times[pair.b, pair.a] += 1
            won[pair.a, pair.b] += pair.outcome is PairOutcome.WIN
            won[pair.b, pair.a] += pair.outcome is PairOutcome.LOSS
    return {pair: won[pair] / many for pair, many in times.items()}


def _named(value: str | None, first: str, second: str) -> str:
    """A verdict as the name of the system it favours."""
    return {"first": first, "second": second, "tie": "tie", None: "missing"}[value]


# The respects in which people compare reports besides the whole.
RESPECTS = tuple(one for one in TAXONOMIES.values() if one.beside)
# The protocols by which people compare two reports blind.
PAIRED = tuple(name for name, protocol in PROTOCOLS.items() if protocol.paired and not protocol.exemplar)


@dataclass(frozen=True, slots=True)
class HumanPreference:
    """A person's blind comparison of two reports on an item; None if missing or unsure."""

    item_id: str
    item_key: str
    person: str
    first_id: str
    second_id: str
    first: str
    second: str
    preferred: Preferred | None


def preferences_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the rater whose scores are used, and of the metric whose pairs are listed."""
    return (results.rater_choice(project), results.metric_choice(project))


def preferences(
    project: Project, judge: str = "", metric: str = scoring.USUAL_METRIC
) -> tuple[ResultSheet, ...]:
    """For each quality metric not based on comparisons, how often people prefer blind the report with the better score.

    Then people's choices in each respect, and every pair by one of the metrics.
    """
    compared = list(_preferences(project))
    infos = [info for info in scoring.qualities(project) if info.protocol not in PAIRED] if compared else []
    values = {info.name: _values(project, info.name, judge) for info in infos}
    known = {name: row for name, row in values.items() if any(value is not None for value in row.values())}
    if not known:
        return ()
    agreements = {
        name: agreement(_pair(preference, row) for preference in compared) for name, row in known.items()
    }
    listed = metric if metric in known else next(iter(known))
    return (
        ResultSheet(
            "agreement",
            "Scores against people's preferences",
            columns(
                ("metric", "Metric"),
                ("agreement", "Agreement",
                 "Agreed / (agreed + disagreed), with Wilson's 95 % interval over items; ties are counted apart"),
                ("agreed", "Agreed"), ("disagreed", "Disagreed"),
                ("scores_tie", "Scores tie", "People preferred one, the scores see no difference"),
                ("people_tie", "People tie", "The scores differ, people see no difference"), ("both_tie", "Both tie"),
                ("left_out", "Left out", "No preference was given, or a score is undefined or incomplete"),
            ),
            tuple(
                SheetLine((
                    text(scoring.named(name).title), figure(share), *(count(outcomes[one]) for one in OUTCOMES),
                ))
                for name, (share, outcomes) in agreements.items()
            ),
            (f"{len(compared):,} blind comparisons by people; chance agrees with one half of those without ties.",),
            (
                picture(
                    "agreement",
                    "How often people prefer the report with the better score",
                    pictures.intervals,
                    [(scoring.named(name).title, share) for name, (share, _) in agreements.items()],
                    "agreed / (agreed + disagreed), Wilson's 95 % interval over items",
                ),
            ),
        ),
        *_respects(project),
        _preferences_list(scoring.named(listed).title, compared, known[listed]),
    )  # fmt: skip


def _beside(project: Project, respect: Taxonomy) -> Counter[str]:
    """How often people's choice in one respect was the same as overall, another one, or a tie."""
    condition, whole = counted_rows("said"), counted_rows("whole")
    same = [condition.c[name] == whole.c[name] for name in ("rater_id", "response_id", "unit_id", "trial")]
    question = select(condition.c.value, whole.c.value).join(whole, and_(whole.c.protocol == respect.of, *same)).where(
        condition.c.protocol == respect.name, *(one.c.status == Status.OK.value for one in (condition, whole)),
    )  # fmt: skip
    with project.store.read() as db:
        return Counter(
            "same" if value == overall else "tie" if value == TIE else "other"
            for value, overall in db.execute(question)
        )


def _values(project: Project, metric: str, judge: str) -> dict[str, float | None]:
    """The score of each response; None while a judgement of it is missing."""
    return {
        score.response_id: score.estimate.value if not score.estimate.missing else None
        for score in results.of_metric(project, metric, judge).scores
    }


def _pair(preference: HumanPreference, scores: Mapping[str, float | None]) -> ScoredPair:
    return ScoredPair(
        scores.get(preference.first_id),
        scores.get(preference.second_id),
        preference.preferred,
        preference.item_id,
    )


def _preferences(project: Project) -> Iterator[HumanPreference]:
    """Each pair that a person compared, once, as they first saw it; both orders together make one preference."""
    items, systems = results.items_named(project), results.systems_named(project)
    names = {person.id: person.alias for person in people.people(project)}
    places = {item_id: place for place, item_id in enumerate(items)}
    for (item_id, rater, _), orders in sorted(
        _preference_votes(project).items(), key=lambda one: places.get(one[0][0], -1)
    ):
        if item_id not in items:
            continue
        first, second = next(iter(orders))
        result = preferred(orders[first, second][0], orders.get((second, first), (None,))[0])
        of_first, of_second = orders[first, second][1:]
        who = names.get(rater, rater)
        yield HumanPreference(
            item_id, items[item_id].key, who, first, second, systems[of_first], systems[of_second], result
        )


# Item, person, both responses → in the order they were shown: the verdict, and the systems.
Orders = dict[tuple[str, str], tuple[str | None, str, str]]


def _preference_votes(project: Project) -> dict[tuple[str, str, frozenset[str]], Orders]:
    j, first, second = counted_rows().c, RESPONSE.alias("first"), RESPONSE.alias("second")
    question = (
        select(
            j.item_id, j.rater_id, j.value, j.status, first.c.id, second.c.id, first.c.system_id, second.c.system_id
        )
        .join(first, first.c.id == j.response_id)
        .join(second, second.c.id == j.unit_id)
        .where(j.protocol.in_(PAIRED), j.rater_kind == RaterKind.PERSON.value, j.trial == 1)
        .order_by(j.item_id, j.at, first.c.id, second.c.id, j.rater_id)
    )  # fmt: skip
    settled = get_args(Preferred)
    with project.store.read() as db:
        return nested(
            (
                (item_id, rater, frozenset((a, b))),
                (a, b),
                (value if status == Status.OK.value and value in settled else None, one, other),
            )
            for item_id, rater, value, status, a, b, one, other in db.execute(question)
        )


def _respects(project: Project) -> Iterator[ResultSheet]:
    """People's choices in each respect, beside the overall one; empty if nobody was asked."""
    heads = columns(
        ("respect", "Respect"), ("same", "As overall", "The report that is better as a whole, or a tie in both"),
        ("other", "Otherwise"), ("tie", "No difference"), ("n", "n", "Comparisons in which it was said"),
    )  # fmt: skip
    respects = {taxonomy.title: _beside(project, taxonomy) for taxonomy in RESPECTS}
    if any(counter.total() for counter in respects.values()):
        lines = (
            SheetLine(
                (
                    text(name),
                    *(count(counter[one]) for one in ("same", "other", "tie")),
                    count(counter.total()),
                )
            )
            for name, counter in respects.items()
        )
        yield ResultSheet("respects", "Choices in each respect", heads, tuple(lines))


def _preferences_list(
    title: str, compared: Sequence[HumanPreference], scores: Mapping[str, float | None]
) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, ("person", "Person"), ("shown_first", "Shown first"), ("shown_second", "Shown second"),
        ("preferred", "Preferred"), ("score_of_first", f"{title} first"), ("score_of_second", f"{title} second"),
        ("score", "Score"),
    )  # fmt: skip
    lines = []
    for preference in compared:
        pair = _pair(preference, scores)
        named = {FIRST: preference.first, SECOND: preference.second, TIE: "neither", None: "not said"}
        cells = (
            text(preference.item_key), text(preference.person), text(preference.first), text(preference.second),
            text(named[preference.preferred]),
            figure(Estimate(pair.first)), figure(Estimate(pair.second)), _verdict(pair),
        )  # fmt: skip
        lines.append(SheetLine(cells, item_id=preference.item_id))
    return ResultSheet("pairs", f"Pairs, by {title}", heads, tuple(lines))


def _verdict(pair: ScoredPair) -> SheetCell:
    if pair.first is None or pair.second is None or pair.preferred is None:
        return text("left out", state="missing")
    scored = better(pair.first, pair.second)
    if TIE in (scored, pair.preferred):
        return text("tie")
    return text("agrees", state="agreed") if scored == pair.preferred else text("disagrees", state="disagree")
