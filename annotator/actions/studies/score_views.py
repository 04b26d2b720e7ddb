"""Views of a score: best of several runs, domains, what a report took, modes, and lengths."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean

from sqlalchemy import func, select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures, results, scoring
from annotator.actions.results.grouping import grouped
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    P_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    chance,
    columns,
    count,
    explained,
    figure,
    in_words,
    key_of,
    missing,
    number,
    or_why,
    picture,
    text,
)
from annotator.actions.results.scoring import USUAL_METRIC, MetricInfo
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.estimate import Estimate
from annotator.stats.agreement.levels import p_of, pearson, spearman
from annotator.stats.intervals.student import PairedMeans, by_group, paired_means
from annotator.stats.validation.duels import DEPARTURES, FrontPoint, pass_at_k, standings
from annotator.storage.tables import RESPONSE

# More tries than anyone pays for.
MOST = 10


@dataclass(frozen=True, slots=True)
class AttemptsReport:
    """The most runs of each system on an item, and pass@k for k from 1 to that."""

    metric: MetricInfo
    rater: ResultRater | None
    runs: Mapping[str, int]
    passed: Mapping[str, Mapping[int, Estimate]]


def attempts_report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> AttemptsReport:
    """Pass@k of every system on a metric where more is better, over the runs of one mode."""
    result = results.of_metric(project, metric, judge, among)
    by_system = results.by_item(result.of_mode(mode))
    runs: dict[str, int] = {}
    passed: dict[str, dict[int, Estimate]] = {}
    for system_id, name in result.systems.items():
        if of_item := by_system.get(system_id):
            estimates = {item: [score.estimate for score in scores] for item, scores in of_item.items()}
            runs[name] = max(map(len, estimates.values()))
            within = result.metric.within
            passed[name] = {k: pass_at_k(estimates, k, within) for k in range(1, min(MOST, runs[name]) + 1)}
    return AttemptsReport(result.metric, result.rater, runs, passed)


def attempts_sheets(found: AttemptsReport) -> tuple[ResultSheet, ...]:
    """A row for each system, a column for each k; none while no system has tried twice."""
    most = min(MOST, max(found.runs.values(), default=0))
    if most < 2:
        return ()
    heads = columns(
        SYSTEM_COLUMN,
        ("runs", "Runs", "The most runs it has on an item"),
        *((f"best_of_{k}", f"Best of {k}" if k > 1 else "One run") for k in range(1, most + 1)),
    )
    lines = [
        SheetLine((
            text(system), count(found.runs[system]),
            *(figure(row.get(k, Estimate(None, note=f"no item has {k} runs"))) for k in range(1, most + 1)),
        ))
        for system, row in found.passed.items()
    ]  # fmt: skip
    told = (
        f"{found.metric.title}: the mean over items of the expected best of k runs, with Student's t interval.",
    )
    return (
        ResultSheet(
            "attempts",
            "Best of several runs",
            heads,
            tuple(lines),
            told,
            (
                picture(
                    "runs",
                    f"{found.metric.title}: best of k runs",
                    result_pictures.lines,
                    {system: list(row.items()) for system, row in found.passed.items()},
                    "k",
                    found.metric.title,
                ),
            ),
            DEPARTURES,
        ),
    )


FILED = ("subject", "question_type")
NONE = "(none)"
UNFILED = {
    by: f"No item has a {by.replace('_', ' ')} yet. Set it: goldsmith items edit FILE KEYS --{option} …"
    for by, option in zip(FILED, ("subject", "type"), strict=True)
}

DOMAIN_DEPARTURES = (
    "The margins of the paper's domains say neither over what they are taken nor how: here Student's t interval over "
    "items, of each the mean over systems. An interval is cut where the figure ends; its margin is the longer side.",
)


@dataclass(frozen=True, slots=True)
class DomainsReport:
    """Means by system and domain; `sizes` counts the items of each domain."""

    metric: MetricInfo
    rater: ResultRater | None
    by: str
    means: Mapping[str, Mapping[str, Estimate]]
    sizes: Mapping[str, int]
    # Over all systems: of each item the mean of what systems score, and of these the mean of each domain.
    together: Mapping[str, Estimate]


def domains_choices(project: Project) -> tuple[ViewChoice, ...]:
    """By what items are filed, which score counts, by whose judgements, in which mode and of which items."""
    by = ViewChoice("by", "Domain", (("Subject", FILED[0]), ("Question type", FILED[1])))
    return (by, *results.choices(project))


def domains_report(
    project: Project, by: str = "subject", metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> DomainsReport:  # fmt: skip
    """The domains of all items in use, the best over all systems first; items of none stand under the empty name."""
    result = results.of_metric(project, metric, judge, among)
    domain_of = {item_id: str(getattr(item, by)) for item_id, item in result.items.items()}
    scores = {
        result.systems[system_id]: {item: results.item_means_of_runs(runs) for item, runs in of_item.items()}
        for system_id, of_item in results.by_item(result.of_mode(mode)).items()
    }
    each = {
        item: scoring.mean_of([own[item] for own in scores.values() if item in own])
        for item in dict.fromkeys(item for own in scores.values() for item in own)
    }
    means = {name: by_group(own, domain_of, result.metric.within) for name, own in sorted(scores.items())}
    together = by_group(each, domain_of, result.metric.within)
    sizes = Counter(domain_of.values())
    ordered = {domain: sizes[domain] for domain in (*together, *sorted(set(sizes) - set(together)))}
    return DomainsReport(result.metric, result.rater, by, means, ordered, together)


def domains_sheets(found: DomainsReport) -> tuple[ResultSheet, ...]:
    """Domains down, all systems together and each alone across: the mean with its interval."""
    if not found.means:
        return ()
    heads = columns(
        ("domain", "Domain"), ("items", "Items"), ("all_systems", "All systems", "Mean over items of systems' means"),
        ("margin", "Margin", "Of all systems: half of the 95 % interval"),
        *((key_of("system", name), name) for name in found.means),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(domain or NONE), count(size), _domain_cell(found.together.get(domain)),
            _margin(found.together.get(domain)),
            *(_domain_cell(row.get(domain)) for row in found.means.values()),
        ))
        for domain, size in found.sizes.items()
    ]  # fmt: skip
    return (
        ResultSheet(
            "domains",
            "By domain",
            heads,
            tuple(lines),
            (
                f"{found.metric.title}: the mean over the items of each domain with Student's 95 % t interval.",
                *([UNFILED[found.by]] if set(found.sizes) == {""} else []),
            ),
            (_domains_picture(found),),
            DOMAIN_DEPARTURES,
        ),
    )


def _margin(mean: Estimate | None) -> SheetCell:
    if mean is None or mean.value is None or mean.low is None or mean.high is None:
        return missing(mean.note if mean else "No response")
    return count(max(mean.value - mean.low, mean.high - mean.value), form=".3f")


def _domains_picture(found: DomainsReport) -> SheetPicture:
    values = {
        (domain or NONE, name): own.value for name, row in found.means.items() for domain, own in row.items()
    }
    title = f"{found.metric.title} by {found.by.replace('_', ' ')}"
    rows = [domain or NONE for domain in found.sizes]
    return SheetPicture(
        "map",
        f"{title} (heat map)",
        partial(result_pictures.heat, title, rows, list(found.means), values, found.metric),
    )


def _domain_cell(mean: Estimate | None) -> SheetCell:
    if mean is None or mean.value is None:
        return missing("\n".join(explained(mean)) if mean else "No response")
    return figure(mean)


# What a report took; tokens per second is a speed, not a cost.
COSTS = ("latency", "tokens", "run_tokens", "cost")


@dataclass(frozen=True, slots=True)
class EfficiencyReport:
    """Scores and costs of each system, and per cost the Pareto front and what dominates the others."""

    metric: MetricInfo
    rater: ResultRater | None
    scores: Mapping[str, Estimate]
    costs: Mapping[str, Mapping[str, Estimate]]
    standings: Mapping[str, tuple[FrontPoint, ...]]

    @property
    def known(self) -> tuple[str, ...]:
        return tuple(
            cost for cost, row in self.costs.items() if any(one.value is not None for one in row.values())
        )


def efficiency_report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> EfficiencyReport:
    """Every system that has a score, with its means over items; a cost that is not known is no cost of 0."""
    result = results.of_metric(project, metric, judge, among)
    scores = results.system_means(result, mode)
    costs = {cost: results.system_means(results.of_metric(project, cost, "", among), mode) for cost in COSTS}
    return EfficiencyReport(
        result.metric,
        result.rater,
        scores,
        costs,
        {
            cost: standings([(name, score.value, _known(row, name)) for name, score in scores.items()])
            for cost, row in costs.items()
        },
    )


def _known(row: Mapping[str, Estimate], system: str) -> float | None:
    return row[system].value if system in row else None


def efficiency_sheets(found: EfficiencyReport) -> tuple[ResultSheet, ...]:
    """A row for each system: its score, what it takes, and whether it is worth that."""
    if not found.scores:
        return ()
    infos = [scoring.named(cost) for cost in COSTS]
    return (
        ResultSheet(
            "efficiency",
            "Score against what a report took",
            columns(
                SYSTEM_COLUMN,
                (key_of(found.metric.name), found.metric.title),
                *(
                    head
                    for info in infos
                    for head in (
                        (key_of(info.name), info.title, "", info.unit),
                        (
                            key_of("worth", info.name),
                            f"Worth its {info.title.lower()}?",
                            "No other system is at least as good on both and better on one",
                        ),
                    )
                ),
            ),
            tuple(
                SheetLine((text(name), figure(found.scores[name]), *_costs(found, name)))
                for name in sorted(found.scores, key=lambda name: (-(found.scores[name].value or -1.0), name))
            ),
            tuple(_efficiency_told(found, infos)),
            tuple(_efficiency_picture(found, info) for info in infos if info.name in found.known),
        ),
    )


def _efficiency_picture(found: EfficiencyReport, info: MetricInfo) -> SheetPicture:
    points = [
        result_pictures.PicturePoint(
            row.system,
            row.cost,
            row.score,
            row.on_front,
            found.scores[row.system].low,
            found.scores[row.system].high,
        )
        for row in found.standings[info.name]
        if row.cost is not None and row.score is not None
    ]
    return picture(
        info.name,
        f"{found.metric.title} against {info.title.lower()}: the front is full",
        result_pictures.plane,
        points,
        f"{info.title} ({info.unit})",
        f"{found.metric.title}, 95 % interval",
        front=True,
    )


def _costs(found: EfficiencyReport, system: str) -> Iterator[SheetCell]:
    for cost in COSTS:
        row = next(standing for standing in found.standings[cost] if standing.system == system)
        of = found.costs[cost].get(system, Estimate(None))
        made = replace(figure(of), metric=cost)
        part = of.floor if of.value is None else None
        yield made if part is None else replace(made, words=f"at least {in_words(Estimate(part))}")
        yield _worth(row)


def _worth(row: FrontPoint) -> SheetCell:
    if not row.known:
        return SheetCell(
            "not known", None, "A score or a cost is not known: it neither beats nor is beaten.", "missing"
        )
    if row.on_front:
        return SheetCell("on the front", 0.0, "", "agreed")
    beaten = ", ".join(row.beaten_by)
    return SheetCell(f"beaten by {beaten}", float(len(row.beaten_by)), beaten)


def _efficiency_told(found: EfficiencyReport, infos: list[MetricInfo]) -> Iterator[str]:
    judge = f", judged by {found.rater.name}" if found.rater and found.metric.judged else ""
    yield f"{found.metric.title}{judge}: means over items with the interval of the Results page."
    for info in infos:
        on = [row for row in found.standings[info.name] if row.on_front]
        if on:
            front = ", ".join(
                f"{row.system} ({in_words(Estimate(row.score))} at {number(row.cost or 0.0, info.unit)})"
                for row in on
            )
            yield f"{info.title}: {front} on the front."
        else:
            yield f"{info.title} is not known of any system with a score."


MODE_DEPARTURES = (
    "The gain of a mode is the mean of the differences item by item, over the items that were answered in both, with "
    "an interval; the paper sets the means of two modes side by side.",
)


@dataclass(frozen=True, slots=True)
class ModesReport:
    metric: MetricInfo
    rater: ResultRater | None
    one: str
    other: str
    means: Mapping[str, tuple[Estimate, Estimate]]
    comparisons: Mapping[str, PairedMeans]
    items: Mapping[str, results.ItemName] = field(repr=False)
    by_item: Mapping[str, Mapping[str, tuple[Estimate, Estimate]]] = field(repr=False)


def modes_choices(project: Project) -> tuple[ViewChoice, ...]:
    one = tuple((mode, mode) for mode in scoring.modes_of(project))
    return (
        ViewChoice("one", "From", one),
        ViewChoice("other", "To", (*one[1:], *one[:1])),
        results.metric_choice(project),
        results.rater_choice(project),
    )


def modes_report(
    project: Project, one: str = "", other: str = "", metric: str = USUAL_METRIC, judge: str = ""
) -> ModesReport:
    """Every system that answered in both modes; by default the mode that counts, and the next one."""
    modes = (*scoring.modes_of(project), "", "")
    one, other = one or modes[0], other or modes[1]
    result = results.of_metric(project, metric, judge)
    before, after = _by_system(result, one), _by_system(result, other)
    both = [name for name in before if name in after and one != other]
    first, second = (results.system_means(result, mode) for mode in (one, other))
    return ModesReport(
        result.metric,
        result.rater,
        one,
        other,
        {name: (first[name], second[name]) for name in both},
        {name: paired_means(before[name], after[name]) for name in both},
        result.items,
        {
            name: {
                item: (before[name][item], after[name][item]) for item in before[name] if item in after[name]
            }
            for name in both
        },
    )


def _by_system(found: results.Scores, mode: str) -> dict[str, dict[str, Estimate]]:
    scores = results.by_item(found.of_mode(mode)) if mode else {}
    return {
        found.systems[system]: {item: results.item_means_of_runs(runs) for item, runs in of_item.items()}
        for system, of_item in scores.items()
    }


def modes_sheets(found: ModesReport) -> tuple[ResultSheet, ...]:
    if not found.comparisons:
        return ()
    sides = [(key_of("mode", mode), mode) for mode in (found.one, found.other)]
    heads = columns(
        SYSTEM_COLUMN, *sides, ("gain", "Gain", "Mean over items of the paired differences, with Student's t interval"),
        ("items", "Items", "Items that have a score in both modes"),
        ("only_one_mode", "Only one mode", "Items that have only one of the modes"),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(system), *map(figure, found.means[system]), figure(compared.mean),
            count(compared.mean.n), count(len(compared.only_one) + len(compared.only_other)),
        ))
        for system, compared in found.comparisons.items()
    ]  # fmt: skip
    told = (
        f"{found.metric.title}: what “{found.other}” gains over “{found.one}”, paired item by item, so that hard and "
        "easy items weigh alike on both sides.",
    )
    each = columns(ITEM_COLUMN, SYSTEM_COLUMN, *sides, ("gain", "Gain"))
    return (
        ResultSheet(
            "gains",
            "Gain of one mode over another",
            heads,
            tuple(lines),
            told,
            (_modes_picture(found),),
            MODE_DEPARTURES,
        ),
        ResultSheet("items", "Item by item", each, tuple(_item_lines(found))),
    )


def _modes_picture(found: ModesReport) -> SheetPicture:
    return picture(
        "modes",
        f"{found.metric.title}: “{found.one}” against “{found.other}”",
        result_pictures.pairs,
        [(system, *means) for system, means in found.means.items()],
        (found.one, found.other),
        f"{found.metric.title}, mean over items, 95 % interval",
    )


def _item_lines(found: ModesReport) -> Iterator[SheetLine]:
    for system, compared in found.comparisons.items():
        for item_id, gain in compared.differences.items():
            name = found.items[item_id]
            sides = found.by_item[system][item_id]
            yield SheetLine(
                (text(name.key, tip=name.question), text(system), *map(figure, (*sides, gain))),
                item_id=item_id,
            )


Point = tuple[float, float]
CHARACTERS, TOKENS, PLAN = "characters", "tokens", "plan"
# What is told of even where it is undefined; and how many places a mean has.
ALWAYS = ("all reports", "means of systems")
MEAN = {CHARACTERS: ",.0f", TOKENS: ",.0f", PLAN: ".2f"}
# What may be long: how it is called, and in what it is measured.
LENGTHS = {
    CHARACTERS: ("Report, in characters", "characters"),
    TOKENS: ("Report, in tokens", "tokens"),
    PLAN: ("Gold plan of the item", "sub-tasks"),
}


@dataclass(frozen=True, slots=True)
class LengthsReport:
    """Lengths and scores of each system's reports, its mean, and r and ρ within it and over what is in `OVER`."""

    metric: MetricInfo
    rater: ResultRater | None
    of: str
    points: Mapping[str, tuple[tuple[float, float], ...]]
    scores: Mapping[str, Estimate]
    within: Mapping[str, Estimate]
    over: Mapping[str, tuple[Estimate, Estimate]]


