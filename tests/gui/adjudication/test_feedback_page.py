"""What annotators see of what became of their work, and how they object once."""

from functools import partial

import pytest
from PySide6.QtWidgets import QLabel, QPushButton

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import DigestRow, Reason, StageDigest
from annotator.domain.experts.assignment import Stage
from annotator.gui.pages.feedback import StageView
from annotator.gui.widgets.reading.marked_text import MarkedText
from tests.projects import pairs_project as pairs
from tests.windows.using import owned, press, type_words


@pytest.fixture
def project(tmp_path) -> Project:
    """One item's rubric: Ada's 1 kept, 2 in Ben's words and weight, 3 at weight 3, 5 dropped; Ben's 5 added."""
    project = pairs.rubrics_project(tmp_path)
    adjudication = pairs.opened(project)
    ben = pairs.letter_of(project, adjudication, "Ben")
    by_unit = {
        unit: row.ruling.id
        for row in adjudicating.sheet(project, adjudication).rows
        for unit in row.ruling.members.values()
    }
    ruling.rule(project, by_unit["a1"], "both")
    ruling.rule(project, by_unit["a2"], ben, reason=Reason.WEIGHT, rationale="The comparison is central.")
    ruling.write_own(project, by_unit["a3"], weight=3)
    ruling.explain(project, by_unit["a3"], reason=Reason.OTHER)
    ruling.rule(project, by_unit["a4"], pairs.letter_of(project, adjudication, "Ada"), reason=Reason.WORDING)
    ruling.rule(project, by_unit["a5"], "drop", reason=Reason.SCOPE, rationale="Costs are not asked for.")
    ruling.rule(project, by_unit["b5"], ben)
    ruling.rule(project, by_unit["b6"], "drop", reason=Reason.DUPLICATE, rationale="Canary: about Ben's.")
    ruling.close(project, adjudication)
    return pairs.work_as(project, "Ada")


@pytest.fixture
def show(project, page_over):
    return partial(page_over, project, "Feedback")


def said(page) -> str:
    labels = [label.text() for label in page.findChildren(QLabel)]
    return "\n".join([*labels, *(words.text() for words in page.findChildren(MarkedText))])


def test_however_many_units_there_are_a_page_of_them_is_laid_out_at_a_time(qtbot):
    rows = [
        DigestRow(own={"id": str(n), "text": f"Unit {n}"}, consensus=None, change="dropped")
        for n in range(130)
    ]
    view = owned(qtbot, StageView())
    view.show_stage(StageDigest(item_id="q", stage=Stage.RUBRIC, version=1, rows=tuple(rows)), {})

    def turn(words: str) -> tuple[str, str, int]:
        buttons = [one for one in view.area.widget().findChildren(QPushButton) if one.text() == words]
        assert [button.isEnabled() for button in buttons] == [True]
        buttons[0].click()
        return view.cards[0].own.text.text(), view.cards[-1].own.text.text(), len(view.cards)

    assert len(view.cards) == 60
    assert turn("Next") == ("Unit 60", "Unit 119", 60)
    assert turn("Next") == ("Unit 120", "Unit 129", 10)
    assert turn("Previous") == ("Unit 60", "Unit 119", 60)
    assert turn("Previous") == ("Unit 0", "Unit 59", 60)


def test_what_changed_is_shown_with_nothing_of_the_partner_and_an_objection_is_sent_once_and_answered(
    project, show
):
    page = show()
    assert sorted(card.chips.words() for card in page.view.cards) == [
        ["added"],
        ["dropped", "reason: scope"],
        ["reworded", "reason: weight"],
        ["weight changed", "reason: other"],
    ]
    assert page.view.counts.words() == ["2 kept", "1 reworded", "1 dropped", "1 added", "1 weight changed"]
    page.view.unchanged.setChecked(True)
    assert len(page.view.cards) == 6
    words = said(page)
    assert "Costs are not asked for." in words
    assert pairs.BEN[4][0] in words
    for secret in ("Canary", pairs.BEN[5][0], "Ben", "Cleo"):
        assert secret not in words
    assert "frozen before adjudication and does not change" in page.objection.hint.text()
    press("Ctrl+M")
    type_words("Costs are in the question.")
    window = page.window()
    window.show_page("Items")
    page = window.show_page("Feedback")
    assert page.objection.field.toPlainText() == "Costs are in the question."
    for _ in range(2):
        press("Ctrl+Return")
        (line,) = feedback.items_with_digest(project)
        assert line.dispute is not None
        assert page.objection.objection.text() == "You: Costs are in the question."
        assert page.objection.chips.words() == ["Rubric", "waiting for an answer"]
        assert not page.objection.field.isVisible()
    (sent,) = feedback.disputes(project)
    window.show_page("Items")
    pairs.work_as(project, "Cleo")
    feedback.answer(project, sent.id, "They are in the title alone.")
    pairs.work_as(project, "Ada")
    page = window.show_page("Feedback")
    assert page.objection.chips.words() == ["Rubric", "answered"]
    assert page.objection.answer.text() == "Adjudicator: They are in the title alone."


def test_the_author_page_leads_here_once_there_is_a_consensus(project, page_over):
    author = page_over(project, "Author", item_id=None)
    assert author.header.became.isVisible()
    window = author.window()
    author.header.became.click()
    assert (window.page.NAME, window.page._stage) == ("Feedback", Stage.RUBRIC)
