"""Effect of gold given to a system: two modes compared item by item."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, scoring
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.response_scores import ItemName, Scores
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    key_of,
    text,
)
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import PairedMeans, paired_means

DEPARTURES = (
    "The gain of a mode is the mean of the differences item by item, over the items that were answered in both, with "
    "an interval; the paper sets the means of two modes side by side.",
)


@dataclass(frozen=True, slots=True)
class ModesReport:
    """By system: its means in both modes, and the difference on items that have both."""

    metric: MetricInfo
    rater: ResultRater | None
    one: str
    other: str
    means: Mapping[str, tuple[Estimate, Estimate]]
    comparisons: Mapping[str, PairedMeans]
    items: Mapping[str, ItemName] = field(repr=False)
    by_item: Mapping[str, Mapping[str, tuple[Estimate, Estimate]]] = field(repr=False)


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Which two modes are compared, on which score, by whose judgements."""
    one = tuple((mode, mode) for mode in scoring.modes_of(project))
    other = (*one[1:], *one[:1])
    return (
        ViewChoice("one", "From", one),
        ViewChoice("other", "To", other),
        response_scores.metric_choice(project),
        response_scores.rater_choice(project),
    )


def report(
    project: Project, one: str = "", other: str = "", metric: str = USUAL_METRIC, judge: str = ""
) -> ModesReport:
    """Every system that answered in both modes; by default the mode that counts, and the next one."""
    modes = (*scoring.modes_of(project), "", "")
    one, other = one or modes[0], other or modes[1]
    found = response_scores.of_metric(project, metric, judge)
    before, after = _by_system(found, one), _by_system(found, other)
    both = [name for name in before if name in after and one != other]
    first, second = (response_scores.system_means(found, mode) for mode in (one, other))
    return ModesReport(
        found.metric,
        found.rater,
        one,
        other,
        {name: (first[name], second[name]) for name in both},
        {name: paired_means(before[name], after[name]) for name in both},
        found.items,
        {
            name: {
                item: (before[name][item], after[name][item]) for item in before[name] if item in after[name]
            }
            for name in both
        },
    )


def _by_system(found: Scores, mode: str) -> dict[str, dict[str, Estimate]]:
    scores = response_scores.by_item(found.of_mode(mode)) if mode else {}
    return {
        found.systems[system]: {item: response_scores.mean_of_runs(runs) for item, runs in of_item.items()}
        for system, of_item in scores.items()
    }


def sheets(found: ModesReport) -> tuple[ResultSheet, ...]:
    """The systems with both means and the gain, and every item behind it."""
    if not found.comparisons:
        return ()
    sides = [(key_of("mode", mode), mode) for mode in (found.one, found.other)]
    heads = columns(
        SYSTEM_COLUMN, *sides, ("gain", "Gain", "Mean over items of the paired differences, with Student's t interval"),
        ("items", "Items", "Items that have a score in both modes"),
        ("only_one_mode", "Only one mode", "Items that have only one of the modes"),
    )  # fmt: skip
    lines = []
    for system, compared in found.comparisons.items():
        means, alone = found.means[system], len(compared.only_one) + len(compared.only_other)
        cells = (
            text(system), figure(means[0]), figure(means[1]), figure(compared.mean),
            count(compared.mean.n), count(alone),
        )  # fmt: skip
        lines.append(SheetLine(cells))
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
            (_picture(found),),
            DEPARTURES,
        ),
        ResultSheet("items", "Item by item", each, tuple(_item_lines(found))),
    )


def _picture(found: ModesReport) -> SheetPicture:
    rows = [(system, *means) for system, means in found.means.items()]
    title = f"{found.metric.title}: “{found.one}” against “{found.other}”"
    axis = f"{found.metric.title}, mean over items, 95 % interval"
    return SheetPicture(
        "modes", title, partial(result_pictures.pairs, title, rows, (found.one, found.other), axis)
    )


def _item_lines(found: ModesReport) -> Iterator[SheetLine]:
    for system, compared in found.comparisons.items():
        for item_id, gain in compared.differences.items():
            name = found.items[item_id]
            sides = found.by_item[system][item_id]
            cells = (text(name.key, tip=name.question), text(system), *map(figure, (*sides, gain)))
            yield SheetLine(cells, item_id=item_id)
