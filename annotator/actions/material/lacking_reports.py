"""Which reports a model was asked for and did not give: each with its cause, until it is there."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from annotator.actions.items.items import ITEM
from annotator.actions.material.response_journal import FAILED, RESPONSE, SYSTEM
from annotator.actions.project.file import Project
from annotator.actions.project.recording import AUDIT
from annotator.domain.texts.ordering import natural

Asked = tuple[str, str, int, str]


@dataclass(frozen=True, slots=True)
class Lacking:
    """A report that did not come, and why it did not the last time it was asked for."""

    item_id: str
    item: str
    system: str
    mode: str
    trial: int
    status: str
    cause: str
    run_id: str
    at: datetime


def lacking(project: Project) -> list[Lacking]:
    """What models were asked for and did not give, item by item; a report that came since is not among it."""
    question = (
        select(AUDIT.c.subject, AUDIT.c.after, AUDIT.c.at).where(AUDIT.c.verb == FAILED).order_by(AUDIT.c.seq)
    )
    there = select(RESPONSE.c.item_id, SYSTEM.c.name, RESPONSE.c.trial, RESPONSE.c.mode).join(
        SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id
    )
    last: dict[Asked, Lacking] = {}
    with project.store.read() as db:
        used = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        for run_id, after, at in db.execute(question):
            told = json.loads(after)
            one = Lacking(**told, run_id=run_id, at=at)
            last[one.item_id, one.system, one.trial, one.mode] = one
        came: set[Asked] = {(row[0], row[1], row[2], row[3]) for row in db.execute(there)}
    found = [one for asked, one in last.items() if asked not in came and one.item_id in used]
    return sorted(found, key=lambda one: (natural(one.item), one.system, one.mode, one.trial))


def by_cause(found: Iterable[Lacking]) -> dict[tuple[str, str], int]:
    """(status, cause in words) → how many reports it kept away, the most frequent first."""
    return dict(Counter((one.status, one.cause) for one in found).most_common())
