"""Roles of items, as the file tells them, and the reports on items that are answered by nobody."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, case, exists, func, not_, select
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import FOLLOWS, SEMINARS, ItemRole
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import (
    ARTIFACT,
    ITEM,
    RESPONSE,
    SOURCE,
)

_TRANSCRIPT = exists().where(SOURCE.c.item_id == ITEM.c.id, SOURCE.c.transcript != "")
_MADE_OF_ONE = exists().where(
    ARTIFACT.c.item_id == ITEM.c.id, ARTIFACT.c.kind.in_((Kind.INSPIRATIONS.value, Kind.TASKS.value))
)
_IS_SEMINAR = and_(ITEM.c.made_from == "", ITEM.c.dataset == SEMINARS, _TRANSCRIPT | _MADE_OF_ONE)
# By what an item has a role; the first that holds, and otherwise it is a question.
_HOLDS: dict[ItemRole, ColumnElement[bool]] = {
    ItemRole.TASK: ITEM.c.made_from != "",
    ItemRole.SEMINAR: _IS_SEMINAR,
    ItemRole.PAPER: exists().where(RESPONSE.c.item_id == ITEM.c.id, RESPONSE.c.mode == EXEMPLAR),
}
_ROLE = case(*((holds, role.value) for role, holds in _HOLDS.items()), else_=ItemRole.QUESTION.value)
# Whether systems answer an item, for questions that read items; and the ids of the others, for those that do not.
ANSWERED = and_(*(not_(_HOLDS[role]) for role in _HOLDS if not FOLLOWS[role].answered))
SOURCES_ONLY = select(ITEM.c.id).where(not_(ANSWERED))


def among(db: Connection, item_ids: Iterable[str]) -> dict[str, ItemRole]:
    """The role of each of some items."""
    rows = db.execute(select(ITEM.c.id, _ROLE).where(ITEM.c.id.in_(item_ids)))
    return {item_id: ItemRole(role) for item_id, role in rows}


def of(project: Project, item_id: str) -> ItemRole:
    """The role of an item that is there."""
    with project.store.read() as db:
        return among(db, [item_id])[item_id]


def counts(db: Connection) -> dict[str, int]:
    """How many of the items in use have each role that occurs."""
    found = Counter(db.execute(select(_ROLE).where(ITEM.c.retired.is_(False))).scalars())
    return {role.value: found[role.value] for role in ItemRole if found[role.value]}


def words(found: Mapping[str, int]) -> str:
    """What the items are, in brackets; empty where they are all questions."""
    told = ", ".join(counted(many, role) for role, many in found.items())
    return f" ({told})" if found.keys() - {ItemRole.QUESTION.value} else ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The seminars in use, and the reports on them, which stay in the file and enter nothing."""

    seminars: int = 0
    reports: int = 0

    @property
    def not_asked(self) -> str:
        """That nobody is asked about them, in a sentence; empty where there is none."""
        what = counted(self.seminars, "seminar is", "seminars are")
        return f"{what} left out: {_WHY}" if self.seminars else ""

    @property
    def not_counted(self) -> str:
        """That reports on them do not count, in a sentence; empty where there is none."""
        what = counted(self.reports, "report on a seminar is", "reports on seminars are")
        return f"{what} left out: {_WHY}" if self.reports else ""


_WHY = "a seminar is what tasks are made of, and no task itself."


def left_out(project: Project) -> LeftOut:
    """How much is left out wherever items are answered, labelled, judged and counted."""
    sources = SOURCES_ONLY.where(ITEM.c.retired.is_(False))
    reports = select(func.count()).select_from(RESPONSE).where(RESPONSE.c.item_id.in_(sources))
    with project.store.read() as db:
        many = db.execute(select(func.count()).select_from(sources.subquery())).scalar_one()
        return LeftOut(many, db.execute(reports).scalar_one() if many else 0)


def refuse_seminars(project: Project, keys: Iterable[str]) -> None:
    """Refuse keys under which nothing can be answered or judged."""
    question = select(ITEM.c.key).where(ITEM.c.key.in_(list(keys)), not_(ANSWERED))
    with project.store.read() as db:
        if key := db.execute(question.order_by(ITEM.c.position)).scalar():
            raise Refusal(
                f"Item {key} is a seminar: {_WHY} Nothing was asked.",
                "Keep one of its tasks (People, Contest of tasks), and name that item.",
            )


def refuse_kind(project: Project, keys: Iterable[str], kind: object) -> None:
    """Refuse keys of items for which a kind of document is not written; what is no kind may be asked for of any."""
    question = select(ITEM.c.key, _ROLE).where(ITEM.c.key.in_(list(keys)), ITEM.c.retired.is_(False))
    with project.store.read() as db:
        for key, role in db.execute(question.order_by(ITEM.c.position)):
            if isinstance(kind, Kind) and kind not in FOLLOWS[ItemRole(role)].kinds:
                raise Refusal(
                    f"Item {key} is a {role}: “{KINDS[kind].title}” is not written for it. Nothing was asked.",
                    "Choose other items.",
                )
