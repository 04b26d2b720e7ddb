"""How judges compare: figures counted by hand, and the way from a difference to the reply."""

import asyncio

import pytest

from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.validation import judge_comparing
from tests.servers.said_by_judges import label, say, submit
from tests.servers.served import JUDGE, answering
from tests.windows.judges_window import cells, tick
from tests.windows.labelling_keys import press
from tests.windows.settling import settle


@pytest.fixture
def two(small):
    for name in ("a", "b"):
        judges.add(small, name, base_url="http://127.0.0.1:1/v1", model="m")
    say(small, "a", "yyynny", rationale="It says so.")
    say(small, "b", "yynnyy", rationale="Nothing on it.")
    return small


def test_two_judges_are_compared_with_n(two, show):
    part = show(two, "Compare").comparing
    assert (cells(part.table, 0), cells(part.table, 1), cells(part.table, 2)) == (["a"], ["b"], ["6"])
    # Four of six are the same; of two items there is no interval.
    assert cells(part.table, 3) == ["66.7 %"]
    # Chance by the shares of yes, 4/6 and 4/6: 20/36; κ = (24/36 − 20/36) ÷ (16/36).
    assert cells(part.table, 4) == ["0.25"]
    assert "6 units that both judged" in part.account.text()


def test_where_they_differ_is_listed_with_both_grounds(two, show):
    part = show(two, "Compare").comparing
    assert part.count.text() == "2 differ: first a, second b"
    assert cells(part.differing, 3) == ["Met", "Not met"]
    assert cells(part.differing, 5) == ["Not met", "Met"]
    assert set(cells(part.differing, 4)) == {"It says so."}
    assert set(cells(part.differing, 6)) == {"Nothing on it."}


def test_a_list_that_is_cut_says_how_long_it_is(two, show, monkeypatch):
    monkeypatch.setattr(judge_comparing, "MOST", 1)
    part = show(two, "Compare").comparing
    assert part.count.text() == "first 1 of 2 differ: first a, second b"
    assert part.apart.rowCount() == 1


def test_people_stand_beside_judges_once_they_have_submitted(two, show):
    label(two, "yyynnn")
    submit(two)
    part = show(two, "Compare").comparing
    assert [entry.text() for entry in part._entries()] == ["a · 6", "b · 6", "people · 12"]
    pairs = list(zip(cells(part.table, 0), cells(part.table, 1), strict=True))
    assert pairs == [("a", "b"), ("a", "people"), ("b", "people"), ("people", "one another")]
    assert cells(part.table, 3)[1].startswith("83.3 %")


def test_who_is_not_ticked_is_left_out(two, show):
    part = show(two, "Compare").comparing
    part._entries()[0].setCheckState(part._entries()[0].checkState().Unchecked)
    settle(part)
    assert part.pairs.rowCount() == 0
    assert part.count.text() == "Tick two to compare them."


def test_only_units_that_all_judged_can_be_counted(two, show):
    judges.add(two, "c", base_url="http://127.0.0.1:1/v1", model="m")
    say(two, "c", "yyy---")
    part = show(two, "Compare").comparing
    part.shared.click()
    settle(part)
    assert set(cells(part.table, 2)) == {"3"}
    assert "3 units were judged by all" in part.account.text()


def test_a_difference_opens_the_reply_of_the_side_that_is_chosen(served, server, show):
    server.answer = answering(lambda words: "no")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    asyncio.run(judge_runs.run(served, RunRequest("baseline")))
    page = show(served, "Compare")
    part = page.comparing
    assert "(a floor)" in cells(part.table, 0)[0]
    part.differing.setFocus()
    part.differing.setCurrentIndex(part.apart.index(0, 5))
    unit = cells(part.differing, 2)[0]
    press("Return")
    settle(page)
    assert page.part is page.replies
    assert f"Asked about {unit}" in page.replies.detail.made.toPlainText()
    assert page.replies.filters.chosen().judge_id == judges.named(served, JUDGE).id
    assert '"covered"' in page.replies.detail.raw.toPlainText()


def test_one_judge_alone_is_compared_with_nobody(small, show):
    asyncio.run(judge_runs.run(small, RunRequest("baseline")))
    part = show(small, "Compare").comparing
    assert part.body.currentWidget() is part.empty


def test_judges_that_share_no_unit_leave_a_reason_and_no_number(small, show):
    for name, said in (("a", "yyy---"), ("b", "---yyy")):
        judges.add(small, name, base_url="http://127.0.0.1:1/v1", model="m")
        say(small, name, said)
    part = show(small, "Compare").comparing
    assert cells(part.table, 4) == ["–"]
    assert "no unit was judged by both" in part.account.text().lower()


def test_with_nobody_ticked_nothing_is_left_of_the_comparison(two, show):
    part = show(two, "Compare").comparing
    tick(part.raters)
    settle(part)
    assert (part.pairs.rowCount(), part.apart.rowCount()) == (0, 0)
    assert part.count.text() == "Tick two to compare them."
    assert part.account.text() == ""
