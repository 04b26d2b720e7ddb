"""How a judge is let to work: several together, several times, with weights, and on from where it was stopped."""

import asyncio
import json
import os
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import RunState
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer, completion, error
from tests.projects.small_project import CRITERIA
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


# Several together


def test_units_asked_together_are_judged_by_a_judge_of_its_own(project: Project, server: OddServer) -> None:
    ended = run(project, together=2)
    assert (ended["done"], ended["total"], ended["missing"]) == (ALL, ALL, {})
    # Three criteria of each of four reports, two in a call: a call of two and one of one.
    assert Counter(len(asked_about(body)) for body in server.bodies) == {2: 4, 1: 4}
    assert {name for (name,) in stored(project, "r.name")} == {"distant, 2 together"}
    assert [judge.name for judge in judges.all_of(project)] == ["baseline", "distant", "distant, 2 together"]
    assert run(project)["judged_now"] == ALL
    assert Counter(name for (name,) in stored(project, "r.name")) == {
        "distant": ALL,
        "distant, 2 together": ALL,
    }


def test_even_a_unit_left_over_is_asked_in_the_way_of_the_others(project: Project, server: OddServer) -> None:
    run(project, together=2)
    assert all("The criteria:" in body["messages"][1]["content"] for body in server.bodies)


def test_the_judge_asked_together_can_be_named_itself(project: Project, server: OddServer) -> None:
    run(project, together=2, systems=("Alpha",))
    ended = run(project, "distant, 2 together", systems=("Beta",))
    assert (ended["judged_now"], len(server.bodies)) == (6, 8)
    with pytest.raises(Refusal, match="is asked 2 together"):
        run(project, "distant, 2 together", together=3)


def test_units_are_shuffled_by_the_seed_that_the_run_keeps(project: Project, server: OddServer) -> None:
    run(project, together=3)
    orders = {tuple(words for _, words in asked_about(body)) for body in server.bodies}
    assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(text for text, _ in CRITERIA))}
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
    with project.store.write():
        sql.alter(project, "DELETE FROM judgement WHERE unit_id = ?", [asked_about(first)[1][0]])
    server.bodies.clear()
    server.answer = answering(lambda words: "yes")
    ended = run(project, together=3, concurrency=1)
    assert (ended["done"], scope(project)["seed"]) == (ALL, seed)
    assert asked_about(server.bodies[0]) == [asked_about(first)[1]]
    assert sum(len(asked_about(body)) for body in server.bodies) == ALL - 2


def test_an_answer_that_leaves_a_unit_out_is_asked_for_again_by_the_next_run(
    project: Project, server: OddServer
) -> None:
    def forgetful(body: dict[str, Any], number: int) -> Any:
        whole = json.loads(
            json.loads(answering(lambda words: "no")(body, number).body)["choices"][0]["message"]["content"]
        )
        return completion(json.dumps({"answers": whole["answers"][1:]}))

    server.answer = forgetful
    first = run(project, together=3)
    assert first["missing"] == {"invalid": 4}
    server.answer = answering(lambda words: "no")
    assert run(project, together=3)["missing"] == {}
    assert {value for (value,) in stored(project, "value")} == {"no"}


def test_the_baseline_is_not_asked_together_nor_several_times(project: Project) -> None:
    for how in ({"together": 2}, {"trials": 2}):
        with pytest.raises(Refusal, match="calls no model"):
            run(project, "baseline", **how)


# Several times


def test_each_trial_is_asked_anew_and_kept_apart(project: Project, server: OddServer) -> None:
    said = iter(["yes", "no"] * ALL)
    server.answer = answering(lambda words: next(said))
    ended = run(project, trials=2, concurrency=1)
    assert (ended["total"], len(server.bodies)) == (2 * ALL, 2 * ALL)
    assert Counter(trial for (trial,) in stored(project, "trial")) == {1: ALL, 2: ALL}
    assert {value for (value,) in stored(project, "value")} == {"yes", "no"}


