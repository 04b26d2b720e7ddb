"""Cost estimate of an attack test, before any call: copies to judge, and reports to reword first."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from annotator.actions.attacks import attack_copies, attack_drawing, attack_rewording, attack_tests
from annotator.actions.attacks.attack_journal import AttackJournal
from annotator.actions.attacks.attack_tests import AttackRequest, AttackTest
from annotator.actions.attacks.attacking import DEED, AttackRun
from annotator.actions.judging import forecasts
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.project.file import Project
from annotator.actions.runs.driving import RunWork
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identity import now
from annotator.judging.attacks import ATTACKS


@dataclass(frozen=True, slots=True)
class Rewording:
    """Reports to be reworded by a model: approximate length and cost; None when unknown."""

    model: str
    reports: int
    tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class AttackEstimate:
    """The estimate of a test. `drawn` of the `available` verdicts are used for each suitable attack.

    `per_attack` says to how many; `known` tells that a test so ordered is there already, and is resumed.
    """

    judging: CostEstimate
    rewording: Rewording | None
    drawn: int
    available: int
    items: int
    per_attack: Mapping[str, int]
    known: bool

    @property
    def cost_usd(self) -> float | None:
        """What all calls would cost; None where a price is not known."""
        parts = [self.judging.cost_usd, *([self.rewording.cost_usd] if self.rewording else [])]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    def tree(self) -> dict[str, Any]:
        """The estimate as a JSON tree."""
        return {**asdict(self), "cost_usd": self.cost_usd, "words": self.words()}

    def words(self) -> list[str]:
        """The estimate as a person reads it."""
        said = [
            f"{counted(self.drawn, 'verdict')} of {self.available:,} on {counted(self.items, 'item')}, "
            f"drawn at random; each is used for {counted(len(self.per_attack), 'attack')}."
        ]
        said += [
            f"{ATTACKS[name].title}: {self.drawn - count:,} of them have no such copy."
            for name, count in self.per_attack.items()
            if count < self.drawn
        ]
        if self.known:
            said.append("This test exists already: only its missing verdicts are asked for.")
        if self.rewording:
            one = self.rewording
            cost = "an unknown amount" if one.cost_usd is None else f"about ${one.cost_usd:,.2f}"
            said.append(f"Before that {one.model} paraphrases {counted(one.reports, 'report')}: {cost}.")
        return said + self.judging.words()


async def estimate(project: Project, request: AttackRequest) -> AttackEstimate:
    """What the test would take; nothing is asked and nothing is written."""
    kind = AttackRun(project, attack_tests.order(request))
    known = kind.known()
    test = known or AttackTest("", kind.judge.id, "", kind.shape.name, now(), kind.drawn())
    drawn = test.content.drawn
    unwritten = _unwritten(project, test)
    return AttackEstimate(
        judging=await _judging(kind, test, unwritten),
        rewording=_rewording(project, test, unwritten),
        drawn=sum(len(one.own) for one in drawn),
        available=test.content.available,
        items=len({one.item_id for one in drawn}),
        per_attack={
            name: sum(len(one.own) for _, one in attack_drawing.questions_of(test, name))
            for name in kind.attacks
        },
        known=known is not None,
    )


def _unwritten(project: Project, test: AttackTest) -> dict[str, str]:
    """Response → its report, of those that are still to be said in other words."""
    if attack_rewording.writer_of(project, test) is None:
        return {}
    wanted = set(attack_rewording.unwritten(project, test, again=True))
    return {
        name: report for name, report in attack_drawing.reports(project, test.content.drawn) if name in wanted
    }


async def _judging(kind: AttackRun, test: AttackTest, unwritten: dict[str, str]) -> CostEstimate:
    project, judge = kind.project, kind.judge
    done = AttackJournal(project, judge.id, test).done(only_ok=True)
    amount = attack_copies.amount(test, done)
    written = attack_copies.reworded(project, test)
    # What a model has not written yet is taken to be as long as the report.
    words = {**{name: (f"{report}\n",) for name, report in unwritten.items()}, **written}
    shape = kind.asked_by()
    made = attack_copies.cases(project, test, judge, shape, words.get, done)
    work = RunWork(shape, lambda: (one.case for one in made), amount.total, amount.done, DEED)
    return replace(await forecasts.of_work(kind, work, work.cases()), protocol=shape.name)


def _rewording(project: Project, test: AttackTest, unwritten: dict[str, str]) -> Rewording | None:
    from annotator.judging.calls.prices import prices, tokens_in

    writer = attack_rewording.writer_of(project, test)
    if writer is None or not unwritten:
        return None
    # The report goes in, and comes out about as long.
    tokens = sum(map(tokens_in, unwritten.values()))
    price = prices().of(writer.model)
    cost = price.price.cost(tokens, tokens) if price else None
    return Rewording(writer.model, len(unwritten), tokens, cost)
