"""Storage of answers about attacked copies, apart from responses and judgements."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.attacks.attack_tests import AttackTest
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import response_hash
from annotator.actions.runs.journal import RunJournal, by_cause
from annotator.domain.judges.attack import AttackCopyFields, AttackedQuestion, AttackVerdictFields, Pieces
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.change import derived_id
from annotator.judging.runs.progress import Finished
from annotator.storage import upserts
from annotator.storage.tables import ATTACK_COPY, ATTACK_VERDICT

# Copy and unit; copy and units in the order asked.
Said = tuple[str, str]
Name = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class AttackCopy:
    """A question on a copy of a report: attack, variant, and the question as asked."""

    attack: str
    variant: str
    pieces: Pieces
    struck: AttackedQuestion
    report: str
    case: Case


def copy_id(test_id: str, attack: str, variant: str, response_id: str) -> str:
    return derived_id("attack copy", test_id, attack, variant, response_id)


def _copy_row(test: AttackTest, made: AttackCopy) -> dict[str, Any]:
    fields = AttackCopyFields(
        test_id=test.id, response_id=made.struck.response_id, attack=made.attack, variant=made.variant,
        text_sha256=response_hash(made.report), pieces=json.dumps(made.pieces, ensure_ascii=False),
    )  # fmt: skip
    return {"id": made.case.response.id, **fields.model_dump(), "status": fields.status.value}


class AttackJournal(RunJournal):
    """A journal that stores verdicts with the test; `made` holds each copy until it is judged."""

    def __init__(self, project: Project, judge_id: str, test: AttackTest) -> None:
        super().__init__(project, test.run_id, judge_id, test.protocol)
        self.made: dict[Name, AttackCopy] = {}
        self._test = test

    def put(self, made: AttackCopy) -> Case:
        """Remember what a case is about, and give the case."""
        self.made[_name(made.case)] = made
        return made.case

    def done(self, *, only_ok: bool) -> set[Said]:
        """What was said of which copies; `only_ok` leaves out what did not come."""
        v = ATTACK_VERDICT.c
        question = select(v.copy_id, v.unit_id).where(v.test_id == self._test.id)
        question = question.where(v.status == Status.OK.value) if only_ok else question
        with self._project.store.read() as db:
            return {(row[0], row[1]) for row in db.execute(question)}

    def without(self) -> dict[str, int]:
        return by_cause(self._project, ATTACK_VERDICT, ATTACK_VERDICT.c.test_id == self._test.id)

    def keep(self, db: Connection, done: list[Finished], at: datetime) -> int:
        """Write the copies and what was said of them, in the transaction of the calls."""
        known = [(self.made.pop(_name(one.case), None), one) for one in done]
        rows = [row for made, one in known if made for row in self._verdicts(made, one, at)]
        if rows:
            upserts.add_missing(db, ATTACK_COPY, [_copy_row(self._test, made) for made, _ in known if made])
            upserts.put(db, ATTACK_VERDICT, rows)
        return len(rows)

    def _verdicts(self, made: AttackCopy, finished: Finished, at: datetime) -> Iterator[dict[str, Any]]:
        of_copy, asked = finished.case.response.id, [unit.id for unit in finished.case.units]
        for unit_id, verdict in finished.verdicts.items():
            fields = AttackVerdictFields(
                **verdict.model_dump(), test_id=self._test.id, copy_id=of_copy, item_id=made.struck.item_id,
                unit_id=unit_id, before=made.struck.own[unit_id], call_id=finished.call_id, at=at,
                asked=json.dumps(asked) if len(asked) > 1 else "",
            )  # fmt: skip
            row = {"id": derived_id("attack verdict", of_copy, unit_id), **fields.model_dump()}
            yield row | {"status": verdict.status.value}


def read_pieces(text: str) -> Pieces:
    """The pieces of a copy as its row keeps them."""
    return tuple(piece if isinstance(piece, str) else (piece[0], piece[1]) for piece in json.loads(text))


def _name(case: Case) -> Name:
    return case.response.id, tuple(unit.id for unit in case.units)
