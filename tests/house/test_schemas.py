"""Published schemas are those of the record classes, tables have keys, and the bundle holds what is imported."""

import ast
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import SheetColumn
from annotator.cli import run_command
from annotator.exchange import schemas
from annotator.places import schemas as folder
from tests.house.reading import HERE
from tests.material.bundles import rich_bundle, write_release

SAMPLE = Path(__file__).parents[2] / "exports" / "sample"


def schema(name: str) -> Any:
    return json.loads((folder() / f"{name}.json").read_text("utf-8"))


def check(tree: Any, name: str) -> None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.Draft202012Validator(schema(name), format_checker=checker).validate(tree)


def test_the_committed_schemas_are_those_of_the_classes() -> None:
    assert {path.name: path.read_bytes() for path in folder().glob("*.json")} == schemas.all_schemas(), (
        "run `python -m annotator.exchange.schemas`"
    )


def test_writing_takes_out_a_schema_that_is_no_longer_made(tmp_path: Path) -> None:
    (tmp_path / "gone.json").write_text("{}", "utf-8")
    schemas.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == schemas.all_schemas().keys()


@pytest.mark.parametrize("path", sorted(folder().glob("*.json")), ids=lambda path: path.stem)
def test_every_schema_is_valid_itself(path: Path) -> None:
    tree = json.loads(path.read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(tree)
    assert tree["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("exported", ["written", "committed"])
def test_exported_files_fit_the_schemas(tmp_path: Path, exported: str) -> None:
    """One of everything but the work in pairs, and the sample, which has it."""
    release = write_release(tmp_path / "out") if exported == "written" else SAMPLE
    checked = 0
    for path in {*release.rglob("*.json")} - {release / "croissant.json"}:
        tree = json.loads(path.read_text("utf-8"))
        check(tree, path.parent.name if path.parent != release else path.stem)
        if path.parent.name == "artifacts":
            for record in tree:
                check(record["document"], f"document-{record['kind']}")
        checked += 1
    assert checked == {"written": 17, "committed": 29}[exported]
    assert rich_bundle().counts()["artifacts"] == 2


def test_a_schema_refuses_what_the_classes_refuse() -> None:
    tree = {"units": [{"id": "c", "text": "x", "weight": 4000}]}
    with pytest.raises(jsonschema.ValidationError, match="4000 is greater than the maximum"):
        check(tree, "document-rubric")
    with pytest.raises(jsonschema.ValidationError, match="Additional properties"):
        check([{"id": "i", "key": "k", "question": "q", "mood": 1}], "items")


KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Commands that print tables; views of papers are looked at in stories/test_every_table.
COMMANDS = (
    ("results",), ("results", "--view", "overview"), ("results", "--view", "items"), ("validate",), ("choose-judge",),
    ("correct",), ("bias",), ("agreement",),
)  # fmt: skip


def tables(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        if "rows" in tree:
            yield tree
        for one in tree.values():
            yield from tables(one)
    elif isinstance(tree, list):
        for one in tree:
            yield from tables(one)


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_a_command_prints_has_keys_and_each_key_a_title(
    words: tuple[str, ...], whole_sample: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = words
    path = str(whole_sample.path)
    whole_sample.close()
    assert run_command([command, path, *options, "--json"]) == 0
    result = list(tables(json.loads(capsys.readouterr().out)))
    assert len({table.get("key") for table in result}) == len(result)
    for table in result:
        titles = {one["key"]: one["title"] for one in table["columns"]}
        assert len(titles) == len(table["columns"])
        for row in table["rows"]:
            assert list(row) == list(titles)
        for key, title in titles.items():
            assert KEY.fullmatch(key), key
            assert title
    assert result


def test_a_columns_unit_stands_with_its_title_and_not_in_its_key() -> None:
    assert SheetColumn("latency", "Latency", unit="s", beside="n = 3").head == "Latency (s), n = 3"


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
    # As the spec joins what is not carried along.
    (parts,) = [node for node in ast.walk(named("UNNEEDED")) if isinstance(node, ast.Tuple)]
    pattern = re.compile("|".join(strings(parts)))
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


@pytest.mark.parametrize("words", ["import pydoc_data.topics", "from PySide6 import QtTest"])
def test_an_import_of_what_is_left_out_is_found(words: str, tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text(f"def f():\n    {words}\n", "utf-8")
    assert any(left_out(name, strings(named("EXCLUDED"))) for name in imported(planted))


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
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
