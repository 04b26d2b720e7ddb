"""Runs: ordered, priced before they start, watched, cancelled, queued, gone on with; each in a real child process."""

import asyncio
import json
from dataclasses import replace

import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.session.run import Child
from annotator.judging.calls.prices import FILE
from tests.judging.odd_server import Odd
from tests.servers.served import JUDGE, answering
from tests.storage import sql
from tests.windows.judges_window import cells, choose, replies, said_in, tick
from tests.windows.labelling_keys import press
from tests.windows.run_keys import paused_and_resumed
from tests.windows.settling import settle

COVERAGE = "researcherbench.coverage"


def test_systems_items_trials_and_units_together_go_into_the_order(served, show, qtbot):
    page = show(served, "Runs")
    form = page.running.form
    choose(form.judge, JUDGE)
    tick(form.systems, "Beta")
    form.items.setText("2")
    form.together.setValue(3)
    form.trials.setValue(2)
    form.budget.setValue(1.5)
    order = form.order()
    assert order == RunRequest(
        JUDGE, COVERAGE, ("Beta",), ("2",), concurrency=8, timeout_s=120, budget_usd=1.5, together=3, trials=2
    )


@pytest.fixture
def priced(tmp_path, monkeypatch):
    table = {"as_of": "2026-05-01", "models": {"test-model": {"input": 1000, "output": 2000}}}
    folder = tmp_path / "data" / "goldsmith"
    folder.mkdir(parents=True)
    (folder / FILE).write_text(json.dumps(table), "utf-8")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_questions_tokens_money_and_time_are_shown_before_the_start(served, priced, show, qtbot):
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    forecast = page.running.forecast
    qtbot.waitUntil(lambda: "for 12 judgements" in said_in(forecast))
    assert "12 for 12 judgements\nCached\nnone\n" in said_in(forecast)
    assert "at prices of 2026-05-01" in said_in(forecast)
    assert "known once it has answered" in said_in(forecast)
    assert "12 questions, about $" in said_in(forecast)
    page.running.form.budget.setValue(0.0004)
    assert page.running.form.budget.text() == "$ 0.0004"
    qtbot.waitUntil(lambda: "A budget of $0.0004 asks nothing. Give $" in said_in(forecast))
    asked_for = forecast.state.text().partition("Give ")[2].removesuffix(" or more.")
    assert f"useful from {asked_for} on" in said_in(forecast)
    page.running.form.budget.setValue(5.5)
    assert page.running.form.budget.text() == "$ 5.50"
    qtbot.waitUntil(lambda: "asks nothing" not in said_in(forecast))


def test_an_estimate_of_what_is_no_longer_ordered_is_not_shown(served, show, monkeypatch):
    monkeypatch.setattr(Child, "start", lambda *_, **__: True)
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    settle(page)
    forecast = page.running.forecast
    child, before = forecast.findChild(Child), judge_runs.look(served, page.running.form.order())
    forecast.show_look(replace(before, order=replace(before.order, together=2)), asks=True)
    child.ended.emit({"error": "one for each"})
    assert forecast.state.text() == "Counting the questions…"
    forecast.show_look(before, asks=True)
    child.ended.emit({"error": "one for each"})
    assert forecast.state.text() == "one for each"


def test_what_lacks_is_said_and_leads_to_what_draws_it(small, show):
    page = show(small, "Runs")
    choose(page.running.form.what, "researcherbench.claims")
    settle(page)
    assert "4 of 4 reports are without their claims." in page.running.ready.lacks.text()
    page.running.ready.drawing_wanted.emit("researcherbench.claims.extract")
    settle(page)
    assert page.running.form.what.currentData() == "researcherbench.claims.extract"
    assert page.running.forecast.words.text() == "4 of 4 reports are not processed yet."


def first_alone(body, number):
    """The usual reply to the first question; the others are under way until the test is over."""
    return Odd(held=True) if number else replies(body, number)


