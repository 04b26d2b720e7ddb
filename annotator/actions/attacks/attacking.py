"""Runs that test a judge: attacks are applied to copies of reports, and it is asked about each as usual."""

from typing import TextIO

from annotator.actions.attacks import attack_copies, attack_drawing, attack_rewording, attack_tests
from annotator.actions.attacks.attack_journal import AttackJournal
from annotator.actions.attacks.attack_rewording import RewordingJournal
from annotator.actions.attacks.attack_tests import PREFIX, AttackRequest, AttackRunRequest, AttackTest
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import driving, run_records
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind, Tell
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.attack import AttackContent
from annotator.domain.judges.judge import Judge, RunState
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.texts.refusal import Refusal

DEED = "attacked copies judged"


class AttackRun(RunKind):
    """A run that tests a judge or continues a test; nothing is asked twice.

    Without a request of its own an order continues the newest interrupted test, or asks for what the newest lacks.
    The last line names the test.
    """

    doing = "attacking"
    things = "verdicts on copies"

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The judge, and the protocol whose verdicts are attacked."""
        people.refuse_others(project, "can test judges")
        request = order.request if isinstance(order, AttackRunRequest) else _newest(project, order)
        judge, shape, self.attacks = attack_tests.checked(project, request)
        self._wish = request
        return judge, shape

    def known(self) -> AttackTest | None:
        """The test that was ordered alike, if there is one."""
        return attack_tests.alike(self.project, self._wish, self.judge, self.shape, self.attacks)

    def drawn(self) -> AttackContent:
        """What a new test would hold."""
        project, request = self.project, self._wish
        writer = judges.named(project, request.writer).id if request.writer else ""
        return attack_drawing.draw(project, request, self.judge, self.shape, self.attacks, writer)

    def asked_by(self) -> Protocol:
        """The protocol as the judge goes by it."""
        return judge_runs.asked_by(self.project, RunRequest(self.judge.name, self.shape.name), self.judge)

    async def through(self, tell: Tell, listen: TextIO | None) -> RunEvent:
        """Draw the test or resume it; reports are said in other words before the judge is asked."""
        self.judge = self.kept()
        project, judge = self.project, self.judge
        # Whether a run was cut short is told now: one that died is known as such only under the lock.
        test = self.known()
        self._resumed = test is not None and _is_open(project, test)
        if test is None:
            test = attack_tests.keep(project, judge, self.shape, self.drawn())
        else:
            run_records.reopen(project, test.run_id)
        self._test = test
        self.shape = self.asked_by()
        ended = await self._written(tell, listen)
        if ended is None or ended["state"] == RunState.DONE.value:
            if ended is not None:
                run_records.reopen(project, test.run_id)
            run = OpenRun(test.run_id, 0)
            journal = self.journal(run.id)
            work = self.work(run, journal)
            ended = await driving.drive(project, judge, self.order, work, journal, tell, listen)
        return {**ended, "test": test.id}

    async def _written(self, tell: Tell, listen: TextIO | None) -> RunEvent | None:
        """How saying the reports in other words ended; None where nothing was left to say."""
        project, test = self.project, self._test
        writer = attack_rewording.writer_of(project, test)
        wanted = attack_rewording.unwritten(project, test, again=not self._resumed) if writer else []
        if writer is None or not wanted:
            return None
        journal = RewordingJournal(project, writer.id, test)
        work = attack_rewording.work(project, test, journal, wanted)
        return await driving.drive(project, writer, self.order, work, journal, tell, listen)

    def journal(self, run_id: str) -> AttackJournal:
        """What was said of copies, apart from judgements."""
        return AttackJournal(self.project, self.judge.id, self._test)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """The copies of the test on which a verdict is wanted."""
        assert isinstance(journal, AttackJournal)
        done = journal.done(only_ok=not self._resumed)
        words = attack_copies.reworded(self.project, self._test)

        def made() -> "map[Case]":
            found = attack_copies.cases(self.project, self._test, self.judge, self.shape, words.get, done)
            return map(journal.put, found)

        amount = attack_copies.amount(self._test, done)
        return RunWork(self.shape, made, amount.total, amount.done, DEED)


run = AttackRun.run


def _newest(project: Project, order: RunRequest) -> AttackRequest:
    """What the newest test of a judge that was cut short was to test, or the newest of all."""
    protocol = order.protocol.removeprefix(PREFIX)
    judge = judges.named(project, order.judge)
    tests = attack_tests.all_of(project, judge.id, protocol)
    if not tests:
        raise Refusal(f"“{judge.name}” was not tested.", "Begin with: goldsmith attack.")
    one = next((one for one in tests if _is_open(project, one)), tests[0]).content
    names = {each.id: each.name for each in judges.all_of(project)}
    writer = names.get(one.writer_id, "")
    return AttackRequest(judge.name, protocol, one.attacks, one.size, one.width, one.seed, writer)


def _is_open(project: Project, test: AttackTest) -> bool:
    return run_records.state_of(project, test.run_id) != RunState.DONE.value
