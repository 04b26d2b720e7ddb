"""The views of judge validation: what each lets choose, and that every one has something to show."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.actions.results import result_exports
from annotator.actions.sets import reviews, validation_sets
from annotator.actions.studies import result_views
from annotator.actions.validation import disagreements, validation
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.judges.informed import InformedRuling, Review
from annotator.domain.texts.refusal import Refusal
from tests.actions.validation.test_judge_choice import price
from tests.projects.validation_project import At, judge_says, person, person_says, places, validation_project
from tests.templates import once


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


@once
def ruled_project(folder: Path) -> Project:
    """A locked set of half of the reports, two people, two judges, a review and a ruling."""
    project = validation_project(folder)
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=4))
    for alias in ("R2", "R3"):
        person_says(project, alias, ann)
    judge_says(project, "large", ann)
    judge_says(project, "small", lambda at: "yes" if at[2] == 1 else ann(at))
    price(project, "small", 0.01)
    validation_sets.lock(project, "Spring")
    _, response, unit = places(project)[1, "Alpha", 1]
    reviews.review(project, "small", response, unit, Review.AGREE)
    waiting = disagreements.queue(project, validation.ValidationQuery())
    for one in waiting[:1]:
        disagreements.rule(project, one, InformedRuling.JUDGE_WRONG)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = ruled_project(tmp_path)
    yield project
    project.close()


# Of runs that were asked again nothing is shown before there is one: `actions/judging/test_drift` has some.
@pytest.mark.parametrize("name", [view.name for view in VIEWS if view.name != "again"])
def test_every_view_shows_something_by_its_first_choices(project: Project, name: str) -> None:
    shown = result_views.show(project, name, {}, among=VIEWS)
    assert shown.sheets
    assert all(len(line.cells) == len(sheet.columns) for sheet in shown.sheets for line in sheet.lines)
    assert all(choice.values for choice in shown.choices)


def test_a_set_and_whom_to_hold_against_can_be_chosen(project: Project) -> None:
    ann_id = person(project, "R2").id
    offered = {choice.name: choice.values for choice in VIEWS[0].choices(project)}
    assert ("Spring", "Spring") in offered["set"]
    assert ("R2", ann_id) in offered["against"]
    shown = result_views.show(
        project, "judges", {"set": "Spring", "against": ann_id, "by": "system"}, among=VIEWS
    )
    assert shown.kept.query.set_name == "Spring"
    assert shown.kept.against == "R2"
    assert {line.group for line in shown.kept.lines} <= {"Alpha", "Beta"}


def test_the_test_part_is_shown_only_with_a_counted_look(project: Project) -> None:
    chosen = {"set": "Spring", "part": "test"}
    with pytest.raises(Refusal, match="each view is counted"):
        result_views.show(project, "judges", chosen, among=VIEWS)
    opening = validation_sets.open_test(project, "Spring", ["small"]).id
    assert result_views.show(project, "judges", chosen | {"opening": opening}, among=VIEWS).sheets


def offered(project: Project, **chosen: str) -> list[str]:
    choices, _ = result_views.offered(project, "judges", chosen, VIEWS)
    return [choice.name for choice in choices]


def test_a_part_is_chosen_only_within_a_set(project: Project) -> None:
    assert "part" not in offered(project)
    assert "part" in offered(project, set="Spring")


def test_a_set_is_offered_once_its_labels_are_locked(project: Project) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Autumn", both, size=2))
    sets = next(choice for choice in VIEWS[0].choices(project) if choice.name == "set")
    assert [value for _, value in sets.values] == ["", "Spring"]


def test_what_was_chosen_for_another_set_is_let_go_of(project: Project) -> None:
    shown = result_views.show(project, "judges", {"set": "", "part": "test"}, among=VIEWS)
    assert "part" not in shown.chosen


def test_two_judges_whose_difference_spans_zero_are_called_indistinguishable(project: Project) -> None:
    judge_says(project, "other", lambda at: "no" if at == (1, "Beta", 2) else "yes")
    shown = result_views.show(project, "judges", {}, among=VIEWS)
    between = next(sheet for sheet in shown.sheets if sheet.title == "Two judges")
    heads = [column.title for column in between.columns]
    for line in between.lines:
        gap = line.cells[heads.index("First − second")].estimate
        assert gap is not None
        if gap.low is None or gap.high is None or gap.low <= 0 <= gap.high:
            words = line.cells[heads.index("Verdict")].words
            known = gap.low is not None and not gap.note
            assert words.startswith("indistinguishable" if known else "nothing can be said: ")


def test_figures_by_weight_leave_as_a_file(project: Project, tmp_path: Path) -> None:
    shown = result_views.show(project, "judges", {}, among=VIEWS)
    table = next(sheet for sheet in shown.sheets if sheet.title == "By weight")
    rows = result_exports.rows(table)
    assert {"accuracy", "accuracy_low", "accuracy_high", "accuracy_n", "f1"} <= set(rows[0])
    result_exports.save(table, tmp_path / "weight.csv")
    assert b"accuracy_high" in (tmp_path / "weight.csv").read_bytes()


def test_there_is_a_picture_of_every_figure_with_people_in_it(project: Project) -> None:
    shown = result_views.show(project, "judges", {"by": "system"}, among=VIEWS)
    for sheet in shown.sheets[:2]:
        names = {cell.picture for line in sheet.lines for cell in line.cells if cell.picture}
        assert names
        assert names <= {picture.name for picture in sheet.pictures}
