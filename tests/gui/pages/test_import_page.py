"""The page of imports: a preview first, then all of it, on another thread."""

import json

from annotator.actions.imports import imports
from annotator.actions.items import items, summaries
from annotator.actions.project.people import new_project
from annotator.gui.pages.collected_view import CollectedFilter
from tests.material import eprint_folder as made


def files(folder, weight=2):
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


def test_the_page_opens_on_the_layout_of_what_the_project_holds(tmp_path, window_over):
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    page = window_over(new_project(folders[0] / "new.goldsmith"), "Import").page
    assert page.format.currentData() == next(iter(imports.offered()))
    seminar = new_project(folders[1] / "seminar.goldsmith")
    (tmp_path / "talk.txt").write_text("A: Salt is old.\n\nB: It is.\n", encoding="utf-8")
    imports.run(seminar, imports.TRANSCRIPTS, [tmp_path / "talk.txt"])
    assert window_over(seminar, "Import").page.format.currentData() == imports.TRANSCRIPTS


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


def collected(tmp_path):
    """A folder with a paper that is kept, one of a second version and one without LaTeX."""
    papers = {"2506.00001v1": made.whole(), "2506.00002v2": made.whole(), "2506.00003v1": b"%PDF"}
    return made.folder(tmp_path / "papers", papers)


def lines(page):
    tree = page.collected.papers
    return [
        [tree.topLevelItem(row).text(column) for column in (0, 2)] for row in range(tree.topLevelItemCount())
    ]


def test_collected_papers_show_what_each_stage_left_and_why(tmp_path, window_over, qtbot):
    page = window_over(new_project(tmp_path / "new.goldsmith"), "Import").page
    page.look_at([collected(tmp_path)])
    qtbot.waitUntil(page.go.isEnabled)
    view = page.collected
    assert view.stages.text() == "3 candidates → 2 after the list → 1 after the source → 1 kept"
    assert lines(page) == [["2506.00001v1", "5 references, 2 on arXiv, 0 abstracts"]]
    assert "\\citet{fir}" in view.latex.toPlainText()
    assert "Oaks in Towns" in view.exemplar.text
    assert "stands in no bibliography" in view.notes.text()
    view.shown.hold(CollectedFilter.SOURCE)
    assert lines(page) == [["2506.00003v1", "Only a PDF was submitted, no LaTeX."]]
    assert view.texts.isHidden()
    assert not page.preview.isVisible()


def test_collected_papers_come_in_at_once(tmp_path, window_over, qtbot):
    window = window_over(new_project(tmp_path / "new.goldsmith"), "Import")
    page = window.page
    page.look_at([collected(tmp_path)])
    qtbot.waitUntil(page.go.isEnabled)
    page._import()
    qtbot.waitUntil(lambda: "The import is done: 1 " in window.messages.text())
    assert summaries.counts(window.desk.project)["references"] == 5
    assert page.collected.isHidden()


def test_a_folder_without_kept_papers_shows_the_refusals_first(tmp_path, window_over, qtbot):
    page = window_over(new_project(tmp_path / "new.goldsmith"), "Import").page
    page.look_at([made.folder(tmp_path / "papers", {"2506.00003v1": b"%PDF"})])
    qtbot.waitUntil(lambda: page.collected.shown.held is CollectedFilter.SOURCE)
    assert lines(page)[0][0] == "2506.00003v1"
    assert not page.go.isEnabled()
