"""Check Project: that a sound file passes, and that whatever is wrong with one is found and named."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.common import Refusal
from annotator.files import journal
from tests.common import expect_refusal
from tests.projects.filled_project import add_judgement, filled_project
from tests.storage import sql
from tests.storage.sql import crashed

PROJECT = filled_project
FLIPS = 60


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    project = filled_project(tmp_path)
    project.close()
    return project.path


def found(path: Path) -> list[tuple[str, str]]:
    project = Project.open(path, unchecked=True)
    report = checking.check(project)
    project.close()
    return [(finding.table, finding.happened) for finding in report.problems]


def test_a_sound_project_passes_step_by_step_also_where_it_may_only_be_read(project: Project) -> None:
    report = checking.check(project)
    assert (report.problems, report.counted["judgement"], report.counted["revision"]) == ([], 3, 7)
    assert min(report.counted.values()) > 0
    told: list[tuple[str, int, int]] = []
    assert (
        checking.check(Project.open(project.path, readonly=True), lambda *step: told.append(step)).problems
        == []
    )
    assert [(done, total) for _, done, total in told] == [
        (step, len(checking.STEPS)) for step in range(len(checking.STEPS))
    ]
    response, artifact, unit = sql.first(project, "SELECT response_id, artifact_id, unit_id FROM judgement")
    item = items.ids(project)[0]
    add_judgement(project, item_id=item, response_id=response, artifact_id=artifact, unit_id=f"p1~{unit}")
    add_judgement(project, item_id=item, response_id=response, artifact_id="extract-1", unit_id="gone since")
    artifacts.remove_unit(project, artifact, unit)
    assert checking.check(project).problems == []


ALTERED = {
    "item": "UPDATE item SET question = question || '.' WHERE key = '1'",
    "source": "UPDATE source SET text = replace(text, 'ease', 'easy')",
    "source_file": "UPDATE source_file SET content = X'25'",
    "response": "UPDATE response SET text = text || ' ' WHERE rowid = 2",
    "revision": "UPDATE revision SET content = replace(content, 'Explains', 'Exploins') WHERE rowid = 1",
    "call": "UPDATE call SET cost_usd = 0.002",
    "judgement": "UPDATE judgement SET value = 'no' WHERE rowid = 2",
    "batch": "UPDATE batch SET content = '[]'",
    "audit": "UPDATE audit SET after = '{}' WHERE seq = 4",
    "extract": "UPDATE extract SET content = replace(content, 'Search', 'Seerch')",
    "page": "UPDATE page SET text = text || ' '",
    "person": "UPDATE person SET name = 'Ida Rater' WHERE name = 'Ada Rater'",
    "judge": "UPDATE judge SET model = 'm-2'",
    "run": "UPDATE run SET cost_usd = 0.5",
    "meta": "UPDATE meta SET value = '1' WHERE key = 'note'",
    "time_spent": "UPDATE time_spent SET seconds = 43.5",
    "assignment": "UPDATE assignment SET due = '2026-01-01'",
    "release": "UPDATE release SET profile = 'other'",
    "system": "UPDATE system SET name = 'Alfa' WHERE name = 'Alpha'",
    "rendering": "UPDATE rendering SET html = '<p>Other</p>'",
}


# A moment spelt in another way.
MOMENTS = ("at = X'00'", "at = replace(at, ' ', 'T')", "at = replace(at, '.', ',')")


@pytest.mark.parametrize(
    ("table", "change"),
    [*ALTERED.items(), *(("judgement", f"UPDATE judgement SET {at} WHERE rowid = 1") for at in MOMENTS)],
)
def test_an_altered_row_is_found_and_its_table_named(closed: Path, table: str, change: str) -> None:
    sql.beside(closed, change)
    problems = [pair for pair in found(closed) if "search index" not in pair[1]]
    assert [name for name, _ in problems] == [table]
    assert f"The {table.replace('_', ' ')} " in problems[0][1]


def test_the_altered_row_itself_is_named(closed: Path) -> None:
    sql.beside(closed, "UPDATE call SET raw = ''")
    with closing(sqlite3.connect(closed)) as raw:
        (call,) = raw.execute("SELECT id FROM call").fetchone()
    assert found(closed) == [("call", f"The call {call} was altered.")]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DELETE FROM call", "The call 1 is missing."),
        ("DELETE FROM system WHERE name = 'Beta'", "belongs to a system that is gone"),
        ("UPDATE revision SET chain = printf('%064d', 0) WHERE rowid = 2", "does not follow the one before"),
        ("UPDATE artifact SET revision = 1 WHERE state = 'draft'", "shows revision 1, but its newest is 5"),
    ],
)
def test_what_no_longer_fits_together_is_found_and_said(closed: Path, change: str, words: str) -> None:
    sql.beside(closed, change)
    assert any(words in happened for _, happened in found(closed))


def test_bytes_that_are_no_text_are_found_and_the_rest_is_still_checked(closed: Path) -> None:
    sql.beside(closed, "UPDATE response SET text = CAST(X'FFFE41' AS TEXT) WHERE rowid = 1")
    sql.beside(closed, "UPDATE judgement SET note = 'x' WHERE rowid = 3")
    assert [table for table, _ in found(closed)] == ["response", "judgement"]


def test_a_judgement_of_a_unit_that_never_was_is_found(project: Project) -> None:
    response, artifact = sql.first(project, "SELECT response_id, artifact_id FROM judgement")
    item = items.ids(project)[0]
    add_judgement(project, item_id=item, response_id=response, artifact_id=artifact, unit_id="ghost")
    add_judgement(project, item_id=item, response_id=response, artifact_id="lost", unit_id="u")
    assert [finding.happened for finding in checking.check(project).problems] == [
        "The unit ghost was judged, but no revision of its artifact has it.",
        "The artifact lost, which was judged by, is gone.",
    ]


def test_unfinished_text_without_a_place_is_found_and_shown(project: Project) -> None:
    place, artifact = sql.first(project, "SELECT place, substr(place, 1, 36) FROM draft")
    artifacts.remove_unit(project, artifact, place.split("|")[1])
    (finding,) = checking.check(project).problems
    assert (finding.table, finding.subject, "Compares stab" in finding.happened) == ("draft", place, True)


def test_a_search_index_out_of_step_is_found_and_mended(project: Project) -> None:
    sql.alter(project, "DELETE FROM item_words WHERE rowid = 1")
    (finding,) = checking.check(project).problems
    assert "search index is out of step" in finding.happened
    checking.mend(project)
    assert checking.check(project).problems == []


def test_a_broken_search_index_is_found(project: Project) -> None:
    sql.alter(project, "UPDATE item_words_data SET block = X'00' WHERE id > 10")
    assert [finding.table for finding in checking.check(project).problems] == ["item"]


def test_very_many_problems_are_told_a_hundred_times(project: Project) -> None:
    with project.store.write():
        sql.connection(project).executemany(
            "INSERT INTO draft VALUES (?, 'p', 't', '2026-01-01 00:00:00')",
            [(f"x|{n}|t",) for n in range(150)],
        )
    problems = checking.check(project).problems
    assert len(problems) == checking.SHOWN + 1
    assert problems[-1].happened == "There are more findings of this kind."


def test_no_room_for_the_copy_is_a_refusal(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(sqlite3.Connection):
        def backup(self, *_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

    def full(path: Path, **_: object) -> sqlite3.Connection:
        return sqlite3.connect(path, factory=Full)

    monkeypatch.setattr(checking, "raw_connection", full)
    expect_refusal("could not be copied for the check", checking.check, project)


def test_a_journal_of_another_project_does_not_pass_unnoticed(closed: Path, tmp_path: Path) -> None:
    other = filled_project(tmp_path / "other")
    other.close()
    journal(crashed(other.path, tmp_path / "left.goldsmith")).rename(journal(closed))
    assert noticed(closed) != ""


def logical(content: bytes, path: Path) -> object:
    """All that a file says, whatever way its bytes say it; None when it cannot be read."""
    path.write_bytes(content)
    try:
        with closing(sqlite3.connect(path)) as raw:
            raw.text_factory = bytes
            tables = raw.execute(
                "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
            ).fetchall()
            names = [name.decode() for kind, name, *_ in tables if kind == b"table"]
            rows = [
                raw.execute(f'SELECT * FROM "{name}"').fetchall()
                for name in names
                if not name.startswith("item_words_")
            ]
            marks = [raw.execute(f"PRAGMA {mark}").fetchone() for mark in ("user_version", "application_id")]
            return tables, rows, marks
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def noticed(path: Path) -> str:
    """How the program notices that something is wrong with a file, or an empty text."""
    try:
        return "; ".join(words for _, words in found(path))
    except Refusal as refusal:
        return refusal.happened


def crowd(project: Project) -> None:
    """Fill the file, so that few of its bytes mean nothing."""
    artifact, response, unit = sql.first(project, "SELECT artifact_id, response_id, unit_id FROM judgement")
    item = items.ids(project)[0]
    with project.store.write():
        for number in range(60):
            items.add(project, f"Question {number}: how does evidence for it hold up? " * 12)
            artifacts.change_unit(project, artifact, unit, text=f"Explains connection {number} " * 20)
            add_judgement(
                project,
                item_id=item,
                response_id=response,
                artifact_id=artifact,
                unit_id=unit,
                trial=number + 2,
            )


@pytest.mark.slow
def test_of_60_flipped_bits_every_one_that_changes_anything_is_noticed(
    project: Project, tmp_path: Path
) -> None:
    crowd(project)
    project.close()
    closed = project.path
    whole, seed = closed.read_bytes(), random.Random(20260617)
    said, silent, changing = logical(whole, tmp_path / "told.db"), [], 0
    for _ in range(FLIPS):
        bit = seed.randrange(len(whole) * 8)
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        changes = logical(bytes(flipped), tmp_path / "told.db") != said
        changing += changes
        closed.write_bytes(flipped)
        if changes and not noticed(closed):
            silent.append(bit)
    assert silent == []
    # The rest falls on indexes, on the search index, which can be made anew, and on bytes that mean nothing.
    assert changing > FLIPS // 4
