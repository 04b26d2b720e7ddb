"""What is refused on opening, in which words, and that nothing is written by it."""

import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.texts.refusal import Refusal
from annotator.files import journal
from annotator.storage.opening import Busy, Damaged, Newer
from tests.storage import sql
from tests.storage.apart import as_nobody, shared_folder
from tests.storage.crashed import crashed
from tests.storage.test_witness import noticed

Break = Callable[[bytes], bytes]
PAGE = 4096

BROKEN: dict[str, Break] = {
    "empty": lambda _: b"",
    "header only": lambda content: content[:100],
    "first half of a header": lambda content: content[:50],
    "cut at half": lambda content: content[: len(content) // 2],
    "last 1000 bytes gone": lambda content: content[:-1000],
    "last page gone": lambda content: content[:-PAGE],
    "first page only": lambda content: content[:PAGE],
    "garbage": lambda content: random.Random(4).randbytes(len(content)),
    "a web page": lambda _: b"<!DOCTYPE html><html><body>Sign in to the network</body></html>\n" * 99,
    "plain text": lambda _: b"A letter.\n" * 50,
    "zeros": lambda content: bytes(len(content)),
    "format number zero": lambda content: content[:60] + bytes(4) + content[64:],
    "unknown file format": lambda content: content[:47] + b"\x09" + content[48:],
}


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("how", BROKEN)
def test_a_damaged_file_is_refused_unharmed(closed: Path, how: str) -> None:
    closed.write_bytes(BROKEN[how](closed.read_bytes()))
    before = digest(closed)
    with pytest.raises(Damaged, match="was not changed") as refused:
        Project.open(closed)
    assert "backup" in refused.value.todo
    assert digest(closed) == before


def test_a_missing_file_is_refused_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="There is no file"):
        Project.open(tmp_path / "none.goldsmith")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="is a folder"):
        Project.open(tmp_path)


def test_a_name_the_disk_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="cannot be reached"):
        Project.open(tmp_path / ("x" * 300))
    with pytest.raises(Refusal, match="could not be created"):
        new_project(tmp_path / ("x" * 300))


def _mark(path: Path, pragma: str, value: int) -> str:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(f"PRAGMA {pragma}={value}")
    return digest(path)


def test_another_programs_database_is_refused_unharmed(closed: Path) -> None:
    before = _mark(closed, "application_id", 0x0F055111)
    with pytest.raises(Refusal, match="another program"):
        Project.open(closed)
    assert digest(closed) == before


def test_a_newer_format_is_refused_unharmed(closed: Path) -> None:
    before = _mark(closed, "user_version", 99)
    with pytest.raises(Newer, match=r"format 99.*has not been modified"):
        Project.open(closed)
    assert digest(closed) == before


def test_a_project_that_lacks_a_table_is_damaged(closed: Path) -> None:
    with closing(sqlite3.connect(closed)) as raw:
        raw.execute("DROP TABLE witness")
    with pytest.raises(Damaged, match="lacks “of_row” of “witness”"):
        Project.open(closed)


HOLDER = """
import sqlite3, sys
raw = sqlite3.connect(sys.argv[1], isolation_level=None)
raw.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_file_locked_by_another_program_is_busy_and_opens_once_it_is_free(closed: Path) -> None:
    before = digest(closed)
    command = [sys.executable, "-c", HOLDER, str(closed)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Busy, match="in use by another program"):
            Project.open(closed)
        other.communicate()
    assert digest(closed) == before
    Project.open(closed).close()


@pytest.mark.parametrize("place", ["file", "folder"])
def test_what_may_only_be_read_opens_for_reading(place: str) -> None:
    with shared_folder() as folder:
        made = new_project(folder / "read.goldsmith", "Only to read")
        made.close()
        made.path.chmod(0o444 if place == "file" else 0o666)
        folder.chmod(0o777 if place == "file" else 0o555)

        def look() -> str:
            opened = Project.open(made.path)
            try:
                opened.set("title", "changed")
            except Refusal as refusal:
                return f"{opened.readonly} {opened.title}: {refusal.happened}"
            return "written"

        assert as_nobody(look) == "True Only to read: “read.goldsmith” is read-only."


def test_a_file_that_may_not_even_be_read_is_refused() -> None:
    with shared_folder() as folder:
        made = new_project(folder / "shut.goldsmith")
        made.close()
        made.path.chmod(0)

        def look() -> str:
            try:
                Project.open(made.path)
            except Refusal as refusal:
                return refusal.happened
            return "opened"

        assert "cannot be read with your permissions" in as_nobody(look)


def test_a_crash_in_the_middle_of_a_commit_is_taken_back_on_opening(closed: Path, tmp_path: Path) -> None:
    reopened = Project.open(crashed(closed, tmp_path / "crashed.goldsmith"))
    longest = sql.first(reopened, "SELECT max(length(sha256)) FROM revision")
    reopened.close()
    assert longest == (64,)
    assert noticed(reopened.path) == []


def test_such_a_crash_where_nothing_may_be_written_is_explained(closed: Path) -> None:
    with shared_folder() as folder:
        left = crashed(closed, folder / "left.goldsmith")
        left.chmod(0o444)
        journal(left).chmod(0o444)
        folder.chmod(0o555)

        def look() -> str:
            try:
                Project.open(left)
            except Refusal as refusal:
                return str(refusal)
            return "opened"

        assert "in the middle of a change by a crash" in as_nobody(look)


def test_a_lost_journal_does_not_pass_unnoticed(closed: Path, tmp_path: Path) -> None:
    left = crashed(closed, tmp_path / "crashed.goldsmith")
    journal(left).unlink()
    try:
        Project.open(left).close()
    except Damaged:
        return
    assert noticed(left) != []


def test_a_file_that_is_moved_away_while_it_is_opened_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may open a project whose file is just being set aside."""
    path = project.path
    project.close()
    reread = Project.reread

    def gone(opened: Project) -> None:
        reread(opened)
        path.rename(path.with_name("aside.goldsmith"))

    monkeypatch.setattr(Project, "reread", gone)
    with pytest.raises(Refusal, match="There is no file"):
        Project.open(path, readonly=True)