def test_more_trials_go_on_from_those_that_are_there(project: Project, server: OddServer) -> None:
    run(project)
    plan = judge_runs.plan(project, RunRequest(JUDGE, trials=3))
    assert (plan.total, plan.to_do) == (3 * ALL, 2 * ALL)
    assert run(project, trials=3)["judged_now"] == 2 * ALL


# Weights


def test_a_judge_is_told_the_weight_where_its_settings_say_so(project: Project, server: OddServer) -> None:
    run(project)
    assert not any("Its weight:" in body["messages"][1]["content"] for body in server.bodies)
    server.bodies.clear()
    add_judge(project, server, "weighing", asking='{"weights_shown": true}')
    run(project, "weighing")
    assert all("Its weight:" in body["messages"][1]["content"] for body in server.bodies)
    kept = next(judge for judge in judges.all_of(project) if judge.name == "weighing")
    assert kept.asked.weights_shown


def test_settings_of_asking_that_do_not_fit_are_refused(project: Project, server: OddServer) -> None:
    with pytest.raises(Refusal, match="does not fit"):
        add_judge(project, server, "odd", asking='{"together": 101}')


# Going on, and what is refused


def test_the_last_unfinished_run_is_known_with_all_that_it_was_asked(
    project: Project, server: OddServer
) -> None:
    server.script(error(401, "bad key"))
    run(project, together=2, trials=2, systems=("Alpha",), items=("1",))
    found = run_records.last_unfinished(project, "distant, 2 together")
    assert found.order(concurrency=3) == RunRequest(
        "distant, 2 together", systems=("Alpha",), items=("1",), together=2, trials=2, concurrency=3
    )
    with pytest.raises(Refusal, match="No run of “baseline”"):
        run_records.last_unfinished(project, "baseline")


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
    with pytest.raises(Refusal, match="No run was left unfinished"):
        asyncio.run(orders.carry_out(project, orders.unfinished(project)))


def test_a_budget_holds_for_the_whole_run_also_when_it_is_gone_on_with(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[float, int]] = []
    from annotator.judging.calls import budget

    class Watched(budget.Budget):
        def __init__(self, limit_usd: float | None, spent_usd: float, **rest: int) -> None:
            seen.append((spent_usd, rest["longest_output"]))
            super().__init__(limit_usd, spent_usd, **rest)

    monkeypatch.setattr(budget, "Budget", Watched)
    server.answer = lambda body, number: (
        error(401, "bad key") if number else answering(lambda words: "yes")(body, number)
    )
    run(project, concurrency=1)
    with project.store.write():
        sql.alter(project, "UPDATE call SET cost_usd = 0.25 WHERE status = 'ok'")
    server.answer = answering(lambda words: "yes")
    run(project)
    assert seen == [(0.0, 0), (0.25, 20)]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"protocol": "nowhere"}, "There is no protocol"),
        ({"systems": ("Gamma",)}, "There is no system “Gamma”"),
        ({"items": ("9",)}, "There is no item “9”"),
        ({"together": -1}, "at least one"),
    ],
)
def test_an_order_that_cannot_be_carried_out_is_refused(
    project: Project, how: dict[str, Any], words: str
) -> None:
    with pytest.raises(Refusal, match=words):
        run(project, **how)
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
    with pytest.raises(Refusal, match="follows the judge"):
        judges.change(project, made.id, {"model": "other"})


def test_an_order_that_nothing_comes_of_says_what_lacks_and_leaves_no_run(project: Project) -> None:
    with pytest.raises(Refusal, match="nothing to judge by “Claims") as refused:
        run(project, protocol="researcherbench.claims")
    assert "No claims are drawn from 4 of 4 reports yet." in refused.value.todo
    assert run_records.runs(project) == []


# A whole paper


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
    kept = judge_runs.plan(project, order)
    assert kept.to_do == foreseen.units - ended["done"]
    assert asyncio.run(orders.carry_out(project, order))["state"] == "done"
    assert judge_runs.plan(project, order).to_do == 0


def test_a_paper_of_which_nothing_is_there_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match=r"Nothing of .* can be judged yet"):
        asyncio.run(orders.carry_out(project, RunRequest(JUDGE, "arena")))
