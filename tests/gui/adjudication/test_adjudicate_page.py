"""The Adjudicate page, what annotators see of it later, and the page of agreement: rows, rulings, figures, no names."""

import re

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton
from sqlalchemy import select

from annotator.actions.adjudication import adjudicating, feedback, ruling
from annotator.actions.adjudication.adjudicating import SheetRow
from annotator.actions.items import items
from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.studies import rubric_views
from annotator.domain.experts.adjudication import Confidence, DigestRow, Reason, StageDigest
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui import keys
from annotator.gui.pages.adjudication.bench import LineFilter
from annotator.gui.pages.adjudication.page import PLAIN_TAKES, AdjudicatePage
from annotator.gui.pages.adjudication.row_card import UNIT_MIME, RowCard
from annotator.gui.pages.feedback import StageView
from annotator.gui.review.field_chips import REASONS, about
from annotator.gui.widgets.reading.marked_text import MarkedText
from annotator.storage.tables import DISPUTE
from tests.common import content_hash, once
from tests.gui.results.conftest import at as at_rest, go as show_view
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import (
    ADA,
    BEN,
    add_report,
    assisted_project,
    diagnostics,
    item,
    labels,
    labels_project,
    letter_of,
    opened,
    pairing,
    pairs_project,
    person,
    rubric,
    rubrics_project,
    scripts_project,
    submit,
    work_as,
)
from tests.servers.served import JUDGE
from tests.storage import sql
from tests.windows.judges_window import run_panel
from tests.windows.using import Typed, all_words, be_active, focus, owned, press, settle

# How rows of `rubrics_project` begin: contested ones, and what one person alone wrote.
COMPARES, NAMES, DESCRIBES = "Compares synthetic", "Names at least one", "Describes"
COST, OPEN, FUTURE = "Discusses the cost", "Identifies open", "Outlines future"


def adjudicate(project: Project, window_over, qtbot, *, begin: bool = True) -> AdjudicatePage:
    """The page in a window of its own, with its first conflict opened."""
    window = be_active(window_over(project, "Adjudicate"), qtbot)
    window.page.focus_first()
    if begin:
        window.page.frame.beginning.begin.click()
    return window.page


def row_of(page: AdjudicatePage, words: str) -> SheetRow:
    return next(row for row in page.bench.rows.values() if about(row).startswith(words))


def card_of(page: AdjudicatePage, words: str) -> RowCard:
    return page.rows.cards[row_of(page, words).ruling.id]


def go(page: AdjudicatePage, words: str) -> None:
    page.bench.move_to(row_of(page, words).ruling.id)


def key_of(page: AdjudicatePage, name: str) -> str:
    return "12"["AB".index(letter(page, name))]


def letter(page: AdjudicatePage, name: str) -> str:
    return page.bench.ask(lambda project, adjudication_id: letter_of(project, adjudication_id, name))


@pytest.fixture
def page(tmp_path, window_over, qtbot):
    """Five criteria of Ada's against six of Ben's; the first is the same."""
    return adjudicate(rubrics_project(tmp_path), window_over, qtbot)


def test_the_lowest_agreement_waits_first_and_is_opened_only_when_asked(tmp_path, window_over, qtbot):
    project = scripts_project(tmp_path)
    before = content_hash(project)
    page = adjudicate(project, window_over, qtbot, begin=False)
    assert page.frame.middle.currentWidget() is page.frame.beginning
    press("Return", "Down", "Up")
    assert page.bench.sheet.item_key == "1"
    # Looking is not yet taking on.
    assert content_hash(project) == before
    press("1")
    assert [line.state for line in page.queue.lines] == ["open", "not begun", "not begun"]


def test_the_consensus_grows_with_every_ruling_and_leads_back_to_its_row(page, qapp):
    agreed = card_of(page, "Explains")
    assert (agreed.folded, agreed.state.words()) == (True, ["agreed"])
    go(page, DESCRIBES)
    press("3")
    go(page, FUTURE)
    press(key_of(page, "Ben"))
    model = page.frame.consensus.model
    starts = [model.index(row).data().partition("  ")[2].split()[0] for row in range(4)]
    assert starts == ["Explains", "Describes", "Describes", "Outlines"]
    page.frame.consensus._choose(model.index(1))
    assert page.bench.row.number == row_of(page, DESCRIBES).number
    press("Alt+7", Typed("Nothing on surveys"), "Esc", "F8")
    page.side.parts["gaps"].copy.click()
    assert qapp.clipboard().text() == "Item 1, rubric: Nothing on surveys"
    go(page, "Explains")
    assert not agreed.folded
    press("Alt+0")
    assert agreed.state.words() == ["agreed, not yet confirmed"]


