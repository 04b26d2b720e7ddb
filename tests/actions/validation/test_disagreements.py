"""Rulings on disagreements, by hand: sixteen units, of which a judge has three otherwise than Ann."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from annotator.actions.imports import samples
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import verdict_readings
from annotator.actions.undo import history
from annotator.actions.validation import disagreements, validation
from annotator.actions.validation.disagreements import Disagreement
from annotator.domain.judges.informed import Fault, InformedRuling
from annotator.domain.texts.refusal import Refusal
from tests.projects.validation_project import At, judge_says, negative, person_says, validation_project
from tests.storage import sql

WISH = validation.ValidationQuery(against=("R2",))


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


def judge(at: At) -> str:
    """No of one heavy criterion of Alpha's, yes of two light ones of Beta's."""
    if at == (1, "Alpha", 1):
        return "no"
    return "yes" if at in ((1, "Beta", 2), (2, "Beta", 2)) else ann(at)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    judge_says(project, "small", judge)
    yield project
    project.close()


def waiting(project: Project) -> list[Disagreement]:
    return disagreements.queue(project, WISH)


def test_disagreements_come_with_both_sides_the_heaviest_first(project: Project) -> None:
    found = waiting(project)
    assert [(one.place.unit_id, one.judge_value, one.label_value) for one in found] == [
        ("i1c1", "no", "yes"), ("i1c2", "yes", "no"), ("i2c2", "yes", "no"),
    ]  # fmt: skip
    assert {(one.alias, one.judge.name, one.ruling) for one in found} == {("R2", "small", "")}


def test_what_takes_away_is_as_heavy_as_its_weight(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    negative(monkeypatch, 3)
    assert [one.place.weight for one in waiting(project)] == [-3, 1, 1]


def test_rulings_are_a_second_column_and_first_labels_stay(project: Project) -> None:
    heavy, first, second = waiting(project)
    before = validation.report(project, WISH).of("small").told
    disagreements.rule(project, heavy, InformedRuling.JUDGE_WRONG, reason=Fault.MISSED)
    disagreements.rule(project, first, InformedRuling.PERSON_WRONG)
    disagreements.rule(project, second, InformedRuling.UNCLEAR)
    (found,) = disagreements.report(project, WISH)
    assert found.rulings == {"judge wrong": 1, "person wrong": 1, "criterion unclear": 1}
    assert (found.open, found.first) == (0, before)
    # First 13 of 16; then fifteen units, of which the judge has one wrong.
    assert found.first.plain["accuracy"].value == pytest.approx(13 / 16)
    assert found.ruled.plain["accuracy"].value == pytest.approx(14 / 15)
    assert found.ruled.confusion == {("yes", "yes"): 8, ("yes", "no"): 1, ("no", "no"): 6}
    assert validation.report(project, WISH).of("small").told == before


def test_somebody_all_of_whose_labels_are_ruled_unclear_counts_for_nothing(tmp_path: Path) -> None:
    small = validation_project(tmp_path, 1, ("Alpha",))
    person_says(small, "R2", lambda at: "no")
    judge_says(small, "small", lambda at: "yes")
    for one in disagreements.queue(small, WISH):
        disagreements.rule(small, one, InformedRuling.UNCLEAR)
    (found,) = disagreements.report(small, WISH)
    assert (found.rulings, found.first.confusion) == ({"criterion unclear": 2}, {("no", "yes"): 2})
    assert found.ruled.confusion == {}
    ground = validation.ground_of(small, WISH)
    nothing, asked = replace(ground, truth={CONSENSUS: {}}).column(CONSENSUS)
    assert (nothing.tolist(), asked.tolist()) == ([None, None], [False, False])
    small.close()


def test_what_is_ruled_on_goes_behind_what_is_not(project: Project) -> None:
    disagreements.rule(
        project, waiting(project)[0], InformedRuling.JUDGE_WRONG, reason=Fault.MISSED, note="Page 2."
    )
    found = waiting(project)
    assert [one.ruling for one in found] == ["", "", "judge wrong"]
    assert (found[-1].reason, found[-1].note) == (Fault.MISSED.value, "Page 2.")
    assert disagreements.report(project, WISH)[0].open == 2


def test_a_ruling_can_be_given_anew_and_undone(project: Project) -> None:
    one = waiting(project)[0]
    disagreements.rule(project, one, InformedRuling.JUDGE_WRONG)
    disagreements.rule(project, one, InformedRuling.UNCLEAR)
    assert disagreements.report(project, WISH)[0].rulings == {"criterion unclear": 1}
    history.undo(project)
    assert disagreements.report(project, WISH)[0].rulings == {"judge wrong": 1}


def test_unclear_criteria_are_listed_for_the_rubric(project: Project) -> None:
    disagreements.rule(project, waiting(project)[2], InformedRuling.UNCLEAR)
    (found,) = disagreements.unclear(project)
    assert (found.item_key, found.unit_id, found.words, found.times) == ("2", "i2c2", "Criterion 2 of 2", 1)


def test_a_ruling_on_another_verdict_stands_for_nothing(project: Project) -> None:
    disagreements.rule(project, waiting(project)[0], InformedRuling.PERSON_WRONG)
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE informed SET judge_value = 'unknown'")
    assert waiting(project)[0].ruling == ""


def test_the_table_says_that_rulings_only_raise_agreement(project: Project) -> None:
    (sheet,) = disagreements.sheets(disagreements.report(project, WISH))
    assert sheet.lines[0].cells[0].words == "small"
    assert "can only raise agreement" in sheet.told[0]


def test_only_a_coordinator_rules(project: Project) -> None:
    one = waiting(project)[0]
    project.work_as(people.known(project, "R2"))
    with pytest.raises(Refusal, match="Only a coordinator"):
        disagreements.rule(project, one, InformedRuling.UNCLEAR)
    with pytest.raises(Refusal, match="Only a coordinator"):
        disagreements.queue(project, replace(WISH))


def test_what_one_is_still_to_label_blind_is_not_shown(tmp_path: Path) -> None:
    sample = samples.create(tmp_path / "sample.goldsmith", to_work_in=False)
    shown, withheld, _ = disagreements.outlook(sample, replace(WISH, against=()))
    assert {one.place.item_key for one in shown} == {"norm-placement"}
    # The coordinator has yet to submit the labels of the other item; Annotator B has.
    differing = sql.first(
        sample,
        "SELECT count(*) FROM judgement p JOIN judgement j USING (protocol, response_id, unit_id, trial) "
        "JOIN item i ON i.id = p.item_id JOIN person b ON b.id = p.rater_id WHERE i.key = 'early-warning' "
        "AND b.alias = 'Annotator B' AND j.rater_kind = 'judge' AND p.protocol = ? AND p.value != j.value",
        (WISH.protocol,),
    )[0]
    assert 0 < withheld == differing
    reading = verdict_readings.reading(sample, WISH.protocol, shown[0].place)
    # What a criterion is tied to stands in a source, not in the report.
    assert (reading.context, reading.context_start) == ("", None)
    sample.close()
