"""Scores by domain: a mean for each subject, or question type, with its 95 % interval."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_pictures, scoring
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
UNFILED = {
    by: f"No item has a {by.replace('_', ' ')} yet. Set it: goldsmith items edit FILE KEYS --{option} …"
    for by, option in zip(FILED, ("subject", "type"), strict=True)
}

DEPARTURES = (
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
    together: Mapping[str, Estimate]
    """Over all systems: of each item the mean of what systems score, and of these the mean of each domain."""


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """By what items are filed, which score counts, by whose judgements, in which mode and of which items."""
    by = ViewChoice("by", "Domain", (("Subject", FILED[0]), ("Question type", FILED[1])))
    return (by, *response_scores.choices(project))


def report(
    project: Project, by: str = "subject", metric: str = USUAL_METRIC, judge: str = "", mode: str = "", among: str = ""
) -> DomainsReport:  # fmt: skip
    """The domains of all items in use, the best over all systems first; items of none stand under the empty name."""
    found = response_scores.of_metric(project, metric, judge, among)
    domain_of = {item_id: str(getattr(item, by)) for item_id, item in found.items.items()}
    scored = response_scores.by_item(found.of_mode(mode))
    scores = {
        found.systems[system_id]: {item: response_scores.mean_of_runs(runs) for item, runs in of_item.items()}
        for system_id, of_item in scored.items()
    }
    each = {
        item: scoring.mean_of([own[item] for own in scores.values() if item in own])
        for item in dict.fromkeys(item for own in scores.values() for item in own)
    }
    means = {name: by_group(own, domain_of, found.metric.within) for name, own in sorted(scores.items())}
    together = by_group(each, domain_of, found.metric.within)
    sizes = Counter(domain_of.values())
    ordered = {domain: sizes[domain] for domain in (*together, *sorted(set(sizes) - set(together)))}
    return DomainsReport(found.metric, found.rater, by, means, ordered, together)


def sheets(found: DomainsReport) -> tuple[ResultSheet, ...]:
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
            text(domain or NONE), count(size), _cell(found.together.get(domain)), _margin(found.together.get(domain)),
            *(_cell(row.get(domain)) for row in found.means.values()),
        ))
        for domain, size in found.sizes.items()
    ]  # fmt: skip
    told = (
        f"{found.metric.title}: the mean over the items of each domain with Student's 95 % t interval.",
        *([UNFILED[found.by]] if set(found.sizes) == {""} else []),
    )
    return (ResultSheet("domains", "By domain", heads, tuple(lines), told, (_picture(found),), DEPARTURES),)


def _margin(mean: Estimate | None) -> SheetCell:
    """How far the interval of a mean reaches, before it is cut."""
    if mean is None or mean.value is None or mean.low is None or mean.high is None:
        return missing(mean.note if mean else "No response")
    return count(max(mean.value - mean.low, mean.high - mean.value), form=".3f")


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
