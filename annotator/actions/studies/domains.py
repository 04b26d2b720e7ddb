"""Scores by domain: a mean for each subject, or question type, with its 95 % interval."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures
from annotator.actions.results.metrics import USUAL_METRIC, MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    explained,
    figure,
    key_of,
    missing,
    text,
)
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import by_group

FILED = ("subject", "question_type")
NONE = "(none)"


@dataclass(frozen=True, slots=True)
class DomainsReport:
    """Means by system and domain; `sizes` counts the items of each domain."""

    metric: MetricInfo
    rater: ResultRater | None
    by: str
    means: Mapping[str, Mapping[str, Estimate]]
    sizes: Mapping[str, int]


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """By what items are filed, which score counts, by whose judgements."""
    by = ViewChoice("by", "Domain", (("Subject", FILED[0]), ("Question type", FILED[1])))
    return (by, response_scores.metric_choice(project), response_scores.rater_choice(project))


def report(
    project: Project, by: str = "subject", metric: str = USUAL_METRIC, judge: str = ""
) -> DomainsReport:
    """The domains of all items in use; items of none stand under the empty name."""
    found = response_scores.of_metric(project, metric, judge)
    domain_of = {item_id: str(getattr(item, by)) for item_id, item in found.items.items()}
    means = {
        found.systems[system_id]: by_group(
            {item: response_scores.mean_of_runs(runs) for item, runs in of_item.items()},
            domain_of,
            found.metric.within,
        )
        for system_id, of_item in response_scores.by_item(found.of_mode()).items()
    }
    sizes = {domain: list(domain_of.values()).count(domain) for domain in sorted(set(domain_of.values()))}
    return DomainsReport(found.metric, found.rater, by, dict(sorted(means.items())), sizes)


def sheets(found: DomainsReport) -> tuple[ResultSheet, ...]:
    """Domains down, systems across, each the mean with its interval."""
    if not found.means:
        return ()
    heads = columns(
        ("domain", "Domain"), ("items", "Items"), *((key_of("system", name), name) for name in found.means)
    )
    lines = [
        SheetLine(
            (text(domain or NONE), count(size), *(_cell(row.get(domain)) for row in found.means.values()))
        )
        for domain, size in found.sizes.items()
    ]
    told = (f"{found.metric.title}: the mean over the items of each domain with Student's 95 % t interval.",)
    return (ResultSheet("domains", "By domain", heads, tuple(lines), told, (_picture(found),)),)


def _picture(found: DomainsReport) -> SheetPicture:
    values = {
        (domain or NONE, name): own.value for name, row in found.means.items() for domain, own in row.items()
    }
    title = f"{found.metric.title} by {found.by.replace('_', ' ')}"
    rows = [domain or NONE for domain in found.sizes]
    draw = partial(result_pictures.heat, title, rows, list(found.means), values, found.metric)
    return SheetPicture("map", f"{title} (heat map)", draw)


def _cell(mean: Estimate | None) -> SheetCell:
    if mean is None or mean.value is None:
        return missing("\n".join(explained(mean)) if mean else "No response")
    return figure(mean)
