"""Items are curated: changed, retired and brought back, several in one act, and kept out of everything meanwhile."""

import shutil
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import items, summaries
from annotator.actions.items.items import Filter
from annotator.actions.labelling import label_tasks
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.actions.studies import result_views, selection_ratings
from annotator.actions.undo import history, undo_places
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import candidates
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = pairs.pairs_project(tmp_path, 0)
    yield project
    project.close()


@pytest.fixture
def sample(sample_file: Path, tmp_path: Path) -> Iterator[Project]:
    shutil.copy(sample_file, path := tmp_path / "sample.goldsmith")
    project = Project.open(path)
    yield project
    project.close()


def test_letter_2_several_items_change_in_one_act_that_is_undone(project: Project) -> None:
    one, two, three = candidates(project, None, None, None)
    items.change_all(project, {one: {"subject": "NLP", "origin": "forum"}, two: {"question_type": "Survey"}})
    assert (items.read(project, one).subject, items.read(project, two).question_type) == ("NLP", "Survey")
    taken_back = history.undo(project)
    assert undo_places.seen(project, taken_back).words == "change subject, origin, question_type, 2 items"
    assert [items.read(project, each).subject for each in (one, two, three)] == ["AI"] * 3
    assert items.read(project, one).origin == "laboratory"
    history.redo(project)
    assert items.read(project, one).origin == "forum"
    assert checking.check(project).problems == []


def test_letter_2_what_is_said_already_is_no_change(project: Project) -> None:
    (one,) = candidates(project, None)
    change = items.change_all(project, {one: {"subject": "AI"}})
    assert items.changed_by(change) == {}
    assert change.seq == 0


def test_letter_2_a_date_that_is_none_and_an_annotator_are_refused(project: Project) -> None:
    (one,) = candidates(project, None)
    with pytest.raises(Refusal, match="collected does not fit"):
        items.change_all(project, {one: {"collected": "last May"}})
    pairs.work_as(project, "Ada")
    with pytest.raises(Refusal, match="Only a coordinator"):
        items.change_all(project, {one: {"subject": "NLP"}})
    assert items.read(project, one).collected == "2025-03"


def test_letter_2_selection_is_applied_in_one_act_and_open_ratings_stay(project: Project) -> None:
    kept, below, open_, late = candidates(project, (5, 5), (4, 4), None, (3, 3))
    change = selection_ratings.apply(project)
    assert set(items.changed_by(change)) == {below, late}
    assert items.ids(project) == [kept, open_]
    assert items.ids(project, Filter(retired=True)) == [below, late]
    with pytest.raises(Refusal, match="No item in use was rated below"):
        selection_ratings.apply(project)
    history.undo(project)
    assert items.count(project) == 4


def test_letter_2_who_was_left_out_still_counts_for_how_far_raters_agree(project: Project) -> None:
    candidates(project, (5, 5), (1, 2), (3, 3))
    before = selection_ratings.report(project)
    selection_ratings.apply(project)
    after = selection_ratings.report(project)
    assert after.agreement == before.agreement
    words = [line.cells[4].words for line in selection_ratings.sheets(after)[0].lines]
    assert words == ["kept", "left out, retired", "left out, retired"]


def test_letter_2_the_funnel_counts_by_origin_and_stage(project: Project) -> None:
    candidates(project, (5, 5), (4, 4), None, (5, 5))
    selection_ratings.apply(project)
    (sheet,) = (
        one for one in selection_ratings.sheets(selection_ratings.report(project)) if one.key == "funnel"
    )
    assert sheet.keys == ["origin", "collected", "classified", "rated", "reached", "in_use", "settled"]
    assert [[cell.words for cell in line.cells] for line in sheet.lines] == [
        ["forum", "1", "1", "0", "0", "1", "0"],
        ["interviews", "1", "1", "1", "0", "0", "0"],
        ["laboratory", "2", "2", "2", "2", "2", "0"],
        ["All", "4", "4", "3", "2", "3", "0"],
    ]


def test_letter_2_a_retired_item_is_in_nothing_that_is_scored_handed_out_or_released(
    sample: Project, tmp_path: Path
) -> None:
    (first,) = items.ids_of(sample, ["norm-placement"])
    assert "norm-placement" in said_by_views(sample)
    rows = sql.rows(sample, "SELECT (SELECT count(*) FROM judgement), (SELECT count(*) FROM revision)")
    items.change(sample, first, retired=True)
    said = said_by_views(sample)
    assert "early-warning" in said
    assert "norm-placement" not in said
    assert summaries.counts(sample)["items"] == 2
    assert first not in {task.item_id for task in label_tasks.queue(sample)}
    releases.export(sample, tmp_path / "release")
    assert not [path for path in (tmp_path / "release").rglob("*.json") if first in path.read_text("utf-8")]
    assert (
        sql.rows(sample, "SELECT (SELECT count(*) FROM judgement), (SELECT count(*) FROM revision)") == rows
    )
    history.undo(sample)
    assert "norm-placement" in said_by_views(sample)


def said_by_views(project: Project) -> str:
    """All that the views of the results say, but that of the selection, which tells of retired items too."""
    found = []
    for view in result_views.VIEWS:
        if view.name == "selection":
            continue
        with suppress(Refusal):
            for sheet in view.sheets(view.report(project)):
                found += [cell.words for line in sheet.lines for cell in line.cells] + list(sheet.told)
    return "\n".join(found)


def test_letter_2_what_is_known_of_an_item_leaves_with_a_release_and_comes_back(
    project: Project, tmp_path: Path
) -> None:
    candidates(project, None)
    releases.export(project, tmp_path / "release")
    with closing(new_project(tmp_path / "again.goldsmith")) as again:
        imports.run(again, "goldsmith", [tmp_path / "release"])
        (found,) = (items.read(again, each) for each in items.ids(again))
    assert (found.origin, found.contributor, found.collected) == ("laboratory", "K", "2025-03")
