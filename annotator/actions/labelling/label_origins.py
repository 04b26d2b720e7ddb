"""Files that imported labels came from, according to the audit."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.labelling.label_rows import is_given
from annotator.storage.tables import AUDIT

ELSEWHERE = "given elsewhere"
# So many files are named where an import does not tell them apart.
NAMED = 3


def moments(at: datetime, files: Sequence[str]) -> dict[str, datetime]:
    """When the labels of each file of an import were given: a microsecond apart, by which the file is found again."""
    return {name: at + timedelta(microseconds=place) for place, name in enumerate(files)}


class Origins:
    """The imports of labels into a project, each with its files."""

    def __init__(self, db: Connection) -> None:
        imports = (AUDIT.c.kind == "import") & (AUDIT.c.verb == "import labels")
        rows = db.execute(select(AUDIT.c.at, AUDIT.c.after).where(imports).order_by(AUDIT.c.at)).all()
        self._ends = [_utc(row.at) for row in rows]
        self._told: list[Mapping[str, Any]] = [orjson.loads(row.after) for row in rows]

    def of(self, flags: str, at: datetime) -> str:
        """“given elsewhere, file NAME” of a label with these marks and this moment; empty of one given here."""
        if not is_given(flags):
            return ""
        # An import is written to the audit right after its labels.
        place = bisect_left(self._ends, _utc(at))
        files = _files(self._told[place], _utc(at)) if place < len(self._told) else ""
        return f"{ELSEWHERE}, {files}" if files else ELSEWHERE


def _files(told: Mapping[str, Any], at: datetime) -> str:
    sources = told.get("sources", ())
    if sources:
        place = (at - _utc(datetime.fromisoformat(told["at"]))) // timedelta(microseconds=1)
        if 0 <= place < len(sources):
            return f"file {sources[place]}"
    names = told.get("files", ())
    rest = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{'file' if len(names) == 1 else 'files'} {', '.join(names[:NAMED])}{rest}" if names else ""


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
