"""How a judge is let to work: together, several times, and on from where it stopped; its cost; what did not come."""

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import derived_judges, forecasts, judge_runs, reparse
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.results import result_raters
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Call, RunState
from annotator.judging.calls.prices import FILE, Budget, tokens_in
from annotator.judging.calls.probe import FILLER_CHARACTERS
from annotator.judging.calls.reply_parts import reread
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.adra_project import say
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import CRITERIA
from tests.servers.served import JUDGE, add_judge, answering, asked_about, by_schema
from tests.storage import sql

pytestmark = pytest.mark.usefixtures("distant_judge")
# Two items with three criteria, two systems.
ALL = 12


def run(project: Project, judge: str = JUDGE, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(project, RunRequest(judge, **how)))


def stored(project: Project, columns: str) -> list[tuple[Any, ...]]:
    question = f"SELECT {columns} FROM judgement j JOIN judge r ON r.id = j.rater_id ORDER BY j.rowid"
    return sql.rows(project, question)


def scope(project: Project) -> dict[str, Any]:
    return dict(json.loads(sql.first(project, "SELECT scope FROM run")[0]))


def test_units_asked_together_are_judged_by_a_judge_of_its_own(project: Project, server: OddServer) -> None:
    ended = run(project, together=2)
    assert (ended["done"], ended["total"], ended["missing"]) == (ALL, ALL, {})
    # Three criteria of each of four reports, two in a call: a call of two and one of one.
    assert Counter(len(asked_about(body)) for body in server.bodies) == {2: 4, 1: 4}
    # Even a unit left over is asked in the way of the others.
    assert all("The criteria:" in body["messages"][1]["content"] for body in server.bodies)
    assert {name for (name,) in stored(project, "r.name")} == {"distant, 2 together"}
    assert [judge.name for judge in judges.all_of(project)] == ["baseline", "distant", "distant, 2 together"]
    assert run(project)["judged_now"] == ALL
    assert Counter(name for (name,) in stored(project, "r.name")) == {
        "distant": ALL,
        "distant, 2 together": ALL,
    }


def test_the_judge_asked_together_can_be_named_itself(project: Project, server: OddServer) -> None:
    run(project, together=2, systems=("Alpha",))
    ended = run(project, "distant, 2 together", systems=("Beta",))
    assert (ended["judged_now"], len(server.bodies)) == (6, 8)
    expect_refusal("is asked 2 together", run, project, "distant, 2 together", together=3)


def test_units_are_shuffled_by_the_seed_that_the_run_keeps(project: Project, server: OddServer) -> None:
    run(project, together=3)
    asked = {tuple(words for _, words in asked_about(body)) for body in server.bodies}
    assert {tuple(sorted(words)) for words in asked} == {tuple(sorted(text for text, _ in CRITERIA))}
    assert scope(project)["together"] == 3
    assert isinstance(scope(project)["seed"], int)


