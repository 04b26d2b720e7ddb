"""Tables of the command line: every word stays whole, whatever the width of the terminal."""

import pytest
from rich.console import Console

from annotator.cli import tables

HEADS = [
    "Module",
    "System",
    "Technical details: accuracy",
    "Precision (one-to-one)",
    "Recall (one-to-one)",
    "F1",
]
ROWS = [
    ["Planning", "Larkmoor", "0.571 missing", "0.615", "0.889", "0.727"],
    ["Reasoning", "Pendrel", "–", "1", "1", "1"],
]


def printed(monkeypatch: pytest.MonkeyPatch, width: int, stay: int) -> str:
    console = Console(width=width)
    monkeypatch.setattr(tables, "said", console)
    with console.capture() as captured:
        tables.print_table("Title", HEADS, ROWS, stay=stay)
    return captured.get()


@pytest.mark.parametrize("width", [60, 80, 120, 300])
def test_no_word_is_cut_and_no_cell_is_lost(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    words = printed(monkeypatch, width, 2).split()
    for text in (*HEADS, *(cell for row in ROWS for cell in row)):
        assert set(text.split()) <= set(words)


@pytest.mark.parametrize(("width", "tables_there"), [(300, 1), (60, 2)])
def test_further_columns_stand_behind_those_that_name_a_line(
    monkeypatch: pytest.MonkeyPatch, width: int, tables_there: int
) -> None:
    said = printed(monkeypatch, width, 2)
    assert said.count("Module") == said.count("Larkmoor") == said.count("Pendrel") == tables_there
    assert said.count("Title") == 1
