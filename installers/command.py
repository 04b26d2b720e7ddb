"""`python3 start.py package KIND --to FOLDER`: make an installer of a folder that build.spec made."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from installers import gates, linux, windows
from installers.payload import CHECKOUT, Payload, Refused, checked, stand_in

KINDS: dict[str, Callable[[Payload, Path], Path]] = {
    "deb": linux.deb,
    "run": linux.run,
    "appdir": linux.appdir,
    "nsis": windows.nsis,
    "msi": windows.msi,
}
SUMS = "SHA256SUMS"


def main(words: list[str]) -> int:
    """Make one package, or check a folder; exit code 1 and a line that says why when there is none."""
    asked = _parser().parse_args(words)
    try:
        with tempfile.TemporaryDirectory() as folder:
            payload = Payload(_folder(asked, Path(folder)), beside=asked.beside)
            if asked.kind == "check":
                check(payload.folder, asked.most)
            else:
                print(package(asked.kind, payload, asked.to))
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as error:
        print(f"{Path(error.cmd[0]).name} failed and says why above; nothing was made.", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    known = argparse.ArgumentParser(prog="start.py package", description=__doc__)
    known.add_argument(
        "kind", choices=[*KINDS, "check"], help="what to make; `check` looks at size, glibc and libraries"
    )
    known.add_argument("--to", type=Path, default=Path("."), help="where the package and SHA256SUMS go")
    known.add_argument(
        "--from", dest="source", type=Path, help="the built folder; dist/goldsmith unless given"
    )
    known.add_argument("--stand-in", action="store_true", help="pack a small made folder, to try packing")
    known.add_argument(
        "--beside", action="store_true", help="to lie beside another version; leaves it the files"
    )
    known.add_argument(
        "--most", type=float, default=240.0, help="the largest size in MB that `check` accepts"
    )
    return known


def _folder(asked: argparse.Namespace, temporary: Path) -> Path:
    if asked.stand_in:
        return stand_in(temporary / "goldsmith")
    return checked((asked.source or CHECKOUT / "dist/goldsmith").resolve())


def package(kind: str, payload: Payload, to: Path) -> Path:
    """The package, put in place when it is finished, and its line in SHA256SUMS."""
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to, prefix=".packing-") as folder:
        made = KINDS[kind](payload, Path(folder).resolve())
        place = to / made.name
        if place.is_dir():
            shutil.rmtree(place)
        os.replace(made, place)
    sums(to)
    return place


def sums(folder: Path) -> None:
    """Write the checksums of all packages in a folder, as `sha256sum --check` reads them."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
        for path in sorted(folder.glob("Goldsmith-*"))
        if path.is_file()
    ]
    (folder / SUMS).write_text("".join(lines), "utf-8", newline="\n")


def check(folder: Path, most: float) -> None:
    """Refuse a folder that is too large, that asks for too new a system, or for what is not there."""
    result = (gates.too_large(folder, most), gates.too_new(folder), gates.left_behind(folder))
    faults = [fault for fault in result if fault]
    if faults:
        raise Refused("; ".join(faults))