def test_words_typed_into_a_row_that_is_taken_away_elsewhere_are_shown_and_stay_a_draft(page, qtbot):
    of_one = {"".join(row.ruling.members): name for name, row in page.bench.rows.items()}
    page.bench.move_to(of_one["A"])
    press("4", Typed("A wording of my own"))
    with qtbot.waitSignal(page.session.refused) as refused:
        page.session.do(adjudicating.pair, of_one["B"], of_one["A"])
    assert list(page.bench.rows).count(of_one["A"]) == 0
    place = f"ruling|{of_one['A']}|text"
    (draft,) = sql.first(page.session.project, "SELECT text FROM draft WHERE place = ?", [place])
    assert "A wording of my own" in draft
    assert f"“{draft}”" in refused.args[0].todo


def test_contested_values_are_hidden_until_the_senior_has_voted(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": diagnostics((True, True), "a"), "Ben": diagnostics((True, False), "b")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    press("F9")
    card = page.rows.card
    assert (card.state.words(), card.cells, card.differs.words()) == (["vote first"], [], [])
    takes = page.rows.controls.takes.values()
    assert not any(button.isVisible() for button in takes)
    for act in (UNSURE, *PLAIN_TAKES, "pair_row", "split_row", "leave_open"):
        press(keys.shown(act))
        ruling = page.bench.row.ruling
        assert (ruling.open, ruling.first_vote, page.rows.card.cells) == (True, "", []), act
    press("2")
    assert all(button.isVisible() for button in takes)
    assert (page.bench.row.ruling.first_vote, page.bench.row.ruling.open) == ("false", True)
    assert len(page.rows.card.cells) == 2


def test_labels_stand_report_by_report_with_what_they_are_about(tmp_path, window_over, qtbot):
    project = labels_project(tmp_path, reports=2, criteria=5)
    # Two wrote the rubric and nobody adjudicated it, and reports are judged by another now: its words are known still.
    work_as(project, "Cora")
    rubric_views.keep_set(project, "lax", {"1": Rubric(units=(Criterion(text="Is a report"),))})
    rubric_views.use(project, "lax")
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    headings = {card.row.heading for card in page.rows.cards.values()}
    assert len(headings) == 5
    assert headings.isdisjoint({"", "Is a report"})
    contested = [card for card in page.rows.cards.values() if card.row.contested]
    assert contested[0].row.report in ("Report A", "Report B")
    assert sorted(cell.chips.words()[0] for cell in contested[0].cells) == ["Met", "Not met"]
    assert not page.rows.controls.takes["both"].isEnabled()
    press("4", "3", "Esc")
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
    press("F9")
    assert source.report.marks() == []


def test_a_quotation_leads_to_its_source(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    path = tmp_path / "survey.txt"
    path.write_text("Synthetic questions help. Verified passages help more.", "utf-8")
    items.add_source(project, item(project), path)
    (source,) = items.sources(project, item(project))
    first, quoted, *rest = rubric(ADA, "a").units
    quoted = quoted.model_copy(update={"anchor": Anchor(quote="Verified passages", source_id=source.id)})
    submit(project, {
        "Ada": rubric(ADA, "a").with_units((first, quoted, *rest)), "Ben": rubric(BEN, "b"),
    })  # fmt: skip
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    page.bench.quote_wanted.emit(row_of(page, COMPARES).ruling.id, letter(page, "Ada"), 0)
    assert page.side.shown == "source"
    report = page.side.parts["source"].sources.text
    (mark,) = report.marks("evidence")
    assert report.text()[mark.start : mark.end] == "Verified passages"


def test_a_file_that_may_only_be_read_can_be_looked_at(tmp_path, window_over, qtbot):
    project = rubrics_project(tmp_path)
    opened(project)
    project.close()
    page = adjudicate(Project.open(project.path, readonly=True), window_over, qtbot, begin=False)
    assert len(page.rows.cards) == 7
    press("1")
    assert page.bench.row.ruling.open


def test_what_is_closed_says_both_figures_answers_disputes_and_is_reopened_only_with_a_reason(page):
    while page.bench.unresolved(contested=True):
        press("Ctrl+J")
        press("1" if "A" in page.bench.row.units else "2")
        if page.bench.lacks(page.bench.current_id):
            press("Alt+1")
    press("Ctrl+Return")
    # Four of five and six are matched: 8/11.
    assert "Frozen: match F1 0.73; by your pairing: match F1 0.73." in page.messages.text()
    project = page.session.project
    feedback.dispute(work_as(project, "Ben"), item(project), Stage.RUBRIC, "Weight 3 was meant.")
    page.window().show_page("Items")
    work_as(project, "Cleo")
    page.window().show_page("Adjudicate")
    standing = page.frame.standing
    (row,) = standing.disputes.values()
    assert row.text.text() == f"{letter(page, 'Ben')} objects: Weight 3 was meant."
    press(Typed("It is a nice to have"), at=row.answer)
    row.send.click()
    assert (standing.disputes, page.queue.counted(LineFilter.CONFLICTS)) == ({}, 0)
    standing.reopen.click()
    assert page.bench.locked
    press(Typed("A second look"), at=standing.reason)
    standing.reopen.click()
    assert (page.bench.locked, page.queue.lines[0].state) == (False, "reopened")


def test_unanimous_items_are_confirmed_in_one_go_but_for_the_drawn_ones(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path, 4)
    for place in range(3):
        submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(ADA, "b")}, place)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")}, 3)
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    page.frame.queue_pane.unanimous.click()
    panel = page.frame.unanimous
    panel.confirm.click()
    qtbot.waitUntil(lambda: panel.summary.text() == "2 confirmed and closed, 1 drawn for a spot check.")
    assert (len(panel.sample), page.queue.counted(LineFilter.CLOSED)) == (1, 2)
    panel.sample[0].click()
    assert page.frame.head.signs.words() == ["drawn for a spot check"]


