"""What was drawn from reports: drawn by a judge, corrected by hand beside the report, confirmed."""

import asyncio
import json

import pytest

from annotator.actions.items import drawn_parts
from annotator.actions.judges import judges
from annotator.actions.material import extracting, part_edits
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.part import ResponsePart
from tests.judging.odd_server import completion
from tests.material import drawn_extracts
from tests.projects.material_project import FIRST, SECOND, subject
from tests.windows.labelling_keys import focus, press, type_words


@pytest.fixture
def page(project, show, qtbot):
    page = show(project, "Extracts")
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    return page


def texts(project, part: ResponsePart = ResponsePart.CLAIMS) -> list[str]:
    found = part_edits.of(project, subject(project), part)
    return [unit.text for unit in found.document.units] if found else []


def standing(project, part: ResponsePart = ResponsePart.CLAIMS) -> str:
    return drawn_parts.standing(project)[subject(project)][part.value].standing.value


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
    found = part_edits.of(project, subject(project), ResponsePart.CLAIMS)
    assert [(unit.id, unit.url) for unit in found.document.units] == [
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


def test_a_section_that_is_none_is_refused_and_the_typing_stays(page, project):
    page.parts.editor.fields.fields["section"].setText("first")
    press("Alt+Return")
    assert "The section does not fit" in page.window().messages.text()
    assert page.parts.editor.fields.fields["section"].text() == "first"
    assert standing(project) == "drawn"


def test_claims_are_added_and_removed_and_undo_brings_them_back(page, project, qtbot):
    page.parts.editor.list.setFocus()
    press("Ctrl+N")
    assert focus() is page.parts.editor.fields.fields["text"]
    type_words("Between.")
    press("Alt+Return")
    assert texts(project) == [FIRST, "Between.", SECOND]
    press("Ctrl+Backspace")
    assert texts(project) == [FIRST, SECOND]
    page.desk.undo()
    qtbot.waitUntil(lambda: page.parts.editor.model.rowCount() == 3)
    assert texts(project) == [FIRST, "Between.", SECOND]


def test_what_is_right_is_confirmed_with_a_key(page, project, qtbot):
    press("Alt+C")
    assert standing(project) == "confirmed"
    assert not page.parts.editor.confirming.isEnabled()
    qtbot.waitUntil(lambda: page.parts.model.index(0, 3).data() == "confirmed")


def test_a_part_that_nobody_drew_can_be_written_by_hand(page, project):
    page.parts.kinds.hold(type(page.parts.kinds.held).PLAN)
    assert "Nothing extracted yet" in page.parts.editor.nothing.text()
    page.parts.editor.add()
    page.parts.editor.fields.fields["text"].setPlainText("Establish why depth hurts.")
    page.parts.editor.keep()
    assert texts(project, ResponsePart.PLAN) == ["Establish why depth hurts."]


def test_a_judge_draws_from_the_reports_in_a_process_of_its_own(page, project, qtbot):
    page.parts.kinds.hold(type(page.parts.kinds.held).PLAN)
    assert page.parts.drawing.judge.currentText() == "baseline (no network)"
    with qtbot.waitSignal(page.parts.came):
        press("Ctrl+Shift+Return")
    assert "4 of 4 are extracted" in page.parts.drawing.answer.text()
    assert len([one for one in drawn_parts.standing(project).values() if "plan" in one]) == 4


def test_only_what_waits_for_a_word_can_be_listed(page):
    page.parts.wanted.hold(type(page.parts.wanted.held).OPEN)
    assert page.parts.model.rowCount() == 1
    page.parts.wanted.hold(type(page.parts.wanted.held).NONE)
    assert page.parts.model.rowCount() == 3


def test_insights_are_drawn_from_items_and_not_from_reports(page):
    page.parts.kinds.hold(type(page.parts.kinds.held).INSIGHTS)
    assert page.parts.model.rowCount() == 2
    assert page.parts.model.columns[1] == "Question"
    assert page.parts.model.index(1, 1).data() == "Who?"
    assert "No item has a source" in page.parts.drawing.words.text()


def test_a_file_that_may_only_be_read_is_not_changed(project, show, qtbot):
    path = project.path
    project.close()
    only_read = type(project).open(path, readonly=True)
    page = show(only_read, "Extracts")
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    assert page.parts.editor.fields.fields["url"].isReadOnly()
    assert not page.parts.editor.confirming.isEnabled()
    assert not page.parts.drawing.begin.isEnabled()


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


def test_the_key_that_removes_a_unit_deletes_a_word_in_the_search(page, project):
    page.parts.search.setText("alpha beta")
    page.parts.search.setFocus()
    press("Ctrl+Backspace")
    assert page.parts.search.text() == "alpha "
    assert texts(project) == [FIRST, SECOND]
