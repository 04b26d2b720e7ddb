"""The rooms keep to their contracts, and each contract bites when it is broken."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]

# Contract, the module that breaks it, and what that module says.
VIOLATIONS = (
    ("rooms", "domain/planted.py", "from annotator.storage import store"),
    ("rooms", "storage/planted.py", "from annotator.exchange import texts"),
    ("rooms", "actions/planted.py", "def later():\n    from annotator.gui import theme"),
    ("rooms", "newroom/__init__.py", ""),
    ("window", "gui/planted.py", "from annotator.storage import store"),
    ("window", "gui/planted.py", "from annotator.protocols import PROTOCOLS"),
    ("window", "gui/planted.py", "import sqlmodel"),
    ("qt", "actions/planted.py", "from PySide6.QtCore import QObject"),
    ("qt", "stats/planted.py", "def later():\n    import PySide6.QtGui"),
    ("qt", "selftest.py", "from PySide6.QtWidgets import QApplication"),
    ("openai", "gui/planted.py", "def later():\n    import openai"),
    ("openai", "selftest.py", "from openai import AsyncOpenAI"),
    ("sessions", "judging/planted.py", "from sqlalchemy.orm import Session"),
    ("sessions", "domain/planted.py", "import sqlalchemy"),
    ("sqlite", "actions/planted.py", "import sqlite3"),
    ("sqlite", "selftest.py", "def later():\n    import sqlite3"),
    ("actions", "actions/items/planted.py", "from annotator.actions.releases import releases"),
    ("actions", "actions/newsubject/__init__.py", ""),
    ("gui", "gui/widgets/planted.py", "def later():\n    from annotator.gui.session import page"),
    ("gui", "gui/newroom/__init__.py", ""),
    (
        "circles",
        "actions/project/document_checks.py",
        "def later():\n    from annotator.actions.project import backups",
    ),
    ("papers", "protocols/planted.py", "from annotator.protocols import researcherbench"),
    ("papers", "protocols/lexical.py", "from annotator.protocols import researcherbench"),
)


def lint(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Hold the package that lies in a folder against the contracts written there."""
    linter = "import sys; from importlinter.cli import lint_imports_command as run; sys.exit(run())"
    return subprocess.run(
        [sys.executable, "-c", linter, "--no-cache", *words],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root), "COLUMNS": "200"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_the_rooms_keep_to_every_contract() -> None:
    result = lint(HERE)
    assert result.returncode == 0, result.stdout
    assert f"{len(CONTRACTS)} kept, 0 broken" in result.stdout


def test_each_planted_violation_breaks_its_contract(tmp_path: Path) -> None:
    """All of them are planted into one copy, beside what stands there."""
    apart = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE / "annotator", tmp_path / "annotator", ignore=apart)
    shutil.copy(HERE / "pyproject.toml", tmp_path)
    for _, place, words in VIOLATIONS:
        planted = tmp_path / "annotator" / place
        planted.parent.mkdir(exist_ok=True)
        with planted.open("a", encoding="utf-8") as file:
            file.write(f"\n{words}\n")
    said = lint(tmp_path).stdout
    broken = {one["id"]: said.partition(f"\n{one['name']}\n---")[2] for one in CONTRACTS}
    for (name, place), times in Counter((name, place) for name, place, _ in VIOLATIONS).items():
        *folders, stem = place.removesuffix(".py").removesuffix("/__init__").split("/")
        module = f".{stem} -> " if name == "circles" else ".".join(("- annotator", *folders, stem))
        told = re.sub(" +", " ", broken[name].partition("\n---")[0])
        assert told.count(module) >= times, f"{name}: {place}\n{said}"


def test_every_contract_has_a_violation_that_is_tried() -> None:
    assert {contract["id"] for contract in CONTRACTS} == {contract for contract, *_ in VIOLATIONS}
