"""The pages of releases, of the final pass and of checks."""

import json

import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton

from annotator.actions.agreement import final_pass
from annotator.actions.items import items
from annotator.actions.releases import releases
from tests.material.bundles import ANSWERS, tree
from tests.projects.small_projects import labelling_project, small_project
from tests.storage import sql
from tests.windows.judges_window import choose


@pytest.fixture
def page(tmp_path, page_over):
    return page_over(small_project(tmp_path), "Release")


def test_what_is_missing_stands_there_and_texts_of_cited_pages_and_addresses_leave_only_when_ticked(
    page, qtbot, tmp_path, monkeypatch
):
    def buttons():
        return {button.text(): button for button in page.points.findChildren(QPushButton)}

    assert (page.wishes["page_texts"].isChecked(), page.wishes["addresses"].isChecked()) == (False, False)
    qtbot.waitUntil(lambda: "Answer" in buttons())
    assert "2 items have" in buttons()["Sign"].accessibleName()
    assert "13 questions (Description, Licence, " in buttons()["Answer"].accessibleName()
    page.session.do(releases.describe, ANSWERS)
    page.navigate({})
    qtbot.waitUntil(lambda: "Answer" not in buttons())
    buttons()["Sign"].click()
    assert page.window().page.NAME == "Final pass"
    page.window().show_page("Release")
    asked, gather = [], releases.gather
    monkeypatch.setattr(
        releases, "gather", lambda project, **how: asked.append(how) or gather(project, **how)
    )
    for number, ticked in enumerate(((False, False), (True, False), (False, True)), start=1):
        page.wishes["page_texts"].setChecked(ticked[0])
        page.wishes["addresses"].setChecked(ticked[1])
        page.write_to(tmp_path / f"out {number}")
        qtbot.waitUntil(lambda number=number: f"out {number}" in page.answer.text())
        assert asked.pop() == {"page_texts": ticked[0], "addresses": ticked[1], "without": ()}
        manifest = tmp_path / f"out {number}" / "manifest.json"
        assert json.loads(manifest.read_text("utf-8"))["number"] == 1


def test_questions_of_readers_are_answered_in_a_form_that_saves_each_answer(tmp_path, page_over, qtbot):
    page = page_over(small_project(tmp_path), "Project", part="questions")
    form, project = page.metadata, page.session.project
    assert "13 questions to answer" in page.open_questions.text()
    page.focus_first()
    assert form.fields["description"].hasFocus()
    form.folds[1].open(form.fields["limits"])
    qtbot.keyClicks(form.fields["limits"], "Two questions.")
    form.fields["biases"].setFocus()
    form.fields["licence"].setCurrentIndex(2)
    form.fields["licence"].activated.emit(2)
    assert (releases.metadata(project).limits, releases.metadata(project).licence) == (
        "Two questions.",
        "CC0-1.0",
    )
    qtbot.waitUntil(lambda: form.offers["title"].isVisible())
    form.offers["title"].click()
    assert releases.metadata(project).title == project.title == form.fields["title"].toPlainText()
    form.fields["authors"].setPlainText("Ada, 0000-0002-1825-0098")
    page.leave()
    assert "is no orcid" in page.window().messages.text()
    assert (form.fields["authors"].toPlainText()[:4], releases.metadata(project).authors) == ("Ada,", ())
    page.session.undo()
    assert form.fields["title"].toPlainText() == ""


def test_past_releases_are_compared_and_withdrawn_on_the_page(page, qtbot, tmp_path, monkeypatch):
    def buttons(words):
        return [one for one in page.past.findChildren(QPushButton) if one.text() == words and one.isVisible()]

    project, written = page.session.project, []
    assert not page.past.isVisible()
    for name in ("one", "two"):
        releases.export(project, tmp_path / name)
        page.session.do(items.change, items.ids(project)[0], question=f"What is {name}?")
        written.append(name)
    qtbot.waitUntil(lambda: len(buttons("Compare…")) == 2)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "one"))
    buttons("Compare…")[1].click()
    qtbot.waitUntil(lambda: "since release 1" in page.past.changes.text())
    assert "Items: Item 1 was reworded: “What is two?”, before “What do residual" in page.past.changes.text()
    buttons("Compare…")[0].click()
    qtbot.waitUntil(lambda: page.past.changes.text() == "That folder holds release 1, not 2.")
    buttons("Withdraw…")[1].click()
    assert page.past.reason.hasFocus()
    page.past.withdraw.click()
    assert releases.published(project).withdrawn == {}
    qtbot.keyClicks(page.past.reason, "Item 1 leaks.")
    page.past.withdraw.click()
    assert releases.published(project).withdrawn[1].reason == "Item 1 leaks."
    assert not page.past.question.isVisible()
    assert [one.isEnabled() for one in buttons("Withdraw…")] == [True, False]


def test_test_items_leave_as_it_is_chosen_and_encrypted_where_they_are_marked(tmp_path, page_over, qtbot):
    project = small_project(tmp_path)
    first, second = items.ids(project)
    page = page_over(project, "Release")
    assert (page.test_items.currentText(), "All 2 items" in page.about_tested.text()) == ("As they are", True)
    page.session.do(items.change, second, traits={"split": "test"})
    page.navigate({})
    assert (page.test_items.currentText(), "1 item marked" in page.about_tested.text()) == ("Encrypted", True)
    choose(page.test_items, "left-out")
    page.navigate({})
    page.write_to(tmp_path / "out")
    qtbot.waitUntil(lambda: "Wrote" in page.answer.text())
    assert [item["id"] for item in tree(tmp_path / "out", "items.json")] == [first]
    page.group.buttons()[-1].setChecked(True)
    assert not page.test_items.isEnabled()


def test_a_search_index_out_of_step_is_found_and_mended(small, window_over, qtbot):
    sql.alter(small, "DELETE FROM item_words")
    page = window_over(small, "Check").page
    qtbot.waitUntil(lambda: page.list.count() > 0)
    assert "search index" in page.list.item(0).text()
    page.mend.click()
    qtbot.waitUntil(lambda: "in order" in page.answer.text())


def test_letter_9_a_check_is_signed_on_the_page(tmp_path, window_over):
    project = labelling_project(tmp_path)
    page = window_over(project, "Final pass").page
    assert (page.list.topLevelItemCount(), page.list.topLevelItem(0).text(1)) == (2, "open")
    page.check.setCurrentIndex(page.check.findData("leak"))
    page.state.setCurrentIndex(page.state.findData("passed"))
    page.sign.click()
    assert final_pass.of_item(project, items.ids(project)[0])["leak"].state.value == "passed"
    assert page.list.topLevelItem(0).text(4) == "passed"
    assert "signed by" in page.signature.text()


def test_whether_the_summary_was_saved_is_said_on_the_page(tmp_path, window_over, monkeypatch):
    page = window_over(labelling_project(tmp_path), "Final pass", part="Pilot").page
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "folder"), ""))
    page._save()
    assert page.answer.text() == ""
    assert "is a folder" in page.window().messages.text()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "pilot.md"), ""))
    page._save()
    assert (tmp_path / "pilot.md").read_text(encoding="utf-8") == page.pilot.text
    assert "pilot.md" in page.answer.text()
    assert page.answer.window() is page.window()
