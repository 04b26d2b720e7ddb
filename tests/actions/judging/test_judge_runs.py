"""How a judge is let to work: together, several times, and on from where it stopped; its cost; what did not come.

What can be asked for and what an order comes to, how it is handed on, orders that wait, votes, and costs.
"""

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from sqlalchemy import insert

from annotator.actions.attacks import attacking
from annotator.actions.items import items, pages
from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import derived_judges, forecasts, judge_runs, reparse
from annotator.actions.material import model_drafts
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.results import result_raters, results
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import call_hash
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import now
from annotator.domain.judges.judge import Call, RunState, Status
from annotator.domain.judges.protocol import Level, Scale, Value, numbers
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import IMPORT
from annotator.judging.calls.prices import FILE, Budget, tokens_in
from annotator.judging.calls.probe import FILLER_CHARACTERS
from annotator.judging.calls.reply_parts import reread
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.storage.tables import CALL, JUDGE as JUDGES, RUN
from tests.common import expect_refusal
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.material import drawn_extracts
from tests.projects import adra_project
from tests.projects.filled_project import add_judgement
from tests.projects.small_projects import CRITERIA, small_project, units_of
from tests.servers.served import JUDGE, add_judge, answering, asked_about, by_schema, places, say
from tests.storage import sql

# Two items with three criteria, two systems.
ALL = 12


@pytest.fixture
def distant(project: Project, distant_judge: None) -> Project:
    return project


def run(distant: Project, judge: str = JUDGE, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(distant, RunRequest(judge, **how)))


def stored(distant: Project, columns: str) -> list[tuple[Any, ...]]:
    return sql.rows(
        distant, f"SELECT {columns} FROM judgement j JOIN judge r ON r.id = j.rater_id ORDER BY j.rowid"
    )


def scope(distant: Project) -> dict[str, Any]:
    return dict(json.loads(sql.first(distant, "SELECT scope FROM run")[0]))


def test_units_asked_together_are_judged_by_a_judge_of_its_own(distant: Project, server: OddServer) -> None:
    ended = run(distant, together=2)
    assert (ended["done"], ended["total"], ended["missing"]) == (ALL, ALL, {})
    # Three criteria of each of four reports, two in a call: a call of two and one of one.
    assert Counter(len(asked_about(body)) for body in server.bodies) == {2: 4, 1: 4}
    # Even a unit left over is asked in the way of the others.
    assert all("The criteria:" in body["messages"][1]["content"] for body in server.bodies)
    assert {name for (name,) in stored(distant, "r.name")} == {"distant, 2 together"}
    assert [judge.name for judge in judges.all_of(distant)] == ["baseline", "distant", "distant, 2 together"]
    assert run(distant)["judged_now"] == ALL
    assert Counter(name for (name,) in stored(distant, "r.name")) == {
        "distant": ALL,
        "distant, 2 together": ALL,
    }


def test_the_judge_asked_together_can_be_named_itself(distant: Project, server: OddServer) -> None:
    run(distant, together=2, systems=("Alpha",))
    assert (run(distant, "distant, 2 together", systems=("Beta",))["judged_now"], len(server.bodies)) == (
        6,
        8,
    )
    expect_refusal("is asked 2 together", run, distant, "distant, 2 together", together=3)


