"""How a replay under the public rule is set out: scores of both rules, and every verdict that comes out otherwise."""

from functools import partial

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures
from annotator.actions.runs.judge_cases import COVERAGE
from annotator.actions.sheets.result_sheets import (
    Cell,
    Choice,
    Line,
    Picture,
    Sheet,
    Source,
    columns,
    count,
    figure,
    text,
)
from annotator.actions.sheets.validation_cells import told
from annotator.actions.validation import rule_readings, rule_replay
from annotator.actions.validation.rule_replay import MISSING, Changed, Replay
from annotator.actions.validation.rule_replay import Line as Scored

LACKS = "It needs the kept replies of a judge behind an endpoint that was asked about coverage one criterion at a time."
AXIS = "Coverage: mean over items, 95 % interval"
HERE = ("Here", "By the verdicts as they were read here; what is missing is left out")
THERE = ("Under the rule", "By the public rule; a call that failed counts as not covered")
DIFFERENCE = ("Difference", "Under the rule, less here")


def choices(project: Project) -> tuple[Choice, ...]:
    """Whose replies are read anew."""
    names = tuple((judge.name, judge.name) for judge in rule_readings.readable(project))
    return (Choice("judge", "Judge", names),) if names else ()


def report(project: Project, judge: str = "") -> tuple[Replay, str]:
    """The replay, and the judge's id."""
    found = rule_replay.replay(project, judge)
    return found, judges.named(project, found.judge).id


def sheets(found: tuple[Replay, str]) -> tuple[Sheet, ...]:
    """Systems, the reports whose score changes, and the verdicts behind that, each with its reply."""
    replay, judge_id = found
    made = (_systems(replay), _reports(replay, judge_id), _changed(replay, judge_id))
    return tuple(sheet for sheet in made if sheet.lines)


def _systems(found: Replay) -> Sheet:
    heads = columns(
        "System", HERE, THERE, DIFFERENCE, ("Place here", "Among all systems, 1 the best"), "Place there",
        ("Changed", "Verdicts that come out otherwise"),
    )  # fmt: skip
    lines = tuple(
        Line((
            text(one.system), told(one.ours), told(one.theirs), told(one.difference), _place(one.place),
            _place(one.place_theirs, one.place), count(one.changed),
        ))
        for one in found.systems
    )  # fmt: skip
    # What the systems come to is said by the table itself.
    about = found.words()[: -len(found.systems)] if found.systems else found.words()
    return Sheet("Systems", heads, lines, tuple(line.strip() for line in about), (_picture(found),))


def _place(place: int | None, before: int | None = None) -> Cell:
    if place is None:
        return text("–")
    return text(f"{place}, was {before}" if before not in (None, place) else str(place))


def _picture(found: Replay) -> Picture:
    title = f"Coverage by “{found.judge}”: here, and under the public rule"
    rows = [(one.system, one.ours, one.theirs) for one in found.systems]
    draw = partial(result_pictures.pairs, title, rows, ("here", "under the public rule"), AXIS, share=True)
    return Picture("replay", "Coverage under both rules", draw)


def _reports(found: Replay, judge_id: str) -> Sheet:
    heads = columns(
        "Item", "System", HERE, THERE, DIFFERENCE, ("Changed", "Verdicts that come out otherwise")
    )
    lines = tuple(
        Line(
            (text(one.item), text(one.system), figure(one.ours), figure(one.theirs), figure(one.difference),
             count(one.changed)),
            one.item_id, response_id=one.response_id, source=_of_report(one, judge_id),
        )
        for one in found.reports
    )  # fmt: skip
    return Sheet("Reports whose score changes", heads, lines)


def _of_report(one: Scored, judge_id: str) -> Source:
    words = f"Item {one.item}, {one.system}"
    return Source(COVERAGE, judge_id, item_id=one.item_id, response_id=one.response_id, words=words)


def _changed(found: Replay, judge_id: str) -> Sheet:
    heads = columns(
        "Item", "System", "Criterion", "Weight", "Here", "Under the rule", ("Why", "What of the reply decided it"),
        ("Decided by", "The word whose letters the rule found"), "Reply",
    )  # fmt: skip
    lines = tuple(
        Line(
            (
                text(one.item), text(one.system), text(one.unit, tip=one.unit), count(one.weight, form="g"),
                _ours(one), text(one.theirs), text(one.how), text(one.shown or "–"), text(one.form, tip=one.raw),
            ),
            one.item_id, one.unit_id, response_id=one.response_id,
            more=(("The reply as it came", one.raw),) if one.raw else (),
            source=Source(
                COVERAGE, judge_id, item_id=one.item_id, response_id=one.response_id, unit_id=one.unit_id,
                words=f"Item {one.item}, {one.system}: {one.direction}",
            ),
        )
        for one in found.changed
    )  # fmt: skip
    return Sheet("Verdicts that change", heads, lines)


def _ours(one: Changed) -> Cell:
    return text(one.ours) if one.ours else Cell(MISSING, None, one.status.replace("_", " "), "missing")
