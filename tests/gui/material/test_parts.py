"""What was drawn from reports: corrected by hand beside the report, confirmed, frozen."""

import asyncio
import json

import pytest

from annotator.actions.items import extracts
from annotator.actions.judges import judges
from annotator.actions.material import extracting
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.part import ResponsePart
from annotator.gui.pages.material.parts_view import Drawable
from tests.judging.odd_server import completion
from tests.material import drawn_extracts
from tests.material import points_project as key_points
from tests.material.points_project import COOLER, TEXTS, TWO
from tests.projects.material_project import FIRST, SECOND, subject
from tests.windows.labelling_keys import focus, press, type_words


@pytest.fixture
def page(project, show, qtbot):
    page = show(project, "Extracts")
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    return page


def texts(project, part: ResponsePart = ResponsePart.CLAIMS) -> list[str]:
    result = extracting.of(project, subject(project), part)
    return [unit.text for unit in result.document.units] if result else []


def standing(project, part: ResponsePart = ResponsePart.CLAIMS) -> str:
    return extracts.standing_parts(project)[subject(project)][part.value].standing.value


def marked(page) -> str:
    view = page.parts.text.view
    return " ".join(view.text()[mark.start : mark.end] for mark in view.marks("evidence"))


def test_each_report_says_how_far_its_claims_are(page):
    model = page.parts.model
    assert [model.index(row, 3).data() for row in range(4)] == [
        "to confirm",
        "not extracted",
        "not extracted",
        "not extracted",
    ]
    assert [model.index(row, 1).data() for row in range(4)] == ["Alpha", "Beta", "Alpha", "Beta"]


def test_looking_at_what_was_drawn_makes_no_version_of_it(page, project):
    for row in (1, 0):
        page.parts.editor.list.setCurrentIndex(page.parts.editor.model.index(row, 1))
    page.leave()
    assert standing(project) == "drawn"
    assert len(drawn_extracts.all_of(project, subject(project)[1])) == 1


def test_the_place_of_the_chosen_claim_is_marked_in_the_report(page, qtbot):
    assert marked(page) == "explains residual connections"
    page.parts.editor.list.setCurrentIndex(page.parts.editor.model.index(1, 1))
    assert marked(page) == "compares the stability of training"


def test_a_claim_is_corrected_in_its_field(page, project):
    field = page.parts.editor.fields.fields["url"]
    field.setFocus()
    field.setText("https://b.example/y")
    press("Alt+Return")
    result = extracting.of(project, subject(project), ResponsePart.CLAIMS)
    assert [(unit.id, unit.url) for unit in result.document.units] == [
        ("c0", "https://b.example/y"),
        ("c1", ""),
    ]
    assert standing(project) == "edited"
    assert page.parts.editor.standing.words() == ["corrected"]


def test_what_was_typed_is_kept_when_another_claim_is_gone_to(page, project):
    page.parts.editor.fields.fields["text"].setPlainText("Worded anew.")
    page.parts.editor.list.setCurrentIndex(page.parts.editor.model.index(1, 1))
    assert texts(project) == ["Worded anew.", SECOND]
    assert page.parts.editor.unit.text == SECOND


def test_claims_are_added_and_removed_and_undo_brings_them_back(page, project, qtbot):
    page.parts.editor.list.setFocus()
    press("Ctrl+N")
    assert focus() is page.parts.editor.fields.fields["text"]
    type_words("Between.")
    press("Alt+Return")
    assert texts(project) == [FIRST, "Between.", SECOND]
    press("Ctrl+Backspace")
    assert texts(project) == [FIRST, SECOND]
    page.session.undo()
    qtbot.waitUntil(lambda: page.parts.editor.model.rowCount() == 3)
    assert texts(project) == [FIRST, "Between.", SECOND]


def test_the_judges_replies_are_shown_in_the_place_of_the_report(project, writer, show, qtbot):
    def answer(*_: object):
        return completion(json.dumps({"claims": [{"context": "", "text": "It explains.", "url": ""}]}))

    writer.answer = answer
    judges.add(project, "reader", base_url=writer.url, model="test-model")
    order = RunRequest("reader", "researcherbench.claims.extract", ("Beta",), timeout_s=5.0)
    asyncio.run(extracting.run(project, order))
    item_id, response_id = subject(project, 2)
    page = show(project, "Extracts", item_id=item_id, response_id=response_id, kind="claims")
    qtbot.waitUntil(lambda: page.parts.editor.line is not None)
    press("F4")
    assert "It explains." in page.parts.text.view.text()
    assert page.parts.text.heading.text() == "Raw replies: 1"
    press("F4")
    assert page.parts.text.heading.text() == "Beta on item 1"


@pytest.fixture
def points(tmp_path):
    return key_points.points_project(tmp_path)


@pytest.fixture
def points_page(points, show, qtbot):
    page = show(points, "Extracts")
    page.parts.kinds.hold(Drawable.KEYPOINTS)
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    page.parts.editor.list.setFocus()
    return page


def document(project):
    return extracting.of(project, subject(project), ResponsePart.KEYPOINTS).document


def rows(page) -> list[str]:
    model = page.parts.editor.model
    return [model.index(row, 2).data() for row in range(model.rowCount())]


def test_the_page_is_shown_with_its_words_marked(points_page):
    view = points_page.parts.text.view
    assert [view.text()[mark.start : mark.end] for mark in view.marks("evidence")] == [COOLER]
    points_page.parts.editor.list.setCurrentIndex(points_page.parts.editor.model.index(2, 1))
    assert view.text() == TEXTS[TWO]
    points_page.parts.kinds.hold(Drawable.CLAIMS)
    assert view.text() != TEXTS[TWO]


def test_points_are_accepted_one_after_the_other(points_page, points):
    press("Alt+K")
    press("Alt+K")
    assert [unit.accepted for unit in document(points).units] == [True, True, False]
    assert points_page.parts.editor.unit.id == "k3"
    press("Ctrl+Backspace")
    assert [unit.id for unit in document(points).units] == ["k1", "k2"]
    assert points_page.parts.editor.confirming.isEnabled() is False
