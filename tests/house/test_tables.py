"""Tables have keys for programs beside their titles for people, so that changed words break nobody's script."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import SheetColumn
from annotator.cli import run_command

KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# Commands that print tables; views of papers are looked at in stories/test_every_table.
COMMANDS = (
    ("results",), ("results", "--view", "overview"), ("results", "--view", "items"), ("validate",), ("choose-judge",),
    ("correct",), ("bias",), ("agreement",),
)  # fmt: skip


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
