"""Validation, rulings, reviews and agreement from the command line."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from annotator.actions.items import items
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.cli import results
from tests.cli.commands import printed, refused, told
from tests.projects import adra_project as adra, pairs_project as pairs
from tests.projects.validation_project import (
    JUDGE,
    ann,
    judge_says,
    person_says,
    strict,
    validation_project,
    verdicts_project,
)


@pytest.fixture
def file(tmp_path: Path) -> str:
    return str(validation_project(tmp_path).path)


def filled(file: str, *people: str) -> None:
    """What people and two judges say; the set is locked where there is one."""
    project = Project.open(Path(file))
    for alias in people:
        person_says(project, alias, ann)
    judge_says(project, "good", ann)
    judge_says(project, "small", strict)


def test_a_set_is_drawn_labelled_locked_and_validated_on(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("sets", "draw", file, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    looked = told(capsys, *words, "--dry-run")
    assert (looked["dry_run"], looked["units"], len(looked["responses"])) == (True, 16, 8)
    assert told(capsys, *words)["responses"] == looked["responses"]
    assert "are missing" in refused(capsys, "sets", "lock", file, "Spring")
    filled(file, "R2", "R3")
    assert "until then no judge is shown" in refused(capsys, "validate", file, "--set", "Spring")
    assert told(capsys, "sets", "lock", file, "Spring")["labels"] == 32
    printed(capsys, "validate", file, "--set", "Spring")
    told(capsys, "validate", file, "--set", "Spring", "--part", "test")
    (result,) = told(capsys, "sets", "list", file)["sets"]
    assert (result["openings"], result["lacking"]) == (1, [])


def test_a_set_is_compared_by_its_own_protocol(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "sets", "draw", file, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    filled(file, "R2", "R3")
    told(capsys, "sets", "lock", file, "Spring")
    monkeypatch.setattr(label_cases, "usual", lambda _: "adra.plan")
    for command in ("validate", "choose-judge", "rule", "card --judge good"):
        name, *options = command.split()
        printed(capsys, name, file, *options, "--set", "Spring")
        refused(capsys, name, file, *options)


def test_what_there_is_not_is_refused_in_words(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(file, "R2")
    for option, value, said in (
        ("--by", "mood", "cannot be broken down by “mood”"),
        ("--judge", "nobody", "nobody"),
        ("--against", "R9", "“R9” is not an id or alias"),
        ("--positive", "perhaps", "is not a value"),
        ("--set", "Autumn", "There is no validation set “Autumn”"),
    ):
        assert said in refused(capsys, "validate", file, option, value)


def test_a_judge_is_chosen_scores_are_corrected_and_tables_written(
    file: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    filled(file, "R2")
    result = told(capsys, "choose-judge", file, "--figure", "accuracy", "--delta", "0.5")
    # What judging cost is not known, so that nothing is the cheapest.
    answers = [one["answer"] for one in result["answers"]]
    assert (result["chosen"], answers) == (None, ["Not yet known", "Not yet known"])
    assert [row["judge"] for row in result["sheets"][0]["rows"]] == ["good", "small"]
    assert "cannot be chosen by “beauty”" in refused(capsys, "choose-judge", file, "--figure", "beauty")
    result = told(capsys, "correct", file, "--judge", "small")
    rows = {row["system"]: row for row in result["sheets"][0]["rows"]}
    # The judge misses a light criterion of every item of Alpha's: 3/4 raw, and by people everything.
    assert (rows["Alpha"]["raw"], rows["Alpha"]["corrected"], rows["Beta"]["corrected"]) == (0.75, 1.0, 0.0)
    printed(capsys, "correct", file)
    to = ("--to", tmp_path / "v.csv")
    result = told(capsys, "validate", file, "--judge", "small", "--against", "R2", *to)
    assert "v-weighted.csv" in result["files"]
    (row,) = csv.DictReader((tmp_path / "v-weighted.csv").read_text("utf-8-sig").splitlines())
    assert (row["rater"], row["accuracy"], row["accuracy_n"]) == ("small", "0.875", "16")


@pytest.fixture
def ruled(tmp_path: Path) -> str:
    return str(verdicts_project(tmp_path, filling=1).path)


def test_a_file_rules_on_all_of_it_or_on_nothing(ruled: str, tmp_path: Path, capsys: Any) -> None:
    cases = [one["case"] for one in told(capsys, "rule", ruled, "--judge", JUDGE)["disagreements"]]
    listed = [{"case": case, "say": "person wrong"} for case in cases[:2]]
    path = tmp_path / "rulings.json"
    path.write_text(json.dumps([*listed, {"case": cases[2], "say": "nobody"}]), "utf-8")
    assert "“nobody” is not a valid value here." in refused(
        capsys, "rule", ruled, "--judge", JUDGE, "--from", str(path)
    )
    assert told(capsys, "rule", ruled, "--judge", JUDGE)["ruled"] == 0
    path.write_text(json.dumps(listed), "utf-8")
    assert told(capsys, "rule", ruled, "--judge", JUDGE, "--from", str(path))["ruled"] == 2


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"case": "a"}]', '[{"case": "a", "say": "b", "x": ""}]', "?"]
)
def test_a_file_that_does_not_fit_is_refused(ruled: str, tmp_path: Path, text: str, capsys: Any) -> None:
    path = tmp_path / "rulings.json"
    path.write_text(text, "utf-8")
    refused(capsys, "rule", ruled, "--from", path)


def test_verdicts_are_reviewed_by_an_expert(ruled: str, capsys: Any) -> None:
    result = told(capsys, "review", ruled, "--judge", JUDGE, "--as", "R3", "--order", "weight")
    assert (result["of"], result["blind"]) == (14, 0)
    assert "Canary" not in json.dumps(result)
    case = result["verdicts"][0]["case"]
    given = ("--case", case, "--say", "disagree", "--reason", "other")
    verdicts = told(capsys, "review", ruled, "--judge", JUDGE, "--as", "R3", *given)["verdicts"]
    assert [(one["said"], one["reason"]) for one in verdicts if one["said"]] == [("disagree", "other")]
    assert "given together" in refused(capsys, "review", ruled, "--judge", JUDGE, "--case", case)


def test_an_unclear_criterion_is_worded_anew_and_queued(ruled: str, capsys: Any) -> None:
    case = told(capsys, "rule", ruled, "--judge", JUDGE)["disagreements"][0]["case"]
    told(capsys, "rule", ruled, "--case", case, "--say", "criterion unclear")
    (unclear,) = told(capsys, "rulings", "unclear", ruled)["unclear"]
    assert (unclear["criterion"], unclear["item"], unclear["times"]) == ("i1c1", "1", 1)
    after = told(capsys, "rulings", "reword", ruled, "i1c1", "Explains what the identity path is for")
    assert [(one["judge"], one["judgements"], one["items"]) for one in after["to_judge"]] == [
        ("other-judge", 2, ["1"]), (JUDGE, 2, ["1"]),
    ]  # fmt: skip
    assert told(capsys, "rulings", "unclear", ruled)["unclear"] == []
    queued = told(capsys, "rulings", "again", ruled, "--judge", JUDGE, "--queue")
    assert (queued["queued"], len(queued["again"])) == (True, 1)


def test_disagreements_are_told_in_words_and_ruled_on(ruled: str, capsys: Any) -> None:
    said = printed(capsys, "rule", ruled, "--judge", JUDGE)
    assert "0 of 9 ruled. First labels stay the metric." in said
    assert f"{JUDGE} says yes, R2 says no: open" in said
    assert "Nothing needs to be judged again." in printed(capsys, "rulings", "again", ruled)
    result = told(capsys, "rule", ruled, "--judge", JUDGE)
    assert (result["ruled"], result["of"], len(result["disagreements"])) == (0, 9, 9)
    first = result["disagreements"][0]
    assert (first["judge_says"], first["person_says"], first["person"]) == ("yes", "no", "R2")
    after = told(capsys,
        "rule", ruled, "--judge", JUDGE, "--case", first["case"], "--say", "judge wrong", "--reason", "too lenient",
        "--note", "See page 2.", "--open",
    )  # fmt: skip
    assert (after["ruled"], len(after["disagreements"])) == (1, 8)


def test_letter_15_errors_are_named_on_a_drawn_sample_of_a_judges_verdicts(ruled: str, capsys: Any) -> None:
    drawn = told(capsys, "error-sample", ruled, "--per-system", "1", "--seed", "3", "--as", "R1")
    assert (drawn["per_system"], len(drawn["responses"])) == (1, 2)
    assert told(capsys, "error-sample", ruled) == drawn
    looked = ("review", ruled, "--judge", JUDGE, "--as", "R3", "--order", "errors")
    verdicts = told(capsys, *looked)["verdicts"]
    # Each report has one criterion of which this judge says no.
    assert [(verdict["value"], verdict["case"].split("/")[0] in drawn["responses"]) for verdict in verdicts] == [
        ("no", True), ("no", True),
    ]  # fmt: skip
    case, other = (verdict["case"] for verdict in verdicts)
    refused(capsys, *looked, "--case", case, "--say", "disagree", "--kind", "incompleteness")
    assert "Use one of incompleteness, partial_missing" in refused(
        capsys, *looked, "--case", case, "--say", "agree", "--kind", "retrieval"
    )
    assert [one["said"] for one in told(capsys, *looked)["verdicts"]] == ["", ""]
    said = ("--case", case, "--say", "agree", "--kind", "partial_missing")
    given = told(capsys, *looked, *said)["verdicts"][0]
    assert (given["case"], given["said"], given["kind"]) == (case, "agree", "partial_missing")
    told(capsys, *looked, "--case", other, "--say", "disagree")
    result = told(capsys, "results", ruled, "--view", "errors", "--judge", JUDGE)["sheets"]
    (misses,) = (one for one in result if one["title"] == "Uncovered criteria")
    (row,) = misses["rows"]
    # Of two reports one lacks a part; the verdict on the other was rejected.
    kinds = ("responses", "incompleteness", "partial_missing", "subtotal", "without_a_label")
    assert [row[name] for name in kinds] == [2, 0.0, 0.5, 0.5, 0]
    assert "a draw of 1 responses of each system (seed 3)" in misses["told"][0]


ADA = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2))
BEN = (("Explains how carbon is priced", 3), ("Lists species of moss", 2))


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """One item with rubrics of both and labels of both, where everybody says yes; Cora worked last."""
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.rubric(ADA, "a"), "Ben": pairs.rubric(BEN, "b")})
    labels = pairs.labels(pairs.add_report(project), {"a1": "yes", "a2": "yes"})
    pairs.submit(project, {"Ada": labels, "Ben": labels})
    pairs.work_as(project, "Cora").close()
    return project.path


def test_agreement_is_told_in_rows_and_words_and_the_file_only_read(
    frozen: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = frozen.read_bytes()
    result = told(capsys, "agreement", frozen)
    assert [(row["stage"], row["field"], row["n"]) for row in result["rows"]] == [
        ("rubric", "units", 1), ("rubric", "weight", 1), ("labelling", "value", 2),
    ]  # fmt: skip
    figures = {figure["name"]: figure for figure in result["rows"][2]["figures"]}
    assert (figures["agreement"]["value"], figures["kappa"]["value"]) == (1, None)
    assert figures["kappa"]["reason"].startswith("both raters used one category only")
    assert (result["self_agreement"], result["first_votes"], result["inputs"]) == ([], [], None)
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(capsys, "agreement", frozen)
    assert "Match F1 0.50" in out
    assert "–  both raters used one" in out
    assert not re.search("…|nan", out, re.IGNORECASE)
    assert frozen.read_bytes() == before


def test_every_grouping_is_offered(frozen: Path, capsys: Any) -> None:
    for by in ("stage", "pair", "person", "criterion", "item", "week", "guideline"):
        assert {row["by"] for row in told(capsys, "agreement", frozen, "--by", by)["rows"]} == {by}


def test_nothing_frozen_says_what_must_happen_first(tmp_path: Path, capsys: Any) -> None:
    file = pairs.pairs_project(tmp_path).path
    assert "No agreement is frozen yet" in printed(capsys, "agreement", file)
    assert told(capsys, "agreement", file)["rows"] == []


@pytest.fixture
def matrices(tmp_path: Path) -> str:
    """A plan that finds 3 of 4 and one that finds 1 of 4 with a missing cell; both systems on two items."""
    project = adra.adra_project(tmp_path, 2, ("Alpha", "深度"))
    for item in items.ids(project):
        adra.fill_matrix(project, item, adra.response_of(item), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
        adra.fill_matrix(project, item, adra.response_of(item, "深度"), [[1, 0, 0, 0], [0, 0, 0, None]])
    return str(tmp_path / "adra.goldsmith")


def test_one_metric_is_told_by_rater_with_what_is_not_publishable(matrices, capsys):
    rows = told(capsys, "results", matrices, "--metric", "plan.recall", "--by", "all")["rows"]
    figures = ("system", "value", "n", "missing", "publishable")
    assert [tuple(row[name] for name in figures) for row in rows] == [
        ("Alpha", 0.75, 2, 0, True), ("深度", 0.25, 2, 2, False),
    ]  # fmt: skip
    out = printed(capsys, "results", matrices, "--metric", "plan.recall", "--by", "all")
    assert "0.2500 (!)" in out
    assert "not publishable" in out
    rows = told(capsys, "results", matrices, "--metric", "plan.f1", "--rater", "tested")["rows"]
    assert {row["rater"] for row in rows} == {"tested"}
    assert "Judges with verdicts: tested." in refused(
        capsys, "results", matrices, "--metric", "plan.f1", "--rater", "me"
    )


def test_an_empty_table_says_what_to_do_and_an_unknown_one_what_there_is(matrices, capsys):
    wanted = {
        "time-limit": "goldsmith respond FILE --cutoff",
        "recent-sources": "goldsmith sources describe FILE --item KEY --published",
        "isolated-planning": "goldsmith respond FILE --mode isolated",
        "r3": "goldsmith judge extract FILE --judge NAME --extraction researcherbench.claims.extract",
        "wins-table": "goldsmith judge run FILE --judge NAME --protocol researcherbench.pairwise",
        "windows": "goldsmith judge run FILE --judge baseline",
    }
    for name, command in wanted.items():
        assert command in " ".join(printed(capsys, "results", matrices, "--view", name).split()), name
    words = " ".join(refused(capsys, "results", matrices, "--view", "nonsense").split())
    assert re.search(r"overview, items, wins.*time-limit \(a6\)", words)


def test_empty_subjects_are_said_to_be_empty(matrices, capsys):
    project = Project.open(Path(matrices))
    items.change_all(project, {item: {"subject": ""} for item in items.ids(project)})
    for how in (
        ("--metric", "plan.recall", "--by", "subject"),
        ("--view", "domains", "--metric", "plan.recall"),
    ):
        out = " ".join(printed(capsys, "results", matrices, *how).split())
        assert "has a subject yet. Run: goldsmith items edit" in out
        assert "Choose another" not in out


def test_a_view_is_chosen_told_and_written(matrices, capsys, tmp_path):
    readings, matrix = told(capsys, "results", matrices, "--view", "plan")["sheets"]
    assert readings["rows"][0]["plan_recall"] == 0.75
    assert matrix["rows"][0] == {
        "predicted": "Step 1", "g1": "relevant", "g2": "relevant", "g3": "not", "g4": "not",
    }  # fmt: skip
    result = told(capsys, "results", matrices, "--view", "items", "--choose", "metric=Plan F1 (one-to-one)")
    assert result["chosen"]["metric"] == "plan.f1"
    assert "Its choices are: metric, judge, among." in refused(
        capsys, "results", matrices, "--view", "items", "--choose", "x=y"
    )
    assert "Write it as NAME=VALUE" in refused(
        capsys, "results", matrices, "--view", "items", "--choose", "x"
    )
    assert "plan.csv, plan-matrix.csv" in printed(
        capsys, "results", matrices, "--view", "plan", "--to", str(tmp_path / "plan.csv")
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
def test_what_there_is_not_is_refused_with_what_there_is(matrices, capsys, words, said):
    assert said in refused(capsys, "results", matrices, *words)


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
