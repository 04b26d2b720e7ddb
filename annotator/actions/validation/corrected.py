"""Corrected leaderboard: scores corrected by people's labels, ranks, and what to label next."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    text,
)
from annotator.actions.sets import validation_figures, validation_ground, validation_sets
from annotator.actions.sets.validation_figures import Key, UnitPlace, figure_cell, unknown
from annotator.actions.validation import validation
from annotator.domain.common import Refusal, grouped, nested, refuse_other, required
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.protocol import Metric, Protocol
from annotator.domain.texts.estimate import NO_SPREAD, ROUGH, Estimate, of_items
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS
from annotator.stats.validation.correction import LabelPlan, Leaderboard, SystemUnits, plan_labels, standings


@dataclass(frozen=True, slots=True)
class CorrectionQuery(validation.ValidationQuery):
    """The judge to correct and the labels to use, under the metric's protocol; by default the first judge by name.

    `width` is the wanted width of a corrected score's interval, for the plan of further labels, as a share of the
    score's range.
    """

    width: float = 0.1
    seed: int = 1
    metric: str = scoring.USUAL_METRIC

    @property
    def info(self) -> scoring.MetricInfo:
        """The metric; raises Refusal if it is not made of single verdicts."""
        info = scoring.named(self.metric)
        refuse_other(
            self.metric,
            credited(),
            f"“{info.title}” is not made of single verdicts, which labels could correct.",
            "Name one of",
        )
        return info

    @property
    def wide(self) -> float:
        low, high = self.info.within
        return self.width * (high - low)


def credited() -> dict[str, tuple[Protocol, Metric]]:
    """The metrics made of single verdicts with a credit each, by name."""
    return {
        metric.name: (protocol, metric)
        for protocol in PROTOCOLS.values()
        for metric in protocol.metrics
        if metric.credit is not None
    }


def offered(project: Project) -> list[scoring.MetricInfo]:
    """The metrics for which a judge has judged something here; the usual one if there is none."""
    names = [
        name for name, (protocol, _) in credited().items() if result_raters.judges_of(project, protocol.name)
    ]
    return [scoring.named(name) for name in names or [scoring.USUAL_METRIC]]


@dataclass(frozen=True, slots=True)
class NextResponse:
    response_id: str
    item_key: str
    system: str
    units: int


@dataclass(frozen=True, slots=True)
class LabelsNeeded:
    """Labels needed for the wanted interval width of a system: how many, and of which responses."""

    plan: LabelPlan
    responses: tuple[NextResponse, ...]


@dataclass(frozen=True, slots=True)
class CorrectedLeaderboard:
    """A leaderboard, raw and corrected. `labelled` counts labelled units by system.

    `ids` holds the id of each system.
    """

    rater: validation_ground.ValidationRater
    against: str
    standings: Leaderboard
    units: Mapping[str, int]
    labelled: Mapping[str, int]
    more: Mapping[str, LabelsNeeded]
    notes: tuple[str, ...]
    query: CorrectionQuery = field(default_factory=CorrectionQuery)
    ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Units(SystemUnits):
    """A system's units with their places."""

    weights: Sequence[float] = ()
    places: Sequence[UnitPlace] = ()