def test_a_run_gone_on_with_asks_only_for_the_units_that_are_missing(
    distant: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: daily if number else answering(lambda words: "yes")(body, number)
    stopped = run(distant, together=3, concurrency=1)
    assert (stopped["state"], stopped["done"]) == ("interrupted", 3)
    seed, first = scope(distant)["seed"], server.bodies[0]
    sql.alter(distant, "DELETE FROM judgement WHERE unit_id = ?", [asked_about(first)[1][0]])
    server.bodies.clear()
    server.answer = answering(lambda words: "yes")
    assert (run(distant, together=3, concurrency=1)["done"], scope(distant)["seed"]) == (ALL, seed)
    assert (asked_about(server.bodies[0]), sum(len(asked_about(body)) for body in server.bodies)) == (
        [asked_about(first)[1]], ALL - 2,
    )  # fmt: skip


def forgetful(body: dict[str, Any], number: int) -> Odd:
    """A no for every unit but the first."""
    whole = json.loads(answering(lambda words: "no")(body, number).body)["choices"][0]["message"]["content"]
    return completion(json.dumps({"answers": json.loads(whole)["answers"][1:]}))


def test_an_answer_that_leaves_a_unit_out_is_read_together_and_asked_for_again_by_the_next_run(
    distant: Project, server: OddServer
) -> None:
    server.answer = forgetful
    assert run(distant, together=3)["missing"] == {"invalid": 4}
    # The replies are readable, and still leave one unit of three out.
    result = asyncio.run(reparse.again(distant, f"{JUDGE}, 3 together"))
    assert (result.read, result.won, result.unread) == (12, 0, 4)
    server.answer = answering(lambda words: "no")
    assert run(distant, together=3)["missing"] == {}
    assert {value for (value,) in stored(distant, "value")} == {"no"}


def test_each_trial_is_asked_anew_and_kept_apart(distant: Project, server: OddServer) -> None:
    for how in ({"together": 2}, {"trials": 2}):
        expect_refusal("calls no model", run, distant, "baseline", **how)
    said = iter(["yes"] * ALL + ["no"] * 2 * ALL)
    server.answer = answering(lambda words: next(said))
    run(distant, concurrency=1)
    plan = judge_runs.plan(distant, RunRequest(JUDGE, trials=3))
    assert (plan.total, plan.to_do) == (3 * ALL, 2 * ALL)
    assert run(distant, trials=3, concurrency=1)["judged_now"] == 2 * ALL
    assert Counter(stored(distant, "trial, value")) == {(1, "yes"): ALL, (2, "no"): ALL, (3, "no"): ALL}


def test_a_judge_is_told_the_weight_where_its_settings_say_so(distant: Project, server: OddServer) -> None:
    run(distant)
    assert not any("Its weight:" in body["messages"][1]["content"] for body in server.bodies)
    server.bodies.clear()
    add_judge(distant, server, "weighing", asking='{"weights_shown": true}')
    run(distant, "weighing")
    assert all("Its weight:" in body["messages"][1]["content"] for body in server.bodies)
    assert next(judge for judge in judges.all_of(distant) if judge.name == "weighing").settings.weights_shown


def test_the_last_unfinished_run_is_known_with_all_that_it_was_asked(
    distant: Project, server: OddServer
) -> None:
    server.script(error(401, "bad key"))
    run(distant, together=2, trials=2, systems=("Alpha",), items=("1",))
    assert run_records.last_unfinished(distant, "distant, 2 together").order(concurrency=3) == RunRequest(
        "distant, 2 together", systems=("Alpha",), items=("1",), together=2, trials=2, concurrency=3
    )
    expect_refusal("No run of “baseline”", run_records.last_unfinished, distant, "baseline")


def test_going_on_passes_over_reports_and_drafts_that_were_left_unfinished(
    distant: Project, server: OddServer
) -> None:
    server.script(error(401, "bad key"))
    run(distant, systems=("Alpha",), items=("1",))
    for protocol in ("respond.end-to-end", "proposal.researcherbench.insights"):
        later = run_records.open_run(distant, judges.named(distant, JUDGE), RunRequest(JUDGE, protocol), ())
        run_records.close_run(distant, later.id, RunState.INTERRUPTED)
    server.answer = answering(lambda words: "yes")
    ended = asyncio.run(orders.carry_out(distant, orders.unfinished(distant)))
    assert (ended["done"], ended["total"], ended["state"]) == (3, 3, "done")
    expect_refusal("No run was left unfinished", orders.unfinished, distant)


def test_a_budget_holds_for_the_whole_run_also_when_it_is_gone_on_with(
    distant: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[float, int]] = []

    class Watched(Budget):
        def __init__(self, limit_usd: float | None, spent_usd: float, **rest: int) -> None:
            seen.append((spent_usd, rest["longest_output"]))
            super().__init__(limit_usd, spent_usd, **rest)

    monkeypatch.setattr("annotator.actions.runs.run_kind.Budget", Watched)
    server.answer = lambda body, number: (
        error(401, "bad key") if number else answering(lambda words: "yes")(body, number)
    )
    run(distant, concurrency=1)
    sql.alter(distant, "UPDATE call SET cost_usd = 0.25 WHERE status = 'ok'")
    server.answer = answering(lambda words: "yes")
    run(distant)
    assert seen == [(0.0, 0), (0.25, 20)]


def test_an_order_that_cannot_be_carried_out_is_refused(distant: Project) -> None:
    for how, words in (
        ({"protocol": "nowhere"}, "There is no protocol"),
        ({"systems": ("Gamma",)}, "There is no system “Gamma”"),
        ({"items": ("9",)}, "There is no item “9”"),
        ({"together": -1}, "at least one"),
    ):
        expect_refusal(words, run, distant, **how)
        assert run_records.runs(distant) == []


def test_a_judge_made_from_another_follows_it_and_has_its_key(
    distant: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other-key-1")
    run(distant, together=2, systems=("Alpha",))
    judges.change(
        distant, judges.named(distant, JUDGE).id, {"key_env": "OTHER_KEY", "parameters": '{"temperature": 0}'}
    )
    kept_keys.allow("OTHER_KEY", server.url)
    server.bodies.clear()
    server.headers.clear()
    run(distant, together=2, systems=("Beta",))
    assert {body.get("temperature") for body in server.bodies} == {0}
    assert all("sk-other-key-1" in str(headers) for headers in server.headers)
    expect_refusal(
        "follows the judge",
        judges.change,
        distant,
        judges.named(distant, "distant, 2 together").id,
        {"model": "other"},
    )


def test_orders_that_nothing_comes_of(distant: Project, server: OddServer) -> None:
    lacking = "nothing to judge by “Claims.*No claims are drawn from 4 of 4 reports yet"
    expect_refusal(lacking, run, distant, protocol="researcherbench.claims")
    assert run_records.runs(distant) == []
    expect_refusal(
        r"Nothing of .* can be judged yet",
        asyncio.run,
        orders.carry_out(distant, RunRequest(JUDGE, "arena")),
    )
    expect_refusal("does not fit", add_judge, distant, server, "odd", asking='{"together": 101}')


def test_a_whole_paper_stops_where_it_is_told_to_and_goes_on_with_what_is_left(
    distant: Project, server: OddServer
) -> None:
    server.answer = lambda body, number: completion(by_schema(body))
    order = RunRequest(JUDGE, "researcherbench", concurrency=1)
    foreseen = asyncio.run(orders.foreseen(distant, order))
    assert foreseen.units == judge_runs.plan(distant, order).to_do
    reading, writing = os.pipe()

    def tell(line: dict[str, Any]) -> None:
        if line["event"] == "progress" and line["done"]:
            os.write(writing, b"cancel\n")

    with open(reading, encoding="utf-8") as listen:
        ended = asyncio.run(orders.carry_out(distant, order, tell=tell, listen=listen))
        os.close(writing)
    assert (ended["state"], ended["total"]) == ("cancelled", foreseen.units)
    assert 0 < ended["done"] < foreseen.units
    assert judge_runs.plan(distant, order).to_do == foreseen.units - ended["done"]
    assert asyncio.run(orders.carry_out(distant, order))["state"] == "done"
    assert judge_runs.plan(distant, order).to_do == 0


FIRST, SECOND, THIRD = (text for text, _ in CRITERIA)


def mixed(body: dict[str, Any], number: int) -> Any:
    """A yes for the first criterion, a refusal for the second, “covered” for the third."""
    ((_, words),) = asked_about(body)
    if words == SECOND:
        return completion(None, refusal="I will not judge this.")
    return answering(lambda _: "covered" if words == THIRD else "yes")(body, number)


def again(distant: Project, **how: Any) -> reparse.RereadReport:
    return asyncio.run(reparse.again(distant, JUDGE, **how))


def test_what_did_not_come_is_listed_and_narrowed(distant: Project, server: OddServer) -> None:
    server.answer = mixed
    ended = run(distant)
    result = reparse.lines(distant)
    assert reparse.by_cause(result) == ended["missing"] == {"invalid": 4, "refused": 4}
    line = next(line for line in result if line.status == "refused")
    assert (line.judge, line.item, line.system, line.run_id) == (JUDGE, "1", "Alpha", ended["run"])
    assert len(reparse.lines(distant, status="refused")) == 4
    assert len(reparse.lines(distant, run=ended["run"][:8])) == 8
    assert reparse.lines(distant, judge="baseline") == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"judge": "nobody"}, "There is no judge"),
        ({"run": "zzz"}, "No run begins"),
        ({"status": "ok"}, "is not a cause"),
    ],
)
def test_what_is_not_there_to_narrow_by_is_refused(distant: Project, how: dict[str, str], words: str) -> None:
    expect_refusal(words, reparse.lines, distant, **how)


