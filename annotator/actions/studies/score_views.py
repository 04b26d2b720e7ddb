"""Views of a score: best of several runs, domains, costs of a report, modes, and lengths."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

from sqlalchemy import func, select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    P_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetCell,
    SheetColumn,
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
from annotator.domain.common import grouped
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.stats.agreement.levels import p_of, pearson, spearman
from annotator.stats.intervals.student import by_group, paired_means
from annotator.stats.validation.duels import DEPARTURES, FrontPoint, pass_at_k, standings
from annotator.storage.tables import RESPONSE

# More runs than anyone pays for.
MOST = 10


def attempts(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:
    """Pass@k of every system on a metric where more is better, over the runs of one mode: k from 1 to its most runs.

    A row for each system, a column for each k; empty while no system has two runs.
    """
    result = results.of_metric(project, metric, judge, among)
    title, by_system = result.metric.title, results.by_item(result.of_mode(mode))
    tries = {
        name: {item: [score.estimate for score in scores] for item, scores in by_system[system_id].items()}
        for system_id, name in result.systems.items()
        if by_system.get(system_id)
    }
    runs = {name: max(map(len, own.values())) for name, own in tries.items()}
    most = min(MOST, max(runs.values(), default=0))
    if most < 2:
        return ()
    passed = {
        name: {k: pass_at_k(own, k, result.metric.within) for k in range(1, min(MOST, runs[name]) + 1)}
        for name, own in tries.items()
    }
    return (
        ResultSheet(
            "attempts",
            "Best of several runs",
            columns(
                SYSTEM_COLUMN,
                ("runs", "Runs", "The most runs it has on an item"),
                *((f"best_of_{k}", f"Best of {k}" if k > 1 else "One run") for k in range(1, most + 1)),
            ),
            tuple(
                SheetLine((
                    text(system), count(runs[system]),
                    *(figure(row.get(k, Estimate(None, note=f"no item has {k} runs"))) for k in range(1, most + 1)),
                ))
                for system, row in passed.items()
            ),
            (f"{title}: the mean over items of the expected best of k runs, with Student's t interval.",),
            (
                picture(
                    "runs",
                    f"{title}: best of k runs",
                    pictures.lines,
                    {system: list(row.items()) for system, row in passed.items()},
                    "k",
                    title,
                ),
            ),
            DEPARTURES,
            rater=result.rater,
        ),
    )  # fmt: skip


FILED = ("subject", "question_type")
NONE = "(none)"
UNFILED = {
    by: f"No item has a {by.replace('_', ' ')} yet. Run: goldsmith items edit FILE KEYS --{option} …"
    for by, option in zip(FILED, ("subject", "type"), strict=True)
}

DOMAIN_DEPARTURES = (
    "The margins of the paper's domains say neither over what they are taken nor how: here Student's t interval over "
    "items, of each the mean over systems. An interval is cut where the figure ends; its margin is the longer side.",
)


def domains_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the domains, the metric, the rater, the mode and the items."""
    by = ViewChoice("by", "Domain", (("Subject", FILED[0]), ("Question type", FILED[1])))
    return (by, *results.choices(project))


