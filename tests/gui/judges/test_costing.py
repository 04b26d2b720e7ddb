"""Costs in the window: shared out by unit, question, system and judge, sorted, explained, copied, and asked behind."""

import asyncio
import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.pages.judges.costing import JUDGE as BY_JUDGE
from annotator.gui.pages.judges.costing import QUESTION, SYSTEM, UNIT
from annotator.judging.calls.prices import FILE
from tests.servers.served import JUDGE, add_judge, answering
from tests.windows.judges_window import cells, choose
from tests.windows.labelling_keys import press
from tests.windows.settling import settle

DATASET = "Names one dataset"


@pytest.fixture
def priced(tmp_path, monkeypatch):
    """1,000 dollars for a million tokens in, 2,000 for a million out."""
    table = {"as_of": "2026-05-01", "models": {"test-model": {"input": 1000, "output": 2000}}}
    (tmp_path / FILE).write_text(json.dumps(table), "utf-8")
    monkeypatch.setattr("annotator.judging.calls.prices.user_data", lambda: tmp_path)


@pytest.fixture
def paid(priced, served, server):
    """Twelve judgements, each by a call of 100 tokens in and 20 out: 14 cents."""
    server.answer = answering(lambda criterion: "yes")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    return served


def column(part, title: str) -> list[str]:
    return cells(part.view.table, list(part.view.model.columns).index(title))


def test_before_anybody_was_paid_it_says_what_comes_first(small, show):
    part = show(small, "Costs").costing
    assert part.body.currentWidget() is part.empty
    assert not part.bar.buttons["copy_costs"].isEnabled()


def test_by_criterion_each_has_its_words_and_its_share(paid, show):
    part = show(paid, "Costs").costing
    # Two reports for each of six criteria, 14 cents each.
    assert column(part, "Cost") == ["$0.28"] * 6
    assert column(part, "A judgement") == ["$0.14"] * 6
    assert sorted(column(part, "Asked about")).count(DATASET) == 2
    assert "Together $1.68 for 12 judgements." in part.view.told.text()


@pytest.mark.parametrize(
    ("by", "first", "cost"),
    [(QUESTION, {"1", "2"}, "$0.84"), (SYSTEM, {"Alpha", "Beta"}, "$0.84"), (BY_JUDGE, {JUDGE}, "$1.68")],
)
def test_the_same_money_is_told_by_question_system_and_judge(paid, show, by, first, cost):
    part = show(paid, "Costs").costing
    choose(part.by, by)
    settle(part)
    assert set(cells(part.view.table, 0)) == first
    assert set(column(part, "Cost")) == {cost}


def test_the_questions_stand_beside_their_keys(paid, show):
    part = show(paid, "Costs").costing
    choose(part.by, QUESTION)
    settle(part)
    keys = cells(part.view.table, 0)
    asked = {item.key: item.question for item in (items.read(paid, item_id) for item_id in items.ids(paid))}
    assert dict(zip(keys, column(part, "Question"), strict=True)) == asked


def test_what_is_not_known_is_said_to_be_unknown_and_not_nothing(served, server, show):
    server.answer = answering(lambda criterion: "yes")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    part = show(served, "Costs").costing
    assert set(column(part, "Cost")) == {"not known"}
    assert set(column(part, "Cost unknown")) == {"2"}
    assert "the cost of 12 is not known" in part.view.told.text()


def test_columns_sort_and_words_narrow(paid, show):
    part = show(paid, "Costs").costing
    part.view.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    said = column(part, "Asked about")
    assert said == sorted(said, reverse=True)
    press("Ctrl+F")
    part.view.sought.setText("dataset")
    settle(part)
    assert column(part, "Asked about") == [DATASET] * 2


def test_what_a_figure_is_stands_one_key_away(paid, show):
    part = show(paid, "Costs").costing
    assert "2 judgements; the cost of all is known." in part.view.account.toPlainText()
    assert "split evenly" in part.view.account.toPlainText()
    press("Ctrl+D")
    assert part.view.account.hasFocus()
    press("Ctrl+D")
    assert part.view.table.hasFocus()


def test_the_table_is_copied_and_saved_with_nothing_rounded(paid, show, tmp_path):
    part = show(paid, "Costs").costing
    press("Ctrl+Shift+C")
    head, *lines = QGuiApplication.clipboard().text().splitlines()
    place = head.split("\t").index("Cost")
    assert [float(line.split("\t")[place]) for line in lines] == pytest.approx([0.28] * 6)
    part.save(tmp_path / "costs.json")
    tree = json.loads((tmp_path / "costs.json").read_text("utf-8"))
    assert [row["judgements"] for row in tree["rows"]] == [2] * 6


def test_a_run_leads_to_what_it_cost(paid, server, show):
    add_judge(paid, server, "other")
    asyncio.run(judge_runs.run(paid, RunRequest("other", items=("2",))))
    page = show(paid, "Runs")
    press("Ctrl+Shift+L")
    settle(page)
    assert page.part is page.costing
    assert "· other ·" in page.costing.of.currentText()
    assert set(column(page.costing, "Item")) == {"2"}


def test_behind_a_criterion_stand_its_judgements_and_no_others(paid, show):
    page = show(paid, "Costs")
    part = page.costing
    row = column(part, "Asked about").index(DATASET)
    item = column(part, "Item")[row]
    part.view.table.setCurrentIndex(part.view.model.index(row, 4))
    press("Return")
    settle(page)
    assert page.part is page.replies
    assert set(cells(page.replies.list, 2)) == {DATASET}
    assert cells(page.replies.list, 0) == [item] * 2
    assert page.replies.filters.place.isVisible()
    page.replies.filters.clear()
    settle(page)
    assert page.replies.lines.rowCount() == 12


@pytest.mark.parametrize(("by", "rows"), [(QUESTION, 6), (SYSTEM, 6), (BY_JUDGE, 12), (UNIT, 2)])
def test_behind_every_line_stands_as_much_as_it_counts(paid, show, by, rows):
    page = show(paid, "Costs")
    choose(page.costing.by, by)
    settle(page)
    press("Ctrl+L")
    settle(page)
    assert page.replies.lines.rowCount() == rows


def test_where_several_judges_are_behind_a_line_one_must_be_chosen(paid, server, show):
    add_judge(paid, server, "other")
    page = show(paid, "Costs")
    press("Ctrl+L")
    settle(page)
    assert page.part is page.costing
    assert "Select one above" in page.costing.answer.text()
    choose(page.costing.of, f"judge {JUDGE}")
    settle(page)
    press("Ctrl+L")
    settle(page)
    assert page.part is page.replies