def test_a_reply_that_can_be_read_today_becomes_a_verdict_without_a_call(
    distant: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = mixed
    run(distant)
    asked = len(server.bodies)
    assert again(distant) == reparse.RereadReport(JUDGE, read=4, won=0, changed=0, unread=4)

    def lenient(call: Call, reply: type[BaseModel]) -> BaseModel:
        return reread(
            call.model_copy(update={"raw": call.raw.replace('"covered": "covered"', '"covered": "yes"')}),
            reply,
        )

    monkeypatch.setattr("annotator.judging.calls.asking.reread", lenient)
    assert again(distant) == reparse.RereadReport(JUDGE, 4, 4, 4)
    assert (len(server.bodies), reparse.by_cause(reparse.lines(distant))) == (asked, {"refused": 4})
    assert checking.check(distant).problems == []


def test_reading_everything_again_changes_nothing_that_was_read_well(
    distant: Project, server: OddServer
) -> None:
    run(distant)
    before = sql.rows(distant, "SELECT * FROM judgement ORDER BY id")
    assert again(distant, everything=True) == reparse.RereadReport(JUDGE, 12, 0, 0)
    assert sql.rows(distant, "SELECT * FROM judgement ORDER BY id") == before


def test_the_reply_to_the_request_for_repair_is_the_one_that_counts(
    distant: Project, server: OddServer
) -> None:
    prose, good = completion("It is covered, I think."), answering(lambda words: "yes")
    server.answer = lambda body, number: prose if len(body["messages"]) == 2 else good(body, number)
    run(distant, systems=("Alpha",), items=("1",))
    assert again(distant, everything=True) == reparse.RereadReport(JUDGE, 3, 0, 0)


def page(distant: Project, server: OddServer) -> int:
    server.script(error(404, "The model does not exist"))
    asyncio.run(derived_judges.test(distant, JUDGE))
    return len(server.bodies[-1]["messages"][1]["content"])


def test_the_page_of_a_test_is_as_long_as_usual_or_as_the_longest_report(
    distant: Project, server: OddServer
) -> None:
    assert FILLER_CHARACTERS <= page(distant, server) < 90_000
    sql.alter(distant, "UPDATE response SET text = ?", ["x" * 90_000])
    assert page(distant, server) >= 90_000


def test_a_judge_that_failed_its_test_runs_only_when_told_to_and_its_figures_say_so(
    distant: Project, server: OddServer
) -> None:
    page(distant, server)
    asked, order = len(server.bodies), RunRequest(JUDGE, together=1)
    expect_refusal("failed its last test.*--use-anyway", asyncio.run, orders.carry_out(distant, order))
    assert judge_runs.look(distant, order).refused
    assert len(server.bodies) == asked
    judge = judges.named(distant, JUDGE)
    adra_project.say(
        distant,
        "researcherbench.coverage",
        *sql.first(distant, "SELECT item_id, id FROM response"),
        {"c": "yes"},
        rater_id=judge.id,
    )
    kept_keys.accept(distant, judge)
    assert not judge_runs.look(distant, order).refused
    (rater,) = result_raters.raters(distant, "researcherbench.coverage")
    assert rater.remark.startswith(f"{JUDGE} failed its test: ")
    kept_keys.keep_test(distant, judge, "")
    assert result_raters.raters(distant, "researcherbench.coverage")[0].remark == ""


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"as_of": "2026-05-01", "models": {"test-model": {"input": 1000, "output": 2000}}}
    (tmp_path / FILE).write_text(json.dumps(table), "utf-8")
    monkeypatch.setattr("annotator.judging.calls.prices.user_data", lambda: tmp_path)


