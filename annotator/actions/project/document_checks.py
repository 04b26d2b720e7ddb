"""Check of a project's contents: every value is what its column declares, every document and record fits its class."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from annotator.domain.experts.adjudication import (
    Adjudication,
    Agreement,
    AssistedPair,
    ConsensusVersion,
    DisputeState,
    Ruling,
    StageDigest,
)
from annotator.domain.experts.assignment import RECEIVED, Arrival, Stage, TrayState
from annotator.domain.judges.judge import PricedAsking, RunState
from annotator.domain.judges.validation import AttackContent, Content
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import document_of
from annotator.domain.material import extract
from annotator.domain.stored import (
    AssignmentFields,
    ContestFields,
    ExtractState,
    GuidelineFields,
    InformedFields,
    ItemFields,
    JudgeFields,
    PageFields,
    PersonFields,
    RaterKind,
    ResponseFields,
    SourceFields,
    Status,
    SystemFields,
)
from annotator.storage.connection import raw_connection
from annotator.storage.opening import SCHEMA, check_objects, misfits, unchanged

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """Documents of a table: `question` selects rows with `row` and `subject`, `read` raises for bad ones."""

    table: str
    question: str
    read: Callable[[Values], object]


def check_contents(path: Path) -> None:
    """Raise Damaged for a file whose values or documents the program could not read, naming table, row and field."""
    with closing(raw_connection(path, readonly=True)) as raw:
        try:
            check_objects(raw, path, SCHEMA)
            for table, row, field, problem in misfits(raw):
                raise unchanged(path, f"row {row} of “{table}” has {problem} in “{field}”")
            for table, row, subject, field in unfit(raw):
                where = f" in “{field}”" if field else ""
                raise unchanged(
                    path, f"row {row} of “{table}” ({subject[:80]}) has unreadable content{where}"
                )
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise unchanged(path, str(error)) from None


def unfit(raw: sqlite3.Connection) -> Iterator[tuple[str, int, str, str]]:
    """Table, row number, subject and, if known, field of every document that its class cannot read."""
    for table in CHECKED:
        cursor = raw.execute(table.question)
        names = [column[0] for column in cursor.description]
        for result in cursor:
            values = dict(zip(names, result, strict=True))
            row, subject = values.pop("row"), values.pop("subject")
            try:
                table.read(values)
            except ValidationError as error:
                yield table.table, row, str(subject), ".".join(map(str, error.errors()[0]["loc"]))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                yield table.table, row, str(subject), ""


def _revision(values: Values) -> object:
    return document_of(Kind(values["kind"]), orjson.loads(values["content"]))


def _extract(values: Values) -> object:
    return extract.document_of(values["kind"], values["response_id"], orjson.loads(values["content"]))


def _tray(values: Values) -> object:
    kind, content = Stage(values["stage"]).kind, orjson.loads(values["content"])
    if kind is None:
        return [Ruling.model_validate(one) for version in content["versions"] for one in version["rulings"]]
    return document_of(kind, content)


def _setting(values: Values) -> object:
    value = orjson.loads(values["value"])
    return (
        [StageDigest.model_validate(tree) for tree in value] if values["key"].startswith(RECEIVED) else value
    )


def _with_content(cls: Any) -> Callable[[Values], object]:
    """A reader for rows whose content holds the fields that are not columns."""

    def read(values: Values) -> object:
        content = orjson.loads(values.pop("content"))
        return cls.model_validate({**values, **content})

    return read


def _fields(table: str, cls: Any, key: str = "id") -> DocumentTable:
    columns = ", ".join(f'"{name}"' for name in cls.model_fields)
    question = f'SELECT rowid AS row, {key} AS subject, {columns} FROM "{table}"'  # noqa: S608 - our own names only
    # SQLModel's own `model_validate` takes half as long again.
    return DocumentTable(
        table,
        question,
        lambda values: cls.__pydantic_validator__.validate_python(values, self_instance=cls.__new__(cls)),
    )


def _states(table: str, **columns: Callable[[Any], object]) -> DocumentTable:
    """A table of many rows: only columns with few values are read, each combination of values once."""
    names = ", ".join(f'"{name}"' for name in columns)
    question = f'SELECT min(rowid) AS row, {names.split(", ")[0]} AS subject, {names} FROM "{table}" GROUP BY {names}'  # noqa: S608
    return DocumentTable(table, question, lambda values: [columns[name](values[name]) for name in columns])


def _judge(values: Values) -> object:
    PricedAsking.model_validate_json(values["asking"])
    return JudgeFields.model_validate(values), dict(orjson.loads(values["parameters"]))


CHECKED = (
    _fields("person", PersonFields),
    _fields("item", ItemFields),
    _fields("source", SourceFields),
    _fields("system", SystemFields),
    _fields("response", ResponseFields),
    _fields("page", PageFields, key="url"),
    _fields("assignment", AssignmentFields),
    _fields("guideline", GuidelineFields),
    _fields("contest", ContestFields),
    _fields("informed", InformedFields),
    DocumentTable("judge", "SELECT rowid AS row, id AS subject, * FROM judge", _judge),
    DocumentTable(
        "attack_test",
        "SELECT rowid AS row, id AS subject, content FROM attack_test",
        lambda values: AttackContent.model_validate_json(values["content"]),
    ),
    _states("judgement", status=Status, rater_kind=RaterKind),
    _states("call", status=Status),
    _states("artifact", kind=Kind, state=State),
    _states("extract", state=ExtractState),
    _states("dispute", stage=Stage, state=DisputeState),
    _states("tray", state=TrayState),
    _states("run", state=RunState, scope=orjson.loads, snapshot=orjson.loads),
    DocumentTable("meta", "SELECT rowid AS row, key AS subject, key, value FROM meta", _setting),
    DocumentTable(
        "revision",
        "SELECT r.rowid AS row, r.artifact_id AS subject, a.kind, r.content FROM revision r "
        "JOIN artifact a ON a.id = r.artifact_id",
        _revision,
    ),
    DocumentTable(
        "extract", "SELECT rowid AS row, id AS subject, kind, response_id, content FROM extract", _extract
    ),
    DocumentTable(
        "agreement",
        "SELECT rowid AS row, id AS subject, content FROM agreement",
        lambda values: Agreement.model_validate_json(values["content"]),
    ),
    DocumentTable(
        "assisted_pair",
        "SELECT rowid AS row, id AS subject, content FROM assisted_pair",
        lambda values: AssistedPair.model_validate_json(values["content"]),
    ),
    DocumentTable(
        "adjudication",
        "SELECT rowid AS row, id AS subject, * FROM adjudication",
        lambda values: Adjudication.model_validate({**values, "letters": orjson.loads(values["letters"])}),
    ),
    DocumentTable(
        "ruling",
        "SELECT rowid AS row, id AS subject, id, adjudication_id, position, content FROM ruling",
        _with_content(Ruling),
    ),
    DocumentTable(
        "consensus_version",
        "SELECT rowid AS row, id AS subject, id, adjudication_id, version, artifact_id, revision, content, by, at "
        "FROM consensus_version",
        _with_content(ConsensusVersion),
    ),
    DocumentTable(
        "validation_set",
        "SELECT rowid AS row, id AS subject, content FROM validation_set",
        lambda values: Content.model_validate_json(values["content"]),
    ),
    DocumentTable(
        "tray", "SELECT rowid AS row, id AS subject, stage, content FROM tray WHERE stage <> ''", _tray
    ),
    DocumentTable(
        "parcel",
        "SELECT rowid AS row, sha256 AS subject, content FROM parcel WHERE direction = 'in' AND content <> '{}'",
        lambda values: Arrival.model_validate_json(values["content"]),
    ),
)
