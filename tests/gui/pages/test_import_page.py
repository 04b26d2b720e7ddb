"""The page of imports: a preview first, then all of it, on another thread."""

import json

from annotator.actions.items import items, summaries
from annotator.actions.project.people import new_project


def files(folder, weight=2):
    """A tiny benchmark in ResearcherBench's layout."""
    (folder / "responses").mkdir(parents=True)
    question = {"id": 1, "question": "What is gold?"}
    texts = {
        "questions.json": [question | {"category": "Technical Details", "Subject": "Metals"}],
        "rubric.json": [question | {"rubric": [{"point": "Explains its weight", "weight": weight}]}],
        "responses/Alpha.json": [question | {"response": "# Gold\n\nIt is heavy."}],
    }
    for name, content in texts.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_looking_changes_nothing_and_importing_brings_everything(tmp_path, window_over, qtbot):
    window = window_over(new_project(tmp_path / "new.goldsmith"), "Import")
    page, project = window.page, window.desk.project
    page.look_at([files(tmp_path / "bench")])
    qtbot.waitUntil(page.go.isEnabled)
    assert "1 items" in page.preview.toPlainText()
    assert items.count(project) == 0
    page._import()
    qtbot.waitUntil(lambda: "The import is done: 1 " in window.messages.text())
    assert window.page is page
    window.messages._act.click()
    assert window.page.NAME == "Items"
    assert window.messages.text() == ""
    assert summaries.counts(project)["criteria"] == 1
    assert window.page._model.rowCount() == 1


def test_a_bad_entry_is_named_and_keeps_everything_out(tmp_path, window_over, qtbot):
    page = window_over(new_project(tmp_path / "new.goldsmith"), "Import").page
    page.look_at([files(tmp_path / "bench", weight=7)])
    qtbot.waitUntil(lambda: page.problems.count() > 0)
    assert "rubric.json[0]" in page.problems.item(0).text()
    assert not page.go.isEnabled()


def test_what_is_no_json_is_refused_in_words(tmp_path, window_over, qtbot):
    window = window_over(new_project(tmp_path / "new.goldsmith"), "Import")
    folder = files(tmp_path / "bench")
    (folder / "rubric.json").write_text("{not json", encoding="utf-8")
    window.page.look_at([folder])
    qtbot.waitUntil(lambda: "rubric.json" in window.messages.text() or window.page.problems.count() > 0)
    assert not window.page.go.isEnabled()
