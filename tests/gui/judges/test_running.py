"""Runs: ordered, priced before they start, watched, cancelled, queued, gone on with; each in a real child process."""

import asyncio
import json
import os
import threading

import pytest
from PySide6.QtCore import QProcess

from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_queue, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.cli.carrying import NICENESS
from annotator.domain.judges.judge import Price
from annotator.gui.desk.child import Child
from annotator.gui.pages.judges.roster.judges_model import compared
from annotator.gui.pages.judges.runs import forecast_view
from annotator.judging.calls.prices import FILE
from annotator.protocols import USUAL
from tests.judging.odd_server import Odd, completion, error
from tests.servers.served import JUDGE, answering
from tests.storage import sql
from tests.windows.judges_window import cells, choose, replies, said_in, tick
from tests.windows.labelling_keys import press
from tests.windows.settling import settle

COVERAGE = "researcherbench.coverage"


def run_shown(page, qtbot) -> None:
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["submit"]()
    settle(page)


@pytest.mark.usefixtures("real_children")
def test_a_run_judges_everything_in_a_process_of_its_own(small, show, qtbot):
    page = show(small, "Runs")
    assert "12 of 12 criteria" in said_in(page.running.forecast)
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+Return")
    settle(page)
    assert [(run.state, run.done, run.total) for run in run_records.runs(small)] == [("done", 12, 12)]
    assert page.running.forecast.words.text() == "All 12 criteria of 4 reports are judged."
    assert not page.running.bar.buttons["submit"].isEnabled()
    assert cells(page.running.past.table, 3) == ["done"]
    assert {row.system for row in results.rows(small)} == {"Alpha", "Beta"}


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


def test_an_item_that_is_not_there_is_said_beside_the_field(small, show):
    page = show(small, "Runs")
    page.running.form.items.setText("1, 9")
    settle(page)
    assert "no item “9”" in page.running.form.wrong.text()
    assert not page.running.bar.buttons["submit"].isEnabled()
    page.running.form.items.setText("1–2")
    assert page.running.form.order().items == ("1", "2")


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


@pytest.mark.usefixtures("real_children")
def test_a_model_of_unknown_price_is_run_within_a_budget_in_the_window_alone(small, server, show, qtbot):
    server.answer = answering(lambda words: "yes")
    page = show(small)
    page.roster.acts["new_judge"]()
    form = page.roster.side.endpoint
    for name, words in {"name": "near", "base_url": server.url, "model": "nobody-knows-it"}.items():
        form.fields[name].setText(words)
    qtbot.waitUntil(lambda: form.price.text().startswith("not known; enter it"))
    for field, words in zip(form.prices, ("1000", "2000,0", ""), strict=True):
        field.setText(words)
    page.roster.acts["submit"]()
    assert judges.named(small, "near").asked.price == Price(input=1000, output=2000)
    assert not page.roster.side.dirty
    page.arrive({"part": "Runs"})
    qtbot.waitUntil(lambda: page.running.form.judge.findData("near") >= 0)
    choose(page.running.form.judge, "near")
    forecast = page.running.forecast
    qtbot.waitUntil(lambda: "at the judge's own prices" in said_in(forecast), timeout=20000)
    smallest = float(said_in(forecast).partition("useful from $")[2].split()[0])
    page.running.form.budget.setValue(smallest)
    settle(page)
    run_shown(page, qtbot)
    (run,) = run_records.runs(small)
    assert (run.state, 0 < run.judged < 12, run.cost_usd <= smallest) == ("interrupted", True, True)
    page.running.form.budget.setValue(5)
    settle(page)
    run_shown(page, qtbot)
    (run,) = run_records.runs(small)
    # Each call has 100 tokens in and 20 out.
    assert (run.state, run.judged, run.cost_usd) == ("done", 12, pytest.approx(12 * 0.14))
    assert cells(page.running.past.table, 7) == ["$1.68"]
    assert "for $1.68." in said_in(page.running.live)


def test_a_price_that_nobody_knows_is_not_said_to_be_nothing(served, show, qtbot):
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    forecast = page.running.forecast
    qtbot.waitUntil(lambda: "for 12 judgements" in said_in(forecast))
    assert "not known" in said_in(forecast)
    assert "no budget can be kept" in said_in(forecast)


def test_what_lacks_is_said_and_leads_to_what_draws_it(small, show):
    page = show(small, "Runs")
    page.running.form.every.setChecked(True)
    choose(page.running.form.what, "researcherbench.claims")
    settle(page)
    assert "4 of 4 reports are without their claims." in page.running.ready.lacks.text()
    page.running.ready.drawing_wanted.emit("researcherbench.claims.extract")
    settle(page)
    assert page.running.form.what.currentData() == "researcherbench.claims.extract"
    assert page.running.forecast.words.text() == "4 of 4 reports are not processed yet."


@pytest.mark.usefixtures("real_children")
def test_an_extraction_runs_from_the_window(small, show, qtbot):
    page = show(small, "Runs")
    page.running.form.every.setChecked(True)
    choose(page.running.form.what, "researcherbench.claims.extract")
    settle(page)
    run_shown(page, qtbot)
    assert [(run.protocol, run.state) for run in run_records.runs(small)] == [
        ("researcherbench.claims.extract", "done")
    ]


