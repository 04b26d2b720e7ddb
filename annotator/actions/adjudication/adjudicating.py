"""The adjudication queue: open conflicts first, lowest agreement first."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from annotator.actions.adjudication import openings
from annotator.actions.adjudication.adjudication_sheets import masked
from annotator.actions.adjudication.adjudication_sheets import sheet as sheet
from annotator.actions.adjudication.openings import look as look
from annotator.actions.adjudication.openings import open_ as open_
from annotator.actions.assignments import adjudicators
from annotator.actions.authoring.comparing import ITEM_SCORE
from annotator.actions.consensus import ruling_rows
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import BOTH, Adjudication, AdjudicationState, DisputeState
from annotator.domain.experts.agreement import Agreement, Figure
from annotator.domain.experts.assignment import Stage
from annotator.storage.tables import (
    AGREEMENT,
    DISPUTE,
    ITEM,
    RULING,
)

UNOPENED = "not begun"
# What the names of figures begin with that are not the higher the better.
NO_AGREEMENT = ("mean_difference", "lower_limit", "upper_limit", ITEM_SCORE)
_STAGES = {stage.value: place for place, stage in enumerate(Stage)}


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A line of the queue: a stage of an item, how contested it is, and the progress of its adjudication.

    `state` is “not begun” or an AdjudicationState's; `contested` counts rows that are not unanimous, `decided` rows
    of either kind that are ruled on, `confirmed` those of them that are unanimous and taken as they are, `disputes`
    those not yet answered.
    """

    item_id: str
    item_key: str
    question: str
    stage: Stage
    adjudication_id: str
    state: str
    version: int
    spot_check: bool
    agreement: Figure | None
    rows: int
    contested: int
    decided: int
    order_differs: bool
    disputes: int
    confirmed: int = 0

    @property
    def unanimous(self) -> bool:
        """Whether everybody wrote the same, in the same order where that counts."""
        return not self.contested and not self.order_differs

    @property
    def confirmable(self) -> bool:
        """Whether it may be closed in bulk: nobody disagrees, has ruled otherwise, or is to look at it."""
        waits = self.state in (UNOPENED, AdjudicationState.OPEN.value)
        return (
            waits
            and self.unanimous
            and self.rows > 0
            and self.decided == self.confirmed
            and not self.spot_check
        )

    @property
    def closed(self) -> bool:
        """Whether its consensus stands and nobody objects."""
        return self.state == AdjudicationState.CLOSED.value and not self.disputes

    @property
    def conflict(self) -> bool:
        """Whether raters disagree on something that is still to be decided, or a dispute waits for its answer."""
        return not self.closed and (not self.unanimous or self.disputes > 0)


def queue(project: Project) -> list[QueueLine]:
    """What this person may adjudicate: conflicts, the lowest agreement first, then what is unanimous, then closed."""
    with project.store.read() as db:
        known = adjudicators.competence(project, db)
        begun = {found.agreement_id: found for found in ruling_rows.adjudications(db)}
        progress, disputed = _progress(db), _disputed(db)
        lines = []
        for row in _frozen(db):
            found = begun.get(row.id)
            if known.objection(row.item_id, found.adjudicator_id if found else "") is None:
                lines.append(_line(db, row, found, progress, disputed[row.item_id, row.stage]))
    return sorted(lines, key=_urgency)


def _frozen(db: Connection) -> list[Row[Any]]:
    """The frozen agreements of items that are not retired, in the project's order and that of the stages."""
    question = (
        select(AGREEMENT, ITEM.c.key, ITEM.c.question, ITEM.c.position)
        .join(ITEM, ITEM.c.id == AGREEMENT.c.item_id)
        .where(ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)
    )
    return sorted(
        db.execute(question), key=lambda row: (row.position, row.key, row.item_id, _STAGES[row.stage])
    )


def _line(
    db: Connection,
    row: Row[Any],
    found: Adjudication | None,
    progress: dict[str, Counter[str]],
    disputes: int,
) -> QueueLine:
    rows, contested, order_differs = _laid(db, row)
    counted = progress.get(found.id, Counter()) if found else Counter(rows=rows, contested=contested)
    return QueueLine(
        item_id=row.item_id,
        item_key=row.key,
        question=row.question,
        stage=Stage(row.stage),
        adjudication_id=found.id if found else "",
        state=found.state.value if found else UNOPENED,
        version=found.version if found else 0,
        spot_check=found.spot_check if found else False,
        agreement=_headline(orjson.loads(row.content)),
        rows=counted["rows"],
        contested=counted["contested"],
        decided=counted["decided"],
        order_differs=order_differs,
        disputes=disputes,
        confirmed=counted["confirmed"],
    )


def _headline(agreement: dict[str, Any]) -> Figure | None:
    """The figure by which a frozen agreement (as JSON) is ranked: the worst of all that is known of its raters.

    The first figure stands where all are undefined.
    """
    figures = [*agreement["figures"], *(figure for pair in agreement["pairs"] for figure in pair["figures"])]
    known = [one for one in figures if one["value"] is not None and not one["name"].startswith(NO_AGREEMENT)]
    worst = [min(known, key=lambda one: one["value"])] if known else figures[:1]
    return next(iter(masked(map(Figure.model_validate, worst))), None)


# What an agreement holds never changes, so what was counted of it once holds for good: its hash → the counts.
_LAID: dict[str, tuple[int, int, bool]] = {}


def _laid(db: Connection, row: Row[Any]) -> tuple[int, int, bool]:
    """How many rows an agreement has, how many of them are contested, and whether the order differs."""
    if row.sha256 not in _LAID:
        laid = openings.layout(db, Agreement.model_validate(orjson.loads(row.content)))
        _LAID[row.sha256] = len(laid.rows), laid.contested, laid.order_differs
    return _LAID[row.sha256]


def _progress(db: Connection) -> dict[str, Counter[str]]:
    """Adjudication by adjudication: how many rows, how many contested, decided, confirmed as they are."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for adjudication_id, content in db.execute(select(RULING.c.adjudication_id, RULING.c.content)):
        ruling = orjson.loads(content)
        unanimous, take = ruling["unanimous"], ruling["take"]
        found[adjudication_id].update(
            rows=1, contested=not unanimous, decided=bool(take), confirmed=unanimous and take == BOTH
        )
    return found


def _disputed(db: Connection) -> Counter[tuple[str, str]]:
    """How many disputes wait for an answer, by item and stage."""
    question = select(DISPUTE.c.item_id, DISPUTE.c.stage).where(DISPUTE.c.state == DisputeState.OPEN.value)
    return Counter((row.item_id, row.stage) for row in db.execute(question))


def _urgency(line: QueueLine) -> tuple[bool, bool, float, float]:
    """Conflicts before what is unanimous, open before closed, then the lowest agreement; ties keep their order.

    Where the figure is undefined, or the same, the share of rows that are contested decides.
    """
    value = line.agreement.value if line.agreement else None
    contested = line.contested / max(1, line.rows)
    level = 1 - contested if value is None else value
    return line.closed, not line.conflict, level, -contested
