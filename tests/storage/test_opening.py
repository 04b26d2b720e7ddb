"""How a project file is opened, held, glanced at, and where it may lie."""

import os
import platform
import random
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.common import Refusal
from annotator.files import journal
from annotator.storage.backup import NotCopied, copy_project
from annotator.storage.opening import (
    Busy,
    Damaged,
    Newer,
    UnreadableProject,
    glance,
    is_passing,
    may_be_written,
    warning_about,
)
from annotator.storage.store import ProjectHold, holder
from annotator.storage.tables import ITEM
from tests.common import expect_refusal, failing, links, posix
from tests.storage import sql
from tests.storage.sql import as_nobody, beside, crashed, noticed, refusal_of, shared_folder, unharmed

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


@pytest.mark.parametrize("how", BROKEN)
def test_a_damaged_file_is_refused_unharmed(closed: Path, how: str) -> None:
    closed.write_bytes(BROKEN[how](closed.read_bytes()))
    with unharmed(closed), pytest.raises(Damaged, match="was not changed") as refused:
        Project.open(closed)
    assert "backup" in refused.value.todo


def test_a_missing_file_is_refused_and_not_made(tmp_path: Path) -> None:
    expect_refusal("There is no file", Project.open, tmp_path / "none.goldsmith")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_or_a_name_the_disk_cannot_hold_is_refused(tmp_path: Path) -> None:
    expect_refusal("is a folder", Project.open, tmp_path)
    expect_refusal("cannot be reached", Project.open, tmp_path / ("x" * 300))
    expect_refusal("could not be created", new_project, tmp_path / ("x" * 300))


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        ("PRAGMA application_id=252006673", Refusal, "another program"),
        ("PRAGMA user_version=99", Newer, r"format 99.*has not been modified"),
        ("DROP TABLE witness", Damaged, "lacks “of_row” of “witness”"),
    ],
    ids=["another program's", "of a newer format", "without one of its tables"],
)
def test_another_database_is_refused_unharmed(
    closed: Path, change: str, kind: type[Refusal], words: str
) -> None:
    beside(closed, change)
    with unharmed(closed), pytest.raises(kind, match=words):
        Project.open(closed)