def test_what_there_is_nothing_to_draw_from_cannot_be_started(small, show):
    page = show(small, "Runs")
    page.running.form.every.setChecked(True)
    choose(page.running.form.what, "researcherbench.insights")
    settle(page)
    assert page.running.ready.words.text() == "No item has a source with its text yet."
    assert not page.running.bar.buttons["submit"].isEnabled()


def test_a_vote_draws_nothing_and_says_so(small, show):
    derived_judges.add(small, "vote", ["baseline"])
    page = show(small, "Runs")
    choose(page.running.form.judge, "vote")
    choose(page.running.form.what, "adra.references")
    settle(page)
    assert "A vote cannot extract from a text." in said_in(page.running.forecast)
    assert page.window().messages.text() == ""


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
    let_go = threading.Event()

    def answer(body, number):
        if number == 1:
            let_go.wait(60)
        return replies(body, number)

    server.answer = answer
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    page.running.form.concurrency.setValue(1)
    settle(page)
    page.running.acts["submit"]()
    live = page.running.live
    qtbot.waitUntil(lambda: len(server.bodies) == 2)
    press("Ctrl+H")
    qtbot.waitUntil(lambda: "Paused" in live.panel.progress._what.text())
    assert live.panel.hold.text().startswith("Resume")
    let_go.set()
    qtbot.waitUntil(lambda: page.driver.line["done"] == 2)
    # A held run tells so once a second; by then it would have asked again.
    with qtbot.waitSignal(page.driver.progressed):
        pass
    assert len(server.bodies) == 2
    with qtbot.waitSignal(page.driver.ended):
        live.panel.hold.click()
    assert run_records.runs(served)[0].state == "done"


def test_batches_are_ordered_where_that_is_wanted(served, show):
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    page.running.form.batch.setChecked(True)
    assert page.running.form.order().batch
    choose(page.running.form.judge, "baseline")
    assert not page.running.form.order().batch


def test_closing_the_window_ends_the_run_and_keeps_what_is_finished(served, server, show, qtbot):
    server.answer = first_alone
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    page.running.form.concurrency.setValue(1)
    settle(page)
    page.running.acts["submit"]()
    qtbot.waitUntil(lambda: page.driver.line.get("done", 0) > 0)
    page.window().close()
    again = Project.open(served.path)
    (run,) = run_records.runs(again)
    assert (run.state, run.done, run.total) == ("cancelled", 1, 12)
    again.close()


def test_a_run_that_is_cancelled_before_it_began_is_no_error(served, show, qtbot):
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    settle(page)
    page.running.acts["submit"]()
    with qtbot.waitSignal(page.driver.ended) as ended:
        page.running.live.panel.cancel.click()
    assert ended.args[0]["state"] == "cancelled"
    assert page.running.live.idle.text().startswith("The last run was stopped before it began.")
    assert page.window().messages.text() == ""


def test_a_cancelled_run_is_gone_on_with_and_repeats_no_call(served, server, show, qtbot):
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE, items=("1",))))
    with served.store.write():
        sql.alter(served, "UPDATE run SET state = 'cancelled'")
    before = len(server.bodies)
    page = show(served, "Runs")
    settle(page)
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+R")
    assert len(server.bodies) == before


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


def test_what_was_asked_together_is_asked_so_again(served, server, show, qtbot):
    server.answer = lambda *_: completion(None, refusal="I would rather not.")
    order = RunRequest(JUDGE, systems=("Alpha",), items=("1",), together=3, trials=2)
    asyncio.run(judge_runs.run(served, order))
    page = show(served, "Runs")
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["run_again"]()
    again, first = run_records.runs(served)[:2]
    assert (again.together, again.trials, again.total, again.judge) == (3, 2, 6, first.judge)


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
    assert judge_queue.waiting(served) == []
    assert page.running.past.queued.isHidden()


def test_what_waits_can_change_places_and_be_taken_out(served, show):
    for name in ("baseline", JUDGE):
        judge_queue.add(served, RunRequest(name))
    page = show(served, "Runs")
    past = page.running.past
    past.waiting.selectRow(1)
    past._move(-1)
    assert cells(past.waiting, 0) == [JUDGE, "baseline"]
    past._remove()
    assert cells(past.waiting, 0) == ["baseline"]


def test_a_judge_that_is_interrupted_holds_back_its_own_runs_alone(served, server, show, qtbot):
    server.script(error(401, "No such key."))
    for order in (RunRequest(JUDGE, items=("1",)), RunRequest(JUDGE, items=("2",)), RunRequest("baseline")):
        judge_queue.add(served, order)
    page = show(served, "Runs")
    with qtbot.waitSignals([page.driver.ended, page.driver.ended]):
        page.running.acts["start_queue"]()
    settle(page)
    states = {(run.judge, run.state) for run in run_records.runs(served)}
    assert states == {(JUDGE, "interrupted"), ("baseline", "done")}
    assert [one.order.items for one in judge_queue.waiting(served)] == [("2",)]


