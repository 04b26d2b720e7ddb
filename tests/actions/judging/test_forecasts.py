"""What an order would cost, before any call."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import prompts
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.prices import FILE, tokens_in
from tests.judging.odd_server import Odd, OddServer, error
from tests.servers.served import JUDGE
from tests.storage import sql

pytestmark = pytest.mark.usefixtures("distant_judge")


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
    found = estimate(project)
    assert server.bodies == []
    assert (found.units, found.calls, found.in_journal, found.price_as_of) == (12, 12, 0, "2026-05-01")
    assert (found.tokens_output, found.assumed) == (12 * forecasts.TOKENS_A_UNIT, True)
    # At 1 and 2 dollars per thousand tokens.
    assert found.cost_usd == pytest.approx((found.tokens_input + 2 * found.tokens_output) / 1000)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    sent = sum(tokens_in(message["content"]) for body in server.bodies for message in body["messages"])
    assert found.tokens_input == pytest.approx(sent, rel=0.02)


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("share", [None, 0.34, 0.67, 1.0])
def test_a_budget_can_be_used_from_the_smallest_told_on(
    project: Project, server: OddServer, priced: None, share: float | None, at_once: int
) -> None:
    found = estimate(project)
    assert found.smallest_usd is not None
    assert found.cost_usd is not None
    budget = found.smallest_usd if share is None else share * found.cost_usd
    ended = asyncio.run(orders.carry_out(project, RunRequest(JUDGE, budget_usd=budget, concurrency=at_once)))
    assert ended["judged"] >= (1 if share is None else int(share * found.units))
    assert (ended["cost_usd"], ended["calls"]) == (pytest.approx(0.14 * ended["judged"]), ended["judged"])
    assert ended["cost_usd"] <= budget


def test_a_budget_that_asks_nothing_is_refused_before_the_start(
    project: Project, server: OddServer, priced: None
) -> None:
    smallest = estimate(project).smallest_usd or 0.0
    with pytest.raises(Refusal, match=r"asks nothing: one question is likely to cost \$"):
        asyncio.run(orders.carry_out(project, RunRequest(JUDGE, budget_usd=smallest / 2)))
    assert (server.bodies, run_records.runs(project)) == ([], [])


def test_what_is_judged_costs_nothing_more(project: Project, priced: None) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    found = estimate(project)
    assert (found.units, found.calls, found.cost_usd) == (0, 0, 0)


def test_answers_in_the_journal_are_counted_apart_and_replies_measured(
    project: Project, priced: None
) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    with project.store.write():
        sql.alter(project, "DELETE FROM judgement")
    found = estimate(project)
    assert (found.units, found.calls, found.in_journal, found.cost_usd) == (12, 0, 12, 0)
    assert found.cost_usd_without_journal is not None
    assert found.cost_usd_without_journal > 0
    again = estimate(project, trials=2)
    # The server says that every reply had 20 tokens.
    assert (again.calls, again.tokens_output, again.assumed) == (12, 12 * 20, False)


def test_several_together_take_fewer_calls(project: Project, priced: None) -> None:
    single, together = estimate(project), estimate(project, together=3)
    assert (together.units, together.calls) == (12, 4)
    assert together.tokens_input < single.tokens_input


def test_an_unknown_price_is_said_to_be_unknown(project: Project) -> None:
    found = estimate(project)
    assert found.cost_usd is None
    assert "not known" in found.words()[-1]


def test_the_baseline_costs_nothing(project: Project) -> None:
    found = asyncio.run(orders.foreseen(project, RunRequest("baseline")))
    assert (found.units, found.calls, found.cost_usd) == (12, 0, 0.0)
    assert "calls no model" in found.words()[0]


def test_the_whole_order_is_priced_as_if_nothing_were_cached(project: Project, priced: None) -> None:
    before = estimate(project)
    assert (before.total, before.calls_afresh) == (12, 12)
    assert before.cost_usd_afresh == before.cost_usd
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    after = estimate(project)
    assert (after.units, after.total, after.calls_afresh, after.cost_usd) == (0, 12, 12, 0)
    # By the length of the server's replies: 20 tokens each, at 2 dollars per thousand.
    assert after.cost_usd_afresh == pytest.approx(before.tokens_input / 1000 + 12 * 20 * 2 / 1000)


def test_the_time_goes_by_how_long_the_judge_took(project: Project) -> None:
    assert estimate(project).seconds is None
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    with project.store.write():
        sql.alter(project, "UPDATE call SET latency_s = 2.0")
    # Twelve more questions of two seconds each, three at a time.
    assert estimate(project, trials=2, concurrency=3).seconds == pytest.approx(12 * 2 / 3)


def test_an_extraction_is_priced_too(project: Project, priced: None) -> None:
    order = RunRequest(JUDGE, "researcherbench.claims.extract")
    found = asyncio.run(orders.foreseen(project, order))
    assert (found.units, found.total, found.calls, found.things) == (4, 4, 4, "reports")
    assert found.cost_usd is not None
    assert found.cost_usd > 0


def test_an_edited_wording_is_what_is_counted(project: Project) -> None:
    usual = estimate(project).tokens_input
    prompts.write(
        project,
        "researcherbench.coverage",
        "# system\nBe brief.\n\n# user\n{{question}}{{criterion}}{{report}}",
    )
    assert estimate(project).tokens_input < usual


def test_a_form_that_must_be_told_in_words_is_among_the_tokens(project: Project, server: OddServer) -> None:
    usual, said = estimate(project).tokens_input, server.answer

    def turned_down(body: dict[str, Any], number: int) -> Odd:
        schema = body.get("response_format", {}).get("type") == "json_schema"
        return error(400, "response_format json_schema is not supported") if schema else said(body, number)

    server.answer = turned_down
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    sent = [body for body in server.bodies if body["response_format"]["type"] == "json_object"]
    assert len(sent) == 12
    tokens = sum(tokens_in(message["content"]) for body in sent for message in body["messages"])
    assert tokens > 1.2 * usual
    assert estimate(project, trials=2).tokens_input == pytest.approx(tokens, rel=0.02)


def told(units: int, calls: int, cost: float) -> list[str]:
    known = ("judge", "protocol", "model", units, calls, 0, 10, 5, False, cost, cost, "2026-01-01")
    return forecasts.CostEstimate(*known, cost_usd_afresh=cost, things="reports").words()


def test_one_is_told_as_one_and_a_trifle_is_no_nothing() -> None:
    one, many = told(1, 1, 0.004), told(1200, 2, 0.5)
    assert one[0] == "1 report by 1 call, of which 0 are answered in the journal."
    assert one[2].startswith("Under $0.01 at the prices of 2026-01-01;")
    assert one[2].endswith(", under $0.01.")
    assert many[0].startswith("1,200 reports by 2 calls,")
    assert many[2].startswith("About $0.50 at")
    assert told(1, 1, 0.0)[2].startswith("About $0.00 at")