def lengths_choices(project: Project) -> tuple[ViewChoice, ...]:
    """What is long, which score or cost it is set beside, by whose judgements, in which mode and of which items."""
    metric, judge = results.score_choices(project)
    took = tuple((info.title, info.name) for info in scoring.known(project) if info.cost)
    return (
        ViewChoice("of", "Length of", tuple((name, of) for of, (name, _) in LENGTHS.items())),
        replace(metric, values=(*metric.values, *took)),
        judge,
        *results.cut_choices(project),
    )


def lengths_report(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", of: str = CHARACTERS, mode: str = "", among: str = ""
) -> LengthsReport:  # fmt: skip
    """Every response with a score and a length, by default of the mode that counts in the results."""
    result = results.of_metric(project, metric, judge, among)
    lengths = _lengths(project, of)
    met = [
        (score, (lengths[score.response_id], score.estimate.value))
        for score in result.of_mode(mode)
        if score.estimate.value is not None and score.response_id in lengths
    ]
    points = _grouped((result.systems[score.system_id], point) for score, point in met)
    ordered = {system: points[system] for system in sorted(points)}
    over = {
        "all reports": [point for own in ordered.values() for point in own],
        "means of systems": _means(ordered),
        "means of items": _means(_grouped((score.item_id, point) for score, point in met)),
        "means of subjects": _means(
            _grouped((result.items[score.item_id].subject, point) for score, point in met)
        ),
    }
    return LengthsReport(
        result.metric,
        result.rater,
        of,
        ordered,
        results.system_means(result, mode),
        {system: _both(own)[0] for system, own in ordered.items()},
        {name: _both(points) for name, points in over.items()},
    )


