"""Which questions are kept, and how far raters agree; the paper's worked examples among them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts, guidelines, question_types
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.studies import selection_ratings
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.kinds.selection import DimensionRating, Recommendation, Selection
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import DIMENSIONS
from tests.storage import sql

TECHNICAL, REVIEW = "Technical Details", "Literature Review"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = pairs.pairs_project(tmp_path, 0)
    yield project
    project.close()


def rated(project: Project, question_type: str, **ratings: tuple[int | None, ...]) -> str:
    """A question that each person rates on the dimensions of its type; its id."""
    pairs.work_as(project, "Cora")
    item = items.add(project, f"Question {len(items.ids(project))}?", question_type).subject
    for name, given in ratings.items():
        units = tuple(
            DimensionRating(text=text, rating=rating)
            for text, rating in zip(DIMENSIONS[question_type], given, strict=True)
        )
        pairs.work_as(project, name)
        made = artifacts.start(project, item, Selection.KIND, Selection(units=units)).subject
        submitting.seal(project, made)
    pairs.work_as(project, "Cora")
    return item


def test_a_question_is_kept_at_the_bar(project: Project) -> None:
    # ResearcherBench, appendix B.5: 2, 2, 3, 2 is 2.25, and 4, 5, 3 is 4.
    left_out = rated(project, TECHNICAL, Ada=(2, 2, 3, 2), Ben=(2, 2, 3, 2))
    open_ = rated(project, REVIEW, Ada=(4, 5, 3))
    kept = rated(project, REVIEW, Ada=(4, 5, 4), Ben=(5, 5, 4))
    found = selection_ratings.report(project)
    assert found.chosen[left_out].score.value == 2.25
    assert found.scores[open_]["R2"].value == 4.0
    assert {item: one.kept for item, one in found.chosen.items()} == {
        left_out: False,
        open_: None,
        kept: True,
    }
    # (13/3 + 14/3) / 2 = 4.5, which is the bar.
    assert found.chosen[kept].score.value == pytest.approx(4.5)


def test_letter_4_one_bar_of_the_project_decides_in_the_view_and_when_it_is_applied(project: Project) -> None:
    item = rated(project, REVIEW, Ada=(4, 5, 3), Ben=(4, 4, 4))
    assert selection_ratings.report(project).chosen[item].kept is False
    question_types.set_bar(project, "4")
    assert question_types.bar(project) == 4
    assert selection_ratings.report(project).chosen[item].kept is True
    with pytest.raises(Refusal, match="No item in use was rated below 4"):
        selection_ratings.apply(project)
    with pytest.raises(Refusal, match="“six” is no bar"):
        question_types.set_bar(project, "six")
    with pytest.raises(Refusal, match=r"“5\.5” is no bar"):
        guidelines.write(project, Stage.SELECTION, "# Selection\n\n## Bar: 5.5\n")


def test_letter_4_reasons_and_recommendations_stand_beside_the_scores(project: Project) -> None:
    item = rated(project, REVIEW, Ada=(2, 2, 2), Ben=(5, 5, 5))
    pairs.work_as(project, "Dan")
    units = tuple(DimensionRating(text=text, rating=3, note="Two readings.") for text in DIMENSIONS[REVIEW])
    document = Selection(
        units=units, remark="Unclear.", recommendation=Recommendation.REWORK, improve="Name the field."
    )
    submitting.seal(project, artifacts.start(project, item, Selection.KIND, document).subject)
    pairs.work_as(project, "Cora")
    questions = selection_ratings.sheets(selection_ratings.report(project))[0]
    assert questions.lines[0].cells[-1].words == "rework 1"
    said = dict(questions.lines[0].more)
    assert said["R5"].splitlines()[0] == "Direction clarity and survey scope: 3. Two readings."
    assert said["R5"].splitlines()[-2:] == ["Unclear.", "To improve: Name the field."]


def test_letter_4_agreement_is_told_for_each_pair_and_for_all_pairs_together(project: Project) -> None:
    for ada, ben in ((1, 2), (3, 4), (5, 3)):
        rated(project, REVIEW, Ada=(ada,) * 3, Ben=(ben,) * 3)
    found = selection_ratings.report(project)
    # Both ways round 1 2, 3 4, 5 3, 2 1, 4 3, 3 5: Σ dx·dy = 4 and Σ dx² = Σ dy² = 10.
    assert (found.pooled.value, found.pooled.n, found.pooled.low) == (pytest.approx(0.4), 3, None)
    raters = selection_ratings.sheets(found)[1]
    assert [line.cells[0].words for line in raters.lines] == ["R2", "All"]


def test_agreement_is_pearsons_r_of_the_raters_item_scores(project: Project) -> None:
    for ada, ben in ((1, 2), (3, 4), (5, 3)):
        rated(project, REVIEW, Ada=(ada,) * 3, Ben=(ben,) * 3)
    found = selection_ratings.report(project)
    # Of 1, 3, 5 and 2, 4, 3: covariance 2 / √(8 · 2) = 1/2.
    assert found.agreement["R2", "R3"].value == pytest.approx(0.5)
    questions, raters, _funnel = selection_ratings.sheets(found)
    # With one degree of freedom, p = 1 − 2/π · arctan(0.5 / √0.75) = 2/3.
    assert [cell.value for cell in raters.lines[0].cells[3:]] == [pytest.approx(2 / 3), 3]
    assert len(questions.pictures) == 1


def test_ratings_of_dimensions_the_type_no_longer_has_are_counted(project: Project) -> None:
    item = rated(project, REVIEW, Ada=(4, 5, 3))
    sql.alter(project, "UPDATE item SET question_type = ? WHERE id = ?", [TECHNICAL, item])
    found = selection_ratings.report(project)
    assert (found.unreadable, found.chosen) == (1, {})


def test_only_a_coordinator_sees_them(project: Project) -> None:
    rated(project, REVIEW, Ada=(4, 5, 3))
    assert not people.someone(pairs.work_as(project, "Ada")).has(Role.COORDINATOR)
    with pytest.raises(Refusal, match="Only a coordinator can see how questions were rated"):
        selection_ratings.report(project)
