"""Import of a bundle: keys, compared fields and prerequisites of its records, of validation sets and of reviews."""

import itertools
import json
from collections.abc import Iterable, Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any

import orjson
from sqlalchemy import Table, func, select
from sqlalchemy.engine import Connection

from annotator.actions.authoring.annotating import released_revisions
from annotator.actions.contests.contest_keeping import KeptTask
from annotator.actions.imports import intake_history
from annotator.actions.imports.intake_drawn import ContestIntake, DrawnIntake
from annotator.actions.imports.intake_history import History
from annotator.actions.imports.intake_pairs import PairIntake
from annotator.actions.labelling.label_rows import counting
from annotator.actions.project import hashing
from annotator.actions.project.incoming import ExistingRecords, ImportPlan, Incoming, Need, Row
from annotator.actions.releases import gathering_drawn
from annotator.actions.releases.gathering import without_secrets
from annotator.actions.results.result_raters import CONSENSUS
from annotator.domain.experts.person import PersonFields, Role
from annotator.domain.judges.informed import InformedFields
from annotator.domain.judges.judge import Asking, JudgeFields
from annotator.domain.judges.judgement import JudgementFields, RaterKind
from annotator.domain.judges.validation import OpeningFields, SetFields
from annotator.domain.material.item import ItemFields, free_key
from annotator.domain.material.response import ResponseFields, SystemFields
from annotator.domain.material.source import Source, SourceFields
from annotator.domain.material.transcript import of_source
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import derived_id
from annotator.exchange.formats.layout import FileLayout
from annotator.exchange.release.bundle import Bundle, judgement_key, record_id
from annotator.exchange.release.records import (
    ArtifactRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    PersonRecord,
    Record,
    ResponseRecord,
    RunRecord,
    SourceRecord,
    SystemRecord,
)
from annotator.exchange.release.validation_records import (
    InformedRecord,
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

WRITTEN = (
    PERSON, ITEM, SOURCE, SYSTEM, RESPONSE, GUIDELINE, ARTIFACT, REVISION, AGREEMENT, ADJUDICATION, RULING,
    CONSENSUS_VERSION, DISPUTE, JUDGE, RUN, ASSISTED, EXTRACT, PAGE, JUDGEMENT, VALIDATION_SET, OPENING,
    INFORMED, CONTEST,
)  # fmt: skip
JUDGED = ("protocol", "response_id", "unit_id", "rater_kind", "rater_id", "trial")

# Leaves room to count on from there in the whole numbers of any database.
LAST_POSITION = 10**9
# A key is how one project calls an item, so that it may differ from project to project.
COMPARED = tuple(name for name in hashing.ITEM_WORDS if name != "key")
PEER_COMPARED = ("question", "question_type", "subject")

SAID = ("said", "reason", "note", "judge_value", "label_value")


class ValidationIntake:
    """The comparison of sets, reviews and rulings with the project in this transaction."""

    def __init__(self, db: Connection, incoming: Incoming) -> None:
        self.db, self.incoming = db, incoming

    def sets(self) -> ImportPlan:
        """A set is the same when its content, its first labels and the looks at it are."""
        existing = ExistingRecords()
        looks = select(OPENING.c.set_id, func.count().label("looks")).group_by(OPENING.c.set_id).subquery()
        question = select(
            VALIDATION_SET.c.id,
            VALIDATION_SET.c.name,
            VALIDATION_SET.c.sha256,
            VALIDATION_SET.c.labels_sha256,
            looks.c.looks,
        )
        for found in self.db.execute(question.outerjoin(looks, looks.c.set_id == VALIDATION_SET.c.id)):
            existing.ids[(found.name,)] = found.id
            existing.prints[found.id] = (found.sha256, found.labels_sha256, found.looks or 0)

        def needs(record: ValidationSetRecord) -> Iterable[Need]:
            yield from (("responses", one.response_id) for one in record.content.responses)
            yield from (("items", item) for item in record.content.dealt)
            people = {person for who in record.content.dealt.values() for person in who}
            yield from (("people", person) for person in sorted(people))

        def row(record: ValidationSetRecord) -> dict[str, Row | list[Row]]:
            fields = SetFields.model_validate(record.model_dump(include=set(SetFields.model_fields)))
            kept = {
                "id": record.id, **fields.model_dump(), "content": content_text(record.content),
                "sha256": record.sha256, "labels": labels_text(record.first_labels),
                "labels_sha256": record.labels_sha256,
            }  # fmt: skip
            opened = []
            for look in record.looks:
                values = look.model_dump() | {
                    "set_id": record.id,
                    "judges": orjson.dumps(look.judges).decode(),
                }
                opened.append({"id": look.id, **OpeningFields.model_validate(values).model_dump()})
            return {"validation_set": kept, "opening": opened}

        def content(record: ValidationSetRecord) -> tuple[str, str, int]:
            return record.sha256, record.labels_sha256, len(record.looks)

        return ImportPlan("validation_sets", existing, lambda record: (record.name,), content, needs, row)

    def informed(self) -> ImportPlan:
        """A review or a ruling is the same when it says the same of the same values."""
        existing = ExistingRecords()
        for found in self.db.execute(select(INFORMED.c.id, *(INFORMED.c[name] for name in SAID))):
            existing.prints[found[0]] = tuple(found[1:])

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

        def content(record: InformedRecord) -> tuple[str, ...]:
            return tuple(getattr(record, name) for name in SAID)

        return ImportPlan("informed", existing, lambda record: (record.id,), content, needs, row)


class ItemIntake:
    """The comparison of a bundle's items with the project's.

    `layout`: the items are of a benchmark's own files, which know them by their numbers.
    """

    def __init__(self, db: Connection, incoming: Incoming, layout: FileLayout | None) -> None:
        self.db = db
        self.incoming = incoming
        self.layout, self.peer = layout, layout is not None
        self.rows = db.execute(select(ITEM)).all()
        self.keys = {row.id: row.key for row in self.rows}
        self.taken = set(self.keys.values())
        self.coming = {item.key for item in incoming.bundle.items}

    def items(self) -> ImportPlan:
        """How items are imported: each id once, each key once over all datasets."""
        self._say_other_keys()
        first = int(self.db.execute(select(func.max(ITEM.c.position) + 1)).scalar() or 0)
        following = itertools.count(first)

        def row(record: ItemRecord) -> dict[str, Row]:
            if record.position > LAST_POSITION:
                raise ValueError(f"“position” should be at most {LAST_POSITION}")
            values = record.model_dump(exclude={"id"}) | {"key": self._key(record)}
            fields = ItemFields.model_validate(values).model_dump()
            fields["position"] = next(following) if first else record.position
            return {"item": {"id": record.id, **fields, "sha256": hashing.item_hash(fields)}}

        return ImportPlan("items", self._existing(), _called, self._content, lambda _: (), row, self.peer)

    def _existing(self) -> ExistingRecords:
        prints = {row.id: self._content(row) for row in self.rows}
        return ExistingRecords(prints, self._known_by_key(self.layout) if self.layout else {})

    def _known_by_key(self, layout: FileLayout) -> dict[tuple[str, str], str]:
        known = {_called(row): row.id for row in self.rows if row.dataset != layout.name}
        known |= {(layout.name, str(number)): found for found, number in layout.numbers(self.rows).items()}
        return known | {_called(item): item.id for item in self.incoming.bundle.items if item.id in self.keys}

    def _content(self, of: Any) -> tuple[str, ...]:
        """What is compared; the question as it was first asked, which a settled query does not change."""
        first = {"question": of.working_title or of.question}
        return tuple(
            first.get(name) or getattr(of, name) for name in (PEER_COMPARED if self.peer else COMPARED)
        )

    def _key(self, record: ItemRecord) -> str:
        """The record's own key, unless another item has it: then the next one that nobody has or brings."""
        key = record.key
        if key in self.taken:
            key = free_key(key, self.taken | self.coming)
            self.incoming.note("items", record.id, f"the key {record.key} is taken; it becomes {key}")
        self.taken.add(key)
        return key

    def _say_other_keys(self) -> None:
        for item in self.incoming.bundle.items:
            here = self.keys.get(item.id, item.key)
            if here != item.key:
                self.incoming.note("items", item.id, f"item {item.key} of the files is item {here} here")


def _called(of: Any) -> tuple[str, str]:
    return of.dataset, of.key


class BundleIntake:
    """The comparison of a bundle with the project in this transaction."""

    def __init__(
        self,
        db: Connection,
        bundle: Bundle,
        by: str,
        guideline: str,
        *,
        layout: FileLayout | None,
        decided: Mapping[str, KeptTask] = MappingProxyType({}),
    ) -> None:
        """`decided`: what a contest here came to.

        `layout`: the bundle is of a benchmark's own files, which have no ids and say less than ours.
        """
        self.db = db
        self.bundle = bundle
        self.by = by
        self.guideline = guideline
        self.decided = decided
        self.layout, self.peer = layout, layout is not None
        self.incoming = Incoming(bundle)
        self.history = History(bundle)
        self.aliases: dict[str, str] = {}

    def compare(self) -> Incoming:
        """Sort every record of the bundle, in the order in which they need each other."""
        items = ItemIntake(self.db, self.incoming, self.layout)
        pairs = PairIntake(self.db, self.incoming, self.history)
        drawn = DrawnIntake(self.db, self.incoming)
        validated = ValidationIntake(self.db, self.incoming)
        contest = ContestIntake(self.db, self.incoming, self.decided)
        plans = (
            self._people, items.items, self._sources, self._systems, self._responses, pairs.guidelines, self._artifacts,
            self._revisions, pairs.frozen, pairs.closed, self._judges, self._runs, drawn.extracts, drawn.pages,
            pairs.pairings, drawn.prompts, self._judgements, validated.sets, validated.informed,
            contest.matches, contest.decisions,
        )  # fmt: skip
        for plan in plans:
            made = plan()
            self.incoming.take(made, getattr(self.bundle, made.thing))
        return self.incoming

    def _existing(self, source: Table, unique: Iterable[str], content: Iterable[str]) -> ExistingRecords:
        unique, content = tuple(unique), tuple(content)
        columns = (source.c[name] for name in ("id", *unique, *content))
        found = ExistingRecords()
        for row in self.db.execute(select(*columns)):
            found.ids[tuple(row[1 : 1 + len(unique)])] = row[0]
            found.prints[row[0]] = tuple(row[1 + len(unique) :])
        return found

    def _people(self) -> ImportPlan:
        self.aliases = dict(self.db.execute(select(PERSON.c.alias, PERSON.c.id)).all())
        existing = ExistingRecords({person_id: () for person_id in self.aliases.values()})
        # The id alone decides who a person is: a name or an alias may differ from project to project.
        return ImportPlan("people", existing, _by_id, lambda _: (), _nothing, self._person)

    def _person(self, record: PersonRecord) -> dict[str, Row]:
        if unknown := set(record.roles) - {role.value for role in Role}:
            raise ValueError(f"“{min(unknown)}” is not a role")
        alias = self._alias(record)
        values = {"name": record.alias, "alias": alias, "roles": " ".join(sorted(set(record.roles)))}
        fields = PersonFields.model_validate(values)
        self.aliases[alias] = record.id
        return {"person": {"id": record.id, **fields.model_dump()}}

    def _alias(self, record: PersonRecord) -> str:
        """The record's alias, unless someone who has worked here bears it: then the next free one."""
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
        asked = (
            (ARTIFACT, ARTIFACT.c.author_id),
            (JUDGEMENT, JUDGEMENT.c.rater_id),
            (ASSIGNMENT, ASSIGNMENT.c.person_id),
        )
        return any(
            self.db.execute(select(source.c.id).where(column == person_id).limit(1)).first()
            for source, column in asked
        )

    def _sources(self) -> ImportPlan:
        compared = ("item_id", "title", "format", "identifier", "sha256")

        def content(record: SourceRecord) -> tuple[Any, ...]:
            return (*_values(*compared[:-1])(record), hashing.source_hash(record.text))

        def row(record: SourceRecord) -> dict[str, Row]:
            fields = SourceFields.model_validate(record.model_dump(mode="json", exclude={"id"})).model_dump()
            if record.transcript and of_source(Source(id=record.id, **fields)) is None:
                raise ValueError("“transcript” does not fit the text beside it")
            return {"source": {"id": record.id, **fields, "sha256": hashing.source_hash(record.text)}}

        return ImportPlan(
            "sources", self._existing(SOURCE, ("id",), compared), _by_id, content, _of_item, row
        )

    def _systems(self) -> ImportPlan:
        def row(record: SystemRecord) -> dict[str, Row]:
            fields = SystemFields.model_validate(record.model_dump(exclude={"id"}))
            return {"system": {"id": record.id, **fields.model_dump()}}

        compared = () if self.peer else ("notes",)
        existing = self._existing(SYSTEM, ("name",), compared)
        return ImportPlan("systems", existing, _values("name"), _values(*compared), _nothing, row, self.peer)

    def _responses(self) -> ImportPlan:
        unique = ("item_id", "system_id", "trial", "mode")

        def needs(record: ResponseRecord) -> Iterable[Need]:
            return ("items", record.item_id), ("systems", record.system_id)

        def row(record: ResponseRecord) -> dict[str, Row]:
            fields = ResponseFields.model_validate(record.model_dump(exclude={"id"})).model_dump()
            return {"response": {"id": record.id, **fields, "sha256": hashing.response_hash(record.text)}}

        existing = self._existing(RESPONSE, unique, ("sha256",))
        return ImportPlan("responses", existing, _values(*unique), _text_hash, needs, row, self.peer)

    def _artifacts(self) -> ImportPlan:
        unique = ("item_id", "kind", "author_id")
        existing = self._existing(ARTIFACT, unique, ())
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
        revision = intake_history.revision_row(record, self.history, self.by, self.guideline)
        self.incoming.units += len(record.document["units"])
        artifact = {
            **_named(record, "id", "item_id", "kind", "author_id"),
            "state": record.state.value,
            "revision": record.revision,
            "sealed_at": record.at if revision["sealed"] else None,
        }
        return {"artifact": artifact, "revision": revision}

    def _revisions(self) -> ImportPlan:
        return intake_history.plan(self.db, self.history, self.incoming)

    def _judges(self) -> ImportPlan:
        names = {name for (name,) in self.db.execute(select(JUDGE.c.name))}
        existing = self._existing(JUDGE, ("id",), ("kind", "model", "parameters", "asking"))

        def content(record: JudgeRecord) -> tuple[Any, ...]:
            return record.kind.value, record.model, record.parameters, record.asking

        def row(record: JudgeRecord) -> dict[str, Row]:
            name = next(n for n in _with_numbers(record.name) if n not in names)
            if name != record.name:
                self.incoming.note("judges", record.id, f"the name {record.name} is taken; it becomes {name}")
            names.add(name)
            values = {"name": name, "kind": record.kind, "model": record.model, "key_env": ""}
            values |= {"base_url": without_secrets(record.base_url)}
            values |= {"parameters": canonical_json(record.parameters).decode()}
            values |= {"asking": record.asking.model_dump_json(exclude_defaults=True)}
            fields = JudgeFields.model_validate(values)
            return {"judge": {"id": record.id, **fields.model_dump()}}

        for judge_id, (kind, model, parameters, asking) in existing.prints.items():
            as_asked = Asking.model_validate_json(asking)
            existing.prints[judge_id] = (kind, model, json.loads(parameters or "{}"), as_asked)
        return ImportPlan("judges", existing, _by_id, content, _nothing, row)

    def _runs(self) -> ImportPlan:
        def needs(record: RunRecord) -> Iterable[Need]:
            return (("judges", record.judge_id),)

        def row(record: RunRecord) -> dict[str, Row]:
            values = {**record.model_dump(), "state": record.state.value}
            return {"run": {**values, "scope": "{}", "snapshot": "{}", "by": self.by}}

        compared = ("judge_id", "protocol")
        return ImportPlan(
            "runs", self._existing(RUN, ("id",), compared), _by_id, _values(*compared), needs, row
        )

    def _judgements(self) -> ImportPlan:
        compared = ("value", "status", "rationale", "quote", "note", "cause")
        existing = ExistingRecords()
        if self.bundle.judgements:
            columns = (JUDGEMENT.c[name] for name in (*JUDGED, *compared))
            # Who judged what names a judgement in a release, whatever its row's id is here.
            for row in self.db.execute(select(*columns)):
                existing.prints[judgement_key(*row[: len(JUDGED)])] = tuple(row[len(JUDGED) :])
        judgements = _Judgements(self.db, self.bundle)
        return ImportPlan(
            "judgements", existing, _by_id, _values(*compared), judgements.needs, judgements.row
        )


class _Judgements:
    """Everything that judgements refer to, looked up once."""

    def __init__(self, db: Connection, bundle: Bundle) -> None:
        self.item_of = dict(db.execute(select(RESPONSE.c.id, RESPONSE.c.item_id)).all())
        self.item_of |= {response.id: response.item_id for response in bundle.responses}
        self.keys = {item.id: item.key for item in bundle.items}
        self.units = gathering_drawn.units_of(bundle)
        self.drawn = set(db.execute(select(EXTRACT.c.id)).scalars())
        self.drawn |= {extract.id for extract in bundle.extracts}

    def needs(self, record: JudgementRecord) -> Iterable[Need]:
        yield "items", record.item_id
        yield "responses", record.response_id
        yield ("people" if record.rater_kind is RaterKind.PERSON else "judges"), record.rater_id
        if record.artifact_id:
            yield ("extracts" if record.artifact_id in self.drawn else "artifacts"), record.artifact_id
        if record.run_id is not None:
            yield "runs", record.run_id

    def row(self, record: JudgementRecord) -> dict[str, Row]:
        item = f"item {self.keys.get(record.item_id, record.item_id)}"
        if self.item_of[record.response_id] != record.item_id:
            raise ValueError(f"its response does not belong to {item}")
        of = self.units.get(record.artifact_id)
        if of is not None and not gathering_drawn.names_one(record.unit_id, of):
            raise ValueError(f"the artifact of {item} has no unit {record.unit_id}")
        values = record.model_dump(mode="json") | {"flags": " ".join(record.flags), "at": record.at}
        fields = JudgementFields.model_validate(values).model_dump(mode="json") | {"at": record.at}
        if record.rater_kind is RaterKind.PERSON:
            fields = counting(fields)
        return {
            "judgement": {
                "id": derived_id("judgement", record_id(record)),
                **fields,
                "sha256": hashing.judgement_hash(fields),
            }
        }


def _values(*names: str) -> Any:
    """A function that gives those fields of a record, as the database holds them."""
    return lambda record: tuple(_named(record, *names).values())


def _named(record: Record, *names: str) -> Row:
    found = {name: getattr(record, name) for name in names}
    return {name: value.value if isinstance(value, Enum) else value for name, value in found.items()}


def _by_id(record: Record) -> tuple[Any, ...]:
    return (record_id(record),)


def _nothing(_: Record) -> Iterable[Need]:
    return ()


def _of_item(record: SourceRecord) -> Iterable[Need]:
    return (("items", record.item_id),)


def _text_hash(record: ResponseRecord) -> tuple[str]:
    return (hashing.response_hash(record.text),)


def _lines(document: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What a peer's rubric says of each criterion, or its list of tasks of each task."""
    names = ("text", "weight", "phase", "family", "difficulty")
    return [tuple(unit.get(name, 0) for name in names) for unit in document["units"]]


def _with_numbers(name: str) -> Iterable[str]:
    yield name
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1
