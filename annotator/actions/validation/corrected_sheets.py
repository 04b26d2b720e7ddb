"""How a corrected leaderboard is set out: scores, pairs that may swap places, and what to label next."""

from dataclasses import replace
from functools import partial

from annotator.actions.results import result_pictures
from annotator.actions.sets.validation_sets import COVERAGE
from annotator.actions.sheets.result_sheets import (
    Cell,
    Line,
    Picture,
    Sheet,
    Source,
    columns,
    count,
    figure,
    number,
    text,
)
from annotator.actions.sheets.validation_cells import NO_SPREAD, told
from annotator.actions.validation import corrected, validation
from annotator.actions.validation.corrected import Corrected
from annotator.actions.validation.validation_behind import Held, held
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import ROUGH, Estimate

AXIS = "Coverage: mean over items, 95 % interval"


def sheets(found: Corrected, width: float) -> tuple[Sheet, ...]:
    """The leaderboard, every two systems, and the plan for intervals `width` wide with the responses to label."""
    return tuple(
        sheet for sheet in (_scores(found), _pairs(found), _plan(found, width), _next(found)) if sheet.lines
    )


def _scores(found: Corrected) -> Sheet:
    heads = columns(
        "System", ("Raw", "The judge's coverage: mean over items"),
        ("Corrected", "People's labels and the judge together (PPI++)"), ("Labelled units", "People's mean over those"),
        ("Rank", "By corrected score, with where it lies in 95 % of resamples of the items"),
        ("λ", "How far the judge is trusted: 0 not at all, 1 fully"), ("Labels", "Units with a label"), "Units",
    )  # fmt: skip
    lines = []
    for name in corrected.in_order(found):
        score = found.standings.scores[name]
        cells = (
            text(name), replace(told(score.raw), source=_judged(found, name), metric="coverage"), told(score.corrected),
            replace(told(score.labelled), source=_labelled(found, name)),
            rank(found.standings.ranks[name]), count(score.tuning, form=".2f"), count(found.labelled[name]),
            count(found.units[name]),
        )  # fmt: skip
        lines.append(Line(cells, source=_labelled(found, name)))
    about = (f"“{found.rater.name}”, corrected by the labels of {found.against}.", *found.notes)
    return Sheet("Corrected leaderboard", heads, tuple(lines), about, _pictures(found))


def rank(found: Estimate) -> Cell:
    """A rank with the ranks between which it lies: “5 (1–5)”."""
    cell = told(found)
    if found.value is None:
        return cell
    span = f" ({found.low:g}–{found.high:g})" if found.low is not None else ""
    return replace(cell, words=f"{found.value:g}{span}{' rough' if span and ROUGH in found.note else ''}")


def _judged(found: Corrected, name: str) -> Source:
    """All that the judge said of a system."""
    return Source(
        COVERAGE, found.rater.id, "coverage", found.ids[name], words=f"{name}: raw, by {found.rater.name}"
    )


def _labelled(found: Corrected, name: str) -> Held | None:
    """The units of a system that people labelled, with what the judge says of them."""
    if not found.labelled[name]:
        return None
    wish = validation.Wish(
        COVERAGE, found.wish.set_name, found.wish.part, found.wish.against, found.wish.judge, by="system",
        opening=found.wish.opening,
    )  # fmt: skip
    return held(wish, found.rater, name, f"{name}: units with a label")


def _pictures(found: Corrected) -> tuple[Picture, ...]:
    scores = found.standings.scores
    shown = [(name, scores[name].raw, scores[name].corrected) for name in corrected.in_order(found)]
    title = f"Coverage by “{found.rater.name}”, raw and corrected by people's labels"
    draw = partial(result_pictures.pairs, title, shown, ("raw", "corrected"), AXIS, share=True)
    return (Picture("corrected", "Coverage, raw and corrected", draw), *_flips(found))


def _flips(found: Corrected) -> tuple[Picture, ...]:
    """How likely it is, two by two, that a system is behind another once the judge is corrected."""
    behind: dict[tuple[str, str], float | None] = {}
    for pair in found.standings.pairs:
        first, second, flip = str(pair.first), str(pair.second), pair.flip.value
        behind |= {(first, second): flip, (second, first): None if flip is None else 1 - flip}
    if all(share is None for share in behind.values()):
        return ()
    title = "Chance that the system of the row is behind that of the column, corrected"
    draw = partial(result_pictures.duels, title, corrected.in_order(found), behind)
    return (Picture("flips", "How likely two change places", draw),)


def _pairs(found: Corrected) -> Sheet:
    heads = columns(
        ("Better by the judge", "The system that the judge puts first"), "Other",
        ("Difference", "Of corrected scores, the first less the second"),
        ("Chance of the other order", "The share of resamples of the items in which the second is ahead, ties half"),
        "Verdict",
    )  # fmt: skip
    lines = []
    for pair in found.standings.pairs:
        low, high = pair.difference.low, pair.difference.high
        open_ = low is None or high is None or low <= 0 <= high
        verdict = text("indistinguishable" if open_ else "told apart", state="" if open_ else "agreed")
        lines.append(
            Line(
                (
                    text(str(pair.first)),
                    text(str(pair.second)),
                    told(pair.difference),
                    figure(pair.flip),
                    verdict,
                )
            )
        )
    return Sheet("Every two systems", heads, tuple(lines), pictures=_flips(found))


def _plan(found: Corrected, width: float) -> Sheet:
    heads = columns(
        "System", ("Width now", "Of the corrected score's 95 % interval"),
        ("More labels", "Units, the fewest that do it"),
        ("Width then", "Expected"), ("Width at best", "With every unit labelled"), "Note",
    )  # fmt: skip
    lines = []
    for name, more in found.more.items():
        plan = more.plan
        cells = (
            text(name), _width(plan.width_now), count(plan.more), _width(plan.width_then), _width(plan.least),
            text(plan.note or "–"),
        )  # fmt: skip
        lines.append(Line(cells))
    about = (
        f"What narrows each interval to a width of {width:g}, as it is computed above, if further labels are of "
        "reports drawn by chance. From few labels it is foretold roughly: look again on the way.",
    )
    return Sheet("How many more labels", heads, tuple(lines), about)


def _width(width: float | None) -> Cell:
    cell = count(width, form=".3f")
    return replace(cell, words=f"{cell.words}  {NO_SPREAD}", state="flat") if width == 0 else cell


def _next(found: Corrected) -> Sheet:
    heads = columns("Item", "System", ("Units", "Labels that it gives"))
    lines = tuple(
        Line(
            (text(one.item_key), text(one.system), count(one.units)),
            response_id=one.response_id,
        )
        for more in found.more.values()
        for one in more.responses
    )
    return Sheet("What to label next", heads, lines, ("Drawn by chance, from items without a label first.",))


def words(found: Corrected) -> list[str]:
    """Each system in a line."""
    said = []
    for name in corrected.in_order(found):
        score = found.standings.scores[name]
        raw, mended = (
            "–" if one.value is None else number(one.value) for one in (score.raw, score.corrected)
        )
        said.append(f"{name}: {raw}, corrected {mended} ({counted(found.labelled[name], 'label')})")
    return said
