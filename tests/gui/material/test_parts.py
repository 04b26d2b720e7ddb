"""What was drawn from reports and corrected by hand; which reports there are, and how a model is let write them."""

import asyncio
import json

import pytest
from PySide6.QtGui import QTextCursor

from annotator.actions.imports import imports
from annotator.actions.items import extracts, materials
from annotator.actions.judges import judges
from annotator.actions.material import extracting, responding
from annotator.actions.project import people
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.assignment import Role
from annotator.domain.material.extract import ResponsePart
from annotator.gui.pages.material.parts_view import Drawable
from tests.judging.odd_server import completion, error
from tests.material import drawn_extracts, points_project as key_points
from tests.projects.material_project import SECOND, subject
from tests.servers.writing_server import answering, asking_project, written
from tests.windows.using import focus, press, type_words


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


def test_each_report_says_how_far_its_claims_are_and_marks_the_chosen_ones_place(page, project):
    cells = [[page.parts.model.index(row, column).data() for column in (1, 3)] for row in range(4)]
    assert cells == [
        ["Alpha", "to confirm"], ["Beta", "not extracted"], ["Alpha", "not extracted"], ["Beta", "not extracted"],
    ]  # fmt: skip
    editor = page.parts.editor
    for row, words in ((1, "compares the stability of training"), (0, "explains residual connections")):
        editor.list.setCurrentIndex(editor.model.index(row, 1))
        assert marked(page) == words
    # Looking makes no version of it.
    page.leave()
    assert standing(project) == "drawn"
    assert len(drawn_extracts.all_of(project, subject(project)[1])) == 1


def test_claims_are_corrected_added_and_removed_and_undo_brings_them_back(page, project, qtbot):
    editor = page.parts.editor
    editor.fields.fields["url"].setFocus()
    editor.fields.fields["url"].setText("https://b.example/y")
    press("Alt+Return")
    result = extracting.of(project, subject(project), ResponsePart.CLAIMS)
    assert [(unit.id, unit.url) for unit in result.document.units] == [
        ("c0", "https://b.example/y"),
        ("c1", ""),
    ]
    assert standing(project) == "edited"
    assert editor.standing.words() == ["corrected"]
    editor.fields.fields["text"].setPlainText("Worded anew.")
    editor.list.setCurrentIndex(editor.model.index(1, 1))
    assert texts(project) == ["Worded anew.", SECOND]
    assert editor.unit.text == SECOND
    editor.list.setCurrentIndex(editor.model.index(0, 1))
    editor.list.setFocus()
    press("Ctrl+N")
    assert focus() is editor.fields.fields["text"]
    type_words("Between.")
    press("Alt+Return")
    assert texts(project) == ["Worded anew.", "Between.", SECOND]
    press("Ctrl+Backspace")
    assert texts(project) == ["Worded anew.", SECOND]
    page.session.undo()
    qtbot.waitUntil(lambda: editor.model.rowCount() == 3)
    assert texts(project) == ["Worded anew.", "Between.", SECOND]


def test_what_is_typed_goes_on_when_the_page_is_filled_again_behind_it(page, qtbot):
    field = page.parts.editor.fields.fields["context"]

    def fill() -> None:
        page.parts.fill()
        qtbot.waitUntil(lambda: not len(page.session._tasks_behind))
        qtbot.wait(20)

    field.setFocus()
    field.moveCursor(QTextCursor.MoveOperation.End)
    before = field.toPlainText()
    fill()
    type_words(" and")
    fill()
    type_words(" more")
    assert field.toPlainText() == f"{before} and more"
    assert focus() is field


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


def test_points_are_accepted_one_after_the_other_beside_the_words_of_their_page(tmp_path, show, qtbot):
    points = key_points.points_project(tmp_path)
    page = show(points, "Extracts")
    page.parts.kinds.hold(Drawable.KEYPOINTS)
    editor, view = page.parts.editor, page.parts.text.view
    qtbot.waitUntil(lambda: editor.extract is not None)
    assert marked(page) == key_points.COOLER
    editor.list.setCurrentIndex(editor.model.index(2, 1))
    assert view.text() == key_points.TEXTS[key_points.TWO]
    editor.list.setCurrentIndex(editor.model.index(0, 1))
    editor.list.setFocus()

    def accepted() -> dict[str, bool]:
        result = extracting.of(points, subject(points), ResponsePart.KEYPOINTS)
        return {unit.id: unit.accepted for unit in result.document.units}

    press("Alt+K", "Alt+K")
    assert accepted() == {"k1": True, "k2": True, "k3": False}
    assert editor.unit.id == "k3"
    press("Ctrl+Backspace")
    assert accepted().keys() == {"k1", "k2"}
    assert editor.confirming.isEnabled() is False
    page.parts.kinds.hold(Drawable.CLAIMS)
    assert view.text() not in key_points.TEXTS.values()


@pytest.fixture
def asking(tmp_path, writer):
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=writer.url, model="test-model")
    return made


