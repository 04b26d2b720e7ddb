"""How much memory an export takes at its peak: each profile in a process of its own, on projects of growing size.

    python -m benchmarks.export_memory [--judgements N ...] [--letters N] [--profiles N] [--quick]

Goals: at most 300 MB with 150 000 judgements, at most 400 MB with 1 000 000.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from annotator.actions.releases import releases
from benchmarks.measuring import parser, verdict
from tests.projects import filled_project

CRITERIA, SYSTEMS = 15, 10
GOALS = {150_000: 300, 1_000_000: 400}
EXPORT = """
import resource, sys
from pathlib import Path
from annotator.actions.releases import releases
from annotator.actions.project.file import Project
project = Project.open(Path(sys.argv[1]))
releases.export(project, Path(sys.argv[2]), sys.argv[3])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1024 ** 2))
"""


def made(folder: Path, judgements: int, items: int, letters: int) -> Path:
    """A project with so many verdicts; its reports have the real ones' number, and each judge judges them all."""
    path = folder / f"{judgements}.goldsmith"
    source = filled_project.peer_folder(folder / f"peer-{judgements}", items, CRITERIA, SYSTEMS, letters)
    project = filled_project.imported(path, source)
    filled_project.judge_everything(project, -(-judgements // (items * CRITERIA * SYSTEMS)), judgements)
    project.close()
    return path


def peak(project: Path, profile: str, to: Path) -> int:
    """The most memory that a process held which exports the project, in MB."""
    words = [sys.executable, "-c", EXPORT, str(project), str(to), profile]
    done = subprocess.run(words, check=True, capture_output=True, encoding="utf-8")
    return int(done.stdout)


def main() -> int:
    """The peak of each profile at each size; exit code 1 when a goal is missed."""
    options = parser(
        __doc__, judgements=((150_000, 1_000_000), (150,)), items=(65, 2), letters=(18_000, 200),
        profiles=(len(releases.PROFILES), 1),
    ).parse_args()  # fmt: skip
    goals: dict[str, bool | None] = {}
    for judgements in options.judgements:
        goal = next((goal for size, goal in GOALS.items() if judgements <= size), None)
        most = 0
        with tempfile.TemporaryDirectory() as folder:
            project = made(Path(folder), judgements, options.items, options.letters)
            for profile in releases.PROFILES[: options.profiles]:
                started = time.perf_counter()
                most = max(most, result := peak(project, profile, Path(folder) / profile))
                took = time.perf_counter() - started
                print(
                    f"{judgements:,} judgements, {profile}: {result} MB (goal ≤ {goal or '–'}) in {took:.0f} s"
                )
        goals[f"goal at {judgements:,} judgements"] = most <= goal if goal else None
    return verdict(options, goals)


if __name__ == "__main__":
    sys.exit(main())
