"""How a judge is let to work: what there is to do, the run itself, and what earlier runs came to."""

from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import TextIO

from annotator.actions.judges import judges
from annotator.actions.judging import card_checks, derived_judges, judge_offers
from annotator.actions.project.file import Project
from annotator.actions.runs import batches, driving, judge_cases, run_records
from annotator.actions.runs.driving import Work
from annotator.actions.runs.journal import Journal
from annotator.actions.runs.judge_cases import Key, Manner, Order
from annotator.actions.runs.run_lines import Line
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Plan:
    """What an order comes to: all its judgements, and how many of them are still wanted."""

    judge: str
    total: int
    to_do: int
    reports: int
    things: str = "criteria"
    lacks: str = ""

    def words(self) -> str:
        """The plan in a sentence or two."""
        if not self.total and self.things == "criteria":
            return "There is nothing to judge yet: reports are needed, and a sealed or imported rubric for their items."
        if not self.total:
            lacks = self.lacks or "The reports or what they are judged by are lacking."
            return f"There is nothing to judge yet. {lacks}"
        if not self.to_do:
            return f"All {self.total:,} {self.things} of {self.reports:,} reports are judged."
        return f"{self.to_do:,} of {self.total:,} {self.things}, in {self.reports:,} reports, are not yet judged."


def plan(project: Project, order: Order) -> Plan:
    """How much there is to judge, and how much of it is not done."""
    judge_cases.checked(project, order)
    judge = derived_judges.asked(project, order)
    answered = Journal(project, "", judge.id, order.protocol).finished("")
    found = judge_cases.outlook(project, order, answered)
    things = judge_cases.things(order.protocol)
    lacks = "" if found.total else judge_offers.unasked(project, order.protocol)
    return Plan(judge.name, found.total, found.total - found.done, found.reports, things, lacks)


async def run(
    project: Project,
    order: Order,
    *,
    tell: Callable[[Line], None] = lambda _: None,
    listen: TextIO | None = None,
) -> Line:
    """Judge what the order names and is not yet judged; the last line tells how it ended.

    A run that was killed or cancelled is gone on with. Refusal when another run is under way, and where the judge is
    bound to a card and is not as that says. A vote is counted anew
    whenever it is run.
    """
    judge_cases.checked(project, order)
    judge = derived_judges.asked(project, order)
    shape = asked_by(project, order, judge)
    if order.batch and judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(f"“{judge.name}” asks no model.", "Run it without batches.")
    _refuse_nothing(project, order, shape)
    card_checks.refuse_unbound(project, judge, order.protocol)
    judge = judges.kept(project, judge)
    with run_records.alone(project):
        going_on = run_records.stopped(project, judge, order)
        batches.refuse_while_out(project, judge, order.protocol, going_on.id if going_on else "")
        opened = run_records.open_run(project, judge, order, shape.prompts)
        journal = Journal(project, opened.id, judge.id, order.protocol)
        work = _work(project, order, judge, shape, opened, journal)
        ended = await driving.drive(project, judge, order, work, journal, tell, listen)
    tell(ended)
    return ended


def _refuse_nothing(project: Project, order: Order, shape: Protocol) -> None:
    """Refuse an order that no case comes of, saying what lacks."""
    if next(judge_cases.cases(project, order), None) is None:
        lacks = judge_offers.unasked(project, order.protocol)
        raise Refusal(
            f"There is nothing to judge by “{shape.title}” yet.", lacks or "Choose other items or systems."
        )


def asked_by(project: Project, order: Order, judge: Judge) -> Protocol:
    """The protocol as this judge goes by it."""
    shape = judge_cases.shape_of(order.protocol)
    if judge.kind == JudgeKind.DERIVED:
        return replace(shape, baseline=derived_judges.counting(project, judge, shape.name))
    if judge.asked.together == 1:
        return shape
    if shape.judge_together is None:
        raise Refusal(f"{shape.title} cannot be asked several units together.", "Choose another judge.")
    return replace(shape, judge=shape.judge_together)


def _work(
    project: Project, order: Order, judge: Judge, shape: Protocol, opened: OpenRun, journal: Journal
) -> Work:
    counted_anew = judge.kind == JudgeKind.DERIVED
    already: Container[Key] = frozenset() if counted_anew else journal.finished(opened.id)
    found = judge_cases.outlook(project, order, already)
    manner = Manner(judge.asked.together, judge.asked.weights_shown, opened.seed)
    return Work(
        shape,
        lambda: judge_cases.cases(project, order, found.items, manner),
        found.total,
        found.done,
        f"{judge_cases.things(order.protocol)} judged",
        already,
        card_checks.refused_models(project, judge, order),
    )
