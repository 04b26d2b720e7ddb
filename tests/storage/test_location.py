"""Where a live project should not lie, and that ordinary places are left alone."""

from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.storage.location import warning_about

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
