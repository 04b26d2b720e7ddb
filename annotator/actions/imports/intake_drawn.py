"""Import of extracts, cited pages and prompts: their keys, compared fields and prerequisites."""

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.items.extracts import EXTRACT
from annotator.actions.items.materials import PAGE
from annotator.actions.judges.prompts import SETTING
from annotator.actions.project.incoming import ExistingRecords, ImportPlan, Incoming, Need, Row
from annotator.domain.judges.prompt import SHIPPED, PromptVersion
from annotator.domain.material.extract import SET, ExtractFields
from annotator.domain.material.page import PageFields
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import derived_id
from annotator.exchange.release.bundle import record_id
from annotator.exchange.release.drawn_records import ExtractRecord, PageRecord, PromptRecord
from annotator.storage.tables import MetaRow, table

META = table(MetaRow)
# Rows of this name give pages that came without their texts these texts.
PAGE_TEXTS = "page text"
# Rows of this name are settings of the project, which its own verb writes.
SETTINGS = "setting"
UNIQUE = ("item_id", "response_id", "kind", "origin")


class DrawnIntake:
    """The comparison of extracts, pages and prompts with the project in this transaction."""

    def __init__(self, db: Connection, incoming: Incoming) -> None:
        self.db, self.incoming = db, incoming

    def extracts(self) -> ImportPlan:
        """An extract is the same when its document and its state are."""
        existing = ExistingRecords()
        columns = (EXTRACT.c.id, *(EXTRACT.c[name] for name in UNIQUE), EXTRACT.c.state, EXTRACT.c.sha256)
        for found in self.db.execute(select(*columns)):
            existing.ids[tuple(found[1:5])] = found[0]
            existing.prints[found[0]] = tuple(found[5:])

        def needs(record: ExtractRecord) -> Iterable[Need]:
            yield "items", record.item_id
            if record.response_id:
                yield "responses", record.response_id
            whose, _, of = record.origin.partition(":")
            if of and f"{whose}:" != SET:
                yield ("people" if whose == "person" else "judges"), of
            if record.run_id is not None:
                yield "runs", record.run_id

        def row(record: ExtractRecord) -> dict[str, Row]:
            values = record.model_dump(exclude={"id", "document", "sha256"})
            fields = ExtractFields.model_validate(values | {"flags": " ".join(record.flags)})
            content = canonical_json(record.document).decode()
            kept = fields.model_dump() | {"state": fields.state.value, "content": content}
            return {"extract": {"id": record.id, **kept, "sha256": record.sha256}}

        def content(record: ExtractRecord) -> tuple[str, str]:
            return record.state.value, record.sha256

        def unique(record: ExtractRecord) -> tuple[str, ...]:
            return record.item_id, record.response_id, record.kind, record.origin

        return ImportPlan("extracts", existing, unique, content, needs, row)

    def pages(self) -> ImportPlan:
        """A page is the same when it was found in the same state with the same text, be it here or not.

        A text that is lacking here comes in; one that is here stays, also where the record has none.
        """
        question = select(PAGE.c.url, PAGE.c.state, PAGE.c.sha256, (PAGE.c.text == "").label("bare"))
        existing, brought, bare = ExistingRecords(), {}, set[str]()
        for record in self.incoming.bundle.pages:
            if record.text:
                brought[record.url] = (record.state.value, record.sha256)
        for found in self.db.execute(question):
            if found.bare and brought.get(found.url) == (found.state, found.sha256):
                bare.add(found.url)
            else:
                existing.prints[derived_id("page", found.url)] = (found.state, found.sha256)

        def row(record: PageRecord) -> dict[str, Row]:
            if record.url in bare:
                return {PAGE_TEXTS: {"url": record.url, "text": record.text}}
            fields = PageFields.model_validate(record.model_dump(exclude={"sha256"})).model_dump()
            return {"page": {**fields, "state": record.state.value, "sha256": record.sha256}}

        def content(record: PageRecord) -> tuple[str, str]:
            return record.state.value, record.sha256

        return ImportPlan("pages", existing, _by_id, content, _nothing, row)

    def prompts(self) -> ImportPlan:
        """A prompt is the same when what was written of it is; the shipped wording belongs to the program."""
        question = select(META.c.key, META.c.value).where(META.c.key.like(f"{SETTING}%"))
        existing = ExistingRecords()
        for key, value in self.db.execute(question):
            texts = tuple(PromptVersion.model_validate(one).text for one in json.loads(value))
            existing.prints[derived_id("prompt", key.removeprefix(SETTING))] = texts
        for record in self.incoming.bundle.prompts:
            if not _written(record):
                # It is worded as shipped: there is nothing to take in.
                existing.prints.setdefault(record_id(record), ())

        def row(record: PromptRecord) -> dict[str, Row]:
            versions = [
                PromptVersion(name=record.name, version=one.version, text=one.text, note=one.note, at=one.at)
                for one in record.versions
                if one.version > SHIPPED
            ]
            value = [one.model_dump(mode="json") for one in versions]
            return {SETTINGS: {"key": f"{SETTING}{record.name}", "value": value}}

        return ImportPlan("prompts", existing, _by_id, _written, _nothing, row)


def _written(record: PromptRecord) -> tuple[str, ...]:
    return tuple(one.text for one in record.versions if one.version > SHIPPED)


def _by_id(record: Any) -> tuple[str, ...]:
    return (record_id(record),)


def _nothing(_: Any) -> Iterable[Need]:
    return ()
