"""Bulk inserts: the same rows as one at a time, whatever their number and types."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import select

from annotator.actions.project import bulk
from annotator.actions.project.bulk import insert_rows
from annotator.actions.project.people import new_project
from annotator.storage.tables import RUN, SYSTEM


def test_rows_are_written_in_batches_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "BATCH", 2)
    project = new_project(tmp_path / "a.goldsmith")
    told: list[tuple[str, int, int]] = []
    rows = [
        {"notes": "n", "id": f"s{n}", "name": f"System {n}", "group": "", "footnote": ""} for n in range(5)
    ]
    with project.store.write() as db:
        insert_rows(db, SYSTEM, rows, lambda *step: told.append(step))
        found = [dict(row) for row in db.execute(select(SYSTEM).order_by(SYSTEM.c.id)).mappings()]
    assert found == rows
    assert told == [("writing systems", 2, 5), ("writing systems", 4, 5), ("writing systems", 5, 5)]


def test_moments_and_gaps_come_back_as_they_went_in(tmp_path: Path) -> None:
    project = new_project(tmp_path / "a.goldsmith")
    at = datetime(2025, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
    with project.store.write() as db:
        db.exec_driver_sql("INSERT INTO judge VALUES ('J','baseline','','','','{}',0,'j','{}')")
        row = {
            "id": "r", "judge_id": "j", "protocol": "p", "state": "done", "scope": "{}", "snapshot": "{}",
            "prompt_sha256": "", "total": 1, "done": 1, "started_at": at, "ended_at": None, "cost_usd": None, "by": "",
        }  # fmt: skip
        insert_rows(db, RUN, [row], lambda *_: None)
        assert dict(db.execute(select(RUN)).mappings().one()) == row


def test_no_rows_are_no_statement(tmp_path: Path) -> None:
    project = new_project(tmp_path / "a.goldsmith")
    with project.store.write() as db:
        insert_rows(db, SYSTEM, [], lambda *_: pytest.fail("nothing is written"))
        assert db.execute(select(SYSTEM)).all() == []
