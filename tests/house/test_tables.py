"""Tables have keys for programs beside their titles for people, so that changed words break nobody's script."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import SheetColumn
from annotator.cli import run_command
from tests.house import reading

KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Commands that print tables, with what they need of the sample.
COMMANDS = (
    *(("results", "--view", view.name) for view in paper_tables.VIEWS),
    ("results",),
    ("validate",),
    ("choose-judge",),
    ("correct",),
    ("bias",),
    ("agreement",),
)
# What the sample has nothing of.
LACKING = {
    "contest",
    "key-points",
    "preferences",
    "modes",
    "runs",
    "windows",
    "leakage",
    "exemplar-references",
}


def faults(source: str) -> list[str]:
    return [f"{node.lineno}: {fault}" for node in ast.walk(ast.parse(source)) for fault in _faults(node)]


def _faults(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Name(id="columns"), args=declared):
            tuples = [one.elts for one in declared if isinstance(one, ast.Tuple)]
            keys = [_literal(one[0]) for one in tuples]
            yield from (f"“{key}” twice" for key in {key for key in keys if key and keys.count(key) > 1})
            yield from (fault for one in tuples for fault in _key_faults(one))
            yield from (
                f"{ast.unparse(one)} is a caption" for one in declared if isinstance(one, ast.Constant)
            )
        case ast.Call(func=ast.Name(id="ResultSheet" | "SheetColumn"), args=[_, _, *_] as given):
            yield from _key_faults(given)


def _key_faults(given: list[ast.expr]) -> Iterator[str]:
    key, title = _literal(given[0]), _literal(given[1])
    if key is not None and not KEY.fullmatch(key):
        yield f"“{key}” is no key"
    if title == "":
        yield f"“{key}” has no title"


def _literal(given: ast.expr) -> str | None:
    return given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None


def tables(tree: Any) -> Iterator[dict[str, Any]]:
    """Every table in what a command printed."""
    if isinstance(tree, dict):
        if "rows" in tree:
            yield tree
        for one in tree.values():
            yield from tables(one)
    elif isinstance(tree, list):
        for one in tree:
            yield from tables(one)


def test_every_declared_column_and_table_has_a_key_and_a_title() -> None:
    users = [
        path
        for path in reading.files("annotator")
        if "result_sheets" in path.read_text("utf-8") or path.stem == "result_sheets"
    ]
    assert len(users) > 20
    found = [f"{reading.name(path)}:{fault}" for path in users for fault in faults(path.read_text("utf-8"))]
    # A pane that has nothing to show yet shows a table without a name.
    assert [one for one in found if "gui/" not in one] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('columns("System")', ["1: 'System' is a caption"]),
        ('columns(("System", "System"))', ["1: “System” is no key"]),
        ('columns(("a", "A"), ("a", "B"))', ["1: “a” twice"]),
        ('ResultSheet("Two judges", title, heads, lines)', ["1: “Two judges” is no key"]),
        ('SheetColumn("n", "")', ["1: “n” has no title"]),
        ('columns(("won_by", "Won by"), SYSTEM, (key_of(name), name))', []),
    ],
)
def test_a_caption_for_a_key_would_be_seen(source: str, found: list[str]) -> None:
    assert faults(source) == found


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_a_command_prints_has_keys_and_each_key_a_title(
    words: tuple[str, ...], whole_sample: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    command, *options = words
    path = str(whole_sample.path)
    whole_sample.close()
    assert run_command([command, path, *options, "--json"]) == 0
    found = list(tables(json.loads(capsys.readouterr().out)))
    assert len({table.get("key") for table in found}) == len(found)
    for table in found:
        titles = {one["key"]: one["title"] for one in table["columns"]}
        assert len(titles) == len(table["columns"])
        for row in table["rows"]:
            assert list(row) == list(titles)
        for key, title in titles.items():
            assert KEY.fullmatch(key), key
            assert title
    assert bool(found) is (words[-1] not in LACKING)


def test_a_columns_unit_stands_with_its_title_and_not_in_its_key() -> None:
    assert SheetColumn("latency", "Latency", unit="s", beside="n = 3").head == "Latency (s), n = 3"
