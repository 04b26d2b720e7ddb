"""What the Author page shows around a document of each kind, and what each kind asks for beside its words."""

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from sqlalchemy import update

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan
from annotator.gui.forms.fields import TextField
from annotator.storage.tables import ARTIFACT
from tests.projects.authoring_project import TEXTS, authoring_project, begin, mine, rubric, texts
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = authoring_project


@pytest.fixture
def open_page(project, page_over):
    return partial(page_over, project, "Author")


def settle(project: Project, artifact_id: str, author: str = "", state: State = State.CONSENSUS) -> None:
    with project.store.write() as db:
        db.execute(
            update(ARTIFACT).where(ARTIFACT.c.id == artifact_id).values(author_id=author, state=state.value)
        )


def test_a_kind_that_was_not_begun_is_explained_and_enter_begins_it(open_page, project):
    page = open_page(kind="rubric")
    assert "each weighted 1" in page.sheet.beginning._empty._words.text()
    press("Return")
    assert texts(project) == [""]
    assert focus() is page.sheet.form.editors[0].text


def test_keys_go_from_kind_to_kind_and_round_again(open_page):
    page = open_page(kind="selection")
    press("Ctrl+Tab")
    assert page.sheet.kind is Kind.QUERY
    press("Ctrl+Shift+Tab")
    assert page.sheet.kind is Kind.SELECTION


def test_a_consensus_that_is_not_mine_to_change_is_read_and_can_be_copied(open_page, project):
    artifact_id = begin(project, Kind.RUBRIC, rubric())
    settle(project, artifact_id)
    project.work_as(people.people(project)[0])
    people.add_person(project, "Ann")
    project.work_as(next(p for p in people.people(project) if p.name == "Ann"))
    page = open_page(kind="rubric")
    assert page.sheet.form.editors[0].text.isReadOnly()
    page.sheet.strip.copy.click()
    assert (mine(project).author_id, texts(project)) == (project.by, list(TEXTS))
    assert mine(project).id != artifact_id
    copied = {unit.id for unit in mine(project).document.units}
    assert not copied & {unit.id for unit in artifacts.read(project, artifact_id).document.units}


def test_mine_comes_first_and_the_consensus_can_be_looked_at(open_page, project):
    settle(project, begin(project, Kind.RUBRIC, rubric(("Explains what was agreed on.",), (3,))))
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    versions = page.sheet.strip.versions
    assert [versions.itemText(place) for place in range(versions.count())] == ["Mine", "Consensus"]
    assert page.sheet.form.editors[0].text.toPlainText() == TEXTS[0]
    versions.setCurrentIndex(1)
    versions.activated.emit(1)
    assert page.sheet.form.editors[0].text.toPlainText() == "Explains what was agreed on."


