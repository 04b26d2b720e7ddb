"""Raters that results can be computed from: a judge, all people, one person, or the consensus."""

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from sys import intern
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, bindparam, exists, func, not_, or_, select, true
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import items
from annotator.actions.judges import judges, kept_keys
from annotator.actions.labelling import label_rows
from annotator.actions.project import profile
from annotator.actions.project.file import Project, cached
from annotator.actions.results.result_sheets import or_why
from annotator.actions.runs.judge_cases import units_a_call
from annotator.domain.common import counted, grouped, nested
from annotator.domain.judges.judge import JudgeKind, RaterKind, Status
from annotator.domain.judges.protocol import Protocol
from annotator.domain.kinds.documents import UNSURE, Label
from annotator.domain.kinds.kind import Kind, Role, State
from annotator.domain.material.item import CONTINUATION, EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import CALL, EXTRACT, ITEM, JUDGE, JUDGEMENT, PERSON, RESPONSE, RUN

COUNTED = label_rows.counted_rows()
PEOPLE, COMPUTED, CONSENSUS, EVERYBODY = "people", "computed", "consensus", "everybody"
# In place of a rater for a whole table: for each protocol the rater who judged last.
EACH = "each"
# The prefix of people's keys, to distinguish them from judges'.
PERSON_KEY = "person:"
# The date of a consensus is shown where it is adjudicated, not beside each of its labels.
UNDATED = datetime.min.replace(tzinfo=UTC)
_OVERTAKEN = {"value": None, "status": Status.SKIPPED, "cause": label_rows.CAUSE}
# A valid judgement: response, rater, unit, and value.
Spoken = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Repeats:
    """A judge's trials: their maximal number, and the share of units judged repeatedly on which its verdict changes."""

    name: str
    trials: int
    flips: Estimate

    @property
    def method(self) -> str:
        return f"mean over up to {self.trials:,} trials, whose variance is within the intervals"

    @property
    def words(self) -> str:
        several = f" of {counted(self.flips.n, 'unit')} judged more than once"
        return (
            f"{self.name} was asked up to {self.trials:,} times: scores are means over its trials, labels what most "
            f"of them say. Its verdict changes (flip rate) on {or_why(self.flips, several)}."
        )


@dataclass(frozen=True, slots=True)
class ResultRater:
    id: str
    name: str
    judgements: int
    # For a judge, its kind.
    kind: str = ""
    # For a judge, when its last run began.
    last: datetime = UNDATED
    # For a judge, why its test failed.
    failed: str = ""
    # For a judge that was asked several times about the same units.
    repeats: Repeats | None = None

    @property
    def remark(self) -> str:
        failed = f"{self.name} failed its test: {self.failed}" if self.failed else ""
        return " ".join(filter(None, (failed, self.repeats.words if self.repeats else "")))

    @property
    def floor(self) -> bool:
        """Whether its figures are only the floor under every judge's."""
        return self.kind == JudgeKind.BASELINE


def raters(project: Project, protocol: str = USUAL) -> list[ResultRater]:
    """The raters of a protocol, the judge that ran last first, people at the end.

    Figures computed from responses have a rater of their own, whose judgements are the responses. While nobody has
    judged, so do extracts, and protocols with exemplars, whose own figure needs no judge.
    """
    return raters_under(project, (protocol,))[protocol]


def raters_under(project: Project, protocols: Iterable[str] | None = None) -> dict[str, list[ResultRater]]:
    """The same under each of several protocols, by default those in use, in one query."""
    names = profile.protocols(project) if protocols is None else protocols
    result: dict[str, list[ResultRater]] = {protocol: [] for protocol in names}
    judged = {"judged": [protocol for protocol in result if PROTOCOLS[protocol].values]}
    failed = kept_keys.failed_tests(project)
    with project.store.read() as db:
        for protocol, judge_id, name, judged_by_it, kind, at, trials in db.execute(_OF_JUDGES, judged):
            began = at.replace(tzinfo=UTC) if at else UNDATED
            why = failed.get(judge_id, "")
            again = repeats(project, protocol, judge_id) if trials > 1 else None
            result[protocol].append(ResultRater(judge_id, name, judged_by_it, kind, began, why, again))
        for protocol, by_people in db.execute(_OF_PEOPLE, judged):
            result[protocol].append(ResultRater(PEOPLE, PEOPLE, by_people))
        silent = [PROTOCOLS[protocol] for protocol, own in result.items() if not own]
        for definition, number in _computed(db, silent):
            result[definition.name] += [ResultRater(COMPUTED, COMPUTED, number)] if number else []
    return result


