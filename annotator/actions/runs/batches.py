"""Batches of a run, stored across restarts: their states, the open ones, and cancelling."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from annotator.actions.judges import judges
from annotator.actions.project.file import Project, record
from annotator.actions.runs.journal import RunJournal, call_of
from annotator.domain.judges.judge import Call, Judge
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import BATCH, CALL, JUDGE, RUN

if TYPE_CHECKING:
    from annotator.judging.batches.batch_state import BatchState

_SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class OutstandingBatch:
    """A batch without its answers yet; `stage` is ours, `status` the provider's at the last poll."""

    id: str
    run_id: str
    judge_id: str
    judge: str
    protocol: str
    questions: int
    stage: str
    status: str
    expires_at: datetime | None

    def words(self) -> str:
        until = f", to be answered by {self.expires_at:%Y-%m-%d %H:%M} UTC" if self.expires_at else ""
        status = self.status or "not yet sent"
        return f"{self.judge}, {self.protocol}: {self.questions:,} questions, {status}{until}"


class BatchShelf:
    """The batches of one run in the project, beside its calls. Each method commits before it returns."""

    def __init__(self, project: Project, journal: RunJournal) -> None:
        self._project, self._journal = project, journal

    def batches(self) -> list["BatchState"]:
        """Those that are not settled, the oldest first."""
        from annotator.judging.batches.batch_state import BatchState

        mine = BATCH.c.run_id == self._journal.run_id
        question = (
            select(BATCH.c.content).where(mine, BATCH.c.stage != _SETTLED).order_by(BATCH.c.at, BATCH.c.id)
        )
        with self._project.store.read() as db:
            return [BatchState.model_validate_json(content) for content in db.execute(question).scalars()]

    def keep_batch(self, state: "BatchState") -> None:
        """Keep a batch as it stands now, in place of how it stood before."""
        row = {"stage": state.stage.value, "content": state.model_dump_json()}
        with self._project.store.write() as db:
            if not db.execute(update(BATCH).where(BATCH.c.id == state.id), row).rowcount:
                of = {"id": state.id, "run_id": self._journal.run_id, "at": now()}
                db.execute(insert(BATCH), {**of, **row})

    def keep_calls(self, calls: list[Call]) -> None:
        """Journal calls; one whose id is there already is left as it is."""
        self._journal.record_calls(calls)

    def find(self, cache_key: str) -> Call | None:
        """The latest call of that key whose status is ok."""
        return self._journal.find(cache_key)

    def declined(self) -> list[Call]:
        """The run's calls of which asking again is no use."""
        from annotator.judging.batches.batch_results import DECLINED

        wanted = (CALL.c.run_id == self._journal.run_id, CALL.c.status.in_([each.value for each in DECLINED]))
        with self._project.store.read() as db:
            rows = db.execute(select(CALL).where(*wanted).order_by(CALL.c.at)).mappings().all()
        return [call_of(row) for row in rows]


def out(project: Project, judge_id: str = "", protocol: str = "") -> list[OutstandingBatch]:
    """The batches whose answers are still to be fetched, the oldest first; of one judge or protocol if named."""
    from annotator.judging.batches.batch_state import BatchState

    question = (
        select(BATCH.c.content, BATCH.c.run_id, RUN.c.judge_id, RUN.c.protocol, JUDGE.c.name)
        .join(RUN, RUN.c.id == BATCH.c.run_id)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
        .where(BATCH.c.stage != _SETTLED)
        .order_by(BATCH.c.at, BATCH.c.id)
    )
    question = question.where(RUN.c.judge_id == judge_id) if judge_id else question
    question = question.where(RUN.c.protocol == protocol) if protocol else question
    with project.store.read() as db:
        rows = db.execute(question).all()
    found = []
    for row in rows:
        state = BatchState.model_validate_json(row.content)
        if not state.input_file:
            # The provider has never had it: its questions are filed again.
            continue
        about = row.run_id, row.judge_id, row.name, row.protocol, len(state.entries)
        found.append(OutstandingBatch(state.id, *about, state.stage.value, state.status, state.expires_at))
    return found


def refuse_while_out(project: Project, judge: Judge, protocol: str, run_id: str) -> None:
    """Refuse to ask a judge again what another of its runs has put into batches: it would be paid for twice."""
    if any(one.run_id != run_id for one in out(project, judge.id, protocol)):
        raise Refusal(
            f"Batches of “{judge.name}” under this protocol are still with the provider.",
            "Fetch them with: judge resume. Or cancel them: judge batches --withdraw, then judge resume.",
        )


async def withdraw(project: Project, judge: str = "") -> int:
    """Ask the providers to stop all batches that are out (of a judge); how many they stop.

    What was answered by then comes with the next start of the run. Refusal while a run is in progress.
    """
    from annotator.actions.runs import run_records

    waiting = out(project, judges.named(project, judge).id if judge else "")
    stopped = 0
    with run_records.alone(project):
        for run_id in dict.fromkeys(one.run_id for one in waiting):
            stopped += await _withdrawn(project, run_id)
    return stopped


def forget(project: Project, judge: str = "") -> int:
    """Give up all batches that are out (of a judge), whatever their provider does; how many.

    For one that cannot be reached any more: what it was to answer is asked again, and paid again.
    """
    from annotator.actions.runs import run_records

    waiting = out(project, judges.named(project, judge).id if judge else "")
    with run_records.alone(project), project.store.write() as db:
        for one in waiting:
            db.execute(update(BATCH).where(BATCH.c.id == one.id).values(stage=_SETTLED))
            about = {"run": one.run_id, "questions": one.questions}
            record(project, db, Change("judge_run", one.run_id, "give up batch", None, about))
    return len(waiting)


async def _withdrawn(project: Project, run_id: str) -> int:
    from annotator.actions.runs.endpoints import asking
    from annotator.actions.runs.judge_cases import RunRequest
    from annotator.judging.batches import batching
    from annotator.judging.calls.breaker import RunHalt

    question = select(JUDGE, RUN.c.protocol).join(RUN, RUN.c.judge_id == JUDGE.c.id).where(RUN.c.id == run_id)
    with project.store.read() as db:
        row = dict(db.execute(question).mappings().one())
    protocol = row.pop("protocol")
    judge = Judge(**row)
    journal = RunJournal(project, run_id, judge.id, protocol)
    try:
        async with asking(project, judge, RunRequest(judge.name, protocol), journal) as asker:
            return await batching.withdraw(asker, BatchShelf(project, journal)) if asker is not None else 0
    except RunHalt as halt:
        raise Refusal(halt.cause, "Try again later, or forget them: judge batches --forget.") from None
