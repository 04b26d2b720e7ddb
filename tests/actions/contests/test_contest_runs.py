"""A judge compares tasks: what is asked, kept, resumed, refused, and how the two orders become one value."""

import asyncio
import json
import re
from typing import Any

import pytest

from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.contests.contest_runs import ContestSettings
from annotator.actions.judges import judges
from annotator.actions.judging import missing
from annotator.actions.orders import orders
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.contest import SCORES_DISAGREE
from annotator.domain.texts.refusal import Refusal
from tests.actions.contests.contest_project import contest_project
from tests.judging.odd_server import OddServer, at_work, completion

WORD = re.compile(r"Part \d+")
SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}
LOW = {**SCORES, "novelty": 1}


def reply(better: str = "first", confidence: float = 0.8, low: str = "second") -> dict[str, Any]:
    high = {"first": "second", "second": "first"}[low]
    return {high: SCORES, low: LOW, "reason": "So.", "better": better, "confidence": confidence}


def parts(body: dict[str, Any]) -> tuple[str, str]:
    first, _, second = body["messages"][1]["content"].partition("The second task:")
    first = first.partition("The first task:")[2]
    return WORD.findall(first)[0], WORD.findall(second)[0]


@pytest.fixture
def project(tmp_path):
    return contest_project(tmp_path)


@pytest.fixture
def server(project):
    with at_work(OddServer()) as server:
        server.answer = lambda body, number: completion(json.dumps(reply()))
        judges.add(project, "distant", base_url=server.url, model="test-model")
        yield server


def carried_out(project, judge="distant", **how):
    return asyncio.run(
        orders.carry_out(project, RunRequest(judge, ContestSettings(**how).name, concurrency=4))
    )


def shown(project, judge="distant"):
    rater = contest_rows.rater_named(project, judge)
    return contest_rows.showings(project, rater.id)


def test_every_pair_is_asked_in_both_orders_and_the_first_place_alone_wins_nothing(project, server):
    ended = carried_out(project, rounds=2)
    assert (ended["state"], ended["done"], ended["total"]) == ("done", 24, 24)
    assert len(server.bodies) == 24
    found = contest_standings.report(project, "distant", "3", draws=10)
    # Always the first with .8: (.8 + 1 − .8) / 2 is one half, and nobody gains.
    assert {row.elo for row in found.ranking.rows} == {1200.0}
    assert found.ranking.matches == 12


def test_in_one_order_half_the_calls_are_made(project, server):
    assert carried_out(project, rounds=2, one_order=True)["done"] == 12
    found = contest_standings.report(project, "distant", "3", draws=10)
    assert {round(row.elo, 1) for row in found.ranking.rows} > {1200.0}


def test_rounds_are_counted_in_all_and_what_was_answered_is_not_asked_again(project, server):
    carried_out(project, rounds=1)
    before = shown(project)
    assert carried_out(project, rounds=1)["done"] == 12
    assert len(server.bodies) == 12
    carried_out(project, rounds=3)
    assert len(server.bodies) == 36
    assert [one for one in shown(project) if one.round == 1] == before


def test_a_judge_sees_words_and_difficulty_and_nothing_else(project, server):
    carried_out(project, rounds=1)
    said = "".join(body["messages"][1]["content"] for body in server.bodies)
    assert "Difficulty: basic" in said
    assert "s1" not in said
    assert "Seminar" not in said
    assert "1200" not in said


def test_a_confidence_of_three_tenths_is_refused_by_name_and_changes_nothing(project, server):
    server.answer = lambda body, number: completion(json.dumps(reply(confidence=0.3)))
    ended = carried_out(project, rounds=1, one_order=True)
    assert ended["missing"] == {"invalid": 6}
    (one, *_) = shown(project)
    assert (one.value, one.confidence, one.status) == (None, None, "invalid")
    assert "confidence of 0.3" in one.cause
    found = contest_standings.report(project, "distant", "3", draws=10)
    assert {row.elo for row in found.ranking.rows} == {1200.0}
    assert len(found.lacking) == 6
    assert "6 comparisons missing (6 invalid)" in " ".join(contest_standings.words(found))
    (sheet,) = [one for one in contest_standings.sheets(found) if one.key == "missing"]
    assert len(sheet.lines) == 6


