"""What the program imports is not among what the bundle leaves out."""

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.reading import HERE

SPEC = ast.parse((HERE / "build.spec").read_text("utf-8"))


def named(name: str) -> ast.expr:
    return next(
        node.value
        for node in SPEC.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == name
    )


def strings(node: ast.AST) -> list[str]:
    return [
        one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]


# An import as the formatter writes it, wherever in a module; its names may stand on lines of their own.
IMPORT = re.compile(r"^ *(?:from ([\w.]+) )?import (?:\(([^)]*)\)|(.*))", re.MULTILINE)


def imported(path: Path) -> set[str]:
    """All that a module imports; of `from a import b` both `a` and `a.b`."""
    result: set[str] = set()
    for module, lines, line in IMPORT.findall(path.read_text("utf-8")):
        names = {name.split()[0] for name in (lines or line).split(",") if name.strip()}
        result |= {module, *(f"{module}.{name}" for name in names)} if module else names
    return result


def left_out(name: str, excluded: list[str]) -> bool:
    """Whether a module, or what it lies in, is left out."""
    return any(name == one or name.startswith(f"{one}.") for one in excluded)


@pytest.fixture(scope="module")
def ours() -> list[str]:
    return sorted(set().union(*map(imported, (HERE / "annotator").rglob("*.py"))))


def test_no_module_that_the_program_imports_is_left_out(ours: list[str]) -> None:
    excluded = strings(named("EXCLUDED"))
    assert "tkinter" in excluded
    assert [name for name in ours if left_out(name, excluded)] == []


def test_no_module_that_the_program_imports_is_taken_for_unused(ours: list[str]) -> None:
    pattern = re.compile("".join(strings(named("UNUSED_MODULES"))))
    assert pattern.match("pydantic.v1")
    assert [name for name in ours if pattern.match(name)] == []


def test_no_library_of_qt_that_the_program_imports_is_left_behind(ours: list[str]) -> None:
    pattern = re.compile(named_pattern())
    modules = {name.split(".")[1].removeprefix("Qt") for name in ours if name.startswith("PySide6.Qt")}
    assert "Widgets" in modules
    for module in modules:
        for library in (
            f"PySide6/Qt/lib/libQt6{module}.so.6",
            f"PySide6/Qt6{module}.dll",
            f"PySide6/Qt{module}.abi3.so",
        ):
            assert not pattern.search(library), library
    assert pattern.search("PySide6/Qt/lib/libQt6Sql.so.6")


def named_pattern() -> str:
    """The pattern of what is not carried along, as the spec joins it."""
    (call,) = [node for node in ast.walk(named("UNNEEDED")) if isinstance(node, ast.Tuple)]
    return "|".join(strings(call))


@pytest.mark.parametrize("words", ["import pydoc_data.topics", "from PySide6 import QtTest"])
def test_an_import_of_what_is_left_out_is_found(words: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(f"def f():\n    {words}\n", "utf-8")
    assert any(left_out(name, strings(named("EXCLUDED"))) for name in imported(planted))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    result = subprocess.run(command, cwd=HERE, capture_output=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stderr
    (wheel,) = folder.glob("goldsmith-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def shipped(folder: str) -> set[str]:
    """The files of a folder of the checkout, as they are called inside the package."""
    return {
        f"annotator/{path.relative_to(HERE).as_posix()}"
        for path in (HERE / folder).rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def test_the_wheel_holds_every_module_and_shipped_file_and_no_tests_or_databases(names: set[str]) -> None:
    modules = {path.relative_to(HERE).as_posix() for path in (HERE / "annotator").rglob("*.py")}
    assert "annotator/storage/migrations.py" in modules
    assert modules | shipped("resources") | shipped("schemas") <= names
    assert not [name for name in names if name.startswith("tests/") or name.endswith(".goldsmith")]
