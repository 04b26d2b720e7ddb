"""The command `results`: figures of a metric, views, choices, tables in files; the same as the page shows."""

import csv
import json
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.cli import run_command
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


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:  # type: ignore[type-arg]
    assert run_command([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command(list(words)) == 1
    return capsys.readouterr().err


def test_one_metric_over_all_items(file, capsys):
    rows = told(capsys, "results", file, "--metric", "plan.recall", "--by", "all")["rows"]
    assert {row["system"]: row["value"] for row in rows} == {"Alpha": 0.75, "深度": 0.25}
    assert {row["system"]: (row["n"], row["missing"], row["publishable"]) for row in rows} == {
        "Alpha": (2, 0, True), "深度": (2, 2, False),
    }  # fmt: skip


def test_figures_are_grouped_by_subject(file, capsys):
    rows = told(capsys, "results", file, "--metric", "plan.recall", "--by", "subject")["rows"]
    assert {row["group"] for row in rows} == {"NLP", "Vision"}


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
        assert run_command(["results", file, "--view", name]) == 0
        assert command in " ".join(capsys.readouterr().out.split()), name
    words = " ".join(refused(capsys, "results", file, "--view", "nonsense").split())
    assert "Views: overview" in words
    assert "time-limit (a6)" in words


def test_empty_subjects_are_said_to_be_empty(file, capsys):
    with closing(Project.open(Path(file))) as project:
        items.change_all(project, {item: {"subject": ""} for item in items.ids(project)})
    for how in (
        ("--metric", "plan.recall", "--by", "subject"),
        ("--view", "domains", "--metric", "plan.recall"),
    ):
        assert run_command(["results", file, *how]) == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "has a subject yet. Set it: goldsmith items edit" in out
        assert "Choose another" not in out


def test_words_mark_what_is_not_publishable(file, capsys):
    assert run_command(["results", file, "--metric", "plan.recall", "--by", "all"]) == 0
    out = capsys.readouterr().out
    assert "0.2500 (!)" in out
    assert "not publishable" in out


def test_a_rater_is_named_and_an_unknown_one_refused(file, capsys):
    rows = told(capsys, "results", file, "--metric", "plan.f1", "--rater", "tested")["rows"]
    assert {row["rater"] for row in rows} == {"tested"}
    assert "Judges with verdicts: tested." in refused(
        capsys, "results", file, "--metric", "plan.f1", "--rater", "me"
    )


def test_a_view_is_the_page_in_json(file, capsys):
    found = told(capsys, "results", file, "--view", "plan")
    readings, matrix = found["sheets"]
    assert readings["rows"][0]["plan_recall"] == 0.75
    assert matrix["rows"][0] == {
        "predicted": "Step 1", "g1": "relevant", "g2": "relevant", "g3": "not", "g4": "not",
    }  # fmt: skip


def test_a_view_in_words_keeps_every_letter(file, capsys):
    assert run_command(["results", file, "--view", "overview", "--metric", "plan.recall"]) == 0
    out = capsys.readouterr().out
    assert "深度" in out
    # Of the two systems 深度 has a missing cell on each item.
    assert "1 figure is not publishable" in out


def test_what_a_view_lets_choose_is_chosen_by_its_words(file, capsys):
    found = told(capsys, "results", file, "--view", "items", "--choose", "metric=Plan F1 (one-to-one)")
    assert found["chosen"]["metric"] == "plan.f1"
    assert "Its choices are: metric, judge, among." in refused(
        capsys, "results", file, "--view", "items", "--choose", "x=y"
    )
    assert "Write it as NAME=VALUE" in refused(capsys, "results", file, "--view", "items", "--choose", "x")


def test_tables_are_written_to_files(file, tmp_path, capsys):
    assert run_command(["results", file, "--view", "plan", "--to", str(tmp_path / "plan.csv")]) == 0
    assert "plan.csv, plan-matrix.csv" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "plan.csv").read_text("utf-8-sig").splitlines()))
    assert [row["system"] for row in rows] == ["Alpha", "深度"] * 2


def test_a_view_with_nothing_to_show_says_what_to_do(file, capsys):
    assert run_command(["results", file, "--view", "wins"]) == 0
    assert "nothing to show yet. Have a judge compare reports in pairs." in capsys.readouterr().out


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
    assert run_command(["results", str(tmp_path / "adra.goldsmith")]) == 0
    assert "goldsmith judge run" in capsys.readouterr().out
