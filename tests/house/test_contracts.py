"""The rooms keep to their contracts, and each contract bites when it is broken."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

HERE = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((HERE / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]

# Contract, the module that breaks it, and what that module says.
VIOLATIONS = (
    ("rooms", "domain/planted.py", "from annotator.storage import search"),
    ("rooms", "storage/planted.py", "from annotator.exchange import reading"),
    ("rooms", "actions/planted.py", "def later():\n    from annotator.gui import theme"),
    ("rooms", "newroom/__init__.py", ""),
    ("window", "gui/planted.py", "from annotator.storage import search"),
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
    ("gui", "gui/widgets/planted.py", "def later():\n    from annotator.gui.desk import page"),
    ("gui", "gui/newroom/__init__.py", ""),
    (
        "circles",
        "actions/project/people.py",
        "def later():\n    from annotator.actions.project import drafts",
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


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(
        HERE / "annotator", tmp_path / "annotator", ignore=shutil.ignore_patterns("__pycache__", "planted*")
    )
    shutil.copy(HERE / "pyproject.toml", tmp_path)
    return tmp_path


def test_the_rooms_keep_to_every_contract() -> None:
    found = lint(HERE)
    assert found.returncode == 0, found.stdout
    assert f"{len(CONTRACTS)} kept, 0 broken" in found.stdout


@pytest.mark.parametrize(("contract", "place", "words"), VIOLATIONS, ids=lambda value: value.split("\n")[0])
def test_a_planted_violation_breaks_its_contract(copy: Path, contract: str, place: str, words: str) -> None:
    planted = copy / "annotator" / place
    planted.parent.mkdir(exist_ok=True)
    planted.write_text(words + "\n", "utf-8")
    found = lint(copy, "--contract", contract)
    assert found.returncode == 1, found.stdout
    assert "0 kept, 1 broken" in found.stdout
    assert planted.stem in found.stdout or planted.parent.name in found.stdout


def test_every_contract_has_a_violation_that_is_tried() -> None:
    assert {contract["id"] for contract in CONTRACTS} == {contract for contract, *_ in VIOLATIONS}
