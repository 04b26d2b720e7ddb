"""Replies: judgement by judgement, what was made of each beside what came and what was sent."""

import asyncio
import json

import pytest
from PySide6.QtCore import Qt

from annotator.actions.judging import judge_runs
from annotator.actions.runs.journal import FLAGGED, NO_VERDICT
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.labels import Label
from annotator.gui.pages.feedback import field_words
from annotator.gui.review.field_chips import field_chips
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import doing, value_look, value_words
from annotator.protocols import PROTOCOLS, USUAL
from tests.servers.served import JUDGE
from tests.windows.judges_window import QUOTE, cells, choose
from tests.windows.settling import settle


def run(project, **how) -> str:
    return str(asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))["run"])


@pytest.fixture
def replies(served, show):
    """The replies of a run of twelve judgements: four refused, four with a quote that is nowhere."""
    return show(served, "Replies", run_id=run(served)).replies


def go_to(part, unit: str) -> None:
    """Choose the first judgement about a unit."""
    part.list.selectRow(next(row for row, words in enumerate(cells(part.list, 2)) if words.startswith(unit)))
    settle(part)


def test_missing_judgements_are_told_from_a_no(replies):
    assert replies.lines.rowCount() == 12
    assert "4 without a verdict; these never count as “no”" in replies.count.text()
    assert cells(replies.list, 3).count("Model refused") == 4
    go_to(replies, "Names")
    assert "Missing, not “no”." in replies.detail.made.toPlainText()


def test_the_list_is_narrowed_by_sort_flag_cause_system_and_words(replies):
    choose(replies.filters.which, NO_VERDICT)
    settle(replies)
    assert set(cells(replies.list, 2)) == {"Names one dataset"}
    choose(replies.filters.which, "cause:refused")
    choose(replies.filters.system, "Beta")
    settle(replies)
    assert cells(replies.list, 1) == ["Beta", "Beta"]
    replies.show_all.click()
    choose(replies.filters.which, FLAGGED)
    choose(replies.filters.which, "flag:quote_missing")
    settle(replies)
    assert set(cells(replies.list, 4)) == {"Quote not found"}
    replies.show_all.click()
    replies.filters.search.setText("STABILITY of training")
    settle(replies)
    assert set(cells(replies.list, 2)) == {"Compares training stability"}


def test_a_quote_is_shown_in_its_place_or_said_to_be_nowhere(replies):
    go_to(replies, "Compares")
    assert "Found in the report" in replies.detail.made.toPlainText()
    assert QUOTE in replies.detail.made.toPlainText()
    go_to(replies, "Explains")
    assert "stand nowhere in the report" in replies.detail.made.toPlainText()
    assert "Quote not found" in replies.detail.made.toPlainText()


def test_the_reply_stands_beside_what_it_took(replies):
    go_to(replies, "Compares")
    assert json.loads(replies.detail.raw.toPlainText())["quote"] == QUOTE
    facts = replies.detail.facts.text()
    for words in (
        "asked test-model, answered as test-model-2026",
        "tokens 100 in, 20 out",
        "40 of it cached",
    ):
        assert words in facts
    for words in ("5 for reasoning", "cost not known", "1 attempt", "ended by stop", "fingerprint fp_1"):
        assert words in facts


def test_the_prompt_is_shown_as_it_was_sent(replies):
    go_to(replies, "Compares")
    replies.detail.tabs.setCurrentIndex(1)
    settle(replies)
    assert "exactly what was sent" in replies.detail.sure.text()
    assert replies.detail.sure.text().startswith("researcherbench.coverage, version 1.")
    assert "Compares training stability" in replies.detail.prompt.toPlainText()
    assert "<<<BEGIN report" in replies.detail.prompt.toPlainText()


def test_the_keys_walk_from_missing_to_missing(replies):
    missing = [row for row, line in enumerate(replies.lines.rows) if line.value is None]
    replies.list.selectRow(missing[-1])
    seen = []
    for _ in range(5):
        replies.acts["next_open"]()
        seen.append(replies.list.currentIndex().row())
    assert seen == [*missing, missing[0]]


ASKED = {name: protocol for name, protocol in PROTOCOLS.items() if protocol.values}


@pytest.mark.parametrize("name", ASKED)
def test_a_verdict_is_called_the_same_on_every_page(name):
    for value in ASKED[name].scale.values:
        label = Label(id="l1", protocol=name, response_id="r1", unit_id="c1", value=value.name)
        other = label.model_copy(update={"value": "another"})
        assert value_words(name, value.name) == value.words
        assert [chip.words for chip in field_chips(Kind.LABELS, label)] == [value.words]
        assert [chip.words for chip in field_words(Kind.LABELS, label, other, given_up=True)] == [value.words]


def test_a_verdict_of_a_later_version_is_shown_as_it_is_stored():
    assert value_words("unheard.of", "half-met") == value_words(USUAL, "half-met") == "half-met"


def test_what_did_not_come_is_said_by_its_cause_and_is_no_no():
    assert value_words(USUAL, None, "timeout") == "No answer in time"
    assert value_look(USUAL, None) != value_look(USUAL, "no")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({}, "2 a second"),
        ({"held": True}, "Paused; no further questions are sent"),
        ({"paused": "Rests"}, "Rests"),
    ],
)
def test_a_run_says_why_it_stands_still(line, said):
    assert doing(line, "2 a second") == said


COLUMNS = (
    Column("Word", lambda word: word, 60, fitted=True),
    Column("Length", lambda word: str(len(word)), 60, number=True, tip=lambda word: f"{len(word)} letters"),
    Column("Upper", str.upper, 60, look=lambda word: ("check", "state-agreed") if word.isupper() else None),
)


def model_of(*words: str) -> CellsModel[str]:
    made = CellsModel[str](COLUMNS)
    made.show(words)
    return made


def test_cells_show_words_tips_and_looks():
    model = model_of("one\ntwo", "B")
    assert [model.index(0, column).data() for column in range(3)] == ["one two", "7", "ONE TWO"]
    assert "7 letters" in model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(0, 2).data(Qt.ItemDataRole.DecorationRole) is None
    assert model.index(1, 2).data(Qt.ItemDataRole.DecorationRole) is not None


def test_as_many_rows_as_before_leave_the_choice_alone(qtbot):
    model = model_of("a", "b")
    view = CellsTable("Words", model, stretched=2)
    qtbot.addWidget(view)
    view.selectRow(1)
    model.show(["c", "d"])
    assert view.currentIndex().data() == "d"
    assert model.place_of(lambda word: word == "d") == 1
