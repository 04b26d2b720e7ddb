"""A project file made elsewhere is opened whole or refused in words that name what is wrong; never half or as a bug.

Each variant is a change that somebody, or some other tool, could make to a file before sending it.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from sqlalchemy import DateTime, Float, Integer, LargeBinary

from annotator import places
from annotator.actions.project import document_checks
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.gui.shell.start import Goldsmith, StartPage
from annotator.gui.shell.window import Window
from annotator.storage import opening
from annotator.storage.tables import metadata
from tests.projects.filled_project import filled_project

# What runs with every change, or may swallow one.
PLANTED = {
    f"{when} {event} on {table}": f"CREATE TRIGGER t {when} {event} ON {table} BEGIN SELECT RAISE(IGNORE); END"
    for table in ("item", "revision", "judgement")
    for when, event in (("BEFORE", "INSERT"), ("AFTER", "UPDATE"), ("BEFORE", "DELETE"))
} | {
    "view": "CREATE VIEW items AS SELECT * FROM item",
    "view over a call": "CREATE VIEW v AS SELECT load_extension('x')",
    "trigger of a view": "CREATE VIEW v AS SELECT 1 AS a; CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN SELECT 1; END",
    "unique index": "CREATE UNIQUE INDEX i ON draft(person_id)",
    "partial index": "CREATE INDEX i ON item(key) WHERE retired",
    "index by an expression": "CREATE INDEX i ON item(upper(question))",
    "renamed index": "DROP INDEX ix_item_order; CREATE INDEX ix_item_order ON item(key)",
    "missing index": "DROP INDEX ix_item_order",
    "table of another": "CREATE TABLE theirs (a)",
    "column of another": "ALTER TABLE item ADD COLUMN theirs TEXT DEFAULT 'x'",
    "conflicts ignored": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, "
    "'PRIMARY KEY (id)', 'PRIMARY KEY (id) ON CONFLICT IGNORE') WHERE name = 'judge'",
    "rows deleted with others": "PRAGMA writable_schema=ON; UPDATE sqlite_master SET sql = replace(sql, "
    "'ON DELETE RESTRICT', 'ON DELETE CASCADE') WHERE name = 'response'",
}
TEXTS = {
    "item.question": "undecodable", "item.key": "number", "person.name": "undecodable", "person.alias": "number",
    "revision.content": "undecodable", "response.text": "undecodable", "source.text": "half", "judge.name": "half",
    "judge.model": "null", "judgement.rationale": "undecodable", "judgement.value": "number", "draft.text": "half",
    "meta.value": "undecodable", "audit.after": "undecodable", "extract.content": "null", "system.name": "number",
    "source.title": "null", "response.mode": "number", "judgement.note": "half", "revision.verb": "number",
}  # fmt: skip
WRONG = {
    "undecodable": "CAST(X'61FF' AS TEXT)",
    "half": "CAST(X'EDA0BD' AS TEXT)",
    "number": "CAST(rowid AS BLOB)",
    "null": "'a' || char(0)",
}
CONTENT = {
    "units gone": ("revision", "content", "'{}x'"),
    "a list": ("revision", "content", "'[1, 2]'"),
    "a field of another": ("revision", "content", "json_set(content, '$.theirs', 1)"),
    "weight of 10^30": ("revision", "content", "json_set(content, '$.units[0].weight', 1e30)"),
    "deep nesting": ("revision", "content", "replace(hex(zeroblob(50000)), '00', '[')"),
    "an unknown kind": ("artifact", "kind", "'novel'"),
    "an unknown state": ("artifact", "state", "'lost'"),
    "a status of another": ("judgement", "status", "'maybe'"),
    "a rater of another kind": ("judgement", "rater_kind", "'oracle'"),
    "no such run state": ("run", "state", "'flying'"),
    "a scope that is no JSON": ("run", "scope", "'{'"),
    "parameters that are a list": ("judge", "parameters", "'[1]'"),
    "parameters that are no JSON": ("judge", "parameters", "'{\"a\": NaN}'"),
    "an asking of another": ("judge", "asking", "'{\"together\": -1}'"),
    "a judge of another kind": ("judge", "kind", "'oracle'"),
    "traits that are a number": ("item", "traits", "'7'"),
    "traits that are no JSON": ("item", "traits", "'{'"),
    "a title that is no JSON": ("meta", "value", "'{'"),
    "an extract of another": ("extract", "content", "'{\"units\": 3}'"),
    "an extract's unknown state": ("extract", "state", "'lost'"),
    "a stage of another": ("assignment", "stage", "'waiting'"),
    "a page of another state": ("page", "state", "'asleep'"),
    "a trial below one": ("response", "trial", "-4"),
    "a question too long": ("item", "question", "hex(zeroblob(150000))"),
    "a name too long": ("person", "name", "hex(zeroblob(5000))"),
    "a report without end": ("response", "text", "hex(zeroblob(11000000))"),
    "a 30th of February": ("revision", "at", "'2026-02-30 10:00:00.000000'"),
    "a day of a year that never was": ("response", "collected_on", "'0000-01-01'"),
    "a moment in words": ("audit", "at", "'yesterday'"),
    "a price without end": ("run", "cost_usd", "9e999"),
    "a truth of two": ("item", "retired", "2"),
}  # fmt: skip


def _numbers() -> Iterator[tuple[str, str]]:
    """A column of each table that holds no text, with a text in it."""
    for name, table in metadata.tables.items():
        held = [
            column.name
            for column in table.columns
            if isinstance(column.type, Integer | Float | DateTime | LargeBinary) and not column.primary_key
        ]
        if held and name not in ("witness", "rendering"):
            yield f"{name}.{held[0]}", f'UPDATE OR IGNORE "{name}" SET "{held[0]}" = \'words\''


VARIANTS = {
    **{f"planted: {name}": words for name, words in PLANTED.items()},
    **{
        f"text: {field} {wrong}": 'UPDATE "{}" SET "{}" = {}'.format(*field.split("."), WRONG[wrong])
        for field, wrong in TEXTS.items()
    },
    **{
        f"content: {name}": f'UPDATE "{table}" SET "{field}" = {value}'
        for name, (table, field, value) in CONTENT.items()
    },
    **{f"type: {field}": words for field, words in _numbers()},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = filled_project(tmp_path_factory.mktemp("whole"))
    project.close()
    return project.path


def foreign(whole: Path, folder: Path, change: str) -> Path:
    """A copy in which something was changed by another tool; where it came from is not known here."""
    path = Path(shutil.copy(whole, folder / "theirs.goldsmith"))
    with closing(sqlite3.connect(path)) as raw:
        changes = raw.total_changes
        raw.executescript(change)
        assert "UPDATE" not in change.split(" ", 1)[0] or raw.total_changes > changes, (
            "the variant changes nothing"
        )
    return path


@pytest.mark.parametrize("name", VARIANTS)
def test_a_foreign_file_is_refused_by_table_row_and_field(
    name: str, whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = foreign(whole, tmp_path, VARIANTS[name])
    before = path.read_bytes()
    assert run_command(["items", "list", str(path)]) == 1
    answer = " ".join(capsys.readouterr().err.split())
    kind, _, where = name.partition(": ")
    assert "The file was not changed." in answer
    if kind == "planted":
        assert "not the program's" in answer or "not those of the program" in answer
    else:
        table, field = where.split(" ")[0].split(".") if "." in where else CONTENT[where][:2]
        assert f"of “{table}”" in answer
        assert field in answer or "unreadable content" in answer
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["planted: BEFORE INSERT on revision", "content: units gone", "type: item.position"]
)
def test_every_command_refuses_it_and_the_window_on_the_first_page(
    name: str, whole: Path, tmp_path: Path, qapp: QApplication
) -> None:
    path = foreign(whole, tmp_path, VARIANTS[name])
    for words in (["status", str(path)], ["export", str(path), "--to", str(tmp_path / "out")]):
        assert run_command(words) == 1
    assert not (tmp_path / "out").exists()
    program = Goldsmith(qapp)
    try:
        shown = program.show(path)
        assert isinstance(shown, StartPage)
        assert "changed outside the program or is damaged" in shown.messages.text()
    finally:
        program.close()


def test_a_whole_file_from_elsewhere_opens_everywhere(
    whole: Path, tmp_path: Path, qapp: QApplication
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "theirs.goldsmith"))
    assert not opening.is_known(path)
    assert run_command(["items", "list", str(path)]) == 0
    assert run_command(["status", str(path)]) == 0
    program = Goldsmith(qapp)
    assert isinstance(program.show(path), Window)
    program.close()
    assert opening.is_known(path)


def test_of_the_files_that_were_checked_the_last_five_hundred_are_remembered(
    whole: Path, tmp_path: Path
) -> None:
    marks = places.user_data() / "checked"
    shutil.rmtree(marks, ignore_errors=True)
    marks.mkdir(parents=True)
    for age in range(600):
        (marks / str(age)).write_text("of a file that is gone", encoding="utf-8")
        os.utime(marks / str(age), (1_000_000 - age, 1_000_000 - age))
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    Project.open(path).close()
    assert opening.is_known(path)
    left = {mark.name for mark in marks.iterdir()}
    assert len(left) == 500
    assert {str(age) for age in range(499)} < left


@pytest.mark.parametrize("fraction", ["", ".0", ".999499", ".999500", ".999999"])
def test_a_change_at_any_fraction_of_a_second_is_no_damage(
    whole: Path, tmp_path: Path, fraction: str
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE draft SET at = ?", [f"2026-11-30 23:59:59{fraction}"])
        raw.commit()
        assert list(opening.misfits(raw)) == []


def test_a_file_that_was_changed_since_is_checked_again(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    Project.open(path).close()
    assert opening.is_known(path)
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE item SET position = 'first'")
        raw.commit()
    assert not opening.is_known(path)
    mine = Project.open(shutil.copy(whole, tmp_path / "other.goldsmith"))
    # Something that syncs folders puts another file in its place while it is open.
    path.replace(mine.path)
    mine.close()
    assert not opening.is_known(mine.path)
    path = mine.path
    with pytest.raises(opening.Damaged, match=r"“item”.*“position”"):
        Project.open(path)


def test_what_is_open_is_not_checked_again_by_the_same_process(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "mine.goldsmith"))
    checks: list[Path] = []
    with closing(Project.open(path)) as project:
        monkeypatch.setattr(document_checks, "check_contents", checks.append)
        project.set("title", "Changed")
        assert not opening.is_known(path)
        Project.open(path, readonly=True).close()
        assert checks == []
    assert opening.is_known(path)
    path.touch()
    Project.open(path, unchecked=True).close()
    assert checks == []
    assert not opening.is_known(path)
    Project.open(path).close()
    assert checks == [path]
