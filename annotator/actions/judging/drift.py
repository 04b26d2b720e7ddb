"""Drift checks: a frozen anchor set of a judge's verdicts is judged again and compared."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from random import Random
from secrets import randbelow
from typing import Any

from sqlalchemy import Connection, select

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project, commit
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    or_why,
    text,
)
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.run_kind import RunKind, RunWork
from annotator.domain.common import Change, Refusal, counted, now, required
from annotator.domain.judges.judge import Judge, JudgeKind, RunState, Status
from annotator.domain.judges.protocol import Case, Level, Protocol
from annotator.domain.texts.estimate import Estimate
from annotator.judging.runner import Finished
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import AUDIT, CALL, ITEM, JUDGEMENT, RESPONSE, SYSTEM, if_given

# The prefix of a check's runs: their verdicts are for the check alone and enter no result.
PREFIX = judge_runs.CHECKS
DEED = "anchored units judged again"
FROZE, CHECKED = "freeze anchor set", "check drift"
SIZE = 100
# The trial of a check distinguishes its questions from all others in the journal: they are asked afresh, once.
_FIRST_TRIAL = 1_000_000
_SEEDS = 2**31
# The compared traits of the calls behind the verdicts, with their names in words.
TRAITS = {
    "returned_model": "the model that answered",
    "fingerprint": "the fingerprint",
    "prompt_sha256": "the prompt",
    "parameters": "the parameters",
}
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class AnchoredVerdict:
    item_id: str
    response_id: str
    unit_id: str
    value: str
    call_id: str | None


@dataclass(frozen=True, slots=True)
class RecheckedVerdict:
    """The verdict of a check on a unit; if there is no value, the status says why."""

    value: str | None
    status: str
    call_id: str | None


@dataclass(frozen=True, slots=True)
class ChangedVerdict:
    item: str
    system: str
    response_id: str
    unit_id: str
    before: str
    after: str
    call_before: str | None = None
    call_after: str | None = None


@dataclass(frozen=True, slots=True)
class DriftReport:
    """A check compared with its anchor set: `compared` of its `units` have a new verdict, `missing` have none.

    `agreement` is the share of unchanged verdicts, with Wilson's interval, and `kappa` Cohen's κ, with quadratic
    weights for ordered values; both are over items. `differences` are the traits that differ between the calls then and
    now, each with both lists of values.
    """

    judge: str
    protocol: str
    anchored_at: str
    checked_at: str
    run_id: str
    units: int
    compared: int
    agreement: Estimate
    kappa: Estimate
    changed: tuple[ChangedVerdict, ...]
    missing: Mapping[str, int]
    differences: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

    def words(self) -> list[str]:
        return [
            f"{self.judge}, {self.protocol}: {self.compared:,} of {counted(self.units, 'anchored unit')} judged again; "
            f"{counted(len(self.changed), 'verdict')} changed.",
            f"agreement: {or_why(self.agreement)}",
            f"kappa: {or_why(self.kappa)}",
            *(
                f"Without a verdict now: {count:,} {name.replace('_', ' ')}."
                for name, count in self.missing.items()
            ),
            *self.difference_words(),
            *(
                f"item {verdict.item}, {verdict.system}, unit {verdict.unit_id}: {verdict.before} → {verdict.after}"
                for verdict in self.changed
            ),
        ]

    def difference_words(self) -> list[str]:
        """The other differences since then, each in a sentence."""
        return [
            f"Changed: {TRAITS[name]}, now {_listed(now)}, before {_listed(before)}."
            for name, (before, now) in self.differences.items()
        ]


@dataclass(frozen=True, slots=True)
class AnchorSet:
    judge_id: str
    protocol: str
    at: str
    seed: int
    units: tuple[AnchoredVerdict, ...]


def anchor(
    project: Project,
    judge: str,
    protocol: str = USUAL,
    size: int = SIZE,
    *,
    again: bool = False,
    systems: Sequence[str] = (),
    items: Sequence[str] = (),
) -> Change:
    """Freeze a random sample of a judge's verdicts, whole reports if units are asked together.

    Only of the named systems (by name) and items (by key), if any. Raises Refusal if there is an anchor set already,
    unless `again` replaces it.
    """
    endpoint = _endpoint(project, judge)
    judge_cases.checked_scope(project, judge_cases.RunRequest(judge, protocol, tuple(systems), tuple(items)))
    if size < 1:
        raise Refusal("An anchor set has at least one unit.", "Give 1 or more.")
    before = anchored(project, judge, protocol)
    if before is not None and not again:
        raise Refusal(
            f"“{judge}” has an anchor set under this protocol since {before.at[:10]}.",
            "Check against it, or replace it with --again.",
        )
    given = _given(project, endpoint, protocol, systems, items)
    if not given and (systems or items):
        raise Refusal(f"“{judge}” has no verdicts in this selection.", "Choose more systems or items.")
    if not given:
        raise Refusal(f"“{judge}” has no verdicts under this protocol yet.", "Run it first.")
    seed = randbelow(_SEEDS)
    single = judge_cases.units_a_call(endpoint, protocol) == 1
    frozen = AnchorSet(
        endpoint.id, protocol, now().isoformat(), seed, tuple(_chosen(given, single, size, seed))
    )
    return commit(project, Change("judge", endpoint.id, FROZE, None, asdict(frozen)))


def anchored(project: Project, judge: str, protocol: str = USUAL) -> AnchorSet | None:
    for tree in _stored(project, FROZE, judges.named(project, judge).id, protocol):
        return AnchorSet(**tree | {"units": tuple(AnchoredVerdict(**one) for one in tree["units"])})
    return None


class DriftCheckRun(RunKind):
    """A run that asks a judge for its anchored verdicts again; the last event has the report as `drift`.

    A stopped check is resumed and asks nothing twice; there is no report until it is complete.
    """

    doing = "checking"
    things = "anchored units"

    def read(self, project: Project, order: judge_cases.RunRequest) -> tuple[Judge, Protocol]:
        """Read the order, which names a protocol or a check by it."""
        self._of = replace(order, protocol=order.protocol.removeprefix(PREFIX))
        judge = _endpoint(project, order.judge)
        frozen = required(
            anchored(project, order.judge, self._of.protocol),
            f"“{order.judge}” has no anchor set under this protocol.",
            "Freeze one: judge anchor.",
        )
        name = PREFIX + self._of.protocol
        self.order = replace(order, protocol=name, systems=(), items=(), trials=1, batch=False, models=())
        self._frozen = frozen
        self.rechecked: dict[tuple[str, str], RecheckedVerdict] = {}
        # The trial distinguishes this check from all others.
        self._trial = _FIRST_TRIAL + len(_stored(project, CHECKED, judge.id, self._of.protocol))
        return judge, judge_runs.protocol_of(project, self._of, judge)

    def work(self, run: run_records.OpenRun, journal: RunJournal) -> RunWork:
        return RunWork(self.protocol, self._cases, len(self._frozen.units), 0, DEED)

    def _cases(self) -> Iterator[Case]:
        """The cases of the anchored units, and of no others."""
        anchored = {(unit.response_id, unit.unit_id) for unit in self._frozen.units}
        items = list(dict.fromkeys(unit.item_id for unit in self._frozen.units))
        settings = judge_cases.settings_of(self.judge, self._of.protocol, self._frozen.seed)
        of = judge_cases.RunRequest(self.judge.name, self._of.protocol)
        for case in judge_cases.cases(self.project, of, items, settings):
            units = tuple(unit for unit in case.units if (case.response.id, unit.id) in anchored)
            if units:
                yield replace(case, units=units, trial=self._trial)

    def keep(self, journal: RunJournal, db: Connection, done: list[Finished], at: datetime) -> int:
        """Collect the verdicts for the report; they become no judgements, and only their calls are stored."""
        for one in done:
            self.rechecked |= {
                (one.case.response.id, unit_id): RecheckedVerdict(
                    verdict.value, verdict.status.value, one.call_id
                )
                for unit_id, verdict in one.verdicts.items()
            }
        return sum(len(one.verdicts) for one in done)

    def ended(self, line: run_records.RunEvent, journal: RunJournal) -> run_records.RunEvent:
        if line["state"] != RunState.DONE.value:
            return line
        tree = {
            "judge_id": self.judge.id,
            "judge": self.judge.name,
            "protocol": self._frozen.protocol,
            "run_id": journal.run_id,
            "anchored_at": self._frozen.at,
            "checked_at": now().isoformat(),
            "units": [asdict(unit) for unit in self._frozen.units],
            "found": [[*key, asdict(again)] for key, again in self.rechecked.items()],
        }
        commit(self.project, Change("judge", self.judge.id, CHECKED, None, tree))
        report = _report(self.project, self.judge.name, tree)
        return {**line, "drift": asdict(report), "words": report.words()}

    @staticmethod
    def words(line: run_records.RunEvent) -> list[str]:
        report: list[str] = line.get("words", ["The report is available once the check is complete."])
        return run_records.words(line) + report


check = DriftCheckRun.run


def reports(project: Project, judge: str = "", protocol: str = "") -> list[DriftReport]:
    """All checks, newest first, each compared with the anchor set it was made against."""
    known = {one.id: one.name for one in judges.all_of(project)}
    records = _stored(project, CHECKED, judges.named(project, judge).id if judge else "", protocol)
    return [_report(project, known.get(tree["judge_id"], tree["judge"]), tree) for tree in records]


def _endpoint(project: Project, name: str) -> Judge:
    judge = judges.named(project, name)
    if judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(
            f"“{name}” calls no model: it always gives the same verdict.", "Choose a judge with an endpoint."
        )
    return judge


def _given(
    project: Project, judge: Judge, protocol: str, systems: Sequence[str], items: Sequence[str]
) -> list[AnchoredVerdict]:
    """The verdicts of a judge's first trial, of these systems and items if any are named."""
    j = JUDGEMENT.c
    question = (
        select(j.item_id, j.response_id, j.unit_id, j.value, j.call_id)
        .join(ITEM, ITEM.c.id == j.item_id)
        .join(RESPONSE, RESPONSE.c.id == j.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(j.rater_id == judge.id, j.protocol == protocol, j.status == Status.OK.value, j.trial == 1)
        .where(
            *(column.in_(names) for column, names in ((SYSTEM.c.name, systems), (ITEM.c.key, items)) if names)
        )
        .order_by(j.item_id, j.response_id, j.unit_id)
    )
    return [AnchoredVerdict(*row) for row in project.query(question)]


def _chosen(given: list[AnchoredVerdict], single: bool, size: int, seed: int) -> list[AnchoredVerdict]:
    chance = Random(seed)
    if single:
        return chance.sample(given, min(size, len(given)))
    # Asked together with other units, a unit might be judged differently: reports are sampled whole.
    responses = list(dict.fromkeys(verdict.response_id for verdict in given))
    chosen: list[AnchoredVerdict] = []
    for response in chance.sample(responses, len(responses)):
        if len(chosen) >= size:
            break
        chosen += [verdict for verdict in given if verdict.response_id == response]
    return chosen


def _report(project: Project, judge: str, tree: dict[str, Any]) -> DriftReport:
    about = {name: tree[name] for name in ("protocol", "run_id", "anchored_at", "checked_at")}
    result = {(response, unit): RecheckedVerdict(**again) for response, unit, again in tree["found"]}
    return _compared(
        project, {**about, "judge": judge}, [AnchoredVerdict(**one) for one in tree["units"]], result
    )


def _stored(project: Project, verb: str, judge_id: str, protocol: str) -> list[dict[str, Any]]:
    """The stored anchor sets or checks, newest first; an empty judge or protocol means any."""
    question = select(AUDIT.c.after).where(
        AUDIT.c.kind == "judge", AUDIT.c.verb == verb, *if_given((AUDIT.c.subject, judge_id))
    )
    rows = project.query(question.order_by(AUDIT.c.seq.desc())).scalars().all()
    return [tree for tree in map(json.loads, rows) if protocol in ("", tree["protocol"])]


def _compared(
    project: Project,
    about: Mapping[str, str],
    units: Iterable[AnchoredVerdict],
    verdicts: Mapping[tuple[str, str], RecheckedVerdict],
) -> DriftReport:
    """The report on a check; `about` gives its judge, protocol, run and times under the names of a report's fields."""
    from annotator.stats.agreement.agreement import cohen_kappa
    from annotator.stats.intervals.clustered import clustered_wilson

    anchored = list(units)
    pairs, changed, missing = [], list[tuple[AnchoredVerdict, RecheckedVerdict]](), dict[str, int]()
    for unit in anchored:
        again = verdicts.get((unit.response_id, unit.unit_id))
        if again is not None and again.value is not None and again.status == Status.OK:
            pairs.append((unit, again.value))
            changed += [(unit, again)] if again.value != unit.value else []
        else:
            cause = "gone" if again is None else again.status
            missing[cause] = missing.get(cause, 0) + 1
    scale = PROTOCOLS[about["protocol"]].scale
    ordered = scale.level is not Level.NOMINAL
    stayed, items = [unit.value == value for unit, value in pairs], [unit.item_id for unit, _ in pairs]
    return DriftReport(
        **about,
        units=len(anchored),
        compared=len(pairs),
        agreement=clustered_wilson(stayed, items),
        kappa=cohen_kappa(
            [unit.value for unit, _ in pairs],
            [value for _, value in pairs],
            "quadratic" if ordered else "none",
            scale.names if ordered else None,
            clusters=items or None,
        ),
        changed=_changed(project, changed),
        missing=missing,
        differences=_differences(
            _traits(project, (unit.call_id for unit in anchored)),
            _traits(project, (again.call_id for again in verdicts.values())),
        ),
    )


def _changed(
    project: Project, pairs: list[tuple[AnchoredVerdict, RecheckedVerdict]]
) -> tuple[ChangedVerdict, ...]:
    with project.store.read() as db:
        names = materials.named(db, RESPONSE.c.id.in_({unit.response_id for unit, _ in pairs}))
    return tuple(
        ChangedVerdict(
            *names[unit.response_id],
            unit.response_id,
            unit.unit_id,
            unit.value,
            str(again.value),
            unit.call_id,
            again.call_id,
        )
        for unit, again in pairs
    )


def _traits(project: Project, calls: Iterable[str | None]) -> dict[str, set[str]]:
    """The values of each trait in some calls; an endpoint that reports none does not count as different."""
    call_ids, question = sorted({call for call in calls if call}), select(*(CALL.c[name] for name in TRAITS))
    rows = [
        row
        for start in range(0, len(call_ids), _AT_ONCE)
        for row in project.query(question.where(CALL.c.id.in_(call_ids[start : start + _AT_ONCE])))
    ]
    return {name: set(filter(None, (row[place] for row in rows))) for place, name in enumerate(TRAITS)}


def _differences(
    before: Mapping[str, set[str]], now: Mapping[str, set[str]]
) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    return {
        name: (tuple(sorted(before[name])), tuple(sorted(now[name])))
        for name in TRAITS
        if before[name] and now[name] and before[name] != now[name]
    }


def _listed(seen: Iterable[str]) -> str:
    return ", ".join(value if len(value) < 80 else f"{value[:12]}…" for value in seen)


def choices(project: Project) -> tuple[ViewChoice, ...]:
    names = dict.fromkeys(tree["protocol"] for tree in _stored(project, CHECKED, "", "")) or {USUAL: None}
    known = tuple((judge.name, judge.name) for judge in judges.all_of(project))
    return ViewChoice(
        "protocol", "What was judged", tuple((judge_runs.title(name), name) for name in names)
    ), ViewChoice("judge", "Judge", (("all judges", ""), *known))


def report(project: Project, protocol: str = USUAL, judge: str = "") -> list[tuple[DriftReport, list[str]]]:
    """Each check, newest first, with the subjects of its changed verdicts in words."""
    result = []
    for one in reports(project, judge, protocol):
        keys = [(each.response_id, each.unit_id) for each in one.changed]
        words = run_records.named(project, protocol, keys) if keys else {}
        result.append((one, [words[key].unit for key in keys]))
    return result


def sheets(checks: list[tuple[DriftReport, list[str]]]) -> tuple[ResultSheet, ...]:
    if not checks:
        return ()
    heads = columns(
        ("checked", "Run again"), JUDGE_COLUMN, ("frozen", "Frozen", "When these verdicts were drawn"),
        ("agreement", "The same", "Share of verdicts that stayed the same, of those that came again; Wilson's 95 % "
         "interval over items. An unchanged judge does not always repeat itself either: see its flip rate"),
        ("kappa", "κ", "Cohen's, of ordered values with quadratic weights"),
        ("changed", "Changed"), ("compared", "n", "Verdicts that came again"), ("missing", "Missing", "By cause"),
        ("else", "What else changed", "At the endpoint, where it says so"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(_day(report.checked_at)), text(report.judge), text(_day(report.anchored_at)), figure(report.agreement),
            figure(report.kappa), count(len(report.changed)), count(report.compared),
            text(", ".join(f"{many:,} {cause.replace('_', ' ')}" for cause, many in report.missing.items()) or "none"),
            text(", ".join(name.removeprefix("the ") for name in map(TRAITS.__getitem__, report.differences))
                 or "nothing",
                 "\n".join(report.difference_words())),
        ))
        for report, _ in checks
    )  # fmt: skip
    changed = tuple(
        SheetLine(
            (text(_day(report.checked_at)), text(report.judge), text(each.item), text(each.system), text(words),
             text(each.before), text(each.after)),
            unit_id=each.unit_id,
        )
        for report, units in checks
        for each, words in zip(report.changed, units, strict=True)
    )  # fmt: skip
    notes = ("No result is made of what a judge says when it is asked again.",)
    of_changed = columns(
        ("checked", "Run again"), JUDGE_COLUMN, ("item", "Item"), ("system", "System"), ("unit", "Asked about"),
        ("then", "Then"), ("now", "Now"),
    )  # fmt: skip
    whole = ResultSheet("again", "Runs compared", heads, lines, notes)
    return (whole, *([ResultSheet("changed", "Changed verdicts", of_changed, changed)] if changed else []))


def _day(moment: str) -> str:
    return moment[:16].replace("T", " ")
