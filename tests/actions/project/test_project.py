"""Making, opening and closing a project, and its settings."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from annotator import __version__
from annotator.actions.project.file import Project, record, row_hash
from annotator.actions.project.people import new_project
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.opening import Damaged
from tests.storage import sql


def test_a_new_project_knows_itself(tmp_path: Path) -> None:
    project = new_project(tmp_path / "a study")
    assert project.path == tmp_path / "a study.goldsmith"
    assert (project.title, project.get("made_with"), len(project.get("id"))) == ("a study", __version__, 36)
    project.close()


def test_a_name_with_a_point_keeps_it(tmp_path: Path) -> None:
    project = new_project(tmp_path / "v1.2")
    assert (project.path.name, project.title) == ("v1.2.goldsmith", "v1.2")
    project.close()


def test_a_folder_that_is_missing_is_made(tmp_path: Path) -> None:
    new_project(tmp_path / "new" / "folder" / "p.goldsmith").close()
    assert (tmp_path / "new" / "folder" / "p.goldsmith").exists()


def test_a_file_where_a_folder_should_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(Refusal, match="could not be created"):
        new_project(tmp_path / "file" / "p.goldsmith")


def test_settings_outlive_the_program(tmp_path: Path) -> None:
    project = new_project(tmp_path / "p.goldsmith", "标题")
    project.set("zoom", {"authoring": 1.5})
    project.close()
    again = Project.open(project.path)
    assert (again.title, again.get("zoom"), again.get("none", 7)) == ("标题", {"authoring": 1.5}, 7)
    again.close()


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    new_project(tmp_path / "p.goldsmith").close()
    reader = Project.open(tmp_path / "p.goldsmith", readonly=True)
    assert reader.readonly
    with pytest.raises(Refusal, match="is read-only"):
        reader.set("title", "new")
    reader.close()


def test_a_setting_that_is_no_json_is_damage_and_the_file_is_given_back(tmp_path: Path) -> None:
    project = new_project(tmp_path / "p.goldsmith")
    project.close()
    with closing(sqlite3.connect(project.path)) as raw:
        raw.execute("UPDATE meta SET value = '\"ti' WHERE key = 'title'")
        raw.commit()
    with pytest.raises(Damaged, match="is damaged"):
        Project.open(project.path)


def test_every_change_is_audited_with_a_hash_that_the_stored_row_still_has(tmp_path: Path) -> None:
    project = new_project(tmp_path / "p.goldsmith")
    with project.store.write() as db:
        change = record(project, db, Change("x", "s", "do", {"n": 1}, {"n": 2.5, "é": None}))
    names = sql.rows(project, "SELECT name FROM pragma_table_info('audit')")
    kept = sql.first(project, "SELECT * FROM audit WHERE seq = ?", [change.seq])
    row = {name: value for (name,), value in zip(names, kept, strict=True)}
    assert row["sha256"] == row_hash(row)
    assert json.loads(row["after"]) == {"n": 2.5, "é": None}
    assert row["sha256"] != row_hash(row | {"after": "{}"})
    project.close()


def test_numbers_of_changes_only_grow(tmp_path: Path) -> None:
    project = new_project(tmp_path / "p.goldsmith")
    with project.store.write() as db:
        seqs = [record(project, db, Change("x", "s", "do")).seq for _ in range(3)]
    assert seqs == [seqs[0], seqs[0] + 1, seqs[0] + 2]
    project.close()
