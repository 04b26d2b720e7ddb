"""A paper and a layout planted into a copy of the program are worked with, with no line changed but their tables'."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import reading
from tests.house.planted import walk

PLANTED = Path(__file__).parent / "planted"
# What each table says, and what it says with one more paper, and with one more layout.
LINES = {
    "annotator/protocols/__init__.py": {
        "import adra, researcherbench\n": "import adra, planted, researcherbench\n",
        "adra.PAPER)\n": "adra.PAPER, planted.PAPER)\n",
    },
    "annotator/exchange/formats/layouts.py": {
        "import human_files, researcherbench\n": "import human_files, planted, researcherbench\n",
        "    for layout in (\n": "    for layout in (\n        planted.PLANTED,\n",
    },
}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What went wrong in each step, in a copy with the paper, its prompts and its line in the table."""
    copy, work = tmp_path_factory.mktemp("copy"), tmp_path_factory.mktemp("work")
    for folder in ("annotator", "resources", "schemas"):
        shutil.copytree(reading.HERE / folder, copy / folder)
    shutil.copy(PLANTED / "paper.py", copy / "annotator/protocols/planted.py")
    shutil.copy(PLANTED / "layout.py", copy / "annotator/exchange/formats/planted.py")
    for prompt in PLANTED.glob("*.md"):
        shutil.copy(prompt, copy / "resources/prompts")
    for name, lines in LINES.items():
        table = (copy / name).read_text("utf-8")
        for line, planted in lines.items():
            assert line in table
            table = table.replace(line, planted)
        (copy / name).write_text(table, "utf-8")
    found = subprocess.run(
        [sys.executable, PLANTED / "walk.py", work],
        env=os.environ | {"PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen"},
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout)


@pytest.mark.parametrize("step", walk.STEPS)
def test_what_is_planted_is_worked_with(wrong: dict[str, str], step: str) -> None:
    assert wrong[step] == ""