def first_judged(project: Project) -> str:
    """The first protocol with figures, those that need a judge before computed ones."""
    raters_of = {protocol: result for protocol, result in raters_under(project).items() if result}
    judged = (name for name, result in raters_of.items() if any(rater.id != COMPUTED for rater in result))
    return next(judged, next(iter(raters_of), USUAL))


def everybody(project: Project, protocol: str) -> list[ResultRater]:
    """The same, then the consensus and each person by alias: only a coordinator sees how one person answered."""
    return everybody_under(project, (protocol,))[protocol]


def everybody_under(project: Project, protocols: Iterable[str] | None = None) -> dict[str, list[ResultRater]]:
    """The same under each of several protocols, by default those in use, in one query."""
    result = raters_under(project, protocols)
    judged = [protocol for protocol in result if PROTOCOLS[protocol].values]
    if not judged or not _names_each(project):
        return result
    for protocol, settled in Counter(label.protocol for label in _settled(project, judged)).items():
        result[protocol].append(ResultRater(CONSENSUS, CONSENSUS, settled))
    for protocol, person_id, alias, n in project.query(_OF_EACH, {"judged": judged}):
        result[protocol].append(ResultRater(f"{PERSON_KEY}{person_id}", alias, n))
    return result


def judges_of(project: Project, protocol: str) -> set[str]:
    return set(project.query(select(JUDGE.c.id).where(_spoke(JUDGE.c.id, protocol))).scalars())


def named_people(project: Project, protocol: str) -> list[tuple[str, str]]:
    """The consensus, if something is settled, and each person who judged, by alias: name and id.

    Empty for anyone who may not see how one person answered.
    """
    if not _names_each(project):
        return []
    question = (
        select(PERSON.c.alias, PERSON.c.id).where(_spoke(PERSON.c.id, protocol)).order_by(PERSON.c.alias)
    )
    each = [(alias, person_id) for alias, person_id in project.query(question)]
    return [(CONSENSUS, CONSENSUS), *each] if _settled(project, (protocol,)) else each


def _names_each(project: Project) -> bool:
    return project.person is None or project.person.has(Role.COORDINATOR)


def _spoke(rater_id: ColumnElement[str], protocol: str) -> ColumnElement[bool]:
    return exists().where(COUNTED.c.rater_id == rater_id, COUNTED.c.protocol == protocol)


def chosen(raters: Iterable[ResultRater], rater_id: str) -> ResultRater | None:
    """The rater of that id, or the first if no id is given; None if there is none."""
    return next((rater for rater in raters if rater_id in ("", EACH, rater.id)), None)


def together(raterses: Mapping[str, Sequence[ResultRater]], rater_id: str = "") -> dict[str, ResultRater]:
    """Protocol → the rater whose figures are in one table: the one of that id, otherwise the one of computed figures.

    If no id is given, the figures are still of one rater: the one with the most protocols; of these, any judge before
    the baseline, then the one who judged last, judges before people. Figures of several raters are combined only under
    `EACH`.
    """
    of = grouped((rater.id, rater) for each in raterses.values() for rater in each)
    named = [own for key, own in of.items() if key not in (COMPUTED, CONSENSUS) and PERSON_KEY not in key]
    best = max(
        named,
        default=None,
        key=lambda own: (
            len(own),
            own[0].kind not in ("", JudgeKind.BASELINE),
            max(rater.last for rater in own),
        ),
    )
    preferred = rater_id or (best[0].id if best else "")
    of_protocol = {
        protocol: chosen(each, preferred) or next((rater for rater in each if rater.id == COMPUTED), None)
        for protocol, each in raterses.items()
    }
    return {protocol: rater for protocol, rater in of_protocol.items() if rater is not None}


def not_judged(raterses: Mapping[str, Sequence[ResultRater]], standing: Container[str]) -> dict[str, str]:
    """Protocol → the only raters that judged it, if it is left out of a table."""
    others = {protocol: each for protocol, each in raterses.items() if each and protocol not in standing}
    return {
        protocol: ", ".join(rater.name for rater in each if not rater.id.startswith(PERSON_KEY))
        for protocol, each in others.items()
    }


def left_out_notes(left_out: Mapping[str, str]) -> Iterator[str]:
    """The same as a sentence that says what to do; empty if nothing is left out."""
    protocols = [f"{PROTOCOLS[protocol].title} ({names})" for protocol, names in left_out.items()]
    if protocols:
        yield f"Left out, as others alone judged it: {'; '.join(protocols)}. Choose one of them, or the last of each."


