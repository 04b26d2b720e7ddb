"""Which judgements did not come, and why: the list behind every count of missing ones."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import select

from annotator.actions import judges
from annotator.actions.items import ITEM
from annotator.actions.journal import JUDGEMENT, RUN
from annotator.actions.judges import JUDGE
from annotator.actions.project import Project
from annotator.domain.judgement import RaterKind, Status
from annotator.domain.refusal import Refusal
from annotator.storage.tables import ResponseRow, SystemRow, table

RESPONSE, SYSTEM = table(ResponseRow), table(SystemRow)


@dataclass(frozen=True, slots=True)
class MissingLine:
    """A judgement without a verdict: whose, of what, and the cause in a word and in words."""

    judge: str
    protocol: str
    item: str
    system: str
    unit_id: str
    trial: int
    status: str
    cause: str
    flags: str
    run_id: str
    call_id: str


def lines(project: Project, *, judge: str = "", run: str = "", status: str = "") -> list[MissingLine]:
    """The judges' judgements without a verdict; of one judge, one run (by its id's beginning) or one cause."""
    question = (
        select(
            JUDGE.c.name, JUDGEMENT.c.protocol, ITEM.c.key, SYSTEM.c.name.label("system"), JUDGEMENT.c.unit_id,
            JUDGEMENT.c.trial, JUDGEMENT.c.status, JUDGEMENT.c.cause, JUDGEMENT.c.flags, JUDGEMENT.c.run_id,
            JUDGEMENT.c.call_id,
        )
        .join(JUDGE, JUDGE.c.id == JUDGEMENT.c.rater_id)
        .join(ITEM, ITEM.c.id == JUDGEMENT.c.item_id)
        .join(RESPONSE, RESPONSE.c.id == JUDGEMENT.c.response_id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        .where(JUDGEMENT.c.status != Status.OK.value, JUDGEMENT.c.rater_kind == RaterKind.JUDGE.value)
        .order_by(
            JUDGE.c.name, JUDGEMENT.c.protocol, JUDGEMENT.c.status, ITEM.c.position, ITEM.c.key, SYSTEM.c.name,
            JUDGEMENT.c.unit_id, JUDGEMENT.c.trial,
        )
    )  # fmt: skip
    if judge:
        question = question.where(JUDGEMENT.c.rater_id == judges.named(project, judge).id)
    if run:
        question = question.where(JUDGEMENT.c.run_id == _run_id(project, run))
    if status:
        question = question.where(JUDGEMENT.c.status == _status(status).value)
    with project.store.read() as db:
        rows = db.execute(question).all()
    return [
        MissingLine(
            row.name, row.protocol, row.key, row.system, row.unit_id, row.trial, row.status, row.cause, row.flags,
            row.run_id or "", row.call_id or "",
        )
        for row in rows
    ]  # fmt: skip


def by_cause(found: Iterable[MissingLine]) -> dict[str, int]:
    """How many are missing for which cause, the most frequent first."""
    return dict(Counter(line.status for line in found).most_common())


def _run_id(project: Project, beginning: str) -> str:
    with project.store.read() as db:
        found = [run for run in db.execute(select(RUN.c.id)).scalars() if run.startswith(beginning)]
    if len(found) != 1:
        many = "No run begins" if not found else "More than one run begins"
        raise Refusal(f"{many} with “{beginning}”.", "See the ids with: judge runs.")
    return str(found[0])


def _status(status: str) -> Status:
    causes = [each.value for each in Status if each is not Status.OK]
    if status not in causes:
        raise Refusal(f"“{status}” is no cause.", f"Use one of {', '.join(causes)}.")
    return Status(status)
