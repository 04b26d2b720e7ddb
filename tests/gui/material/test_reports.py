"""Which reports there are, which are lacking, and how a model is let write them."""

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.material import responding
from annotator.actions.project import people
from annotator.domain.experts.assignment import Role
from tests.judging.odd_server import error
from tests.servers.writing_server import answering, asking_project, written
from tests.windows.labelling_keys import press


@pytest.fixture
def asking(tmp_path, writer):
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=writer.url, model="test-model")
    return made


@pytest.fixture
def page(asking, show):
    return show(asking, "Reports")


def order(page, system: str = "Scribe", **more: int) -> None:
    page.reports.writing.open()
    page.reports.form.system.setText(system)
    page.reports.form.trials.setValue(more.get("trials", 1))


def ended(page, qtbot, start) -> None:
    with qtbot.waitSignal(page.reports.form.came):
        start()
    qtbot.waitUntil(lambda: not page.session._tasks_behind and not page._later.isActive())


def cells(page) -> list[list[str]]:
    model = page.reports.model
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def test_what_it_would_take_is_said_before_anything_is_asked(page, writer, qtbot):
    order(page, trials=2)
    qtbot.waitUntil(lambda: "4 reports by 4 calls" in page.reports.form.estimate.text())
    assert writer.bodies == []


def test_a_model_writes_reports_in_a_process_of_its_own(page, asking, qtbot):
    order(page)
    ended(page, qtbot, lambda: press("Ctrl+Shift+Return"))
    result = materials.reports(asking)
    assert (result.columns, result.count) == ((("Scribe", "end-to-end"),), 2)
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
    assert responding.lacking(asking) == []
    assert lacking.isHidden()
    assert materials.reports(asking).count == 2


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
    assert materials.reports(asking).count == 1
    assert "Stopped" in page.reports.form.answer.text()


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


def test_a_seminar_is_no_row_and_all_items_are_all_but_it(asking, show, tmp_path):
    (tmp_path / "talk.txt").write_text("Ann: Salt is old.\n\nBen: It is cheap, too.\n", "utf-8")
    imports.run(asking, imports.TRANSCRIPTS, [tmp_path / "talk.txt"])
    view = show(asking, "Reports").reports
    assert view.form.items.itemText(0) == "all items but 1 seminar (2)"
    assert [row.key for row in view._found.items] == ["1", "2"]
    assert (
        view.count.text().partition(" on ")[2].startswith("2 items. 1 seminar is left out: a seminar is what")
    )