def test_every_act_on_a_row_has_its_key_and_is_taken_back_and_a_unit_is_dragged_onto_another_row(page):
    here = page.bench.current_id
    for key, take in (("1", "A"), ("2", "B"), ("3", "both"), ("4", "own"), ("0", "drop")):
        press(key)
        assert page.bench.rows[here].ruling.take == take
        press("Esc")
        page.bench.move_to(here)
        press("Backspace")
        assert page.bench.rows[here].ruling.open
    for act, reason, _ in REASONS:
        press(keys.shown(act))
        assert page.bench.row.ruling.reason is reason
        press(keys.shown(act))
        assert page.bench.row.ruling.reason is None
    for number, confidence in enumerate(Confidence, start=1):
        press(f"Alt+Shift+{number}")
        assert page.bench.row.ruling.confidence is confidence
    cost, mime = row_of(page, COST), QMimeData()
    mime.setData(UNIT_MIME, f"{row_of(page, OPEN).ruling.id}|{letter(page, 'Ben')}".encode())
    left, no_keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    card_of(page, COST).dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.MoveAction, mime, left, no_keys))
    assert (page.bench.current_id, len(page.bench.row.units)) == (cost.ruling.id, 2)


def test_an_own_wording_is_a_draft_while_it_is_typed_checked_for_spelling_and_weighted_by_a_digit(
    page, qtbot
):
    press("4", Typed(" really"))
    here = page.bench.current_id
    drafts = page.session.project, "SELECT text FROM draft WHERE place LIKE ?", [f"ruling|{here}|%"]
    qtbot.waitUntil(lambda: sql.first(*drafts) is not None)
    assert sql.first(*drafts)[0].endswith(" really")
    press("Esc")
    assert page.bench.rows[here].ruling.own["text"].endswith(" really")
    assert sql.first(*drafts) is None
    page.bench.move_to(here)
    page.frame.speller._start.setInterval(0)
    press("4")
    own, rationale = focus(), page.rows.controls.rationale
    press("Ctrl+A", Typed("It recieves and "), "Return")
    assert focus() is not own
    assert page.rows.own.isAncestorOf(focus())
    press("1")
    assert (page.bench.row.ruling.take, page.bench.row.ruling.own["weight"]) == ("own", 1)
    press(Typed("A raport is "), at=rationale)
    settle(page)
    for field, word in ((own, "recieves"), (rationale, "raport")):
        assert [one.cursor.selectedText() for one in field.extraSelections()] == [word]


