"""How a judge is put to the test: attacks are made on copies of reports, and it is asked about each as ever."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TextIO

from annotator.actions.attacks import attack_copies, attack_drawing, attack_rewording, attack_tests
from annotator.actions.attacks.attack_journal import AttackJournal
from annotator.actions.attacks.attack_rewording import RewordingJournal
from annotator.actions.attacks.attack_tests import PREFIX, AttackOrder, AttackTest, Wish
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import driving, run_lines, run_records
from annotator.actions.runs.driving import Work
from annotator.actions.runs.judge_cases import Order
from annotator.actions.runs.run_lines import Line
from annotator.domain.judges.judge import Judge, RunState
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.texts.refusal import Refusal

DEED = "attacked copies judged"
Tell = Callable[[Line], None]


@dataclass(frozen=True, slots=True)
class _Undertaking:
    """A test with the judge that is asked and how it is carried out; `resumed` says that its run was cut short."""

    test: AttackTest
    judge: Judge
    shape: Protocol
    order: Order
    resumed: bool


async def run(
    project: Project, order: AttackOrder, *, tell: Tell = lambda _: None, listen: TextIO | None = None
) -> Line:
    """Carry a test out, or go on with the one that was ordered alike: what came before is never asked for again.

    The last line names the test.
    """
    wish = order.wish
    people.refuse_others(project, "puts judges to the test")
    judge, shape, attacks = attack_tests.checked(project, wish)
    judge = judges.kept(project, judge)
    with run_records.alone(project):
        # Whether a run was cut short is told now: one that died is known as such only under the lock.
        test = attack_tests.alike(project, wish, judge, shape, attacks)
        resumed = test is not None and _is_open(project, test)
        if test is None:
            writer = judges.named(project, wish.writer).id if wish.writer else ""
            content = attack_drawing.draw(project, wish, judge, shape, attacks, writer)
            test = attack_tests.keep(project, judge, shape, content)
        else:
            run_records.reopen(project, test.run_id)
        doing = _Undertaking(test, judge, _asked_by(project, judge, shape), order, resumed)
        ended = await _carried_out(project, doing, tell, listen)
    tell(ended)
    return ended


async def go_on(
    project: Project, order: Order, *, tell: Tell = lambda _: None, listen: TextIO | None = None
) -> Line:
    """Go on with the newest test of a judge that was cut short, or ask for what is missing of the newest."""
    protocol = order.protocol.removeprefix(PREFIX)
    judge = judges.named(project, order.judge)
    tests = attack_tests.all_of(project, judge.id, protocol)
    if not tests:
        raise Refusal(f"“{judge.name}” was not put to the test.", "Begin with: goldsmith attack.")
    test = next((one for one in tests if _is_open(project, one)), tests[0])
    names = {one.id: one.name for one in judges.all_of(project)}
    one = test.content
    wish = Wish(
        judge.name, protocol, one.attacks, one.size, one.width, one.seed, names.get(one.writer_id, "")
    )
    return await run(project, AttackOrder(**asdict(order) | {"wish": wish}), tell=tell, listen=listen)


def _is_open(project: Project, test: AttackTest) -> bool:
    return run_records.state_of(project, test.run_id) != RunState.DONE.value


def _asked_by(project: Project, judge: Judge, shape: Protocol) -> Protocol:
    return judge_runs.asked_by(project, Order(judge.name, shape.name), judge)


async def _carried_out(project: Project, doing: _Undertaking, tell: Tell, listen: TextIO | None) -> Line:
    written = await _written(project, doing, tell, listen)
    if written is not None and written["state"] != RunState.DONE.value:
        return {**written, "test": doing.test.id}
    if written is not None:
        run_records.reopen(project, doing.test.run_id)
    journal = AttackJournal(project, doing.judge.id, doing.test)
    work = _work(project, doing, journal)
    ended = await driving.drive(project, doing.judge, doing.order, work, journal, tell, listen)
    return {**ended, "test": doing.test.id}


async def _written(project: Project, doing: _Undertaking, tell: Tell, listen: TextIO | None) -> Line | None:
    """How saying the reports in other words ended; None where nothing was left to say."""
    writer = attack_rewording.writer_of(project, doing.test)
    wanted = attack_rewording.unwritten(project, doing.test, again=not doing.resumed) if writer else []
    if writer is None or not wanted:
        return None
    journal = RewordingJournal(project, writer.id, doing.test)
    work = attack_rewording.work(project, doing.test, journal, wanted)
    return await driving.drive(project, writer, doing.order, work, journal, tell, listen)


def _work(project: Project, doing: _Undertaking, journal: AttackJournal) -> Work:
    done = journal.done(only_ok=not doing.resumed)
    words = attack_copies.reworded(project, doing.test)

    def made() -> "map[Case]":
        found = attack_copies.cases(project, doing.test, doing.judge, doing.shape, words.get, done)
        return map(journal.put, found)

    amount = attack_copies.amount(doing.test, done)
    return Work(doing.shape, made, amount.total, amount.done, DEED)


def words(line: Line) -> list[str]:
    """The last line of a test as a person reads it."""
    return run_lines.words(line)
