"""Files and functions stay small, say what they are, and leave nothing for later."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.house import reading

LONGEST_FILE, LONGEST_FUNCTION, MOST_METHODS, LONGEST_WINDOW = 400, 60, 20, 300
MOST_MODULES, MOST_IN_ACTIONS = 20, 15
# What may be longer, and why.
LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS = {
    "annotator/storage/migrations/versions/0001_first.py:_tables": "a migration is a list of tables, written once",
}
# What may catch everything, and why.
BROAD: dict[str, str] = {}
LATER = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError)\b")
ALL = [
    *reading.files("annotator", "installers", "tests"),
    reading.HERE / "start.py",
    reading.HERE / "conftest.py",
]
OURS = [*reading.files("annotator", "installers"), reading.HERE / "start.py"]


def test_only_listed_files_are_long() -> None:
    long = {reading.name(path) for path in ALL if reading.lines(path) > LONGEST_FILE}
    assert long == set(LONG_FILES)


def test_only_listed_functions_are_long() -> None:
    long = {
        f"{reading.name(path)}:{function}"
        for path in ALL
        for function, length in reading.functions(path)
        if length > LONGEST_FUNCTION
    }
    assert long == set(LONG_FUNCTIONS)


def test_classes_have_few_public_methods() -> None:
    found = {
        f"{reading.name(path)}:{cls}": count for path in OURS for cls, count in reading.public_methods(path)
    }
    assert {cls: count for cls, count in found.items() if count > MOST_METHODS} == {}


def test_folders_hold_few_modules() -> None:
    held = Counter(path.parent for path in ALL if path.name != "__init__.py")
    crowded = {reading.name(folder): count for folder, count in held.items() if count > _most(folder)}
    assert crowded == {}


def _most(folder: Path) -> int:
    return MOST_IN_ACTIONS if folder.is_relative_to(reading.HERE / "annotator/actions") else MOST_MODULES


def test_the_main_window_is_short() -> None:
    assert reading.lines(reading.HERE / "annotator/gui/shell/window.py") < LONGEST_WINDOW


def test_every_module_says_what_it_is() -> None:
    silent = [reading.name(path) for path in OURS if not reading.docstring(path)]
    assert silent == []


def test_nothing_catches_everything() -> None:
    found = {reading.name(path) for path in OURS if reading.broad_excepts(path.read_text("utf-8"))}
    assert found == set(BROAD)


@pytest.mark.parametrize("caught", ["", " Exception", " BaseException as error", " (OSError, Exception)"])
def test_a_broad_except_would_be_seen(caught: str) -> None:
    assert reading.broad_excepts(f"try:\n    act()\nexcept{caught}:\n    pass\n") == [3]


def test_a_narrow_except_is_let_be() -> None:
    assert reading.broad_excepts("try:\n    act()\nexcept (OSError, ValueError):\n    pass\n") == []


def test_nothing_is_left_for_later() -> None:
    found = [reading.name(path) for path in OURS if LATER.search(path.read_text("utf-8"))]
    assert found == []


def test_no_module_is_a_drawer_for_odds_and_ends() -> None:
    names = {part for path in ALL for part in (path.stem, *path.parent.parts)}
    assert not names & {"utils", "util", "helpers", "misc", "common"}
