"""The Adjudicate page: what is seen of each row, and what comes of every ruling."""

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent

from annotator.actions.adjudication import adjudication_sheets, pairing, ruling
from annotator.actions.items import named_rubrics, sources
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Reason
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui.pages.adjudication.rows.row_card import UNIT_MIME
from annotator.gui.widgets.chips import Chip
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
    NAMES,
    OPEN,
    adjudicate,
    card_of,
    go,
    key_of,
    letter,
    row_of,
    state,
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


def test_work_begins_at_the_first_conflict(page):
    assert page.bench.row.contested
    assert page.bench.row.number == 2
    assert page.rows.card.hasFocus()


def test_what_everybody_wrote_is_one_line_until_it_is_at_hand(page):
    agreed = card_of(page, "Explains")
    assert agreed.folded
    assert agreed.line.text() == ADA[0][0]
    assert agreed.state.words() == ["agreed"]
    go(page, "Explains")
    assert not agreed.folded
    press("Alt+0")
    assert agreed.state.words() == ["agreed, not yet confirmed"]


def test_only_the_words_that_differ_are_marked(page):
    cells = {cell.letter: cell for cell in card_of(page, COMPARES).cells}
    assert cells[letter(page, "Ada")].text.marked() == ["written by"]
    assert cells[letter(page, "Ben")].text.marked() == ["that", "wrote"]


def test_words_that_do_not_differ_are_shown_once(page):
    card = card_of(page, NAMES)
    assert [cell.text.text() for cell in card.cells] == ["", ""]
    assert sorted(cell.chips.words()[0] for cell in card.cells) == ["weight 1", "weight 2"]
    assert {chip.state for cell in card.cells for chip in cell.chips.chips()} == {"disagree"}


def test_a_side_that_is_missing_says_so(page):
    card = card_of(page, COST)
    assert card.differs.words() == [f"only {letter(page, 'Ada')}"]
    assert row_of(page, COST).units.keys() == {letter(page, "Ada")}


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


def test_a_ruling_is_in_the_file_at_once(page):
    here = page.bench.ruling_id
    press("1")
    second = Project.open(page.desk.project.path, readonly=True)
    with second.store.read():
        content = sql.first(second, "SELECT content FROM ruling WHERE id = ?", [here])[0]
    second.close()
    assert '"take":"A"' in content


def test_a_row_that_needs_a_reason_takes_it_after_the_next_is_at_hand(page):
    here = page.bench.ruling_id
    press("1")
    assert page.bench.ruling_id != here
    assert state(page, COMPARES) == "takes A · why?"
    press("Alt+1")
    assert state(page, COMPARES) == "takes A · wording"
    assert page.bench.row.ruling.open


def test_a_row_that_needs_none_is_left_for_the_next_open_one(page):
    go(page, COST)
    press(key_of(page, "Ada"))
    assert page.bench.ruling_id != row_of(page, COST).ruling.id
    assert page.bench.row.ruling.open


def test_a_settled_row_is_folded_to_what_was_made_of_it(page):
    go(page, NAMES)
    press(key_of(page, "Ben"))
    press("Alt+3")
    card = card_of(page, NAMES)
    assert card.folded
    assert card.fields.words() == ["weight 2"]


def test_a_field_of_any_length_asks_for_no_more_room_than_its_row_has(page, qtbot):
    go(page, NAMES)
    press(key_of(page, "Ben"))
    press("Alt+3")
    card = card_of(page, NAMES)
    card.fields.show_chips([Chip("x" * 3000)])
    for width in range(300, 1000, 20):
        card.resize(width, 60)
        card.layout().activate()
        assert card.minimumSizeHint().width() <= max(width, 560), width


def test_the_own_wording_is_a_draft_while_it_is_typed_and_a_ruling_when_it_is_left(page, qtbot):
    press("4")
    type_words(" really")
    ruling_id = page.bench.ruling_id
    drafts = "SELECT text FROM draft WHERE place LIKE ?"
    project = page.desk.project
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
    with qtbot.waitSignal(page.desk.refused) as refused:
        page.desk.do(pairing.pair, of_one["B"], of_one["A"])
    assert list(page.bench.rows).count(of_one["A"]) == 0
    words = page.desk.project, "SELECT text FROM draft WHERE place = ?", [f"ruling|{of_one['A']}|text"]
    (draft,) = sql.first(*words)
    assert "A wording of my own" in draft
    assert f"“{draft}”" in refused.args[0].todo


def test_taking_the_first_of_two_quotations_away_is_one_ruling(page):
    press("4")
    row = page.bench.row
    two = [Anchor(quote=words, start=0, end=len(words)) for words in ("How does", "How")]
    page.desk.do(lambda project: ruling.write_own(project, row.ruling.id, **row.made[0][0].quoting(two)))
    page.rows.own.editor.asked.emit("", "unquote 0")
    assert [anchor.quote for anchor in page.bench.row.made[0][0].anchors] == ["How"]
    page.desk.undo()
    assert [anchor.quote for anchor in page.bench.row.made[0][0].anchors] == ["How does", "How"]


def test_an_own_wording_that_changes_nothing_is_said_to_be_unfinished(page):
    press("4")
    press("Esc")
    assert state(page, COMPARES) == "own wording · unfinished"


def test_undo_brings_the_row_back_before_the_adjudicator(page):
    press("1")
    press("Alt+1")
    go(page, FUTURE)
    press("Ctrl+Z")
    assert page.bench.row.ruling.reason is None
    press("Ctrl+Z")
    assert state(page, COMPARES) == "undecided"
    press("Ctrl+Y")
    assert state(page, COMPARES) == "takes A · why?"


