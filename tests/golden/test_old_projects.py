"""A real file of every format that ever left the house still opens, with every row where it was."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.releases import checking

# Filled by hand, with an agreement and a version of a consensus that say nothing.
HOLLOW = {"format-3.goldsmith.gz": [("agreement", "agreement-1"), ("consensus_version", "version-1")]}
FILES = sorted(Path(__file__).parent.glob("format-*.goldsmith.gz"))


def rows(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as raw:
        names = [n for (n,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [n for n in names if not n.startswith(("sqlite_", "item_words", "witness", "alembic"))]
        return {name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in kept}


@pytest.mark.parametrize("packed", FILES, ids=lambda path: path.name)
def test_a_project_of_an_old_format_opens_whole(packed: Path, tmp_path: Path) -> None:
    path = tmp_path / "old.goldsmith"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    before = rows(path)
    assert before["item"] > 0
    with closing(Project.open(path)) as project:
        told = [(finding.table, finding.subject) for finding in checking.check(project).problems]
    assert told == HOLLOW.get(packed.name, [])
    assert {name: count for name, count in rows(path).items() if name in before} == before
