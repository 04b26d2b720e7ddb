"""Calls that reword reports before a judge is asked about them."""

from collections.abc import Iterator
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.attacks.attack_journal import copy_row, put_copy
from annotator.actions.attacks.attack_tests import COPY, AttackTest
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs.driving import RunWork
from annotator.actions.runs.journal import RunJournal
from annotator.domain.judges.attack import Pieces
from annotator.domain.judges.judge import Judge
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Protocol, Verdicts
from annotator.domain.judges.scale import plain
from annotator.domain.kinds.unit import Unit
from annotator.judging.attacks import ATTACKS, AttackNeeds
from annotator.judging.attacks.rewording import PARAPHRASE, PROMPTS, reworded
from annotator.judging.runs.progress import Finished

WRITTEN = "written"
DEED = "reports said in other words"


def writer_of(project: Project, test: AttackTest) -> Judge | None:
    """Whose model rewords the reports of a test; None where none is to."""
    wanted = any(ATTACKS[name].needs is AttackNeeds.WRITER for name in test.content.attacks)
    known = {judge.id: judge for judge in judges.all_of(project)}
    return known.get(test.content.writer_id) if wanted else None


def unwritten(project: Project, test: AttackTest, *, again: bool) -> list[str]:
    """The drawn responses without a copy in other words; `again` counts those of which a model made none."""
    c = COPY.c
    question = select(c.response_id).where(c.test_id == test.id, c.attack == PARAPHRASE)
    question = question.where(c.status == Status.OK.value) if again else question
    with project.store.read() as db:
        there = set(db.execute(question).scalars())
    return list(dict.fromkeys(one.response_id for one in test.content.drawn if one.response_id not in there))


class RewordingJournal(RunJournal):
    """A journal of reworded copies; the copies are stored with the test."""

    def __init__(self, project: Project, writer_id: str, test: AttackTest) -> None:
        super().__init__(project, test.run_id, writer_id, test.protocol)
        self.copies: dict[str, Pieces] = {}
        self._test = test

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write what came of each report, in the transaction of the calls."""
        for one in done:
            response = one.case.response
            verdict = one.verdicts[one.case.unit.id]
            pieces = self.copies.pop(response.id, ())
            row = copy_row(
                self._test, response_id=response.id, report=response.text, attack=PARAPHRASE, pieces=pieces,
                status=verdict.status, cause=verdict.cause,
            )  # fmt: skip
            put_copy(db, row)
        return len(done)


def work(project: Project, test: AttackTest, journal: RewordingJournal, wanted: list[str]) -> RunWork:
    """The reports to be reworded, as a run takes them."""

    async def ask_for(case: Case, ask: Ask) -> Verdicts:
        pieces, answer = await reworded(case.response.text, ask)
        if pieces is None:
            return {case.unit.id: answer.verdict()}
        journal.copies[case.response.id] = pieces
        return {case.unit.id: Verdict(value=WRITTEN)}

    shape = Protocol(
        name=PARAPHRASE, title=ATTACKS[PARAPHRASE].title, citation="", needs=(), metrics=(), scale=plain(WRITTEN),
        judge=ask_for, prompts=PROMPTS,
    )  # fmt: skip
    return RunWork(shape, lambda: _cases(project, test, set(wanted)), len(wanted), 0, DEED)


def _cases(project: Project, test: AttackTest, wanted: set[str]) -> Iterator[Case]:
    items = list(dict.fromkeys(one.item_id for one in test.content.drawn))
    for at_hand in materials.each(project, materials.WantedMaterial((), parts=False), items):
        for material in at_hand.responses:
            if material.response.id in wanted:
                yield Case(PARAPHRASE, at_hand.item, material.response, "", (Unit(id=WRITTEN),))
