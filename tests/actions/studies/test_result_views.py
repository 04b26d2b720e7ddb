"""The views of the results: all can be shown of any project, with any of their choices."""

from pathlib import Path

import pytest

from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import result_pictures
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import VIEWS
from annotator.actions.validation import validation_views
from tests.material.labelled_sections import cited_sections
from tests.material.printed_project import printed_project
from tests.material.rated_tasks import rated_tasks
from tests.projects import adra_project as adra
from tests.projects.labelling_project import project_with
from tests.projects.refusals import expect_refusal
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = adra.adra_project(tmp_path, 2, ("Alpha", "Beta"))
    for item in items.ids(project):
        adra.fill_matrix(project, item, adra.response_of(item), [[1, 0, 0, 0]])
    return project


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_of_an_empty_project_says_what_to_do(view: result_views.ResultView, tmp_path: Path) -> None:
    assert result_views.show(new_project(tmp_path / "none.goldsmith"), view.name, {}).sheets == ()
    assert view.lacks.endswith(".")


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_every_choice_of_a_view_can_be_made(view: result_views.ResultView, sample: Project) -> None:
    first = result_views.show(sample, view.name, {})
    for choice in view.choices(sample):
        for _, value in choice.values:
            same = result_views.same_count(view, first.chosen, {**first.chosen, choice.name: value})
            kept = first.kept if same else None
            shown = result_views.show(sample, view.name, {choice.name: value}, kept)
            assert shown.chosen[choice.name] == value
            for sheet in shown.sheets:
                assert all(len(line.cells) == len(sheet.columns) for line in sheet.lines)
                assert b"NaN" not in result_pictures.as_json(sheet)


def test_choices_that_do_not_fit_give_way(project: Project) -> None:
    refused = expect_refusal("no view “nonsense”", result_views.show, project, "nonsense", {})
    assert "overview, items, wins" in refused.todo
    shown = result_views.show(project, "overview", {"metric": "nonsense", "by": "subject"})
    assert (shown.chosen["metric"], shown.chosen["by"]) == ("", "subject")
    view = result_views.named("overview")
    first = result_views.show(project, "overview", {})
    wanted = {**first.chosen, "by": "subject"}
    assert result_views.same_count(view, first.chosen, wanted)
    assert not result_views.same_count(view, first.chosen, {**first.chosen, "judge": "other"})
    sql.alter(project, "DELETE FROM judgement")
    again = result_views.show(project, "overview", wanted, first.kept)
    assert again.kept is first.kept
    assert again.sheets[0].columns[0].title == "Subject"


@pytest.mark.parametrize("view", [*VIEWS, *validation_views.VIEWS], ids=lambda view: view.name)
def test_a_choice_that_no_view_has_is_refused(view: result_views.ResultView, project: Project) -> None:
    among = VIEWS if view in VIEWS else validation_views.VIEWS
    expect_refusal(
        "has no choice called “colour”", result_views.show, project, view.name, {"colour": "red"}, among=among
    )


@pytest.mark.parametrize(
    "make", [lambda folder: project_with(folder, 0), printed_project, rated_tasks, cited_sections]
)
def test_a_view_is_listed_where_it_has_something_to_show(make, tmp_path: Path) -> None:
    made = make(tmp_path)
    held = result_views.held(made)
    resting = {view.name for view in paper_tables.VIEWS if view.rests(held)}
    # A table of a paper is asked for by its name; a cut lies between dates that are known.
    views = [view.name for view in paper_tables.VIEWS if view.name not in ("tables", "cut-off")]
    shown = {name for name in views if result_views.show(made, name, {}, among=paper_tables.VIEWS).sheets}
    assert resting - {"tables", "cut-off"} == shown


def test_a_table_is_listed_where_it_has_figures(tmp_path: Path) -> None:
    made = printed_project(tmp_path)
    result = {one["name"]: one for one in paper_tables.listed(made, every=True)}
    assert not result["end-to-end"]["missing"]
    assert result["retrieval-apis"]["short"] == "d5"
    # Nobody has continued a task or written an exemplar.
    assert "goldsmith respond FILE --system S --mode continuation" in result["leakage"]["missing"]
    assert "goldsmith sources works FILE" in result["exemplar-statistics"]["missing"]
    there = [one["name"] for one in paper_tables.listed(made)]
    assert there == [name for name, one in result.items() if not one["missing"]]


def test_sources_of_a_seminar_are_no_cell_of_the_balance(tmp_path: Path) -> None:
    made = samples.create_small(tmp_path / "seminar.goldsmith", samples.SEMINAR)
    assert result_views.show(made, "sources", {}).sheets == ()