def estimate(distant: Project, **how: Any) -> forecasts.CostEstimate:
    return asyncio.run(orders.foreseen(distant, RunRequest(JUDGE, **how)))


def test_an_estimate_counts_the_calls_and_their_tokens_and_asks_nothing(
    distant: Project, server: OddServer, priced: None
) -> None:
    result = estimate(distant)
    assert server.bodies == []
    assert (result.units, result.calls, result.in_journal, result.price_as_of) == (12, 12, 0, "2026-05-01")
    assert (result.tokens_output, result.assumed) == (12 * forecasts.TOKENS_A_UNIT, True)
    # At 1 and 2 dollars per thousand tokens.
    assert result.cost_usd == pytest.approx((result.tokens_input + 2 * result.tokens_output) / 1000)
    run(distant)
    sent = sum(tokens_in(message["content"]) for body in server.bodies for message in body["messages"])
    assert result.tokens_input == pytest.approx(sent, rel=0.02)


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("share", [None, 0.67])
def test_a_budget_can_be_used_from_the_smallest_told_on(
    distant: Project, server: OddServer, priced: None, share: float | None, at_once: int
) -> None:
    result = estimate(distant)
    assert result.smallest_usd is not None
    assert result.cost_usd is not None
    budget = result.smallest_usd if share is None else share * result.cost_usd
    ended = asyncio.run(orders.carry_out(distant, RunRequest(JUDGE, budget_usd=budget, concurrency=at_once)))
    assert ended["judged"] >= (1 if share is None else int(share * result.units))
    assert (ended["cost_usd"], ended["calls"]) == (pytest.approx(0.14 * ended["judged"]), ended["judged"])
    assert ended["cost_usd"] <= budget


def test_a_budget_that_asks_nothing_is_refused_before_the_start(
    distant: Project, server: OddServer, priced: None
) -> None:
    smallest = estimate(distant).smallest_usd or 0.0
    expect_refusal(
        r"asks nothing: one question is likely to cost \$",
        asyncio.run,
        orders.carry_out(distant, RunRequest(JUDGE, budget_usd=smallest / 2)),
    )
    assert (server.bodies, run_records.runs(distant)) == ([], [])


def test_estimates_know_what_is_judged_and_what_lies_in_the_journal(distant: Project, priced: None) -> None:
    extraction = asyncio.run(orders.foreseen(distant, RunRequest(JUDGE, "researcherbench.claims.extract")))
    assert (extraction.units, extraction.total, extraction.calls, extraction.things) == (4, 4, 4, "reports")
    assert extraction.cost_usd > 0
    before, together = estimate(distant), estimate(distant, together=3)
    assert (together.units, together.calls) == (12, 4)
    assert together.tokens_input < before.tokens_input
    assert (before.total, before.calls_afresh, before.cost_usd_afresh) == (12, 12, before.cost_usd)
    run(distant)
    after = estimate(distant)
    assert (after.units, after.calls, after.total, after.calls_afresh, after.cost_usd) == (0, 0, 12, 12, 0)
    sql.alter(distant, "UPDATE call SET latency_s = 2.0")
    # Twelve more questions of two seconds each, three at a time; nobody knew before how long they take.
    assert (before.seconds, estimate(distant, trials=2, concurrency=3).seconds) == (
        None,
        pytest.approx(12 * 2 / 3),
    )
    # By the length of the server's replies: 20 tokens each, at 2 dollars per thousand.
    assert after.cost_usd_afresh == pytest.approx(before.tokens_input / 1000 + 12 * 20 * 2 / 1000)
    sql.alter(distant, "DELETE FROM judgement")
    result = estimate(distant)
    assert (result.units, result.calls, result.in_journal, result.cost_usd) == (12, 0, 12, 0)
    assert result.cost_usd_without_journal > 0
    again = estimate(distant, trials=2)
    # The server says that every reply had 20 tokens.
    assert (again.calls, again.tokens_output, again.assumed) == (12, 12 * 20, False)


def test_estimates_without_prices(distant: Project) -> None:
    result = estimate(distant)
    assert result.cost_usd is None
    assert "not known" in result.words()[-1]
    result = asyncio.run(orders.foreseen(distant, RunRequest("baseline")))
    assert (result.units, result.calls, result.cost_usd) == (12, 0, 0.0)
    usual = estimate(distant).tokens_input
    prompts.write(
        distant,
        "researcherbench.coverage",
        "# system\nBe brief.\n\n# user\n{{question}}{{criterion}}{{report}}",
    )
    assert estimate(distant).tokens_input < usual


