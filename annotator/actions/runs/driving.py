"""Driving a run, live or by batches: what stops or pauses it, and how it ends."""

import asyncio
import gc
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from annotator.actions.project.file import Project
from annotator.actions.project.stopping import stoppable
from annotator.actions.runs import run_lines, run_records
from annotator.actions.runs.batches import BatchShelf
from annotator.actions.runs.endpoints import asking
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.actions.runs.run_lines import RunEvent
from annotator.domain.judges.judge import Judge, RunState
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.budget import TOKENS_A_UNIT

if TYPE_CHECKING:
    from annotator.judging.calls.asking import Asker, Refused
    from annotator.judging.runs.runner import RunEnd

Tell = Callable[[RunEvent], None]


@dataclass(frozen=True, slots=True)
class RunWork:
    """The work of a run: its cases, the shape of each, and what is already done.

    `cases` gives them again at each call, and `whole` those too that are done, for counting; `deed` says what is
    done with what: “criteria judged”. `refused` says why a model may not answer; the first that may not ends the run.
    `told_output` is the most tokens that a reply is told to have.
    """

    shape: Protocol
    cases: Callable[[], Iterable[Case]]
    total: int
    before: int
    deed: str
    already: Container[Key] = frozenset()
    refused: "Refused" = lambda _: ""
    whole: Callable[[], Iterable[Case]] | None = None
    told_output: int = TOKENS_A_UNIT


async def drive(
    project: Project,
    judge: Judge,
    order: RunRequest,
    work: RunWork,
    journal: RunJournal,
    tell: Tell,
    listen: TextIO | None,
) -> RunEvent:
    """Do the work and close its run; the line that is returned tells how it ended.

    `tell` gets a line for each batch that was committed; a line “cancel” on `listen` stops the run within a second,
    “pause” lets it begin nothing more until “resume”; meanwhile its lines are marked `held`.
    """
    run_id = journal.run_id
    run_records.set_counts(project, run_id, work.total, work.before)
    drive = _Drive(project, order, work, journal, tell)
    try:
        with stoppable(drive.cancel, listen, drive.going), _little_garbage():
            async with asking(project, judge, order, journal, work.refused, work.told_output) as asker:
                ended = await drive.through(asker)
    except Refusal:
        run_records.close_run(project, run_id, RunState.INTERRUPTED)
        raise
    cost = run_records.close_run(project, run_id, ended.state)
    last = run_lines.ended_line(run_id, work.deed, ended, work.before, work.total, journal.without())
    return last | {"kind": str(judge.kind), "cost_usd": cost}


class _Drive:
    def __init__(
        self, project: Project, order: RunRequest, work: RunWork, journal: RunJournal, tell: Tell
    ) -> None:
        self.cancel, self.going = asyncio.Event(), asyncio.Event()
        self.going.set()
        _, self._paid = run_records.paid(project, journal.run_id)
        self._project, self._order, self._work, self._journal, self._tell = (
            project,
            order,
            work,
            journal,
            tell,
        )

    async def through(self, asker: "Asker | None") -> "RunEnd":
        """Do the work, and the batches before it where the order wants them."""
        from annotator.judging.runs import runner

        work, source, asks = self._work, self._work.cases(), asker
        if asker is not None and self._order.batch:
            asks, source = await self._by_batches(asker)
        return await runner.run(
            work.shape,
            source,
            asks,
            concurrency=self._order.concurrency,
            record=self._journal.record,
            progress=self._told,
            cancel=self.cancel,
            going=self.going,
            already=work.already,
        )

    async def _by_batches(self, asker: "Asker") -> tuple[Any, Iterable[Case]]:
        """What came of the batches, and the cases in the order in which it serves them."""
        from annotator.judging.batches import batching
        from annotator.judging.runs import runner

        work, shelf = self._work, BatchShelf(self._project, self._journal)
        judge = work.shape.judge
        if judge is None:
            raise Refusal(f"{work.shape.title} asks no model.", "Run it without batches.")

        def wanted() -> Iterator[Case]:
            return runner.left(work.cases(), work.already)

        batched = await batching.through(
            judge, wanted, asker, shelf, tell=self._told_of_batches, cancel=self.cancel
        )
        return batched, batched.in_order(wanted)

    def _told(self, progress: Any) -> None:
        work = self._work
        line = run_lines.line(self._journal.run_id, work.deed, progress, work.before, work.total, self._paid)
        self._tell(line if self.going.is_set() else {**line, "held": True})

    def _told_of_batches(self, told: Any) -> None:
        work = self._work
        self._tell(
            run_lines.batch_line(self._journal.run_id, work.deed, told, work.before, work.total, self._paid)
        )


@contextmanager
def _little_garbage() -> Iterator[None]:
    """Look for garbage seldom: what is loaded by now is none, and judging leaves hardly any in circles.

    What is set aside stays so: a process that judges does little else.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    try:
        yield
    finally:
        gc.set_threshold(*before)