def are_people(rater_id: str) -> bool:
    """Whether these judgements are people's: then a report that nobody labelled is not missing."""
    return rater_id in (PEOPLE, CONSENSUS) or rater_id.startswith(PERSON_KEY)


@cached
def repeats(project: Project, protocol: str, judge_id: str) -> Repeats | None:
    """How often a judge contradicts itself on the units that count now; None if it was asked about each only once."""
    from annotator.stats.agreement.agreement import flip_rate

    several = {unit: of for unit, of in by_unit(project, protocol, judge_id).items() if len(of) > 1}
    trials = sorted({trial for of in several.values() for trial in of})
    if not trials:
        return None
    by_trial = [[of.get(trial) for of in several.values()] for trial in trials]
    name = str(project.query(select(JUDGE.c.name).where(JUDGE.c.id == judge_id)).scalar())
    return Repeats(name, len(trials), flip_rate(by_trial, [unit[0] for unit in several]))


def by_unit(project: Project, protocol: str, judge_id: str) -> dict[tuple[str, str, str], dict[int, str]]:
    """Item, response and unit that count now → trial → a judge's valid verdict on the present wording."""
    j, kind = JUDGEMENT.c, PROTOCOLS[protocol].unit_kind
    conditions = (j.protocol == protocol, _by(j, judge_id), j.status == Status.OK.value, _in_use(j))
    columns = j.item_id, j.response_id, j.unit_id, j.trial, j.value, j.id, j.artifact_id
    with project.store.read() as db:
        gone = label_rows.outdated(db, *conditions)
        current = {"", *(row.id for row in annotating.judged_rows(db, kind).values())} if kind else None
        return nested(
            ((row.item_id, row.response_id, row.unit_id), row.trial, row.value)
            for row in db.execute(select(*columns).where(*conditions).order_by(j.trial))
            if row.id not in gone and (current is None or row.artifact_id in current)
        )


def spoken(project: Project, protocol: Protocol, rater_id: str) -> Iterator[Spoken]:
    """The valid judgements of a rater on the units as worded now; for a judge the aggregate of its trials, without
    ties.

    There may be millions: they are yielded one by one, with interned strings.
    """
    j = JUDGEMENT.c
    again = select(j.id).where(j.protocol == protocol.name, _by(j, rater_id), j.trial > 1).limit(1)
    several = not are_people(rater_id) and project.query(again).first() is not None
    result: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in in_trials(project, protocol, rater_id):
        if several:
            result[one[0], one[2]] += [one[3]] if one[3] else []
        elif one[3]:
            yield one
    for unit, values in result.items():
        if (most := protocol.scale.agreed(values)) is not None:
            yield unit[0], rater_id, unit[1], most


def in_trial(rater: str, trial: int) -> str:
    """The name of a rater's trial: the first has the rater's id, which contains no space."""
    return rater if trial == 1 else f"{rater} {trial}"


def is_trial(rater: str) -> bool:
    return " " in rater


def in_trials(
    project: Project, protocol: Protocol, rater_id: str, *, first: bool = False
) -> Iterator[Spoken]:
    """The same trial by trial, each further one of a judge under a rater name of its own; with `first` the first trial
    only.

    A unit about which a judge was asked without giving a valid answer has an empty value.
    """
    if rater_id == CONSENSUS:
        for each in _settled(project, (protocol.name,)):
            if each.value != UNSURE:
                yield each.response_id, CONSENSUS, each.unit_id, each.value
        return
    j, every = COUNTED.c, JUDGEMENT.c
    by_people = are_people(rater_id)
    narrowed = [
        [one.protocol == protocol.name, _by(one, rater_id), one.trial == 1 if by_people or first else true()]
        for one in (j, every)
    ]
    columns = j.response_id, j.rater_id, j.unit_id, j.value, j.id, j.status, j.trial
    with project.store.read() as db:
        gone = label_rows.outdated(db, *narrowed[1])
        for row in db.execute(select(*columns).where(*narrowed[0])):
            valid = row.status == Status.OK.value and row.id not in gone
            if valid or not by_people:
                rater = intern(in_trial(row.rater_id, row.trial))
                yield intern(row[0]), rater, intern(row[2]), intern(row[3]) if valid else ""


