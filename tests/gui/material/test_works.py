"""The works that reports and gold name, on the Sources tab: what they lack, and a file that completes them."""

from annotator.actions.imports import imports
from annotator.actions.project.people import new_project
from tests.material import related_work as made
from tests.projects.small_project import small_project


def test_works_are_counted_and_completed_from_a_file(tmp_path, show, qtbot):
    project = new_project(tmp_path / "related.goldsmith", "T")
    imports.run(project, "deepscholar", [made.write(tmp_path / "benchmark")], warm=False)
    page = show(project, "Sources")
    card = page.sources.works
    assert card.words.text().endswith(
        "2 works named by reports and gold evidence: 1 without an abstract, 2 without citations."
    )
    assert card.look.isEnabled()
    row = {
        "identifier": "10.1000/elm",
        "abstract": "Of elms.",
        "cited_by_count": "3",
        "counted_on": "2026-01-02",
    }
    made.table(tmp_path / "works.csv", [row])
    card.take(tmp_path / "works.csv")
    qtbot.waitUntil(lambda: "0 without an abstract, 1 without citations" in card.words.text())
    assert page.sources.answer.isVisible()
    # A file of something else changes nothing, and the buttons are there again.
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    card.take(tmp_path / "other.csv")
    qtbot.waitUntil(card.file.isEnabled)
    assert "0 without an abstract" in card.words.text()


def test_where_no_work_is_named_nothing_is_offered(tmp_path, show):
    card = show(small_project(tmp_path), "Sources").sources.works
    assert card.words.text().startswith("No report and no gold evidence names a work")
    assert not any(button.isEnabled() for button in (card.look, card.file, card.folder))
