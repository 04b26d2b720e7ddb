"""Corrected leaderboard as tables and pictures: scores, pairs of systems, and what to label next."""

from dataclasses import replace
from functools import partial

from annotator.actions.results import result_pictures
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
from annotator.actions.sets.validation_figures import told, unknown
from annotator.actions.validation import validation
from annotator.actions.validation.corrected import CorrectedLeaderboard, in_order
from annotator.actions.validation.validation_behind import HeldRater, held
from annotator.domain.texts.estimate import NO_SPREAD, ROUGH, Estimate, of_items


def sheets(found: CorrectedLeaderboard) -> tuple[ResultSheet, ...]:
    """The leaderboard, every two systems, and the plan for intervals so narrow with the responses to label."""
    return tuple(
        sheet for sheet in (_scores(found), _pairs(found), _plan(found), _next(found)) if sheet.lines
    )


def _scores(found: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(
        SYSTEM_COLUMN, ("raw", "Raw", f"The judge's {found.query.info.title.lower()}: mean over items"),
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
    lines = []
    for name in in_order(found):
        score = found.standings.scores[name]
        cells = (
            text(name), replace(told(score.raw), source=_judged(found, name), metric=found.query.metric),
            told(score.corrected),
            replace(told(score.labelled), source=_labelled(found, name)),
            rank(found.standings.ranks[name]), count(score.tuning, form=".2f"), count(found.labelled[name]),
            count(found.units[name]),
        )  # fmt: skip
        lines.append(SheetLine(cells, source=_labelled(found, name)))
    about = (f"“{found.rater.name}”, corrected by the labels of {found.against}.", *found.notes)
    return ResultSheet("leaderboard", "Corrected leaderboard", heads, tuple(lines), about, _pictures(found))


def rank(found: Estimate) -> SheetCell:
    """A rank with the ranks between which it lies: “5 (1–5)”."""
    cell = figure(found)
    if found.value is None:
        return cell
    span = f" ({found.low:g}–{found.high:g})" if found.low is not None else ""
    return replace(cell, words=f"{found.value:g}{span}{' rough' if span and ROUGH in found.note else ''}")


def _judged(found: CorrectedLeaderboard, name: str) -> FigureSource:
    return FigureSource(
        found.query.info.protocol,
        found.rater.id,
        found.query.metric,
        found.ids[name],
        words=f"{name}: raw, by {found.rater.name}",
    )


def _labelled(found: CorrectedLeaderboard, name: str) -> HeldRater | None:
    """The units of a system that people labelled, with what the judge says of them."""
    if not found.labelled[name]:
        return None
    of = found.query
    query = validation.ValidationQuery(
        of.info.protocol, of.set_name, of.part, of.against, of.judge, by="system", opening=of.opening
    )
    return held(query, found.rater, name, f"{name}: units with a label")


def _pictures(found: CorrectedLeaderboard) -> tuple[SheetPicture, ...]:
    scores = found.standings.scores
    shown = [(name, scores[name].raw, scores[name].corrected) for name in in_order(found)]
    info = found.query.info
    title = f"{info.title} by “{found.rater.name}”, raw and corrected by people's labels"
    drawn = [end or 0.0 for _, *two in shown for one in two for end in (one.value, one.low)]
    draw = partial(
        result_pictures.pairs, title, shown, ("raw", "corrected"), f"{info.title}: {info.ranging}, 95 % interval",
        share=info.share and min(drawn, default=0) >= 0,
    )  # fmt: skip
    return (SheetPicture("corrected", f"{info.title}, raw and corrected", draw), *_flips(found))


def _flips(found: CorrectedLeaderboard) -> tuple[SheetPicture, ...]:
    """How likely it is, two by two, that a system is behind another once the judge is corrected."""
    behind: dict[tuple[str, str], float | None] = {}
    for pair in found.standings.pairs:
        first, second, flip = str(pair.first), str(pair.second), pair.flip.value
        behind |= {(first, second): flip, (second, first): None if flip is None else 1 - flip}
    if all(share is None for share in behind.values()):
        return ()
    title = "Probability that the row's system ranks behind the column's, corrected"
    draw = partial(result_pictures.duels, title, in_order(found), behind)
    return (SheetPicture("flips", "Probability that two systems swap ranks", draw),)


def _pairs(found: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(
        ("better", "Better by the judge", "System ranked first by the judge"), ("other", "Other"),
        ("difference", "Difference", "Difference of corrected scores, first minus second"),
        ("chance_of_other_order", "Chance of the other order",
         "Chance that the second is ahead, by t of the corrected difference over items"),
        ("verdict", "Verdict"),
    )  # fmt: skip
    lines = []
    for pair in found.standings.pairs:
        low, high, why = pair.difference.low, pair.difference.high, unknown(pair.difference)
        open_ = low is None or high is None or low <= 0 <= high
        verdict = text("indistinguishable" if open_ else "distinguishable", state="" if open_ else "agreed")
        verdict = text(f"nothing can be said: {why}") if open_ and why else verdict
        names = text(str(pair.first)), text(str(pair.second))
        lines.append(SheetLine((*names, told(pair.difference), figure(pair.flip), verdict)))
    return ResultSheet("pairs", "Every two systems", heads, tuple(lines), pictures=_flips(found))


def _plan(found: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(
        SYSTEM_COLUMN, ("width_now", "Width now", "Of the corrected score's 95 % interval"),
        ("more_labels", "More labels", "Smallest number of units"), ("width_then", "Width then", "Expected"),
        ("width_at_best", "Width at best", "With every unit labelled"), ("note", "Note"),
    )  # fmt: skip
    lines = []
    for name, more in found.more.items():
        plan = more.plan
        cells = (
            text(name), _width(plan.width_now), count(plan.more), _width(plan.width_then), _width(plan.least),
            text(of_items(plan.note) or "–"),
        )  # fmt: skip
        lines.append(SheetLine(cells))
    about = (
        f"Labels needed to narrow each interval to a width of {found.query.wide:g}, if further labels are on "
        "randomly drawn reports. With few labels the forecast is rough: check again as you go.",
    )
    return ResultSheet("plan", "How many more labels", heads, tuple(lines), about)


def _width(width: float | None) -> SheetCell:
    cell = count(width, form=".3f")
    return replace(cell, words=f"{cell.words}  {NO_SPREAD}", state="flat") if width == 0 else cell


def _next(found: CorrectedLeaderboard) -> ResultSheet:
    heads = columns(ITEM_COLUMN, SYSTEM_COLUMN, ("units", "Units", "Labels that it gives"))
    lines = tuple(
        SheetLine(
            (text(one.item_key), text(one.system), count(one.units)),
            response_id=one.response_id,
        )
        for more in found.more.values()
        for one in more.responses
    )
    return ResultSheet(
        "next", "What to label next", heads, lines, ("Drawn at random, items without a label first.",)
    )
