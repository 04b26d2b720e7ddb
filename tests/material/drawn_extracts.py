"""What was drawn from reports and items, put into a project and read there without a run or a page."""

from typing import Any

import orjson
from sqlalchemy import select

from annotator.actions.items import extracts
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.material.extract import Extract, ResponsePart, document_of
from annotator.domain.stored import ExtractFields, ExtractState
from annotator.storage.tables import EXTRACT
from tests.storage import sql


def keep(project: Project, *drawn: Any) -> Change:
    with project.store.write() as db:
        before, after = extracts.keep_row(db, *drawn)
        image = extracts.image(after)
        return record(project, db, Change("extract", after["id"], "keep extract", before, image))


def write(project: Project, response_id: str, part: ResponsePart, document: Document[Any]) -> Change:
    return extracts.write_own(project, (item_of(project, response_id), response_id), part, document)


def parts_of(project: Project, response_id: str) -> dict[ResponsePart, Extract]:
    item_id = item_of(project, response_id)
    with project.store.read() as db:
        result = extracts.standing(db, [item_id]).get((item_id, response_id), {})
    return {ResponsePart(kind): extract for kind, extract in result.items()}


def of_item(project: Project, item_id: str) -> dict[Kind, Extract]:
    with project.store.read() as db:
        result = extracts.standing(db, [item_id]).get((item_id, ""), {})
    return {Kind(kind): extract for kind, extract in result.items()}


def all_of(project: Project, response_id: str) -> list[Extract]:
    """Every version of every part of a response, part by part, the one that stands first."""
    question = select(EXTRACT).where(EXTRACT.c.response_id == response_id)
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    made = []
    for row in sorted(rows, key=lambda row: (row["kind"], extracts.rank(row))):
        fields = {name: row[name] for name in ExtractFields.model_fields}
        document = document_of(row["kind"], response_id, orjson.loads(row["content"]))
        made.append(
            Extract(**fields | {"state": ExtractState(row["state"])}, id=row["id"], document=document)
        )
    return made


def item_of(project: Project, response_id: str) -> str:
    return str(sql.first(project, "SELECT item_id FROM response WHERE id = ?", [response_id])[0])
