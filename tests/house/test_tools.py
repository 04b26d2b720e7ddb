"""The tools that read the code find nothing to say."""

import os
import subprocess
import sys

import pytest

from tests.house.reading import HERE


@pytest.mark.parametrize(
    "words",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        # It takes a minute where `.mypy_cache` is empty, and a few seconds from then on.
        pytest.param(("mypy",), marks=pytest.mark.slow),
    ],
    ids=" ".join,
)
def test_a_tool_has_nothing_to_say(words: tuple[str, ...]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=HERE, env=environment, capture_output=True, encoding="utf-8", check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