def test_a_change_of_another_item_that_is_undone_opens_that_item(tmp_path, window_over, qtbot):
    page = adjudicate(scripts_project(tmp_path), window_over, qtbot)
    press("1")
    press("Ctrl+PgDown")
    assert page.bench.sheet.item_key == "2"
    press("Ctrl+Z")
    assert page.bench.sheet.item_key == "1"
    assert page.bench.row.ruling.open


def test_contested_values_are_hidden_until_the_senior_has_voted(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": diagnostics((True, True), "a"), "Ben": diagnostics((True, False), "b")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    press("F9")
    card = page.rows.card
    assert (card.state.words(), card.cells, card.differs.words()) == (["vote first"], [], [])
    assert [button.text().split()[0] for button in page.rows.controls.votes] == ["True", "False"]
    press("0")
    assert page.bench.row.ruling.open
    press("2")
    assert page.bench.row.ruling.first_vote == "false"
    assert page.bench.row.ruling.open
    assert len(page.rows.card.cells) == 2


def test_kinds_without_a_value_offer_no_vote(page, tmp_path, window_over, qtbot):
    assert not page.frame.head.buttons["vote_first"].isHidden()
    project = pairs_project(tmp_path / "plans")
    submit(project, {"Ada": plan("Survey the datasets"), "Ben": plan("Name the datasets")})
    planning = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    assert planning.frame.head.buttons["vote_first"].isHidden()


def plan(words: str) -> Plan:
    return Plan(units=(Subtask(id=words, text=words),))


def test_labels_stand_report_by_report_with_what_they_are_about(tmp_path, window_over, qtbot):
    project = labels_project(tmp_path, reports=2, criteria=5)
    # Two wrote the rubric and nobody adjudicated it, and reports are judged by another now: its words are known still.
    work_as(project, "Cora")
    named_rubrics.keep(project, "lax", {"1": Rubric(units=(Criterion(text="Is a report"),))})
    named_rubrics.use(project, "lax")
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


def test_typing_that_a_crash_cut_short_is_there_again(tmp_path, window_over, qtbot):
    project = rubrics_project(tmp_path)
    adjudication_id = opened(project)
    row = adjudication_sheets.sheet(project, adjudication_id).rows[1]
    ruling.save_draft(project, row.ruling.id, "rationale", "Half a sen")
    page = adjudicate(project, window_over, qtbot, begin=False)
    assert page.bench.rows[row.ruling.id].ruling.rationale == "Half a sen"
    assert page.rows.controls.rationale.toPlainText() == "Half a sen"


def test_three_people_stand_in_three_columns(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b"), "Dan": rubric(ADA[:2], "d")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    assert [cell.letter for cell in card_of(page, COMPARES).cells] == ["A", "B", "C"]
    go(page, COMPARES)
    here = page.bench.ruling_id
    press("5")
    assert page.bench.rows[here].ruling.take == "C"


def test_a_unit_dragged_onto_another_row_is_paired_with_it(page):
    cost, open_problems = row_of(page, COST), row_of(page, OPEN)
    card, mime = card_of(page, COST), QMimeData()
    mime.setData(UNIT_MIME, f"{open_problems.ruling.id}|{letter(page, 'Ben')}".encode())
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    card.dropEvent(QDropEvent(QPointF(5, 5), Qt.DropAction.MoveAction, mime, buttons, keys))
    assert page.bench.ruling_id == cost.ruling.id
    assert len(page.bench.row.units) == 2


def test_a_unit_whose_letter_is_there_already_is_not_taken(page):
    both, alone = row_of(page, COMPARES), row_of(page, COST)
    page.acts.pair_dropped(alone.ruling.id, both.ruling.id, letter(page, "Ada"))
    assert f"already contains a unit of {letter(page, 'Ada')}" in page.messages.text()
    assert len(row_of(page, COMPARES).units) == 2


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


def test_notes_are_added_and_never_taken_out(page):
    press("F7")
    type_words("1 doubt remains")
    notes = page.side.parts["discussion"]
    notes.add.click()
    assert [note.text() for note in notes.notes] == ["1 doubt remains"]
    press("Esc")
    assert page.rows.card.hasFocus()


def test_a_quotation_leads_to_its_source(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    path = tmp_path / "survey.txt"
    path.write_text("Synthetic questions help. Verified passages help more.", "utf-8")
    sources.add_source(project, item(project), path)
    quoted = (
        rubric(ADA, "a")
        .units[1]
        .model_copy(
            update={
                "anchor": Anchor(
                    quote="Verified passages", source_id=sources.sources(project, item(project))[0].id
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


def test_a_note_is_read_by_the_adjudicator(tmp_path, window_over, qtbot):
    project = pairs_project(tmp_path)
    first, *rest = rubric(ADA, "a").units
    noted = rubric(ADA, "a").with_units((first.model_copy(update={"note": "Unsure of it."}), *rest))
    submit(project, {"Ada": noted, "Ben": rubric(BEN, "b")})
    page = adjudicate(work_as(project, "Cleo"), window_over, qtbot)
    assert card_of(page, "Explains").notes.words() == ["note"]


def test_a_file_that_may_only_be_read_can_be_looked_at(tmp_path, window_over, qtbot):
    project = rubrics_project(tmp_path)
    opened(project)
    project.close()
    page = adjudicate(Project.open(project.path, readonly=True), window_over, qtbot, begin=False)
    assert len(page.rows.cards) == 7
    assert page.bench.locked
    press("1")
    assert page.bench.row.ruling.open


def test_a_ruling_made_elsewhere_is_shown(page):
    press("1")
    other = row_of(page, NAMES)
    page.desk.do(ruling.rule, other.ruling.id, "A", reason=Reason.WEIGHT)
    assert state(page, NAMES) == "takes A · weight"
