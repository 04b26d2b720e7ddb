"""A tiny prompt, and the odd server while a test needs it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judging.odd_server import BatchServer, OddServer, at_work


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text = "# system\nJudge the report.\n\n# user\nCriterion: {{criterion}}\nReport: {{report}}\n"
    (tmp_path / "tiny.md").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        yield server


@pytest.fixture
def provider() -> Iterator[BatchServer]:
    with at_work(BatchServer()) as server:
        yield server