def test_what_was_missing_is_asked_again_by_the_next_run(project, server):
    answer = server.answer
    server.answer = lambda body, number: completion(json.dumps(reply(confidence=0.3)))
    carried_out(project, rounds=1, one_order=True)
    server.answer = answer
    assert carried_out(project, rounds=1, one_order=True)["missing"] == {}
    assert all(one.came for one in shown(project))


def test_a_match_lacks_while_one_of_its_orders_does(project, server):
    def answer(body, number):
        first, second = parts(body)
        return completion(json.dumps(reply(confidence=0.3 if first < second else 0.8)))

    server.answer = answer
    carried_out(project, rounds=1)
    found = contest_standings.report(project, "distant", "3", draws=10)
    assert (found.ranking.matches, len(found.lacking)) == (0, 6)


def test_scores_that_disagree_with_the_winner_are_flagged_and_count(project, server):
    server.answer = lambda body, number: completion(json.dumps(reply("first", low="first")))
    carried_out(project, rounds=1, one_order=True)
    assert {one.flags for one in shown(project)} == {SCORES_DISAGREE}
    found = contest_standings.report(project, "distant", "3", draws=10)
    assert (found.disagreeing, found.ranking.matches) == (6, 6)


def test_near_the_cut_each_round_goes_by_the_ratings_before_it(project, server):
    better = lambda body: "first" if parts(body)[0] > parts(body)[1] else "second"  # noqa: E731
    server.answer = lambda body, number: completion(json.dumps(reply(better(body), 0.95)))
    carried_out(project, rounds=2)
    ended = carried_out(project, rounds=4, near=3)
    assert ended["state"] == "done"
    later = [
        one for one in contest_rows.meetings(project, contest_rows.rater_named(project).id) if one.round > 2
    ]
    assert {one.round for one in later} == {3, 4}
    assert len(later) < 12


def test_the_baseline_compares_without_a_network_and_is_called_one(project):
    ended = carried_out(project, "baseline", rounds=2)
    assert (ended["state"], ended["kind"]) == ("done", "baseline")
    found = contest_standings.report(project, "baseline", "3", draws=10)
    assert found.ranking.matches == 12
    assert "baseline" in contest_standings.words(found)[0]


def test_an_estimate_asks_nobody_and_counts_what_a_run_asks(project, server):
    order = RunRequest("distant", ContestSettings(rounds=3).name)
    found = orders.forecast(project, order)
    assert (found.units, found.calls, server.bodies) == (36, 36, [])
    carried_out(project, rounds=3)
    assert len(server.bodies) == 36
    assert orders.forecast(project, order).calls == 0


def test_a_contest_left_unfinished_is_resumed_with_the_others(project, server):
    order = RunRequest("distant", ContestSettings(rounds=2, seed=5).name, budget_usd=0.0)
    judge = judges.named(project, "distant")
    run = run_records.new_run(project, judge, order, ())
    with run_records.alone(project):
        assert run
    assert orders.unfinished(project, "distant").protocol == order.protocol


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"rounds": 0}, "0 rounds"),
        ({"rounds": 5_000}, "5000 rounds"),
        ({"near": 12}, "no cut below 12 of 12"),
    ],
)
def test_what_cannot_be_held_is_refused(project, how, words):
    with pytest.raises(Refusal, match=words):
        carried_out(project, "baseline", **how)
    assert contest_rows.raters(project) == []


def test_a_judge_that_has_compared_keeps_its_model(project, server):
    carried_out(project, rounds=1)
    judge = judges.named(project, "distant")
    with pytest.raises(Refusal, match="already judged"):
        judges.change(project, judge.id, {"model": "other"})


def test_what_was_not_compared_is_among_what_is_missing(project, server):
    server.answer = lambda body, number: completion(json.dumps(reply(confidence=0.3)))
    carried_out(project, rounds=1, one_order=True)
    found = missing.lines(project, judge="distant")
    assert (len(found), missing.by_cause(found)) == (6, {"invalid": 6})
    assert {found[0].item[:2], found[0].unit_id[:2]} <= {"s1", "s2"}
    assert "confidence of 0.3" in found[0].cause
    assert missing.lines(project, judge="distant", status="timeout") == []
