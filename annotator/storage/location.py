"""Unsafe places for a live project: network disks and folders that are synchronised."""

import re
import subprocess
import sys
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from annotator import files

# Kinds of file system, as Linux names them, whose locks or syncs cannot be relied on.
NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|afs|afpfs|webdav|ncpfs|davfs|9p|lustre|beegfs|ocfs2|gfs2|(fuse\.)?(ceph|glusterfs)|"
    r"fuse\.(davfs2|sshfs|rclone|s3fs|gvfsd-fuse)"
)
# A line of macOS' `mount`: "//u@server/share on /Volumes/share (smbfs, nodev, nosuid)".
ON_MACOS = re.compile(r".+? on (?P<place>/.*) \((?P<kind>\w+)(, [^()]*)?\)")
SYNCED = (
    ("OneDrive", re.compile(r"onedrive( ?-.*)?")),
    ("Dropbox", re.compile(r"dropbox( \(.*\)| ?-.*)?")),
    ("iCloud", re.compile(r"icloud ?drive|icloud~.*|com~apple~clouddocs|mobile documents")),
    ("Google Drive", re.compile(r"google ?drive( ?-.*)?|drivefs|my drive|googledrive-.*")),
    (
        "a cloud service",
        re.compile(r"cloudstorage|nextcloud|owncloud|pcloud(drive)?|mega(sync)?|box sync"),
    ),
)
# Where mail programs and systems put what they may clear away at any time.
PASSING = re.compile(
    r"te?mp|temporary internet files|inetcache|content\.outlook|caches|\.cache|temporaryitems|mail downloads"
)
REMEDY = "Keep the project on this computer's own disk; backups can be stored anywhere."


def warning_about(path: Path, mounts: str | None = None) -> str:
    """Why a live project should not lie at `path`, in one or two sentences; empty when nothing speaks against it.

    `mounts` stands for the text of /proc/mounts, or for what `mount` says on macOS.
    """
    plain = str(path)
    if plain.startswith(("\\\\", "//")):
        return f"“{path.name}” lies on a network share. {REMEDY}"
    whole = path.expanduser().absolute()
    for service, name in SYNCED:
        if any(name.fullmatch(part.lower()) for part in re.split(r"[\\/]", str(whole.parent))) or (
            service == "iCloud" and _is_in_icloud(whole)
        ):
            return f"“{path.name}” lies in a folder that {service} copies while it is being written. {REMEDY}"
    if _is_remote_drive(whole) or NETWORK.fullmatch(_mounted_as(whole.resolve(), mounts)):
        return f"“{path.name}” lies on a network disk, where locks cannot be relied on. {REMEDY}"
    return ""


def is_passing(folder: Path) -> bool:
    """Whether what is put into a folder may be cleared away, or cannot be put there at all."""
    whole = folder.expanduser().resolve()
    if whole.is_relative_to(Path(tempfile.gettempdir()).resolve()) or not files.writable(whole):
        return True
    return any(PASSING.fullmatch(part.lower()) for part in whole.parts)


def _is_in_icloud(path: Path) -> bool:
    """Whether macOS keeps the desktop or the documents, where the file lies, in iCloud under their usual names."""
    cloud = Path.home() / "Library/Mobile Documents/com~apple~CloudDocs"
    return any(
        files.same(Path.home() / name, cloud / name)
        and path.resolve().is_relative_to((cloud / name).resolve())
        for name in ("Desktop", "Documents")
    )


def _mounted_as(path: Path, mounts: str | None) -> str:
    found, kind, path = -1, "", _composed(path)
    for place, its_kind in _mounted(_mounts() if mounts is None else mounts):
        depth = len(place.parts)
        # The last mount onto a place hides the ones before.
        if depth >= found and path.is_relative_to(_composed(place)):
            found, kind = depth, its_kind
    return kind


def _mounts() -> str:
    if sys.platform == "darwin":
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run(["/sbin/mount"], capture_output=True, check=False, timeout=5)
            return said.stdout.decode("utf-8", "replace")
        return ""
    table = Path("/proc/mounts")
    return table.read_text("utf-8", "replace") if table.exists() else ""


def _mounted(mounts: str) -> Iterator[tuple[Path, str]]:
    """Each place with its kind of file system, in the order of mounting."""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if told := ON_MACOS.fullmatch(line):
            yield Path(told["place"]), told["kind"]
        elif len(fields) > 2:
            yield Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[1])), fields[2]


def _composed(path: Path) -> Path:
    """The path in the one form of letters with accents: macOS tells names in either."""
    return Path(unicodedata.normalize("NFC", str(path)))


def _is_remote_drive(path: Path) -> bool:
    if sys.platform == "win32":
        import ctypes

        remote = 4
        return bool(ctypes.windll.kernel32.GetDriveTypeW(f"{path.drive}\\") == remote)
    return False
