"""A model's draft beside the form: asked for in a child process, taken unit by unit, and known for what it is."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtGui import QTextCursor

from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items as items_module
from annotator.actions.material import model_drafts
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from tests.judging.odd_server import OddServer, error
from tests.projects.authoring_project import mine, texts
from tests.servers.drafting_server import (
    ADDED,
    CRITERIA,
    JUDGE,
    SAID,
    ben,
    drafting,
    drafting_project,
    first_item,
)
from tests.windows.labelling_keys import focus, press, type_words
from tests.windows.run_keys import stopped_by_key

FIRST, SECOND, THIRD = (text for text, _, _ in CRITERIA)


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def project(tmp_path, server):
    return drafting_project(tmp_path, server)


@pytest.fixture
def page(project, page_over):
    return page_over(project, "Author", item_id=first_item(project), kind="rubric")


@pytest.fixture
def panel(page):
    press("F8")
    return page.side.draft


def asked(panel, qtbot) -> None:
    with qtbot.waitSignal(panel.asking.came):
        press("Ctrl+Shift+D")


def shown(panel) -> list[tuple[str, bool]]:
    return [(card.unit.text, card.is_taken) for card in panel.cards]


def test_a_key_opens_the_panel_and_says_what_asking_would_take(page, panel, qtbot):
    assert page.side.shows(panel)
    assert panel.asking.judge.currentText() == JUDGE
    assert "draft.rubric" in panel.asking.words.text()
    qtbot.waitUntil(lambda: "tokens in" in panel.asking.estimate.text())


@pytest.mark.usefixtures("real_children")
def test_a_draft_is_shown_unit_by_unit_and_is_nobodys_document(panel, project, qtbot):
    asked(panel, qtbot)
    assert shown(panel) == [(FIRST, False), (SECOND, False), (THIRD, False)]
    assert artifacts_of(project, first_item(project)) == []
    assert "test-model" in panel.head.text()
    assert not panel.asking.ask.isVisible()


def test_a_key_stops_the_drafting_and_nothing_came(page, panel, server, qtbot):
    stopped_by_key(page, qtbot, server, panel.asking.run, panel.asking.start)
    assert panel.cards == []
    assert "Stopped before a draft arrived." in panel.asking.answer.text()
    assert panel.asking.ask.isVisible()


def test_what_is_taken_can_be_written_on_and_stays_marked(page, panel, project, qtbot):
    asked(panel, qtbot)
    press("Ctrl+Shift+T")
    assert focus() is page.sheet.form.editors[0].text
    type_words(" Briefly.")
    assert page.sheet.saving.keep()
    assert texts(project) == [f"{FIRST} Briefly."]
    assert "From test-model's draft" in page.sheet.form.editors[0]._drafted.text()
    verbs = [revision.verb for revision in artifacts.revisions(project, mine(project).id)]
    assert any(verb.startswith(f"{artifacts.TAKEN}: test-model") for verb in verbs)


def test_the_arrows_choose_and_enter_takes(page, panel, project, qtbot):
    asked(panel, qtbot)
    assert focus() is panel.cards[0]
    press("Down", 2)
    press("Return")
    assert texts(project) == [THIRD]


@pytest.mark.parametrize("keys", [("Ctrl+T",) * 3, ("Ctrl+Shift+Backspace",)])
def test_with_the_last_of_a_draft_the_keyboard_does_not_go(page, panel, qtbot, keys):
    asked(panel, qtbot)
    for key in keys:
        press(key)
    assert panel.draft_id == ""
    assert page.isAncestorOf(focus())


def test_undo_gives_a_taken_unit_back_to_the_draft(page, panel, project, qtbot):
    asked(panel, qtbot)
    press("Ctrl+T", 2)
    assert texts(project) == [FIRST, SECOND]
    page.session.undo()
    assert shown(panel) == [(FIRST, True), (SECOND, False), (THIRD, False)]


def test_the_blind_partner_sees_no_draft(page, panel, project, qtbot, window_over):
    asked(panel, qtbot)
    press("Ctrl+T")
    window = page.window()
    window.choose_person(ben(project).id)
    window.show_page("Author", item_id=first_item(project), kind="rubric")
    press("F8")
    assert window.page.side.draft.cards == []
    assert window.page.sheet.artifact is None


def test_why_nothing_came_is_said_beside_the_button(panel, server, qtbot):
    server.answer = lambda *_: error(400, "Not today.")
    asked(panel, qtbot)
    assert "No draft came: endpoint failed." in panel.asking.answer.text()
    assert panel.cards == []
    assert panel.asking.ask.isEnabled()


# Reference material


@pytest.fixture
def of_reference(project, page_over):
    """The panel on reference material; the person's own insights are begun."""
    artifacts.start(project, first_item(project), Kind.INSIGHTS, Insights(units=(Insight(text="Adds."),)))
    page = page_over(project, "Author", item_id=first_item(project), kind="insights")
    press("F8")
    page.side.draft.what.setCurrentIndex(1)
    return page.side.draft


def beside(project) -> list[str]:
    return [source.text for source in items_module.sources(project, first_item(project))][1:]


def test_reference_material_is_chosen_beside_key_insights_alone(of_reference):
    assert of_reference.what.isVisible()
    assert "researcherbench.reference" in of_reference.asking.words.text()
    assert of_reference.asking.judge.count() == 1
    of_reference.window().page.tabs.picked.emit(Kind.RUBRIC)
    assert not of_reference.what.isVisible()
    assert "draft.rubric" in of_reference.asking.words.text()


def test_it_is_edited_in_its_parts_and_put_beside_the_item(of_reference, project, qtbot):
    asked(of_reference, qtbot)
    fields = of_reference.reference.fields
    assert [field.toPlainText() for field in fields.values()] == [SAID, ADDED]
    assert beside(project) == []
    of_reference.enter()
    qtbot.waitUntil(fields["text"].hasFocus)
    press("Ctrl+End")
    type_words(" Checked.")
    fields["beyond"].setPlainText("")
    fields["beyond"].edited.emit("")
    press("Ctrl+T")
    assert beside(project) == [f"## From the sources\n\n{SAID} Checked."]
    pane = of_reference.window().page.source
    assert pane.tabs.tabText(pane.tabs.currentIndex()).startswith("Reference")
    assert "edited and confirmed by" in pane.hint.text()
    assert not of_reference.reference.isVisible()
    assert of_reference.asking.ask.isVisible()


def test_what_was_typed_into_it_is_there_again(of_reference, project, qtbot):
    asked(of_reference, qtbot)
    fields = of_reference.reference.fields
    of_reference.enter()
    qtbot.waitUntil(fields["text"].hasFocus)
    press("Ctrl+A")
    fields["text"].insertPlainText("我的话。")
    page = of_reference.window().page
    page.step(1)
    page.step(-1)
    assert of_reference.reference.fields["text"].toPlainText() == "我的话。"
    assert beside(project) == []


def test_what_was_typed_last_stays_with_the_draft_it_was_typed_into(of_reference, project, qtbot):
    asked(of_reference, qtbot)
    waiting = model_drafts.waiting(project, first_item(project))
    fields = of_reference.reference.fields
    fields["text"].moveCursor(QTextCursor.MoveOperation.End)
    fields["text"].insertPlainText(" Mine.")
    other = replace(waiting, proposal=replace(waiting.proposal, id="another"), from_sources="Another.")
    of_reference.reference.show_draft(other)
    assert fields["text"].toPlainText() == "Another."
    assert model_drafts.waiting(project, first_item(project)).from_sources == f"{SAID} Mine."
