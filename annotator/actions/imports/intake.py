"""Import of a bundle: keys, compared fields and prerequisites of its records, of validation sets and of reviews."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import partial
from types import MappingProxyType
from typing import Any

import orjson
from sqlalchemy import Connection, Table, func, select

from annotator.actions.authoring.annotating import released_revisions
from annotator.actions.contests import contest_rows
from annotator.actions.contests.contest_standings import DECISIONS, TaskDecision
from annotator.actions.imports import intake_pairs
from annotator.actions.judges.prompts import SETTING
from annotator.actions.labelling.label_rows import counting
from annotator.actions.project import file
from annotator.actions.project.incoming import (
    ExistingRecords,
    ImportPlan,
    Incoming,
    Need,
    Row,
    by_id,
    nothing,
)
from annotator.actions.releases import gathering
from annotator.actions.results.result_raters import CONSENSUS
from annotator.domain.common import canonical_json, derived_id
from annotator.domain.judges.contest import FIRST, LEAST, MOST, SECOND
from annotator.domain.judges.judge import Asking, RaterKind, Status
from annotator.domain.judges.protocol import SHIPPED, PromptVersion
from annotator.domain.kinds.kind import Kind, Role
from annotator.domain.material.item import SET, Source, free_key
from annotator.domain.material.transcript import of_source
from annotator.domain.stored import (
    ContestFields,
    ExtractFields,
    InformedFields,
    ItemFields,
    JudgeFields,
    JudgementFields,
    OpeningFields,
    PageFields,
    PersonFields,
    ResponseFields,
    SetFields,
    SourceFields,
    SystemFields,
)
from annotator.exchange.formats.layout import FileLayout
from annotator.exchange.release.bundle import Bundle, judgement_key, record_id
from annotator.exchange.release.records import (
    ArtifactRecord,
    DecisionRecord,
    ExtractRecord,
    InformedRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    MatchRecord,
    PageRecord,
    PersonRecord,
    PromptRecord,
    Record,
    ResponseRecord,
    RunRecord,
    SourceRecord,
    SystemRecord,
    ValidationSetRecord,
    content_text,
    labels_text,
)
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ASSIGNMENT,
    ASSISTED,
    CONSENSUS_VERSION,
    CONTEST,
    DISPUTE,
    EXTRACT,
    GUIDELINE,
    INFORMED,
    ITEM,
    JUDGE,
    JUDGEMENT,
    META,
    OPENING,
    PAGE,
    PERSON,
    RESPONSE,
    REVISION,
    RULING,
    RUN,
    SOURCE,
    SYSTEM,
    VALIDATION_SET,
)

# Rows of this name bring the texts of pages that came without them.
PAGE_TEXTS = "page text"
# Rows of this name are settings of the project, written by its own method.
SETTINGS = "setting"
UNIQUE = ("item_id", "response_id", "kind", "origin")


def _existing(
    db: Connection, source: Table, unique: Sequence[str], compared: Sequence[str]
) -> ExistingRecords:
    rows = db.execute(select(*(source.c[name] for name in ("id", *unique, *compared)))).all()
    end = 1 + len(unique)
    return ExistingRecords(
        {row[0]: tuple(row[end:]) for row in rows}, {tuple(row[1:end]): row[0] for row in rows}
    )


def _written(record: PromptRecord) -> tuple[str, ...]:
    return tuple(version.text for version in record.versions if version.version > SHIPPED)


WRITTEN = (
    PERSON, ITEM, SOURCE, SYSTEM, RESPONSE, GUIDELINE, ARTIFACT, REVISION, AGREEMENT, ADJUDICATION, RULING,
    CONSENSUS_VERSION, DISPUTE, JUDGE, RUN, ASSISTED, EXTRACT, PAGE, JUDGEMENT, VALIDATION_SET, OPENING,
    INFORMED, CONTEST,
)  # fmt: skip
JUDGED = ("protocol", "response_id", "unit_id", "rater_kind", "rater_id", "trial")

# Leaves room to count on in the whole numbers of any database.
LAST_POSITION = 10**9
# A key names an item within one project, so that it may differ between projects.
COMPARED = tuple(name for name in file.ITEM_WORDS if name != "key")
PEER_COMPARED = ("question", "question_type", "subject")

VERDICT_FIELDS = ("said", "reason", "note", "judge_value", "label_value")


def item_plan(db: Connection, incoming: Incoming, layout: FileLayout | None) -> ImportPlan:
    """The plan of the items: each id once, each key once over all datasets.

    `layout`: the items are from a benchmark's own files, which identify them by number.
    """
    rows, coming = db.execute(select(ITEM)).all(), incoming.bundle.items
    keys, compared = {row.id: row.key for row in rows}, PEER_COMPARED if layout else COMPARED
    taken, others = set(keys.values()), {item.key for item in coming}
    following = itertools.count(first := max((row.position + 1 for row in rows), default=0))
    for item in coming:
        here = keys.get(item.id, item.key)
        if here != item.key:
            incoming.note("items", item.id, f"item {item.key} of the files is item {here} here")

    def content(of: Any) -> tuple[str, ...]:
        """The compared values; the question as first asked, which a settled query does not change."""
        values = {"question": of.working_title or of.question}
        return tuple(values.get(name) or getattr(of, name) for name in compared)

    def free(record: ItemRecord) -> str:
        """The record's own key, or if another item has it the next one that is neither taken nor imported."""
        key = record.key
        if key in taken:
            key = free_key(key, taken | others)
            incoming.note("items", record.id, f"the key {record.key} is taken; it becomes {key}")
        taken.add(key)
        return key

    def row(record: ItemRecord) -> dict[str, Row]:
        if record.position > LAST_POSITION:
            raise ValueError(f"“position” should be at most {LAST_POSITION}")
        fields = ItemFields.model_validate(
            record.model_dump(exclude={"id"}) | {"key": free(record)}
        ).model_dump()
        fields["position"] = next(following) if first else record.position
        return {"item": {"id": record.id, **fields, "sha256": file.item_hash(fields)}}

    existing = ExistingRecords({row.id: content(row) for row in rows})
    if layout is not None:
        existing.ids |= {_called(row): row.id for row in rows if row.dataset != layout.name}
        existing.ids |= {
            (layout.name, str(number)): result for result, number in layout.numbers(rows).items()
        }
        existing.ids |= {_called(item): item.id for item in coming if item.id in keys}
    return ImportPlan("items", existing, _called, content, nothing, row, layout is not None)


