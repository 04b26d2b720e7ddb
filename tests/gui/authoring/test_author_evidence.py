"""Evidence in bulk beside its form: read, previewed, taken in one act, and the source itself by one key."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from annotator.actions.items import items, materials
from annotator.actions.items.materials import Thing
from annotator.actions.material import lookups
from tests.projects.small_project import small_project
from tests.windows.labelling_keys import press

LISTED = "10.1234/a\n10.1234/b\n10.1234/A\nsee above"


@pytest.fixture
def project(tmp_path):
    return small_project(tmp_path)


@pytest.fixture
def item(project) -> str:
    return items.ids(project)[0]


@pytest.fixture
def page(project, item, page_over):
    return page_over(project, "Author", item_id=item, kind="evidence")


@pytest.fixture
def panel(page):
    press("F8")
    return page.side.references


def lines(panel) -> list[str]:
    return [panel.entries.item(row).text() for row in range(panel.entries.count())]


def paste(page, panel, qtbot, text: str) -> None:
    QApplication.clipboard().setText(text)
    panel.text.paste()
    qtbot.waitUntil(lambda: panel.entries.count() > 0)


def references(project, item) -> list[tuple[str, str]]:
    return [(unit.text, unit.identifier) for unit in lookups.own_evidence(project, item).document.units]


def test_letter_7_pasted_dois_are_previewed_and_taken_with_one_key(page, panel, project, item, qtbot):
    paste(page, panel, qtbot, LISTED)
    assert panel.summary.text() == "4 entries (a list): 2 new, 1 repeated, 1 not read."
    assert lines(panel) == [
        "doi:10.1234/a", "doi:10.1234/b", "repeats line 1: doi:10.1234/a",
        "not read (line 4: Neither a title nor an identifier was found in it): see above",
    ]  # fmt: skip
    press("Ctrl+T")
    assert references(project, item) == [("", "doi:10.1234/a"), ("", "doi:10.1234/b")]
    assert [editor.identifier.text() for editor in page.sheet.form.editors] == [
        "doi:10.1234/a",
        "doi:10.1234/b",
    ]
    assert (panel.text.toPlainText(), lines(panel), panel.take_all.isEnabled()) == ("", [], False)
    press("Ctrl+Z")
    assert references(project, item) == []


def test_doubtful_references_are_taken_only_when_ticked(page, panel, project, item, qtbot):
    names = "Jane Doe, John Roe, and Ann Lee."
    paste(
        page,
        panel,
        qtbot,
        f"J. Smith. Deep rivers of the north. Water, 2019.\n{names}\nSalt lakes of the east. 2021.",
    )
    assert lines(panel)[1].startswith("doubtful, the title looks like names (line 2): ")
    assert panel.take_all.text().startswith("Take 1 reference")
    panel.tick.click()
    assert panel.take_all.text().startswith("Take 3 references")
    panel.entries.item(1).setCheckState(Qt.CheckState.Unchecked)
    press("Ctrl+T")
    assert [text for text, _ in references(project, item)] == [
        "Deep rivers of the north",
        "Salt lakes of the east",
    ]
    assert panel.tick.isHidden()


def test_letter_7_a_file_is_read_where_it_is_chosen(page, panel, project, item, tmp_path: Path, qtbot):
    (path := tmp_path / "works.bib").write_text(
        "@book{a, title={Deep rivers of the north}, year={2020}}", "utf-8"
    )
    panel.read_file(path)
    qtbot.waitUntil(lambda: panel.entries.count() > 0)
    assert lines(panel) == ["Deep rivers of the north. 2020"]
    press("Ctrl+T")
    assert references(project, item) == [("Deep rivers of the north", "")]


def test_letter_7_one_key_takes_a_research_paper_as_its_own_evidence(page, project, item, tmp_path: Path):
    (path := tmp_path / "Deep rivers.md").write_text("Words.", "utf-8")
    source = items.add_source(project, item, path).subject
    materials.describe(project, Thing.SOURCE, {source: {"kind": "research", "identifier": "10.1234/a"}})
    press("Ctrl+Shift+S")
    assert references(project, item) == [("Deep rivers", "doi:10.1234/a")]
    press("F8")
    assert (
        page.side.references.about.text()
        == "The source is a research paper: its evidence is the source itself."
    )
