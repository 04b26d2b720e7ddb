"""What lies behind figures of validation: the units of a cell, of a gap, and those on which only one judge is right."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.imports import samples
from annotator.actions.project.file import Project
from annotator.actions.results import results_behind
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.studies import result_views
from annotator.actions.validation import validation, validation_behind
from annotator.actions.validation.validation_behind import HeldRater
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from tests.projects.validation_project import At, judge_says, person, person_says, validation_project


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Sixteen units, half of them covered by R2's word; “small” says yes to all, and nothing of (4, Beta, 2)."""
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    judge_says(project, "small", lambda at: "-" if at == (4, "Beta", 2) else "yes")
    judge_says(project, "good", ann)
    yield project
    project.close()


def table(project: Project, title: str, **chosen: str) -> ResultSheet:
    shown = result_views.show(project, "judges", chosen, among=VIEWS)
    return next(sheet for sheet in shown.sheets if sheet.title == title)


def behind(project: Project, sheet: ResultSheet, head: str, *says: str) -> ResultSheet:
    """The units behind the cell below a head, in the first line that says all this."""
    place = [column.title for column in sheet.columns].index(head)
    for line in sheet.lines:
        if set(says) <= {cell.words for cell in line.cells}:
            source = line.cells[place].source or line.source
            assert isinstance(source, HeldRater)
            return validation_behind.units(project, source)
    raise AssertionError(says)


def test_a_cell_of_the_confusion_leads_to_its_units(project: Project) -> None:
    sheet = table(project, "Confusion")
    place = [column.title for column in sheet.columns].index("True value")
    line = next(
        one for one in sheet.lines
        if one.cells[0].words == "small" and (one.cells[place].words, one.cells[place + 1].words) == ("no", "yes")
    )  # fmt: skip
    source = line.cells[0].source
    assert isinstance(source, HeldRater)
    units = validation_behind.units(project, source)
    # Of Beta's eight units one has no judgement.
    assert len(units.lines) == 7 == line.cells[place + 2].value
    assert {one.cells[1].words for one in units.lines} == {"Beta"}
    assert {one.cells[6].state for one in units.lines} == {"disagree"}


def test_an_empty_cell_of_the_confusion_leads_nowhere(project: Project) -> None:
    sheet = table(project, "Confusion")
    empty = [line for line in sheet.lines if line.cells[4].words == "0"]
    assert empty
    assert all(line.cells[4].source is None for line in empty)


@pytest.mark.parametrize(
    ("figure", "units"), [("Accuracy", 15), ("Precision", 15), ("Recall", 8), ("Specificity", 7)]
)
def test_a_figure_leads_to_the_units_that_it_is_counted_over(
    project: Project, figure: str, units: int
) -> None:
    found = behind(project, table(project, "Judges beside people"), figure, "small")
    assert len(found.lines) == units


def test_a_gap_leads_to_the_units_without_a_value(project: Project) -> None:
    found = behind(project, table(project, "Missing by cause"), "Units", "small")
    assert [line.cells[2].words for line in found.lines] == ["Criterion 2 of 4"]
    assert found.lines[0].cells[6].tip == "invalid"


def test_only_first_right_leads_to_just_those(project: Project) -> None:
    sheet = table(project, "Two judges")
    found = behind(project, sheet, "Only first right", "good", "small")
    assert len(found.lines) == 7
    assert found.columns[-1].title == "small"


def test_a_group_leads_to_its_own_units(project: Project) -> None:
    found = behind(project, table(project, "Judges beside people", by="system"), "Accuracy", "small", "Beta")
    assert {line.cells[1].words for line in found.lines} == {"Beta"}


def test_a_unit_leads_to_everybodys_judgements_of_it(project: Project) -> None:
    found = behind(project, table(project, "Judges beside people"), "Accuracy", "small")
    source = found.lines[0].source
    assert source is not None
    judgements = results_behind.of_source(project, source)
    assert sorted(one.rater for one in judgements) == ["R2", "good", "small"]


def test_only_a_coordinator_reads_them(project: Project) -> None:
    held = HeldRater(USUAL, "x", rater="x")
    project.work_as(person(project, "R2"))
    assert not person(project, "R2").has(Role.COORDINATOR)
    with pytest.raises(Refusal):
        validation_behind.units(project, held)


def test_a_rater_that_is_gone_is_said(project: Project) -> None:
    with pytest.raises(Refusal, match="no longer among those compared"):
        validation_behind.units(project, HeldRater(USUAL, "x", rater="x"))


def test_what_one_is_still_to_label_blind_is_only_counted(tmp_path: Path) -> None:
    sample = samples.create(tmp_path / "sample.goldsmith", to_work_in=False)
    units = behind(sample, table(sample, "Judges beside people"), "Accuracy", "baseline")
    # The coordinator has labels of the second item still to submit.
    assert {line.cells[0].words for line in units.lines} == {"norm-placement"}
    every = sum(
        validation.report(sample, validation.ValidationQuery()).of("baseline").told.confusion.values()
    )
    assert (
        f"{every - len(units.lines):,.0f} more are on items that you still have to label blind." in units.told
    )
    sample.close()
