"""The command `results`: figures of a metric, views, choices, tables in files and on the screen."""

import csv
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.cli import results
from tests.cli.commands import printed, refused, told
from tests.projects import adra_project as adra


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A plan that finds 3 of 4 and one that finds 1 of 4 with a missing cell; both systems on two items."""
    project = adra.adra_project(tmp_path, 2, ("Alpha", "深度"))
    for item in items.ids(project):
        adra.fill_matrix(project, item, adra.response_of(item), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
        adra.fill_matrix(project, item, adra.response_of(item, "深度"), [[1, 0, 0, 0], [0, 0, 0, None]])
    project.close()
    return str(tmp_path / "adra.goldsmith")


def test_one_metric_is_told_by_rater_with_what_is_not_publishable(file, capsys):
    rows = told(capsys, "results", file, "--metric", "plan.recall", "--by", "all")["rows"]
    assert {row["system"]: row["value"] for row in rows} == {"Alpha": 0.75, "深度": 0.25}
    assert {row["system"]: (row["n"], row["missing"], row["publishable"]) for row in rows} == {
        "Alpha": (2, 0, True), "深度": (2, 2, False),
    }  # fmt: skip
    out = printed(capsys, "results", file, "--metric", "plan.recall", "--by", "all")
    assert "0.2500 (!)" in out
    assert "not publishable" in out
    rows = told(capsys, "results", file, "--metric", "plan.f1", "--rater", "tested")["rows"]
    assert {row["rater"] for row in rows} == {"tested"}
    assert "Judges with verdicts: tested." in refused(
        capsys, "results", file, "--metric", "plan.f1", "--rater", "me"
    )


def test_an_empty_table_says_what_to_do_and_an_unknown_one_what_there_is(file, capsys):
    wanted = {
        "time-limit": "goldsmith respond FILE --cutoff",
        "recent-sources": "goldsmith sources describe FILE --item KEY --published",
        "isolated-planning": "goldsmith respond FILE --mode isolated",
        "r3": "goldsmith judge extract FILE --judge NAME --extraction researcherbench.claims.extract",
        "wins-table": "goldsmith judge run FILE --judge NAME --protocol researcherbench.pairwise",
        "windows": "goldsmith judge run FILE --judge baseline",
    }
    for name, command in wanted.items():
        assert command in " ".join(printed(capsys, "results", file, "--view", name).split()), name
    words = " ".join(refused(capsys, "results", file, "--view", "nonsense").split())
    assert "overview, items, wins" in words
    assert "time-limit (a6)" in words


def test_empty_subjects_are_said_to_be_empty(file, capsys):
    with closing(Project.open(Path(file))) as project:
        items.change_all(project, {item: {"subject": ""} for item in items.ids(project)})
    for how in (
        ("--metric", "plan.recall", "--by", "subject"),
        ("--view", "domains", "--metric", "plan.recall"),
    ):
        out = " ".join(printed(capsys, "results", file, *how).split())
        assert "has a subject yet. Set it: goldsmith items edit" in out
        assert "Choose another" not in out


def test_a_view_is_chosen_told_and_written(file, capsys, tmp_path):
    readings, matrix = told(capsys, "results", file, "--view", "plan")["sheets"]
    assert readings["rows"][0]["plan_recall"] == 0.75
    assert matrix["rows"][0] == {
        "predicted": "Step 1", "g1": "relevant", "g2": "relevant", "g3": "not", "g4": "not",
    }  # fmt: skip
    result = told(capsys, "results", file, "--view", "items", "--choose", "metric=Plan F1 (one-to-one)")
    assert result["chosen"]["metric"] == "plan.f1"
    assert "Its choices are: metric, judge, among." in refused(
        capsys, "results", file, "--view", "items", "--choose", "x=y"
    )
    assert "Write it as NAME=VALUE" in refused(capsys, "results", file, "--view", "items", "--choose", "x")
    assert "plan.csv, plan-matrix.csv" in printed(
        capsys, "results", file, "--view", "plan", "--to", str(tmp_path / "plan.csv")
    )
    rows = list(csv.DictReader((tmp_path / "plan.csv").read_text("utf-8-sig").splitlines()))
    assert [row["system"] for row in rows] == ["Alpha", "深度"] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "weather"], "Use one of all, type, subject, phase, difficulty, aspect, mode."),
        (["--view", "weather"], "There is no view “weather”."),
        (["--metric", "weather"], "There is no metric “weather”."),
        (["--protocol", "weather"], "There is no protocol “weather”."),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(file, capsys, words, said):
    assert said in refused(capsys, "results", file, *words)


def test_without_judgements_the_command_says_what_to_run(tmp_path, capsys):
    adra.adra_project(tmp_path).close()
    assert "goldsmith judge run" in printed(capsys, "results", str(tmp_path / "adra.goldsmith"))


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


def table_printed(monkeypatch: pytest.MonkeyPatch, width: int, stay: int) -> str:
    console = Console(width=width)
    monkeypatch.setattr(results, "said", console)
    with console.capture() as captured:
        results.print_table("Title", HEADS, ROWS, stay=stay)
    return captured.get()


@pytest.mark.parametrize("width", [60, 80, 120, 300])
def test_no_word_is_cut_and_no_cell_is_lost(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    words = table_printed(monkeypatch, width, 2).split()
    for text in (*HEADS, *(cell for row in ROWS for cell in row)):
        assert set(text.split()) <= set(words)


@pytest.mark.parametrize(("width", "tables_there"), [(300, 1), (60, 2)])
def test_further_columns_stand_behind_those_that_name_a_line(
    monkeypatch: pytest.MonkeyPatch, width: int, tables_there: int
) -> None:
    said = table_printed(monkeypatch, width, 2)
    assert said.count("Module") == said.count("Larkmoor") == said.count("Pendrel") == tables_there
    assert said.count("Title") == 1
