"""The tools that read the code find nothing to say."""

import os
import subprocess
import sys

import pytest

from tests.house.reading import HERE


def run(*words: str) -> tuple[int, str]:
    """Run a tool over the checkout; its exit code and what it said."""
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    found = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=HERE,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return found.returncode, found.stdout + found.stderr


def test_ruff_has_nothing_to_say() -> None:
    code, words = run("ruff", "check", ".")
    assert code == 0, words


def test_everything_is_formatted() -> None:
    code, words = run("ruff", "format", "--check", ".")
    assert code == 0, words


@pytest.mark.slow
def test_every_type_holds() -> None:
    code, words = run("mypy")
    assert code == 0, words
