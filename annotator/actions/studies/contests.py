"""What came of comparing systems in pairs: who wins, how often the order decides, and how far length does."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from sqlalchemy import select

from annotator.actions.items.items import ITEM
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, results, scoring
from annotator.actions.results.result_raters import PEOPLE, Rater, are_people, chosen
from annotator.actions.runs.journal import JUDGEMENT
from annotator.actions.sheets.result_sheets import Choice
from annotator.domain.judges.judgement import Status
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.researcherbench.contests import (
    Contest,
    LengthBias,
    Outcome,
    Standing,
    first_slot_rate,
    flip_rate,
    length_bias,
    outcome,
    win_table,
)
from annotator.protocols.researcherbench.pairwise import NAME
from annotator.storage.tables import ResponseRow, table

RESPONSE = table(ResponseRow)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two systems' responses on an item, and what a judge said of them in both orders (None: it did not come).

    `key` is that of the item and the run of the systems on it.
    """

    key: str
    item_id: str
    item_key: str
    a: str
    b: str
    a_first: str | None
    b_first: str | None
    outcome: Outcome
    asked: bool
    """Whether the judge was asked in either order."""
    a_id: str = ""
    b_id: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The table of wins, how far the order and how far length decides, and every pair."""

    rater: Rater | None
    standings: tuple[Standing, ...]
    win_rates: Mapping[str, Estimate]
    flip_rate: Estimate
    first_slot_rate: Estimate
    lengths: Mapping[str, float]
    length_bias: LengthBias | None
    never_asked: int
    pairs: tuple[Pair, ...] = field(default=())


def choices(project: Project) -> tuple[Choice, ...]:
    """What the view lets choose: whose judgements."""
    found = response_scores.rater_choice(project, NAME)
    judges = tuple(value for value in found.values if not are_people(value[1]))
    return (Choice(found.name, found.words, judges),)


def report(project: Project, judge: str = "") -> Report:
    """A judge's comparisons of every two responses on an item in the same run, in the mode that counts in the results.

    A judge asked several times counts by its first trial, as in the paper; `biases` counts all.
    A pair that was not judged in both orders is missing, also when nobody was asked. People compare blind and in one
    order only; what they say is held against scores in `preferences`.
    """
    judges = (one for one in results.raters(project, NAME) if one.id != PEOPLE)
    rater = chosen(judges, judge)
    met = pairs(project, rater.id) if rater else []
    contests = [Contest(pair.key, pair.a, pair.b, pair.a_first, pair.b_first) for pair in met]
    standings, lengths = win_table(contests), response_scores.mean_lengths(project)
    rates = {row.system: row.win_rate for row in standings}
    known = {system: rate.value for system, rate in rates.items() if system in lengths}
    return Report(
        rater,
        tuple(standings),
        rates,
        flip_rate(contests),
        first_slot_rate(contests),
        lengths,
        length_bias(lengths, known) if rates else None,
        sum(not pair.asked for pair in met),
        tuple(met),
    )


def pairs(project: Project, rater_id: str, trial: int = 1) -> list[Pair]:
    """Each two rivals on an item once, by name of system, at one trial of the judge's; runs are told apart."""
    return list(_pairs(project, rater_id, trial))


def trials(project: Project, rater_id: str) -> list[int]:
    """The trials at which a judge compared anything."""
    j = JUDGEMENT.c
    question = select(j.trial).where(j.protocol == NAME, j.rater_id == rater_id).distinct().order_by(j.trial)
    with project.store.read() as db:
        return list(db.execute(question).scalars())


def _pairs(project: Project, rater_id: str, trial: int) -> Iterator[Pair]:
    names, items = response_scores.systems_named(project), response_scores.items_named(project)
    j, r = JUDGEMENT.c, RESPONSE.c
    said_by = select(j.response_id, j.unit_id, j.value, j.status).where(
        j.protocol == NAME, j.rater_id == rater_id, j.trial == trial
    )
    responses = select(r.id, r.item_id, r.system_id, r.trial).where(
        r.item_id.in_(select(ITEM.c.id).where(ITEM.c.retired.is_(False))),
        r.mode == scoring.main_mode(project),
    )
    said: dict[tuple[str, str], str | None] = {}
    rivals: dict[tuple[str, int], list[tuple[str, str]]] = defaultdict(list)
    with project.store.read() as db:
        for first, second, value, status in db.execute(said_by):
            said[first, second] = value if status == Status.OK.value else None
        for id_, item_id, system_id, run in db.execute(responses):
            rivals[item_id, run].append((names[system_id], id_))
    places = {item_id: place for place, item_id in enumerate(items)}
    for (item_id, run), members in sorted(rivals.items(), key=lambda one: (places[one[0][0]], one[0][1])):
        for (a, a_id), (b, b_id) in combinations(sorted(members), 2):
            orders = said.get((a_id, b_id)), said.get((b_id, a_id))
            asked = (a_id, b_id) in said or (b_id, a_id) in said
            yield Pair(
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
