"""Agreement of scores with people's blind preference between two reports."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import get_args

from sqlalchemy import and_, select

from annotator.actions.labelling.label_rows import counted_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import metrics, response_scores, result_pictures
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    text,
)
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.pairs import FIRST, SECOND, TIE, preferred
from annotator.domain.judges.pairs import Choice as Preferred
from annotator.domain.judges.taxonomy import Taxonomy
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, TAXONOMIES
from annotator.stats.validation.duels import PreferenceAgreement, ScoredPair, agreement, better
from annotator.storage.tables import RESPONSE

# In what respects people compare them beside the whole.
RESPECTS = tuple(one for one in TAXONOMIES.values() if one.beside)
# Where people compare two reports blind.
ASKED = tuple(name for name, shape in PROTOCOLS.items() if shape.paired and not shape.exemplar)


@dataclass(frozen=True, slots=True)
class HumanPreference:
    """A person's blind comparison of two reports on an item; None where missing or unsure."""

    item_id: str
    item_key: str
    person: str
    first_id: str
    second_id: str
    first: str
    second: str
    preferred: Preferred | None


@dataclass(frozen=True, slots=True)
class PreferencesReport:
    """By metric, how often the better score is the preferred report; `scores` are those of one metric."""

    metric: MetricInfo
    agreements: Mapping[str, PreferenceAgreement]
    compared: tuple[HumanPreference, ...]
    scores: Mapping[str, float | None] = field(repr=False)
    respects: Mapping[str, Counter[str]] = field(default_factory=dict)


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """By whose judgements scores are computed, and which metric's pairs are listed."""
    return (response_scores.rater_choice(project), response_scores.metric_choice(project))


def report(project: Project, judge: str = "", metric: str = USUAL_METRIC) -> PreferencesReport:
    """People's blind comparisons against every metric of quality that is not made of comparisons itself."""
    compared = tuple(_compared(project))
    infos = [info for info in metrics.qualities(project) if info.protocol not in ASKED] if compared else []
    values = {info.name: _values(project, info.name, judge) for info in infos}
    known = {name: row for name, row in values.items() if any(value is not None for value in row.values())}
    chosen = metric if metric in known else next(iter(known), metric)
    return PreferencesReport(
        metrics.named(chosen),
        {name: agreement(_pair(one, row) for one in compared) for name, row in known.items()},
        compared,
        known.get(chosen, {}),
        {one.title: _beside(project, one) for one in RESPECTS},
    )


def _beside(project: Project, respect: Taxonomy) -> Counter[str]:
    """How often people chose in one respect as they did overall, otherwise, or saw no difference."""
    said, whole = counted_rows("said"), counted_rows("whole")
    same = [said.c[name] == whole.c[name] for name in ("rater_id", "response_id", "unit_id", "trial")]
    question = select(said.c.value, whole.c.value).join(whole, and_(whole.c.protocol == respect.of, *same)).where(
        said.c.protocol == respect.name, *(one.c.status == Status.OK.value for one in (said, whole)),
    )  # fmt: skip
    with project.store.read() as db:
        return Counter(
            "same" if value == overall else "tie" if value == TIE else "other"
            for value, overall in db.execute(question)
        )


def _values(project: Project, metric: str, judge: str) -> dict[str, float | None]:
    """What each response scores; None while a judgement of it is missing."""
    scores = response_scores.of_metric(project, metric, judge).scores
    return {
        score.response_id: score.estimate.value if not score.estimate.missing else None for score in scores
    }


def _pair(one: HumanPreference, scores: Mapping[str, float | None]) -> ScoredPair:
    first, second = scores.get(one.first_id), scores.get(one.second_id)
    return ScoredPair(first, second, one.preferred, one.item_id)


def _compared(project: Project) -> Iterator[HumanPreference]:
    """Each pair that a person compared, once, as they saw it first; both orders together make one preference."""
    items, systems = response_scores.items_named(project), response_scores.systems_named(project)
    names = {person.id: person.alias for person in people.people(project)}
    places = {item_id: place for place, item_id in enumerate(items)}
    for (item_id, rater, _), orders in sorted(
        _said(project).items(), key=lambda one: places.get(one[0][0], -1)
    ):
        if item_id not in items:
            continue
        first, second = next(iter(orders))
        found = preferred(orders[first, second][0], orders.get((second, first), (None,))[0])
        of_first, of_second = orders[first, second][1:]
        who = names.get(rater, rater)
        yield HumanPreference(
            item_id, items[item_id].key, who, first, second, systems[of_first], systems[of_second], found
        )


# Item, person, both responses → in the order they were shown, what was said, and of which systems they are.
Orders = dict[tuple[str, str], tuple[str | None, str, str]]


