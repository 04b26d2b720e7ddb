"""Key points that people accept, edit, reject and part, and the pool of an item that is frozen from them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import materials
from annotator.actions.material import part_edits
from annotator.actions.papers import common_pools, point_reviews
from annotator.actions.papers.common_pools import PointReview
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.material.keypoints import KeyPoints
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from tests.material.points_project import COOLER, DEAD, ONE, RENT, REPORTS, TWO, WATER, points_project
from tests.projects.material_project import subject

KIND = ResponsePart.KEYPOINTS


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = points_project(tmp_path)
    yield made
    made.close()


def points(project: Project, number: int = 0) -> KeyPoints:
    found = part_edits.of(project, subject(project, number), KIND)
    assert found is not None
    assert isinstance(found.document, KeyPoints)
    return found.document


def change(project: Project, unit: str, number: int = 0, **fields: object) -> None:
    part_edits.change_unit(project, subject(project, number), KIND, unit, **fields)


def review(project: Project) -> list[tuple[int, int, int, int]]:
    return sorted(
        (one.accepted, one.edited, one.rejected, one.waiting) for one in common_pools.reviews(project)
    )


def test_what_nobody_looked_at_is_neither_accepted_nor_rejected(project: Project) -> None:
    assert review(project) == [(0, 0, 0, 2), (0, 0, 0, 3)]
    assert point_reviews.sheets(point_reviews.report(project)) == ()


def test_points_are_accepted_edited_and_rejected_one_by_one(project: Project) -> None:
    change(project, "k1", accepted=True)
    change(project, "k2", text="Roots need soil that is open.")
    assert review(project) == [(0, 0, 0, 2), (2, 1, 0, 1)]
    part_edits.remove_unit(project, subject(project), KIND, "k3")
    assert review(project) == [(0, 0, 0, 2), (2, 1, 1, 0)]
    (sheet,) = point_reviews.sheets(point_reviews.report(project))
    # Two of three that were decided.
    assert sheet.lines[0].cells[1].value == pytest.approx(2 / 3)
    assert [cell.value for cell in sheet.lines[0].cells[2:]] == [2, 1, 1, 0, 1]


def test_confirming_accepts_what_is_left(project: Project) -> None:
    part_edits.confirm(project, subject(project, REPORTS[1]), KIND)
    change(project, "k1", accepted=True)
    part_edits.confirm(project, subject(project), KIND)
    assert review(project) == [(2, 0, 0, 0), (3, 0, 0, 0)]
    with pytest.raises(Refusal, match="already confirmed"):
        part_edits.confirm(project, subject(project), KIND)


def test_an_edit_keeps_which_pages_were_read(project: Project) -> None:
    change(project, "k1", vital=True)
    document = points(project)
    assert [one.address for one in document.pages] == [ONE, TWO, DEAD]
    assert (document.unit("k1").vital, document.unit("k1").accepted, document.unit("k2").accepted) == (
        True, True, False,
    )  # fmt: skip


def test_a_span_that_is_in_no_page_is_refused_by_name_and_nothing_changes(project: Project) -> None:
    before = points(project)
    with pytest.raises(Refusal, match=r"“Trees raise the sea\.” stands in no page"):
        change(project, "k1", spans=f"{COOLER}\nTrees raise the sea.")
    assert points(project) == before


def test_typed_spans_are_found_in_the_pages(project: Project) -> None:
    change(project, "k1", spans=f"{COOLER}\n{WATER.upper()}")
    anchors = points(project).unit("k1").anchors
    assert [(one.source_id, one.quote) for one in anchors] == [(ONE, COOLER), (TWO, WATER)]


def test_a_point_written_by_hand_counts_once_it_has_words_of_a_page(project: Project) -> None:
    part_edits.add_unit(project, subject(project), KIND, text="Rents rise.")
    (own,) = [one for one in points(project).units if one.text == "Rents rise."]
    assert (own.kept, own.accepted) == (False, True)
    change(project, own.id, spans=RENT)
    assert points(project).unit(own.id).kept


def test_merged_points_are_parted_and_keep_their_ids(project: Project) -> None:
    part_edits.part_unit(project, subject(project), KIND, "k1")
    units = points(project).units
    assert [one.id for one in units] == ["k1", "k9", "k2", "k3"]
    assert [one.addresses for one in units[:2]] == [(ONE,), (TWO,)]
    with pytest.raises(Refusal, match="Nothing was merged"):
        part_edits.part_unit(project, subject(project), KIND, "k1")


def pool(project: Project) -> KeyPoints | None:
    item_id, _ = subject(project)
    found = part_edits.of(project, (item_id, ""), ResponsePart.POOL)
    return found.document if found else None  # type: ignore[return-value]


def test_a_pool_holds_the_accepted_points_of_all_reports_each_once(project: Project) -> None:
    change(project, "k1", accepted=True)
    part_edits.confirm(project, subject(project, REPORTS[1]), KIND)
    done = common_pools.freeze(project)
    # k1 and k4: k5 is of the place of k1, and k2 and k3 are still open. Of the other item nothing was drawn.
    assert (done.items, done.points, done.before) == (1, 2, 0)
    found = pool(project)
    assert found is not None
    assert sorted(one.id for one in found.units) in (["k1", "k4"], ["k4", "k5"])
    assert {other.id for one in found.units for other in (one, *one.merged)} == {"k1", "k4", "k5", "k9"}


def test_reports_are_asked_about_points_of_others_sources(project: Project) -> None:
    part_edits.confirm(project, subject(project, REPORTS[1]), KIND)
    common_pools.freeze(project)
    shape = PROTOCOLS["arena.keypoints.common"]
    item_id, _ = subject(project)
    (at_hand,) = materials.each(project, materials.for_judging(shape), [item_id])
    asked = [sorted(case.unit.id for case in shape.cases(one)) for one in at_hand.responses]
    assert asked == [["k4", "k5"]] * len(asked)
    assert len(asked) == 2


def test_a_frozen_pool_stays_as_it_is(project: Project) -> None:
    part_edits.confirm(project, subject(project, REPORTS[1]), KIND)
    common_pools.freeze(project)
    before = pool(project)
    part_edits.confirm(project, subject(project), KIND)
    again = common_pools.freeze(project)
    assert (again.items, again.before, pool(project)) == (0, 1, before)
    assert before is not None
    item_id, _ = subject(project)
    with pytest.raises(Refusal, match="frozen"):
        part_edits.remove_unit(project, (item_id, ""), ResponsePart.POOL, before.units[0].id)


def test_nothing_is_frozen_before_anything_is_accepted(project: Project) -> None:
    with pytest.raises(Refusal, match="No key point was accepted"):
        common_pools.freeze(project)
    assert pool(project) is None


def test_freezing_can_be_undone(project: Project) -> None:
    part_edits.confirm(project, subject(project, REPORTS[1]), KIND)
    common_pools.freeze(project)
    history.undo(project)
    assert pool(project) is None


def test_a_review_is_of_one_judge(project: Project) -> None:
    assert all(isinstance(one, PointReview) and one.judge_id for one in common_pools.reviews(project))
