"""What lies on the disk when a program is killed in the middle of a commit."""

import sqlite3
from pathlib import Path

from annotator.files import journal


def crashed(project: Path, to: Path) -> Path:
    """A copy of a closed project as a killed writer would leave it: half written, with its journal beside it."""
    before = project.read_bytes()
    raw = sqlite3.connect(project, isolation_level=None)
    # A tiny cache makes SQLite write pages of the change before it is committed.
    raw.execute("PRAGMA cache_size=1")
    raw.execute("BEGIN")
    for table in ("revision", "audit", "response", "item"):
        raw.execute(f"UPDATE {table} SET sha256 = hex(randomblob(20000))")
    to.write_bytes(project.read_bytes())
    journal(to).write_bytes(journal(project).read_bytes())
    raw.execute("ROLLBACK")
    raw.close()
    assert to.read_bytes()[: len(before)] != before
    return to