def _called(of: Any) -> tuple[str, str]:
    return of.dataset, of.key


class BundleIntake:
    def __init__(
        self,
        db: Connection,
        bundle: Bundle,
        by: str,
        guideline: str,
        *,
        layout: FileLayout | None,
        decided: Mapping[str, TaskDecision] = MappingProxyType({}),
    ) -> None:
        """`decided`: the decisions of a contest here.

        `layout`: the bundle is from a benchmark's own files, which have no ids and fewer fields than ours.
        """
        self.db = db
        self.bundle = bundle
        self.by = by
        self.guideline = guideline
        self.decided = decided
        self.layout, self.peer = layout, layout is not None
        self.incoming = Incoming(bundle)
        self.history = intake_pairs.History(bundle)
        self.aliases: dict[str, str] = {}

    def compare(self) -> Incoming:
        """Compare every record of the bundle, in the order of their dependencies."""
        items = partial(item_plan, self.db, self.incoming, self.layout)
        pairs = intake_pairs.PairIntake(self.db, self.incoming, self.history)
        judgements = partial(judgement_plan, self.db, self.bundle)
        revisions = partial(intake_pairs.plan, self.db, self.history, self.incoming)
        plans = (
            self._people, items, self._sources, self._systems, self._responses, pairs.guidelines, self._artifacts,
            revisions, pairs.frozen, pairs.closed, self._judges, self._runs, self._extracts, self._pages,
            pairs.pairings, self._prompts, judgements, self._sets, self._informed,
            self._matches, self._decisions,
        )  # fmt: skip
        for plan in plans:
            made = plan()
            self.incoming.take(made, getattr(self.bundle, made.thing))
        return self.incoming

    def _people(self) -> ImportPlan:
        self.aliases = dict(self.db.execute(select(PERSON.c.alias, PERSON.c.id)).all())
        existing = ExistingRecords({person_id: () for person_id in self.aliases.values()})
        # The id alone identifies a person: a name or an alias may differ between projects.
        return ImportPlan("people", existing, by_id, lambda _: (), nothing, self._person)

    def _person(self, record: PersonRecord) -> dict[str, Row]:
        if unknown := set(record.roles) - {role.value for role in Role}:
            raise ValueError(f"“{min(unknown)}” is not a role")
        alias = self._alias(record)
        values = {"name": record.alias, "alias": alias, "roles": " ".join(sorted(set(record.roles)))}
        fields = PersonFields.model_validate(values)
        self.aliases[alias] = record.id
        return {"person": {"id": record.id, **fields.model_dump()}}

    def _alias(self, record: PersonRecord) -> str:
        """The record's alias, or the next free one if it belongs to someone who has worked here."""
        holder = self.aliases.get(record.alias)
        if holder is None:
            return record.alias
        coming = {person.id: person.alias for person in self.bundle.people}
        taken = {*self.aliases, *coming.values()}
        free = next(f"R{n}" for n in range(1, len(taken) + 2) if f"R{n}" not in taken)
        if holder in coming or self._has_worked(holder):
            self.incoming.note("people", record.id, f"the alias {record.alias} is taken; it becomes {free}")
            return free
        self.aliases[free] = holder
        self.incoming.new_aliases[holder] = free
        return record.alias

    def _has_worked(self, person_id: str) -> bool:
        sources = (
            (ARTIFACT, ARTIFACT.c.author_id),
            (JUDGEMENT, JUDGEMENT.c.rater_id),
            (ASSIGNMENT, ASSIGNMENT.c.person_id),
        )
        return any(
            self.db.execute(select(source.c.id).where(column == person_id).limit(1)).first()
            for source, column in sources
        )

    def _sources(self) -> ImportPlan:
        compared = ("item_id", "title", "format", "identifier", "sha256")

        def content(record: SourceRecord) -> tuple[Any, ...]:
            return (*_values(*compared[:-1])(record), file.source_hash(record.text))

        def row(record: SourceRecord) -> dict[str, Row]:
            fields = SourceFields.model_validate(record.model_dump(mode="json", exclude={"id"})).model_dump()
            if record.transcript and of_source(Source(id=record.id, **fields)) is None:
                raise ValueError("“transcript” does not fit the text beside it")
            return {"source": {"id": record.id, **fields, "sha256": file.source_hash(record.text)}}

        existing = _existing(self.db, SOURCE, ("id",), compared)
        return ImportPlan("sources", existing, by_id, content, lambda one: [("items", one.item_id)], row)

    def _systems(self) -> ImportPlan:
        def row(record: SystemRecord) -> dict[str, Row]:
            fields = SystemFields.model_validate(record.model_dump(exclude={"id"}))
            return {"system": {"id": record.id, **fields.model_dump()}}

        compared = () if self.peer else ("notes",)
        existing = _existing(self.db, SYSTEM, ("name",), compared)
        return ImportPlan("systems", existing, _values("name"), _values(*compared), nothing, row, self.peer)

    def _responses(self) -> ImportPlan:
        unique = ("item_id", "system_id", "trial", "mode")

        def row(record: ResponseRecord) -> dict[str, Row]:
            fields = ResponseFields.model_validate(record.model_dump(exclude={"id"})).model_dump()
            return {"response": {"id": record.id, **fields, "sha256": file.response_hash(record.text)}}

        return ImportPlan(
            "responses", _existing(self.db, RESPONSE, unique, ("sha256",)), _values(*unique),
            lambda response: (file.response_hash(response.text),),
            lambda response: [("items", response.item_id), ("systems", response.system_id)], row, self.peer,
        )  # fmt: skip

    def _artifacts(self) -> ImportPlan:
        unique = ("item_id", "kind", "author_id")
        existing = _existing(self.db, ARTIFACT, unique, ())
        compared = REVISION.c.content if self.peer else REVISION.c.sha256
        newest = (
            select(ARTIFACT.c.id, compared, ARTIFACT.c.state)
            .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
            .where(REVISION.c.number == ARTIFACT.c.revision)
        )
        questions = [newest] if self.peer else [newest, released_revisions(ARTIFACT.c.id, compared)]
        for question in questions:
            for row in self.db.execute(question):
                existing.prints[row.id] = _lines(json.loads(row[1])) if self.peer else (row.state, row[1])

        def content(record: ArtifactRecord) -> Any:
            return _lines(record.document) if self.peer else (record.state.value, record.sha256)

        return ImportPlan(
            "artifacts", existing, _values(*unique), content, self._artifact_needs, self._artifact, self.peer
        )

    def _artifact_needs(self, record: ArtifactRecord) -> Iterable[Need]:
        yield "items", record.item_id
        if record.author_id:
            yield "people", record.author_id

    def _artifact(self, record: ArtifactRecord) -> dict[str, Row]:
        revision = intake_pairs.revision_row(record, self.history, self.by, self.guideline)
        self.incoming.units += len(record.document["units"])
        artifact = {
            **_named(record, "id", "item_id", "kind", "author_id"),
            "state": record.state.value,
            "revision": record.revision,
            "sealed_at": record.at if revision["sealed"] else None,
        }
        return {"artifact": artifact, "revision": revision}

    def _judges(self) -> ImportPlan:
        names = {name for (name,) in self.db.execute(select(JUDGE.c.name))}
        compared = ("kind", "model", "parameters", "asking")
        existing = _existing(self.db, JUDGE, ("id",), compared)

        def row(record: JudgeRecord) -> dict[str, Row]:
            numbered = (f"{record.name} ({number})" for number in itertools.count(2))
            name = next(one for one in itertools.chain([record.name], numbered) if one not in names)
            if name != record.name:
                self.incoming.note("judges", record.id, f"the name {record.name} is taken; it becomes {name}")
            names.add(name)
            values = {
                "name": name,
                "kind": record.kind,
                "model": record.model,
                "key_env": "",
                "base_url": gathering.without_secrets(record.base_url),
                "parameters": canonical_json(record.parameters).decode(),
                "asking": record.asking.model_dump_json(exclude_defaults=True),
            }
            return {"judge": {"id": record.id, **JudgeFields.model_validate(values).model_dump()}}

        # Releases contain no prices, headers and queries.
        existing.prints = {
            judge_id: (
                kind,
                model,
                json.loads(parameters or "{}"),
                Asking.model_validate_json(asking, extra="ignore"),
            )
            for judge_id, (kind, model, parameters, asking) in existing.prints.items()
        }
        return ImportPlan("judges", existing, by_id, _values(*compared), nothing, row)

    def _runs(self) -> ImportPlan:
        def row(record: RunRecord) -> dict[str, Row]:
            values = {**record.model_dump(), "state": record.state.value}
            return {"run": {**values, "scope": "{}", "snapshot": "{}", "by": self.by}}

        compared = ("judge_id", "protocol")
        return ImportPlan(
            "runs", _existing(self.db, RUN, ("id",), compared), by_id, _values(*compared),
            lambda run: [("judges", run.judge_id)], row,
        )  # fmt: skip

    def _extracts(self) -> ImportPlan:
        compared = ("state", "sha256")
        existing = _existing(self.db, EXTRACT, UNIQUE, compared)

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
            columns = fields.model_dump() | {"state": fields.state.value, "content": content}
            return {"extract": {"id": record.id, **columns, "sha256": record.sha256}}

        return ImportPlan("extracts", existing, _values(*UNIQUE), _values(*compared), needs, row)

    def _pages(self) -> ImportPlan:
        """A page is the same if it was fetched in the same state with the same text, whether or not the text is here.

        A text missing here is imported; an existing one stays, also if the record has none.
        """
        question = select(PAGE.c.url, PAGE.c.state, PAGE.c.sha256, (PAGE.c.text == "").label("bare"))
        existing, bare = ExistingRecords(), set[str]()
        brought = {one.url: (one.state.value, one.sha256) for one in self.bundle.pages if one.text}
        for result in self.db.execute(question):
            if result.bare and brought.get(result.url) == (result.state, result.sha256):
                bare.add(result.url)
            else:
                existing.prints[derived_id("page", result.url)] = (result.state, result.sha256)

        def row(record: PageRecord) -> dict[str, Row]:
            if record.url in bare:
                return {PAGE_TEXTS: {"url": record.url, "text": record.text}}
            fields = PageFields.model_validate(record.model_dump(exclude={"sha256"})).model_dump()
            return {"page": {**fields, "state": record.state.value, "sha256": record.sha256}}

        return ImportPlan("pages", existing, by_id, _values("state", "sha256"), nothing, row)

    def _prompts(self) -> ImportPlan:
        """A prompt is the same if its versions made in projects are; the shipped wording belongs to the program."""
        question = select(META.c.key, META.c.value).where(META.c.key.like(f"{SETTING}%"))
        existing = ExistingRecords({
            derived_id("prompt", key.removeprefix(SETTING)): tuple(
                PromptVersion.model_validate(load).text for load in json.loads(value)
            )
            for key, value in self.db.execute(question)
        })  # fmt: skip
        for record in self.incoming.bundle.prompts:
            if not _written(record):
                # It has the shipped wording only: there is nothing to import.
                existing.prints.setdefault(record_id(record), ())

        def row(record: PromptRecord) -> dict[str, Row]:
            value = [
                PromptVersion(
                    name=record.name,
                    version=version.version,
                    text=version.text,
                    note=version.note,
                    at=version.at,
                ).model_dump(mode="json")
                for version in record.versions
                if version.version > SHIPPED
            ]
            return {SETTINGS: {"key": f"{SETTING}{record.name}", "value": value}}

        return ImportPlan("prompts", existing, by_id, _written, nothing, row)

    def _sets(self) -> ImportPlan:
        looks = select(OPENING.c.set_id, func.count().label("looks")).group_by(OPENING.c.set_id).subquery()
        question = select(
            VALIDATION_SET.c.id,
            VALIDATION_SET.c.name,
            VALIDATION_SET.c.sha256,
            VALIDATION_SET.c.labels_sha256,
            looks.c.looks,
        )
        rows = self.db.execute(question.outerjoin(looks, looks.c.set_id == VALIDATION_SET.c.id)).all()
        existing = ExistingRecords(
            {one.id: (one.sha256, one.labels_sha256, one.looks or 0) for one in rows},
            {(one.name,): one.id for one in rows},
        )

        def needs(record: ValidationSetRecord) -> Iterable[Need]:
            yield from (("responses", response.response_id) for response in record.content.responses)
            yield from (("items", item) for item in record.content.dealt)
            people = {person for who in record.content.dealt.values() for person in who}
            yield from (("people", person) for person in sorted(people))

        def row(record: ValidationSetRecord) -> dict[str, Row | list[Row]]:
            fields = SetFields.model_validate(record.model_dump(include=set(SetFields.model_fields)))
            columns = {
                "id": record.id, **fields.model_dump(), "content": content_text(record.content),
                "sha256": record.sha256, "labels": labels_text(record.first_labels),
                "labels_sha256": record.labels_sha256,
            }  # fmt: skip
            openings = (
                look.model_dump() | {"set_id": record.id, "judges": orjson.dumps(look.judges).decode()}
                for look in record.looks
            )
            opened = [{"id": one["id"], **OpeningFields.model_validate(one).model_dump()} for one in openings]
            return {"validation_set": columns, "opening": opened}

        return ImportPlan(
            "validation_sets", existing, lambda one: (one.name,),
            lambda one: (one.sha256, one.labels_sha256, len(one.looks)), needs, row,
        )  # fmt: skip

    def _informed(self) -> ImportPlan:
        existing = _existing(self.db, INFORMED, ("id",), VERDICT_FIELDS)

        def needs(record: InformedRecord) -> Iterable[Need]:
            yield "items", record.item_id
            yield "responses", record.response_id
            yield "judges", record.judge_id
            yield from (
                ("people", name) for name in (record.by, record.label_of) if name not in ("", CONSENSUS)
            )

        def row(record: InformedRecord) -> dict[str, Row]:
            fields = InformedFields.model_validate(record.model_dump(exclude={"id"}))
            return {"informed": {"id": record.id, **fields.model_dump(), "kind": record.kind.value}}

        return ImportPlan("informed", existing, by_id, _values(*VERDICT_FIELDS), needs, row)

    def _matches(self) -> ImportPlan:
        """A match is the same if the same rater gave the same answer on the same pair in the same round."""
        c, judges = CONTEST.c, {judge.id for judge in self.incoming.bundle.judges}
        rows = self.db.execute(select(c.id, c.value, c.confidence, c.status))
        existing = ExistingRecords({result[0]: tuple(result[1:]) for result in rows})
        self.incoming.there["tasks"] = self._tasks()

        def needs(record: MatchRecord) -> Iterable[Need]:
            of_rater = "people" if record.rater_kind is RaterKind.PERSON else "judges"
            named = [(of_rater, record.rater)] if of_rater == "people" or record.rater in judges else []
            run = [("runs", record.run_id)] if record.run_id is not None else []
            return [("tasks", record.first), ("tasks", record.second), *named, *run]

        def row(record: MatchRecord) -> dict[str, Row]:
            valid = record.value in (FIRST, SECOND) and LEAST <= (record.confidence or 0) <= MOST
            lacks = record.value is None and record.confidence is None
            if record.first == record.second or not (valid if record.status == Status.OK.value else lacks):
                raise ValueError(
                    "a match is of two tasks, with a value and a confidence from 0.5 to 1 where its status is ok, and "
                    "only there"
                )
            fields = record.model_dump(include=set(ContestFields.model_fields))
            return {"contest": contest_rows.row_of(ContestFields(**fields))}

        return ImportPlan("matches", existing, by_id, _values("value", "confidence", "status"), needs, row)

    def _decisions(self) -> ImportPlan:
        """A decision is the same if the task is kept at the same rank, or held back for the same reason."""
        existing = ExistingRecords({
            derived_id("decision", task): (one.kept, one.reason, one.rank, one.by_hand)
            for task, one in self.decided.items()
        })  # fmt: skip

        def needs(record: DecisionRecord) -> Iterable[Need]:
            return [("tasks", record.task_id), *([("people", record.by)] if record.by else [])]

        def row(record: DecisionRecord) -> dict[str, Row]:
            return {DECISIONS: record.model_dump(exclude={"task_id"}) | {"task": record.task_id}}

        return ImportPlan(
            "decisions", existing, by_id, _values("kept", "reason", "rank", "by_hand"), needs, row
        )

    def _tasks(self) -> set[str]:
        newest = (REVISION.c.number == ARTIFACT.c.revision) & (ARTIFACT.c.kind == Kind.TASKS.value)
        lists = (
            select(REVISION.c.content).join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id).where(newest)
        )
        needed = self.incoming.bundle.matches or self.incoming.bundle.decisions
        documents = [json.loads(content) for content in self.db.execute(lists).scalars()] if needed else []
        coming = (artifact for artifact in self.incoming.bundle.artifacts if artifact.kind is Kind.TASKS)
        documents += [record.document for record in coming if record.id in self.incoming.there["artifacts"]]
        return {unit["id"] for document in documents for unit in document["units"]}


