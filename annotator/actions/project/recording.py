"""Recording a change in the audit, in the same transaction as the change itself."""

from dataclasses import replace
from typing import Any

from sqlalchemy import insert
from sqlalchemy.engine import Connection

from annotator import __version__
from annotator.actions.project.file import META, Project
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, now
from annotator.storage import upserts
from annotator.storage.tables import AuditRow, table

AUDIT = table(AuditRow)
_ADD = insert(AUDIT)
# Settings of an annotator's project, one for each version of the program that changed it.
CHANGED_WITH = "changed with "


def record(project: Project, db: Connection, change: Change, *, undoes: int | None = None) -> Change:
    """Write the change to the audit and give it back with its number, author and time."""
    at = now()
    row = {
        "kind": change.kind,
        "subject": change.subject,
        "verb": change.verb,
        "before": _packed(change.before),
        "after": _packed(change.after),
        "by": project.by,
        "at": at,
        "undoes": undoes,
        "undone": False,
    }
    row["sha256"] = row_hash(row)
    if project.from_task:
        upserts.add_missing(db, META, {"key": f"{CHANGED_WITH}{__version__}", "value": "true"})
    return replace(change, by=project.by, at=at, seq=db.execute(_ADD, row).lastrowid)


def row_hash(row: dict[str, Any]) -> str:
    """The hash of an audit row: all its values but its number, its moment, and whether it is taken back now.

    Works on what is about to be written and on the stored row alike.
    """
    left_out = ("sha256", "at", "undone", "seq")
    return sha256(canonical_json({key: value for key, value in row.items() if key not in left_out}))


def _packed(image: Any) -> str | None:
    return None if image is None else canonical_json(image).decode()