def _said(project: Project) -> dict[tuple[str, str, frozenset[str]], Orders]:
    j, first, second = counted_rows().c, RESPONSE.alias("first"), RESPONSE.alias("second")
    question = (
        select(
            j.item_id, j.rater_id, j.value, j.status, first.c.id, second.c.id, first.c.system_id, second.c.system_id
        )
        .join(first, first.c.id == j.response_id)
        .join(second, second.c.id == j.unit_id)
        .where(j.protocol.in_(ASKED), j.rater_kind == RaterKind.PERSON.value, j.trial == 1)
        .order_by(j.item_id, j.at, first.c.id, second.c.id, j.rater_id)
    )  # fmt: skip
    found: dict[tuple[str, str, frozenset[str]], Orders] = {}
    with project.store.read() as db:
        for item_id, rater, value, status, a, b, *of in db.execute(question):
            said = value if status == Status.OK.value and value in get_args(Preferred) else None
            found.setdefault((item_id, rater, frozenset((a, b))), {})[a, b] = (said, of[0], of[1])
    return found


def sheets(found: PreferencesReport) -> tuple[ResultSheet, ...]:
    """Every metric's agreement with people, and the pairs with one metric's scores."""
    if not found.agreements:
        return ()
    heads = columns(
        ("metric", "Metric"),
        ("agreement", "Agreement",
         "Agreed / (agreed + disagreed), with Wilson's 95 % interval over items; ties are counted apart"),
        ("agreed", "Agreed"), ("disagreed", "Disagreed"),
        ("scores_tie", "Scores tie", "People preferred one, the scores see no difference"),
        ("people_tie", "People tie", "The scores differ, people see no difference"), ("both_tie", "Both tie"),
        ("left_out", "Left out", "No preference was given, or a score is undefined or incomplete"),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(metrics.named(name).title), figure(row.share), count(row.agreed), count(row.disagreed),
            count(row.tied_scores), count(row.tied_preferences), count(row.tied_both), count(row.left_out),
        ))
        for name, row in found.agreements.items()
    ]  # fmt: skip
    told = (
        f"{len(found.compared):,} blind comparisons by people; chance agrees with one half of those without ties.",
    )
    title = "How often people prefer the report with the better score"
    rates = [(metrics.named(name).title, row.share) for name, row in found.agreements.items()]
    axis = "agreed / (agreed + disagreed), Wilson's 95 % interval over items"
    picture = SheetPicture("agreement", title, partial(result_pictures.shares, rates, title, axis))
    return (
        ResultSheet(
            "agreement", "Scores against people's preferences", heads, tuple(lines), told, (picture,)
        ),
        *_respects(found),
        _list(found),
    )


def _respects(found: PreferencesReport) -> Iterator[ResultSheet]:
    """What people chose in each respect, beside the whole; nothing where nobody was asked."""
    heads = columns(
        ("respect", "Respect"), ("same", "As overall", "The report that is better as a whole, or a tie in both"),
        ("other", "Otherwise"), ("tie", "No difference"), ("n", "n", "Comparisons in which it was said"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((text(name), *(count(said[one]) for one in ("same", "other", "tie")), count(said.total())))
        for name, said in found.respects.items()
    )
    if any(said.total() for said in found.respects.values()):
        yield ResultSheet("respects", "Choices in each respect", heads, lines)


def _list(found: PreferencesReport) -> ResultSheet:
    title = found.metric.title
    heads = columns(
        ITEM_COLUMN, ("person", "Person"), ("shown_first", "Shown first"), ("shown_second", "Shown second"),
        ("preferred", "Preferred"), ("score_of_first", f"{title} first"), ("score_of_second", f"{title} second"),
        ("score", "Score"),
    )  # fmt: skip
    lines = []
    for one in found.compared:
        pair = _pair(one, found.scores)
        named = {FIRST: one.first, SECOND: one.second, TIE: "neither", None: "not said"}
        cells = (
            text(one.item_key), text(one.person), text(one.first), text(one.second), text(named[one.preferred]),
            figure(Estimate(pair.first)), figure(Estimate(pair.second)), _verdict(pair),
        )  # fmt: skip
        lines.append(SheetLine(cells, item_id=one.item_id))
    return ResultSheet("pairs", f"Pairs, by {title}", heads, tuple(lines))


def _verdict(pair: ScoredPair) -> SheetCell:
    if pair.first is None or pair.second is None or pair.preferred is None:
        return text("left out", state="missing")
    scored = better(pair.first, pair.second)
    if TIE in (scored, pair.preferred):
        return text("tie")
    return text("agrees", state="agreed") if scored == pair.preferred else text("disagrees", state="disagree")
