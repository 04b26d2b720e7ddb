"""Release records beyond judgements that let scores be recomputed: extracts, cited pages, prompts."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import RowMapping, select
from sqlalchemy.engine import Connection

from annotator.actions.items import extracts
from annotator.actions.items.materials import pages_at
from annotator.actions.judges import prompts
from annotator.actions.project.file import Project
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.material.extract import SET
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts import identifier
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.drawn_records import ExtractRecord, PageRecord, PromptRecord, WordingRecord
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import EXTRACT


def add(db: Connection, bundle: Bundle, *, page_texts: bool) -> None:
    """Put in what was drawn from the responses that leave, and the pages it cites, whose texts only if asked for.

    What a model drafted for one person stays, and so does what was drawn from items, of which nothing is computed,
    except the rubrics of named sets and the common pools.
    """
    responses = {response.id for response in bundle.responses}
    items = {item.id for item in bundle.items}
    pools = EXTRACT.c.kind == ResponsePart.POOL.value
    wanted = (EXTRACT.c.response_id != "") | EXTRACT.c.origin.like(f"{SET}%") | pools
    for row in db.execute(select(EXTRACT).where(wanted).order_by(EXTRACT.c.id)).mappings():
        of = row["response_id"] in responses or (not row["response_id"] and row["item_id"] in items)
        if of and not extracts.is_personal(row["origin"]):
            bundle.extracts.append(_extract(row))
    for page in pages_at(db, set(_addresses(bundle.extracts)), texts=page_texts).values():
        fields = page.model_dump(include=set(PageRecord.model_fields))
        bundle.pages.append(PageRecord(**fields))


def raters_of(bundle: Bundle) -> set[str]:
    found = {one.origin.partition(":")[2] for one in bundle.extracts if not one.origin.startswith(SET)}
    return (found | {one.by for one in bundle.extracts}) - {""}


def of_prompts(project: Project, bundle: Bundle) -> list[PromptRecord]:
    """The prompts by which the bundle's runs asked a model, in all their versions."""
    asked = {judge.id for judge in bundle.judges if judge.kind is JudgeKind.ENDPOINT}
    protocols = {run.protocol for run in bundle.runs if run.judge_id in asked}
    tables = (PROTOCOLS, EXTRACTIONS)
    shapes = [shape for table in tables for name, shape in table.items() if name in protocols]
    names = sorted({name for shape in shapes for name in shape.prompts})
    return [_prompt(project, name) for name in names]


def units_of(bundle: Bundle) -> dict[str, set[str]]:
    """Artifact or extract → the ids of its units."""
    documents: list[tuple[str, Mapping[str, Any]]] = [(one.id, one.document) for one in bundle.artifacts]
    documents += [(one.id, one.document) for one in bundle.extracts]
    return {name: {unit["id"] for unit in document["units"]} for name, document in documents}


def names_one(unit_id: str, units: Iterable[str]) -> bool:
    """Whether what was judged is one of these units, or a cell of a matrix that is named by one of them."""
    return bool({unit_id, *unit_id.split("~")} & set(units))


def _extract(row: RowMapping) -> ExtractRecord:
    fields = {name: row[name] for name in ExtractRecord.model_fields if name in row}
    return ExtractRecord(**fields | {"flags": row["flags"].split(), "document": json.loads(row["content"])})


def _addresses(found: Iterable[ExtractRecord]) -> Iterable[str]:
    """The normal addresses that the units cite or are known by, and of the pages they were drawn from."""
    for one in found:
        yield from (page["address"] for page in one.document.get("pages", ()))
        for unit in one.document["units"]:
            for name in ("url", "identifier"):
                said = unit.get(name) or ""
                if said and (parsed := identifier.parse(said)):
                    yield str(parsed)


def _prompt(project: Project, name: str) -> PromptRecord:
    versions = [
        WordingRecord(version=one.version, text=one.text, note=one.note, at=one.at, sha256=one.sha256)
        for one in prompts.versions(project, name)
    ]
    return PromptRecord(name=name, versions=versions)
