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
from tests.house.planted import kind_walk

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
# The steps of docs/extending.md towards a kind of one's own, and the lines of this program below which its lines go.
TOLD = re.compile(r"## A kind of your own\n(.*?)\n## ", re.DOTALL)
CODE = re.compile(r"```python\n(.*?)```", re.DOTALL)
BELOW = {
    "kind.py": ('    INSIGHTS = "insights"\n',),
    "documents.py": ("    insights,\n", "        insights.SPEC,\n"),
}
GUIDELINE = "Say why one would ask.\n\n## strength\n\n1 is a whim; 5 is the only reason there is.\n"


def of_the_program(copy: Path) -> Path:
    for folder in ("annotator", "resources", "schemas"):
        shutil.copytree(reading.HERE / folder, copy / folder)
    if sys.pycache_prefix:
        # What is compiled lies elsewhere, and would be compiled again for the copy.
        compiled = Path(sys.pycache_prefix)
        shutil.copytree(
            compiled / reading.HERE.relative_to(reading.HERE.anchor) / "annotator",
            compiled / copy.relative_to(copy.anchor) / "annotator",
            dirs_exist_ok=True,
        )
    return copy


def with_kind(folder: Path) -> Path:
    """A copy of the program with the kind as docs/extending.md says it is planted."""
    copy = of_the_program(folder)
    told = TOLD.search((reading.HERE / "docs/extending.md").read_text("utf-8"))
    assert told is not None
    file, names, table, guideline, schema = re.split(r"^\d\. ", told[1], flags=re.MULTILINE)[1:]
    (code,) = CODE.findall(file)
    (copy / quoted(file)[0]).write_text(textwrap.dedent(code).strip() + "\n", "utf-8")
    line, *_, path = quoted(names)
    (enums,) = BELOW["kind.py"]
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
    result = subprocess.run(
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
    assert result.returncode == 0, result.stderr
    return result.stdout


def touched(copy: Path) -> set[str]:
    """The files that the copy has anew or otherwise; what Python keeps for itself apart."""
    result = [path for path in copy.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    theirs = {path.relative_to(copy): path for path in result}
    own = {name: reading.HERE / name for name in theirs}
    return {
        name.as_posix()
        for name, path in theirs.items()
        if not own[name].is_file() or not filecmp.cmp(path, own[name], shallow=False)
    }


def plant_paper(copy: Path) -> None:
    shutil.copy(PLANTED / "paper.py", copy / "annotator/protocols/planted.py")
    shutil.copy(PLANTED / "layout.py", copy / "annotator/exchange/formats/planted.py")
    for prompt in PLANTED.glob("*.md"):
        shutil.copy(prompt, copy / "resources/prompts")
    for name, lines in LINES.items():
        put(copy / name, lines)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_planted_kind_and_a_planted_paper_and_layout_are_worked_with_by_their_lines_in_tables(
    tmp_path: Path,
) -> None:
    copy = with_kind(tmp_path / "copy")
    assert {name for name in touched(copy) if not name.startswith("schemas/")} == {
        "annotator/domain/kinds/motives.py",
        "annotator/domain/kinds/kind.py",
        "annotator/domain/kinds/documents.py",
        "resources/guidelines/motives.md",
    }
    plant_paper(copy)
    work = [tmp_path / "kind", tmp_path / "paper"]
    for folder in work:
        folder.mkdir()
    wrong = json.loads(run(copy, PLANTED / "kind_walk.py", *work))
    assert wrong == [dict.fromkeys(kind_walk.STEPS, ""), dict.fromkeys(kind_walk.PAPER_STEPS, "")]
