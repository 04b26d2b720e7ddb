"""A paper, a layout and a kind planted into a copy of the program are worked with: their tables alone name them."""

import filecmp
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.house import reading
from tests.house.planted import kind_walk, walk

PLANTED = Path(__file__).parent / "planted"
# What each table says, and what it says with one more paper, and with one more layout.
LINES = {
    "annotator/protocols/__init__.py": {
        "import adra, arena, deepscholar,": "import adra, arena, deepscholar, planted,",
        "arena.PAPER)\n": "arena.PAPER, planted.PAPER)\n",
    },
    "annotator/exchange/formats/layouts.py": {
        "import arena_tasks, deepscholar, human_files,": "import arena_tasks, deepscholar, human_files, planted,",
        "    for layout in (\n": "    for layout in (\n        planted.PLANTED,\n",
    },
}
# The README's steps towards a kind of one's own, and the lines of this program below which its lines go.
TOLD = re.compile(r"### A kind of your own\n(.*?)\n### ", re.DOTALL)
BELOW = {
    "artifact.py": ('    INSIGHTS = "insights"\n',),
    "documents.py": ("    labels,\n", "        insights.SPEC,\n"),
}
GUIDELINE = "Say why one would ask.\n\n## strength\n\n1 is a whim; 5 is the only reason there is.\n"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with the kind as the README says it is planted."""
    copy = tmp_path_factory.mktemp("copy")
    for folder in ("annotator", "resources", "schemas"):
        shutil.copytree(reading.HERE / folder, copy / folder)
    told = TOLD.search((reading.HERE / "README.md").read_text("utf-8"))
    assert told is not None
    file, names, table, guideline, schema = re.split(r"^\d\. ", told[1], flags=re.MULTILINE)[1:]
    lines = [line for line in file.splitlines()[2:] if line.startswith(" " * 8) or not line]
    (copy / quoted(file)[0]).write_text(textwrap.dedent("\n".join(lines)).strip() + "\n", "utf-8")
    line, *_, path = quoted(names)
    (enums,) = BELOW["artifact.py"]
    put(copy / path, {enums: f"{enums}    {line}\n"}, times=2)
    name, path, line, *_ = quoted(table)
    imported, specs = BELOW["documents.py"]
    put(copy / path, {imported: f"{imported}    {name},\n", specs: f"{specs}        {line}\n"})
    (copy / quoted(guideline)[0]).write_text(GUIDELINE, "utf-8")
    run(copy, *quoted(schema)[0].split()[1:])
    assert (copy / quoted(schema)[1]).is_file()
    return copy


def quoted(words: str) -> list[str]:
    return re.findall(r"`([^`]+)`", words)


def put(path: Path, lines: dict[str, str], times: int = 1) -> None:
    text = path.read_text("utf-8")
    for line, planted in lines.items():
        assert text.count(line) == times
        text = text.replace(line, planted)
    path.write_text(text, "utf-8")


def run(copy: Path, *words: object) -> str:
    found = subprocess.run(
        [sys.executable, *map(str, words)],
        env=os.environ
        | {
            "PYTHONPATH": f"{copy}{os.pathsep}{reading.HERE}",
            "QT_QPA_PLATFORM": "offscreen",
            "XDG_CONFIG_HOME": str(copy),
        },
        cwd=copy,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def touched(copy: Path) -> set[str]:
    """The files that the copy has anew or otherwise; what Python keeps for itself apart."""
    found = [path for path in copy.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    theirs = {path.relative_to(copy): path for path in found}
    own = {name: reading.HERE / name for name in theirs}
    return {
        name.as_posix()
        for name, path in theirs.items()
        if not own[name].is_file() or not filecmp.cmp(path, own[name], shallow=False)
    }


@pytest.fixture(scope="module")
def changed(copy: Path) -> set[str]:
    return touched(copy)


@pytest.fixture(scope="module")
def kind_wrong(copy: Path, changed: set[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    found: dict[str, str] = json.loads(run(copy, PLANTED / "kind_walk.py", tmp_path_factory.mktemp("kind")))
    return found


@pytest.fixture(scope="module")
def wrong(copy: Path, kind_wrong: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What went wrong in each step, with the paper, its prompts, the layout and their lines in the tables."""
    shutil.copy(PLANTED / "paper.py", copy / "annotator/protocols/planted.py")
    shutil.copy(PLANTED / "layout.py", copy / "annotator/exchange/formats/planted.py")
    for prompt in PLANTED.glob("*.md"):
        shutil.copy(prompt, copy / "resources/prompts")
    for name, lines in LINES.items():
        put(copy / name, lines)
    found: dict[str, str] = json.loads(run(copy, PLANTED / "walk.py", tmp_path_factory.mktemp("work")))
    return found


def test_a_kind_is_a_file_two_lines_of_names_and_one_of_a_table(changed: set[str]) -> None:
    assert {name for name in changed if not name.startswith("schemas/")} == {
        "annotator/domain/kinds/motives.py",
        "annotator/domain/kinds/artifact.py",
        "annotator/domain/kinds/documents.py",
        "resources/guidelines/motives.md",
    }


@pytest.mark.parametrize("step", kind_walk.STEPS)
def test_a_planted_kind_is_worked_with(kind_wrong: dict[str, str], step: str) -> None:
    assert kind_wrong[step] == ""


@pytest.mark.parametrize("step", walk.STEPS)
def test_what_is_planted_is_worked_with(wrong: dict[str, str], step: str) -> None:
    assert wrong[step] == ""
