"""Which reports there are, which are lacking, and how a model is let write them."""

import pytest
from PySide6.QtCore import Qt

from annotator.actions.imports import imports
from annotator.actions.items import items, report_lines
from annotator.actions.judges import judges
from annotator.actions.material import response_journal
from annotator.actions.project import people
from annotator.domain.experts.person import Role
from tests.judging.odd_server import error
from tests.projects.material_project import subject
from tests.servers.writing_server import answering, asking_project, written
from tests.windows.labelling_keys import press
from tests.windows.run_keys import paused_and_resumed


@pytest.fixture
def asking(tmp_path, writer):
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=writer.url, model="test-model")
    return made


@pytest.fixture
def page(asking, show):
    return show(asking, "Reports")


def order(page, system: str = "Scribe", **more: int) -> None:
    page.reports.form.system.setText(system)
    page.reports.form.trials.setValue(more.get("trials", 1))


def ended(page, qtbot, start) -> None:
    with qtbot.waitSignal(page.reports.form.came):
        start()
    qtbot.waitUntil(lambda: not page.desk._errands and not page._later.isActive())


def cells(page) -> list[list[str]]:
    model = page.reports.model
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_reports_stand_by_item_and_system(project, show):
    page = show(project, "Reports")
    assert page.reports.model.columns == ("Item", "Alpha", "Beta")
    assert [page.reports.model.headerData(row, Qt.Orientation.Vertical) for row in (0, 1)] == ["1", "2"]
    assert page.reports.count.text() == "4 reports of 2 systems on 2 items."


def test_the_cell_at_the_cursor_says_what_its_report_took(project, show):
    page = show(project, "Reports")
    assert page.reports.cell.text() == "Alpha on item 1"
    assert "not known: time, report tokens, run tokens, cost" in page.reports.about.text()
    assert "Claims: 2 units, drawn" in page.reports.about.text()


def test_a_key_opens_the_report_with_what_was_drawn_from_it(project, show, qtbot):
    page = show(project, "Reports")
    press("Alt+O")
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    assert page.tabs.currentWidget() is page.parts
    assert page.parts.text.heading.text() == "Alpha on item 1"


def test_without_a_name_nothing_is_written(page):
    assert "Name the system" in page.reports.form.words.text()
    assert not page.reports.form.begin.isEnabled()


def test_what_it_would_take_is_said_before_anything_is_asked(page, writer, qtbot):
    order(page, trials=2)
    qtbot.waitUntil(lambda: "4 reports by 4 calls" in page.reports.form.estimate.text())
    assert writer.bodies == []


def test_gold_that_an_item_lacks_is_counted_beforehand(page, qtbot):
    order(page)
    page.reports.form.mode.setCurrentIndex(1)
    assert not page.reports.form.planned.isEnabled()
    qtbot.waitUntil(lambda: "1 item lacks the required gold" in page.reports.form.estimate.text())


def test_a_model_writes_reports_in_a_process_of_its_own(page, asking, qtbot):
    order(page)
    ended(page, qtbot, lambda: press("Ctrl+Shift+Return"))
    found = report_lines.reports(asking)
    assert (found.columns, found.count) == ((("Scribe", "end-to-end"),), 2)
    assert page.reports.model.columns == ("Item", "Scribe")
    assert "2 of 2 reports are there" in page.reports.form.answer.text()
    assert "Written here by test-model" in page.reports.about.text()


def test_what_failed_is_listed_by_cause_and_asked_for_again(page, asking, writer, qtbot):
    writer.answer = answering(lambda *_: error(400, "No."))
    order(page)
    ended(page, qtbot, page.reports.form.start)
    lacking = page.reports.lacking
    assert lacking.title.text() == "2 reports failed"
    assert "Scribe: 2 × endpoint failed" in lacking.tree.topLevelItem(0).text(0)
    writer.answer = answering(written)
    ended(page, qtbot, lacking.again.click)
    assert response_journal.lacking(asking) == []
    assert lacking.isHidden()
    assert report_lines.reports(asking).count == 2