def test_a_run_gone_on_with_asks_only_for_the_units_that_are_missing(
    project: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    server.answer = lambda body, number: daily if number else answering(lambda words: "yes")(body, number)
    stopped = run(project, together=3, concurrency=1)
    assert (stopped["state"], stopped["done"]) == ("interrupted", 3)
    seed, first = scope(project)["seed"], server.bodies[0]
    sql.alter(project, "DELETE FROM judgement WHERE unit_id = ?", [asked_about(first)[1][0]])
    server.bodies.clear()
    server.answer = answering(lambda words: "yes")
    assert (run(project, together=3, concurrency=1)["done"], scope(project)["seed"]) == (ALL, seed)
    assert (asked_about(server.bodies[0]), sum(len(asked_about(body)) for body in server.bodies)) == (
        [asked_about(first)[1]], ALL - 2,
    )  # fmt: skip


def forgetful(body: dict[str, Any], number: int) -> Odd:
    """A no for every unit but the first."""
    whole = json.loads(answering(lambda words: "no")(body, number).body)["choices"][0]["message"]["content"]
    return completion(json.dumps({"answers": json.loads(whole)["answers"][1:]}))


def test_an_answer_that_leaves_a_unit_out_is_asked_for_again_by_the_next_run(
    project: Project, server: OddServer
) -> None:
    server.answer = forgetful
    assert run(project, together=3)["missing"] == {"invalid": 4}
    server.answer = answering(lambda words: "no")
    assert run(project, together=3)["missing"] == {}
    assert {value for (value,) in stored(project, "value")} == {"no"}


def test_each_trial_is_asked_anew_and_kept_apart(project: Project, server: OddServer) -> None:
    for how in ({"together": 2}, {"trials": 2}):
        expect_refusal("calls no model", run, project, "baseline", **how)
    said = iter(["yes"] * ALL + ["no"] * 2 * ALL)
    server.answer = answering(lambda words: next(said))
    run(project, concurrency=1)
    plan = judge_runs.plan(project, RunRequest(JUDGE, trials=3))
    assert (plan.total, plan.to_do) == (3 * ALL, 2 * ALL)
    assert run(project, trials=3, concurrency=1)["judged_now"] == 2 * ALL
    assert Counter(stored(project, "trial, value")) == {(1, "yes"): ALL, (2, "no"): ALL, (3, "no"): ALL}


def test_a_judge_is_told_the_weight_where_its_settings_say_so(project: Project, server: OddServer) -> None:
    run(project)
    assert not any("Its weight:" in body["messages"][1]["content"] for body in server.bodies)
    server.bodies.clear()
    add_judge(project, server, "weighing", asking='{"weights_shown": true}')
    run(project, "weighing")
    assert all("Its weight:" in body["messages"][1]["content"] for body in server.bodies)
    assert next(judge for judge in judges.all_of(project) if judge.name == "weighing").settings.weights_shown


def test_the_last_unfinished_run_is_known_with_all_that_it_was_asked(
    project: Project, server: OddServer
) -> None:
    server.script(error(401, "bad key"))
    run(project, together=2, trials=2, systems=("Alpha",), items=("1",))
    result = run_records.last_unfinished(project, "distant, 2 together")
    assert result.order(concurrency=3) == RunRequest(
        "distant, 2 together", systems=("Alpha",), items=("1",), together=2, trials=2, concurrency=3
    )
    expect_refusal("No run of “baseline”", run_records.last_unfinished, project, "baseline")


def test_going_on_passes_over_reports_and_drafts_that_were_left_unfinished(
    project: Project, server: OddServer
) -> None:
    server.script(error(401, "bad key"))
    run(project, systems=("Alpha",), items=("1",))
    for protocol in ("respond.end-to-end", "proposal.researcherbench.insights"):
        later = run_records.open_run(project, judges.named(project, JUDGE), RunRequest(JUDGE, protocol), ())
        run_records.close_run(project, later.id, RunState.INTERRUPTED)
    server.answer = answering(lambda words: "yes")
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project)))
    assert (ended["done"], ended["total"], ended["state"]) == (3, 3, "done")
    expect_refusal("No run was left unfinished", orders.unfinished, project)