def report(project: Project, query: CorrectionQuery) -> CorrectedLeaderboard:
    """Each system's score by the judge, and corrected by people's labels (PPI++), with the certainty of the order.

    The score is the mean over items of verdicts' credits by their units' weight, as in the results: a share of what can
    be reached, from which units of negative weight are subtracted; items whose gold gives no score in the results give
    none here. If several people labelled a unit, its label is their mean. Raises Refusal if no judge or nobody has
    judged anything.
    """
    info = query.info
    credit = credited()[query.metric][1].credit or float
    result = validation_ground.ground(
        project, info.protocol, query.set_name, query.part, query.against, query.judge, query.opening
    )
    rater = _judge(result)
    # The judge's verdicts on unlabelled units, and on those held back from comparison, count too.
    places = validation_figures.places(project, result.protocol)
    everything = {key: place for key, place in places.items() if place.item_key not in places.faults}
    worth = {value: credit(value) for value in result.protocol.values}
    spoken = result_raters.in_trials(project, result.protocol, rater.id)
    systems = _by_system(everything, _labels(result, worth), *_judged(everything, spoken, worth), worth)
    if not any(any(label is not None for label in system.labels) for system in systems.values()):
        raise Refusal(
            f"Nothing that people labelled was judged by “{rater.name}”.", "Run it on those reports."
        )
    board = standings(dict[Hashable, SystemUnits](systems.items()), higher_is_better=info.higher_is_better)
    raw = results.system_means(results.of_metric(project, info.name, rater.id))
    scores = {name: replace(mean, raw=raw.get(str(name), mean.raw)) for name, mean in board.scores.items()}
    return CorrectedLeaderboard(
        rater, validation.against_words(result), replace(board, scores=scores),
        {name: len(units.places) for name, units in systems.items()},
        {name: sum(label is not None for label in units.labels) for name, units in systems.items()},
        {name: _more(units, query) for name, units in systems.items()},
        (
            *_notes(result, systems, rater.id), *result.repeats(project, [rater]),
            *(f"Item {key} is left out, as in the results: {fault}" for key, fault in places.faults.items()),
            *validation_sets.viewed(project, query.set_name),
        ), query,
        {name: units.places[0].system_id for name, units in systems.items()},
    )  # fmt: skip


def _judged(
    places: Mapping[Key, UnitPlace], spoken: Iterable[result_raters.Spoken], worth: Mapping[str, float]
) -> tuple[dict[Key, float], dict[Key, float]]:
    """Unit → the mean credit of the judge's verdict over trials, and unit → its weight, as in the results.

    Each item has weight one, shared equally by a system's responses to it and by the trials of a response; within a
    trial, each criterion has its weight as a share of the positive weight that was judged.
    """
    trials = nested(
        ((response_id, trial), (response_id, unit_id), worth[value])
        for response_id, trial, unit_id, value in spoken
        if (response_id, unit_id) in places and value in worth
    )
    earned, shares, scored = dict[Key, float](), dict[Key, float](), defaultdict[str, int](int)
    responses: dict[tuple[str, str], set[str]] = defaultdict(set)
    for (response_id, _), own in trials.items():
        reach = sum(max(places[key].weight, 0.0) for key in own)
        for key, credit in own.items():
            share = 1 / reach if reach else 0.0
            before = shares.get(key, 0.0)
            shares[key] = before + share
            earned[key] = (
                (earned.get(key, 0.0) * before + credit * share) / shares[key] if shares[key] else credit
            )
            if reach:
                responses[places[key].item_id, places[key].system].add(response_id)
        scored[response_id] += bool(reach)
    weights = {}
    for key, share in shares.items():
        place = places[key]
        several = len(responses[place.item_id, place.system]) * scored[place.response_id]
        weights[key] = place.weight * share / several if several else 0.0
    return earned, weights


def _judge(ground: validation_ground.Ground) -> validation_ground.ValidationRater:
    """The judge to correct: the named one, or the first that is not a baseline."""
    judges = required(
        ground.judges(), "No judge has judged what people labelled.", "Run a judge on these reports first."
    )
    return min(judges, key=lambda rater: (rater.kind == JudgeKind.BASELINE.value, rater.name))


def _labels(ground: validation_ground.Ground, worth: Mapping[str, float]) -> dict[Key, float]:
    """Unit → the mean credit of people's labels; “unsure” is no label."""
    given = grouped(
        (key, worth[value])
        for own in ground.truth.values()
        for key, value in own.items()
        if value is not None and value in worth and key in ground.places
    )
    return {key: sum(shares) / len(shares) for key, shares in given.items()}


