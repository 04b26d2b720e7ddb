"""Key points beside the page that says them: accepted, rejected, parted and frozen by keyboard."""

import pytest

from annotator.actions.material import part_edits
from annotator.domain.material.part import ResponsePart
from annotator.gui.pages.material.parts_view import Drawable
from tests.material.points_project import COOLER, FIRST, TEXTS, TWO, points_project
from tests.projects.material_project import subject
from tests.windows.labelling_keys import press


@pytest.fixture
def project(tmp_path):
    return points_project(tmp_path)


@pytest.fixture
def page(project, show, qtbot):
    page = show(project, "Extracts")
    page.parts.kinds.hold(Drawable.KEYPOINTS)
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    page.parts.editor.list.setFocus()
    return page


def document(project):
    return part_edits.of(project, subject(project), ResponsePart.KEYPOINTS).document


def rows(page) -> list[str]:
    model = page.parts.editor.model
    return [model.index(row, 2).data() for row in range(model.rowCount())]


def test_the_page_is_shown_with_its_words_marked(page):
    view = page.parts.text.view
    assert [view.text()[mark.start : mark.end] for mark in view.marks("evidence")] == [COOLER]
    page.parts.editor.list.setCurrentIndex(page.parts.editor.model.index(2, 1))
    assert view.text() == TEXTS[TWO]
    page.parts.kinds.hold(Drawable.CLAIMS)
    assert view.text() != TEXTS[TWO]


def test_points_are_accepted_one_after_the_other(page, project):
    press("Alt+K")
    press("Alt+K")
    assert [one.accepted for one in document(project).units] == [True, True, False]
    assert page.parts.editor.unit.id == "k3"
    press("Ctrl+Backspace")
    assert [one.id for one in document(project).units] == ["k1", "k2"]
    assert page.parts.editor.confirming.isEnabled() is False


def test_what_is_left_is_accepted_at_once(page, project):
    press("Alt+I")
    assert rows(page)[0].startswith("1 merged, vital")
    assert page.parts.editor.confirming.isEnabled()
    press("Alt+C")
    assert all(one.accepted for one in document(project).units)
    assert not page.parts.editor.confirming.isEnabled()


def test_what_was_merged_is_shown_and_parted(page, project):
    assert "Trees cool streets." in page.parts.editor.merged.text()
    press("Alt+T")
    assert [one.id for one in document(project).units] == ["k1", "k9", "k2", "k3"]
    assert not page.parts.editor.merged.isVisible()
    assert not page.parts.editor.parting.isEnabled()


def test_a_span_that_is_in_no_page_is_refused_by_name(page, project):
    page.parts.editor.fields.fields["spans"].setPlainText("Trees raise the sea.")
    press("Alt+Return")
    assert "“Trees raise the sea.” stands in no page" in page.window().messages.text()
    assert document(project).units == FIRST
    page.parts.editor.fields.show_unit(None)


def test_a_pool_is_frozen_by_its_key_and_cannot_be_edited(page, project, qtbot):
    press("Alt+C")
    page.parts.kinds.hold(Drawable.POOL)
    assert "No pool yet" in page.parts.editor.nothing.text()
    press("Alt+C")
    qtbot.waitUntil(lambda: page.parts.editor.model.rowCount() == 3)
    item_id, _ = subject(project)
    assert len(part_edits.of(project, (item_id, ""), ResponsePart.POOL).document.units) == 3
    press("Ctrl+Backspace")
    assert page.parts.editor.model.rowCount() == 3
    assert not page.parts.editor.confirming.isEnabled()


def test_other_extracts_have_no_keys_for_points(page, project):
    page.parts.kinds.hold(Drawable.CLAIMS)
    assert not page.parts.editor.accepting.isVisible()
    press("Alt+K")
    assert part_edits.of(project, subject(project), ResponsePart.CLAIMS) is None