def test_a_run_is_stopped_and_what_is_finished_is_kept(page, asking, writer, qtbot):
    held = answering(written)

    def slow(body, number):
        if number:
            writer.over.wait(20)
        return held(body, number)

    writer.answer = slow
    page.reports.form.at_once.setValue(1)
    order(page, trials=3)
    with qtbot.waitSignal(page.reports.form.run.progressed):
        page.reports.form.start()
    ended(page, qtbot, lambda: press("Ctrl+."))
    assert report_lines.reports(asking).count == 1
    assert "Stopped" in page.reports.form.answer.text()


def test_a_run_is_paused_and_goes_on(page, asking, writer, qtbot):
    page.reports.form.at_once.setValue(1)
    order(page, trials=2)
    paused_and_resumed(page, qtbot, writer, page.reports.form.run, page.reports.form.start)
    assert report_lines.reports(asking).count == 4


def test_only_items_that_lack_a_report_can_be_listed(project, show):
    items.add(project, "A third question?", "Open Consulting", "")
    page = show(project, "Reports")
    assert "2 cells of the grid are empty" in page.reports.count.text()
    page.reports.open_only.setChecked(True)
    assert cells(page) == [["A third question?", "–", "–"]]


def test_a_try_asks_for_the_item_at_the_cursor_alone(project, show, writer, qtbot):
    judges.add(project, "pen", base_url=writer.url, model="test-model")
    page = show(project, "Reports")
    page.reports.grid.setCurrentIndex(page.reports.model.index(1, 1))
    page.reports.fill()
    qtbot.waitUntil(lambda: page.reports.form.items.findData("chosen") >= 0)
    page.reports.form.items.setCurrentIndex(page.reports.form.items.findData("chosen"))
    order(page)
    assert page.reports.form.order().items == ("2",)


def test_whoever_judges_blind_does_not_see_the_page(project, page_over):
    people.add_person(project, "Ana", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    page = page_over(project, "Material")
    assert page._stack.currentWidget() is page._closed
    assert page.reports.model.rowCount() == 0


def test_a_place_on_the_page_can_be_gone_to_from_elsewhere(project, show, qtbot):
    item_id, response_id = subject(project, 2)
    page = show(project, "Extracts", item_id=item_id, response_id=response_id)
    qtbot.waitUntil(lambda: page.parts.editor.line is not None)
    assert page.parts.editor.line.response_id == response_id


def test_letter_21_the_form_asks_for_prompt_cut_off_and_mode_name(page, asking):
    form = page.reports.form
    order(page)
    form.condition.setCurrentIndex(1)
    form.filed_as.setText("high context")
    form.cutoff.setText("March")
    assert not form.begin.isEnabled()
    assert form.words.text() == "“March” is not a day. Write it as 2025-03-24."
    form.cutoff.setText("2025-03-24")
    assert form.order().protocol == "respond.end-to-end|by=researcherbench|until=2025-03-24|as=high context"
    assert not form.words.isVisible()


def test_a_continuation_is_asked_for_in_one_way_only(page):
    form = page.reports.form
    order(page)
    form.cutoff.setText("2025-03-24")
    form.mode.setCurrentIndex(form.mode.findData("continuation"))
    assert not any(field.isVisible() for field in (form.planned, form.condition, form.cutoff, form.filed_as))
    assert form.order().protocol == "respond.continuation"


def test_a_seminar_is_no_row_and_all_items_are_all_but_it(asking, show, tmp_path):
    (tmp_path / "talk.txt").write_text("Ann: Salt is old.\n\nBen: It is cheap, too.\n", "utf-8")
    imports.run(asking, imports.TRANSCRIPTS, [tmp_path / "talk.txt"])
    view = show(asking, "Reports").reports
    assert view.form.items.itemText(0) == "all items but 1 seminar (2)"
    assert [row.key for row in view._found.items] == ["1", "2"]
    assert (
        view.count.text().partition(" on ")[2].startswith("2 items. 1 seminar is left out: a seminar is what")
    )
