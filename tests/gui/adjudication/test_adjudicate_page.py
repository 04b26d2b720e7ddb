"""The Adjudicate page: what is seen of each row, what comes of every ruling, and how an item is closed."""

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.items import items
from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.project.file import Project
from annotator.actions.studies import rubric_views
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui import keys
from annotator.gui.pages.adjudication.acts import PLAIN_TAKES
from annotator.gui.pages.adjudication.frame import RULINGS
from annotator.gui.pages.adjudication.queue_pane import LineFilter
from annotator.gui.pages.adjudication.row_card import UNIT_MIME
from tests.projects.adjudication_project import labels_project, scripts_project
from tests.projects.pairs_project import (
    ADA,
    BEN,
    add_report,
    diagnostics,
    item,
    labels,
    opened,
    pairs_project,
    rubric,
    rubrics_project,
    submit,
    work_as,
)
from tests.storage import sql
from tests.windows.adjudicating_window import (
    COMPARES,
    COST,
    DESCRIBES,
    FUTURE,
    OPEN,
    adjudicate,
    card_of,
    go,
    key_of,
    letter,
    row_of,
)
from tests.windows.labelling_keys import press, type_words


@pytest.fixture
def page(tmp_path, window_over, qtbot):
    """Five criteria of Ada's against six of Ben's; the first is the same."""
    return adjudicate(rubrics_project(tmp_path), window_over, qtbot)


def test_the_lowest_agreement_waits_first_and_is_opened_only_when_asked(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot, begin=False)
    assert page.frame.middle.currentWidget() is page.frame.beginning
    assert {line.state for line in page.queue.lines} == {"not begun"}
    press("Return")
    assert page.bench.sheet.item_key == "1"
    # Looking is not yet taking on.
    assert {line.state for line in page.queue.lines} == {"not begun"}
    press("1")
    assert [line.state for line in page.queue.lines] == ["open", "not begun", "not begun"]


def test_what_everybody_wrote_is_one_line_until_it_is_at_hand(page):
    agreed = card_of(page, "Explains")
    assert agreed.folded
    assert agreed.line.text() == ADA[0][0]
    assert agreed.state.words() == ["agreed"]
    go(page, "Explains")
    assert not agreed.folded
    press("Alt+0")
    assert agreed.state.words() == ["agreed, not yet confirmed"]


def test_the_consensus_grows_with_every_ruling_and_leads_back_to_its_row(page):
    go(page, DESCRIBES)
    press("3")
    go(page, FUTURE)
    press(key_of(page, "Ben"))
    texts = [page.frame.consensus.model.index(row).data() for row in range(4)]
    starts = [words.partition("  ")[2].split()[0] for words in texts]
    assert starts == ["Explains", "Describes", "Describes", "Outlines"]
    page.frame.consensus._choose(page.frame.consensus.model.index(1))
    assert page.bench.row.number == row_of(page, DESCRIBES).number


def test_the_own_wording_is_a_draft_while_it_is_typed_and_a_ruling_when_it_is_left(page, qtbot):
    press("4")
    type_words(" really")
    ruling_id = page.bench.ruling_id
    drafts = "SELECT text FROM draft WHERE place LIKE ?"
    project = page.session.project
    qtbot.waitUntil(lambda: sql.first(project, drafts, [f"ruling|{ruling_id}|text"]) is not None)
    assert sql.first(project, drafts, [f"ruling|{ruling_id}|text"])[0].endswith(" really")
    press("Esc")
    assert page.bench.rows[ruling_id].ruling.own["text"].endswith(" really")
    assert sql.first(project, drafts, [f"ruling|{ruling_id}|%"]) is None


def test_words_typed_into_a_row_that_is_taken_away_elsewhere_are_shown_and_stay_a_draft(page, qtbot):
    of_one = {"".join(row.ruling.members): name for name, row in page.bench.rows.items()}
    page.bench.move_to(of_one["A"])
    press("4")
    type_words("A wording of my own")
    with qtbot.waitSignal(page.session.refused) as refused:
        page.session.do(adjudicating.pair, of_one["B"], of_one["A"])
    assert list(page.bench.rows).count(of_one["A"]) == 0
    words = page.session.project, "SELECT text FROM draft WHERE place = ?", [f"ruling|{of_one['A']}|text"]
    (draft,) = sql.first(*words)
    assert "A wording of my own" in draft
    assert f"“{draft}”" in refused.args[0].todo