def _lengths(project: Project, of: str) -> dict[str, float]:
    """How long each response is, or the gold plan of its item, by the response's id; what is not known is left out."""
    column = (
        RESPONSE.c.item_id
        if of == PLAN
        else RESPONSE.c.tokens
        if of == TOKENS
        else func.length(RESPONSE.c.text)
    )
    with project.store.read() as db:
        rows = db.execute(select(RESPONSE.c.id, column)).all()
        plans = annotating.judged_rows(db, Kind.PLAN, None) if of == PLAN else {}
    steps = {item_id: len(artifact_of(row).document.units) for item_id, row in plans.items()}
    known = ((id_, steps.get(value) if of == PLAN else value) for id_, value in rows)
    return {id_: float(value) for id_, value in known if value is not None}


def _grouped(found: Iterable[tuple[str, Point]]) -> dict[str, tuple[Point, ...]]:
    return {name: tuple(points) for name, points in grouped(found).items()}


def _means(groups: Mapping[str, Sequence[Point]]) -> list[Point]:
    return [(fmean(x for x, _ in own), fmean(y for _, y in own)) for own in groups.values()]


def _both(points: list[tuple[float, float]] | tuple[tuple[float, float], ...]) -> tuple[Estimate, Estimate]:
    x, y = [point[0] for point in points], [point[1] for point in points]
    return pearson(x, y), spearman(x, y)


