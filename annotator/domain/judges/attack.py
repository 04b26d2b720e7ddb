"""Records of an attack on a judge: the verdicts tested, the copies made, and the judge's answers about them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from pydantic import Field
from sqlmodel import Field as Column
from sqlmodel import SQLModel, String

from annotator.domain.judges.judgement import Status, VerdictFields
from annotator.domain.texts.canonical import Text
from annotator.domain.texts.frozen_record import FrozenRecord

# Of the report, from character to character, half-open; or words that were put in.
Piece = tuple[int, int] | str
Pieces = tuple[Piece, ...]
# A report that nothing was done to has no pieces.
UNTOUCHED: Pieces = ()


@dataclass(frozen=True, slots=True)
class PlantedText:
    """Characters [start, end) of a copy that the report does not have there: `moved` ones stand elsewhere in it."""

    start: int
    end: int
    moved: bool = False


def copied(report: str, pieces: Pieces) -> str:
    return "".join(words for words, _ in _laid(report, pieces)) if pieces else report


def planted(report: str, pieces: Pieces) -> tuple[PlantedText, ...]:
    """Where a copy is not the report: words that were put in, and passages that stand in another place."""
    found, at, end = [], 0, 0
    for words, start in _laid(report, pieces):
        if start is None and words.strip():
            found.append(PlantedText(at, at + len(words)))
        elif start is not None and start < end:
            found.append(PlantedText(at, at + len(words), moved=True))
        end = max(end, start + len(words)) if start is not None else end
        at += len(words)
    return tuple(found)


def left_out(report: str, pieces: Pieces) -> tuple[PlantedText, ...]:
    """Which characters of the report its copy does not have."""
    spans = sorted(piece for piece in pieces if not isinstance(piece, str))
    edges = [(0, 0), *spans, (len(report), len(report))] if pieces else []
    found, reached = [], 0
    for (_, end), (start, _) in pairwise(edges):
        reached = max(reached, end)
        if report[reached:start].strip():
            found.append(PlantedText(reached, start))
    return tuple(found)


def _laid(report: str, pieces: Pieces) -> Iterator[tuple[str, int | None]]:
    """The words of each piece, and where in the report they stand; None for words put in."""
    for piece in pieces:
        yield (piece, None) if isinstance(piece, str) else (report[slice(*piece)], piece[0])


class AttackedQuestion(FrozenRecord):
    """A question that is put again over attacked copies: its units in the order asked, and the judge's own verdicts."""

    item_id: str
    response_id: str
    asked: tuple[str, ...]
    own: dict[str, str] = Field(description="Unit → the verdict on the report as it is")


class AttackContent(FrozenRecord):
    """What a test was ordered with, and what was drawn for it at random."""

    attacks: tuple[str, ...]
    size: int | None = None
    width: float = 0.2
    seed: int = 1
    writer_id: str = Field(
        default="", description="In earlier versions: the judge whose model reworded reports"
    )
    trial: int = Field(default=1, description="The trial under which unchanged reports are asked about again")
    drawn: tuple[AttackedQuestion, ...] = ()
    unfit: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="In earlier versions: attack → the responses of which it made no copy",
    )
    available: int = Field(default=0, description="How many verdicts could have been drawn")


class AttackTestFields(SQLModel):
    """A test of a judge: which attacks, on which of its verdicts; `run_id` is the run that asks."""

    judge_id: str = Column(index=True, foreign_key="judge.id", ondelete="RESTRICT")
    run_id: str = Column(foreign_key="run.id", ondelete="RESTRICT")
    protocol: str = Column(max_length=80)
    by: str = Column(default="", max_length=36)
    at: datetime


class AttackCopyFields(SQLModel):
    """A copy of a report under attack. It is no response of the project, and never becomes one."""

    test_id: str = Column(index=True, foreign_key="attack_test.id", ondelete="RESTRICT")
    response_id: str = Column(foreign_key="response.id", ondelete="RESTRICT")
    attack: str = Column(max_length=80)
    variant: str = Column(max_length=80)
    text_sha256: str = Column(max_length=64, description="The hash of the report that the pieces cut up")
    pieces: Text = Column(description="JSON: from where to where of the report, or words that were put in")
    status: Status = Column(
        default=Status.OK, sa_type=String, description="Whether a model that was to write it did"
    )
    cause: Text = Column(default="", description="In words, why it did not")


class AttackVerdictFields(VerdictFields):
    """What a judge said of a copy, beside `before`, its own verdict on the report. Never a judgement."""

    test_id: str = Column(index=True, foreign_key="attack_test.id", ondelete="RESTRICT")
    copy_id: str = Column(foreign_key="attack_copy.id", ondelete="RESTRICT")
    item_id: str = Column(foreign_key="item.id", ondelete="RESTRICT")
    unit_id: str = Column(max_length=80)
    before: str = Column(max_length=200)
    asked: str = Column(default="", description="JSON: the units in the order asked, where several were")
    call_id: str | None = None
    at: datetime