def judgement_plan(db: Connection, bundle: Bundle) -> ImportPlan:
    compared = ("value", "status", "rationale", "quote", "note", "cause")
    existing = ExistingRecords()
    if bundle.judgements:
        # In a release, a judgement is identified by what was judged and by whom, not by its row's id here.
        for known in db.execute(select(*(JUDGEMENT.c[name] for name in (*JUDGED, *compared)))):
            existing.prints[judgement_key(*known[: len(JUDGED)])] = tuple(known[len(JUDGED) :])
    item_of = dict(db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id)).all())
    item_of |= {response.id: response.item_id for response in bundle.responses}
    keys, units = {item.id: item.key for item in bundle.items}, gathering.units_of(bundle)
    extract_ids = {*db.execute(select(EXTRACT.c.id)).scalars(), *(extract.id for extract in bundle.extracts)}

    def needs(record: JudgementRecord) -> Iterable[Need]:
        yield "items", record.item_id
        yield "responses", record.response_id
        yield ("people" if record.rater_kind is RaterKind.PERSON else "judges"), record.rater_id
        if record.artifact_id:
            yield ("extracts" if record.artifact_id in extract_ids else "artifacts"), record.artifact_id
        if record.run_id is not None:
            yield "runs", record.run_id

    def row(record: JudgementRecord) -> dict[str, Row]:
        item = f"item {keys.get(record.item_id, record.item_id)}"
        if item_of[record.response_id] != record.item_id:
            raise ValueError(f"its response does not belong to {item}")
        of = units.get(record.artifact_id)
        if of is not None and not gathering.names_one(record.unit_id, of):
            raise ValueError(f"the artifact of {item} has no unit {record.unit_id}")
        values = record.model_dump(mode="json") | {"flags": " ".join(record.flags), "at": record.at}
        fields = JudgementFields.model_validate(values).model_dump(mode="json") | {"at": record.at}
        if record.rater_kind is RaterKind.PERSON:
            fields = counting(fields)
        columns = {"id": derived_id("judgement", record_id(record)), **fields}
        return {"judgement": columns | {"sha256": file.judgement_hash(fields)}}

    return ImportPlan("judgements", existing, by_id, _values(*compared), needs, row)


def _values(*names: str) -> Any:
    """A function that returns those fields of a record, as the database stores them."""
    return lambda record: tuple(_named(record, *names).values())


def _named(record: Record, *names: str) -> Row:
    result = {name: getattr(record, name) for name in names}
    return {name: value.value if isinstance(value, Enum) else value for name, value in result.items()}


def _lines(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The compared values of each criterion of a peer's rubric, or of each task of its list."""
    names = ("text", "weight", "phase", "family", "difficulty")
    return [tuple(unit.get(name, 0) for name in names) for unit in document["units"]]
