"""Drift in the window: verdicts frozen, priced and asked for again in a real child process, and what came of it."""

import asyncio
import json
import threading

import pytest
from PySide6.QtCore import Qt

from annotator.actions.judges import judges
from annotator.actions.judging import drift, judge_runs
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.pages.judges.page import DRIFT
from tests.servers.served import JUDGE, answering
from tests.storage import sql
from tests.windows.judges_window import cells, choose, said_in, tick
from tests.windows.labelling_keys import press
from tests.windows.run_keys import paused_and_resumed, stopped_by_key
from tests.windows.settling import settle

COVERAGE = "researcherbench.coverage"
DATASET = "Names one dataset"


@pytest.fixture
def judged(served, server):
    """The judge at the server has said yes to all twelve criteria of four reports."""
    server.answer = answering(lambda criterion: "yes")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    server.bodies.clear()
    return served


@pytest.fixture
def frozen(judged):
    """All of that is frozen."""
    drift.anchor(judged, JUDGE)
    return judged


def changes_its_mind(server) -> None:
    """From now on the judge says no to one criterion of three."""
    server.answer = answering(lambda criterion: "no" if criterion == DATASET else "yes")


def hold_back(server) -> threading.Event:
    """Until this is set, the judge answers nobody."""
    answer, let_go = server.answer, threading.Event()

    def late(body, number):
        let_go.wait(60)
        return answer(body, number)

    server.answer = late
    return let_go


def checked(page, qtbot) -> None:
    """Start a check by its key, and wait for its end."""
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+Return")
    settle(page)


def test_a_project_without_a_paid_judge_says_what_comes_first(small, show):
    page = show(small, "Drift")
    part = page.drifting
    assert part.body.currentWidget() is part.empty
    assert not part.bar.buttons["submit"].isEnabled()
    assert not part.bar.buttons["freeze_anchor"].isEnabled()


def test_a_judge_of_whom_nothing_is_frozen_is_offered_to_be_frozen(judged, show):
    part = show(judged, "Drift").drifting
    assert (cells(part.table, 0), cells(part.table, 2), cells(part.table, 3)) == ([JUDGE], ["none"], ["–"])
    assert part.found.body.currentWidget() is part.found.no_anchor
    assert part.forecast.words.text() == "Freeze verdicts first; a check judges them again."
    assert not part.bar.buttons["submit"].isEnabled()


def test_verdicts_are_frozen_by_a_key_without_a_call(judged, server, show):
    page = show(judged, "Drift")
    press("Ctrl+Shift+A")
    settle(page)
    assert len(drift.anchored(judged, JUDGE).units) == 12
    assert server.bodies == []
    assert cells(page.drifting.table, 2) == ["12"]
    assert page.drifting.found.body.currentWidget() is page.drifting.found.no_check


def test_of_chosen_systems_and_items_only_those_verdicts_are_frozen(judged, show):
    page = show(judged, "Drift")
    tick(page.drifting.form.systems, "Beta")
    page.drifting.form.items.setText("2")
    press("Ctrl+Shift+A")
    settle(page)
    # One report of three criteria.
    assert len(drift.anchored(judged, JUDGE).units) == 3
    assert page.drifting.form.words.text().startswith("3 verdicts on 1 item, since ")


def test_an_item_that_is_not_there_is_said_and_nothing_is_frozen(judged, show):
    page = show(judged, "Drift")
    page.drifting.form.items.setText("9")
    press("Ctrl+Shift+A")
    assert "no item “9”" in page.drifting.answer.text()
    assert drift.anchored(judged, JUDGE) is None


def test_another_set_takes_the_place_of_one_only_when_that_is_confirmed(frozen, show):
    page = show(frozen, "Drift")
    before = drift.anchored(frozen, JUDGE)
    press("Ctrl+Shift+A")
    assert "12 verdicts" in page.drifting.answer.text()
    assert drift.anchored(frozen, JUDGE) == before
    assert page.drifting.form.many.isVisible()
    page.drifting.form.many.setValue(4)
    page.drifting.answer._act.click()
    settle(page)
    assert len(drift.anchored(frozen, JUDGE).units) == 4


def test_what_a_check_asks_and_costs_is_said_before_it_starts(frozen, show, qtbot):
    forecast = show(frozen, "Drift").drifting.forecast
    qtbot.waitUntil(lambda: "for 12 anchored units" in said_in(forecast))
    assert "12 verdicts will be asked for again." in said_in(forecast)
    assert "no budget can be kept" in said_in(forecast)


