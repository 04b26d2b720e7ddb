"""Contests of tasks: rounds that judges run, and matches that people label."""

import asyncio
import json
import re
from itertools import takewhile
from typing import Any

import pytest

from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.contests.contest_rows import ContestSettings, RankedPairs
from annotator.actions.judges import judges
from annotator.actions.judging import reparse
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.people import new_project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.judges.contest import SCORES_DISAGREE
from tests.actions.contests.contest_project import contest_project, two_tasks
from tests.judging.odd_server import OddServer, at_work, completion
from tests.projects.refusals import expect_refusal

PROJECT = contest_project

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
    return contest_rows.showings(project, contest_rows.rater_named(project, judge).id)


def test_pairs_are_asked_in_both_orders_without_names(project, server):
    ended = carried_out(project, rounds=2)
    assert (ended["state"], ended["done"], ended["total"]) == ("done", 24, 24)
    assert len(server.bodies) == 24
    result = contest_standings.report(project, "distant", "3", draws=10)
    # Always the first with .8: (.8 + 1 − .8) / 2 is one half, and nobody gains.
    assert {row.elo for row in result.ranking.rows} == {1200.0}
    assert result.ranking.matches == 12
    told = "".join(body["messages"][1]["content"] for body in server.bodies)
    assert "Difficulty: basic" in told
    assert not [word for word in ("s1", "Seminar", "1200") if word in told]
    judge = judges.named(project, "distant")
    expect_refusal("already judged", judges.change, project, judge.id, {"model": "other"})


def test_in_one_order_half_the_calls_are_made_and_what_was_missing_is_asked_again(project, server):
    answer = server.answer
    server.answer = lambda body, number: completion(json.dumps(reply(confidence=0.3)))
    assert carried_out(project, rounds=1, one_order=True)["missing"] == {"invalid": 6}
    (one, *_) = shown(project)
    assert (one.value, one.confidence, one.status) == (None, None, "invalid")
    assert "confidence of 0.3" in one.cause
    result = contest_standings.report(project, "distant", "3", draws=10)
    assert {row.elo for row in result.ranking.rows} == {1200.0}
    assert len(result.lacking) == 6
    assert "6 comparisons missing (6 invalid)" in " ".join(contest_standings.words(result))
    (sheet,) = [one for one in contest_standings.sheets(result) if one.key == "missing"]
    assert len(sheet.lines) == 6
    result = reparse.lines(project, judge="distant")
    assert (len(result), reparse.by_cause(result)) == (6, {"invalid": 6})
    assert {result[0].item[:2], result[0].unit_id[:2]} <= {"s1", "s2"}
    assert "confidence of 0.3" in result[0].cause
    assert reparse.lines(project, judge="distant", status="timeout") == []
    server.answer = answer
    ended = carried_out(project, rounds=2, one_order=True)
    assert (ended["done"], ended["missing"]) == (12, {})
    assert all(one.came for one in shown(project))
    result = contest_standings.report(project, "distant", "3", draws=10)
    assert {round(row.elo, 1) for row in result.ranking.rows} > {1200.0}


def test_rounds_are_counted_in_all_and_what_was_answered_is_not_asked_again(project, server):
    carried_out(project, rounds=1)
    before = shown(project)
    assert carried_out(project, rounds=1)["done"] == 12
    assert len(server.bodies) == 12
    carried_out(project, rounds=3)
    assert len(server.bodies) == 36
    assert [one for one in shown(project) if one.round == 1] == before


def test_a_match_lacks_while_one_of_its_orders_does(project, server):
    def answer(body, number):
        first, second = parts(body)
        return completion(json.dumps(reply(confidence=0.3 if first < second else 0.8)))

    server.answer = answer
    carried_out(project, rounds=1)
    result = contest_standings.report(project, "distant", "3", draws=10)
    assert (result.ranking.matches, len(result.lacking)) == (0, 6)


def test_scores_that_disagree_with_the_winner_are_flagged_and_count(project, server):
    server.answer = lambda body, number: completion(json.dumps(reply("first", low="first")))
    carried_out(project, rounds=1, one_order=True)
    assert {one.flags for one in shown(project)} == {SCORES_DISAGREE}
    result = contest_standings.report(project, "distant", "3", draws=10)
    assert (result.disagreeing, result.ranking.matches) == (6, 6)


def test_near_the_cut_each_round_goes_by_the_ratings_before_it(project, server):
    better = lambda body: "first" if parts(body)[0] > parts(body)[1] else "second"  # noqa: E731
    server.answer = lambda body, number: completion(json.dumps(reply(better(body), 0.95)))
    carried_out(project, rounds=2)
    assert carried_out(project, rounds=4, near=3)["state"] == "done"
    later = [
        meeting
        for meeting in contest_rows.meetings(project, contest_rows.rater_named(project).id)
        if meeting.round > 2
    ]
    assert {one.round for one in later} == {3, 4}
    assert len(later) < 12


def test_the_baseline_compares_without_a_network_and_is_called_one(project):
    ended = carried_out(project, "baseline", rounds=2)
    assert (ended["state"], ended["kind"]) == ("done", "baseline")
    result = contest_standings.report(project, "baseline", "3", draws=10)
    assert result.ranking.matches == 12
    assert "baseline" in contest_standings.words(result)[0]


