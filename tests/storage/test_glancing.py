"""A project is read without being opened, and what cannot be read says why."""

from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from annotator.storage.backup import NotCopied, copy_project
from annotator.storage.glancing import UnreadableProject, glance
from annotator.storage.opening import Damaged
from annotator.storage.tables import ItemRow, table


def test_a_glance_reads_and_changes_no_byte(closed: Path) -> None:
    before = closed.read_bytes()
    with glance(closed) as db:
        assert db.execute(select(func.count()).select_from(table(ItemRow))).scalar_one() > 0
    with pytest.raises(UnreadableProject, match="readonly"), glance(closed) as db:
        db.execute(text("DELETE FROM rendering"))
    assert closed.read_bytes() == before


def test_a_file_that_is_no_project_is_unreadable_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "notes.goldsmith"
    path.write_text("Only words, and many of them. " * 100, "utf-8")
    with pytest.raises(UnreadableProject) as found, glance(path) as db:
        db.execute(text("SELECT 1 FROM item"))
    assert isinstance(found.value.refusal(), Damaged)


def test_a_file_that_is_gone_is_neither_read_nor_copied(tmp_path: Path) -> None:
    path = tmp_path / "gone.goldsmith"
    with pytest.raises(UnreadableProject), glance(path):
        pass
    with pytest.raises(NotCopied):
        copy_project(path, tmp_path / "copy.goldsmith")
    assert list(tmp_path.iterdir()) == []
