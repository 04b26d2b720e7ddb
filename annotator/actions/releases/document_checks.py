"""Check that every stored document fits its class."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from annotator.actions.adjudication.feedback import RECEIVED
from annotator.domain.experts.adjudication import Adjudication, ConsensusVersion, Ruling
from annotator.domain.experts.agreement import Agreement, AssistedPair
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.digest import StageDigest
from annotator.domain.experts.parcel import Arrival
from annotator.domain.experts.person import PersonFields
from annotator.domain.judges.validation import Content
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import document_of
from annotator.domain.material import extract
from annotator.domain.material.item import ItemFields
from annotator.domain.material.source import SourceFields

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """Documents of a table: `question` selects rows with `row` and `subject`, `read` raises for bad ones."""

    table: str
    question: str
    read: Callable[[Values], object]


def unfit(raw: sqlite3.Connection) -> Iterator[tuple[str, int, str]]:
    """Table, row number and subject of every document that its class cannot read."""
    for kept in KEPT:
        cursor = raw.execute(kept.question)
        names = [column[0] for column in cursor.description]
        for found in cursor:
            values = dict(zip(names, found, strict=True))
            row, subject = values.pop("row"), values.pop("subject")
            try:
                kept.read(values)
            except (ValueError, KeyError, TypeError):
                yield kept.table, row, str(subject)


def _revision(values: Values) -> object:
    return document_of(Kind(values["kind"]), orjson.loads(values["content"]))


def _extract(values: Values) -> object:
    return extract.document_of(values["kind"], values["response_id"], orjson.loads(values["content"]))


def _tray(values: Values) -> object:
    kind = Stage(values["stage"]).kind
    if kind is None:
        raise ValueError(values["stage"])
    return document_of(kind, orjson.loads(values["content"]))


def _digest(values: Values) -> object:
    return [StageDigest.model_validate(tree) for tree in orjson.loads(values["value"])]


def _with_content(cls: Any) -> Callable[[Values], object]:
    """Reads a row whose content holds the fields that are no columns."""

    def read(values: Values) -> object:
        content = orjson.loads(values.pop("content"))
        return cls.model_validate({**values, **content})

    return read


def _columns(cls: Any) -> str:
    return ", ".join(f'"{name}"' for name in cls.model_fields)


def _fields(table: str, cls: Any) -> DocumentTable:
    """A table whose columns are the class's own fields."""
    question = f'SELECT rowid AS row, id AS subject, {_columns(cls)} FROM "{table}"'  # noqa: S608 - our own names only
    return DocumentTable(table, question, cls.model_validate)


KEPT = (
    _fields("person", PersonFields),
    _fields("item", ItemFields),
    _fields("source", SourceFields),
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
    DocumentTable(
        "meta",
        f"SELECT rowid AS row, key AS subject, value FROM meta WHERE key LIKE '{RECEIVED}%'",  # noqa: S608
        _digest,
    ),
)