def test_nobody_sees_what_another_annotator_writes(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    people.add_person(project, "Ann")
    project.work_as(next(p for p in people.people(project) if p.name == "Ann"))
    page = open_page(kind="rubric")
    assert page.sheet.artifact is None
    assert page.tabs.tabText(WRITTEN.index(Kind.RUBRIC)) == "Rubric"


def test_the_guideline_follows_the_field_with_the_focus(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    press("F2")
    assert "One claim per criterion" in page.side.text.text()
    press("Tab")
    assert "Weight" in page.side.text.text()
    assert "One claim per criterion" not in page.side.text.text()
    press("F2")
    assert page.side.isHidden()


def test_every_revision_can_be_looked_at(open_page, project):
    begin(project, Kind.RUBRIC, rubric())
    page = open_page(kind="rubric")
    type_words(" at depth")
    press("Tab")
    page.sheet.strip.history.trigger()
    history = page.side.history
    assert [history.list.item(row).text().split("\n")[0] for row in range(2)] == [
        "2 · changed text",
        "1 · begun",
    ]
    history.list.setCurrentRow(1)
    assert history.words.toPlainText().startswith(f"1. {TEXTS[0]}\n    Weight: 3")


def test_undo_shows_the_document_in_which_something_was_taken_back(open_page, project):
    first, second = items.ids(project)
    begin(project, Kind.RUBRIC, rubric())
    begin(project, Kind.PLAN, Plan(), item=1)
    page = open_page(item_id=first, kind="rubric")
    type_words(" at depth")
    page.go_to(second, Kind.PLAN)
    page.sheet.form.setFocus()
    press("Ctrl+Z")
    assert (page.item.id, page.sheet.kind) == (first, Kind.RUBRIC)
    assert texts(project)[0] == TEXTS[0]
    assert "change text" in page.sheet.messages.text()


@pytest.fixture
def open_kind(project, page_over):

    def make(kind, document=None):
        if document is not None:
            begin(project, kind, document)
        return page_over(project, "Author", item_id=items.ids(project)[0], kind=kind.value)

    return make


def told(page) -> str:
    return page.sheet.bar.counts.text()


@pytest.mark.parametrize("kind", WRITTEN)
def test_what_was_just_typed_into_a_new_document_stays_on_tab(kind, open_kind, project):
    page = open_kind(kind)
    QTest.mouseClick(page.sheet.beginning.start, Qt.MouseButton.LeftButton)
    fields = [field for field in page.sheet.findChildren(TextField) if field.isVisible()]
    assert fields
    for way in ("Tab", "Shift+Tab"):
        for number, field in enumerate(fields):
            QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton)
            press("Ctrl+A")
            type_words(f"{way}, sentence {number}.")
            press(way)
            assert focus() is not field
        typed = [f"{way}, sentence {number}." for number in range(len(fields))]
        assert [field.toPlainText() for field in fields] == typed
    document = mine(project, kind).document.model_dump_json()
    assert all(f'"{field.toPlainText()}"' in document for field in fields)


def test_a_statement_gets_its_label_by_key_and_its_aspect_from_the_list(open_kind, project):
    page = open_kind(Kind.DIAGNOSTICS, Diagnostics(units=(Statement(text="Blocks add their input."),)))
    press("Alt+2")
    press("Tab", 2)
    press("Down")
    assert focus() is page.sheet.form.editors[0].fields["aspect"]
    (unit,) = mine(project, Kind.DIAGNOSTICS).document.units
    assert (unit.label, unit.aspect) == (False, Aspect.BACKGROUND)
    assert "0 true, 1 false" in told(page)


def test_an_identifier_is_read_as_it_is_typed(open_kind, project):
    page = open_kind(Kind.EVIDENCE, Evidence(units=(Reference(text="Deep residual learning"),)))
    editor = page.sheet.form.editors[0]
    editor.fields["identifier"].setFocus()
    type_words("https://arxiv.org/abs/1512.03385v1")
    assert editor.read_as.text() == "✓ arXiv"
    press("Tab")
    assert mine(project, Kind.EVIDENCE).document.units[0].identifier == "https://arxiv.org/abs/1512.03385v1"
    editor.fields["identifier"].setText("no identifier")
    editor.refresh()
    assert editor.read_as.text() == ""


def test_a_year_is_kept_as_a_number_and_what_is_none_is_an_error(open_kind, project, qtbot):
    page = open_kind(Kind.EVIDENCE, Evidence(units=(Reference(text="Deep residual learning"),)))
    year = page.sheet.form.editors[0].fields["year"]
    year.setFocus()
    type_words("2015x")
    press("Tab")
    assert mine(project, Kind.EVIDENCE).document.units[0].year == 2015
    year.setFocus()
    press("Backspace")
    qtbot.waitUntil(lambda: any(finding.rule == "year" for finding in page.sheet.checking.findings))
    page.sheet.submission.submit()
    assert "“201” is not a year." in page.sheet.panel.entries.item(0).text()


def test_a_share_with_many_digits_is_not_rounded_by_looking_at_it(open_kind, project):
    page = open_kind(Kind.CHECKLIST, Checklist(units=(CheckPoint(text="Accuracy", share=1 / 3),)))
    page.sheet.form.editors[0].fields["share"].setFocus()
    press("Tab")
    page.leave()
    assert mine(project, Kind.CHECKLIST).document.units[0].share == 1 / 3


def test_a_criterion_is_tied_to_a_key_insight(open_kind, project):
    insight = Insight(text="The identity path carries the gradient.")
    begin(project, Kind.INSIGHTS, Insights(units=(insight,)))
    page = open_kind(Kind.RUBRIC, rubric())
    field = page.sheet.form.editors[0].fields["insight_id"]
    assert field.itemText(1) == insight.text
    field.setFocus()
    press("Down")
    assert mine(project).document.units[0].insight_id == insight.id
    press("Up")
    assert mine(project).document.units[0].insight_id == ""


def test_letter_4_dimensions_show_what_they_mean_and_the_whole_is_said_below(open_kind, project, qtbot):
    page = open_kind(Kind.SELECTION)
    page.sheet.start()
    first, form = page.sheet.form.editors[0], page.sheet.form
    assert first.meaning.text().splitlines()[0].startswith("Whether the question names the concept")
    assert first.meaning.text().splitlines()[1] == "5  nobody in the field could take it for another question"
    first.fields["note"].setFocus()
    type_words("It names the layer.")
    form.whole.fields["recommendation"].choose(2)
    form.whole.fields["improve"].setFocus()
    type_words("Which layer?")
    form.whole.fields["remark"].setFocus()
    type_words("Close.")
    page.sheet.saving.keep()
    document = mine(project, Kind.SELECTION).document
    assert (document.units[0].note, document.recommendation) == ("It names the layer.", "rework")
    assert (document.improve, document.remark) == ("Which layer?", "Close.")
    page.session.do(history.undo)
    assert form.whole.fields["remark"].toPlainText() == ""
