"""Replies behind a judge's verdicts, read under a protocol's other published rule."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from annotator.actions.items.items import ITEM
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.runs.journal import CALL, JUDGEMENT
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.published import OtherRule, RuleReading
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS

PLAIN, STRUCTURED, NO_REPLY = "plain text", "JSON", "no reply"
# A call that ended so brought the evaluator nothing to read.
_FAILED = frozenset({Status.API_ERROR, Status.TIMEOUT, Status.TOO_LONG, Status.REFUSED})
_FILTERED_REPLY = "content_filter"


@dataclass(frozen=True, slots=True)
class RuleReadReply:
    """A judgement and the rule's reading of its call; `reading` is None where no call is stored.

    `value` is ours, None with its status. `form` tells whether the reply was plain text or JSON.
    """

    judgement_id: str
    item_id: str
    response_id: str
    unit_id: str
    value: str | None
    status: str
    reading: RuleReading | None = None
    form: str = ""
    raw: str = ""

    @property
    def theirs(self) -> str | None:
        """What counts under the rule; where no call is kept, what counts here."""
        return self.value if self.reading is None else self.reading.value


def ruled() -> list[Protocol]:
    """The protocols beside which another rule is published."""
    return [shape for shape in PROTOCOLS.values() if shape.other_rule]


def rule_of(protocol: str) -> tuple[Protocol, OtherRule]:
    """A protocol with its other rule, the first that has one where none is named; Refusal where it has none."""
    known = ruled()
    shape = PROTOCOLS[protocol] if protocol or not known else known[0]
    if shape.other_rule is None:
        named = ", ".join(one.name for one in known)
        raise Refusal(
            f"No other rule of reading replies is published for {shape.title}.",
            f"Available: {named}." if named else "Nothing was read.",
        )
    return shape, shape.other_rule


def readable(project: Project, protocol: str) -> list[Judge]:
    """The judges whose replies the rule can read: behind an endpoint, asked one by one; the one that ran last first."""
    known = {judge.id: judge for judge in judges.all_of(project)}
    ran = [known[rater.id] for rater in result_raters.raters(project, protocol) if rater.id in known]
    return [judge for judge in ran if judge.kind == JudgeKind.ENDPOINT and judge.asked.together == 1]


def judge_of(project: Project, shape: Protocol, name: str = "") -> Judge:
    """The judge of that name, or the one behind an endpoint that ran last; Refusal where no reply can be read."""
    one_by_one = readable(project, shape.name)
    if not name and not one_by_one:
        judged = shape.metrics[0].title.lower()
        raise Refusal(f"No judge behind an endpoint has judged {judged} here.", "Run a judge first.")
    asked = judges.named(project, name) if name else one_by_one[0]
    if asked.kind != JudgeKind.ENDPOINT:
        raise Refusal(f"“{asked.name}” asks no model: there is no reply to read.", "Choose another judge.")
    if asked.asked.together > 1:
        raise Refusal(
            f"“{asked.name}” is asked several {shape.presentation.many} in one call; the rule reads one answer.",
            "Choose the judge that is asked one by one.",
        )
    return asked


def readings(db: Connection, shape: Protocol, rule: OtherRule, judge: Judge) -> list[RuleReadReply]:
    """Every judgement of the judge under a protocol, of the items in use, with its call read by the rule."""
    j = JUDGEMENT.c
    calls = [CALL.c[name] for name in ("raw", "finish_reason", "repaired", "cache_key", "run_id")]
    question = (
        select(
            j.id, j.item_id, j.response_id, j.unit_id, j.value, j.status, CALL.c.id.label("call_id"),
            CALL.c.status.label("call_status"), *calls,
        )
        .join(ITEM, ITEM.c.id == j.item_id)
        .outerjoin(CALL, CALL.c.id == j.call_id)
        .where(
            j.protocol == shape.name, j.rater_kind == RaterKind.JUDGE.value, j.rater_id == judge.id, j.trial == 1,
            ITEM.c.retired.is_(False),
        )
        .order_by(j.item_id, j.response_id, j.unit_id)
    )  # fmt: skip
    return [_read(db, row, rule) for row in db.execute(question).all()]


def _read(db: Connection, row: Row[Any], rule: OtherRule) -> RuleReadReply:
    ours = (row.id, row.item_id, row.response_id, row.unit_id, row.value, row.status)
    if row.call_id is None:
        return RuleReadReply(*ours)
    reply = _reply(_first(db, row) if row.repaired else row)
    form = NO_REPLY if reply is None else STRUCTURED if reply.lstrip().startswith(("{", "```")) else PLAIN
    return RuleReadReply(*ours, rule.read(reply), form, reply or "")


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