def test_a_form_that_must_be_told_in_words_is_among_the_tokens(distant: Project, server: OddServer) -> None:
    usual, said = estimate(distant).tokens_input, server.answer

    def turned_down(body: dict[str, Any], number: int) -> Odd:
        schema = body.get("response_format", {}).get("type") == "json_schema"
        return error(400, "response_format json_schema is not supported") if schema else said(body, number)

    server.answer = turned_down
    run(distant)
    sent = [body for body in server.bodies if body["response_format"]["type"] == "json_object"]
    assert len(sent) == 12
    tokens = sum(tokens_in(message["content"]) for body in sent for message in body["messages"])
    assert tokens > 1.2 * usual
    assert estimate(distant, trials=2).tokens_input == pytest.approx(tokens, rel=0.02)


@pytest.mark.parametrize(
    ("cost", "words"), [(0.004, "Under $0.01"), (0.5, "About $0.50"), (0.0, "About $0.00")]
)
def test_a_trifle_is_not_told_as_nothing(cost: float, words: str) -> None:
    known = ("judge", "protocol", "model", 1, 1, 0, 10, 5, False, cost, cost, "2026-01-01")
    said = forecasts.CostEstimate(*known, cost_usd_afresh=cost, things="reports").words()
    assert said[2].startswith(f"{words} at the prices of 2026-01-01;")


def test_orders_are_looked_at_first(project: Project) -> None:
    result = judge_runs.look(project, RunRequest("baseline", "researcherbench.claims.extract"))
    assert result.words == "4 of 4 reports are not processed yet."
    for order, words in (
        (RunRequest("baseline", "adra.efficiency"), "computed"),
        (RunRequest("baseline", trials=3), "calls no model"),
    ):
        result = judge_runs.look(project, order)
        assert (result.refused, words in result.words) == (True, True)
    before = judge_runs.look(project, RunRequest("baseline"))
    assert (before.total, before.to_do, before.refused) == (12, 12, False)
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    after = judge_runs.look(project, RunRequest("baseline"))
    assert (after.to_do, after.words) == (0, "All 12 criteria of 4 reports are judged.")


def test_items_are_named_by_keys_and_stretches(project: Project) -> None:
    items.add(project, "A third?")
    sql.alter(project, "UPDATE item SET key = '4-a' WHERE id = ?", [items.add(project, "A fourth?").subject])
    for words, keys in (
        ("", ()),
        (" 2 ", ("2",)),
        ("2, 1,2", ("2", "1")),
        ("1–3", ("1", "2", "3")),
        ("1-2、4-a", ("1", "2", "4-a")),
        ("2 .. 3；1", "There is no item"),
        ("2–1", "2–1"),
    ):
        if isinstance(keys, str):
            expect_refusal(keys, judge_runs.keys_of, project, words)
        else:
            assert judge_runs.keys_of(project, words) == keys


def test_what_a_judge_came_to_is_summed_over_all_it_was_asked(project: Project) -> None:
    judges.add(project, "a", base_url="http://127.0.0.1:1/v1", model="m")
    say(project, "a", "yyn---")
    whole = run_records.summed(run_records.totals(project), judges.named(project, "a").id)
    assert (whole.verdicts, dict(whole.missing), whole.spent_usd) == (3, {"invalid": 3}, None)
    assert judges.has_judged(project, whole.judge_id)
    assert not judges.has_judged(project, judges.BASELINE.id)


def test_a_vote_has_members_and_needs_no_endpoint(project: Project) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    vote = judges.named(project, "vote")
    assert derived_judges.members(project, vote) == ["baseline"]
    assert asyncio.run(derived_judges.test(project, "vote"))["ok"]
    expect_refusal("no endpoint settings", judges.change, project, vote.id, {"name": "x"})
    expect_refusal("calls no model", run, project, "vote", trials=2)
    for words, name, members in (
        ("already exists", "vote", ["baseline"]),
        ("needs members", "panel", []),
        ("There is no judge", "panel", ["nobody"]),
        ("not other votes", "panel", ["baseline", "vote"]),
    ):
        expect_refusal(words, derived_judges.add, project, name, members)


def test_a_run_is_told_by_its_lock_and_an_extraction_may_wait(project: Project) -> None:
    assert not run_records.under_way(project)
    with run_records.alone(project):
        assert run_records.under_way(project)
    assert not run_records.under_way(project)
    judge_runs.add(project, RunRequest("baseline", DRAWING))
    assert len(judge_runs.waiting(project)) == 1


ALPHA = RunRequest("baseline", systems=("Alpha",), items=("1",), budget_usd=2.5)
BETA = RunRequest("baseline", systems=("Beta",))
DRAWING = "researcherbench.claims.extract"


def test_orders_wait_in_turn_each_once_and_outlive_the_window(project: Project) -> None:
    first, second = judge_runs.add(project, ALPHA), judge_runs.add(project, BETA)
    expect_refusal("is already queued", judge_runs.add, project, replace(ALPHA, budget_usd=None))
    judge_runs.move(project, second.id, -1)
    judge_runs.move(project, second.id, -1)
    assert [one.order for one in judge_runs.waiting(project)] == [BETA, ALPHA]
    judge_runs.remove(project, second.id)
    assert judge_runs.waiting(project) == [first]
    expect_refusal("is no longer queued", judge_runs.remove, project, second.id)
    judge_runs.add(project, BETA)
    again = Project.open(project.path)
    assert [judge_runs.take(again) for _ in range(3)] == [ALPHA, BETA, None]