def test_an_estimate_asks_nobody_and_an_order_left_unfinished_is_resumed(project, server):
    order = RunRequest("distant", ContestSettings(rounds=3).name)
    result = orders.forecast(project, order)
    assert (result.units, result.calls, server.bodies) == (36, 36, [])
    carried_out(project, rounds=3)
    assert len(server.bodies) == 36
    assert orders.forecast(project, order).calls == 0
    order = RunRequest("distant", ContestSettings(rounds=4, seed=5).name, budget_usd=0.0)
    run_records.new_run(project, judges.named(project, "distant"), order, ())
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
    expect_refusal(words, carried_out, project, "baseline", **how)
    assert contest_rows.raters(project) == []


def said(project, better="first", step=3):
    pair = contest_rows.next_pair(project)
    contest_rows.say(project, pair.first.id, pair.second.id, better, step, 2.0)
    return pair


def mine(project):
    return contest_rows.showings(project, people.someone(project).id)


def judged_by(project, folder, *lines):
    """Matches that came in by a file."""
    (folder / "m.csv").write_text(
        "\n".join(["first,second,winner,confidence,rater", *lines]), encoding="utf-8"
    )
    contest_rows.import_matches(project, folder / "m.csv")


@pytest.mark.parametrize(("step", "confidence"), [(1, 0.5), (2, 0.6), (3, 0.7), (4, 0.8), (5, 0.95)])
def test_five_steps_are_five_confidences(tmp_path, step, confidence):
    project = two_tasks(tmp_path)
    pair = said(project, "second", step)
    (row,) = mine(project)
    assert (row.first, row.value, row.confidence) == (pair.first.id, "second", confidence)


def test_every_pair_of_a_round_comes_once(project, tmp_path):
    pairs = [said(project) for _ in range(6)]
    assert [(pair.done, pair.left) for pair in pairs[:2]] == [(0, 6), (1, 5)]
    assert len({task for pair in pairs for task in (pair.first.id, pair.second.id)}) == 12
    assert contest_rows.next_pair(project).left == 0
    # Without two tasks there is no pair.
    assert contest_rows.next_pair(new_project(tmp_path / "none.goldsmith"), top=3) == RankedPairs(0)


def better_by_number(project, top=None):
    """Rank the next pair, the lower number always the better; the pair, or the end."""
    pair = contest_rows.next_pair(project, top=top)
    if not isinstance(pair, RankedPairs):
        better = "first" if pair.first.id < pair.second.id else "second"
        contest_rows.say(project, pair.first.id, pair.second.id, better, 4, 1.0)
    return pair


def test_pairs_come_as_long_as_neighbours_among_the_best_overlap(project):
    for _ in range(6):
        better_by_number(project)
    further = contest_rows.next_pair(project, top=3)
    assert (further.done, further.left, further.top, further.open) == (6, 0, 3, 3)
    more = list(
        takewhile(
            lambda pair: not isinstance(pair, RankedPairs), (better_by_number(project, 3) for _ in range(400))
        )
    )
    assert contest_rows.next_pair(project, top=3) == RankedPairs(6 + len(more), 3)
    assert (
        len(contest_rows.pairs(project, [f"t{number:02}" for number in range(1, 13)])) == 6 + len(more) <= 66
    )


def test_a_further_pair_was_never_ranked(project):
    for _ in range(6):
        said(project)
    seen = [frozenset((showing.first, showing.second)) for showing in mine(project)]
    agreed = len(seen)
    # How long it goes on hangs on who met whom; a few pairs come at least.
    for _ in range(12):
        if isinstance(contest_rows.next_pair(project), RankedPairs):
            break
        pair = said(project)
        assert pair.left == 0
        seen.append(frozenset((pair.first.id, pair.second.id)))
    assert len(seen) == len(set(seen)) > agreed + 1


def test_pairs_that_a_judge_compared_come_next_but_the_one_that_is_read_stays(project, tmp_path):
    shown = contest_rows.next_pair(project)
    at = shown.first.id, shown.second.id
    judged_by(project, tmp_path, "t01,t02,t01,0.8,m", "t03,t04,t04,0.8,m")
    stays = contest_rows.next_pair(project, at)
    assert (stays.first.id, stays.second.id) == at
    contest_rows.say(project, *at, "first", 3, 2.0)
    pairs = [said(project) for _ in range(2)]
    judged = {frozenset(("t01", "t02")), frozenset(("t03", "t04"))}
    assert {frozenset((pair.first.id, pair.second.id)) for pair in pairs} == judged
    (result,) = contest_standings.report(project, "m", "3", 10).beside.values()
    assert result.accuracy.n == 2


def test_what_came_from_a_file_is_not_taken_back(project, tmp_path):
    before = said(project)
    judged_by(project, tmp_path, f"t01,t02,t01,0.8,{people.someone(project).alias}")
    history.undo(project)
    (left,) = mine(project)
    assert {left.first, left.second} == {"t01", "t02"} != {before.first.id, before.second.id}
    expect_refusal("nothing to undo", history.undo, project)


def test_what_is_shown_is_kept_until_ranked_and_can_be_taken_back(project):
    shown = contest_rows.next_pair(project).first.shown
    assert "Difficulty: " in shown
    assert not [word for word in ("s1", "Seminar") if word in shown]
    expect_refusal("is gone", contest_rows.say, project, "t01", "t99", "first", 3, 2.0)
    pair = said(project)
    (row,) = mine(project)
    history.undo(project)
    again = contest_rows.next_pair(project)
    assert (again.first.id, again.second.id, again.done) == (pair.first.id, pair.second.id, 0)
    history.redo(project)
    assert mine(project) == [row]


@pytest.mark.parametrize(("better", "step"), [("tie", 3), ("first", 0), ("first", 6)])
def test_another_answer_is_refused(project, better, step):
    expect_refusal("no answer", said, project, better, step)
    assert contest_rows.raters(project) == []
