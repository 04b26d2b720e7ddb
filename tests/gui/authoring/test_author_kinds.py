"""What each kind of document asks for beside its words, and what is told of the whole."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from annotator.actions.items import items
from annotator.actions.undo import history
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import WRITTEN, Query, Wording
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.gui.forms.text_field import TextField
from tests.projects.authoring_project import authoring_project, begin, mine, rubric
from tests.projects.pairs_project import DIMENSIONS
from tests.windows.labelling_keys import focus, press, type_words

PROJECT = authoring_project
EIGHT_WORDS = "Explain why a residual block helps deep training."


@pytest.fixture
def open_page(project, page_over):

    def make(kind, document=None):
        if document is not None:
            begin(project, kind, document)
        return page_over(project, "Author", item_id=items.ids(project)[0], kind=kind.value)

    return make


def told(page) -> str:
    return page.sheet.bar.counts.text()


@pytest.mark.parametrize("way", ["Tab", "Shift+Tab"])
@pytest.mark.parametrize("kind", WRITTEN)
def test_what_was_just_typed_into_a_new_document_stays_on_tab(kind, way, open_page, project):
    page = open_page(kind)
    QTest.mouseClick(page.sheet.beginning.start, Qt.MouseButton.LeftButton)
    fields = [field for field in page.sheet.findChildren(TextField) if field.isVisible()]
    assert fields
    for number, field in enumerate(fields):
        QTest.mouseClick(field.viewport(), Qt.MouseButton.LeftButton)
        type_words(f"Sentence {number}.")
        press(way)
        assert focus() is not field
    assert [field.toPlainText() for field in fields] == [f"Sentence {n}." for n in range(len(fields))]
    document = mine(project, kind).document.model_dump_json()
    assert all(f'"{field.toPlainText()}"' in document for field in fields)


def test_a_statement_gets_its_label_by_key_and_its_aspect_from_the_list(open_page, project):
    page = open_page(Kind.DIAGNOSTICS, Diagnostics(units=(Statement(text="Blocks add their input."),)))
    press("Alt+2")
    press("Tab", 2)
    press("Down")
    assert focus() is page.sheet.form.editors[0].fields["aspect"]
    (unit,) = mine(project, Kind.DIAGNOSTICS).document.units
    assert (unit.label, unit.aspect) == (False, Aspect.BACKGROUND)
    assert "0 true, 1 false" in told(page)


def test_all_five_aspects_are_offered(open_page):
    page = open_page(Kind.DIAGNOSTICS, Diagnostics(units=(Statement(),)))
    aspect = page.sheet.form.editors[0].fields["aspect"]
    offered = [aspect.itemData(place) for place in range(1, aspect.count())]
    assert offered == ["background", "problem", "methodology", "results", "future directions"]


def test_what_an_undecided_statement_lacks_stands_under_its_fields(open_page, qtbot):
    page = open_page(Kind.DIAGNOSTICS, Diagnostics(units=(Statement(text="Blocks add their input."),)))
    qtbot.waitUntil(lambda: "" in page.sheet.form.editors[0]._remarks)
    rules = {finding.rule for finding in page.sheet.checking.findings if finding.unit_id}
    assert {"no-label", "no-aspect"} <= rules
    assert "1 undecided" in told(page)


def test_an_identifier_is_read_as_it_is_typed(open_page, project):
    page = open_page(Kind.EVIDENCE, Evidence(units=(Reference(text="Deep residual learning"),)))
    editor = page.sheet.form.editors[0]
    editor.fields["identifier"].setFocus()
    type_words("https://arxiv.org/abs/1512.03385v1")
    assert editor.read_as.text() == "✓ arXiv"
    press("Tab")
    assert mine(project, Kind.EVIDENCE).document.units[0].identifier == "https://arxiv.org/abs/1512.03385v1"
    editor.fields["identifier"].setText("no identifier")
    editor.refresh()
    assert editor.read_as.text() == ""


def test_a_year_is_kept_as_a_number_and_what_is_none_is_an_error(open_page, project, qtbot):
    page = open_page(Kind.EVIDENCE, Evidence(units=(Reference(text="Deep residual learning"),)))
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


def test_words_of_a_sub_task_are_counted_while_typing(open_page):
    page = open_page(Kind.PLAN, Plan(units=(Subtask(),)))
    count = page.sheet.form.editors[0].count
    type_words("Explain why")
    assert (count.text(), count.property("state")) == ("2 words: too few", "unconfirmed")
    press("Ctrl+A")
    type_words(EIGHT_WORDS)
    assert (count.text(), count.property("state")) == ("8 words ✓", "agreed")


def test_chinese_is_counted_in_characters(open_page):
    page = open_page(Kind.PLAN, Plan(units=(Subtask(text="说明残差连接为何有效"),)))
    assert page.sheet.form.editors[0].count.text() == "10 characters ✓"


def test_shares_are_summed_while_they_are_typed(open_page, project):
    points = (CheckPoint(text="Accuracy", share=0.5), CheckPoint(text="Depth", share=0.25))
    page = open_page(Kind.CHECKLIST, Checklist(units=points))
    assert "shares sum to 0.75 of 1.00" in told(page)
    share = page.sheet.form.editors[1].fields["share"]
    share.setFocus()
    share.selectAll()
    type_words("0.5")
    page.leave()
    assert mine(project, Kind.CHECKLIST).document.units[1].share == 0.5
    assert "shares sum to 1.00 of 1.00" in told(page)


def test_points_at_0_share_the_rest_and_it_can_be_undone(open_page, project):
    points = tuple(CheckPoint(text=words, share=share) for words, share in (("A", 0.5), ("B", 0), ("C", 0)))
    page = open_page(Kind.CHECKLIST, Checklist(units=points))
    page.sheet.bar.share.click()
    assert [unit.share for unit in mine(project, Kind.CHECKLIST).document.units] == [0.5, 0.25, 0.25]
    assert [editor.fields["share"].text() for editor in page.sheet.form.editors] == ["0.50", "0.25", "0.25"]
    assert not page.sheet.bar.share.isEnabled()
    history.undo(project)
    assert [unit.share for unit in mine(project, Kind.CHECKLIST).document.units] == [0.5, 0, 0]


def test_a_point_has_a_title_above_its_words(open_page, project):
    page = open_page(Kind.CHECKLIST, Checklist(units=(CheckPoint(text="Is it sound?", share=1),)))
    editor = page.sheet.form.editors[0]
    title = editor.fields["title"]
    assert title.y() < editor.text.y()
    assert editor.stops()[0] is title
    title.setFocus()
    type_words("Rigour")
    page.leave()
    (point,) = mine(project, Kind.CHECKLIST).document.units
    assert (point.title, point.text) == ("Rigour", "Is it sound?")


def test_only_a_checklist_shares_the_rest(open_page):
    page = open_page(Kind.NUGGETS, Nuggets(units=(Nugget(text="Blocks add their input."),)))
    assert page.sheet.bar.share.isHidden()


def test_a_share_with_many_digits_is_not_rounded_by_looking_at_it(open_page, project):
    page = open_page(Kind.CHECKLIST, Checklist(units=(CheckPoint(text="Accuracy", share=1 / 3),)))
    page.sheet.form.editors[0].fields["share"].setFocus()
    press("Tab")
    page.leave()
    assert mine(project, Kind.CHECKLIST).document.units[0].share == 1 / 3


def test_a_nugget_is_vital_or_okay_by_key(open_page, project):
    page = open_page(Kind.NUGGETS, Nuggets(units=(Nugget(text="Blocks add their input."),)))
    press("Alt+1")
    assert mine(project, Kind.NUGGETS).document.units[0].importance == "vital"
    assert "1 vital, 0 okay" in told(page)


def test_a_criterion_is_tied_to_a_key_insight(open_page, project):
    insight = Insight(text="The identity path carries the gradient.")
    begin(project, Kind.INSIGHTS, Insights(units=(insight,)))
    page = open_page(Kind.RUBRIC, rubric())
    field = page.sheet.form.editors[0].fields["insight_id"]
    assert field.itemText(1) == insight.text
    field.setFocus()
    press("Down")
    assert mine(project).document.units[0].insight_id == insight.id
    press("Up")
    assert mine(project).document.units[0].insight_id == ""


def test_the_first_wording_of_a_query_is_the_one_that_is_asked(open_page):
    wordings = (Wording(text="Why does it help?"), Wording(text="How does it help?"))
    page = open_page(Kind.QUERY, Query(units=wordings))
    press("Alt+Down")
    uses = [editor.hint.text() for editor in page.sheet.form.editors]
    assert uses == [
        "This wording is asked once the query is settled.",
        "An alternative; move it to the top to ask it.",
    ]
    assert page.sheet.form.editors[0].text.toPlainText() == "How does it help?"


def test_a_question_is_rated_on_the_dimensions_of_its_type(open_page, project):
    page = open_page(Kind.SELECTION)
    page.sheet.start()
    names = [editor.name.text() for editor in page.sheet.form.editors]
    assert names == list(DIMENSIONS["Technical Details"])
    for editor, rating in zip(page.sheet.form.editors, (5, 4, 5, 4), strict=True):
        editor.enter()
        press(str(rating))
    assert [unit.rating for unit in mine(project, Kind.SELECTION).document.units] == [5, 4, 5, 4]
    assert "mean 4.50, ✓ at or above the bar of 4.5" in told(page)


def test_letter_4_dimensions_show_what_they_mean_and_the_whole_is_said_below(open_page, project, qtbot):
    page = open_page(Kind.SELECTION)
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
    page.desk.do(history.undo)
    assert form.whole.fields["remark"].toPlainText() == ""


def test_enter_on_a_missing_rating_leads_to_it_and_rates_nothing(open_page, project):
    page = open_page(Kind.SELECTION)
    page.sheet.start()
    press("Ctrl+Return")
    press("Return")
    assert page.sheet.form.editors[0].isAncestorOf(focus())
    assert {unit.rating for unit in mine(project, Kind.SELECTION).document.units} == {None}
    press("Return")
    assert mine(project, Kind.SELECTION).document.units[0].rating == 1


def test_dimensions_are_given_neither_added_nor_retired(open_page, project):
    page = open_page(Kind.SELECTION)
    page.sheet.start()
    press("Ctrl+Backspace")
    press("Ctrl+N")
    press("Alt+Down")
    names = [unit.text for unit in mine(project, Kind.SELECTION).document.units]
    assert names == list(DIMENSIONS["Technical Details"])
    assert page.sheet.bar.new.isHidden()


def test_without_a_question_type_it_is_said_why_nothing_can_be_rated(open_page, project):
    page = open_page(Kind.SELECTION)
    page.desk.do(lambda p: items.change(p, page.item.id, question_type=""))
    assert page.sheet.beginning.start.isHidden()
    assert "question type" in page.sheet.beginning._empty._words.text()