def domains(
    project: Project, by: str = "subject", metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:  # fmt: skip
    """Domains of all items in use down, the best over all systems first; all systems together and each alone across.

    Over all systems: the mean of systems' scores on each item, and the mean of these in each domain.
    """
    result = results.of_metric(project, metric, judge, among)
    domain_of = {item_id: str(getattr(item, by)) for item_id, item in result.items.items()}
    scores = {
        result.systems[system_id]: {item: results.item_means_of_runs(runs) for item, runs in of_item.items()}
        for system_id, of_item in results.by_item(result.of_mode(mode)).items()
    }
    if not scores:
        return ()
    each = {
        item: scoring.mean_of([own[item] for own in scores.values() if item in own])
        for item in dict.fromkeys(item for own in scores.values() for item in own)
    }
    means = {name: by_group(own, domain_of, result.metric.within) for name, own in sorted(scores.items())}
    together, sizes = by_group(each, domain_of, result.metric.within), Counter(domain_of.values())
    # Items of no domain are under the empty name.
    shown = {domain: domain or NONE for domain in (*together, *sorted(set(sizes) - set(together)))}
    values = {(shown[domain], name): own.value for name, row in means.items() for domain, own in row.items()}
    title = f"{result.metric.title} by {by.replace('_', ' ')}"
    return (
        ResultSheet(
            "domains",
            "By domain",
            columns(
                ("domain", "Domain"), ("items", "Items"),
                ("all_systems", "All systems", "Mean over items of systems' means"),
                ("margin", "Margin", "Of all systems: half of the 95 % interval"),
                *((key_of("system", name), name) for name in means),
            ),
            tuple(
                SheetLine((
                    text(words), count(sizes[domain]), _domain_cell(together.get(domain)),
                    _margin(together.get(domain)), *(_domain_cell(row.get(domain)) for row in means.values()),
                ))
                for domain, words in shown.items()
            ),
            (
                f"{result.metric.title}: the mean over the items of each domain with Student's 95 % t interval.",
                *([UNFILED[by]] if set(shown) == {""} else []),
            ),
            (
                SheetPicture(
                    "map",
                    f"{title} (heat map)",
                    partial(pictures.heat, title, list(shown.values()), list(means), values, result.metric.axis),
                ),
            ),
            DOMAIN_DEPARTURES,
            rater=result.rater,
        ),
    )  # fmt: skip


def _margin(mean: Estimate | None) -> SheetCell:
    if mean is None or mean.value is None or mean.low is None or mean.high is None:
        return missing(mean.note if mean else "No response")
    return count(max(mean.value - mean.low, mean.high - mean.value), form=".3f")


def _domain_cell(mean: Estimate | None) -> SheetCell:
    if mean is None or mean.value is None:
        return missing("\n".join(explained(mean)) if mean else "No response")
    return figure(mean)


# The costs of a report; tokens per second is a speed, not a cost.
COSTS = ("latency", "tokens", "run_tokens", "cost")


def efficiency(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:
    """A row for each system that has a score: its means over items, its costs, and whether it is worth them.

    An unknown cost is not a cost of 0.
    """
    result = results.of_metric(project, metric, judge, among)
    info, scores = result.metric, results.system_means(result, mode)
    if not scores:
        return ()
    heads = [SYSTEM_COLUMN, SheetColumn(key_of(info.name), info.title)]
    best_first = sorted(scores, key=lambda name: (-(scores[name].value or -1.0), name))
    cells = {name: [text(name), figure(scores[name])] for name in best_first}
    by = f", judged by {result.rater.name}" if result.rater and info.judged else ""
    notes, scattered = [f"{info.title}{by}: means over items with the interval of the Results page."], []
    for cost in map(scoring.named, COSTS):
        took = results.system_means(results.of_metric(project, cost.name, "", among), mode)
        means = {name: took.get(name, Estimate(None)) for name in scores}
        front_points = standings([(name, score.value, means[name].value) for name, score in scores.items()])
        heads += columns(
            (key_of(cost.name), cost.title, "", cost.unit),
            (
                key_of("worth", cost.name),
                f"Worth its {cost.title.lower()}?",
                "No other system is at least as good on both and better on one",
            ),
        )
        for row in front_points:
            cells[row.system] += [_took(means[row.system], cost), _worth(row)]
        notes.append(_front(front_points, cost))
        if any(estimate.value is not None for estimate in took.values()):
            scattered.append(_efficiency_picture(front_points, scores, info, cost))
    return (
        ResultSheet(
            "efficiency",
            "Score against what a report took",
            tuple(heads),
            tuple(SheetLine(tuple(own)) for own in cells.values()),
            tuple(notes),
            tuple(scattered),
            rater=result.rater,
        ),
    )


def _efficiency_picture(
    front_points: Iterable[FrontPoint], scores: Mapping[str, Estimate], info: MetricInfo, cost: MetricInfo
) -> SheetPicture:
    points = [
        pictures.PicturePoint(
            row.system, row.cost, row.score, row.on_front, scores[row.system].low, scores[row.system].high
        )
        for row in front_points
        if row.cost is not None and row.score is not None
    ]
    return picture(
        cost.name,
        f"{info.title} against {cost.title.lower()}: the front is full",
        pictures.plane,
        points,
        f"{cost.title} ({cost.unit})",
        f"{info.title}, 95 % interval",
        front=True,
    )


def _took(mean: Estimate, cost: MetricInfo) -> SheetCell:
    made = replace(figure(mean), metric=cost.name)
    if mean.value is not None or mean.floor is None:
        return made
    return replace(made, words=f"at least {in_words(Estimate(mean.floor))}")


def _worth(row: FrontPoint) -> SheetCell:
    if not row.known:
        return SheetCell(
            "not known", None, "A score or a cost is not known: it neither beats nor is beaten.", "missing"
        )
    if row.on_front:
        return SheetCell("on the front", 0.0, "", "agreed")
    beaten = ", ".join(row.beaten_by)
    return SheetCell(f"beaten by {beaten}", float(len(row.beaten_by)), beaten)


def _front(front_points: Iterable[FrontPoint], cost: MetricInfo) -> str:
    on = [
        f"{row.system} ({in_words(Estimate(row.score))} at {number(row.cost or 0.0, cost.unit)})"
        for row in front_points
        if row.on_front
    ]
    return (
        f"{cost.title}: {', '.join(on)} on the front."
        if on
        else f"{cost.title} is not known of any system with a score."
    )


MODE_DEPARTURES = (
    "The gain of a mode is the mean of the differences item by item, over the items that were answered in both, with "
    "an interval; the paper sets the means of two modes side by side.",
)


def modes_choices(project: Project) -> tuple[ViewChoice, ...]:
    one = tuple((mode, mode) for mode in scoring.modes_of(project))
    return (
        ViewChoice("one", "From", one),
        ViewChoice("other", "To", (*one[1:], *one[:1])),
        results.metric_choice(project),
        results.rater_choice(project),
    )


def modes(
    project: Project, one: str = "", other: str = "", metric: str = USUAL_METRIC, judge: str = ""
) -> tuple[ResultSheet, ...]:
    """Every system that answered in both modes; by default the mode that counts, and the next one."""
    modes = (*scoring.modes_of(project), "", "")
    one, other = one or modes[0], other or modes[1]
    result = results.of_metric(project, metric, judge)
    title, before, after = result.metric.title, _by_system(result, one), _by_system(result, other)
    compared = {
        name: paired_means(before[name], after[name]) for name in before if name in after and one != other
    }
    if not compared:
        return ()
    first, second = (results.system_means(result, mode) for mode in (one, other))
    sides = [(key_of("mode", mode), mode) for mode in (one, other)]
    gains = ResultSheet(
        "gains",
        "Gain of one mode over another",
        columns(
            SYSTEM_COLUMN, *sides,
            ("gain", "Gain", "Mean over items of the paired differences, with Student's t interval"),
            ("items", "Items", "Items that have a score in both modes"),
            ("only_one_mode", "Only one mode", "Items that have only one of the modes"),
        ),
        tuple(
            SheetLine((
                text(system), figure(first[system]), figure(second[system]), figure(own.mean),
                count(own.mean.n), count(len(own.only_one) + len(own.only_other)),
            ))
            for system, own in compared.items()
        ),
        (
            f"{title}: what “{other}” gains over “{one}”, paired item by item, so that hard and easy items weigh "
            "alike on both sides.",
        ),
        (
            picture(
                "modes",
                f"{title}: “{one}” against “{other}”",
                pictures.pairs,
                [(system, first[system], second[system]) for system in compared],
                (one, other),
                f"{title}, mean over items, 95 % interval",
            ),
        ),
        MODE_DEPARTURES,
        rater=result.rater,
    )  # fmt: skip
    each = ResultSheet(
        "items",
        "Item by item",
        columns(ITEM_COLUMN, SYSTEM_COLUMN, *sides, ("gain", "Gain")),
        tuple(
            SheetLine(
                (
                    text(result.items[item_id].key, tip=result.items[item_id].question),
                    text(system),
                    *map(figure, (before[system][item_id], after[system][item_id], gain)),
                ),
                item_id=item_id,
            )
            for system, own in compared.items()
            for item_id, gain in own.differences.items()
        ),
    )
    return gains, each


def _by_system(report: results.Scores, mode: str) -> dict[str, dict[str, Estimate]]:
    scores = results.by_item(report.of_mode(mode)) if mode else {}
    return {
        report.systems[system]: {item: results.item_means_of_runs(runs) for item, runs in of_item.items()}
        for system, of_item in scores.items()
    }


Point = tuple[float, float]
CHARACTERS, TOKENS, PLAN = "characters", "tokens", "plan"
# Shown even if undefined; and the format of a mean.
ALWAYS = ("all reports", "means of systems")
MEAN = {CHARACTERS: ",.0f", TOKENS: ",.0f", PLAN: ".2f"}
# The kinds of length: name and unit.
LENGTHS = {
    CHARACTERS: ("Report, in characters", "characters"),
    TOKENS: ("Report, in tokens", "tokens"),
    PLAN: ("Gold plan of the item", "sub-tasks"),
}


def lengths_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the length, the score or cost beside it, the rater, the mode and the items."""
    metric, *others = results.choices(project)
    took = tuple((info.title, info.name) for info in scoring.known(project) if info.cost)
    return (
        ViewChoice("of", "Length of", tuple((name, of) for of, (name, _) in LENGTHS.items())),
        replace(metric, values=(*metric.values, *took)),
        *others,
    )


def lengths(
    project: Project, metric: str = USUAL_METRIC, judge: str = "", of: str = CHARACTERS, mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:  # fmt: skip
    """Lengths and scores of every response with both, by default in the mode that counts in the results.

    A row for each system: the length of its reports, their scores, and whether its longer ones score higher.
    """
    result = results.of_metric(project, metric, judge, among)
    info, length_of = result.metric, _lengths(project, of)
    scored = [
        (score, (length_of[score.response_id], score.estimate.value))
        for score in result.of_mode(mode)
        if score.estimate.value is not None and score.response_id in length_of
    ]
    if not scored:
        return ()
    points = dict(
        sorted(grouped((result.systems[score.system_id], point) for score, point in scored).items())
    )
    over = {
        "all reports": _both([point for own in points.values() for point in own]),
        "means of systems": _both(_means(points)),
        "means of items": _both(_means(grouped((score.item_id, point) for score, point in scored))),
        "means of subjects": _both(
            _means(grouped((result.items[score.item_id].subject, point) for score, point in scored))
        ),
    }
    (name, unit), scores = LENGTHS[of], results.system_means(result, mode)
    beside = ResultSheet(
        "length",
        "Length against score",
        columns(
            SYSTEM_COLUMN, ("reports", "Reports", "With a score and a length"),
            ("mean_length", "Mean length", "", unit), ("shortest", "Shortest", "", unit),
            ("longest", "Longest", "", unit), (key_of(info.name), info.title, "", info.unit),
            ("r_within", "r within",
             "Pearson's r of length and score over the system's own reports, with Fisher's interval"),
        ),
        tuple(_length_line(system, own, scores[system], MEAN[of]) for system, own in points.items()),
        (
            *(
                f"Over {name}: Pearson's r {_correlation(r)}, Spearman's ρ {_correlation(rho)}."
                for name, (r, rho) in over.items()
                if r.value is not None or name in ALWAYS
            ),
            "Length that goes with the score is no proof of bias: a longer report may cover more.",
        ),
        (
            picture(
                "length",
                f"{info.title} against length: {name.partition(',')[0].lower()}",
                pictures.clouds,
                points,
                unit.capitalize(),
                info.title,
            ),
        ),
        rater=result.rater,
    )  # fmt: skip
    return beside, _correlations(over)


def _length_line(system: str, points: Sequence[Point], score: Estimate, form: str) -> SheetLine:
    lengths = [length for length, _ in points]
    return SheetLine((
        text(system), count(len(lengths)), count(fmean(lengths), form=form), count(min(lengths), form=",.0f"),
        count(max(lengths), form=",.0f"), figure(score), figure(_both(points)[0]),
    ))  # fmt: skip


def _lengths(project: Project, of: str) -> dict[str, float]:
    """The length of each response, or of the gold plan of its item, by response id; unknown ones are left out."""
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


def _means(groups: Mapping[str, Sequence[Point]]) -> list[Point]:
    return [(fmean(x for x, _ in own), fmean(y for _, y in own)) for own in groups.values()]


def _both(points: Sequence[Point]) -> tuple[Estimate, Estimate]:
    x, y = [point[0] for point in points], [point[1] for point in points]
    return pearson(x, y), spearman(x, y)


def _correlations(estimates: Mapping[str, tuple[Estimate, Estimate]]) -> ResultSheet:
    rows = [
        (name, over, own)
        for over, both in estimates.items()
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


def _correlation(estimate: Estimate) -> str:
    return or_why(estimate, f" (n = {estimate.n})")
