"""The command on agreement: rows in words and in JSON, the reason of what is undefined, the inputs, and who may ask."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotator.actions.project.file import Project
from annotator.cli.agreement import app
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

ADA = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2))
BEN = (("Explains how carbon is priced", 3), ("Lists species of moss", 2))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One item with rubrics of both and labels of both, where everybody says yes; Cora worked last."""
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.rubric(ADA, "a"), "Ben": pairs.rubric(BEN, "b")})
    labels = pairs.labels(pairs.add_report(project), {"a1": "yes", "a2": "yes"})
    pairs.submit(project, {"Ada": labels, "Ben": labels})
    pairs.work_as(project, "Cora").close()
    return project.path


def said(*words: object) -> str:
    """What the command prints; what it raises is raised."""
    found = CliRunner().invoke(
        app, [str(word) for word in words], catch_exceptions=False, env={"COLUMNS": "80"}
    )
    assert found.exit_code == 0, found.output
    return found.output


def told(*words: object) -> dict:
    return json.loads(said(*words, "--json"))


def aliases(file: Path) -> dict[str, str]:
    project = Project.open(file, readonly=True)
    try:
        return {name: pairs.person(project, name).alias for name in pairs.ROLES}
    finally:
        project.close()


def test_rows_come_as_json_with_null_and_the_reason(file: Path) -> None:
    found = told(file)
    assert [(row["stage"], row["field"], row["n"]) for row in found["rows"]] == [
        ("rubric", "units", 1), ("rubric", "weight", 1), ("labelling", "value", 2),
    ]  # fmt: skip
    figures = {figure["name"]: figure for figure in found["rows"][2]["figures"]}
    assert (figures["agreement"]["value"], figures["kappa"]["value"]) == (1, None)
    assert figures["kappa"]["reason"].startswith("both raters used one category only")
    assert (found["self_agreement"], found["first_votes"], found["inputs"]) == ([], [], None)


def test_f1_is_that_of_one_match_among_two_and_two(file: Path) -> None:
    (f1,) = told(file, "--stage", "rubric")["rows"][0]["figures"]
    assert (f1["name"], f1["value"]) == ("match_f1", 0.5)


def test_words_give_the_reason_in_the_place_of_the_figure_and_cut_nothing_off(file: Path) -> None:
    out = said(file)
    assert "Match F1 0.50" in out
    assert "–  both raters used one" in out
    assert "…" not in out
    assert "nan" not in out.lower()


@pytest.mark.parametrize("by", ["stage", "pair", "person", "criterion", "item", "week", "guideline"])
def test_every_grouping_is_offered(file: Path, by: str) -> None:
    rows = told(file, "--by", by)["rows"]
    assert {row["by"] for row in rows} == {by}


def test_people_appear_by_alias(file: Path) -> None:
    rows = told(file, "--by", "person")["rows"]
    alias = aliases(file)
    assert {row["group"] for row in rows} == {alias["Ada"], alias["Ben"]}
    assert "Ada" not in said(file, "--by", "person")


def test_an_unknown_grouping_is_refused(file: Path) -> None:
    with pytest.raises(Refusal, match="cannot be grouped by “moon”"):
        said(file, "--by", "moon")


def test_an_unknown_stage_is_wrong_usage(file: Path) -> None:
    assert CliRunner().invoke(app, [str(file), "--stage", "moon"]).exit_code == 2


def test_the_inputs_are_written_as_csv_and_json(file: Path, tmp_path: Path) -> None:
    found = told(file, "--to", tmp_path / "inputs")
    assert found["inputs"]["files"] == ["SHA256SUMS", "agreement-inputs.csv", "agreement.json"]
    table = (tmp_path / "inputs" / "agreement-inputs.csv").read_text("utf-8-sig")
    values = [
        (row["value_a"], row["value_b"])
        for row in csv.DictReader(io.StringIO(table))
        if row["field"] == "value"
    ]
    assert values == [("yes", "yes")] * 2


def test_somebody_else_may_be_at_work_for_one_command(file: Path) -> None:
    alias = aliases(file)
    with pytest.raises(Refusal, match="shown to a coordinator"):
        said(file, "--as", alias["Ada"])
    assert told(file, "--as", alias["Cora"])["rows"]


def test_nothing_frozen_says_what_must_happen_first(tmp_path: Path) -> None:
    project = pairs.pairs_project(tmp_path)
    project.close()
    assert "No agreement is frozen yet" in said(project.path)
    assert told(project.path)["rows"] == []


def test_a_grouping_without_rows_says_so(file: Path) -> None:
    assert "grouped by criterion" in said(file, "--stage", "rubric", "--by", "criterion")


def test_the_file_is_only_read(file: Path) -> None:
    before = file.read_bytes()
    said(file)
    assert file.read_bytes() == before
