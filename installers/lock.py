"""`python -m installers.lock`: what the bundle is built of on every system, to the version and hash, in lock.txt.

pip resolves for a system that it does not run on, but reads conditions such as `sys_platform == "win32"` as if for its
own; so they are read here, and what they add is asked for by name.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from installers.payload import CHECKOUT, Refused

LOCK = CHECKOUT / "installers/lock.txt"
PYTHON = "3.12"
# Extensions of pip's names for a system: every older glibc, and every older macOS by pip itself.
_GLIBC = {"x86_64": (34, 28, 27, 26, 24, 17, 12, 5), "aarch64": (39, 34, 31, 28, 27, 26, 24, 17)}


@dataclass(frozen=True)
class System:
    """A system that is built for: how pip, how conditions name it."""

    platforms: tuple[str, ...]
    sys_platform: str
    machine: str

    @property
    def environment(self) -> dict[str, str]:
        """What conditions of requirements ask after."""
        named = {"win32": ("Windows", "nt"), "darwin": ("Darwin", "posix"), "linux": ("Linux", "posix")}
        system, os_name = named[self.sys_platform]
        return {
            "sys_platform": self.sys_platform, "platform_system": system, "os_name": os_name,
            "platform_machine": self.machine, "python_version": PYTHON, "python_full_version": f"{PYTHON}.0",
            "platform_python_implementation": "CPython", "implementation_name": "cpython",
        }  # fmt: skip

    @property
    def condition(self) -> str:
        """The condition that holds here and on no other of the systems."""
        return f"sys_platform == '{self.sys_platform}' and platform_machine == '{self.machine}'"


def _linux(machine: str) -> System:
    names = tuple(f"manylinux_2_{minor}_{machine}" for minor in _GLIBC[machine])
    return System((*names, f"manylinux2014_{machine}"), "linux", machine)


SYSTEMS = (
    _linux("x86_64"),
    _linux("aarch64"),
    System(("win_amd64",), "win32", "AMD64"),
    System(("macosx_13_0_arm64", "macosx_13_0_universal2"), "darwin", "arm64"),
    System(("macosx_13_0_x86_64", "macosx_13_0_universal2"), "darwin", "x86_64"),
)


@dataclass(frozen=True)
class Wheel:
    """A wheel that pip would take, and what it requires itself."""

    version: str
    sha256: str
    requires: tuple[str, ...]


def asked() -> list[Requirement]:
    """What pyproject.toml asks for, and what makes the bundle."""
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    return [
        Requirement(words)
        for words in [*project["dependencies"], *project["optional-dependencies"]["bundle"]]
    ]


def needed(system: System, wheels: dict[str, Wheel]) -> tuple[set[str], list[str]]:
    """The names that are needed on a system, as far as wheels tell, and requirements that none of them meets."""
    result: set[tuple[str, str]] = set()
    missing, waiting = [], [(requirement, "") for requirement in asked()]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate(system.environment | {"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name not in wheels:
            missing.append(f"{requirement.name}{requirement.specifier}")
            continue
        for own in {"", *requirement.extras} - {known for seen, known in result if seen == name}:
            result.add((name, own))
            waiting += [(Requirement(words), own) for words in wheels[name].requires]
    return {name for name, _ in result}, sorted(set(missing))


def resolved(system: System, known: dict[str, Wheel]) -> dict[str, Wheel]:
    """The wheels of a system, in the versions that are known of others already."""
    result = {} if known else _reported(system, [str(one) for one in asked() if one.marker is None])
    while True:
        names, missing = needed(system, known | result)
        wanted = [f"{name}=={known[name].version}" for name in sorted(names - result.keys())] + missing
        if not wanted:
            return {name: result[name] for name in names}
        result |= _reported(system, wanted, "--no-deps")


def _reported(system: System, words: Iterable[str], *options: str) -> dict[str, Wheel]:
    """What pip would install."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            sys.executable, "-m", "pip", "install", "-qq", "--dry-run", "--ignore-installed", "--only-binary=:all:",
            "--target", folder, "--python-version", PYTHON, "--implementation", "cp", "--report", str(report),
            *(f"--platform={name}" for name in system.platforms), *options, *words,
        ]  # fmt: skip
        if subprocess.run(command, check=False).returncode:
            raise Refused(f"pip finds no set of wheels for {system.platforms[0]}; it says why above.")
        told = json.loads(report.read_text("utf-8"))["install"]
    return {
        canonicalize_name(one["metadata"]["name"]): Wheel(
            one["metadata"]["version"],
            one["download_info"]["archive_info"]["hashes"]["sha256"],
            tuple(one["metadata"].get("requires_dist", ())),
        )
        for one in told
    }


def written(wheels: dict[System, dict[str, Wheel]]) -> str:
    """The lock: every package with its version, where it is needed, and the hash of each system's wheel."""
    lines = ["# Made by `python -m installers.lock`; for `pip install --require-hashes -r`.\n"]
    for name in sorted({name for of_one in wheels.values() for name in of_one}):
        of = {system: result[name] for system, result in wheels.items() if name in result}
        where = "" if len(of) == len(wheels) else f" ; {' or '.join(one.condition for one in of)}"
        hashes = sorted({wheel.sha256 for wheel in of.values()})
        (version,) = {wheel.version for wheel in of.values()}
        lines.append(
            f"{name}=={version}{where}" + "".join(f" \\\n    --hash=sha256:{one}" for one in hashes) + "\n"
        )
    return "".join(lines)


def main() -> int:
    """Resolve for every system, each in the versions of those before, and write the lock; 1 where one has none."""
    wheels: dict[System, dict[str, Wheel]] = {}
    known: dict[str, Wheel] = {}
    try:
        for system in SYSTEMS:
            wheels[system] = resolved(system, known)
            known |= wheels[system]
    except Refused as refusal:
        print(refusal, file=sys.stderr)
        return 1
    LOCK.write_text(written(wheels), "utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
