"""Scores under a protocol's other published rule: the verdicts it changes, and the effect."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from sqlalchemy import select

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures, results, scoring
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    text,
)
from annotator.actions.runs import run_judgements
from annotator.actions.sets.validation_figures import told
from annotator.actions.validation import rule_readings
from annotator.actions.validation.rule_readings import PLAIN, STRUCTURED, RuleReadReply
from annotator.domain.judges.protocol import Material, Metric, Over, Protocol, RatedResponse
from annotator.domain.judges.published import OtherRule, RuleReading
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS

MISSING = "missing"
OURS, THEIRS, DIFFERENCE = "ours", "theirs", "difference"


@dataclass(frozen=True, slots=True)
class ChangedReading:
    """A judgement that the rule reads differently: our value, theirs, why, and the reply.

    `shown` is the word whose letters decided it, `form` plain text or JSON; `raw` is empty without a reply.
    """

    judgement_id: str
    item: str
    system: str
    unit: str
    weight: float
    ours: str | None
    status: str
    theirs: str
    how: str
    shown: str
    form: str
    raw: str
    item_id: str = ""
    response_id: str = ""
    unit_id: str = ""

    @property
    def direction(self) -> str:
        """From what to what: “no → yes”, “missing → no”."""
        return f"{self.ours or MISSING} → {self.theirs}"


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """Score of a system, or of one report, here and under the rule, and the difference.

    `place` and `place_theirs` are a system's places among all, from 1; None where it has no score.
    """

    system: str
    item: str
    ours: Estimate
    theirs: Estimate
    difference: Estimate
    changed: int
    place: int | None = None
    place_theirs: int | None = None
    response_id: str = ""
    item_id: str = ""


@dataclass(frozen=True, slots=True)
class RuleReplay:
    """The result. `replies` counts judgements with a stored call, by form; `unread` those without.

    `systems` holds every system, the best under the rule first; `reports` only those whose score changes.
    """

    judge: str
    protocol: str
    replies: Mapping[str, int]
    unread: int
    directions: Mapping[str, int]
    systems: tuple[ScoreLine, ...]
    reports: tuple[ScoreLine, ...]
    changed: tuple[ChangedReading, ...]

    @property
    def rule(self) -> OtherRule:
        """The rule that replies were read by."""
        return rule_readings.rule_of(self.protocol)[1]

    def words(self) -> list[str]:
        """The same in lines."""
        forms = ", ".join(f"{count:,} {form}" for form, count in self.replies.items())
        lines = [
            f"{sum(self.replies.values()):,} judgements of “{self.judge}” ({forms}), read by the rule of "
            f"{self.rule.citation}: {len(self.changed):,} change.",
            *(f"  {direction}: {count:,}" for direction, count in self.directions.items()),
        ]
        if self.rule.plain_text and self.replies.get(STRUCTURED):
            plain = sum(one.form == PLAIN for one in self.changed)
            lines.append(
                "The rule was made for plain text and reads JSON as it stands; "
                f"{plain:,} of these are replies in plain text."
            )
        if self.unread:
            lines.append(f"Of {self.unread:,} judgements no call is kept; they count as they do here.")
        return lines + [_said(line) for line in self.systems]

    def tree(self) -> dict[str, Any]:
        """The same as a JSON tree."""
        changed = [{**asdict(one), "direction": one.direction} for one in self.changed]
        return {**asdict(self), "rule": self.rule.citation, "changed": changed}


def _said(line: ScoreLine) -> str:
    places = f", place {line.place} → {line.place_theirs}" if line.place != line.place_theirs else ""
    difference = "–" if line.difference.value is None else f"{line.difference.value:+.4f}"
    return f"{line.system}: {_value(line.ours)}, under the rule {_value(line.theirs)} ({difference}{places})"


def _value(found: Estimate) -> str:
    return f"– ({found.note})" if found.value is None else f"{found.value:.4f}"


def replay(project: Project, judge: str = "", protocol: str = "") -> RuleReplay:
    """Read the replies behind a judge's verdicts by the other rule; nothing is written, and no call is made.

    Without names it is the first protocol that has one, and the judge behind an endpoint that ran last. A judgement
    without a kept call counts as it does here. Refusal where there is nothing to read.
    """
    run_judgements.refuse_others(project)
    shape, rule = rule_readings.rule_of(protocol)
    asked = rule_readings.judge_of(project, shape, judge)
    with project.store.read() as db:
        found = rule_readings.readings(db, shape, rule, asked)
        systems = dict(db.execute(select(materials.SYSTEM.c.id, materials.SYSTEM.c.name)).all())
    tally = _Tally(shape, systems, _by_response(found))
    tally.count(project)
    if not tally.replies:
        judged = shape.metrics[0].title.lower()
        raise Refusal(f"No call of “{asked.name}” on {judged} is kept here.", "Run it first.")
    return RuleReplay(
        asked.name,
        shape.name,
        dict(tally.replies.most_common()),
        tally.unread,
        dict(Counter(one.direction for one in tally.changed).most_common()),
        tally.systems(),
        tuple(tally.reports),
        tuple(tally.changed),
    )


def _by_response(found: Iterable[RuleReadReply]) -> dict[str, list[RuleReadReply]]:
    by_response: dict[str, list[RuleReadReply]] = defaultdict(list)
    for one in found:
        by_response[one.response_id].append(one)
    return by_response


@dataclass
class _Tally:
    """Judgements by report, counted both ways."""

    shape: Protocol
    names: Mapping[str, str]
    by_response: Mapping[str, list[RuleReadReply]]
    replies: Counter[str] = field(default_factory=Counter)
    unread: int = 0
    changed: list[ChangedReading] = field(default_factory=list)
    reports: list[ScoreLine] = field(default_factory=list)
    scores: dict[str, list[scoring.Score]] = field(default_factory=lambda: defaultdict(list))
    changes: Counter[str] = field(default_factory=Counter)

    def count(self, project: Project) -> None:
        """Go through the reports in the project's order."""
        main = scoring.main_mode(project)
        wanted = materials.for_scoring(self.shape)
        for at_hand in materials.each(project, wanted, materials.item_ids(project)):
            for material in at_hand.responses:
                if material.response.id in self.by_response:
                    self._report(material, counts=material.response.mode == main)

    def _report(self, material: Material, *, counts: bool) -> None:
        units = {unit.id: unit for case in self.shape.cases(material) for unit in case.units}
        found = [one for one in self.by_response[material.response.id] if one.unit_id in units]
        self.replies.update(one.form for one in found if one.reading)
        self.unread += sum(one.reading is None for one in found)
        changed = [
            self._changed(material, units[one.unit_id], one, one.reading)
            for one in found
            if one.reading and one.theirs != one.value
        ]
        self.changed += changed
        both = {
            OURS: self._scored(material, {one.unit_id: one.value for one in found}),
            THEIRS: self._scored(material, {one.unit_id: one.theirs for one in found}),
        }
        both[DIFFERENCE] = _difference(both[OURS], both[THEIRS])
        system = self.names[material.response.system_id]
        if both[OURS].value != both[THEIRS].value:
            key = material.item.key
            self.reports.append(
                ScoreLine(
                    system, key, both[OURS], both[THEIRS], both[DIFFERENCE], len(changed),
                    response_id=material.response.id, item_id=material.item.id,
                )
            )  # fmt: skip
        if counts:
            self.changes[system] += len(changed)
            for side, estimate in both.items():
                self.scores[side].append(self._score(material, estimate))

    def _changed(
        self, material: Material, unit: Unit, one: RuleReadReply, reading: RuleReading
    ) -> ChangedReading:
        return ChangedReading(
            one.judgement_id, material.item.key, self.names[material.response.system_id], unit.text,
            self.shape.weight(unit), one.value, one.status, reading.value, str(reading.how), reading.shown,
            one.form, one.raw, one.item_id, one.response_id, one.unit_id,
        )  # fmt: skip

    def _scored(self, material: Material, values: Mapping[str, str | None]) -> Estimate:
        """The score over the judgements that came, as the results have it."""
        came = {unit: value for unit, value in values.items() if value is not None}
        return _metric(self.shape).score(RatedResponse(material, came), True)

    def _score(self, material: Material, estimate: Estimate) -> scoring.Score:
        response = material.response
        about = (response.id, response.trial, response.mode, estimate.n)
        return scoring.Score(
            material.item.id, response.system_id, _metric(self.shape).name, (), estimate, *about
        )

    def systems(self) -> tuple[ScoreLine, ...]:
        """Every system, the best under the rule first; means over items with their intervals."""
        ids = sorted({score.system_id for score in self.scores[OURS]}, key=self.names.__getitem__)
        sides = {side: results.estimates(found, ids) for side, found in self.scores.items()}
        places = {side: _places(sides[side]) for side in (OURS, THEIRS)}
        lines = [
            ScoreLine(
                self.names[system_id], "", sides[OURS][n], sides[THEIRS][n], sides[DIFFERENCE][n],
                self.changes[self.names[system_id]], places[OURS][n], places[THEIRS][n],
            )
            for n, system_id in enumerate(ids)
        ]  # fmt: skip
        return tuple(sorted(lines, key=lambda line: (line.place_theirs or len(lines) + 1, line.system)))


