"""What a built folder must keep to before it is packed: its size, the oldest system, and no library left behind."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

MB = 1_000_000
# RHEL 9, Ubuntu 22.04 and Debian 12: the oldest that PySide6 runs on.
GLIBC = (2, 34)
# What the packages that a .deb depends on bring (templates/control), by the names that libraries ask for.
PROMISED = {
    "libc6": "libc libm libdl libpthread librt libutil libresolv ld-linux-x86-64 ld-linux-aarch64",
    "libgl1": "libGL libGLX libGLdispatch libOpenGL",
    "libegl1": "libEGL",
    "libxcb1": "libxcb",
    "libwayland-cursor0": "libwayland-cursor libwayland-client",
    "libwayland-egl1": "libwayland-egl",
}
_ASKED = re.compile(r"GLIBC_(\d+)\.(\d+)")


def size(folder: Path) -> int:
    """The bytes of a folder's files; what is linked to counts once."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def too_large(folder: Path, most: float) -> str | None:
    """Why the folder is refused for its size in MB."""
    result = size(folder) / MB
    print(f"size: {result:.1f} MB, at most {most:.0f}")
    return None if result <= most else f"{result:.1f} MB are more than {most:.0f}"


def too_new(folder: Path) -> str | None:
    """Why the folder is refused for what it asks of the C library; built on a newer system it cannot do better."""
    asked = glibc(folder)
    if asked is None:
        print("glibc: skipped, objdump is missing (binutils)")
        return None
    wanting = {path.relative_to(folder).as_posix(): least for path, least in asked.items() if least > GLIBC}
    print(f"glibc: {'.'.join(map(str, max(asked.values(), default=(0, 0))))} asked for by {len(asked)} files")
    own = _numbers(platform.libc_ver()[1])
    if wanting and own > GLIBC:
        print(f"glibc: not judged, because this system has {'.'.join(map(str, own))} itself")
        return None
    if wanting:
        return f"more than glibc {'.'.join(map(str, GLIBC))} is asked for by {', '.join(wanting)}"
    return None


def glibc(folder: Path) -> dict[Path, tuple[int, ...]] | None:
    """The glibc that each library of the folder asks for; None where nothing can tell."""
    if shutil.which("objdump") is None:
        return None
    return {path: newest(path) for path in sorted(folder.rglob("*")) if _is_elf(path)}


def newest(path: Path) -> tuple[int, ...]:
    """The newest version of glibc that a library asks for."""
    words = subprocess.run(
        ["objdump", "-T", str(path)], capture_output=True, encoding="utf-8", check=False
    ).stdout
    return max((_numbers(".".join(result)) for result in _ASKED.findall(words)), default=(0, 0))


def left_behind(folder: Path) -> str | None:
    """Which libraries are asked for that neither the folder nor a system with the packages' dependencies has.

    The build says no word of it when the machine it runs on lacks one, and the self-test needs no screen.
    """
    if shutil.which("objdump") is None:
        print("libraries: skipped, objdump is missing (binutils)")
        return None
    result = sorted(path for path in folder.rglob("*") if _is_elf(path))
    there = {path.name for path in folder.rglob("*")}
    promised = {name for names in PROMISED.values() for name in names.split()}
    asked: dict[str, list[str]] = {}
    for path in result:
        place = path.relative_to(folder).as_posix()
        for library in _libraries(path) - there:
            if library.partition(".so")[0] not in promised:
                asked.setdefault(library, []).append(place)
    print(f"libraries: {len(result)} files ask for {len(asked)} that are not there")
    words = "; ".join(f"{library} for {', '.join(places)}" for library, places in sorted(asked.items()))
    return f"left behind by the build, whose machine lacks them: {words}" if words else None


def _libraries(path: Path) -> set[str]:
    """The libraries that a file asks the system for by itself."""
    words = subprocess.run(
        ["objdump", "-p", str(path)], capture_output=True, encoding="utf-8", check=False
    ).stdout
    return set(re.findall(r"^\s*NEEDED\s+(\S+)$", words, re.M))


def _is_elf(path: Path) -> bool:
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
