"""What a paper prints of agreement, beside what is reached here; counted by hand."""

from pathlib import Path

import pytest

from annotator.actions.sets.validation_figures import TITLES
from annotator.actions.validation import aims, validation
from annotator.actions.validation.validation import ValidationQuery
from annotator.protocols import PROTOCOLS, USUAL
from tests.projects.validation_project import At, judge_says, person_says, validation_project


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


def ben(at: At) -> str:
    """As Ann, but no of the light criteria: of her eight yes he says four."""
    return "no" if at[2] == 2 else ann(at)


def test_published_figures_stand_beside_what_people_and_judges_reach(tmp_path: Path) -> None:
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    judge_says(project, "good", ann)
    found = aims.sheet(validation.report(project, ValidationQuery()))
    # Both ways people agree on 24 of 32, each side saying yes to 12; of the judge's 16 yes, 12 are theirs.
    assert [(line.cells[0].words, line.cells[2].value, line.cells[4].words) for line in found.lines] == [
        ("Cohen's κ", 0.67, "people"),
        ("Accuracy", 0.76, "good"),
        ("Precision", 0.85, "good"),
        ("Recall", 0.76, "good"),
        ("F1", 0.80, "good"),
    ]
    assert [line.cells[5].value for line in found.lines] == pytest.approx(
        [7 / 15, 28 / 32, 12 / 16, 1, 6 / 7]
    )
    assert aims.words(PROTOCOLS[USUAL]) == (
        "Published aim: Cohen's κ 0.67 of people with one another (§4.3.2); Accuracy 0.76, Precision 0.85, Recall "
        "0.76, F1 0.80 of o3-mini with people (Table 2)."
    )
    assert not aims.sheet(validation.report(project, ValidationQuery(by="system"))).lines
    project.close()


def test_an_aim_is_a_figure_that_is_shown() -> None:
    each = [one for shape in PROTOCOLS.values() for one in shape.aims]
    assert {one.figure for one in each} <= TITLES.keys()
    assert all(0 < one.value < 1 and one.place for one in each)