def test_a_budget_holds_for_the_whole_run_also_when_it_is_gone_on_with(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
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
    run(project, concurrency=1)
    sql.alter(project, "UPDATE call SET cost_usd = 0.25 WHERE status = 'ok'")
    server.answer = answering(lambda words: "yes")
    run(project)
    assert seen == [(0.0, 0), (0.25, 20)]


def test_an_order_that_cannot_be_carried_out_is_refused(project: Project) -> None:
    for how, words in (
        ({"protocol": "nowhere"}, "There is no protocol"),
        ({"systems": ("Gamma",)}, "There is no system “Gamma”"),
        ({"items": ("9",)}, "There is no item “9”"),
        ({"together": -1}, "at least one"),
    ):
        expect_refusal(words, run, project, **how)
        assert run_records.runs(project) == []


def test_a_judge_made_from_another_follows_it_and_has_its_key(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sk-other-key-1")
    run(project, together=2, systems=("Alpha",))
    base = judges.named(project, JUDGE)
    judges.change(project, base.id, {"key_env": "OTHER_KEY", "parameters": '{"temperature": 0}'})
    kept_keys.allow("OTHER_KEY", server.url)
    server.bodies.clear()
    server.headers.clear()
    run(project, together=2, systems=("Beta",))
    assert {body.get("temperature") for body in server.bodies} == {0}
    assert all("sk-other-key-1" in str(headers) for headers in server.headers)
    made = judges.named(project, "distant, 2 together")
    expect_refusal("follows the judge", judges.change, project, made.id, {"model": "other"})


def test_orders_that_nothing_comes_of(project: Project, server: OddServer) -> None:
    lacking = "nothing to judge by “Claims.*No claims are drawn from 4 of 4 reports yet"
    expect_refusal(lacking, run, project, protocol="researcherbench.claims")
    assert run_records.runs(project) == []
    expect_refusal(
        r"Nothing of .* can be judged yet",
        asyncio.run,
        orders.carry_out(project, RunRequest(JUDGE, "arena")),
    )
    expect_refusal("does not fit", add_judge, project, server, "odd", asking='{"together": 101}')


def test_a_whole_paper_stops_where_it_is_told_to_and_goes_on_with_what_is_left(
    project: Project, server: OddServer
) -> None:
    server.answer = lambda body, number: completion(by_schema(body))
    order = RunRequest(JUDGE, "researcherbench", concurrency=1)
    foreseen = asyncio.run(orders.foreseen(project, order))
    assert foreseen.units == judge_runs.plan(project, order).to_do
    reading, writing = os.pipe()

    def tell(line: dict[str, Any]) -> None:
        if line["event"] == "progress" and line["done"]:
            os.write(writing, b"cancel\n")

    with open(reading, encoding="utf-8") as listen:
        ended = asyncio.run(orders.carry_out(project, order, tell=tell, listen=listen))
        os.close(writing)
    assert (ended["state"], ended["total"]) == ("cancelled", foreseen.units)
    assert 0 < ended["done"] < foreseen.units
    assert judge_runs.plan(project, order).to_do == foreseen.units - ended["done"]
    assert asyncio.run(orders.carry_out(project, order))["state"] == "done"
    assert judge_runs.plan(project, order).to_do == 0


FIRST, SECOND, THIRD = (text for text, _ in CRITERIA)


def mixed(body: dict[str, Any], number: int) -> Any:
    """A yes for the first criterion, a refusal for the second, “covered” for the third."""
    ((_, words),) = asked_about(body)
    if words == SECOND:
        return completion(None, refusal="I will not judge this.")
    return answering(lambda _: "covered" if words == THIRD else "yes")(body, number)


def again(project: Project, **how: Any) -> reparse.RereadReport:
    return asyncio.run(reparse.again(project, JUDGE, **how))


def test_what_did_not_come_is_listed_and_narrowed(project: Project, server: OddServer) -> None:
    server.answer = mixed
    ended = run(project)
    result = reparse.lines(project)
    assert reparse.by_cause(result) == ended["missing"] == {"invalid": 4, "refused": 4}
    line = next(line for line in result if line.status == "refused")
    assert (line.judge, line.item, line.system, line.run_id) == (JUDGE, "1", "Alpha", ended["run"])
    assert "refused" in line.cause
    assert len(reparse.lines(project, status="refused")) == 4
    assert len(reparse.lines(project, run=ended["run"][:8])) == 8
    assert reparse.lines(project, judge="baseline") == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"judge": "nobody"}, "There is no judge"),
        ({"run": "zzz"}, "No run begins"),
        ({"status": "ok"}, "is not a cause"),
    ],
)
def test_what_is_not_there_to_narrow_by_is_refused(project: Project, how: dict[str, str], words: str) -> None:
    expect_refusal(words, reparse.lines, project, **how)


