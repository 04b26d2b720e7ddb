"""Counts of a project's content."""

import json
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import select, text
from sqlalchemy.engine import Connection

from annotator.actions.authoring.annotating import judged_rows
from annotator.actions.items import roles
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts import identifier
from annotator.storage.tables import ITEM

COUNTED = {
    "items": "SELECT count(*) FROM item WHERE retired = 0",
    "systems": "SELECT count(*) FROM system",
    "responses": "SELECT count(*) FROM response",
    "sources": "SELECT count(*) FROM source",
    "people": "SELECT count(*) FROM person",
    "judges": "SELECT count(*) FROM judge",
    "runs": "SELECT count(*) FROM run",
    "judgements": "SELECT count(*) FROM judgement",
    "labels": "SELECT count(*) FROM judgement WHERE rater_kind = 'person'",
    "assignments": "SELECT count(*) FROM assignment",
    "agreements": "SELECT count(*) FROM agreement",
    "adjudications": "SELECT count(*) FROM adjudication",
    "exemplars": "SELECT count(*) FROM response WHERE mode = 'exemplar'",
    "works": "SELECT count(*) FROM page WHERE url LIKE 'arxiv:%' OR url LIKE 'doi:%'",
}


def counts(project: Project) -> dict[str, Any]:
    """How many of everything; criteria, references and nuggets are those that reports are judged by.

    `roles` tells what the items are, `left_out` how many of the responses enter nothing.
    """
    with project.store.read() as db:
        kept = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        criteria, references, nuggets = (
            _units(db, kind, kept) for kind in (Kind.RUBRIC, Kind.EVIDENCE, Kind.NUGGETS)
        )
        on_arxiv = set(db.execute(text("SELECT url FROM page WHERE url LIKE 'arxiv:%'")).scalars())
        found: dict[str, Any] = {
            name: db.execute(text(question)).scalar_one() for name, question in COUNTED.items()
        }
        artifacts: dict[str, int] = dict(
            db.execute(text("SELECT kind, count(*) FROM artifact GROUP BY kind ORDER BY kind")).all()
        )
        of_roles = roles.counts(db)
        types: dict[str, int] = dict(
            db.execute(
                text(
                    "SELECT question_type, count(*) FROM item WHERE retired = 0 AND question_type != '' "
                    "GROUP BY question_type ORDER BY question_type"
                )
            ).all()
        )
    weights = Counter(unit["weight"] for unit in criteria)
    gold = [unit for unit in nuggets if unit.get("support", "support") == "support"]
    return {
        "title": project.title,
        **found,
        "roles": of_roles,
        "left_out": roles.left_out(project).reports,
        "criteria": sum(weights.values()),
        "references": len(references),
        "references_arxiv": sum(str(identifier.parse(unit["identifier"])) in on_arxiv for unit in references),
        "nuggets": len(gold),
        "nuggets_vital": _vital(gold),
        "nuggets_drawn": len(nuggets),
        "nuggets_drawn_vital": _vital(nuggets),
        "criterion_weights": {str(weight): weights[weight] for weight in sorted(weights)},
        "question_types": types,
        "artifacts": artifacts,
    }


def _units(db: Connection, kind: Kind, kept: Collection[str]) -> list[dict[str, Any]]:
    """The units of a kind that reports are judged by, of the items that are kept."""
    rows = judged_rows(db, kind).items()
    return [unit for item_id, row in rows if item_id in kept for unit in json.loads(row.content)["units"]]


def _vital(nuggets: Iterable[dict[str, Any]]) -> int:
    return sum(unit["importance"] == "vital" for unit in nuggets)