def _metric(shape: Protocol) -> Metric:
    return next(one for one in shape.metrics if one.over is Over.RESPONSE)


def _difference(ours: Estimate, theirs: Estimate) -> Estimate:
    if ours.value is None or theirs.value is None:
        return Estimate(None, method="theirs − ours", note="one of the two is undefined")
    return Estimate(theirs.value - ours.value, n=theirs.n, method="theirs − ours")


def _places(found: list[Estimate]) -> list[int | None]:
    """Each one's place from 1, the highest first; equal ones share theirs."""
    values = [estimate.value for estimate in found]
    known = [value for value in values if value is not None]
    return [None if value is None else 1 + sum(other > value for other in known) for value in values]


LACKS = "It needs the kept replies of a judge behind an endpoint that was asked about one unit at a time."
HERE = ("here", "Here", "By the verdicts as parsed here; missing ones are excluded")
CHANGED = ("changed", "Changed", "Verdicts that change")
LESS = ("difference", "Difference", "Under the rule minus here")


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Under which protocol, and whose replies, are read again."""
    found = {shape.name: rule_readings.readable(project, shape.name) for shape in rule_readings.ruled()}
    titles = tuple((PROTOCOLS[name].title, name) for name, judged in found.items() if judged)
    several = len(titles) > 1
    made = [ViewChoice("protocol", "What was judged", titles)] if several else []
    for _, name in titles:
        names = tuple((judge.name, judge.name) for judge in found[name])
        made.append(ViewChoice("judge", "Judge", names, ("protocol", (name,)) if several else None))
    return tuple(made)


def report(project: Project, judge: str = "", protocol: str = "") -> tuple[RuleReplay, str]:
    """The replay, and the judge's id."""
    found = replay(project, judge, protocol)
    return found, judges.named(project, found.judge).id


