"""Import of extracts, cited pages, prompts and contests: their keys, compared fields and prerequisites."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.contests import contest_rows
from annotator.actions.contests.contest_keeping import DECISIONS, KeptTask
from annotator.actions.judges.prompts import SETTING
from annotator.actions.project.incoming import ExistingRecords, ImportPlan, Incoming, Need, Row
from annotator.domain.judges.contest import LEAST, MOST, ContestFields
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.pairs import FIRST, SECOND
from annotator.domain.judges.prompt import SHIPPED, PromptVersion
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import SET, ExtractFields
from annotator.domain.material.page import PageFields
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import derived_id
from annotator.exchange.release.bundle import record_id
from annotator.exchange.release.drawn_records import ExtractRecord, PageRecord, PromptRecord
from annotator.exchange.release.records import DecisionRecord, MatchRecord
from annotator.storage.tables import (
    ARTIFACT,
    CONTEST,
    EXTRACT,
    META,
    PAGE,
    REVISION,
)

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


class ContestIntake:
    """The comparison of a contest's matches and decisions with the project's; its ratings follow from the matches."""

    def __init__(self, db: Connection, incoming: Incoming, decided: Mapping[str, KeptTask]) -> None:
        self.db, self.incoming, self.decided = db, incoming, decided

    def matches(self) -> ImportPlan:
        """A match is the same when the same rater said the same of the same pair in the same round."""
        c, judges = CONTEST.c, {judge.id for judge in self.incoming.bundle.judges}
        rows = self.db.execute(select(c.id, c.value, c.confidence, c.status))
        existing = ExistingRecords({found[0]: tuple(found[1:]) for found in rows})
        self.incoming.there["tasks"] = self._tasks()

        def needs(record: MatchRecord) -> Iterable[Need]:
            of_rater = "people" if record.rater_kind is RaterKind.PERSON else "judges"
            named = [(of_rater, record.rater)] if of_rater == "people" or record.rater in judges else []
            run = [("runs", record.run_id)] if record.run_id is not None else []
            return [("tasks", record.first), ("tasks", record.second), *named, *run]

        def row(record: MatchRecord) -> dict[str, Row]:
            came = record.value in (FIRST, SECOND) and LEAST <= (record.confidence or 0) <= MOST
            lacks = record.value is None and record.confidence is None
            if record.first == record.second or not (came if record.status == Status.OK.value else lacks):
                raise ValueError(
                    "a match is of two tasks, with a value and a confidence from 0.5 to 1 where its status is ok, and "
                    "only there"
                )
            fields = record.model_dump(include=set(ContestFields.model_fields))
            return {"contest": contest_rows.row_of(ContestFields(**fields))}

        def content(record: MatchRecord) -> tuple[Any, ...]:
            return record.value, record.confidence, record.status

        return ImportPlan("matches", existing, _by_id, content, needs, row)

    def decisions(self) -> ImportPlan:
        """A decision is the same when the task is kept at the same rank, or held back for the same reason."""
        existing = ExistingRecords({
            derived_id("decision", task): (one.kept, one.reason, one.rank, one.by_hand)
            for task, one in self.decided.items()
        })  # fmt: skip

        def needs(record: DecisionRecord) -> Iterable[Need]:
            return [("tasks", record.task_id), *([("people", record.by)] if record.by else [])]

        def row(record: DecisionRecord) -> dict[str, Row]:
            return {DECISIONS: record.model_dump(exclude={"task_id"}) | {"task": record.task_id}}

        def content(record: DecisionRecord) -> tuple[Any, ...]:
            return record.kept, record.reason, record.rank, record.by_hand

        return ImportPlan("decisions", existing, _by_id, content, needs, row)

    def _tasks(self) -> set[str]:
        """The ids of tasks in any list that is here or comes in."""
        newest = (REVISION.c.number == ARTIFACT.c.revision) & (ARTIFACT.c.kind == Kind.TASKS.value)
        lists = (
            select(REVISION.c.content).join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id).where(newest)
        )
        wanted = self.incoming.bundle.matches or self.incoming.bundle.decisions
        documents = [json.loads(content) for content in self.db.execute(lists).scalars()] if wanted else []
        coming = (one for one in self.incoming.bundle.artifacts if one.kind is Kind.TASKS)
        documents += [one.document for one in coming if one.id in self.incoming.there["artifacts"]]
        return {unit["id"] for document in documents for unit in document["units"]}


def _written(record: PromptRecord) -> tuple[str, ...]:
    return tuple(one.text for one in record.versions if one.version > SHIPPED)


def _by_id(record: Any) -> tuple[str, ...]:
    return (record_id(record),)


def _nothing(_: Any) -> Iterable[Need]:
    return ()
