"""What a paper prints of agreement, as a footnote; people with one another by Scott's π."""

from pathlib import Path

import pytest

from annotator.actions.sets.validation_figures import TITLES, published
from annotator.actions.validation import validation, validation_sheets
from annotator.actions.validation.validation import ValidationQuery
from annotator.protocols import PROTOCOLS, USUAL
from tests.projects.validation_project import At, judge_says, person_says, validation_project


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


def ben(at: At) -> str:
    """As Ann, but no of the light criteria: of her eight yes he says four."""
    return "no" if at[2] == 2 else ann(at)


def test_what_a_paper_publishes_of_agreement_is_a_footnote_and_no_table(tmp_path: Path) -> None:
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    judge_says(project, "good", ann)
    found = validation.report(project, ValidationQuery())
    # Both ways people agree on 24 of 32, each side saying yes to 12; of the judge's 16 yes, 12 are theirs.
    people = found.of("people").told.plain["kappa"]
    assert people.value == pytest.approx(7 / 15)
    # Both ways round, the two sides share their margins.
    assert "Scott's π" in people.method
    assert found.of("good").told.plain["kappa"].method.startswith("Cohen's κ")
    assert "κ of people is then Scott's π." in " ".join(found.notes)
    footnote = (
        "Published aim: Cohen's κ 0.67 of people with one another (§4.3.2); Accuracy 0.76, Precision 0.85, Recall "
        "0.76, F1 0.80 of o3-mini with people (Table 2)."
    )
    assert published(PROTOCOLS[USUAL]) == footnote
    for sheets in (validation_sheets.sheets(found), validation_sheets.brief(found)):
        assert sheets[0].told[-1] == footnote
        assert not {"aims", "table_2"} & {sheet.key for sheet in sheets}
    project.close()


def test_an_aim_is_a_figure_that_is_shown() -> None:
    each = [one for shape in PROTOCOLS.values() for one in shape.aims]
    assert {one.figure for one in each} <= TITLES.keys()
    assert all(0 < one.value < 1 and one.place for one in each)
