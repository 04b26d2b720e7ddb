"""Hashes of rows with experts' words, so that a flipped bit is found before export."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from sqlmodel import SQLModel

from annotator.domain.judges.judgement import JudgementFields
from annotator.domain.material.item import traits_read
from annotator.domain.texts.canonical import canonical_json, sha256

Fields = SQLModel | Mapping[str, Any]
# What an item says. Its place in the order and whether it is retired may change without its words changing.
ITEM_WORDS = ("dataset", "key", "question", "question_type", "subject", "language")
# What was added later counts where it says something: the hash of an item without it is what it always was.
LATER_ITEM_WORDS = ("working_title", "origin", "contributor", "collected", "traits", "made_from")
JUDGEMENT_VALUES = tuple(JudgementFields.model_fields)


def item_hash(fields: Fields) -> str:
    """The hash of an item's words, from the item itself or a row of its table."""
    values = dict(_values(fields))
    values["traits"] = traits_read(values.get("traits"))
    later = {name: values[name] for name in LATER_ITEM_WORDS if values.get(name)}
    return sha256(canonical_json({name: values[name] for name in ITEM_WORDS} | later))


def wording_hash(question: str) -> str:
    """The hash of a question's wording: what a response says it answers."""
    return sha256(question.strip())


def source_hash(text: str) -> str:
    """The hash of a source's text: what anchors into it carry."""
    return sha256(text)


def response_hash(text: str) -> str:
    """The hash of a report's text: what anchors into it and its rendering carry."""
    return sha256(text)


def page_hash(text: str) -> str:
    return sha256(text)


def judgement_hash(fields: Fields) -> str:
    """The hash of all values of a judgement, its moment in UTC as ISO 8601; the id of its row is left out."""
    values = _values(fields)
    tree = {name: values[name] for name in JUDGEMENT_VALUES}
    tree["at"] = tree["at"].astimezone(UTC).isoformat(timespec="microseconds")
    # A whole number of seconds comes back from the database as a fraction.
    tree["seconds"] = None if tree["seconds"] is None else float(tree["seconds"])
    return sha256(canonical_json(tree))


def _values(fields: Fields) -> Mapping[str, Any]:
    return fields.model_dump() if isinstance(fields, SQLModel) else fields