@contextmanager
def another_process(code: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that holds a project in its own way, until the test is through or has killed it."""
    command, pipe = [sys.executable, "-c", code, str(path)], subprocess.PIPE
    known = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", env=known) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        yield other
        if other.poll() is None:
            other.communicate()


HOLDER = """
import sqlite3, sys
raw = sqlite3.connect(sys.argv[1], isolation_level=None)
raw.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


def test_a_file_locked_by_another_program_is_busy_and_opens_once_it_is_free(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.storage.opening.PATIENCE", 0.1)
    with unharmed(closed), another_process(HOLDER, closed), pytest.raises(Busy, match="in use by another"):
        Project.open(closed)
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
            why = refusal_of(partial(opened.set, "title", "changed"))
            return f"{opened.readonly} {opened.title}: {why}"

        assert as_nobody(look).startswith("True Only to read: “read.goldsmith” is read-only.")


def test_a_file_that_may_not_even_be_read_is_refused() -> None:
    with shared_folder() as folder:
        made = new_project(folder / "shut.goldsmith")
        made.close()
        made.path.chmod(0)
        opening = partial(refusal_of, partial(Project.open, made.path))
        assert "cannot be read with your permissions" in as_nobody(opening)


def test_a_crash_in_the_middle_of_a_commit_is_taken_back_on_opening(closed: Path, tmp_path: Path) -> None:
    reopened = Project.open(crashed(closed, tmp_path / "crashed.goldsmith"))
    longest = sql.first(reopened, "SELECT max(length(sha256)) FROM revision")
    reopened.close()
    assert (longest, noticed(reopened.path)) == ((64,), [])


def test_such_a_crash_where_nothing_may_be_written_is_explained(closed: Path) -> None:
    with shared_folder() as folder:
        left = crashed(closed, folder / "left.goldsmith")
        left.chmod(0o444)
        journal(left).chmod(0o444)
        folder.chmod(0o555)
        opening = partial(refusal_of, partial(Project.open, left))
        assert "in the middle of a change by a crash" in as_nobody(opening)


def test_a_lost_journal_does_not_pass_unnoticed(closed: Path, tmp_path: Path) -> None:
    left = crashed(closed, tmp_path / "crashed.goldsmith")
    journal(left).unlink()
    try:
        Project.open(left).close()
    except Damaged:
        return
    assert noticed(left) != []


OTHER_WINDOW = """
import sys
from pathlib import Path
from annotator.storage.store import ProjectHold
hold = ProjectHold.take(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_window_is_told_who_holds_the_project_and_may_read_while_the_judging_child_writes(
    closed: Path,
) -> None:
    with another_process(OTHER_WINDOW, closed) as other:
        with pytest.raises(Busy) as busy:
            ProjectHold.take(closed)
        assert f"computer {platform.node()}, process {other.pid}, since 20" in busy.value.happened
        assert "reading only" in busy.value.todo
        assert Project.open(closed, readonly=True).title == "small"
        Project.open(closed).set("title", "written by a child")


def test_a_killed_holder_holds_nothing(closed: Path) -> None:
    with another_process(OTHER_WINDOW, closed) as other:
        other.kill()
        other.wait()
        assert holder(closed)["pid"] == other.pid
        ProjectHold.take(closed).release()
    assert holder(closed) == {}


def test_closing_a_project_frees_it_and_one_that_may_only_be_read_is_held_by_nobody(closed: Path) -> None:
    Project.open(closed, readonly=True).hold()
    assert not closed.with_name("small.goldsmith.lock").exists()
    first, second = Project.open(closed), Project.open(closed)
    first.hold()
    with pytest.raises(Busy):
        second.hold()
    first.close()
    second.hold()
    closed.with_name("small.goldsmith.holder.json").write_text("[1, 2", "utf-8")
    assert holder(closed) == {}
    second.close()
    assert holder(closed) == {}


MOUNTS = """\
sysfs /sys sysfs rw,nosuid 0 0
/dev/sda1 / ext4 rw,relatime 0 0
server:/export /mnt/lab\\040share nfs4 rw,vers=4.2 0 0
//nas/people /mnt/nas cifs rw,vers=3.0 0 0
user@host: /home/u/remote fuse.sshfs rw 0 0
/dev/sdb1 /mnt/nas/local ext4 rw 0 0
tmpfs /tmp tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("place", "warned"),
    [
        ("/home/u/OneDrive/study.goldsmith", "a folder that OneDrive copies"),
        ("/home/u/OneDrive - Universität Köln/a/study.goldsmith", "a folder that OneDrive copies"),
        ("/home/u/Dropbox (Lab)/study.goldsmith", "a folder that Dropbox copies"),
        (
            "/Users/u/Library/Mobile Documents/com~apple~CloudDocs/study.goldsmith",
            "a folder that iCloud copies",
        ),
        (
            "/Users/u/Library/CloudStorage/GoogleDrive-u@example.org/My Drive/study.goldsmith",
            "a folder that Google Drive copies",
        ),
        ("/home/u/Nextcloud/study.goldsmith", "a folder that a cloud service copies"),
        (r"\\server\share\study.goldsmith", "network share"),
        ("//server/share/study.goldsmith", "network share"),
        pytest.param("/mnt/lab share/a/study.goldsmith", "network disk", marks=posix),
        pytest.param("/mnt/nas/s.goldsmith", "network disk", marks=posix),
        pytest.param("/home/u/remote/s", "network disk", marks=posix),
        ("/home/u/study.goldsmith", ""),
        ("/mnt/nas/local/study.goldsmith", ""),
        ("/home/u/OneDrive.goldsmith", ""),
        ("/home/u/boxes/s", ""),
    ],
)
def test_a_folder_that_syncs_itself_or_lies_in_a_network_is_warned_about(place: str, warned: str) -> None:
    warning = warning_about(Path(place), MOUNTS)
    assert (warned in warning, bool(warning)) == (True, bool(warned))


def test_a_system_without_a_list_of_mounts_is_not_warned_about(tmp_path: Path) -> None:
    assert warning_about(Path("/home/u/study.goldsmith"), "") == ""
    assert isinstance(Project.warning_about(tmp_path / "study.goldsmith"), str)


ON_MACOS = """\
/dev/disk3s1s1 on / (apfs, sealed, local, read-only, journaled)
map auto_home on /System/Volumes/Data/home (autofs, automounted, nobrowse)
//ada@nas.local/Lab%20share on /Volumes/Lab share (2) (smbfs, nodev, nosuid, mounted by ada)
server:/export on /Volumes/Bu\u0308ro (nfs, nodev, nosuid, automounted, mounted by ada)
/dev/disk4s1 on /Volumes/Stick (msdos, local, nodev, nosuid, noowners)
https://dav.example.org/files on /Volumes/dav (webdav, nodev, noexec, nosuid)
"""


@posix
@pytest.mark.parametrize("place", ["Lab share (2)", unicodedata.normalize("NFC", "Bu\u0308ro"), "dav"])
def test_on_macos_a_network_disk_is_known_by_what_mount_says(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def said(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        assert command == ["/sbin/mount"]
        return subprocess.CompletedProcess(command, 0, ON_MACOS.encode())

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", said)
    assert "network disk" in warning_about(Path("/Volumes") / place / "study.goldsmith")
    assert warning_about(Path("/Volumes/Stick/study.goldsmith")) == ""
    assert warning_about(Path("/Users/ada/study.goldsmith")) == ""


def test_a_mac_whose_mount_does_not_answer_is_not_warned_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", failing(subprocess.TimeoutExpired("/sbin/mount", 5)))
    assert warning_about(Path("/Users/ada/study.goldsmith")) == ""


@links
def test_documents_that_macos_keeps_in_icloud_are_warned_about_and_others_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloud = tmp_path / "Library/Mobile Documents/com~apple~CloudDocs"
    cloud.mkdir(parents=True)
    for name in ("Documents", "Desktop", "Work"):
        (tmp_path / name).mkdir()
    (cloud / "Documents").symlink_to(tmp_path / "Documents", target_is_directory=True)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert "iCloud copies" in warning_about(tmp_path / "Documents/study.goldsmith")
    assert warning_about(tmp_path / "Desktop/study.goldsmith") == ""
    assert warning_about(tmp_path / "Work/study.goldsmith") == ""


def test_on_windows_a_folder_counts_as_writable_only_once_a_file_could_be_made_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "elsewhere"))
    monkeypatch.setattr("annotator.storage.opening.PASSING", "nothing")
    monkeypatch.setattr("annotator.files.WINDOWS", True)
    file = tmp_path / "study.goldsmith"
    file.touch()
    assert may_be_written(file)
    assert not is_passing(tmp_path)
    assert list(tmp_path.iterdir()) == [file]

    monkeypatch.setattr(Path, "touch", failing(PermissionError(13, "Access is denied")))
    assert not may_be_written(file)
    assert is_passing(tmp_path)


def test_a_glance_reads_and_changes_no_byte(closed: Path) -> None:
    before = closed.read_bytes()
    with glance(closed) as db:
        assert db.execute(select(func.count()).select_from(ITEM)).scalar_one() > 0
    with pytest.raises(UnreadableProject, match="readonly"), glance(closed) as db:
        db.execute(text("DELETE FROM rendering"))
    assert closed.read_bytes() == before


def test_a_file_that_is_no_project_is_unreadable_and_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "notes.goldsmith"
    path.write_text("Only words, and many of them. " * 100, "utf-8")
    with pytest.raises(UnreadableProject) as result, glance(path) as db:
        db.execute(text("SELECT 1 FROM item"))
    assert isinstance(result.value.refusal(), Damaged)


def test_a_file_that_is_gone_is_neither_read_nor_copied(tmp_path: Path) -> None:
    path = tmp_path / "gone.goldsmith"
    with pytest.raises(UnreadableProject), glance(path):
        pass
    with pytest.raises(NotCopied):
        copy_project(path, tmp_path / "copy.goldsmith")
    assert list(tmp_path.iterdir()) == []


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
    expect_refusal("There is no file", Project.open, path, readonly=True)


@pytest.fixture
def system_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The system's folder of temporary files, which lies elsewhere than the tests."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "system"))
    monkeypatch.setattr("os.access", lambda *_: True)
    return tmp_path / "system"


@pytest.mark.parametrize(
    ("folder", "passing"),
    [
        ("Users/ana/AppData/Local/Microsoft/Windows/INetCache/Content.Outlook/X1", True),
        ("Users/ana/Library/Containers/com.apple.mail/Data/Library/Mail Downloads/1", True),
        ("home/ana/.cache/evolution", True),
        ("tmp/mozilla_ana0", True),
        ("home/ana/Downloads", False),
        ("Users/ana/Desktop", False),
        ("home/ana/template", False),
    ],
)
@pytest.mark.usefixtures("system_folder")
def test_where_mail_programs_put_attachments_nothing_lasts(folder: str, passing: bool) -> None:
    assert is_passing(Path("/") / folder) is passing


def test_no_project_lasts_in_the_systems_own_temporary_folder_or_where_nothing_can_be_written(
    system_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_passing(system_folder / "deep" / "down")
    monkeypatch.setattr("os.access", lambda *_: False)
    assert is_passing(Path("/media/disc"))