def test_what_cannot_be_carried_out_does_not_wait(project: Project) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    for order, words in (
        (RunRequest("nobody"), "There is no judge “nobody”"),
        (RunRequest("baseline", systems=("Gamma",)), "There is no system “Gamma”"),
        (RunRequest("baseline", "adra.efficiency"), "is computed"),
        (RunRequest("baseline", DRAWING, systems=("Gamma",)), "There is no system “Gamma”"),
        (RunRequest("vote", DRAWING), "A vote cannot extract"),
    ):
        expect_refusal(words, judge_runs.add, project, order)
        assert judge_runs.waiting(project) == []


def test_orders_of_a_judge_that_is_held_back_wait_on(project: Project) -> None:
    judges.add(project, "far", base_url="http://127.0.0.1:9/v1", model="tiny")
    far = RunRequest("far")
    for order in (far, BETA):
        judge_runs.add(project, order)
    assert judge_runs.take(project, without={"far"}) == BETA
    assert (judge_runs.take(project, without={"far"}), judge_runs.take(project)) == (None, far)


def offer(project: Project, name: str) -> judge_runs.ProtocolOffer:
    return next(one for one in judge_runs.offers(project) if one.name == name)


def test_protocols_are_offered_with_what_lacks(project: Project) -> None:
    result = judge_runs.offers(project)
    assert [one.name for one in result] == [
        name for name, protocol in PROTOCOLS.items() if not protocol.by_people
    ]
    assert [one.name for one in result if not one.by_model] == [
        "adra.retrieval",
        "adra.efficiency",
        "deepscholar.references",
        "arena.references",
        "arena.leakage",
    ]
    assert {one.name for one in result if one.together} == {
        "researcherbench.coverage",
        "adra.reasoning",
        "deepscholar.nuggets",
        "arena.checklist",
        "arena.keypoints",
        "arena.keypoints.common",
    }
    plan = offer(project, "adra.plan")
    assert (plan.words(), plan.lacks) == (
        "0 of 2 items are ready.", ("All 2 items lack a plan.", "All 2 items lack the plan of a response."),
    )  # fmt: skip
    (step,) = offer(project, "researcherbench.claims").steps
    assert (step.name, step.makes, step.without, step.alone, step.words()) == (
        DRAWING, ResponsePart.CLAIMS, 4, True, "4 of 4 reports are without their claims.",
    )  # fmt: skip
    items.add(project, "A third question without anything?")
    result = offer(project, "researcherbench.pairwise")
    assert (result.ready, result.items, result.lacks) == (2, 3, ("1 of 3 items lacks a response.",))


def test_drawn_parts_are_no_longer_missing(project: Project) -> None:
    item, response, _ = places(project)[0]
    claims = Claims(units=(Claim(text="Depth helps.", url="https://example.org/a"),))
    drawn_extracts.keep(project, (item, response), ResponsePart.CLAIMS, claims, IMPORT)
    result = offer(project, "researcherbench.claims")
    # The item's other report has none yet.
    assert (result.steps[0].without, result.ready) == (3, 0)
    words = {drawing.name: drawing.words() for drawing in judge_runs.drawings(project)}
    assert list(words) == list(EXTRACTIONS)
    assert (words[DRAWING], words["researcherbench.insights"]) == (
        "3 of 4 reports are without their claims.", "No item has a source with its text yet.",
    )  # fmt: skip


def test_everything_that_runs_has_a_title() -> None:
    drafts = (model_drafts.protocol_name(kind) for kind in model_drafts.OFFERED)
    for name in (*PROTOCOLS, *EXTRACTIONS, "respond.isolated", "contest|rounds=3", *drafts):
        assert judge_runs.title(name) != name
    assert judge_runs.title("gone.protocol") == "gone.protocol"


def cast(*values: str | None) -> list[derived_judges.MemberVote]:
    return [derived_judges.MemberVote(f"m{n}", value) for n, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("values", "members", "value", "cause"),
    [
        (("yes", "yes", "no"), 3, "yes", ""),
        (("no", "no", None), 3, "no", ""),
        (("first", "first", "first", "second", "tie"), 5, "first", ""),
        (("yes", "no"), 2, None, "A tie: m1 yes, m2 no."),
        (("first", "first", "second", "tie"), 4, None, "No majority"),
        (("first", "second", "tie"), 3, None, "A tie"),
        (("yes", None, None), 3, None, "Only 1 of 3 members gave a verdict: m1 yes, m2 nothing, m3 nothing."),
        (("yes",), 2, None, "Only 1 of 2"),
    ],
)
def test_the_value_of_more_than_half_of_the_votes_is_the_verdict_or_it_is_unclear_with_its_cause(
    values: tuple[str | None, ...], members: int, value: str | None, cause: str
) -> None:
    result = derived_judges.majority(cast(*values), members)
    assert (result.value, result.status) == (value, Status.OK if value else Status.UNCLEAR)
    assert result.cause.startswith(cause)
    assert all(vote.words() in result.rationale + result.cause for vote in cast(*values))


ORDINAL, NUMBER = numbers(0, 10, level=Level.ORDINAL), numbers(0, 10)


