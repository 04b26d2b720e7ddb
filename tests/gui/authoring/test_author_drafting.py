"""A model's draft beside the form: asked for in a child process, taken unit by unit, and known for what it is."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtGui import QTextCursor

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, draft_provenance
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import sources
from annotator.actions.judges import judges
from annotator.actions.material import drafting_by_model, reference_material
from annotator.actions.project import people
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.insights import Insight, Insights
from tests.judging.odd_server import OddServer, error
from tests.projects.authoring_project import mine, texts
from tests.servers.drafting_server import (
    ADDED,
    CRITERIA,
    JUDGE,
    SAID,
    STATEMENTS,
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


def test_what_asking_for_another_item_would_take_is_not_told(panel, monkeypatch):
    counted = []
    monkeypatch.setattr(panel.asking._desk, "ask_later", lambda then, _, order: counted.append((then, order)))
    panel.asking.show_estimate()
    monkeypatch.setattr(
        panel.asking, "_item", panel.asking._item.model_copy(update={"id": "x", "key": "other"})
    )
    panel.asking.show_estimate()
    for then, order in reversed(counted):
        then(SimpleNamespace(words=lambda items=order.items: [f"of {items[0]}"]))
    assert panel.asking.estimate.text() == "of other"


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


def test_taking_one_takes_that_one_alone(page, panel, project, qtbot):
    asked(panel, qtbot)
    press("Ctrl+T")
    assert texts(project) == [FIRST]
    assert shown(panel) == [(FIRST, True), (SECOND, False), (THIRD, False)]
    assert panel.current().unit.text == SECOND
    assert mine(project).state is State.DRAFT


def test_what_is_taken_can_be_written_on_and_stays_marked(page, panel, project, qtbot):
    asked(panel, qtbot)
    press("Ctrl+Shift+T")
    assert focus() is page.sheet.form.editors[0].text
    type_words(" Briefly.")
    assert page.sheet.saving.keep()
    assert texts(project) == [f"{FIRST} Briefly."]
    assert "From test-model's draft" in page.sheet.form.editors[0]._drafted.text()
    verbs = [revision.verb for revision in artifacts.revisions(project, mine(project).id)]
    assert any(verb.startswith(f"{draft_provenance.TAKEN}: test-model") for verb in verbs)


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
    page.desk.undo()
    assert shown(panel) == [(FIRST, True), (SECOND, False), (THIRD, False)]


def test_of_what_is_put_aside_nothing_is_left_to_take(panel, project, qtbot):
    asked(panel, qtbot)
    press("Ctrl+Shift+Backspace")
    assert panel.cards == []
    assert drafting_by_model.proposals(project) == []
    assert panel.asking.ask.isVisible()


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


def test_without_a_source_there_is_nothing_to_draft_from(page, panel, project):
    page.step(1)
    assert "Add a source with text" in panel.asking.words.text()
    assert not panel.asking.ask.isEnabled()


def test_insights_are_asked_for_by_their_prompt(page, panel, project):
    page.tabs.picked.emit(Kind.INSIGHTS)
    assert "researcherbench.insights" in panel.asking.words.text()
    names = [panel.asking.judge.itemText(place) for place in range(panel.asking.judge.count())]
    assert names == [JUDGE, "baseline"]


def test_a_kind_that_no_model_drafts_says_so(page, panel, project):
    page.tabs.picked.emit(Kind.PLAN)
    assert "Models do not draft a plan" in panel.asking.words.text()
    assert not page.sheet.beginning.draft.isVisible()


def test_statements_say_what_the_model_holds_them_for(page, panel, project, qtbot):
    page.tabs.picked.emit(Kind.DIAGNOSTICS)
    asked(panel, qtbot)
    assert [(card.unit.text, card.chips.words()[0]) for card in panel.cards] == [
        (text, "True" if label else "False") for text, label in STATEMENTS
    ]


def test_without_a_judge_there_is_nobody_to_ask(project, page_over):
    (judge,) = (judge for judge in judges.all_of(project) if judge.name == JUDGE)
    judges.retire(project, judge.id)
    page = page_over(project, "Author", item_id=first_item(project), kind="rubric")
    press("F8")
    assert "No judge has an endpoint yet" in page.side.draft.asking.words.text()
    assert not page.side.draft.asking.ask.isVisible()


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
    return [one.text for one in sources.sources(project, first_item(project))][1:]


def test_reference_material_is_chosen_beside_key_insights_alone(of_reference):
    assert of_reference.what.isVisible()
    assert "researcherbench.reference" in of_reference.asking.words.text()
    assert of_reference.asking.judge.count() == 1
    of_reference.window().page.tabs.picked.emit(Kind.RUBRIC)
    assert not of_reference.what.isVisible()
    assert "draft.rubric" in of_reference.asking.words.text()


def test_without_insights_reference_material_is_not_asked_for(project, page_over):
    page = page_over(project, "Author", item_id=first_item(project), kind="insights")
    press("F8")
    page.side.draft.what.setCurrentIndex(1)
    assert "Write key insights first" in page.side.draft.asking.words.text()
    assert not page.side.draft.asking.ask.isEnabled()


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


def test_put_aside_it_comes_nowhere(of_reference, project, qtbot):
    asked(of_reference, qtbot)
    press("Ctrl+Shift+Backspace")
    assert beside(project) == []
    assert not of_reference.reference.isVisible()


def test_where_work_is_handed_out_an_annotator_cannot_put_it_there(of_reference, project, qtbot):
    assignments.assign_one(project, first_item(project), ben(project).id, Stage.RUBRIC)
    people.add_person(project, "Cora", (Role.COORDINATOR,), "R3")
    people.set_roles(project, project.by, (Role.ANNOTATOR,))
    asked(of_reference, qtbot)
    assert not of_reference.reference.confirm.isEnabled()
    assert "only a coordinator" in of_reference.reference.why.text()
    press("Ctrl+T")
    assert beside(project) == []


def test_what_was_typed_last_stays_with_the_draft_it_was_typed_into(of_reference, project, qtbot):
    asked(of_reference, qtbot)
    waiting = reference_material.waiting(project, first_item(project))
    fields = of_reference.reference.fields
    fields["text"].moveCursor(QTextCursor.MoveOperation.End)
    fields["text"].insertPlainText(" Mine.")
    other = replace(waiting, proposal=replace(waiting.proposal, id="another"), from_sources="Another.")
    of_reference.reference.show_draft(other)
    assert fields["text"].toPlainText() == "Another."
    assert reference_material.waiting(project, first_item(project)).from_sources == f"{SAID} Mine."
