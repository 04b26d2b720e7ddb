"""How a document is submitted: remarks while typing, a list that leads to each field, reasons, seals, reopening."""

import pytest
from PySide6.QtCore import Qt
from sqlalchemy import select

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.plan import Plan
from annotator.gui import theme
from annotator.gui.pages.authoring import page as author_page
from annotator.gui.widgets import icons
from annotator.storage.tables import RevisionRow, table
from tests.projects.authoring_project import TEXTS, authoring_project, begin, mine, rubric, texts
from tests.windows.labelling_keys import focus, press, type_words

QUESTION = "Is this a criterion that asks about the residual stream?"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(author_page, "MOMENT_MS", 0)
    return authoring_project(tmp_path)


@pytest.fixture
def open_page(project, page_over):

    def make(document=None):
        begin(project, Kind.RUBRIC, document or rubric())
        return page_over(project, "Author")

    return make


def shown_remarks(editor) -> list[str]:
    lines = [line for remarks in editor._remarks.values() if remarks.isVisible() for line in remarks._lines]
    return [line._words.text() for line in lines]


def listed(page) -> list[str]:
    entries = page.sheet.panel.entries
    return [entries.item(row).text() for row in range(entries.count())]


def test_a_remark_comes_under_the_field_while_typing_and_goes_when_mended(open_page, qtbot):
    page = open_page()
    editor = page.sheet.form.editors[0]
    assert shown_remarks(editor) == []
    type_words("?")
    qtbot.waitUntil(lambda: any("question" in words for words in shown_remarks(editor)))
    press("Backspace")
    qtbot.waitUntil(lambda: shown_remarks(editor) == [])


def test_an_empty_text_is_not_remarked_on_while_it_is_being_begun(open_page, qtbot):
    page = open_page()
    press("Ctrl+N")
    qtbot.waitUntil(lambda: any(finding.rule == "empty" for finding in page.sheet.checking.findings))
    assert shown_remarks(page.sheet.form.editors[1]) == []
    theme.zoom(1)
    remarks = page.sheet.bar.remarks
    assert remarks.text() == "No remarks yet"
    fine = icons.icon("check", theme.current().px(16), "level-success")
    assert remarks.icon().pixmap(16).toImage() != fine.pixmap(16).toImage()


def test_an_empty_unit_is_remarked_on_once_it_was_left(open_page, qtbot):
    page = open_page()
    press("Ctrl+N")
    qtbot.waitUntil(lambda: any(finding.rule == "empty" for finding in page.sheet.checking.findings))
    page.source.enter()
    qtbot.waitUntil(lambda: shown_remarks(page.sheet.form.editors[1]) != [])
    assert page.sheet.bar.remarks.text() == "1 to fix"


def test_submitting_what_is_in_order_seals_it_and_goes_to_the_next_item(open_page, project, qtbot):
    page = open_page()
    press("Ctrl+Return")
    assert mine(project).state is State.SEALED
    assert "sealed as revision 2" in page.sheet.messages.text()
    qtbot.waitUntil(lambda: page.item.id == items.ids(project)[1])


def test_after_submitting_another_begun_document_of_the_item_comes_first(open_page, project, qtbot):
    page = open_page()
    begin(project, Kind.PLAN, Plan())
    press("Ctrl+Return")
    qtbot.waitUntil(lambda: page.sheet.kind is Kind.PLAN)
    assert page.item.id == items.ids(project)[0]


def test_submitting_lists_what_is_missing_and_enter_goes_to_its_field(open_page, project):
    page = open_page()
    press("Ctrl+N")
    press("Ctrl+Return")
    assert mine(project).state is State.DRAFT
    assert listed(page)[0].startswith("Criterion 2: The text is missing.")
    assert focus() is page.sheet.panel.entries
    press("Return")
    assert focus() is page.sheet.form.editors[1].text


def test_errors_cannot_be_overridden(open_page, project):
    page = open_page(rubric(("", TEXTS[1]), (3, 2)))
    press("Ctrl+Return")
    assert page.sheet.panel.reason.isHidden()
    page.sheet.submission.seal("I insist")
    assert mine(project).state is State.DRAFT


def test_warnings_are_overridden_with_a_reason_that_is_kept(open_page, project):
    page = open_page(rubric((QUESTION, TEXTS[1]), (3, 2)))
    press("Ctrl+Return")
    assert mine(project).state is State.DRAFT
    assert not page.sheet.panel.anyway.isEnabled()
    page.sheet.panel.reason.setFocus()
    type_words("the form asks for it")
    press("Return")
    assert mine(project).state is State.SEALED
    with project.store.read() as db:
        reason = db.execute(
            select(table(RevisionRow).c.reason).where(table(RevisionRow).c.sealed)
        ).scalar_one()
    assert reason == "the form asks for it"


def test_the_list_follows_what_is_mended(open_page, qtbot):
    page = open_page(rubric(("", TEXTS[1]), (3, 2)))
    press("Ctrl+Return")
    press("Return")
    type_words("Explains the residual stream at depth.")
    qtbot.waitUntil(lambda: listed(page) == [])
    assert "can be submitted" in page.sheet.panel.title.text()


def test_esc_closes_the_list_and_goes_back_to_the_unit(open_page):
    page = open_page(rubric(("", TEXTS[1]), (3, 2)))
    press("Ctrl+Return")
    press("Esc")
    assert page.sheet.panel.isHidden()
    assert focus() is page.sheet.form.editors[0].text


def test_what_is_sealed_can_be_read_but_not_changed(open_page, project):
    page = open_page()
    page.sheet.submission.submit()
    page.go_to(items.ids(project)[0], Kind.RUBRIC)
    editor = page.sheet.form.editors[0]
    assert editor.text.isReadOnly()
    assert not editor.fields["weight"].isEnabled()
    editor.text.setFocus()
    for keys in ("Alt+1", "Ctrl+N", "Ctrl+Backspace", "Alt+Down"):
        press(keys)
    assert texts(project) == [unit.text for unit in rubric().units]
    assert mine(project).revision == 2
    assert "Sealed as revision 2" in page.sheet.strip.words.text()


def test_reopening_goes_on_in_a_new_revision(open_page, project, qtbot):
    page = open_page()
    page.sheet.submission.submit()
    page.go_to(items.ids(project)[0], Kind.RUBRIC)
    qtbot.mouseClick(page.sheet.strip.reopen, Qt.MouseButton.LeftButton)
    assert (mine(project).state, mine(project).revision) == (State.DRAFT, 3)
    assert page.sheet.strip.words.text().endswith("what was submitted counts until it is submitted again")
    type_words(" and more")
    page.leave()
    assert texts(project)[0].endswith(" and more")
    revisions = artifacts.revisions(project, mine(project).id)
    assert [revision.sealed for revision in revisions] == [False, False, True, False]


def test_submitting_keeps_what_is_still_being_typed(open_page, project):
    open_page()
    type_words(" quickly")
    press("Ctrl+Return")
    sealed = artifacts.revisions(project, mine(project).id)[0]
    assert sealed.content["units"][0]["text"].endswith(" quickly")


def test_what_waits_is_told_as_the_counts_beside_the_pages_tell_it(whole_sample, page_over):
    page = page_over(whole_sample, "Author")
    counts = waiting.counts(whole_sample)
    said = page.asked.what_waits()
    assert f"Label {counts['Label']}" in said
    assert f"Adjudicate {counts['Adjudicate']}" in said
    assert "Nothing else" not in said