@pytest.mark.parametrize(
    ("scale", "values", "value"),
    [
        (ORDINAL, ("10", "2", "9"), "9"),
        (ORDINAL, ("2", "10", "10", "3"), None),
        (ORDINAL, ("2", "7", "7", "9"), "7"),
        (NUMBER, ("2", "10", None, "9"), "9"),
        (NUMBER, ("4", "6"), "5"),
        (NUMBER, ("4", "5"), None),
        (
            Scale(Level.ORDINAL, (Value("low", ""), Value("middle", ""), Value("high", ""))),
            ("high", "low", "middle"),
            "middle",
        ),
    ],
)
def test_the_median_of_ordered_votes_is_the_verdict(
    scale: Scale, values: tuple[str | None, ...], value: str | None
) -> None:
    result = derived_judges.middle(cast(*values), len(values), scale)
    assert (result.value, result.status) == (value, Status.OK if value else Status.UNCLEAR)
    assert ("the middle lies between" in result.cause.casefold()) is (value is None)
    assert all(vote.words() in result.rationale + result.cause for vote in cast(*values))


def test_a_median_and_a_majority_need_votes() -> None:
    assert derived_judges.middle(cast("3", None, None), 3, NUMBER).cause.startswith("Only 1 of 3 members")
    assert derived_judges.middle([], 3, NUMBER).status is Status.SKIPPED
    assert derived_judges.majority([], 3).status is Status.SKIPPED
    assert derived_judges.majority(cast(None, None), 2).status is Status.SKIPPED


def test_a_panel_counts_its_members_and_is_a_rater_like_any_other(
    project: Project, server: OddServer
) -> None:
    first, second, third = (text for text, _ in CRITERIA)
    for name, said in (("a", {first, second}), ("b", {first, third}), ("c", {first})):
        server.answer = answering(lambda words, said=said: "yes" if words in said else "no")
        add_judge(project, server, name, parameters=f'{{"user": "{name}"}}')
        run(project, name)
    asked = len(server.bodies)
    derived_judges.add(project, "panel", ["a", "b", "c"])
    ended = run(project, "panel")
    assert (ended["done"], ended["calls"], len(server.bodies)) == (12, 0, asked)
    rows = [row for row in results.rows(project, judges.named(project, "panel").id) if row.group == "all"]
    # Of the weights 3, 2 and 1 only the first is covered by a majority.
    assert [row.estimate.value for row in rows] == [0.5, 0.5]
    (rationale,) = sql.first(
        project, "SELECT rationale FROM judgement WHERE rationale LIKE '2 of 3%' ORDER BY rationale LIMIT 1"
    )
    assert rationale in ("2 of 3: a no, b yes, c no", "2 of 3: a yes, b no, c no")


def test_a_vote_is_counted_anew_when_its_members_have_said_more(project: Project, server: OddServer) -> None:
    for name in ("a", "b", "c"):
        add_judge(project, server, name)
    derived_judges.add(project, "panel", ["a", "b", "c"])
    run(project, "a")
    assert run(project, "panel")["missing"] == {"unclear": 12}
    run(project, "b")
    assert run(project, "panel")["missing"] == {}
    assert sql.first(project, "SELECT count(*) FROM judgement")[0] == 36


def test_the_trials_of_one_judge_vote_too(project: Project, server: OddServer) -> None:
    said = iter(["yes", "no", "yes"] * 12)
    server.answer = lambda body, number: answering(lambda words: next(said))(body, number)
    add_judge(project, server, "a")
    run(project, "a", trials=3, concurrency=1, systems=("Alpha",), items=("1",))
    derived_judges.add(project, "a, majority", ["a"])
    run(project, "a, majority", systems=("Alpha",), items=("1",))
    result = sql.rows(project, "SELECT value, rationale FROM judgement WHERE rationale LIKE '%trial%'")
    assert len(result) == 3
    assert all(words.count("trial") == 3 for _, words in result)


def test_a_vote_quotes_what_the_first_of_the_majority_quoted(project: Project, server: OddServer) -> None:
    quote = "compares the stability of training"
    server.script(completion(f'{{"quote": "{quote}", "rationale": "So.", "covered": "yes"}}'))
    for name in ("a", "b"):
        add_judge(project, server, name)
        run(project, name)
    derived_judges.add(project, "panel", ["a", "b"])
    run(project, "panel")
    question = "SELECT DISTINCT quote, quote_start FROM judgement WHERE rationale LIKE '2 of 2%'"
    assert [row[0] for row in sql.rows(project, question)] == [quote, quote]


@pytest.fixture
def charged(tmp_path: Path) -> Project:
    """Item 1: two criteria together in one call of 0.04, after one that failed and cost 0.02. Item 2: 0.01 and unknown.

    A second judge has used the first one's answer on item 2's first criterion.
    """
    charged = small_project(tmp_path)
    with charged.store.write() as db:
        for number in (1, 2):
            db.execute(
                insert(JUDGES).values(
                    id=f"judge-{number}", name=f"judge {number}", kind="endpoint", base_url="", model="m",
                    key_env="", parameters="{}", asking="{}", retired=False,
                )
            )  # fmt: skip
        db.execute(
            insert(RUN).values(
                id="run-1", judge_id="judge-1", protocol="researcherbench.coverage", state="done", scope="{}",
                snapshot="{}", prompt_sha256="", total=0, done=0, started_at=now(), by="",
            )
        )  # fmt: skip
    call(charged, "c-0", "k-1", 0.02, Status.API_ERROR)
    for number, cost in ((1, 0.04), (2, 0.01), (3, None)):
        call(charged, f"c-{number}", f"k-{number}", cost)
    first, second = items.ids(charged)
    for item, place, answer in ((first, 0, "c-1"), (first, 1, "c-1"), (second, 0, "c-2"), (second, 1, "c-3")):
        judged(charged, item, place, answer)
    judged(charged, second, 0, "c-2", "judge-2")
    return charged


