"""The settings every connection must have."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.storage import connection
from annotator.storage.connection import raw_connection
from tests.storage import sql

# SQLite's documentation: synchronous 2 is FULL.
WANTED = {
    "journal_mode": "truncate",
    "synchronous": 2,
    "foreign_keys": 1,
    "trusted_schema": 0,
    "cell_size_check": 1,
    "mmap_size": 0,
}


@pytest.mark.parametrize(("name", "wanted"), WANTED.items())
def test_an_open_project_has_the_safe_setting(project: Project, name: str, wanted: object) -> None:
    assert sql.first(project, f"PRAGMA {name}")[0] == wanted


def test_a_setting_that_does_not_stay_is_an_error(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.PRAGMAS, "journal_mode", "wal2")
    with pytest.raises(sqlite3.OperationalError, match="journal_mode stayed at"):
        raw_connection(closed)


def test_opening_never_makes_a_file(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        raw_connection(tmp_path / "none.goldsmith")
    assert list(tmp_path.iterdir()) == []


def test_a_reading_connection_cannot_write(closed: Path) -> None:
    with (
        closing(raw_connection(closed, readonly=True)) as raw,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        raw.execute("DELETE FROM judgement")


@pytest.mark.parametrize("name", ["with spaces", "日本語 ёж", "per%cent #1?", "trailing dot."])
def test_any_name_can_be_opened(tmp_path: Path, name: str) -> None:
    made = new_project(tmp_path / f"{name}.goldsmith")
    made.close()
    assert Project.open(made.path).title == name
