"""The page that checks a project, and mends what can be made anew."""

from tests.storage import sql


def test_a_sound_project_is_told_to_be_in_order(small, window_over, qtbot):
    page = window_over(small, "Check").page
    qtbot.waitUntil(lambda: "in order" in page.answer.text())
    assert "2 items" in page.counted.text()
    assert not page.mend.isVisible()


def test_a_search_index_out_of_step_is_found_and_mended(small, window_over, qtbot):
    sql.alter(small, "DELETE FROM item_words")
    page = window_over(small, "Check").page
    qtbot.waitUntil(lambda: page.list.count() > 0)
    assert "search index" in page.list.item(0).text()
    page.mend.click()
    qtbot.waitUntil(lambda: "in order" in page.answer.text())


def test_words_changed_behind_the_programs_back_are_found(small, window_over, qtbot):
    sql.alter(small, "UPDATE item SET question = 'forged' WHERE key = '1'")
    page = window_over(small, "Check").page
    qtbot.waitUntil(lambda: page.list.count() > 0)
    assert not page.mend.isVisible() or page.list.count() > 1
    assert "problems found" in page.answer.text()
