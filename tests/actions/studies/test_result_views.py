"""The views of the results: all can be shown of any project, with any of their choices."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import result_exports
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import VIEWS
from annotator.actions.validation import validation_views
from annotator.domain.texts.refusal import Refusal
from tests.projects import adra_project as adra
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = adra.adra_project(tmp_path, 2, ("Alpha", "Beta"))
    for item in items.ids(project):
        adra.fill_matrix(project, item, adra.response_of(item), [[1, 0, 0, 0]])
    yield project
    project.close()


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_of_an_empty_project_says_what_to_do(view: result_views.ResultView, tmp_path: Path) -> None:
    project = new_project(tmp_path / "none.goldsmith")
    assert result_views.show(project, view.name, {}).sheets == ()
    assert view.lacks.endswith(".")
    project.close()


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
                assert b"NaN" not in result_exports.as_json(sheet)
    sample.close()


def test_a_choice_that_does_not_fit_gives_way_to_the_first(project: Project) -> None:
    shown = result_views.show(project, "overview", {"metric": "nonsense", "by": "subject"})
    assert (shown.chosen["metric"], shown.chosen["by"]) == ("", "subject")


def test_what_is_only_set_out_otherwise_is_not_counted_again(project: Project) -> None:
    view = result_views.named("overview")
    first = result_views.show(project, "overview", {})
    wanted = {**first.chosen, "by": "subject"}
    assert result_views.same_count(view, first.chosen, wanted)
    assert not result_views.same_count(view, first.chosen, {**first.chosen, "judge": "other"})
    sql.alter(project, "DELETE FROM judgement")
    again = result_views.show(project, "overview", wanted, first.kept)
    assert again.kept is first.kept
    assert again.sheets[0].columns[0].title == "Subject"


def test_an_unknown_view_is_refused_with_those_there_are(project: Project) -> None:
    with pytest.raises(Refusal, match="no view “nonsense”") as refused:
        result_views.show(project, "nonsense", {})
    assert "overview, items, wins" in refused.value.todo


@pytest.mark.parametrize("view", [*VIEWS, *validation_views.VIEWS], ids=lambda view: view.name)
def test_a_choice_that_no_view_has_is_refused(view: result_views.ResultView, project: Project) -> None:
    among = VIEWS if view in VIEWS else validation_views.VIEWS
    with pytest.raises(Refusal, match="has no choice called “colour”"):
        result_views.show(project, view.name, {"colour": "red"}, among=among)
