"""Replies behind a judge's verdicts, read under a protocol's other published rule."""

import json
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from annotator.actions.judges import judges
from annotator.actions.labelling import wordings
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.results.result_raters import Spoken, in_trial
from annotator.actions.runs.judge_cases import units_a_call
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.protocol import Protocol
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import CALL, JUDGEMENT

# A call that ended so brought the evaluator nothing to read.
_FAILED = frozenset({Status.API_ERROR, Status.TIMEOUT, Status.TOO_LONG, Status.REFUSED})
_FILTERED_REPLY = "content_filter"
# How verdicts are read for a figure: by another published rule, or of several trials the first alone.
PUBLIC, FIRST = "public", "first"


def readable(project: Project) -> set[tuple[str, str]]:
    """The protocols with another published rule and the ids of the judges whose replies it can read.

    These judges are behind an endpoint and were asked about one unit at a time.
    """
    ruled = [name for name, shape in PROTOCOLS.items() if shape.other_rule]
    asked = {judge.id: judge for judge in judges.all_of(project) if judge.kind == JudgeKind.ENDPOINT}
    return {
        (protocol, rater.id)
        for protocol, raters in result_raters.everybody_under(project, ruled).items()
        for rater in raters
        if rater.id in asked and units_a_call(asked[rater.id], protocol) == 1
    }


def read(project: Project, shape: Protocol, judge_id: str) -> list[Spoken]:
    """The judge's verdicts, trial by trial, as the rule reads their replies; without a stored call, as they are."""
    j = JUDGEMENT.c
    calls = [CALL.c[name] for name in ("raw", "finish_reason", "repaired", "cache_key", "run_id")]
    wanted = j.protocol == shape.name, j.rater_kind == RaterKind.JUDGE.value, j.rater_id == judge_id
    question = (
        select(
            j.id, j.response_id, j.unit_id, j.trial, j.value, CALL.c.id.label("call_id"),
            CALL.c.status.label("call_status"), *calls,
        )
        .outerjoin(CALL, CALL.c.id == j.call_id)
        .where(*wanted)
    )  # fmt: skip
    with project.store.read() as db:
        outdated = wordings.outdated(db, *wanted, wordings.BY_JUDGES)
        return [
            (row.response_id, in_trial(judge_id, row.trial), row.unit_id, _value(db, shape, row) or "")
            for row in db.execute(question).all()
            if row.id not in outdated
        ]


def _value(db: Connection, shape: Protocol, row: Row[Any]) -> Any:
    if row.call_id is None or shape.other_rule is None:
        return row.value
    return shape.other_rule.read(_reply(_first(db, row) if row.repaired else row))


def _first(db: Connection, row: Row[Any]) -> Row[Any]:
    """The reply before it was asked for in the right form: the evaluator asks for no repair."""
    c = CALL.c
    question = select(c.raw, c.finish_reason, c.status.label("call_status")).where(
        c.cache_key == row.cache_key,
        c.run_id.is_not_distinct_from(row.run_id),
        c.repaired.is_(False),
        c.status == Status.INVALID.value,
    )
    found: Any = db.execute(question.order_by(c.at.desc()).limit(1)).first()
    return row if found is None else found


def _reply(call: Row[Any]) -> str | None:
    """The reply as the evaluator would have had it; None where it would have met an error."""
    failed = call.call_status in _FAILED
    turned_down = call.call_status == Status.FILTERED.value and call.finish_reason != _FILTERED_REPLY
    if failed or turned_down:
        return None
    return "" if _is_body(call.raw) else str(call.raw)


def _is_body(raw: str) -> bool:
    """Whether the whole answer of the server is kept, as it is where its reply was empty."""
    if not raw.lstrip().startswith("{"):
        return False
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return isinstance(tree, dict) and isinstance(tree.get("choices"), list)
