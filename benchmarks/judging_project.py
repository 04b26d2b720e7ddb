"""The project that the judging benchmark judges: reports of about the real ones' size, 20 criteria to each item."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from annotator.actions.judges import judges
from tests.projects import filled_project

HERE = Path(__file__).resolve().parents[1]
AT_ONCE = 32
SYSTEMS, CRITERIA, LETTERS = 2, 20, 7_000


def goldsmith(*words: str) -> list[str]:
    return [sys.executable, "-m", "annotator", *words]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.environ.get("PYTHONPATH") or str(HERE)}


def called(*words: str) -> bytes:
    """What a command prints; its error ends the benchmark."""
    done = subprocess.run(
        goldsmith(*words), check=False, capture_output=True, env=environment(), cwd=tempfile.gettempdir()
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode() or done.stdout.decode())
    return done.stdout


def judge_words(project: Path) -> list[str]:
    """`judge run` over all reports."""
    return ["judge", "run", str(project), "--judge", "fast", "--concurrency", str(AT_ONCE)]


def made_project(folder: Path, url: str, items: int) -> Path:
    """Two systems' reports on so many items, and a judge at an address; no two reports are alike."""
    source = filled_project.peer_folder(folder / "made", items, CRITERIA, SYSTEMS, LETTERS)
    project = filled_project.imported(folder / "bench.goldsmith", source)
    judges.add(project, "fast", base_url=url, model="test-model")
    project.close()
    return project.path
