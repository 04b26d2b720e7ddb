"""How many of the key points that judges drew people accepted."""

from collections import defaultdict

from annotator.actions.judges import judges
from annotator.actions.papers import common_pools
from annotator.actions.papers.common_pools import PointReview
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetLine,
    columns,
    count,
    figure,
    no_choices,
    text,
)
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.estimate import Estimate


def report(project: Project) -> dict[str, list[PointReview]]:
    """What people made of the key points of each judge, report by report; only where they decided anything."""
    names = {one.id: one.name for one in judges.all_of(project)}
    found: dict[str, list[PointReview]] = defaultdict(list)
    for one in common_pools.reviews(project):
        if one.accepted or one.rejected:
            found[names.get(one.judge_id, one.judge_id)].append(one)
    return dict(sorted(found.items()))


def precision(found: list[PointReview]) -> Estimate:
    """The share of accepted points among those decided; its interval knows that points of one item belong together."""
    from annotator.stats.intervals.cluster_means import clustered_wilson

    holds = [float(value) for one in found for value in [True] * one.accepted + [False] * one.rejected]
    items = [one.item_id for one in found for _ in range(one.accepted + one.rejected)]
    return clustered_wilson(holds, items)


def sheets(found: dict[str, list[PointReview]]) -> tuple[ResultSheet, ...]:
    """A row for each judge that drew key points; none while nobody decided anything."""
    if not found:
        return ()
    heads = columns(
        JUDGE_COLUMN, ("precision", "Precision", "Accepted key points, of all that were accepted or rejected"),
        ("accepted", "Accepted", "As drawn, or edited"), ("edited", "Edited", "Of the accepted, those reworded"),
        ("rejected", "Rejected", "Taken out of the list"), ("waiting", "Open", "Nobody has decided yet"),
        ("reports", "Reports", "Reports of which key points were decided"),
    )  # fmt: skip
    lines = []
    for name, of in found.items():
        sums = (
            sum(getattr(one, part) for one in of) for part in ("accepted", "edited", "rejected", "waiting")
        )
        lines.append(SheetLine((text(name), figure(precision(of)), *map(count, sums), count(len(of)))))
    told = (
        "Points of reports that nobody has begun to review are not counted; open ones enter no precision.",
    )
    return (ResultSheet("key_points", "Key points that people accepted", heads, tuple(lines), told),)


VIEW = ResultView(
    "key-points",
    "Key points accepted",
    result_views.BENCHMARK,
    "How many of the key points that a judge drew from cited pages people accepted.",
    "Have key points drawn from the pages that reports give, then accept, edit or remove them on the Material page.",
    no_choices,
    report,
    sheets,
    page="Material",
    command=result_views.drawing(ResponsePart.KEYPOINTS),
    rests_on=(ResponsePart.KEYPOINTS.drawn,),
)