def test_a_reply_that_can_be_read_today_becomes_a_verdict_without_a_call(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = mixed
    run(project)
    asked = len(server.bodies)
    assert again(project) == reparse.RereadReport(JUDGE, read=4, won=0, changed=0, unread=4)

    def lenient(call: Call, reply: type[BaseModel]) -> BaseModel:
        raw = call.raw.replace('"covered": "covered"', '"covered": "yes"')
        return reread(call.model_copy(update={"raw": raw}), reply)

    monkeypatch.setattr("annotator.judging.calls.asking.reread", lenient)
    assert again(project) == reparse.RereadReport(JUDGE, 4, 4, 4)
    assert (len(server.bodies), reparse.by_cause(reparse.lines(project))) == (asked, {"refused": 4})
    assert checking.check(project).problems == []


def test_reading_everything_again_changes_nothing_that_was_read_well(
    project: Project, server: OddServer
) -> None:
    run(project)
    before = sql.rows(project, "SELECT * FROM judgement ORDER BY id")
    assert again(project, everything=True) == reparse.RereadReport(JUDGE, 12, 0, 0)
    assert sql.rows(project, "SELECT * FROM judgement ORDER BY id") == before


def test_units_of_one_reply_are_read_together(project: Project, server: OddServer) -> None:
    server.answer = forgetful
    run(project, together=3)
    result = asyncio.run(reparse.again(project, f"{JUDGE}, 3 together"))
    # The replies are readable, and still leave one unit of three out.
    assert (result.read, result.won, result.changed, result.unread) == (12, 0, 0, 4)


def test_the_reply_to_the_request_for_repair_is_the_one_that_counts(
    project: Project, server: OddServer
) -> None:
    prose, good = completion("It is covered, I think."), answering(lambda words: "yes")
    server.answer = lambda body, number: prose if len(body["messages"]) == 2 else good(body, number)
    run(project, systems=("Alpha",), items=("1",))
    assert again(project, everything=True) == reparse.RereadReport(JUDGE, 3, 0, 0)


def page(project: Project, server: OddServer) -> int:
    server.script(error(404, "The model does not exist"))
    asyncio.run(derived_judges.test(project, JUDGE))
    return len(server.bodies[-1]["messages"][1]["content"])


def test_the_page_of_a_test_is_as_long_as_usual_or_as_the_longest_report(
    project: Project, server: OddServer
) -> None:
    assert FILLER_CHARACTERS <= page(project, server) < 90_000
    sql.alter(project, "UPDATE response SET text = ?", ["x" * 90_000])
    assert page(project, server) >= 90_000


def test_a_judge_that_failed_its_test_runs_only_when_told_to_and_its_figures_say_so(
    project: Project, server: OddServer
) -> None:
    page(project, server)
    asked, order = len(server.bodies), RunRequest(JUDGE, together=1)
    expect_refusal("failed its last test.*--use-anyway", asyncio.run, orders.carry_out(project, order))
    assert judge_runs.look(project, order).refused
    assert len(server.bodies) == asked
    judge = judges.named(project, JUDGE)
    where = sql.first(project, "SELECT item_id, id FROM response")
    say(project, "researcherbench.coverage", *where, {"c": "yes"}, rater_id=judge.id)
    kept_keys.accept(project, judge)
    assert not judge_runs.look(project, order).refused
    (rater,) = result_raters.raters(project, "researcherbench.coverage")
    assert rater.remark.startswith(f"{JUDGE} failed its test: ")
    kept_keys.keep_test(project, judge, "")
    assert result_raters.raters(project, "researcherbench.coverage")[0].remark == ""


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"as_of": "2026-05-01", "models": {"test-model": {"input": 1000, "output": 2000}}}
    (tmp_path / FILE).write_text(json.dumps(table), "utf-8")
    monkeypatch.setattr("annotator.judging.calls.prices.user_data", lambda: tmp_path)


def estimate(project: Project, **how: Any) -> forecasts.CostEstimate:
    return asyncio.run(orders.foreseen(project, RunRequest(JUDGE, **how)))


def test_an_estimate_counts_the_calls_and_their_tokens_and_asks_nothing(
    project: Project, server: OddServer, priced: None
) -> None:
    result = estimate(project)
    assert server.bodies == []
    assert (result.units, result.calls, result.in_journal, result.price_as_of) == (12, 12, 0, "2026-05-01")
    assert (result.tokens_output, result.assumed) == (12 * forecasts.TOKENS_A_UNIT, True)
    # At 1 and 2 dollars per thousand tokens.
    assert result.cost_usd == pytest.approx((result.tokens_input + 2 * result.tokens_output) / 1000)
    run(project)
    sent = sum(tokens_in(message["content"]) for body in server.bodies for message in body["messages"])
    assert result.tokens_input == pytest.approx(sent, rel=0.02)


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("share", [None, 0.67])
def test_a_budget_can_be_used_from_the_smallest_told_on(
    project: Project, server: OddServer, priced: None, share: float | None, at_once: int
) -> None:
    result = estimate(project)
    assert result.smallest_usd is not None
    assert result.cost_usd is not None
    budget = result.smallest_usd if share is None else share * result.cost_usd
    ended = asyncio.run(orders.carry_out(project, RunRequest(JUDGE, budget_usd=budget, concurrency=at_once)))
    assert ended["judged"] >= (1 if share is None else int(share * result.units))
    assert (ended["cost_usd"], ended["calls"]) == (pytest.approx(0.14 * ended["judged"]), ended["judged"])
    assert ended["cost_usd"] <= budget


