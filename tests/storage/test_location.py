"""Where a live project should not lie, and that ordinary places are left alone."""

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.storage.location import is_passing, warning_about
from annotator.storage.opening import may_be_written
from tests.systems import links, posix

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
    ("place", "service"),
    [
        ("/home/u/OneDrive/study.goldsmith", "OneDrive"),
        ("/home/u/OneDrive - Universität Köln/a/study.goldsmith", "OneDrive"),
        ("/home/u/Dropbox (Lab)/study.goldsmith", "Dropbox"),
        ("/Users/u/Library/Mobile Documents/com~apple~CloudDocs/study.goldsmith", "iCloud"),
        ("/Users/u/Library/CloudStorage/GoogleDrive-u@example.org/My Drive/study.goldsmith", "Google Drive"),
        ("/home/u/Nextcloud/study.goldsmith", "a cloud service"),
    ],
)
def test_a_folder_that_syncs_itself_is_warned_about(place: str, service: str) -> None:
    assert f"a folder that {service} copies" in warning_about(Path(place), MOUNTS)


@posix
@pytest.mark.parametrize(
    "place", ["/mnt/lab share/a/study.goldsmith", "/mnt/nas/s.goldsmith", "/home/u/remote/s"]
)
def test_a_network_disk_is_warned_about(place: str) -> None:
    assert "network disk" in warning_about(Path(place), MOUNTS)


@pytest.mark.parametrize("place", [r"\\server\share\study.goldsmith", "//server/share/study.goldsmith"])
def test_a_network_share_is_warned_about(place: str) -> None:
    assert "network share" in warning_about(Path(place), MOUNTS)


@pytest.mark.parametrize(
    "place",
    [
        "/home/u/study.goldsmith",
        "/mnt/nas/local/study.goldsmith",
        "/home/u/OneDrive.goldsmith",
        "/home/u/boxes/s",
    ],
)
def test_an_ordinary_place_is_not(place: str) -> None:
    assert warning_about(Path(place), MOUNTS) == ""


def test_a_system_without_a_list_of_mounts_is_not_warned_about() -> None:
    assert warning_about(Path("/home/u/study.goldsmith"), "") == ""


def test_the_place_of_this_test_can_be_asked_about(tmp_path: Path) -> None:
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
    def hangs(command: list[str], **_: object) -> None:
        raise subprocess.TimeoutExpired(command, 5)

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "run", hangs)
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
    monkeypatch.setattr("annotator.storage.location.PASSING", re.compile("nothing"))
    monkeypatch.setattr("annotator.files.WINDOWS", True)
    file = tmp_path / "study.goldsmith"
    file.touch()
    assert may_be_written(file)
    assert not is_passing(tmp_path)
    assert list(tmp_path.iterdir()) == [file]

    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(Path, "touch", refused)
    assert not may_be_written(file)
    assert is_passing(tmp_path)