def test_contested_values_are_hidden_until_the_senior_has_voted(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": diagnostics((True, True), "a"), "Ben": diagnostics((True, False), "b")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    press("F9")
    card = page.rows.card
    assert (card.state.words(), card.cells, card.differs.words()) == (["vote first"], [], [])
    assert [button.text().split()[0] for button in page.rows.controls.votes] == ["True", "False"]
    rulings = [page.frame.bar.buttons[act] for act, *_ in RULINGS]
    assert not any(button.isEnabled() for button in rulings)
    for act in (UNSURE, *PLAIN_TAKES, "pair_row", "split_row", "leave_open"):
        press(keys.shown(act))
        ruling = page.bench.row.ruling
        assert (ruling.open, ruling.first_vote, page.rows.card.cells) == (True, "", []), act
    press("2")
    assert all(button.isEnabled() for button in rulings)
    assert page.bench.row.ruling.first_vote == "false"
    assert page.bench.row.ruling.open
    assert len(page.rows.card.cells) == 2


def test_labels_stand_report_by_report_with_what_they_are_about(tmp_path, window_over, qtbot):
    project = labels_project(tmp_path, reports=2, criteria=5)
    # Two wrote the rubric and nobody adjudicated it, and reports are judged by another now: its words are known still.
    work_as(project, "Cora")
    rubric_views.keep_set(project, "lax", {"1": Rubric(units=(Criterion(text="Is a report"),))})
    rubric_views.use(project, "lax")
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    assert len(page.rows.cards) == 10
    headings = {card.row.heading for card in page.rows.cards.values()}
    assert len(headings) == 5
    assert headings.isdisjoint({"", "Is a report"})
    contested = [card for card in page.rows.cards.values() if card.row.contested]
    assert len(contested) == 2
    assert contested[0].row.report in ("Report A", "Report B")
    assert sorted(cell.chips.words()[0] for cell in contested[0].cells) == ["Met", "Not met"]
    assert not page.rows.controls.takes["both"].isEnabled()
    press("4")
    press("3")
    press("Esc")
    assert page.bench.row.ruling.own["value"] == "unsure"


def test_everybodys_evidence_is_marked_in_the_report(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA[:1], "a"), "Ben": rubric(ADA[:1], "b")})
    report = add_report(project)
    said = {name: labels(report, {"a1": value}) for name, value in (("Ada", "yes"), ("Ben", "no"))}
    quoted = said["Ada"].units[0].model_copy(update={"quote": "explains attribution"})
    submit(project, said | {"Ada": said["Ada"].with_units((quoted,))})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    press("F4")
    source = page.side.parts["source"]
    assert [source.report.text()[mark.start : mark.end] for mark in source.report.marks()] == [quoted.quote]
    assert letter(page, "Ada") in source.name.text()
    press("F9")
    assert source.report.marks() == []


def test_a_unit_dragged_onto_another_row_is_paired_with_it(page):
    cost, open_problems = row_of(page, COST), row_of(page, OPEN)
    card, mime = card_of(page, COST), QMimeData()
    mime.setData(UNIT_MIME, f"{open_problems.ruling.id}|{letter(page, 'Ben')}".encode())
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    card.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.MoveAction, mime, buttons, keys))
    assert page.bench.ruling_id == cost.ruling.id
    assert len(page.bench.row.units) == 2


def test_gaps_are_collected_and_copied(page, qapp):
    press("1")
    press("Alt+7")
    type_words("Nothing on surveys")
    press("Esc")
    assert page.frame.head.buttons["gaps"].accessibleName().startswith("Gaps (1)")
    press("F8")
    gaps = page.side.parts["gaps"]
    gaps.copy.click()
    assert qapp.clipboard().text() == "Item 1, rubric: Nothing on surveys"