def test_a_run_shows_every_call_and_keeps_what_is_finished_when_cancelled(served, server, show, qtbot):
    server.answer = first_alone
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    page.running.form.concurrency.setValue(2)
    settle(page)
    page.running.acts["submit"]()
    live = page.running.live
    qtbot.waitUntil(lambda: live.calls.rowCount() == 2 and live.parts.rowCount() > 0)
    qtbot.waitUntil(lambda: "…" not in cells(live.asking, 3))
    assert set(cells(live.asking, 1)) <= {"1", "2"}
    assert set(cells(live.asking, 2)) <= {"Alpha", "Beta"}
    (button,) = page.window().status.runs.values()
    assert button.text().startswith("Judge run · 1 of 12")
    with qtbot.waitSignal(page.driver.ended) as ended:
        press("Ctrl+.")
    assert ended.args[0]["state"] == "cancelled"
    settle(page)
    (run,) = run_records.runs(served)
    assert (run.state, run.done, run.total) == ("cancelled", 1, 12)
    assert page.running.bar.buttons["run_again"].text().startswith("Resume it")


def test_a_run_is_held_and_goes_on(served, server, show, qtbot):
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    page.running.form.concurrency.setValue(1)
    settle(page)
    paused_and_resumed(page, qtbot, server, page.driver, page.running.acts["submit"])
    assert run_records.runs(served)[0].state == "done"


def test_the_missing_are_asked_for_again_and_nothing_else(served, server, show, qtbot):
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE, systems=("Alpha",), items=("1",))))
    server.answer = answering(lambda words: "no")
    before = len(server.bodies)
    page = show(served, "Runs")
    assert page.running.bar.buttons["run_again"].text().startswith("Ask for the missing")
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+R")
    settle(page)
    assert len(server.bodies) == before + 1
    again = run_records.runs(served)[0]
    assert (again.systems, again.items, again.missing) == (("Alpha",), ("1",), {})


def test_runs_wait_in_a_queue_and_follow_one_another(served, server, show, qtbot):
    server.answer = answering(lambda words: "yes")
    page = show(served, "Runs")
    settle(page)
    press("Ctrl+U")
    choose(page.running.form.judge, JUDGE)
    settle(page)
    page.running.acts["queue_run"]()
    assert cells(page.running.past.waiting, 0) == ["baseline", JUDGE]
    assert page.running.past.queue_title.text() == "The queue: 2 waiting"
    with qtbot.waitSignals([page.driver.ended, page.driver.ended]):
        press("Ctrl+Shift+U")
    settle(page)
    assert [run.judge for run in run_records.runs(served)] == [JUDGE, "baseline"]
    assert judge_runs.waiting(served) == []
    assert page.running.past.queued.isHidden()


def test_a_queued_run_whose_key_is_not_allowed_waits_and_keeps_no_other_from_its_turn(
    served, server, show, qtbot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THEIR_KEY", "sk-canary-1234567890")
    with served.store.write():
        sql.alter(served, "UPDATE judge SET key_env = 'THEIR_KEY' WHERE name = ?", [JUDGE])
    for name in (JUDGE, "baseline"):
        judge_runs.add(served, RunRequest(name))
    page = show(served, "Runs")
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["start_queue"]()
    settle(page)
    assert [one.order.judge for one in judge_runs.waiting(served)] == [JUDGE]
    assert server.headers == []
    page.window().messages._act.click()
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["start_queue"]()
    assert "sk-canary-1234567890" in str(server.headers)
    assert judge_runs.waiting(served) == []


def test_after_a_cancelled_run_the_queue_stands_still(served, server, show, qtbot):
    server.answer = first_alone
    for order in (RunRequest(JUDGE), RunRequest("baseline")):
        judge_runs.add(served, order)
    page = show(served, "Runs")
    with qtbot.waitSignal(page.driver.progressed):
        page.running.acts["start_queue"]()
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+.")
    settle(page)
    assert not page.driver.running
    assert [one.order.judge for one in judge_runs.waiting(served)] == ["baseline"]
