"""Labels that leave: only those that are final, under aliases, and so that ResearcherBench's own figures are ours."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.imports import imports, label_files
from annotator.actions.imports.label_files import LabelImportOptions
from annotator.actions.imports.label_matching import Exported, LabelSelection, export
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.stats.validation.comparison import both_ways
from tests.material.bundles import write_peer
from tests.material.labels_in_files import (
    ANN,
    FIRST,
    SECOND,
    THIRD,
    ann,
    ann_says,
    every,
    me,
    project_of_two,
    take,
    written,
)
from tests.projects.labelled_protocols import CLAIMS, PAIRS, PLAN, one_item
from tests.projects.refusals import expect_refusal
from tests.projects.small_project import small_project
from tests.servers.said_by_judges import say
from tests.storage import sql

PROJECT = project_of_two
FINAL, EVERYTHING = LabelSelection(), LabelSelection(everything=True)
# Alpha's reports on items 1 and 2, three criteria each of weights 3, 2 and 1.
PEOPLE, JUDGE = "yynnyn", "ynnyyn"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def tree(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def written_to(project: Project, path: Path, choice: LabelSelection = FINAL) -> Exported:
    return export(project, path, choice=choice)


def test_labels_leave_when_they_are_submitted_or_came_in_by_a_file(project: Project, tmp_path: Path) -> None:
    ann_says(project, "yes")
    expect_refusal("1 label left out: not yet submitted", written_to, project, tmp_path / "out.csv")
    assert written_to(project, tmp_path / "out.csv", EVERYTHING).labels == 1
    (row,) = rows(tmp_path / "out.csv")
    assert (row["rater"], row["value"], row["state"], row["unit"]) == ("R2", "yes", "open", FIRST)
    take(project, written(tmp_path, *every()))
    ann(project)
    label_sealing.submit(project, items.ids(project)[0])
    me(project)
    take(project, written(tmp_path, {"rater": "Ben", "item": "2"}), LabelImportOptions({"Ben": "R3"}))
    written_to(project, tmp_path / "out.csv")
    states = {(row["item"], row["rater"]): row["state"] for row in rows(tmp_path / "out.csv")}
    assert states == {("1", "R2"): "submitted", ("2", "R2"): "imported", ("2", "R3"): "imported"}


def test_a_note_that_looks_like_a_formula_is_inert_and_files_are_the_same_each_time(
    project: Project, tmp_path: Path
) -> None:
    take(project, written(tmp_path, {"note": "=1+1", "quote": "explains residual connections"}))
    for name in ("out.csv", "again.csv", "out.json"):
        written_to(project, tmp_path / name)
        assert "Ann Other" not in (tmp_path / name).read_text("utf-8")
    assert rows(tmp_path / "out.csv")[0]["note"] == "'=1+1"
    (label,) = tree(tmp_path / "out.json")["labels"]
    assert (label["note"], label["weight"], label["number"]) == ("=1+1", 3.0, 1)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "again.csv").read_bytes()


@pytest.mark.parametrize("name", ["out.csv", "out.json", "folder"])
def test_what_leaves_comes_back_as_it_was(project: Project, tmp_path: Path, name: str) -> None:
    take(project, written(tmp_path, *every(note="so"), {"system": "Beta", "value": "yes", "note": "so"}))
    written_to(project, tmp_path / name)
    assert label_files.run(project, [tmp_path / name])[1].same == 12


def test_a_table_comes_into_another_project_with_its_raters(project: Project, tmp_path: Path) -> None:
    take(project, written(tmp_path, *every()))
    written_to(project, tmp_path / "out.csv")
    other = small_project(tmp_path / "other")
    text = (tmp_path / "out.csv").read_text("utf-8-sig")
    # Neither its items nor its units have these ids there.
    for row in rows(tmp_path / "out.csv"):
        text = text.replace(row["item_id"], "").replace(row["unit_id"], "")
    (tmp_path / "bare.csv").write_text(text, "utf-8")
    report = label_files.run(other, [tmp_path / "bare.csv"])[1]
    assert (report.new, [rater.person.id for rater in report.raters]) == (12, [people.known(project, ANN).id])


def test_a_choice_of_people_systems_and_protocols(project: Project, tmp_path: Path) -> None:
    raters = LabelImportOptions({"Ann": ANN, "Ben": "R3"})
    take(project, written(tmp_path, *every(), {"rater": "Ben"}), raters)
    assert written_to(project, tmp_path / "a.csv", LabelSelection(people=("r3",))).raters == ("R3",)
    assert written_to(project, tmp_path / "b.csv", LabelSelection(systems=("Beta",))).labels == 6
    judge = LabelSelection(judge="baseline")
    expect_refusal("cannot contain a judge", written_to, project, tmp_path / "c.csv", judge)
    for place, wrong in (
        ("c.csv", LabelSelection(people=("Ann Other",))),
        ("c.csv", LabelSelection(systems=("Gamma",))),
        ("c.csv", LabelSelection(protocols=("arena.kae",))),
        ("c", LabelSelection(protocols=(PAIRS,))),
        ("c", LabelSelection(judge="nobody")),
    ):
        expect_refusal("", written_to, project, tmp_path / place, wrong)
        assert not (tmp_path / place).exists()


def test_labels_of_every_protocol_leave_and_come_back(tmp_path: Path) -> None:
    project = one_item(tmp_path)
    system = "Canary-Alpha-9000"
    told = [
        {"protocol": PLAN, "system": system, "unit_id": "p1~g1", "unit": "", "value": "relevant"},
        {"protocol": CLAIMS, "system": system, "unit": "Cost doubled.", "value": "no"},
        {"protocol": PAIRS, "system": system, "unit": "Canary-Beta-9000", "value": "tie"},
    ]
    take(project, written(tmp_path, *told))
    assert written_to(project, tmp_path / "out.csv").labels == 3
    result = {row["protocol"]: row["unit"] for row in rows(tmp_path / "out.csv")}
    assert result[PAIRS] == "Canary-Beta-9000"
    assert result[PLAN] == "Collect the reports of every system. → Gather reports from all systems."
    assert label_files.run(project, [tmp_path / "out.csv"])[1].same == 3


def test_only_a_coordinator_exports_and_nobody_over_a_strangers_folder(
    project: Project, tmp_path: Path
) -> None:
    take(project, written(tmp_path, *every()))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/mine.txt").write_text("mine", "utf-8")
    expect_refusal("holds files that are not", written_to, project, tmp_path / "folder")
    expect_refusal("not a format for labels", export, project, tmp_path / "x", "xlsx")
    ann(project)
    expect_refusal("Only a coordinator", written_to, project, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


# ResearcherBench's meta-evaluation, §4.3: people and judge on the same points, plain and by weight


def their_figures(folder: Path, annotator: str) -> dict[str, tuple[float, ...]]:
    """Accuracy, precision, recall and F1, as the paper defines them, from the files alone: (plain, weighted).

    Files are found by their names, points of both sides by their words, weights in rubric.json.
    """
    weights = {
        (one["id"], line["point"]): line["weight"]
        for one in tree(folder.parent / "rubric.json")
        for line in one["rubric"]
    }
    judged = {
        (one["id"], line["point"]): line["covered"]
        for one in tree(folder / "meta_eval.json")["detailed_results"]
        for line in one["result"]["coverage_results"]
    }
    cells: list[tuple[bool, bool, int]] = []
    for file in folder.glob("Q*_result_*.json"):
        question, _, whose = file.stem.split("_")
        if whose == annotator:
            for line in tree(file)["rubric_eval"]:
                key = (int(question[1:]), line["point"])
                if key in judged:
                    cells.append((line["covered"], judged[key], weights[key]))
    return {"plain": _figures([(a, b, 1) for a, b, _ in cells]), "weighted": _figures(cells)}


def _figures(cells: list[tuple[bool, bool, int]]) -> tuple[float, ...]:
    both, only_judge, only_people, neither = (
        sum(w for a, b, w in cells if (a, b) == pair)
        for pair in ((True, True), (False, True), (True, False), (False, False))
    )
    precision, recall = both / (both + only_judge), both / (both + only_people)
    accuracy = (both + neither) / (both + neither + only_judge + only_people)
    return accuracy, precision, recall, 2 * precision * recall / (precision + recall)


def test_researcherbench_files_give_its_figures(project: Project, tmp_path: Path) -> None:
    units = [(item, unit) for item in "12" for unit in (FIRST, SECOND, THIRD)]
    values = {"y": "yes", "n": "no"}
    said = [
        {"item": item, "unit": unit, "value": values[letter]}
        for (item, unit), letter in zip(units, PEOPLE, strict=True)
    ]
    take(project, written(tmp_path, *said))
    say(project, "baseline", JUDGE)
    written_to(project, tmp_path / "out", LabelSelection(judge="baseline"))
    result = their_figures(tmp_path / "out" / "Alpha", "R2")
    # Agreed covered: weights 3 and 2; the judge alone 3; people alone 2; agreed uncovered 1 and 1.
    assert result["plain"] == pytest.approx((4 / 6, 2 / 3, 2 / 3, 2 / 3))
    assert result["weighted"] == pytest.approx((7 / 12, 5 / 8, 5 / 7, 2 * 5 / (8 + 7)))
    ours = both_ways(PEOPLE, JUDGE, "y", [3, 2, 1] * 2, [n // 3 for n in range(6)])
    for name, figures in (("plain", ours.plain), ("weighted", ours.weighted)):
        told = (figures.accuracy, figures.precision, figures.recall, figures.f1)
        assert result[name] == pytest.approx([one.value for one in told])
    written_to(project, tmp_path / "out")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.json")}
    assert names == {"Alpha/Q1_result_R2.json", "Alpha/Q2_result_R2.json", "goldsmith.json", "rubric.json"}


def test_what_is_unsure_or_of_a_unit_that_is_gone_is_left_out_and_said(
    project: Project, tmp_path: Path
) -> None:
    take(project, written(tmp_path, {}, {"unit": SECOND, "value": "unsure"}))
    result = written_to(project, tmp_path / "out")
    assert "1 label left out: unsure, which is neither covered nor not" in result.notes
    lines = tree(tmp_path / "out/Alpha/Q1_result_R2.json")["rubric_eval"]
    assert lines == [{"point": FIRST, "covered": True}]
    sql.alter(project, "UPDATE judgement SET unit_id = 'gone ' || unit_id")
    notes = written_to(project, tmp_path / "out.csv").notes
    assert notes == ("2 labels of units that are no longer asked about",)
    expect_refusal("has a place in this layout", written_to, project, tmp_path / "out")


def test_the_published_questions_keep_their_numbers(tmp_path: Path) -> None:
    project = new_project(tmp_path / "peer.goldsmith")
    people.someone(project)
    imports.run(project, "researcherbench", [write_peer(tmp_path / "peer")], warm=False)
    label = {"item": "2", "system": "Sys", "unit": "Point 2"}
    take(project, written(tmp_path, label), LabelImportOptions({"Ann": "A"}))
    written_to(project, tmp_path / "out")
    lines = tree(tmp_path / "out/Sys/Q2_result_A.json")["rubric_eval"]
    assert lines == [{"point": "Point 2", "covered": True}]
    assert not (tmp_path / "out/goldsmith.json").exists()
