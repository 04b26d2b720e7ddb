"""Unsafe places for a live project: network disks and folders that are synchronised."""

import os
import re
import sys
import tempfile
from pathlib import Path

# Kinds of file system, as Linux names them, whose locks or syncs cannot be relied on.
NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|afs|ncpfs|davfs|9p|lustre|beegfs|ocfs2|gfs2|(fuse\.)?(ceph|glusterfs)|"
    r"fuse\.(davfs2|sshfs|rclone|s3fs|gvfsd-fuse)"
)
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

    `mounts` stands for the text of /proc/mounts.
    """
    plain = str(path)
    if plain.startswith(("\\\\", "//")):
        return f"“{path.name}” lies on a network share. {REMEDY}"
    whole = path.expanduser().absolute()
    for service, name in SYNCED:
        if any(name.fullmatch(part.lower()) for part in re.split(r"[\\/]", str(whole.parent))):
            return f"“{path.name}” lies in a folder that {service} copies while it is being written. {REMEDY}"
    if _is_remote_drive(whole) or NETWORK.fullmatch(_mounted_as(whole.resolve(), mounts)):
        return f"“{path.name}” lies on a network disk, where locks cannot be relied on. {REMEDY}"
    return ""


def is_passing(folder: Path) -> bool:
    """Whether what is put into a folder may be cleared away, or cannot be put there at all."""
    whole = folder.expanduser().resolve()
    if whole.is_relative_to(Path(tempfile.gettempdir()).resolve()) or not os.access(whole, os.W_OK):
        return True
    return any(PASSING.fullmatch(part.lower()) for part in whole.parts)


def _mounted_as(path: Path, mounts: str | None) -> str:
    if mounts is None:
        table = Path("/proc/mounts")
        mounts = table.read_text("utf-8", "replace") if table.exists() else ""
    found, kind = -1, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        place = Path(re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), fields[1]))
        depth = len(place.parts)
        # The last mount onto a place hides the ones before.
        if depth >= found and path.is_relative_to(place):
            found, kind = depth, fields[2]
    return kind


def _is_remote_drive(path: Path) -> bool:
    if sys.platform == "win32":
        import ctypes

        remote = 4
        return bool(ctypes.windll.kernel32.GetDriveTypeW(f"{path.drive}\\") == remote)
    return False