def test_a_quotation_leads_to_its_source(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    path = tmp_path / "survey.txt"
    path.write_text("Synthetic questions help. Verified passages help more.", "utf-8")
    items.add_source(project, item(project), path)
    quoted = (
        rubric(ADA, "a")
        .units[1]
        .model_copy(
            update={
                "anchor": Anchor(
                    quote="Verified passages", source_id=items.sources(project, item(project))[0].id
                )
            }
        )
    )
    units = (rubric(ADA, "a").units[0], quoted, *rubric(ADA, "a").units[2:])
    submit(project, {"Ada": rubric(ADA, "a").with_units(units), "Ben": rubric(BEN, "b")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    card_of(page, COMPARES).quote_wanted.emit(row_of(page, COMPARES).ruling.id, letter(page, "Ada"), 0)
    assert page.side.shown == "source"
    report = page.side.parts["source"].sources.text
    assert [report.text()[mark.start : mark.end] for mark in report.marks("evidence")] == [
        "Verified passages"
    ]


def test_a_file_that_may_only_be_read_can_be_looked_at(tmp_path, window_over, qtbot):
    project = rubrics_project(tmp_path)
    opened(project)
    project.close()
    page = adjudicate(Project.open(project.path, readonly=True), window_over, qtbot, begin=False)
    assert len(page.rows.cards) == 7
    assert page.bench.locked
    press("1")
    assert page.bench.row.ruling.open


def settle_all(page) -> None:
    while page.bench.unresolved(contested=True):
        press("Ctrl+J")
        press("1" if "A" in page.bench.row.units else "2")
        if page.bench.lacks(page.bench.ruling_id):
            press("Alt+1")


def test_closing_says_both_figures_and_what_is_closed_is_reopened_only_with_a_reason(page):
    settle_all(page)
    press("Ctrl+Return")
    # Four of five and six are matched: 8/11.
    assert "Frozen: match F1 0.73; by your pairing: match F1 0.73." in page.messages.text()
    page._open(page.queue.lines[0])
    standing = page.frame.standing
    assert standing.said.text().startswith("Closed as version 1: 7 criteria (1 from all, 6 from one)")
    frozen, by_hand = standing.figures.text().splitlines()
    assert frozen.startswith("Frozen before adjudication: match F1 0.73")
    assert by_hand.startswith("By your pairing: match F1 0.73")
    standing.reopen.click()
    assert page.bench.locked
    standing.reason.setFocus()
    type_words("A second look")
    standing.reopen.click()
    assert not page.bench.locked
    assert page.queue.lines[0].state == "reopened"


def test_a_dispute_stands_under_its_letter_until_it_is_answered(page):
    settle_all(page)
    press("Ctrl+Return")
    project = page.session.project
    feedback.dispute(work_as(project, "Ben"), item(project), Stage.RUBRIC, "Weight 3 was meant.")
    page.window().show_page("Items")
    work_as(project, "Cleo")
    page.window().show_page("Adjudicate")
    (row,) = page.frame.standing.disputes.values()
    assert row.text.text() == f"{letter(page, 'Ben')} objects: Weight 3 was meant."
    row.answer.setFocus()
    type_words("It is a nice to have")
    row.send.click()
    assert page.frame.standing.disputes == {}
    assert page.queue.counted(LineFilter.CONFLICTS) == 0


def test_unanimous_items_are_confirmed_in_one_go_but_for_the_drawn_ones(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path, 4)
    for place in range(3):
        submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(ADA, "b")}, place)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")}, 3)
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    page.frame.queue_pane.unanimous.click()
    panel = page.frame.unanimous
    assert panel.explained.text().startswith("1 is drawn at random")
    panel.confirm.click()
    qtbot.waitUntil(lambda: panel.said.text() == "2 confirmed and closed, 1 drawn for a spot check.")
    assert len(panel.drawn) == 1
    assert page.queue.counted(LineFilter.CLOSED) == 2
    panel.drawn[0].click()
    assert page.bench.sheet.spot_check
    assert page.frame.head.signs.words() == ["drawn for a spot check"]


@pytest.mark.parametrize(
    ("name", "headline"),
    [("Cleo", "Nobody has submitted anything yet"), ("Dan", "You are not an adjudicator of this project")],
)
def test_an_empty_page_says_what_comes_first(tmp_path, window_over, qtbot, name, headline):
    page = adjudicate(work_as(pairs_project(tmp_path), name), window_over, qtbot, begin=False)
    assert page.frame.currentWidget()._headline.text() == headline


def test_the_queue_keeps_qts_contract_and_the_open_line(page, qtmodeltester):
    qtmodeltester.check(page.queue)
    page.frame.queue_pane.show_only(LineFilter.CLOSED)
    assert page.queue.rowCount() == 1
    page.frame.queue_pane.search.setText("nothing of the kind")
    assert page.queue.row_of(page.bench.place) == 0
    page.frame.queue_pane.search.setText("")