def call(
    charged: Project,
    name: str,
    key: str,
    cost: float | None,
    status: Status = Status.OK,
    tokens: int | None = 5,
) -> None:
    row = Call(
        id=name, run_id="run-1", judge_id="judge-1", cache_key=key, status=status, cost_usd=cost,
        tokens_output=tokens,
    )  # fmt: skip
    tree = row.model_dump(mode="json")
    with charged.store.write() as db:
        db.execute(insert(CALL).values(**tree, at=now(), sha256=call_hash(tree)))


def judged(charged: Project, item: str, place: int, call_id: str, judge: str = "judge-1") -> None:
    question = (
        "SELECT r.id FROM response r JOIN system s ON s.id = r.system_id WHERE item_id = ? AND name = 'Alpha'"
    )
    (response,) = sql.first(charged, question, [item])
    # The row's id is made of what is judged; a second judge's needs another trial.
    add_judgement(
        charged, item_id=item, response_id=response, unit_id=units_of(charged, item)[place], call_id=call_id,
        artifact_id="", rater_id=judge, trial=int(judge[-1]),
    )  # fmt: skip


def by(charged: Project, what: str, **only: str) -> dict[str, tuple[int, float | None, int]]:
    return {
        one.name: (one.judgements, one.cost_usd, one.unpriced)
        for one in forecasts.costs(charged, what, **only)
    }


def test_a_request_without_an_answer_counts_at_the_usual_cost_and_one_without_tokens_is_unknown(
    charged: Project,
) -> None:
    call(charged, "c-9", "k-9", 9.0, Status.SKIPPED, None)
    (result,) = forecasts.costs(charged, "judge")
    # Three that were answered cost 0.07 together.
    assert (result.cost_usd, result.calls, result.guessed) == pytest.approx((0.07 + 0.07 / 3, 5, 1))
    assert "1 without an answer at the usual cost" in result.remark()
    call(charged, "c-10", "k-10", 9.0, tokens=None)
    (after,) = forecasts.costs(charged, "judge")
    assert (after.cost_usd, after.unpriced, after.guessed) == (result.cost_usd, result.unpriced + 1, 1)


def test_costs_are_shared_out(charged: Project) -> None:
    expect_refusal("purpose, judge, run, question, system, criterion", forecasts.costs, charged, "moon")
    result = forecasts.costs(charged, "criterion")
    words = forecasts.unit_words(charged, result)
    assert {(one.item, words[one.item, one.protocol, one.name]) for one in result} == {
        (item, text) for item in "12" for text, _ in CRITERIA[:2]
    }
    assert {each: by(charged, each) for each in ("judge", "run", "purpose", "question")} == {
        "judge": {"judge 1": (4, pytest.approx(0.07), 1)},
        "run": {"run-1": (5, pytest.approx(0.07), 1)},
        "purpose": {"judging": (4, pytest.approx(0.07), 1)},
        "question": {"1": (2, pytest.approx(0.06), 0), "2": (3, pytest.approx(0.01), 1)},
    }
    first, second = (units_of(charged, item) for item in items.ids(charged))
    assert {(cost.item, cost.name): cost.cost_usd for cost in result} == {
        ("1", first[0]): pytest.approx(0.03), ("1", first[1]): pytest.approx(0.03),
        ("2", second[0]): pytest.approx(0.01), ("2", second[1]): None,
    }  # fmt: skip
    assert by(charged, "system", judge="judge 2") == {"Alpha": (1, pytest.approx(0.005), 0)}


ORDERS = [
    RunRequest(
        "a “judge”\nof two lines", "adra.plan", ("Beta",), ("1", "—"), 3, 0.5, 1.25, batch=True, models=("m",)
    ),
    attacking.order(
        attacking.AttackRequest("distant", attacks=("padding", "injection"), size=4), concurrency=2
    ),
    pages.FetchRequest(refresh=True, reader="https://reader.example/"),
    pages.PagesFolder("pages of others"),
    derived_judges.ProbeRequest("distant"),
]


@pytest.mark.parametrize("order", ORDERS, ids=list(orders.KINDS))
def test_an_order_comes_out_of_its_line_as_it_went_in(order) -> None:
    asked = orders.ChildRequest(Path("a b.goldsmith"), order, "someone", estimate=True)
    assert "\n" not in asked.line()
    again = orders.read(asked.line())
    assert (again, type(again.order)) == (asked, type(order))


@pytest.mark.parametrize(
    "line", ["", "cancel\n", "[]", "{}", '{"kind": "run"}', '{"kind": "run", "order": {"trials": "x"}}']
)
def test_what_is_no_request_is_refused(line: str) -> None:
    expect_refusal("window's own", orders.read, line)
