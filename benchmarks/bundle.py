"""How large the bundle is and how fast it starts, beside an unfiltered one and beside the program's own environment.

    python -m benchmarks.bundle [--unfiltered] [--to FOLDER] [--quick]

Run it with the Python of an environment made by `pip install ".[bundle]"`. Goal 2: the bundle's window comes to its
first idle within 1.25 times of the same program started from that environment. Goal 3: at most 0.75 times the size of
a build that leaves nothing out (made too with `--unfiltered`), and below 200 MB. The bundle must pass its self-test.
With `--quick` nothing is built or tested: folders of 2 and 4 MB stand for the two builds, and the environment's own
program for the one that starts.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import parser, verdict
from benchmarks.start import STOPWATCH, medians, to_idle

HERE = Path(__file__).parents[1]
PROGRAM = "goldsmith.exe" if os.name == "nt" else "goldsmith"
FROM_HERE = (sys.executable, "-m", "annotator")
MB = 1_000_000


def built(folder: Path, *, filtered: bool) -> Path:
    environment = dict(os.environ) if filtered else os.environ | {"GOLDSMITH_UNFILTERED": "1"}
    where = ["--distpath", str(folder / "dist"), "--workpath", str(folder / "work")]
    command = [
        sys.executable,
        "-m",
        "PyInstaller",
        "--noconfirm",
        "--log-level",
        "ERROR",
        *where,
        "build.spec",
    ]
    subprocess.run(command, cwd=HERE, env=environment, check=True)
    return folder / "dist" / "goldsmith"


def size(folder: Path) -> int:
    """The bytes of a folder's files; what is linked to counts once."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def stand_in(folder: Path, megabytes: int) -> Path:
    """A folder of that size, where none is built."""
    folder.mkdir(parents=True)
    (folder / "library").write_bytes(bytes(megabytes * MB))
    return folder


def starts(program: tuple[str, ...], rounds: int) -> bool:
    """Time both ways to start; whether goal 2 is met."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {STOPWATCH: "1", "HOME": folder, "XDG_CONFIG_HOME": folder, "APPDATA": folder}
        project = str(Path(folder) / "sample.goldsmith")
        subprocess.run([*program, "sample", project], capture_output=True, check=True)
        sides = {
            "bundle": lambda: to_idle(*program, project),
            "environment": lambda: to_idle(*FROM_HERE, project),
        }
        result = medians(sides, rounds)
    ratio = result["bundle"] / result["environment"]
    print(*(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in result.items()), sep=", ")
    print(f"  {ratio:.2f} times the environment's start (goal ≤ 1.25)")
    return ratio <= 1.25


def sizes(ours: Path, whole: Path | None) -> dict[str, bool | None]:
    """Compare sizes; whether each part of goal 3 is met."""
    small = {"goal 3 in MB": size(ours) < 200 * MB}
    print(f"bundle {size(ours) / MB:.1f} MB (goal < 200)")
    if whole is None:
        return small | {"beside an unfiltered build": None}
    ratio = size(ours) / size(whole)
    print(f"  {ratio:.2f} times an unfiltered build of {size(whole) / MB:.1f} MB (goal ≤ 0.75)")
    return small | {"beside an unfiltered build": ratio <= 0.75}


def tried(bundle: Path) -> bool:
    """Whether the bundle passes its own test."""
    result = subprocess.run([str(bundle / PROGRAM), "--selftest"], capture_output=True, check=False)
    parts = json.loads(result.stdout)["parts"]
    failed = [f"{part['name']}: {part['detail']}" for part in parts if not part["ok"]]
    print(f"self-test: {len(parts) - len(failed)} of {len(parts)} parts", *failed, sep="\n  ")
    return not failed


def main() -> int:
    """Build and measure; exit code 1 when a goal is missed or the self-test fails."""
    known = parser(__doc__, rounds=(8, 1))
    known.add_argument(
        "--unfiltered", action="store_true", help="build the bundle that leaves nothing out, too"
    )
    known.add_argument("--to", type=Path, help="where to build; a temporary folder unless given")
    options = known.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as temporary:
        folder, goals = Path(temporary), dict[str, bool | None]()
        if options.quick:
            program, ours, whole = FROM_HERE, stand_in(folder / "ours", 2), stand_in(folder / "whole", 4)
        else:
            folder = options.to or folder
            ours = built(folder / "filtered", filtered=True)
            whole = built(folder / "unfiltered", filtered=False) if options.unfiltered else None
            program = (str(ours / PROGRAM),)
            goals["self-test"] = tried(ours)
        goals |= sizes(ours, whole) | {"goal 2": starts(program, options.rounds)}
    return verdict(options, goals)


if __name__ == "__main__":
    sys.exit(main())
