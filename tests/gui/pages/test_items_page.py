"""The page of items: searching, adding, going to work, and lists longer than what is read at once."""

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.gui.pages import items as page_module
from tests.windows.using import be_active, focus, press


def questions(page):
    return [page._model.line(row).question for row in range(page._model.rowCount())]


def test_typing_narrows_the_list_and_return_goes_to_write_the_gold_of_the_item_and_begins_nothing(
    small, window_over, qtbot
):
    window = be_active(window_over(small), qtbot)
    page = window.page
    qtbot.keyClicks(page.search, "residual")
    qtbot.waitUntil(lambda: page._model.rowCount() == 1)
    assert questions(page) == ["What do residual connections do?"]
    assert page.count.text() == "1 of 2"
    page.search.clear()
    qtbot.waitUntil(lambda: page._model.rowCount() == 2)
    new = window.session.do(items.add, "How deep is the ocean?").subject
    qtbot.waitUntil(lambda: page._model.rowCount() == 3)
    page.table.selectRow(2)
    page.table.setFocus()
    press("Return")
    assert window.page.NAME == "Author"
    assert focus().text() == "Start rubric"
    assert not annotating.artifacts_of(small, new)
    press("Return")
    assert annotating.artifacts_of(small, new)


def test_letter_2_an_item_is_edited_retired_and_brought_back_by_keyboard(small, window_over, qtbot):
    window = be_active(window_over(small), qtbot)
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


def keys(model):
    return [model.line(row).key for row in range(model.rowCount())]


def test_the_rest_of_a_long_list_comes_after_its_beginning_where_it_is_still_asked_for(
    small, window_over, qtbot, monkeypatch
):
    for number in range(3, 13):
        items.add(small, f"How many grains make heap {number}?")
    monkeypatch.setattr(page_module, "FIRST", 5)
    window = window_over(small)
    model, page = page_module.ItemsModel(window.session), window.page
    model.narrow(items.Filter())
    assert model.rowCount() == 5
    qtbot.waitUntil(lambda: model.rowCount() == 12)
    assert keys(model) == [str(number) for number in range(1, 13)]
    model.narrow(items.Filter())
    model._fetch_rest()
    model.narrow(items.Filter(words="residual"))
    qtbot.waitUntil(lambda: not window.session._tasks_behind)
    assert keys(model) == ["1"]
    # What was chosen far down is chosen again when the page is shown anew.
    qtbot.waitUntil(lambda: page._model.rowCount() == 12)
    page.table.selectRow(10)
    page.navigate({})
    qtbot.waitUntil(lambda: page._row() == 10)
    assert page._model.id_at(page._row()) == items.ids(small)[10]