def _by_system(
    places: Mapping[Key, UnitPlace], labels: Mapping[Key, float], judged: Mapping[Key, float],
    weights: Mapping[Key, float], worth: Mapping[str, float],
) -> dict[str, _Units]:  # fmt: skip
    """The units of each system, in the order of their names."""
    systems, ends = {}, (min(worth.values()), max(worth.values()))
    for name, own in sorted(grouped((place.system, place) for place in places.values()).items()):
        keys = [place.key for place in own]
        heavy = [weights.get(key, 0.0) for key in keys]
        systems[name] = _Units(
            [labels.get(key) for key in keys], [judged.get(key) for key in keys],
            [place.item_id for place in own], heavy, within=_within(ends, heavy), places=own,
        )  # fmt: skip
    return systems


def _within(bounds: tuple[float, float], weights: Sequence[float]) -> tuple[float, float]:
    """The range of the score: the range of a verdict, extended by what units of negative weight can take away."""
    reach = sum(max(weight, 0.0) for weight in weights)
    lost = sum(min(weight, 0.0) for weight in weights)
    share = lost / reach if lost and reach else 0.0
    return bounds[0] + bounds[1] * share, bounds[1] + bounds[0] * share


def _more(one: _Units, query: CorrectionQuery) -> LabelsNeeded:
    """A system's plan, and randomly sampled responses that give as many labels, from items without any first."""
    plan = plan_labels(one.labels, one.verdicts, query.wide, one.weights, one.items, bounds=one.within)
    begun = {
        place.response_id: place.item_id
        for place, label in zip(one.places, one.labels, strict=True)
        if label is not None
    }
    # A label corrects nothing if the judge has no verdict.
    unlabelled = grouped(
        (place.response_id, place)
        for place, credit in zip(one.places, one.verdicts, strict=True)
        if credit is not None
    )
    order = sorted(unlabelled.keys() - begun.keys())
    Random(query.seed).shuffle(order)
    reached = set(begun.values())
    order.sort(key=lambda response_id: unlabelled[response_id][0].item_id in reached)
    chosen, remaining = [], plan.more or 0
    for response_id in order:
        if remaining <= 0:
            break
        units = unlabelled[response_id]
        remaining -= len(units)
        chosen.append(NextResponse(response_id, units[0].item_key, units[0].system, len(units)))
    return LabelsNeeded(plan, tuple(chosen))


def _notes(ground: validation_ground.Ground, systems: Mapping[str, _Units], judge_id: str) -> list[str]:
    bare = sorted(name for name, units in systems.items() if not any(x is not None for x in units.labels))
    prompts = {version.prompt_sha256 for version in ground.versions if version.judge.id == judge_id}
    unreached = {
        place.response_id
        for units in systems.values()
        for place, credit, weight in zip(units.places, units.verdicts, units.weights, strict=True)
        if credit is not None and place.weight < 0 and not weight
    }
    reports = "1 report has" if len(unreached) == 1 else f"{len(unreached):,} reports have"
    negative = any(weight < 0 for units in systems.values() for weight in units.weights)
    notes = (
        (
            True,
            "The corrected score is people's mean over labelled units, and λ times the judge's mean over all units "
            "less the judge's over labelled ones; λ is tuned system by system (PPI++).",
        ),
        (
            len(ground.truth) > 1 and result_raters.CONSENSUS not in ground.truth,
            "Where several people labelled a unit, its label is the mean of theirs.",
        ),
        (
            len(prompts) > 1,
            "The judge judged with several prompts: all its verdicts count here, as in the results.",
        ),
        (bare, f"No labels for {', '.join(bare)}: only the judge's score is used."),
        (
            negative,
            "A criterion of negative weight takes away where it is met; scores are shares of all that can be reached, "
            "the sum of the positive weights, and may lie below 0.",
        ),
        (
            unreached,
            f"{reports} no judged criterion of a weight above 0: nothing to reach, so no score, and left out.",
        ),
        (True, "Labels must be on randomly drawn units, as in a validation set."),
    )
    return [words for holds, words in notes if holds]


