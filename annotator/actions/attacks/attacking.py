"""Runs that test a judge: its own questions, put again over attacked copies of reports."""

from collections.abc import Container, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from random import Random
from typing import Any

from annotator.actions.attacks import attack_drawing, attack_tests
from annotator.actions.attacks.attack_journal import AttackCopy, AttackJournal, Said, copy_id
from annotator.actions.attacks.attack_tests import PREFIX, AttackRequest, AttackRunRequest, AttackTest
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_kind import RunKind
from annotator.actions.runs.run_lines import RunEvent
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.attack import AttackedQuestion, copied
from annotator.domain.judges.judge import Judge, RunState
from annotator.domain.judges.protocol import Case, Material, Protocol
from annotator.domain.texts.change import now
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import ATTACKS, CONTROL, CRITERIA, disordered

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
        judge, shape, self._attacks = attack_tests.checked(project, request)
        self._wish = request
        return judge, shape

    def known(self) -> AttackTest | None:
        """The test that was ordered alike, if there is one."""
        return attack_tests.alike(self.project, self._wish, self.judge, self.shape, self._attacks)

    def new(self) -> AttackTest:
        content = attack_drawing.draw(self.project, self._wish, self.judge, self.shape, self._attacks)
        return AttackTest("", self.judge.id, "", self.shape.name, now(), content)

    def opened(self) -> OpenRun:
        """The run of the test that was ordered alike, or of a new one."""
        # Whether a run was cut short is known only under the lock: one that died is marked there.
        test = self.known()
        self._resumed = test is not None and _is_open(self.project, test)
        if test is None:
            test = attack_tests.keep(self.project, self.judge, self.shape, self.new().content)
        else:
            run_records.reopen(self.project, test.run_id)
        self._test = test
        self.shape = self._asked_by()
        return OpenRun(test.run_id, 0)

    def _asked_by(self) -> Protocol:
        return judge_runs.asked_by(self.project, RunRequest(self.judge.name, self.shape.name), self.judge)

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        return {**line, "test": self._test.id}

    def journal(self, run_id: str) -> AttackJournal:
        return AttackJournal(self.project, self.judge.id, self._test)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """The copies of the test on which a verdict is wanted."""
        assert isinstance(journal, AttackJournal)
        return self._work(self._test, journal, only_ok=not self._resumed)

    def _work(self, test: AttackTest, journal: AttackJournal, *, only_ok: bool) -> RunWork:
        done = journal.done(only_ok=only_ok)
        total, there = amount(test, done)

        def made() -> Iterator[Case]:
            return map(journal.put, cases(self.project, test, self.judge, self.shape, done))

        return RunWork(self.shape, made, total, there, DEED)

    async def forecast(self, test: AttackTest) -> CostEstimate:
        name, self.shape = self.shape.name, self._asked_by()
        work = self._work(test, AttackJournal(self.project, self.judge.id, test), only_ok=True)
        return replace(await forecasts.of_work(self, work, work.cases()), protocol=name)


run = AttackRun.run


def _newest(project: Project, order: RunRequest) -> AttackRequest:
    """What the newest test of a judge that was cut short was to test, or the newest of all."""
    protocol = order.protocol.removeprefix(PREFIX)
    judge = judges.named(project, order.judge)
    tests = attack_tests.all_of(project, judge.id, protocol)
    if not tests:
        raise Refusal(f"“{judge.name}” was not tested.", "Begin with: goldsmith attack.")
    one = next((one for one in tests if _is_open(project, one)), tests[0]).content
    return AttackRequest(judge.name, protocol, one.attacks, one.size, one.width, one.seed)


def _is_open(project: Project, test: AttackTest) -> bool:
    return run_records.state_of(project, test.run_id) != RunState.DONE.value


def amount(test: AttackTest, done: Container[Said]) -> tuple[int, int]:
    """How many verdicts a test comes to, and how many of them are there."""
    total = there = 0
    for attack in test.content.attacks:
        for place, one in attack_drawing.questions_of(test, attack):
            variants = ATTACKS[attack].variants
            of_copy = copy_id(test.id, attack, variants[place % len(variants)], one.response_id)
            total += len(one.own)
            there += sum((of_copy, unit) in done for unit in one.own)
    return total, there


