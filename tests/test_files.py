"""How a file comes under its name: whole, over what was there, or not at all."""

import errno
import os
import time
from pathlib import Path

import pytest

from annotator import files
from annotator.exchange import folders
from annotator.files import save
from tests.common import expect_refusal, failing, links, posix

DENIED = PermissionError(errno.EACCES, "Access is denied")


def test_a_virus_scanner_that_holds_the_file_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = os.replace, iter(range(100))

    def held(here: Path, there: Path) -> None:
        if next(calls) < 2:
            raise PermissionError(errno.EACCES, "Permission denied")
        real(here, there)

    monkeypatch.setattr(files.os, "replace", held)
    save(tmp_path / "a", b"new")
    assert next(calls) == 3
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"new")]


@pytest.mark.parametrize(("call", "code"), [("fsync", errno.ENOSPC), ("replace", errno.EACCES)])
def test_a_failed_writing_leaves_the_former_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    save(tmp_path / "a", b"former")
    monkeypatch.setattr(files, "RETRIED_SECONDS", 0.0)
    monkeypatch.setattr(files.os, call, failing(OSError(code, os.strerror(code))))
    expect_refusal(f"“a” could not be written: {os.strerror(code)}", save, tmp_path / "a", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"former")]


def test_a_table_that_a_spreadsheet_holds_open_is_to_be_closed_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "RETRIED_SECONDS", 0.0)
    monkeypatch.setattr(files.os, "replace", failing(DENIED))
    for write in (lambda: save(tmp_path / "a.csv", b"x"), lambda: folders.write(tmp_path / "f", {"a": b"x"})):
        assert "Close it where it is open, in a spreadsheet for example" in expect_refusal("", write).todo
    assert list(tmp_path.iterdir()) == []


def test_a_second_name_that_is_held_keeps_nothing_from_being_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()
    os.link(tmp_path / "a", tmp_path / "b")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", failing(DENIED))
        files.forget_second_names(tmp_path / "a", "b")
    assert files.other_name(tmp_path / "a") == "b"
    files.forget_second_names(tmp_path / "a", "b")
    assert files.other_name(tmp_path / "a") is None


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("study v1.2", "study v1.2.html"), ("a.PDF", "a.PDF"), ("a", "a.html"), ("a.html", "a.html")],
)
def test_a_dot_in_a_name_is_no_ending(name: str, wanted: str) -> None:
    assert files.with_ending(Path(name), ".html", ".pdf") == Path(wanted)


def test_a_folder_or_a_place_that_is_not_there_is_refused_for_writing(tmp_path: Path) -> None:
    expect_refusal("is a folder", save, tmp_path, b"x")
    expect_refusal("could not be written: No such file", save, tmp_path / "absent" / "a", b"x")


@pytest.mark.parametrize("second_names", [True, False])
def test_a_new_file_never_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second_names: bool
) -> None:
    if not second_names:
        monkeypatch.setattr(
            files.os, "link", failing(PermissionError(errno.EPERM, "Operation not permitted"))
        )
    with files.whole(tmp_path / "a", new=True) as part:
        part.write_bytes(b"first")
    with pytest.raises(FileExistsError), files.whole(tmp_path / "a", new=True) as part:
        part.write_bytes(b"second")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"first")]


def test_what_a_killed_process_left_is_swept_up_once_it_is_old(tmp_path: Path) -> None:
    old, young = (tmp_path / f".table.csv.{mark * 8}.part" for mark in "ab")
    downloads = tmp_path / "table.csv.part"
    for path in (old, young, downloads):
        path.write_bytes(b"half")
    for path in (old, downloads):
        os.utime(path, (time.time() - 7200,) * 2)
    save(tmp_path / "table.csv", b"whole")
    assert {path.name for path in tmp_path.iterdir()} == {"table.csv", young.name, downloads.name}


@posix
def test_a_file_keeps_who_may_read_it(tmp_path: Path) -> None:
    save(tmp_path / "a", b"former")
    (tmp_path / "a").chmod(0o600)
    save(tmp_path / "a", b"new")
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


@links
def test_a_link_stays_a_link_to_what_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    real, link = tmp_path / "there" / "a", tmp_path / "link"
    real.write_bytes(b"former")
    link.symlink_to(real)
    save(link, b"new")
    assert (link.is_symlink(), real.read_bytes()) == (True, b"new")


@pytest.mark.parametrize("letters", ["x", "ß", "漢", "𝔘"])
def test_the_longest_names_that_a_disk_allows_can_be_saved(tmp_path: Path, letters: str) -> None:
    assert save(tmp_path / (letters * (255 // len(letters.encode()))), b"x").read_bytes() == b"x"
