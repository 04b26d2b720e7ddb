"""Who has compared tasks so far: how many, in how many rounds, and what is missing."""

from dataclasses import dataclass

from sqlalchemy import func, select

from annotator.actions.contests import contest_rows
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import ResultSheet, SheetLine, columns, count, text
from annotator.domain.judges.contest import NOT_ASKED, POOL
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.texts.counting import counted
from annotator.storage.tables import CONTEST


@dataclass(frozen=True, slots=True)
class RaterSoFar:
    """What one rater has compared: answers, rounds, and what was asked or is still to be asked without an answer."""

    id: str
    name: str
    kind: RaterKind
    answered: int
    rounds: int
    missing: int
    not_asked: int


def so_far(project: Project) -> list[RaterSoFar]:
    """Everybody who compared or is to compare tasks; who answered most comes first."""
    c = CONTEST.c
    question = select(
        c.rater,
        func.max(c.round),
        func.count().filter(c.status.not_in((Status.OK.value, NOT_ASKED))),
        func.count().filter(c.status == NOT_ASKED),
    )
    with project.store.read() as db:
        told = {row[0]: row[1:] for row in db.execute(question.where(c.pool == POOL).group_by(c.rater))}
    return [
        RaterSoFar(one.id, one.name, one.kind, one.showings, *map(int, told[one.id]))
        for one in contest_rows.raters(project)
    ]


def sheet(found: list[RaterSoFar]) -> ResultSheet:
    heads = columns(
        ("rater", "Rater"), ("kind", "Kind"), ("comparisons", "Comparisons", "Of a pair in both orders, each counts"),
        ("rounds", "Rounds"), ("missing", "Missing", "Asked, and no valid answer came"),
        ("not_asked", "Not asked yet", "Planned, and left when the run ended"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.name), text(one.kind.value), count(one.answered), count(one.rounds),
            count(one.missing), count(one.not_asked),
        ))
        for one in found
    )  # fmt: skip
    return ResultSheet("raters", f"{counted(len(found), 'rater')} so far", heads, lines)