def cases(
    project: Project, test: AttackTest, judge: Judge, shape: Protocol, done: Container[Said] = frozenset(),
) -> Iterator[AttackCopy]:  # fmt: skip
    """Every question of a test, but those of which all is done; report by report, one attack after the other.

    A unit that is there no more, or of which the judge says something else by now, is asked about no more.
    """
    stand = attack_drawing.standing(project, judge, shape)
    numbered = list(enumerate(test.content.drawn))
    items = list(dict.fromkeys(one.item_id for one in test.content.drawn))
    by_response = {
        response_id: list(group) for response_id, group in groupby(numbered, lambda pair: pair[1].response_id)
    }
    for at_hand in materials.each(project, materials.for_judging(shape), items):
        for material in at_hand.responses:
            for place, one in by_response.get(material.response.id, ()):
                if all(stand.get((one.response_id, unit)) == value for unit, value in one.own.items()):
                    yield from _of_question(test, judge, shape, material, place, one, done)


def _of_question(
    test: AttackTest, judge: Judge, shape: Protocol, material: Material, place: int, one: AttackedQuestion,
    done: Container[Said],
) -> Iterator[AttackCopy]:  # fmt: skip
    asked = _asked(shape, material, one)
    if asked is None:
        return
    asked = replace(asked, weights_shown=judge.asked.weights_shown)
    for attack in test.content.attacks:
        report = material.response.text
        variant, pieces = attack_drawing.copy_of(
            report, attack, shape.name, place, test.content.seed, one.response_id
        )
        of_copy = copy_id(test.id, attack, variant, one.response_id)
        if all((of_copy, unit) in done for unit in one.own):
            continue
        shown = material.response.model_copy(update={"id": of_copy, "text": copied(report, pieces)})
        trial = test.content.trial if attack == CONTROL else 1
        case = replace(asked, response=shown, trial=trial)
        if attack == CRITERIA:
            chance = Random(f"{test.content.seed}/{attack}/{one.response_id}")
            case = replace(case, units=tuple(disordered(asked.units, chance)))
        yield AttackCopy(attack, variant, pieces, one, report, case)


def _asked(shape: Protocol, material: Material, one: AttackedQuestion) -> Case | None:
    """The question as the judge was asked it; None when one of its units is gone."""
    by_unit = {unit.id: (case, unit) for case in shape.cases(material) for unit in case.units}
    if not all(unit in by_unit for unit in one.asked):
        return None
    first = by_unit[one.asked[0]][0]
    return replace(first, units=tuple(by_unit[unit][1] for unit in one.asked))


@dataclass(frozen=True, slots=True)
class AttackEstimate:
    """The estimate of a test: `drawn` of the `available` verdicts are used for each of so many `attacks`.

    `known` tells that a test so ordered is there already, and is resumed.
    """

    judging: CostEstimate
    drawn: int
    available: int
    items: int
    attacks: int
    known: bool

    @property
    def cost_usd(self) -> float | None:
        """What all calls would cost; None where the price is not known."""
        return self.judging.cost_usd

    def tree(self) -> dict[str, Any]:
        return {**asdict(self), "cost_usd": self.cost_usd, "words": self.words()}

    def words(self) -> list[str]:
        said = [
            f"{counted(self.drawn, 'verdict')} of {self.available:,} on {counted(self.items, 'item')}, "
            f"drawn at random; each is used for {counted(self.attacks, 'attack')}."
        ]
        if self.known:
            said.append("This test exists already: only its missing verdicts are asked for.")
        return said + self.judging.words()


async def estimate(project: Project, request: AttackRequest) -> AttackEstimate:
    """What the test would take; nothing is asked and nothing is written."""
    kind = AttackRun(project, attack_tests.order(request))
    known = kind.known()
    test = known or kind.new()
    drawn = test.content.drawn
    return AttackEstimate(
        judging=await kind.forecast(test),
        drawn=sum(len(one.own) for one in drawn),
        available=test.content.available,
        items=len({one.item_id for one in drawn}),
        attacks=len(test.content.attacks),
        known=known is not None,
    )