def judgements(
    project: Project, protocol: Protocol, rater_id: str, item_id: str, unit_id: str = ""
) -> Iterator[dict[str, Any]]:
    """The rows of a rater's judgements on an item, or on one unit, valid or not; those of the consensus look alike.

    One on another wording is not valid: the row says so in its cause.
    """
    if rater_id == CONSENSUS:
        yield from (_as_row(protocol, item_id, each) for each in _settled(project, (protocol.name,), item_id))
        return
    counting, every = (
        [
            j.protocol == protocol.name,
            j.item_id == item_id,
            _by(j, rater_id),
            *([j.unit_id == unit_id] if unit_id else []),
        ]
        for j in (COUNTED.c, JUDGEMENT.c)
    )  # fmt: skip
    with project.store.read() as db:
        rows = db.execute(select(COUNTED).where(*counting)).mappings().all()
        gone = label_rows.outdated(db, *every)
    for row in rows:
        values = {key: value for key, value in row.items() if key != "sha256"}
        yield values | _OVERTAKEN if row["id"] in gone else values


def _in_use(j: ReadOnlyColumnCollection[str, ColumnElement[Any]]) -> ColumnElement[bool]:
    return j.item_id.not_in(select(ITEM.c.id).where(or_(ITEM.c.retired, not_(items.ANSWERED))))


def _by(j: ReadOnlyColumnCollection[str, ColumnElement[Any]], rater_id: str) -> ColumnElement[bool]:
    if rater_id == EVERYBODY:
        return true()
    people_ = j.rater_kind == RaterKind.PERSON.value
    if rater_id == PEOPLE:
        return people_
    if rater_id.startswith(PERSON_KEY):
        return and_(people_, j.rater_id == rater_id.removeprefix(PERSON_KEY))
    return and_(true(), j.rater_id == rater_id)


# Built once: compiling this statement takes longer than a small project takes to answer.
_J, _JUDGED = COUNTED.c, COUNTED.c.protocol.in_(bindparam("judged", expanding=True))
_LAST = select(RUN.c.judge_id, func.max(RUN.c.started_at).label("at")).group_by(RUN.c.judge_id).subquery()
_OF_JUDGES = (
    select(_J.protocol, _J.rater_id, JUDGE.c.name, func.count(), JUDGE.c.kind, _LAST.c.at, func.max(_J.trial))
    .join(JUDGE, JUDGE.c.id == _J.rater_id)
    .outerjoin(_LAST, _LAST.c.judge_id == JUDGE.c.id)
    .where(_JUDGED, _J.rater_kind == RaterKind.JUDGE.value, _in_use(_J))
    .group_by(_J.protocol, _J.rater_id)
    .order_by(_LAST.c.at.desc(), JUDGE.c.name)
)
_ANSWERED = and_(_JUDGED, _by(_J, PEOPLE), _J.status.in_(label_rows.ANSWERED))
_OF_PEOPLE = select(_J.protocol, func.count()).where(_ANSWERED, _in_use(_J)).group_by(_J.protocol)
_OF_EACH = (
    select(_J.protocol, _J.rater_id, PERSON.c.alias, func.count())
    .join(PERSON, PERSON.c.id == _J.rater_id)
    .where(_ANSWERED)
    .group_by(_J.protocol, _J.rater_id)
    .order_by(PERSON.c.alias)
)


def _settled(project: Project, protocols: Collection[str], item_id: str = "") -> list[Label]:
    with project.store.read() as db:
        rows = annotating.judged_rows(db, Kind.LABELS, [item_id] if item_id else None).values()
        settled = [artifact_of(row) for row in rows if row.state == State.CONSENSUS.value]
    return [unit for artifact in settled for unit in artifact.document.units if unit.protocol in protocols]


def _as_row(protocol: Protocol, item_id: str, label: Label) -> dict[str, Any]:
    decided = label.value != UNSURE
    return {
        "id": label.id, "protocol": protocol.name, "item_id": item_id, "response_id": label.response_id,
        "artifact_id": "", "unit_id": label.unit_id, "rater_kind": RaterKind.PERSON, "rater_id": CONSENSUS,
        "trial": 1, "run_id": None, "call_id": None, "seconds": None, "at": UNDATED,
        "value": label.value if decided else None, "status": Status.OK if decided else Status.UNCLEAR,
        "rationale": "", "quote": label.quote, "quote_start": None, "quote_end": None, "note": label.note,
        "flags": label.flags, "cause": "" if decided else "adjudicated as “cannot tell”",
    }  # fmt: skip


_OF_KINDS = select(EXTRACT.c.kind, func.count()).where(EXTRACT.c.response_id != "").group_by(EXTRACT.c.kind)
_OF_MODES = select(RESPONSE.c.mode, func.count()).group_by(RESPONSE.c.mode)


