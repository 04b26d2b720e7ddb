"""What is packed: a folder made with build.spec, the names it goes by, and the kinds of file that it opens."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tomllib
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent
DESKTOP = CHECKOUT / "resources/desktop"
PICTURE = CHECKOUT / "resources/icons/goldsmith.svg"
ICO, ICNS = HERE / "icons/goldsmith.ico", HERE / "icons/goldsmith.icns"
# Where PyInstaller puts the resources of the package.
INSIDE = "_internal/annotator/resources"
_MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


class Refused(Exception):
    """Nothing was made, and why."""


@dataclass(frozen=True)
class FileKind:
    """A kind of file that is opened by double-click."""

    ending: str
    mime: str
    words: str

    @property
    def name(self) -> str:
        """What Windows calls it, as `Goldsmith.Task`."""
        return f"Goldsmith.{self.short.title()}"

    @property
    def short(self) -> str:
        """In one word: project, task or work."""
        return self.ending.removeprefix(".goldsmith").lstrip("-") or "project"


def file_kinds() -> list[FileKind]:
    """The kinds of file, as Linux desktops are told of them."""
    result = []
    for kind in ET.parse(DESKTOP / "goldsmith-mime.xml").getroot():
        glob, comment = kind.find(f"{_MIME}glob"), kind.find(f"{_MIME}comment")
        assert glob is not None
        assert comment is not None
        result.append(FileKind(glob.attrib["pattern"].lstrip("*"), kind.attrib["type"], comment.text or ""))
    return result


def version() -> str:
    """The program's version, from pyproject.toml."""
    return str(tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


@dataclass(frozen=True)
class Payload:
    """A built folder and what it is called; `beside` lies beside another version and leaves file types to that."""

    folder: Path
    version: str = field(default_factory=version)
    beside: bool = False
    machine: str = field(default_factory=lambda: platform.machine().lower())

    @property
    def slug(self) -> str:
        """Its name as a folder, a command and a package."""
        return f"goldsmith-{self.version}" if self.beside else "goldsmith"

    @property
    def title(self) -> str:
        """Its name in menus."""
        return f"Goldsmith {self.version}" if self.beside else "Goldsmith"

    def file_name(self, ending: str) -> str:
        """What a package is called: `Goldsmith-0.1.0-linux-x86_64.deb`."""
        windows = ending.endswith((".exe", ".msi"))
        machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(self.machine, self.machine)
        system = f"windows-{_WINDOWS.get(machine, machine)}" if windows else f"linux-{machine}"
        return f"Goldsmith-{self.version}{'-beside' if self.beside else ''}-{system}{ending}"

    @cached_property
    def files(self) -> list[str]:
        """Every file and link, relative to the folder, in order."""
        return sorted(
            path.relative_to(self.folder).as_posix()
            for path in self.folder.rglob("*")
            if path.is_symlink() or not path.is_dir()
        )

    @cached_property
    def folders(self) -> list[str]:
        """Every folder inside, a folder before those in it."""
        return sorted({str(up) for name in self.files for up in _above(name)})

    @property
    def epoch(self) -> int:
        """The time that is written beside files in packages, so that two of one folder are the same to the byte."""
        program = next(path for path in map(self.folder.joinpath, PROGRAMS) if path.exists())
        return int(os.environ.get("SOURCE_DATE_EPOCH") or program.stat().st_mtime)


PROGRAMS = ("goldsmith", "goldsmith.exe")
_WINDOWS = {"x86_64": "x64", "aarch64": "arm64"}


def _above(name: str) -> list[Path]:
    return [up for up in Path(name).parents if up != Path(".")]


def checked(folder: Path) -> Path:
    """The folder, if it is one that build.spec makes."""
    if not any((folder / name).is_file() for name in PROGRAMS):
        raise Refused(
            f"There is no program in {folder}. Make it with `pyinstaller build.spec`, "
            "or pack a stand-in with --stand-in."
        )
    return folder


def stand_in(folder: Path) -> Path:
    """A small folder of the same shape: a script instead of the program, the real files for desktops."""
    inside = folder / INSIDE
    (inside / "icons").mkdir(parents=True)
    shutil.copytree(DESKTOP, inside / "desktop")
    shutil.copy(PICTURE, inside / "icons")
    for name in ("goldsmith", "goldsmith.exe", "goldsmith-cli.exe"):
        (folder / name).write_text(_SCRIPT, "utf-8")
        (folder / name).chmod(0o755)
    (folder / "_internal/a folder/deeper").mkdir(parents=True)
    (folder / "_internal/a folder/deeper/a name & more.txt").write_text("a stand-in\n", "utf-8")
    if sys.platform != "win32":
        (folder / "_internal/link.txt").symlink_to("a folder/deeper/a name & more.txt")
    return folder


_SCRIPT = """\
#!/bin/sh
if [ "${1:-}" = --selftest ]; then echo '{"ok": true, "parts": []}'; else echo "opened: $*"; fi
"""


def filled(template: str, **values: str) -> str:
    """A template with every `@NAME@` replaced; none may be left or unknown."""
    text = (HERE / "templates" / template).read_text("utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    left = re.findall(r"@[A-Z_]+@", text)
    assert not left, f"{template} has {left}"
    return text


def tool(name: str, package: str) -> str:
    """The path of a program that packing needs."""
    result = shutil.which(name)
    if result is None:
        raise Refused(f"{name} is missing; install {package}.")
    return result
