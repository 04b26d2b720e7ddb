"""The page of items: searching, filtering, adding, going to work."""

import pytest

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.project.people import new_project
from annotator.gui.pages.items.items_model import ItemsModel
from tests.servers.drafting_server import FILED, REASON, drafting, drafting_project
from tests.windows.labelling_keys import be_active, focus, press


def questions(page):
    return [page._model.line(row).question for row in range(page._model.rowCount())]


def test_the_model_keeps_qts_contract(small, window_over, qtmodeltester):
    page = window_over(small).page
    qtmodeltester.check(page._model)


def test_typing_narrows_the_list_and_says_how_many_are_left(small, window_over, qtbot):
    page = window_over(small).page
    qtbot.keyClicks(page.search, "residual")
    qtbot.waitUntil(lambda: page._model.rowCount() == 1)
    assert questions(page) == ["What do residual connections do?"]
    assert page.count.text() == "1 of 2"


def test_nothing_that_matches_offers_to_show_all(small, window_over, qtbot):
    page = window_over(small).page
    qtbot.keyClicks(page.search, "zebra")
    qtbot.waitUntil(lambda: page.body.currentWidget() is page.no_match)
    page._clear()
    assert page._model.rowCount() == 2


def test_a_filter_by_type_leaves_the_items_of_that_type(small, window_over):
    page = window_over(small).page
    page.type.setCurrentText("Open Consulting")
    assert questions(page) == ["Who?"]


def test_a_new_item_is_listed_at_once(small, window_over):
    page = window_over(small).page
    page._show_form(True)
    page.form.question.setPlainText("How deep is the ocean?")
    page.form._add()
    assert questions(page)[-1] == "How deep is the ocean?"
    assert not page.form.isVisible()


def test_return_goes_to_write_the_gold_of_the_item_and_begins_nothing(small, window_over, qtbot):
    new = items.add(small, "How deep is the ocean?").subject
    window = window_over(small)
    be_active(window, qtbot)
    page = window.page
    page.table.selectRow(2)
    page.table.setFocus()
    press("Return")
    assert window.page.NAME == "Author"
    assert focus().text() == "Start rubric"
    assert not annotating.artifacts_of(small, new)
    press("Return")
    assert annotating.artifacts_of(small, new)


def test_lines_are_read_a_screenful_at_a_time(small, window_over):
    window = window_over(small)
    for number in range(200):
        items.add(small, f"Question {number} of many?")
    model = ItemsModel(window.desk)
    model.narrow(items.Filter())
    model.line(0)
    assert model.rowCount() == 202
    assert len(model._lines) < 100


@pytest.mark.parametrize(("number", "said"), [(1, "1 item"), (2, "2 items")])
def test_one_item_is_called_an_item(number, said, tmp_path, window_over):
    project = new_project(tmp_path / "few.goldsmith")
    for n in range(number):
        items.add(project, f"Question {n}?")
    assert window_over(project).page.count.text() == said


def test_letter_2_an_item_is_edited_retired_and_brought_back_by_keyboard(small, window_over, qtbot):
    window = window_over(small)
    be_active(window, qtbot)
    page = window.page
    page.table.selectRow(0)
    page.table.setFocus()
    press("Alt+Return")
    assert page.form.question.toPlainText() == "What do residual connections do?"
    page.form.origin.setText("forum")
    page.form.save.click()
    first = items.ids(small)[0]
    assert items.read(small, first).origin == "forum"
    press("Ctrl+Backspace")
    assert questions(page) == ["Who?"]
    assert "Item 1 is retired" in page.bar.progress.text()
    page.state.setCurrentText("retired")
    assert questions(page) == ["What do residual connections do?"]
    assert not page.author.isEnabled()
    page.table.setFocus()
    press("Ctrl+Backspace")
    assert not items.ids(small, items.Filter(retired=True))
    page.state.setCurrentIndex(0)
    assert len(questions(page)) == 2


def test_letter_3_what_a_type_is_stands_where_it_is_chosen(small, window_over):
    page = window_over(small).page
    page._show_form(True)
    shown = [page.form.type.itemText(place) for place in range(page.form.type.count())]
    assert shown == ["", "Technical Details", "Literature Review", "Open Consulting"]
    page.form.type.setCurrentText("Literature Review")
    assert page.form.definition.text().startswith("The question asks what has been written")
    page.form.type.setCurrentText("Riddle")
    assert "does not define this type" in page.form.definition.text()


def test_letter_3_a_models_proposal_is_asked_for_and_confirmed_by_keyboard(tmp_path, window_over, qtbot):
    with drafting() as server:
        project = drafting_project(tmp_path, server)
        item = items.ids(project)[0]
        items.change(project, item, question_type="", subject="")
        window = window_over(project)
        be_active(window, qtbot)
        page = window.page
        page.table.selectRow(0)
        page.table.setFocus()
        press("Ctrl+Shift+D")
        proposal = page.form.proposal
        assert focus() is proposal.asking.ask
        qtbot.waitUntil(lambda: "tokens in" in proposal.asking.estimate.text())
        with qtbot.waitSignal(proposal.asking.came):
            press("Ctrl+Shift+D")
        assert REASON in proposal.words.text()
        assert items.read(project, item).question_type == ""
        press("Ctrl+Shift+D")
        assert focus() is proposal.use
        press("Space")
        assert items.read(project, item).question_type == ""
        assert focus() is page.form.save
        press("Space")
        found = items.read(project, item)
        assert (found.question_type, found.subject) == FILED
        assert not page.form.isVisible()