def _computed(db: Connection, protocols: Sequence[Protocol]) -> Iterator[tuple[Protocol, int]]:
    """The number of extracts or responses behind figures computed without a rater, for each of these protocols."""
    by_kinds = any(protocol.parts for protocol in protocols)
    by_modes = any(
        not protocol.parts and (protocol.exemplar or not protocol.values) for protocol in protocols
    )
    part_counts: dict[str, int] = dict(db.execute(_OF_KINDS).all()) if by_kinds else {}
    modes: dict[str, int] = dict(db.execute(_OF_MODES).all()) if by_modes else {}
    for protocol in protocols:
        if protocol.parts:
            yield protocol, sum(part_counts.get(part.value, 0) for part in protocol.parts)
        elif protocol.values:
            yield protocol, modes.get(EXEMPLAR, 0) if protocol.exemplar else 0
        else:
            continued = protocol.mode == CONTINUATION
            yield protocol, sum(n for mode, n in modes.items() if (mode == CONTINUATION) == continued)


# A call that ended so gave the evaluator nothing to read.
_FAILED = frozenset({Status.API_ERROR, Status.TIMEOUT, Status.TOO_LONG, Status.REFUSED})
_FILTERED_REPLY = "content_filter"
# How verdicts are read for a figure: by another published rule, or from the first of several trials only.
PUBLIC, FIRST = "public", "first"


def readable(project: Project) -> set[tuple[str, str]]:
    """The protocols with another published rule and the ids of the judges whose replies it can read.

    These judges are behind an endpoint and were asked about one unit at a time.
    """
    ruled = [name for name, definition in PROTOCOLS.items() if definition.other_rule]
    endpoints = {judge.id: judge for judge in judges.all_of(project) if judge.kind == JudgeKind.ENDPOINT}
    return {
        (protocol, rater.id)
        for protocol, raters in everybody_under(project, ruled).items()
        for rater in raters
        if rater.id in endpoints and units_a_call(endpoints[rater.id], protocol) == 1
    }


def read(project: Project, protocol: Protocol, judge_id: str) -> list[Spoken]:
    """The judge's verdicts, trial by trial, as the rule reads their replies; without a stored call, as they are."""
    j = JUDGEMENT.c
    calls = [CALL.c[name] for name in ("raw", "finish_reason", "repaired", "cache_key", "run_id")]
    conditions = j.protocol == protocol.name, j.rater_kind == RaterKind.JUDGE.value, j.rater_id == judge_id
    question = (
        select(
            j.id, j.response_id, j.unit_id, j.trial, j.value, CALL.c.id.label("call_id"),
            CALL.c.status.label("call_status"), *calls,
        )
        .outerjoin(CALL, CALL.c.id == j.call_id)
        .where(*conditions)
    )  # fmt: skip
    with project.store.read() as db:
        outdated = label_rows.outdated(db, *conditions, label_rows.BY_JUDGES)
        return [
            (row.response_id, in_trial(judge_id, row.trial), row.unit_id, _value(db, protocol, row) or "")
            for row in db.execute(question).all()
            if row.id not in outdated
        ]


def _value(db: Connection, protocol: Protocol, row: Row[Any]) -> Any:
    if row.call_id is None or protocol.other_rule is None:
        return row.value
    return protocol.other_rule.read(_reply(_first(db, row) if row.repaired else row))


def _first(db: Connection, row: Row[Any]) -> Row[Any]:
    """The reply before the request to repair its form: the evaluator requests no repair."""
    c = CALL.c
    question = select(c.raw, c.finish_reason, c.status.label("call_status")).where(
        c.cache_key == row.cache_key,
        c.run_id.is_not_distinct_from(row.run_id),
        c.repaired.is_(False),
        c.status == Status.INVALID.value,
    )
    result: Any = db.execute(question.order_by(c.at.desc()).limit(1)).first()
    return row if result is None else result


def _reply(call: Row[Any]) -> str | None:
    """The reply as the evaluator would have received it; None if it would have met an error."""
    turned_down = call.call_status == Status.FILTERED.value and call.finish_reason != _FILTERED_REPLY
    if call.call_status in _FAILED or turned_down:
        return None
    return "" if _is_body(call.raw) else str(call.raw)


def _is_body(raw: str) -> bool:
    """Whether the whole response of the server is stored, as it is if the reply in it was empty."""
    if not raw.lstrip().startswith("{"):
        return False
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and isinstance(tree.get("choices"), list)
