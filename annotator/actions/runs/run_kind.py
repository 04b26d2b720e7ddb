"""The interface of a kind of run: its check, work, journal and words."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, TextIO

from annotator.actions.items import roles
from annotator.actions.judges import endpoint_memory, judges
from annotator.actions.project.file import Project
from annotator.actions.runs import driving, judge_cases, run_lines, run_records
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.judging.calls.budget import TOKENS_A_UNIT

Tell = Callable[[RunEvent], None]


class RunKind(ABC):
    """A kind of run: the endpoint asked, the `shape` of its questions, and the storage of its answers.

    Made for each order: it reads what there is to do as the project then is. All else is the same for every kind.
    """

    doing: ClassVar[str] = "judging"
    resumed: ClassVar[bool] = True
    """Whether `judge resume` goes on with it; otherwise the command that asked for it does."""
    things: str = "judgements"
    reply_tokens: float | None = None
    """What a reply takes until this model has given some of the kind; None where it is of the length of judgements."""
    skips: ClassVar[bool] = False
    """Whether its estimate leaves out what nothing can be asked about."""
    at_most: ClassVar[bool] = False
    """Whether its estimate goes by the most that may be asked."""
    plan_tokens: int = 0
    """What a plan takes that is asked for before."""

    def __init__(self, project: Project, order: RunRequest) -> None:
        self.project, self.order = project, order
        self.judge, self.shape = self.read(project, order)

    @abstractmethod
    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """Who is asked and by which shape; Refusal for an order that nothing can be made of."""

    def check(self) -> None:  # noqa: B027 - most kinds are refused when they are made
        """Refuse what may be counted, but not carried out."""

    @abstractmethod
    def journal(self, run_id: str) -> RunJournal:
        """Where answers are kept."""

    @abstractmethod
    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """What there is to ask, and what of it is there already."""

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        """The last line of a run as a person reads it."""
        return run_lines.words(line)

    def kept(self) -> Judge:
        """Who is asked, made sure to be in the file."""
        return judges.kept(self.project, self.judge)

    def asker(self) -> Judge:
        return self.judge

    def opened(self) -> OpenRun:
        """The run that begins, or goes on; Refusal, before anything is written, where nobody can answer."""
        from annotator.judging.runs.runner import refuse_unanswerable

        if self.asker().kind != JudgeKind.DERIVED:
            refuse_unanswerable(self.shape, by_model=self.asker().kind == JudgeKind.ENDPOINT)
        return run_records.open_run(self.project, self.judge, self.order, self.shape.prompts)

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        """The last line, with what there is to say of this kind."""
        return line

    @property
    def told_output(self) -> int:
        """The most tokens that a reply is told to have."""
        return round(
            self.reply_tokens or TOKENS_A_UNIT * judge_cases.units_a_call(self.judge, self.shape.name)
        )

    @property
    def without(self) -> str:
        """What the order leaves out, in a sentence; empty where it is nothing."""
        return "" if self.order.items else roles.left_out(self.project).not_counted

    def outlook(self) -> RunWork:
        return self.work(OpenRun("", 0), self.journal(""))

    @classmethod
    async def run(
        cls, project: Project, order: RunRequest, *, tell: Tell = lambda _: None, listen: TextIO | None = None
    ) -> RunEvent:
        """Run an order; the last line tells how it ended.

        A run that was killed or cancelled is resumed. Refusal when another is in progress.
        """
        run = cls(project, order)
        run.check()
        endpoint_memory.refuse_failed(project, run.asker())
        with run_records.alone(project):
            # What another run has done meanwhile is known only now.
            ended = await cls(project, order).through(tell, listen)
        tell(ended)
        return ended

    async def through(self, tell: Tell, listen: TextIO | None) -> RunEvent:
        """Open the run, do its work and close it."""
        self.judge = self.kept()
        run = self.opened()
        journal = self.journal(run.id)
        work = replace(self.work(run, journal), told_output=self.told_output)
        ended = await driving.drive(self.project, self.asker(), self.order, work, journal, tell, listen)
        return self.ended(ended, journal)


def with_failures(line: RunEvent, failed: list[dict[str, Any]]) -> RunEvent:
    """The last line of a run of which each failure is told: what failed is none of what is done."""
    return {**line, "done": line["done"] - sum(line["missing"].values()), "failed": failed}


def failure_words(line: RunEvent, of: Callable[[Mapping[str, Any]], str], *, first: str = "") -> list[str]:
    """The same as a person reads it; `of` says what failed, and `first` stands before the first."""
    said = run_lines.words({**line, "without": {}})
    failed = [f"{of(one)}: {one['status'].replace('_', ' ')}. {one['cause']}" for one in line["failed"]]
    return [said[0], *([first] if first and failed else []), *failed, *said[1:]]