def test_next_open_stays_in_an_item_while_a_row_of_it_is_open(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    bench = page.bench
    page._open(page.queue.lines[2])
    while len(bench.lacking) > 1:
        press("3" if len(bench.row.units) == 2 else "0", "Alt+2")
    press("Ctrl+J", "0", "Alt+2")
    assert bench.sheet.item_key == "3"
    press("Ctrl+J")
    assert bench.sheet.item_key == "1"


def test_of_three_the_key_of_a_letter_says_which_stands_alone(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b"), "Dan": rubric(ADA[:2], "d")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    go(page, COMPARES)
    press("Ctrl+Shift+P")
    press("5")
    assert page.bench.row.units.keys() == {"A", "B"}
    assert page.bench.row.ruling.open


def test_a_new_row_is_worded_at_once_and_a_reason_given_while_typing_does_not_move_on(page):
    here = page.bench.current_id
    press("1", "Up", "Ctrl+M", Typed("Short"), "Alt+1", Typed("er"), "Esc")
    assert (page.bench.current_id, page.bench.row.ruling.rationale) == (here, "Shorter")
    go(page, NAMES)
    number = page.bench.row.number
    press("Ctrl+N", Typed("States 1 limit of the study"), "Esc")
    assert page.bench.row.number == number + 1
    assert page.bench.row.made[0][0].text == "States 1 limit of the study"
    assert page.bench.row.ruling.reason is Reason.MISSING


def test_what_cannot_be_taken_is_said_and_keys_past_the_last_row_rule_on_none_again(page):
    card = card_of(page, COST)
    page.rows.area.ensureWidgetVisible(card)
    QTest.mouseClick(card, Qt.MouseButton.LeftButton, pos=card.number.geometry().center())
    assert page.bench.row.number == row_of(page, COST).number
    press(key_of(page, "Ben"))
    assert f"{letter(page, 'Ben')} is not available" in page.window().messages.text()
    page.bench.move_to(list(page.bench.rows)[-1])
    press("Ctrl+J")
    assert page.bench.row.number == 2
    while any(page.bench.rows[each].ruling.open for each in page.bench.unresolved(contested=True)):
        press("0")
    here = page.bench.current_id
    press("3")
    assert page.bench.row.ruling.take == "drop"
    assert "still lack a reason" in page.messages.text()
    press("Backspace")
    assert (page.bench.current_id, page.bench.row.ruling.open) == (here, True)


TELLING = {"Ada": "Canary-Adalbert", "Ben": "Canary-Benedicta", "Dan": "Canary-Danielle"}
SYSTEM = "Canary-System-9000"
# The years of the seals and the hours of the day; no criterion holds anything of the kind.
TIME = r"\b\d{1,2}:\d{2}\b|\b20\d\d-\d\d-\d\d\b"


@pytest.fixture
def telling(tmp_path) -> Project:
    """Rubrics of three people with telling names, and labels of two of them; Cleo adjudicates."""
    made = pairs_project(tmp_path)
    for name, other in TELLING.items():
        people.rename_person(made, person(made, name).id, other)
    ada, ben, dan = TELLING.values()
    submit(made, {ada: rubric(ADA, "a"), ben: rubric(BEN, "b"), dan: rubric(ADA[:3], "d")})
    report = add_report(made, SYSTEM)
    said = {f"a{n}": "yes" for n in range(1, 6)}
    submit(made, {ada: labels(report, said), ben: labels(report, said | {"a2": "no"})})
    return work_as(made, "Cleo")


def leaks(page: AdjudicatePage, telling: Project) -> list[str]:
    raters = [each for each in people.people(telling) if each.name in TELLING.values()]
    canaries = [*TELLING.values(), SYSTEM, *(each.id for each in raters)]
    aliases = "|".join(re.escape(each.alias) for each in raters)
    telling_words = re.compile(rf"{'|'.join(map(re.escape, canaries))}|\b({aliases})\b|{TIME}")
    words = all_words(page)
    assert any("Compares synthetic" in word for word in words), "the walk sees nothing"
    return [word for word in words if telling_words.search(word)]


class Shown(QObject):
    """Notes what is ever shown as a window of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and watched.isWidgetType() and watched.isWindow():
            self.names.append(type(watched).__name__)
        return False


def test_no_state_of_the_page_nor_a_discussion_nor_closing_tells_who_is_who_or_is_a_window_of_its_own(
    telling, window_over, qtbot, qapp
):
    windows = Shown()
    qapp.installEventFilter(windows)
    page = adjudicate(telling, window_over, qtbot)
    for leak in (f"by {TELLING['Ada']}", "sealed at 14:02"):
        page.frame.head.title.setToolTip(leak)
        assert leaks(page, telling) == [leak]
    page.frame.head.title.setToolTip("")
    for line in page.queue.lines:
        page._open(line)
        assert leaks(page, telling) == []
        for key in (
            "1", "Alt+1", "Ctrl+J", "2", "Ctrl+M", "Esc", "4", "Esc", "Ctrl+P", "Esc", "F9", "F9", "F4", "F2",
            "F7", "Esc", "F8", "Esc", "Ctrl+Return", "Esc", "Ctrl+U",
        ):  # fmt: skip
            press(key)
            assert leaks(page, telling) == []
    page._open(page.queue.lines[0])
    press("F7", Typed("Which is better?"))
    page.side.parts["discussion"].add.click()
    press("Esc")
    while page.bench.unresolved(contested=True):
        press("1" if "A" in page.bench.row.units else "2" if "B" in page.bench.row.units else "5")
        if page.bench.lacks(page.bench.current_id):
            press("Alt+2")
    place = page.bench.place
    press("Ctrl+Return")
    page._open(page.queue.line(place))
    assert ruling.versions(telling, page.bench.sheet.adjudication_id)
    assert leaks(page, telling) == []
    qapp.removeEventFilter(windows)
    assert windows.names == ["Window"]


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


def test_what_changed_is_shown_with_nothing_of_the_partner_and_an_objection_is_sent_once_and_answered(
    project, page_over
):
    page = page_over(project, "Feedback")
    assert sorted(card.chips.words() for card in page.view.cards) == [
        ["added"],
        ["dropped", "reason: scope"],
        ["reworded", "reason: weight"],
        ["weight changed", "reason: other"],
    ]
    page.view.unchanged.setChecked(True)
    assert len(page.view.cards) == 6
    words = said(page)
    assert "Costs are not asked for." in words
    for secret in ("Canary", pairs.BEN[5][0], "Ben", "Cleo"):
        assert secret not in words
    press("Ctrl+M", Typed("Costs are in the question."))
    window = page.window()
    window.show_page("Items")
    page = window.show_page("Feedback")
    assert page.objection.field.toPlainText() == "Costs are in the question."
    for _ in range(2):
        press("Ctrl+Return")
        assert page.objection.objection.text() == "You: Costs are in the question."
        assert not page.objection.field.isVisible()
    sent = project.query(select(DISPUTE.c.id)).scalar_one()
    window.show_page("Items")
    pairs.work_as(project, "Cleo")
    feedback.answer(project, sent, "They are in the title alone.")
    pairs.work_as(project, "Ada")
    page = window.show_page("Feedback")
    assert page.objection.answer.text() == "Adjudicator: They are in the title alone."


def test_the_author_page_leads_here_once_there_is_a_consensus(project, page_over):
    author = page_over(project, "Author", item_id=None)
    window = author.window()
    author.header.became.click()
    assert (window.page.NAME, window.page._stage) == ("Feedback", Stage.RUBRIC)


ADAS = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2), ("Weighs the costs", 3))
BENS = (("Explains how carbon is priced", 3), ("Lists species of moss", 2), ("Weighs the costs", 3))
LONGER = {"Ada": "Dr. Maximiliane-Alexandra von Hohenstein-Württemberg", "Ben": "محمد بن عبد الله الخوارزمي"}


@once
def labelled_pairs(folder) -> Project:
    """Two items: rubrics of both, labels of both where everybody always says yes; Cora works."""
    labelled = pairs.pairs_project(folder, 2)
    for place in range(2):
        documents = {"Ada": pairs.rubric(ADAS, f"a{place}"), "Ben": pairs.rubric(BENS, f"b{place}")}
        pairs.submit(labelled, documents, place)
        report = pairs.add_report(labelled, "Alpha", place)
        labels = pairs.labels(report, {f"a{place}{n}": "yes" for n in (1, 2, 3)})
        pairs.submit(labelled, {"Ada": labels, "Ben": labels}, place)
    for name, longer in LONGER.items():
        people.rename_person(labelled, pairs.person(labelled, name).id, longer)
    return pairs.work_as(labelled, "Cora")


@pytest.mark.usefixtures("small_cases")
def test_each_field_has_a_row_with_its_account_enter_leads_to_the_values_behind_and_every_grouping_has_a_picture(
    tmp_path, window_over, qtbot, qtmodeltester
):
    figures = at_rest(window_over(labelled_pairs(tmp_path), "Agreement").page.viewer, qtbot)
    qtmodeltester.check(figures.view.model)
    assert [(line.row.stage, line.row.field) for line in figures.view.model.shown.lines] == [
        (Stage.RUBRIC, "units"), (Stage.RUBRIC, "weight"), (Stage.LABELLING, "value"),
    ]  # fmt: skip
    figures.view.table.setCurrentIndex(figures.view.model.index(1, 0))
    assert "Cohen's κ, linear weights" in figures.view.account.toPlainText()
    be_active(figures.window(), qtbot)
    assert figures.view.table.hasFocus()
    press("Return")
    qtbot.waitUntil(lambda: figures.behind.count.text() not in ("", "Reading…"))
    assert (figures.body.currentWidget(), figures.behind.table.hasFocus()) == (figures.behind, True)
    qtmodeltester.check(figures.behind.model)
    assert figures.behind.model.rowCount() == 4
    assert all(name in figures.behind.detail.toPlainText() for name in LONGER.values())
    press("Esc")
    qtbot.waitUntil(lambda: figures.body.currentWidget() is figures.view)
    assert (figures.view.table.hasFocus(), figures.view.line().row.field) == (True, "weight")
    for by in ("pair", "person", "criterion", "item", "week", "guideline"):
        show_view(figures, qtbot, "agreement", by=by)
        qtmodeltester.check(figures.view.model)
        assert figures.view.model.rowCount() > 0
        qtbot.waitUntil(lambda: figures.view.pictures.view.image is not None)
        assert figures.view.account.toPlainText()


@pytest.mark.parametrize("name", [LONGER["Ada"], "Cleo"])
def test_annotators_and_adjudicators_are_told_and_see_no_figure(tmp_path, window_over, qtbot, name):
    figures = window_over(pairs.work_as(labelled_pairs(tmp_path), name), "Agreement").page.viewer
    qtbot.waitUntil(lambda: figures.body.currentWidget() is figures.denied)
    assert figures.view.model.rowCount() == 0
    said = " ".join(all_words(figures))
    assert not any(other in said for other in LONGER.values())
    assert not any(button.isEnabled() for button in figures.leaving.buttons.values())


MODEL = "Model-assisted"


@pytest.fixture
def server():
    with pairing() as server:
        yield server


def agreement(page_over, labelled):
    return settle(page_over(labelled, "Agreement").viewer)


def choose_judge(figures, judge):
    figures.choosers.choose("assisted_by", judge)
    settle(figures)


def cell(figures, row, column):
    model = figures.view.model
    return model.index(row, model.columns.index(column)).data()


@pytest.mark.usefixtures("real_children")
def test_what_a_judge_pairs_stands_beside_the_frozen_figure_with_its_model_and_prompt(
    page_over, qtbot, server, tmp_path
):
    assisted = assisted_project(tmp_path, server)
    assisted_page = agreement(page_over, assisted)
    assert (assisted_page.choosers.values()["assisted_by"], assisted_page.assisting.isVisible()) == (
        "",
        False,
    )
    choose_judge(assisted_page, JUDGE)
    # Nobody is asked before somebody says so.
    assert "tokens in and" in assisted_page.assisting.estimate.text()
    assert (MODEL in assisted_page.view.model.columns, server.bodies) == (False, [])
    frozen = [(line.row.field, line.row.figures) for line in assisted_page.view.model.shown.lines]
    with qtbot.waitSignal(assisted_page.assisting.run.ended):
        assisted_page.assisting.begin.click()
        assert not assisted_page.assisting.begin.isEnabled()
        assert run_panel(assisted_page, assisted_page.assisting.run).isVisible()
    settle(assisted_page)
    assert len(server.bodies) == 2
    assert [(line.row.field, line.row.figures) for line in assisted_page.view.model.shown.lines] == frozen
    assert cell(assisted_page, 0, MODEL) == "Match F1 0.79  frozen 0.00  (2 of 2 pairs of lists)"
    assisted_page.view.table.selectRow(0)
    account = assisted_page.view.account.toPlainText()
    assert account.index("Match F1 0.000") < account.index("Model-assisted: test-model, prompt ")
    # There is nothing left to ask for.
    assert not assisted_page.assisting.begin.isVisible()
    assisted_page.window().close()
    again = agreement(page_over, Project.open(assisted.path))
    assert again.choosers.values()["assisted_by"] == JUDGE
    assert cell(again, 0, MODEL).startswith("Match F1 0.79")
    choose_judge(again, "")
    assert MODEL not in again.view.model.columns
