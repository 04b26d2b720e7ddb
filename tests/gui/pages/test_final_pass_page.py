"""The Final pass page: checks are signed in a list, and the pilot has its summary beside them."""

from PySide6.QtWidgets import QFileDialog

from annotator.actions.items import final_pass, items
from tests.projects.labelling_project import labelling_project


def test_letter_9_a_check_is_signed_on_the_page(tmp_path, window_over):
    project = labelling_project(tmp_path)
    page = window_over(project, "Final pass").page
    assert (page.list.topLevelItemCount(), page.list.topLevelItem(0).text(1)) == (2, "open")
    page.check.setCurrentIndex(page.check.findData("leak"))
    page.state.setCurrentIndex(page.state.findData("passed"))
    page.sign.click()
    assert final_pass.of_item(project, items.ids(project)[0])["leak"].state.value == "passed"
    assert page.list.topLevelItem(0).text(4) == "passed"
    assert "signed by" in page.said.text()


def test_letter_9_without_a_pilot_the_page_says_what_to_do(tmp_path, window_over):
    page = window_over(labelling_project(tmp_path), "Final pass", part="Pilot").page
    assert "Hand out" in page.pilot.report.toPlainText()
    assert not page.save.isEnabled()


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