def lengths_sheets(found: LengthsReport) -> tuple[ResultSheet, ...]:
    """A row for each system: how long its reports are, what they score, and whether its longer ones score higher."""
    if not found.points:
        return ()
    unit = LENGTHS[found.of][1]
    heads = columns(
        SYSTEM_COLUMN, ("reports", "Reports", "With a score and a length"),
        ("mean_length", "Mean length", "", unit), ("shortest", "Shortest", "", unit), ("longest", "Longest", "", unit),
        (key_of(found.metric.name), found.metric.title, "", found.metric.unit),
        ("r_within", "r within",
         "Pearson's r of length and score over the system's own reports, with Fisher's interval"),
    )  # fmt: skip
    lengths = {system: [length for length, _ in points] for system, points in found.points.items()}
    lines = [
        SheetLine((
            text(system), count(len(long)), count(fmean(long), form=MEAN[found.of]), count(min(long), form=",.0f"),
            count(max(long), form=",.0f"), figure(found.scores[system]), figure(found.within[system]),
        ))
        for system, long in lengths.items()
    ]  # fmt: skip
    told = (
        *(
            f"Over {name}: Pearson's r {_correlation(r)}, Spearman's ρ {_correlation(rho)}."
            for name, (r, rho) in found.over.items()
            if r.value is not None or name in ALWAYS
        ),
        "Length that goes with the score is no proof of bias: a longer report may cover more.",
    )
    return (
        ResultSheet("length", "Length against score", heads, tuple(lines), told, (_lengths_picture(found),)),
        _correlations(found),
    )


def _correlations(found: LengthsReport) -> ResultSheet:
    rows = [
        (name, over, own)
        for over, both in found.over.items()
        for name, own in zip(("Pearson's r", "Spearman's ρ"), both, strict=True)
    ]
    heads = columns(
        ("figure", "Figure"), ("over", "Over"), ("value", "Value"), P_COLUMN, ("n", "n", "Pairs of length and score")
    )  # fmt: skip
    return ResultSheet(
        "correlations",
        "Correlations",
        heads,
        tuple(
            SheetLine((text(name), text(over), figure(own), chance(p_of(own)), count(own.n)))
            for name, over, own in rows
        ),
    )


def _correlation(found: Estimate) -> str:
    return or_why(found, f" (n = {found.n})")


def _lengths_picture(found: LengthsReport) -> SheetPicture:
    name, unit = LENGTHS[found.of]
    return picture(
        "length",
        f"{found.metric.title} against length: {name.partition(',')[0].lower()}",
        result_pictures.clouds,
        found.points,
        unit.capitalize(),
        found.metric.title,
    )
