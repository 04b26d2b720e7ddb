"""The exact inputs of agreement, as records and as files."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from annotator.actions.agreement import agreement_inputs
from annotator.actions.assignments import agreements
from annotator.actions.project.file import Project
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import PersonRow, table
from tests.projects.paired_project import (
    SENTENCES,
    in_order,
    labels,
    paired_project,
    person,
    rubric,
    sealed_by,
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = paired_project(tmp_path)
    yield project
    project.close()


def two_rubrics(project: Project) -> tuple[Rubric, Rubric]:
    """Two sealed rubrics that share their first criterion, weighted 3 by A and 1 by B; A has one more."""
    a, b = rubric(3, 2), rubric(1)
    sealed_by(project, "A", a)
    sealed_by(project, "B", b)
    return a, b


def of_field(found: list[dict[str, Any]], field: str) -> list[dict[str, Any]]:
    return [each for each in found if each["field"] == field]


def test_every_pair_of_values_is_a_record(project: Project) -> None:
    a, b = two_rubrics(project)
    (weight,) = of_field(agreement_inputs.inputs(project), "weight")
    first, second = in_order(project, ("A", a.units[0].id, 3), ("B", b.units[0].id, 1))
    assert (weight["item"], weight["stage"]) == ("1", "rubric")
    assert (weight["rater_a"], weight["unit_a"], weight["value_a"]) == first
    assert (weight["rater_b"], weight["unit_b"], weight["value_b"]) == second
    assert (weight["guideline_a"], weight["guideline_b"]) == ("1", "1")


def test_who_wrote_which_unit_is_a_record_too(project: Project) -> None:
    a, _ = two_rubrics(project)
    shared, alone = of_field(agreement_inputs.inputs(project), "written")
    assert (shared["value_a"], shared["value_b"], shared["likeness"]) == (1, 1, 1.0)
    assert (alone["unit_a"], alone["unit_b"]) == in_order(project, a.units[1].id, "")
    assert (alone["value_a"], alone["value_b"]) == in_order(project, 1, 0)


def test_labels_name_their_report_and_unit_and_keep_unsure(project: Project) -> None:
    sealed_by(project, "A", labels("y", "?"))
    sealed_by(project, "B", labels("y", "n"))
    last = of_field(agreement_inputs.inputs(project), "value")[-1]
    assert (last["response_id"], last["judged_unit"]) == ("report 1", "c0")
    assert (last["value_a"], last["value_b"]) == in_order(project, "unsure", "no")
    assert {each["field"] for each in agreement_inputs.inputs(project)} == {"written", "value"}


def test_the_files_hold_the_records_with_people_by_alias(project: Project, tmp_path: Path) -> None:
    two_rubrics(project)
    written = agreement_inputs.write_inputs(project, tmp_path / "out")
    assert written == ("SHA256SUMS", "agreement-inputs.csv", "agreement.json")
    read = list(
        csv.DictReader(io.StringIO((tmp_path / "out" / "agreement-inputs.csv").read_text("utf-8-sig")))
    )
    asked = agreement_inputs.inputs(project)
    assert read == [{name: "" if v is None else str(v) for name, v in each.items()} for each in asked]
    text = (tmp_path / "out" / "agreement.json").read_text("utf-8")
    (frozen,) = json.loads(text)["agreements"]
    assert sorted(given["person_id"] for given in frozen["inputs"]) == ["A", "B"]
    assert (frozen["item"], {frozen["pairs"][0]["a"], frozen["pairs"][0]["b"]}) == ("1", {"A", "B"})
    assert not [alias for alias in "AB" if person(project, alias).id in text or f"Expert {alias}" in text]


def test_but_for_the_names_the_json_is_the_frozen_record(project: Project, tmp_path: Path) -> None:
    two_rubrics(project)
    agreement_inputs.write_inputs(project, tmp_path / "out")
    (written,) = json.loads((tmp_path / "out" / "agreement.json").read_text("utf-8"))["agreements"]
    kept = agreements.all_frozen(project)[0].model_dump(mode="json")
    assert written["pairs"][0]["figures"] == kept["pairs"][0]["figures"]
    assert {name: written[name] for name in ("id", "matcher", "program", "frozen_at")} == {
        name: kept[name] for name in ("id", "matcher", "program", "frozen_at")
    }


def test_an_alias_that_looks_like_a_formula_is_inert_in_the_table(project: Project, tmp_path: Path) -> None:
    two_rubrics(project)
    people = table(PersonRow)
    with project.store.write() as db:
        db.execute(update(people).where(people.c.alias == "A").values(alias="=1+1"))
    agreement_inputs.write_inputs(project, tmp_path / "out")
    read = (tmp_path / "out" / "agreement-inputs.csv").read_text("utf-8-sig")
    assert "'=1+1" in read
    assert not [cell for line in csv.reader(io.StringIO(read)) for cell in line if cell.startswith("=")]


def test_writing_again_gives_the_same_bytes(project: Project, tmp_path: Path) -> None:
    two_rubrics(project)
    for name in ("one", "two", "two"):
        agreement_inputs.write_inputs(project, tmp_path / name)
    first, second = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("one", "two")
    )
    assert first == second


def test_a_folder_with_other_files_is_refused(project: Project, tmp_path: Path) -> None:
    two_rubrics(project)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine", "utf-8")
    with pytest.raises(Refusal):
        agreement_inputs.write_inputs(project, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_nothing_frozen_is_nothing_to_write(project: Project, tmp_path: Path) -> None:
    sealed_by(project, "A", rubric(1))
    with pytest.raises(Refusal, match="frozen yet"):
        agreement_inputs.write_inputs(project, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_f1_can_be_computed_anew_from_the_records(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 1, 1))
    other = Rubric(units=(*rubric(1, 1).units, *(Criterion(text=text) for text in SENTENCES[4:])))
    sealed_by(project, "B", other)
    written = of_field(agreement_inputs.inputs(project), "written")
    matched = sum(each["value_a"] and each["value_b"] for each in written)
    # 2·2 / (3 + 4)
    assert 2 * matched / sum(each["value_a"] + each["value_b"] for each in written) == pytest.approx(4 / 7)
