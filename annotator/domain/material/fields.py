"""Fields of stored records: a text that came with a later version, and a day as far as it is known."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator
from sqlmodel import Field
from sqlmodel import text as in_sql

_KNOWN = re.compile(r"(?:\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?)?")


def later_text(longest: int | None, description: str) -> Any:
    """A text that records did not have at first: it is empty in those of older projects."""
    empty = {"server_default": in_sql("''")}
    return Field(default="", max_length=longest, description=description, sa_column_kwargs=empty)


def _known_day(text: str) -> str:
    if not _KNOWN.fullmatch(text):
        raise ValueError("should be a day, a month or a year, such as 2024-05")
    return text


KnownDay = Annotated[str, AfterValidator(_known_day)]
"""A day, a month or a year; empty where none is known."""
