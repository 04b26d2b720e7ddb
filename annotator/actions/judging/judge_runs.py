"""Judge runs: planning, running, and the results of earlier ones."""

from collections.abc import Container
from dataclasses import dataclass, replace

from annotator.actions.judging import card_checks, derived_judges, judge_offers
from annotator.actions.project.file import Project
from annotator.actions.runs import batches, judge_cases, run_records
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.judge_cases import Key, RunRequest
from annotator.actions.runs.run_kind import RunKind
from annotator.actions.runs.run_records import OpenRun
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PAPERS


@dataclass(frozen=True, slots=True)
class JudgementPlan:
    """The size of a run: all its judgements, and how many are still missing."""

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
            lacks = self.lacks or "Reports, or the gold they are judged by, are missing."
            return f"There is nothing to judge yet. {lacks}"
        if not self.to_do:
            return f"All {self.total:,} {self.things} of {self.reports:,} reports are judged."
        return f"{self.to_do:,} of {self.total:,} {self.things}, in {self.reports:,} reports, are not yet judged."


def plan(project: Project, order: RunRequest) -> JudgementPlan:
    """How much there is to judge, and how much of it is not done."""
    each = parts(project, order)
    if each != [order]:
        found = [plan(project, one) for one in each]
        total, to_do = sum(one.total for one in found), sum(one.to_do for one in found)
        return JudgementPlan(found[0].judge, total, to_do, max(one.reports for one in found), "judgements")
    judge_cases.checked(project, order)
    judge = derived_judges.asked(project, order)
    answered = RunJournal(project, "", judge.id, order.protocol).finished("")
    outlook = judge_cases.outlook(project, order, answered)
    things = judge_cases.things(order.protocol)
    lacks = "" if outlook.total else judge_offers.unasked(project, order.protocol)
    left = outlook.total - outlook.done
    return JudgementPlan(judge.name, outlook.total, left, outlook.reports, things, lacks)


def parts(project: Project, order: RunRequest) -> list[RunRequest]:
    """What an order is made of: of one that names a paper, each protocol that this judge can be asked for now.

    Refusal where that is none.
    """
    if order.protocol not in PAPERS:
        return [order]
    paper = PAPERS[order.protocol]
    model = derived_judges.asked(project, order).kind == JudgeKind.ENDPOINT
    able = (one.name for one in paper.protocols if one.values and (one.judge if model else one.baseline))
    each = (replace(order, protocol=name) for name in able)
    found = [one for one in each if next(judge_cases.cases(project, one), None) is not None]
    if not found:
        raise Refusal(
            f"Nothing of {paper.title} can be judged yet.",
            "Judges → What, with “Show all”, says what is lacking.",
        )
    return found


def left_out(project: Project, order: RunRequest) -> str:
    """What of a paper an order leaves out, and why, in a sentence; empty where that is nothing."""
    named = {one.protocol for one in parts(project, order)}
    asked = [one for one in PAPERS[order.protocol].protocols if one.values and one.judge]
    told = [
        f"{one.title} ({judge_offers.unasked(project, one.name).rstrip('.')})"
        for one in asked
        if one.name not in named
    ]
    return f"Left out: {'; '.join(told)}." if told else ""


class JudgeRun(RunKind):
    """A run in which a judge judges what is missing under a protocol; a vote is always recounted."""

    def read(self, project: Project, order: RunRequest) -> tuple[Judge, Protocol]:
        """The judge, and the protocol as it goes by it."""
        judge_cases.checked(project, order)
        judge = derived_judges.asked(project, order)
        return judge, asked_by(project, order, judge)

    def check(self) -> None:
        """Refuse batches of nobody, an order that no case comes of, and a judge that is not as its card says."""
        if self.order.batch and self.judge.kind != JudgeKind.ENDPOINT:
            raise Refusal(f"“{self.judge.name}” asks no model.", "Run it without batches.")
        if next(judge_cases.cases(self.project, self.order), None) is None:
            lacks = judge_offers.unasked(self.project, self.order.protocol)
            raise Refusal(
                f"There is nothing to judge by “{self.shape.title}” yet.",
                lacks or "Choose other items or systems.",
            )
        card_checks.refuse_unbound(self.project, self.judge, self.order.protocol)

    def opened(self) -> OpenRun:
        """The run; Refusal while what it would ask is in another run's batches."""
        going_on = run_records.stopped(self.project, self.judge, self.order)
        protocol, run_id = self.order.protocol, going_on.id if going_on else ""
        batches.refuse_while_out(self.project, self.judge, protocol, run_id)
        return super().opened()

    def journal(self, run_id: str) -> RunJournal:
        return RunJournal(self.project, run_id, self.judge.id, self.order.protocol)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        """The cases of the items on which some verdict is wanted."""
        project, order, judge = self.project, self.order, self.judge
        counted_anew = judge.kind == JudgeKind.DERIVED
        already: Container[Key] = frozenset() if counted_anew else journal.finished(run.id)
        found = judge_cases.outlook(project, order, already)
        settings = judge_cases.settings_of(judge, order.protocol, run.seed)
        return RunWork(
            self.shape,
            lambda: judge_cases.cases(project, order, found.items, settings),
            found.total,
            found.done,
            f"{judge_cases.things(order.protocol)} judged",
            already,
            card_checks.refused_models(project, judge, order),
            lambda: judge_cases.cases(project, order, settings=settings),
        )


run = JudgeRun.run


def asked_by(project: Project, order: RunRequest, judge: Judge) -> Protocol:
    """The protocol as this judge goes by it."""
    shape = judge_cases.shape_of(order.protocol)
    if judge.kind == JudgeKind.DERIVED:
        return replace(shape, baseline=derived_judges.counting(project, judge, shape.name))
    if judge_cases.units_a_call(judge, shape.name) == 1:
        return shape
    if shape.judge_together is None:
        raise Refusal(f"{shape.title} cannot be asked several units together.", "Choose another judge.")
    return replace(shape, judge=shape.judge_together)