def sheets(found: tuple[RuleReplay, str]) -> tuple[ResultSheet, ...]:
    """Systems, the reports whose score changes, and the verdicts behind that, each with its reply."""
    replay, judge_id = found
    made = (_systems(replay), _reports(replay, judge_id), _verdicts(replay, judge_id))
    return tuple(sheet for sheet in made if sheet.lines)


def _there(found: RuleReplay) -> tuple[str, str, str]:
    return "under_rule", "Under the rule", f"By the public rule; {found.rule.failed}"


def _systems(found: RuleReplay) -> ResultSheet:
    heads = columns(
        SYSTEM_COLUMN, HERE, _there(found), LESS,
        ("place_here", "Place here", "Among all systems, 1 the best"), ("place_there", "Place there"), CHANGED,
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.system), told(one.ours), told(one.theirs), told(one.difference), _place(one.place),
            _place(one.place_theirs, one.place), count(one.changed),
        ))
        for one in found.systems
    )  # fmt: skip
    about = found.words()[: -len(found.systems)] if found.systems else found.words()
    return ResultSheet("systems", "Systems", heads, lines, tuple(map(str.strip, about)), (_picture(found),))


def _place(place: int | None, before: int | None = None) -> SheetCell:
    if place is None:
        return text("–")
    return text(f"{place}, was {before}" if before not in (None, place) else str(place))


def _picture(found: RuleReplay) -> SheetPicture:
    metric = _metric(PROTOCOLS[found.protocol])
    title = f"{metric.title} by “{found.judge}”: here, and under the public rule"
    axis, share = f"{metric.title}: mean over items, 95 % interval", metric.within == SHARE
    rows = [(one.system, one.ours, one.theirs) for one in found.systems]
    draw = partial(result_pictures.pairs, title, rows, ("here", "under the public rule"), axis, share=share)
    return SheetPicture("replay", f"{metric.title} under both rules", draw)


def _reports(found: RuleReplay, judge_id: str) -> ResultSheet:
    heads = columns(ITEM_COLUMN, SYSTEM_COLUMN, HERE, _there(found), LESS, CHANGED)
    lines = tuple(
        SheetLine(
            (text(one.item), text(one.system), figure(one.ours), figure(one.theirs), figure(one.difference),
             count(one.changed)),
            one.item_id, response_id=one.response_id, source=_of_report(one, found.protocol, judge_id),
        )
        for one in found.reports
    )  # fmt: skip
    return ResultSheet("reports", "Reports whose score changes", heads, lines)


def _of_report(one: ScoreLine, protocol: str, judge_id: str) -> FigureSource:
    words = f"Item {one.item}, {one.system}"
    return FigureSource(protocol, judge_id, item_id=one.item_id, response_id=one.response_id, words=words)


def _verdicts(found: RuleReplay, judge_id: str) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, ("unit", PROTOCOLS[found.protocol].presentation.one.capitalize()),
        ("weight", "Weight"), ("here", "Here"), ("under_rule", "Under the rule"),
        ("why", "Why", "Deciding part of the reply"),
        ("decided_by", "Decided by", "The word in which the rule found its letters"), ("reply", "Reply"),
    )  # fmt: skip
    lines = tuple(
        SheetLine(
            (
                text(one.item), text(one.system), text(one.unit, tip=one.unit), count(one.weight, form="g"),
                _ours(one), text(one.theirs), text(one.how), text(one.shown or "–"), text(one.form, tip=one.raw),
            ),
            one.item_id, one.unit_id, response_id=one.response_id,
            more=(("The raw reply", one.raw),) if one.raw else (),
            source=FigureSource(
                found.protocol, judge_id, item_id=one.item_id, response_id=one.response_id, unit_id=one.unit_id,
                words=f"Item {one.item}, {one.system}: {one.direction}",
            ),
        )
        for one in found.changed
    )  # fmt: skip
    return ResultSheet("verdicts", "Verdicts that change", heads, lines)


def _ours(one: ChangedReading) -> SheetCell:
    return text(one.ours) if one.ours else SheetCell(MISSING, None, one.status.replace("_", " "), "missing")
