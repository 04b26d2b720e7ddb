"""The project that the judging benchmark judges: reports of about the real ones' size, 20 criteria to each item."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from annotator.actions.imports import imports
from annotator.actions.judges import judges
from annotator.actions.project.people import new_project

HERE = Path(__file__).resolve().parents[1]
AT_ONCE = 32
SYSTEMS = ("first", "second")
CRITERIA = 20


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
    project = new_project(folder / "bench.goldsmith")
    imports.run(project, "researcherbench", [_reports(folder / "made", items)], warm=False)
    judges.add(project, "fast", base_url=url, model="test-model")
    project.close()
    return project.path


def _reports(folder: Path, items: int) -> Path:
    """Questions, rubrics and reports in the ResearcherBench layout; no two reports are alike."""
    (folder / "responses").mkdir(parents=True)
    questions = [
        {"id": n, "category": "Open Consulting", "Subject": "AI", "question": f"What is known of matter {n}?"}
        for n in range(1, items + 1)
    ]
    rubrics = [
        {
            "id": n,
            "question": questions[n - 1]["question"],
            "rubric": [{"point": f"Explains point {c} of matter {n}", "weight": 2} for c in range(CRITERIA)],
        }
        for n in range(1, items + 1)
    ]
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    (folder / "rubric.json").write_text(json.dumps(rubrics), encoding="utf-8")
    for system in SYSTEMS:
        reports = [
            {"id": q["id"], "question": q["question"], "response": f"The {system} on {q['question']} " * 150}
            for q in questions
        ]
        (folder / "responses" / f"{system}.json").write_text(json.dumps(reports), encoding="utf-8")
    return folder