def test_a_budget_that_asks_nothing_is_refused_before_the_start(
    project: Project, server: OddServer, priced: None
) -> None:
    smallest = estimate(project).smallest_usd or 0.0
    expect_refusal(
        r"asks nothing: one question is likely to cost \$",
        asyncio.run,
        orders.carry_out(project, RunRequest(JUDGE, budget_usd=smallest / 2)),
    )
    assert (server.bodies, run_records.runs(project)) == ([], [])


def test_estimates_know_what_is_judged_and_what_lies_in_the_journal(project: Project, priced: None) -> None:
    extraction = asyncio.run(orders.foreseen(project, RunRequest(JUDGE, "researcherbench.claims.extract")))
    assert (extraction.units, extraction.total, extraction.calls, extraction.things) == (4, 4, 4, "reports")
    assert extraction.cost_usd > 0
    before, together = estimate(project), estimate(project, together=3)
    assert (together.units, together.calls) == (12, 4)
    assert together.tokens_input < before.tokens_input
    assert (before.total, before.calls_afresh, before.cost_usd_afresh) == (12, 12, before.cost_usd)
    run(project)
    after = estimate(project)
    assert (after.units, after.calls, after.total, after.calls_afresh, after.cost_usd) == (0, 0, 12, 12, 0)
    # By the length of the server's replies: 20 tokens each, at 2 dollars per thousand.
    assert after.cost_usd_afresh == pytest.approx(before.tokens_input / 1000 + 12 * 20 * 2 / 1000)
    sql.alter(project, "DELETE FROM judgement")
    result = estimate(project)
    assert (result.units, result.calls, result.in_journal, result.cost_usd) == (12, 0, 12, 0)
    assert result.cost_usd_without_journal > 0
    again = estimate(project, trials=2)
    # The server says that every reply had 20 tokens.
    assert (again.calls, again.tokens_output, again.assumed) == (12, 12 * 20, False)


def test_estimates_without_prices(project: Project) -> None:
    result = estimate(project)
    assert result.cost_usd is None
    assert "not known" in result.words()[-1]
    result = asyncio.run(orders.foreseen(project, RunRequest("baseline")))
    assert (result.units, result.calls, result.cost_usd) == (12, 0, 0.0)
    assert "calls no model" in result.words()[0]
    usual = estimate(project).tokens_input
    prompts.write(
        project,
        "researcherbench.coverage",
        "# system\nBe brief.\n\n# user\n{{question}}{{criterion}}{{report}}",
    )
    assert estimate(project).tokens_input < usual


def test_the_time_goes_by_how_long_the_judge_took(project: Project) -> None:
    assert estimate(project).seconds is None
    run(project)
    sql.alter(project, "UPDATE call SET latency_s = 2.0")
    # Twelve more questions of two seconds each, three at a time.
    assert estimate(project, trials=2, concurrency=3).seconds == pytest.approx(12 * 2 / 3)


def test_a_form_that_must_be_told_in_words_is_among_the_tokens(project: Project, server: OddServer) -> None:
    usual, said = estimate(project).tokens_input, server.answer

    def turned_down(body: dict[str, Any], number: int) -> Odd:
        schema = body.get("response_format", {}).get("type") == "json_schema"
        return error(400, "response_format json_schema is not supported") if schema else said(body, number)

    server.answer = turned_down
    run(project)
    sent = [body for body in server.bodies if body["response_format"]["type"] == "json_object"]
    assert len(sent) == 12
    tokens = sum(tokens_in(message["content"]) for body in sent for message in body["messages"])
    assert tokens > 1.2 * usual
    assert estimate(project, trials=2).tokens_input == pytest.approx(tokens, rel=0.02)


@pytest.mark.parametrize(
    ("cost", "words"), [(0.004, "Under $0.01"), (0.5, "About $0.50"), (0.0, "About $0.00")]
)
def test_a_trifle_is_not_told_as_nothing(cost: float, words: str) -> None:
    known = ("judge", "protocol", "model", 1, 1, 0, 10, 5, False, cost, cost, "2026-01-01")
    said = forecasts.CostEstimate(*known, cost_usd_afresh=cost, things="reports").words()
    assert said[0] == "1 report by 1 call, of which 0 are answered in the journal."
    assert said[2].startswith(f"{words} at the prices of 2026-01-01;")