def in_order(leaderboard: CorrectedLeaderboard) -> Sequence[str]:
    """The systems, best corrected score first, those without one last."""
    scores, sign = leaderboard.standings.scores, -1 if leaderboard.query.info.higher_is_better else 1

    def height(name: Hashable) -> tuple[bool, float, str]:
        value = scores[name].corrected.value
        return value is None, sign * (value or 0.0), str(name)

    return [str(name) for name in sorted(scores, key=height)]


def sheets(leaderboard: CorrectedLeaderboard) -> tuple[ResultSheet, ...]:
    """The leaderboard, every two systems, and the plan for the wanted interval width with the responses to label."""
    return tuple(
        sheet
        for sheet in (_scores(leaderboard), _pairs(leaderboard), _plan(leaderboard), _next(leaderboard))
        if sheet.lines
    )


def _scores(leaderboard: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(
        SYSTEM_COLUMN, ("raw", "Raw", f"The judge's {leaderboard.query.info.title.lower()}: mean over items"),
        ("corrected", "Corrected", "People's labels and the judge together (PPI++)"),
        (
            "labelled_units", "People, unit by unit",
            "Mean of people's labels of each unit, over the units that they labelled and the judge judged, each by its "
            "weight; Results have the mean of each person's score of a report",
        ),
        ("rank", "Rank", "By corrected score; its interval ends at those that are better, or worse, beyond chance"),
        ("lambda", "λ", "How far the judge is trusted: 0 not at all, 1 fully"),
        ("labels", "Labels", "Units with a label"), ("units", "Units"),
    )  # fmt: skip
    board, metric = leaderboard.standings, leaderboard.query.metric
    lines = [
        SheetLine((
            text(name), replace(figure_cell(score.raw), source=_judged_count(leaderboard, name), metric=metric),
            figure_cell(score.corrected),
            replace(figure_cell(score.labelled), source=_labelled(leaderboard, name)), rank(board.ranks[name]),
            count(score.tuning, form=".2f"), count(leaderboard.labelled[name]), count(leaderboard.units[name]),
        ), source=_labelled(leaderboard, name))
        for name in in_order(leaderboard) for score in [board.scores[name]]
    ]  # fmt: skip
    return ResultSheet(
        "leaderboard",
        "Corrected leaderboard",
        heads,
        tuple(lines),
        (
            f"“{leaderboard.rater.name}”, corrected by the labels of {leaderboard.against}.",
            *leaderboard.notes,
        ),
        _pictures(leaderboard),
    )


def rank(estimate: Estimate) -> SheetCell:
    """A rank with its interval: “5 (1–5)”."""
    cell = figure(estimate)
    if estimate.value is None:
        return cell
    span = f" ({estimate.low:g}–{estimate.high:g})" if estimate.low is not None else ""
    return replace(
        cell, words=f"{estimate.value:g}{span}{' rough' if span and ROUGH in estimate.note else ''}"
    )


def _judged_count(leaderboard: CorrectedLeaderboard, name: str) -> FigureSource:
    return FigureSource(
        leaderboard.query.info.protocol,
        leaderboard.rater.id,
        leaderboard.query.metric,
        leaderboard.ids[name],
        words=f"{name}: raw, by {leaderboard.rater.name}",
    )


def _labelled(leaderboard: CorrectedLeaderboard, name: str) -> validation.HeldRater | None:
    if not leaderboard.labelled[name]:
        return None
    of = leaderboard.query
    query = validation.ValidationQuery(
        of.info.protocol, of.set_name, of.part, of.against, of.judge, by="system", opening=of.opening
    )
    return validation.held(query, leaderboard.rater, name, f"{name}: units with a label")


def _pictures(leaderboard: CorrectedLeaderboard) -> tuple[SheetPicture, ...]:
    scores = leaderboard.standings.scores
    shown = [(name, scores[name].raw, scores[name].corrected) for name in in_order(leaderboard)]
    info = leaderboard.query.info
    title = f"{info.title} by “{leaderboard.rater.name}”, raw and corrected by people's labels"
    ends = [end or 0.0 for _, *two in shown for estimate in two for end in (estimate.value, estimate.low)]
    draw = partial(
        pictures.pairs, title, shown, ("raw", "corrected"), f"{info.title}: {info.ranging}, 95 % interval",
        share=info.share and min(ends, default=0) >= 0,
    )  # fmt: skip
    return (SheetPicture("corrected", f"{info.title}, raw and corrected", draw), *_flips(leaderboard))


def _flips(leaderboard: CorrectedLeaderboard) -> tuple[SheetPicture, ...]:
    """A heat map of the probability, for every two systems, that one ranks behind the other after correction."""
    flips = {(str(pair.first), str(pair.second)): pair.flip.value for pair in leaderboard.standings.pairs}
    behind = flips | {(b, a): None if flip is None else 1 - flip for (a, b), flip in flips.items()}
    if all(share is None for share in behind.values()):
        return ()
    title = "Probability that the row's system ranks behind the column's, corrected"
    return (
        SheetPicture(
            "flips",
            "Probability that two systems swap ranks",
            partial(pictures.heat, title, in_order(leaderboard), in_order(leaderboard), behind, (0.0, 1.0)),
        ),
    )


def _pairs(leaderboard: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(
        ("better", "Better by the judge", "System ranked first by the judge"), ("other", "Other"),
        ("difference", "Difference", "Difference of corrected scores, first minus second"),
        ("chance_of_other_order", "Chance of the other order",
         "Chance that the second is ahead, by t of the corrected difference over items"),
        ("verdict", "Verdict"),
    )  # fmt: skip
    lines = []
    for pair in leaderboard.standings.pairs:
        low, high, why = pair.difference.low, pair.difference.high, unknown(pair.difference)
        open_ = low is None or high is None or low <= 0 <= high
        verdict = text("indistinguishable" if open_ else "distinguishable", state="" if open_ else "agreed")
        verdict = text(f"nothing can be said: {why}") if open_ and why else verdict
        names = text(str(pair.first)), text(str(pair.second))
        lines.append(SheetLine((*names, figure_cell(pair.difference), figure(pair.flip), verdict)))
    return ResultSheet("pairs", "Every two systems", heads, tuple(lines), pictures=_flips(leaderboard))


def _plan(leaderboard: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(
        SYSTEM_COLUMN, ("width_now", "Width now", "Of the corrected score's 95 % interval"),
        ("more_labels", "More labels", "Smallest number of units"), ("width_then", "Width then", "Expected"),
        ("width_at_best", "Width at best", "With every unit labelled"), ("note", "Note"),
    )  # fmt: skip
    plans = {name: more.plan for name, more in leaderboard.more.items()}
    lines = [
        SheetLine((
            text(name), _width(plan.width_now), count(plan.more), _width(plan.width_then), _width(plan.least),
            text(of_items(plan.note) or "–"),
        ))
        for name, plan in plans.items()
    ]  # fmt: skip
    return ResultSheet(
        "plan",
        "How many more labels",
        heads,
        tuple(lines),
        (
            f"Labels needed to narrow each interval to a width of {leaderboard.query.wide:g}, if further labels are on "
            "randomly drawn reports. With few labels the forecast is rough: check again as you go.",
        ),
    )


def _width(width: float | None) -> SheetCell:
    cell = count(width, form=".3f")
    return replace(cell, words=f"{cell.words}  {NO_SPREAD}", state="flat") if width == 0 else cell


def _next(leaderboard: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(ITEM_COLUMN, SYSTEM_COLUMN, ("units", "Units", "Labels that it gives"))
    lines = tuple(
        SheetLine(
            (text(response.item_key), text(response.system), count(response.units)),
            response_id=response.response_id,
        )
        for more in leaderboard.more.values()
        for response in more.responses
    )
    return ResultSheet(
        "next", "What to label next", heads, lines, ("Drawn at random, items without a label first.",)
    )
