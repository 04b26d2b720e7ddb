"""Packages for Linux: .deb for everybody on a machine, .run for one person, and the folder that becomes an AppImage."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

from installers import gates
from installers.payload import CHECKOUT, DESKTOP, PICTURE, Payload, filled, tool

DEBIAN = {"x86_64": "amd64", "aarch64": "arm64"}


def deb(payload: Payload, folder: Path) -> Path:
    """A package of Debian's: under /opt, with a command, a desktop entry, file types and an icon."""
    tool("dpkg-deb", "dpkg")
    root, made = folder / "root", folder / payload.file_name(".deb")
    program = root / "opt" / payload.slug
    shutil.copytree(payload.folder, program, symlinks=True)
    (root / "usr/bin").mkdir(parents=True)
    (root / "usr/bin" / payload.slug).symlink_to(f"../../opt/{payload.slug}/goldsmith")
    told(payload, root / "usr/share", payload.slug)
    manual = root / "usr/share/doc" / payload.slug
    manual.mkdir(parents=True)
    shutil.copy(CHECKOUT / "LICENSE", manual / "copyright")
    _even(root)
    held = [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]
    control = root / "DEBIAN"
    control.mkdir()
    words = filled(
        "control",
        NAME=payload.slug,
        # Debian takes 0.2.0~rc1 for older than 0.2.0, as it is.
        VERSION=re.sub(r"\.?(a|b|rc|dev)(?=\d)", r"~\1", payload.version),
        ARCHITECTURE=DEBIAN.get(payload.machine, payload.machine),
        LIBC=".".join(map(str, max((gates.glibc(payload.folder) or {}).values(), default=gates.GLIBC))),
        SIZE=str(sum(path.stat().st_size for path in held) // 1024),
    )
    (control / "control").write_text(words, "utf-8")
    sums = (
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}  {path.relative_to(root).as_posix()}\n"
        for path in held
    )
    (control / "md5sums").write_text("".join(sums), "utf-8")
    _even(control)
    _dated(root, payload.epoch)
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(payload.epoch)}
    command = ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(made)]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    return made


def run(payload: Payload, folder: Path) -> Path:
    """A script that carries the program and installs it for the person who runs it, without a password."""
    makeself = tool("makeself", "makeself")
    root, made = folder / "root", folder / payload.file_name(".run")
    shutil.copytree(payload.folder, root / "program", symlinks=True)
    values = {"SLUG": payload.slug, "TITLE": payload.title, "BESIDE": "yes" if payload.beside else ""}
    (root / "setup.sh").write_text(filled("setup.sh", **values), "utf-8")
    (root / "uninstall.sh").write_text(filled("uninstall.sh", **values), "utf-8")
    (root / "files.txt").write_text("".join(f"{name}\n" for name in payload.files), "utf-8")
    (root / "folders.txt").write_text("".join(f"{name}\n" for name in reversed(payload.folders)), "utf-8")
    _even(root)
    _dated(root, payload.epoch)
    packing = "--xz" if shutil.which("xz") else "--gzip"
    date = subprocess.run(
        ["date", "-u", "-d", f"@{payload.epoch}"],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env=_plain(),
    ).stdout.strip()
    command = [
        makeself, packing, "--sha256", "--nox11", "--nocrc", "--nomd5", "--quiet", "--packaging-date", date,
        "--tar-extra", "--sort=name --owner=0 --group=0 --numeric-owner --format=gnu",
        str(root), str(made), payload.title, "sh", "./setup.sh",
    ]  # fmt: skip
    subprocess.run(command, stdout=subprocess.DEVNULL, env=_plain(), check=True)
    return made


def appdir(payload: Payload, folder: Path) -> Path:
    """A folder that appimagetool makes an AppImage of; the tool and its runtime are fetched by the workflow alone."""
    made = folder / payload.file_name(".AppDir")
    shutil.copytree(payload.folder, made / "usr/lib/goldsmith", symlinks=True)
    (made / "usr/bin").mkdir()
    (made / "usr/bin/goldsmith").symlink_to("../lib/goldsmith/goldsmith")
    told(payload, made / "usr/share", "goldsmith")
    (made / "AppRun").write_text(filled("AppRun"), "utf-8")
    (made / "AppRun").chmod(0o755)
    (made / "goldsmith.desktop").symlink_to(f"usr/share/applications/{payload.slug}.desktop")
    shutil.copy(PICTURE, made / f"{payload.slug}.svg")
    (made / ".DirIcon").symlink_to(f"{payload.slug}.svg")
    _even(made)
    _dated(made, payload.epoch)
    return made


def told(payload: Payload, share: Path, command: str) -> None:
    """What tells desktops of the program: its entry and icon, and its kinds of file unless it lies beside another."""
    entry = (DESKTOP / "goldsmith.desktop").read_text("utf-8")
    entry = entry.replace("Exec=goldsmith ", f"Exec={command} ").replace(
        "Icon=goldsmith", f"Icon={payload.slug}"
    )
    entry = entry.replace("Name=Goldsmith", f"Name={payload.title}")
    if payload.beside:
        entry = re.sub(r"(?m)^MimeType=.*\n", "", entry)
    for place in ("applications", "icons/hicolor/scalable/apps"):
        (share / place).mkdir(parents=True)
    (share / "applications" / f"{payload.slug}.desktop").write_text(entry, "utf-8")
    shutil.copy(PICTURE, share / "icons/hicolor/scalable/apps" / f"{payload.slug}.svg")
    if not payload.beside:
        (share / "mime/packages").mkdir(parents=True)
        shutil.copy(DESKTOP / "goldsmith-mime.xml", share / "mime/packages/goldsmith.xml")


def _even(root: Path) -> None:
    """Rights that do not depend on who packs: everybody reads, the owner writes, programs run."""
    for path in [root, *root.rglob("*")]:
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _dated(root: Path, epoch: int) -> None:
    for path in [root, *root.rglob("*")]:
        os.utime(path, (epoch, epoch), follow_symlinks=False)


def _plain() -> dict[str, str]:
    return os.environ | {"LC_ALL": "C", "TZ": "UTC"}
