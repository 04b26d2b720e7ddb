"""How much memory an export takes at its peak: each profile in a process of its own, on projects of growing size.

    python -m tests.benchmarks.export_memory [--judgements N ...] [--quick]

Goals: at most 300 MB with 150 000 judgements, at most 400 MB with 1 000 000.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from annotator.actions import releases
from tests import judged_project

SIZES, QUICK = (150_000, 1_000_000), (10_000,)
ITEMS, CRITERIA, SYSTEMS = 65, 15, 10
UNITS = ITEMS * CRITERIA * SYSTEMS
GOALS = {150_000: 300, 1_000_000: 400}
EXPORT = """
import resource, sys
from pathlib import Path
from annotator.actions import releases
from annotator.actions.project import Project
project = Project.open(Path(sys.argv[1]))
releases.export(project, Path(sys.argv[2]), sys.argv[3])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1024 ** 2))
"""


def made(folder: Path, judgements: int) -> Path:
    """A project with so many verdicts; its reports have the real ones' number, and each judge judges them all."""
    path = folder / f"{judgements}.goldsmith"
    source = judged_project.peer_folder(folder / f"peer-{judgements}", ITEMS, CRITERIA, SYSTEMS, 18_000)
    project = judged_project.imported(path, source)
    judged_project.judge_everything(project, -(-judgements // UNITS), judgements)
    project.close()
    return path


def peak(project: Path, profile: str, to: Path) -> int:
    """The most memory that a process held which exports the project, in MB."""
    words = [sys.executable, "-c", EXPORT, str(project), str(to), profile]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return int(done.stdout)


def main() -> int:
    """The peak of each profile at each size; exit code 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--judgements", type=int, nargs="+", default=SIZES)
    parser.add_argument("--quick", action="store_true", help="one small project")
    options = parser.parse_args()
    met = True
    for judgements in QUICK if options.quick else options.judgements:
        goal = next((goal for size, goal in GOALS.items() if judgements <= size), 0)
        with tempfile.TemporaryDirectory() as folder:
            project = made(Path(folder), judgements)
            for profile in releases.PROFILES:
                started = time.perf_counter()
                found = peak(project, profile, Path(folder) / profile)
                took = time.perf_counter() - started
                print(f"{judgements:,} judgements, {profile}: {found} MB (goal ≤ {goal}) in {took:.0f} s")
                met = met and (not goal or found <= goal)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