@pytest.fixture
def asking_page(asking, show):
    return show(asking, "Reports")


def order(asking_page, system: str = "Scribe", **more: int) -> None:
    asking_page.reports.writing.open()
    asking_page.reports.form.system.setText(system)
    asking_page.reports.form.trials.setValue(more.get("trials", 1))


def ended(asking_page, qtbot, start) -> str:
    """What was said at the end of a run; what only informs may be gone when one looks."""
    form, said = asking_page.reports.form, list[str]()
    form.came.connect(lambda: said.append(form.answer.text()))
    with qtbot.waitSignal(form.came):
        start()
    qtbot.waitUntil(lambda: not asking_page.session._tasks_behind and not asking_page._later.isActive())
    return said[-1]


def test_a_model_writes_reports_and_letter_21_is_asked_for_prompt_cut_off_and_mode_name(
    asking_page, asking, writer, qtbot
):
    order(asking_page, trials=2)
    # What it would take is said before anything is asked.
    qtbot.waitUntil(lambda: "4 reports by 4 calls" in asking_page.reports.form.estimate.text())
    assert writer.bodies == []
    order(asking_page)
    ended(asking_page, qtbot, lambda: press("Ctrl+Shift+Return"))
    result = materials.reports(asking)
    assert (result.columns, result.count) == ((("Scribe", "end-to-end"),), 2)
    assert asking_page.reports.model.columns == ("Item", "Scribe")
    assert "2 of 2 reports are there" in asking_page.reports.form.answer.text()
    assert "Written here by test-model" in asking_page.reports.about.text()
    form = asking_page.reports.form
    order(asking_page)
    form.condition.setCurrentIndex(1)
    form.filed_as.setText("high context")
    form.cutoff.setText("March")
    assert not form.begin.isEnabled()
    assert form.words.text() == "“March” is not a day. Write it as 2025-03-24."
    form.cutoff.setText("2025-03-24")
    assert form.order().protocol == "respond.end-to-end|by=researcherbench|until=2025-03-24|as=high context"
    assert not form.words.isVisible()


def test_what_failed_is_listed_by_cause_and_asked_for_again(asking_page, asking, writer, qtbot):
    writer.answer = answering(lambda *_: error(400, "No."))
    order(asking_page)
    ended(asking_page, qtbot, asking_page.reports.form.start)
    lacking = asking_page.reports.lacking
    assert lacking.title.text() == "2 reports failed"
    assert "Scribe: 2 × endpoint failed" in lacking.tree.topLevelItem(0).text(0)
    writer.answer = answering(written)
    ended(asking_page, qtbot, lacking.again.click)
    assert responding.lacking(asking) == []
    assert lacking.isHidden()
    assert materials.reports(asking).count == 2


def test_a_run_is_stopped_and_what_is_finished_is_kept(asking_page, asking, writer, qtbot):
    held = answering(written)

    def slow(body, number):
        if number:
            writer.over.wait(20)
        return held(body, number)

    writer.answer = slow
    asking_page.reports.form.at_once.setValue(1)
    order(asking_page, trials=3)
    asking_page.reports.form.start()
    # Whoever has not heard of the run ends it at once, and nobody is told.
    qtbot.waitUntil(lambda: asking_page.reports.form.run.line.get("done") == 1)
    said = ended(asking_page, qtbot, lambda: press("Ctrl+."))
    assert materials.reports(asking).count == 1
    assert "Stopped" in said


def test_a_try_asks_for_the_item_at_the_cursor_alone(project, show, writer, qtbot):
    judges.add(project, "pen", base_url=writer.url, model="test-model")
    asking_page = show(project, "Reports")
    asking_page.reports.grid.setCurrentIndex(asking_page.reports.model.index(1, 1))
    asking_page.reports.fill()
    qtbot.waitUntil(lambda: asking_page.reports.form.items.findData("chosen") >= 0)
    asking_page.reports.form.items.setCurrentIndex(asking_page.reports.form.items.findData("chosen"))
    order(asking_page)
    assert asking_page.reports.form.order().items == ("2",)


def test_whoever_judges_blind_does_not_see_the_page(project, page_over):
    people.add_person(project, "Ana", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    asking_page = page_over(project, "Material")
    assert asking_page.body.currentWidget() is asking_page.denied
    assert asking_page.reports.model.rowCount() == 0


def test_a_seminar_is_no_row_and_all_items_are_all_but_it(asking, show, tmp_path):
    (tmp_path / "talk.txt").write_text("Ann: Salt is old.\n\nBen: It is cheap, too.\n", "utf-8")
    imports.run(asking, imports.TRANSCRIPTS, [tmp_path / "talk.txt"])
    view = show(asking, "Reports").reports
    assert view.form.items.itemText(0) == "all items but 1 seminar (2)"
    assert [row.key for row in view._reports.items] == ["1", "2"]
    assert (
        view.count.text().partition(" on ")[2].startswith("2 items. 1 seminar is left out: a seminar is what")
    )
