"""Counts of a project's content."""

import json
from collections import Counter
from typing import Any

from sqlalchemy import select, text

from annotator.actions.authoring.annotating import judged_rows
from annotator.actions.items.items import ITEM
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Kind

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
}


def counts(project: Project) -> dict[str, Any]:
    """How many of everything; criteria and their weights are those of the rubrics that reports are judged by."""
    with project.store.read() as db:
        kept = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        rubrics = [
            json.loads(row.content)
            for item_id, row in judged_rows(db, Kind.RUBRIC).items()
            if item_id in kept
        ]
        found: dict[str, Any] = {
            name: db.execute(text(question)).scalar_one() for name, question in COUNTED.items()
        }
        artifacts: dict[str, int] = dict(
            db.execute(text("SELECT kind, count(*) FROM artifact GROUP BY kind ORDER BY kind")).all()
        )
        types: dict[str, int] = dict(
            db.execute(
                text(
                    "SELECT question_type, count(*) FROM item WHERE retired = 0 AND question_type != '' "
                    "GROUP BY question_type ORDER BY question_type"
                )
            ).all()
        )
    weights = Counter(unit["weight"] for rubric in rubrics for unit in rubric["units"])
    return {
        "title": project.title,
        **found,
        "criteria": sum(weights.values()),
        "criterion_weights": {str(weight): weights[weight] for weight in sorted(weights)},
        "question_types": types,
        "artifacts": artifacts,
    }
