"""Judgements outdated by a rewording, and an order that asks each judge for just these again."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from annotator.actions.authoring import annotating
from annotator.actions.judges import judges
from annotator.actions.judging import judge_queue
from annotator.actions.labelling import wordings
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM, JUDGEMENT, RESPONSE, SYSTEM


@dataclass(frozen=True, slots=True)
class StaleJudgements:
    """A judge's judgements under a protocol that no longer count, and the order that asks for them, and for nothing
    that still stands; it also asks for whatever else is missing in those items.
    """

    judgements: int
    units: int
    order: RunRequest

    def words(self) -> str:
        return (
            f"{counted(self.judgements, 'judgement')} of “{self.order.judge}” on "
            f"{counted(self.units, 'unit')} reworded, in {counted(len(self.order.items), 'item')}."
        )


def waiting(project: Project, protocol: str = "", judge: str = "") -> list[StaleJudgements]:
    """What each judge (or the one of that name) is to be asked again, under every protocol or one."""
    people.refuse_others(project, "can start judges")
    wanted = [JUDGEMENT.c.protocol == protocol] if protocol else []
    wanted += [JUDGEMENT.c.rater_id == judges.named(project, judge).id] if judge else []
    with project.store.read() as db:
        rows = wordings.outdated(db, wordings.BY_JUDGES, *wanted).values()
        gone = [row for row in rows if row.protocol in PROTOCOLS]
        judged = {
            (kind, item_id): row.id
            for kind in {PROTOCOLS[row.protocol].unit_kind for row in gone}
            if kind is not None
            for item_id, row in annotating.judged_rows(db, kind, {row.item_id for row in gone}).items()
        }
        keys = select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))
        items = dict(db.execute(keys.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all() if gone else ())
        systems = dict(
            db.execute(
                select(RESPONSE.c.id, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
            ).all()
            if gone
            else ()
        )
    known = {one.id: one for one in judges.all_of(project)}
    found: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in gone:
        kind = PROTOCOLS[row.protocol].unit_kind
        stands = kind is not None and judged.get((kind, row.item_id)) == row.artifact_id
        if stands and row.rater_id in known and row.item_id in items:
            found[known[row.rater_id].name, row.protocol].append(row)
    asks = {one.name: one.kind == JudgeKind.ENDPOINT for one in known.values()}
    return [
        _again(name, of, rows, items, systems, several=asks[name])
        for (name, of), rows in sorted(found.items())
    ]


def order(project: Project, judge: str, protocol: str) -> RunRequest:
    """The order that asks a judge again; Refusal when all that it said still stands."""
    for one in waiting(project, protocol, judge):
        return one.order
    raise Refusal(
        f"All verdicts of “{judge}” are on the current wording.", "Nothing needs to be judged again."
    )


def queue_up(project: Project, judge: str, protocol: str) -> RunRequest:
    """Put that order into the queue of runs; Refusal when it waits there already."""
    return judge_queue.add(project, order(project, judge, protocol)).order


def _again(
    judge: str,
    protocol: str,
    rows: list[Any],
    items: dict[str, str],
    systems: dict[str, str],
    *,
    several: bool,
) -> StaleJudgements:
    concerned = {row.item_id for row in rows}
    keys = tuple(key for item_id, key in items.items() if item_id in concerned)
    names = tuple(sorted({systems[row.response_id] for row in rows}))
    trials = max(row.trial for row in rows) if several else 1
    units = len({(row.artifact_id, row.unit_id) for row in rows})
    return StaleJudgements(len(rows), units, RunRequest(judge, protocol, names, keys, trials=trials))