@pytest.mark.usefixtures("real_children")
def test_a_check_tells_which_verdicts_changed_and_shows_both_replies(frozen, server, show, qtbot):
    changes_its_mind(server)
    page = show(frozen, "Drift")
    checked(page, qtbot)
    found = page.drifting.found
    assert len(server.bodies) == 12
    assert cells(page.drifting.table, 4) == ["4 of 12"]
    # Eight of twelve stayed; of two items there is no interval.
    assert cells(found.table, 2) == ["66.7 %"]
    assert (cells(found.list, 0), set(cells(found.list, 2))) == (["1", "1", "2", "2"], {DATASET})
    assert (set(cells(found.list, 3)), set(cells(found.list, 4))) == ({"Met"}, {"Not met"})
    said = [json.loads(text.toPlainText())["covered"] for text in (found.then, found.now)]
    assert said == ["yes", "no"]
    assert "4 verdicts changed" in page.drifting.answer.text()


def test_since_when_a_verdict_is_another_is_told_by_the_first_check_that_saw_it(frozen, server, show):
    asyncio.run(drift.check(frozen, RunRequest(JUDGE)))
    changes_its_mind(server)
    asyncio.run(drift.check(frozen, RunRequest(JUDGE)))
    asyncio.run(drift.check(frozen, RunRequest(JUDGE)))
    found = show(frozen, "Drift").drifting.found
    first = drift.reports(frozen, JUDGE)[1].checked_at
    assert {one.since.isoformat() for one in found.changed.rows} == {first}
    assert cells(found.table, 1) == ["4 of 12", "4 of 12", "0 of 12"]


def test_a_judge_that_says_the_same_again_changed_nothing(frozen, show, qtbot):
    page = show(frozen, "Drift")
    checked(page, qtbot)
    found = page.drifting.found
    assert found.count.text() == "No verdict changed."
    assert found.list.isHidden()
    assert "κ is undefined" in found.account.text()
    assert not page.drifting.bar.buttons["next_item"].isEnabled()


def test_keys_go_from_one_changed_verdict_to_the_next(frozen, server, show):
    changes_its_mind(server)
    asyncio.run(drift.check(frozen, RunRequest(JUDGE)))
    found = show(frozen, "Drift").drifting.found
    press("Ctrl+PgDown")
    press("Ctrl+PgDown")
    press("Ctrl+PgUp")
    assert found.list.currentIndex().row() == 1


def test_a_check_that_was_stopped_is_said_and_gone_on_with(frozen, server, show):
    asyncio.run(drift.check(frozen, RunRequest(JUDGE)))
    with frozen.store.write():
        sql.alter(frozen, "UPDATE run SET state = 'cancelled', done = 5 WHERE protocol LIKE 'drift.%'")
    page = show(frozen, "Drift")
    assert cells(page.drifting.table, 3) == ["stopped at 5 of 12"]
    assert "it goes on and asks nothing twice" in said_in(page.drifting.forecast)


def test_a_check_is_paused_and_goes_on(frozen, server, show, qtbot):
    page = show(frozen, "Drift")
    page.drifting.form.concurrency.setValue(1)
    settle(page)
    paused_and_resumed(page, qtbot, server, page.driver, lambda: press("Ctrl+Return"))
    settle(page)
    assert "No verdict changed." in page.drifting.found.count.text()


def test_a_key_stops_a_check(frozen, server, show, qtbot):
    page = show(frozen, "Drift")
    stopped_by_key(page, qtbot, server, page.driver, lambda: press("Ctrl+Return"))
    assert "The check was stopped before it finished." in page.drifting.answer.text()


def test_the_runs_lead_to_the_checks_that_are_among_them(frozen, show):
    asyncio.run(drift.check(frozen, RunRequest(JUDGE)))
    page = show(frozen, "Runs")
    assert cells(page.running.past.table, 2)[0] == "Drift check: Coverage of expert criteria"
    assert not page.running.past.costs.isEnabled()
    press("Ctrl+L")
    settle(page)
    assert page.tabs.currentIndex() == DRIFT
    assert page.drifting.found.checks.rowCount() == 1


def test_while_a_run_is_under_way_no_check_can_start(frozen, server, show, qtbot):
    page = show(frozen, "Runs")
    judges.add(frozen, "other", base_url=server.url, model="another-model")
    page.running.fill()
    settle(page)
    choose(page.running.form.judge, "other")
    settle(page)
    let_go = hold_back(server)
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["submit"]()
        press("Alt+6")
        settle(page)
        assert not page.drifting.bar.buttons["submit"].isEnabled()
        assert "a check can start after it" in page.drifting.bar.progress.text()
        let_go.set()
    settle(page)
    assert page.drifting.bar.buttons["submit"].isEnabled()


def test_every_field_has_a_name_for_those_who_do_not_see_it(judged, show):
    part = show(judged, "Drift").drifting
    form, found = part.form, part.found
    fields = (form.many, form.systems, form.items, form.concurrency, form.timeout, form.budget)
    views = (part.table, found.table, found.list, found.then, found.now)
    assert all(widget.accessibleName() for widget in (*fields, *views))
    assert all(view.focusPolicy() & Qt.FocusPolicy.TabFocus for view in views)