def test_a_queued_run_whose_key_is_not_allowed_waits_and_keeps_no_other_from_its_turn(
    served, server, show, qtbot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THEIR_KEY", "sk-canary-1234567890")
    with served.store.write():
        sql.alter(served, "UPDATE judge SET key_env = 'THEIR_KEY' WHERE name = ?", [JUDGE])
    for name in (JUDGE, "baseline"):
        judge_queue.add(served, RunRequest(name))
    page = show(served, "Runs")
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["start_queue"]()
    settle(page)
    assert [one.order.judge for one in judge_queue.waiting(served)] == [JUDGE]
    assert server.headers == []
    page.window().messages._act.click()
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["start_queue"]()
    assert "sk-canary-1234567890" in str(server.headers)
    assert judge_queue.waiting(served) == []


def test_after_a_cancelled_run_the_queue_stands_still(served, server, show, qtbot):
    server.answer = first_alone
    for order in (RunRequest(JUDGE), RunRequest("baseline")):
        judge_queue.add(served, order)
    page = show(served, "Runs")
    with qtbot.waitSignal(page.driver.progressed):
        page.running.acts["start_queue"]()
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+.")
    settle(page)
    assert not page.driver.running
    assert [one.order.judge for one in judge_queue.waiting(served)] == ["baseline"]


def test_a_vote_is_counted_without_asking_anybody(small, show, qtbot):
    derived_judges.add(small, "vote", ["baseline"])
    asyncio.run(judge_runs.run(small, RunRequest("baseline")))
    page = show(small, "Runs")
    choose(page.running.form.judge, "vote")
    settle(page)
    assert "asks no model" in said_in(page.running.forecast)
    run_shown(page, qtbot)
    vote = run_records.runs(small)[0]
    assert (vote.judge, vote.state, vote.done, vote.missing) == ("vote", "done", 12, {})


def test_a_run_that_was_killed_is_shown_as_interrupted(served, show):
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE, items=("1",))))
    with served.store.write():
        sql.alter(served, "UPDATE run SET state = 'running'")
    page = show(served, "Runs")
    assert cells(page.running.past.table, 3) == ["interrupted"]
    assert page.running.bar.buttons["run_again"].isEnabled()


@pytest.mark.skipif(os.name != "posix", reason="priorities of other systems are not read here")
@pytest.mark.usefixtures("real_children")
def test_the_judging_process_gives_way_to_the_window(served, server, show, qtbot):
    server.answer = first_alone
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    settle(page)
    with qtbot.waitSignal(page.driver.progressed):
        page.running.acts["submit"]()
    child = page.driver._child.process.processId()
    mine = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, child) == min(19, mine + NICENESS)
    page.driver.cancel()
    qtbot.waitUntil(lambda: not page.driver.running)


def test_the_window_answers_while_a_run_starts(served, show, qtbot):
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    settle(page)
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["submit"]()
        press("Alt+1")
        assert page.part is page.roster
        assert page.driver.running
    assert run_records.runs(served)[0].state == "done"


@pytest.mark.usefixtures("real_children")
def test_counting_leaves_no_process_behind(served, show, qtbot, monkeypatch):
    states = []

    class Watched(Child):
        def __init__(self, desk, parent):
            super().__init__(desk, parent)
            self.process.stateChanged.connect(states.append)

    monkeypatch.setattr(forecast_view, "Child", Watched)
    page = show(served, "Runs")
    choose(page.running.form.judge, JUDGE)
    forecast = page.running.forecast
    qtbot.waitUntil(lambda: "for 12 judgements" in said_in(forecast))
    qtbot.waitUntil(lambda: not forecast.findChildren(Child))
    assert states.count(QProcess.ProcessState.Starting) == states.count(QProcess.ProcessState.NotRunning) > 0


@pytest.mark.usefixtures("real_children")
def test_a_run_is_asked_for_again_and_compared(served, server, show, qtbot):
    server.answer = answering(lambda criterion: "yes")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    server.answer, asked = answering(lambda criterion: "no"), len(server.bodies)
    page = show(served, "Runs")
    press("Ctrl+Shift+A")
    # What it takes is shown first, and nothing is asked.
    qtbot.waitUntil(lambda: "12 anchored units" in page.running.answer.text())
    settle(page)
    assert len(server.bodies) == asked
    with qtbot.waitSignal(page.driver.ended):
        page.running.answer._act.click()
    settle(page)
    assert len(server.bodies) - asked == 12
    assert "12 verdicts changed" in page.running.answer.text()
    assert cells(page.running.past.table, 2)[0] == "Drift check: Coverage of expert criteria"
    page.running.past.table.selectRow(0)
    with qtbot.waitSignal(page.desk.wanted, timeout=5000) as wanted:
        press("Ctrl+L")
    assert wanted.args == ["Validate", compared(JUDGE, USUAL)]


def test_of_a_judge_that_asks_nobody_no_run_is_asked_for_again(small, show):
    asyncio.run(judge_runs.run(small, RunRequest("baseline")))
    assert not show(small, "Runs").running.bar.buttons["run_compare"].isEnabled()
