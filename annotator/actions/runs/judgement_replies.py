"""One judgement in full: its value and every reply to its question."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project
from annotator.actions.runs import asked_units
from annotator.actions.runs.journal import call_of, same_question
from annotator.actions.runs.run_judgements import MOST, JudgementLine, line_of, listed, refuse_others
from annotator.domain.judges.judge import Call
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.counting import CutList
from annotator.domain.texts.quotation import find
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import CALL, JUDGEMENT

# So many characters are shown before and after a quote.
AROUND = 160


@dataclass(frozen=True, slots=True)
class Reply:
    """A call: its reply, request form and time; `own` if the judgement was read from it."""

    call: Call
    at: datetime
    own: bool


@dataclass(frozen=True, slots=True)
class JudgementDetail:
    """A judgement in full: question, value, and replies, newest first.

    `found` tells whether the quote stands in the report (or in the cited page), None where nothing is quoted;
    `before` and `after` are the words around it; `address` is the cited page's.
    """

    line: JudgementLine
    question: str
    rationale: str
    quote: str
    found: bool | None
    before: str = ""
    after: str = ""
    address: str = ""
    replies: tuple[Reply, ...] = ()


def told(project: Project, judgement_id: str) -> JudgementDetail:
    """A judgement with every reply to its question; Refusal when it was judged again since the list was read."""
    refuse_others(project)
    with project.store.read() as db:
        row = db.execute(listed().where(JUDGEMENT.c.id == judgement_id)).mappings().first()
        if row is None:
            raise Refusal("That judgement was replaced since.", "Read the list again.")
        replies = _replies(db, row["call_id"])
    key = row["response_id"], row["unit_id"]
    case = asked_units.case_of(project, row["protocol"], row["item_id"], key)
    found, before, after = _quoted(row["quote"], case)
    return JudgementDetail(
        line=line_of(row, asked_units.words_of_case(project, case)),
        question=row["question"],
        rationale=row["rationale"],
        quote=row["quote"],
        found=found,
        before=before,
        after=after,
        address=case.given.get("address", "") if case is not None else "",
        replies=replies,
    )


def calls(project: Project, run_id: str) -> CutList[Reply]:
    """The calls of a run, the newest first: all that is kept of what an extraction asked."""
    refuse_others(project)
    question = select(CALL).where(CALL.c.run_id == run_id).order_by(CALL.c.at.desc(), CALL.c.id)
    with project.store.read() as db:
        shown = [_reply(row, "") for row in db.execute(question.limit(MOST)).mappings()]
        total = db.execute(select(func.count()).select_from(question.subquery())).scalar_one()
    return CutList(tuple(shown), total)


def _quoted(quote: str, case: Case | None) -> tuple[bool | None, str, str]:
    """Whether the quote stands where it was taken from, and the words before and after it."""
    if not quote or case is None:
        return None, "", ""
    text = case.given.get("page") or case.response.text
    span = find(text, quote)
    if span is None:
        return False, "", ""
    start, end = span
    return True, text[max(0, start - AROUND) : start], text[end : end + AROUND]


def _replies(db: Connection, call_id: str | None) -> tuple[Reply, ...]:
    """Every call that put the same question, the newest first; none for a judgement that asked nobody."""
    return tuple(_reply(row, call_id) for row in db.execute(same_question(call_id)).mappings())


def _reply(row: Any, call_id: str | None) -> Reply:
    return Reply(call_of(row), row["at"], row["id"] == call_id)
