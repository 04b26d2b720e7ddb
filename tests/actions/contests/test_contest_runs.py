"""Contests of tasks: rounds that judges run, matches that people label, and standings of imported matches."""

import asyncio
import json
import re
from itertools import takewhile
from typing import Any

import pytest

from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.judging import reparse
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.actions.undo import history
from annotator.domain.judges.contest import SCORES_DISAGREE
from tests.actions.contests.contest_project import add_seminar, contest_project, task, two_tasks
from tests.common import expect_refusal
from tests.judging.odd_server import OddServer, at_work, completion

PROJECT = contest_project

WORD = re.compile(r"Part \d+")
SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}


def reply(better: str = "first", confidence: float = 0.8, low: str = "second") -> dict[str, Any]:
    high = {"first": "second", "second": "first"}[low]
    return {
        high: SCORES,
        low: {**SCORES, "novelty": 1},
        "reason": "So.",
        "better": better,
        "confidence": confidence,
    }


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
        orders.carry_out(project, RunRequest(judge, contest_rows.ContestSettings(**how).name, concurrency=4))
    )


def shown(project, judge="distant"):
    return contest_rows.showings(project, contest_rows.rater_named(project, judge).id)


def test_pairs_are_asked_in_both_orders_without_names(project, server):
    ended = carried_out(project, rounds=2)
    assert (ended["state"], ended["done"], ended["total"], len(server.bodies)) == ("done", 24, 24, 24)
    result = contest_standings.report(project, "distant", "3", draws=10)
    # Always the first with .8: (.8 + 1 − .8) / 2 is one half, and nobody gains.
    assert ({row.elo for row in result.ranking.rows}, result.ranking.matches) == ({1200.0}, 12)
    told = "".join(body["messages"][1]["content"] for body in server.bodies)
    assert [word for word in ("Difficulty: basic", "s1", "Seminar", "1200") if word in told] == [
        "Difficulty: basic"
    ]
    expect_refusal(
        "already judged", judges.change, project, judges.named(project, "distant").id, {"model": "other"}
    )


def test_in_one_order_half_the_calls_are_made_and_what_was_missing_is_asked_again(project, server):
    answer = server.answer
    server.answer = lambda body, number: completion(json.dumps(reply(confidence=0.3)))
    assert carried_out(project, rounds=1, one_order=True)["missing"] == {"invalid": 6}
    (one, *_) = shown(project)
    assert (one.value, one.confidence, one.status) == (None, None, "invalid")
    assert "confidence of 0.3" in one.cause
    result = contest_standings.report(project, "distant", "3", draws=10)
    assert ({row.elo for row in result.ranking.rows}, len(result.lacking)) == ({1200.0}, 6)
    (sheet,) = [one for one in contest_standings.sheets(result) if one.key == "missing"]
    assert len(sheet.lines) == 6
    result = reparse.lines(project, judge="distant")
    assert (len(result), reparse.by_cause(result)) == (6, {"invalid": 6})
    assert {result[0].item[:2], result[0].unit_id[:2]} <= {"s1", "s2"}
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
    assert (len(server.bodies), [one for one in shown(project) if one.round == 1]) == (36, before)


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
        meeting.round
        for meeting in contest_rows.meetings(project, contest_rows.rater_named(project).id)
        if meeting.round > 2
    ]
    assert (set(later), len(later) < 12) == ({3, 4}, True)


def test_the_baseline_compares_without_a_network_and_is_called_one(project):
    ended = carried_out(project, "baseline", rounds=2)
    assert (ended["state"], ended["kind"]) == ("done", "baseline")
    result = contest_standings.report(project, "baseline", "3", draws=10)
    assert result.ranking.matches == 12
    assert "baseline" in contest_standings.words(result)[0]


def test_an_estimate_asks_nobody_and_an_order_left_unfinished_is_resumed(project, server):
    order = RunRequest("distant", contest_rows.ContestSettings(rounds=3).name)
    result = orders.forecast(project, order)
    assert (result.units, result.calls, server.bodies) == (36, 36, [])
    carried_out(project, rounds=3)
    assert len(server.bodies) == 36
    assert orders.forecast(project, order).calls == 0
    order = RunRequest("distant", contest_rows.ContestSettings(rounds=4, seed=5).name, budget_usd=0.0)
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
    assert contest_rows.next_pair(
        people.new_project(tmp_path / "none.goldsmith"), top=3
    ) == contest_rows.RankedPairs(0)


def better_by_number(project, top=None):
    """Rank the next pair, the lower number always the better; the pair, or the end."""
    pair = contest_rows.next_pair(project, top=top)
    if not isinstance(pair, contest_rows.RankedPairs):
        contest_rows.say(
            project,
            pair.first.id,
            pair.second.id,
            ("first" if pair.first.id < pair.second.id else "second"),
            4,
            1.0,
        )
    return pair


def test_pairs_come_as_long_as_neighbours_among_the_best_overlap(project):
    for _ in range(6):
        better_by_number(project)
    further = contest_rows.next_pair(project, top=3)
    assert (further.done, further.left, further.top, further.open) == (6, 0, 3, 3)
    more = list(
        takewhile(
            lambda pair: not isinstance(pair, contest_rows.RankedPairs),
            (better_by_number(project, 3) for _ in range(400)),
        )
    )
    assert contest_rows.next_pair(project, top=3) == contest_rows.RankedPairs(6 + len(more), 3)
    assert (
        len(contest_rows.pairs(project, [f"t{number:02}" for number in range(1, 13)])) == 6 + len(more) <= 66
    )


def test_pairs_that_a_judge_compared_come_next_but_the_one_that_is_read_stays(project, tmp_path):
    shown = contest_rows.next_pair(project)
    at = shown.first.id, shown.second.id
    imported(project, tmp_path, "t01,t02,t01,0.8,m", "t03,t04,t04,0.8,m")
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
    imported(project, tmp_path, f"t01,t02,t01,0.8,{people.someone(project).alias}")
    history.undo(project)
    (left,) = mine(project)
    assert {left.first, left.second} == {"t01", "t02"} != {before.first.id, before.second.id}
    expect_refusal("nothing to undo", history.undo, project)


def test_what_is_shown_is_kept_until_ranked_and_can_be_taken_back(project):
    shown = contest_rows.next_pair(project).first.shown
    assert [word for word in ("Difficulty: ", "s1", "Seminar") if word in shown] == ["Difficulty: "]
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


HEAD = "first,second,winner,confidence,rater"


def imported(project, tmp_path, *lines, name="matches.csv"):
    (tmp_path / name).write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return contest_rows.import_matches(project, tmp_path / name)


def elos(project, *, rater="", top="1"):
    return {
        row.id: round(row.elo, 4) for row in contest_standings.report(project, rater, top, 10).ranking.rows
    }


@pytest.mark.parametrize(
    ("lines", "ratings"),
    [
        (["t01,t02,t01,0.8,m"], {"t01": 1209.6, "t02": 1190.4}),
        (["t01,t02,t01,0.8,m"] * 2, {"t01": 1218.3167, "t02": 1181.6833}),
        (["s1-t01,s1-t02,s1-t02,1,m"], {"t02": 1216.0, "t01": 1184.0}),
        (["t02,t01,t01,0.5,m"], {"t01": 1200.0, "t02": 1200.0}),
        (["t01,t02,t01,.55,m"], {"t01": 1201.6, "t02": 1198.4}),
    ],
)
def test_imported_matches_give_the_printed_ratings_once(tmp_path, lines, ratings):
    project = two_tasks(tmp_path)
    assert (imported(project, tmp_path, *lines).matches, elos(project)) == (len(lines), ratings)
    assert imported(project, tmp_path, *lines, name="copy.csv").again
    assert elos(project) == ratings


def test_a_line_that_does_not_fit_is_refused_and_nothing_is_imported(project, tmp_path):
    for line, words in (
        ("t01,t02,t01,0.3,m", r"row 3: A confidence of 0\.3"),
        ("t01,t02,t01,nan,m", "row 3: there is no confidence"),
        ("t01,t02,t01,inf,m", "A confidence of inf"),
        ("t01,t02,,0.8,m", "row 3: there is no winner"),
        ("t01,t02,t01,much,m", r"“much” is no confidence"),
        ("t01,t99,t01,0.8,m", r"“t99” \(second\) is no task"),
        ("t01,t01,t01,0.8,m", "meets itself"),
        ("t01,t02,t03,0.8,m", "neither of the two"),
        ("t01,t02,t01,0.8,", "the rater has no name"),
    ):
        assert "Nothing was imported" in str(
            expect_refusal(words, imported, project, tmp_path, "t01,t02,t01,0.8,m", line)
        )
        assert contest_rows.raters(project) == []


@pytest.mark.parametrize("mark", [";", "\t"])
def test_a_spreadsheets_own_csv_is_read(project, tmp_path, mark):
    lines = [HEAD.split(","), ["t01", "t02", "t01", "0,8", "m"], [""]]
    (tmp_path / "own.csv").write_text("\r\n".join(mark.join(line) for line in lines), "utf-8-sig")
    assert contest_rows.import_matches(project, tmp_path / "own.csv").matches == 1
    assert elos(project)["t01"] == 1209.6


def test_what_is_written_gives_the_same_ratings_elsewhere(tmp_path):
    (tmp_path / "a").mkdir()
    project, other = contest_project(tmp_path), contest_project(tmp_path / "a")
    imported(project, tmp_path, *LOUD, "t01,t02,t02,0.55,m", "t07,t08,t08,0.5,m", "t03,t01,t03,1,=gpt")
    assert contest_rows.write_matches(project, tmp_path / "out.csv") == 6
    assert contest_rows.write_matches(project, tmp_path / "one.csv", "m") == 5
    assert contest_rows.import_matches(other, tmp_path / "out.csv").raters == {"m": 5, "=gpt": 1}
    assert elos(other, rater="m") == elos(project, rater="m")
    nobody = tmp_path / "no.csv", "nobody"
    expect_refusal("has compared no tasks", contest_rows.write_matches, project, *nobody)


def test_a_file_without_matches_is_refused_and_tasks_are_named(project, tmp_path):
    expect_refusal("has no matches", imported, project, tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    expect_refusal("no column “first”", contest_rows.import_matches, project, tmp_path / "other.csv")
    assert contest_rows.named(project, "s2-t01").id == contest_rows.named(project, "t07").id == "t07"
    expect_refusal("“t99” is no task", contest_rows.named, project, "t99")
    expect_refusal("No tasks have been compared", contest_standings.report, project)
    imported(project, tmp_path, "t01,t02,t01,0.8,m")
    expect_refusal("“13” of 12 tasks", contest_standings.report, project, top="13")
    expect_refusal("“x” has compared no tasks", contest_standings.report, project, "x")


def test_people_stand_beside_a_judge_over_the_pairs_of_both(project, tmp_path):
    alias = people.people(project)[0].alias
    judged = (
        "t01,t02,t01,0.8", "t03,t04,t04,0.8", "t05,t06,t05,0.6", "t07,t08,t07,0.9", "t09,t10,t09,0.8",
    )  # fmt: skip
    by_hand = "t02,t01,t01,0.8", "t03,t04,t04,0.7", "t05,t06,t06,0.6", "t07,t08,t07,0.5"
    imported(project, tmp_path, *(f"{one},m" for one in judged), *(f"{one},{alias}" for one in by_hand))
    # Without a name the standings are by whoever compared most.
    assert [(rater.name, rater.showings) for rater in contest_rows.raters(project)] == [("m", 5), (alias, 4)]
    report = contest_standings.report(project, "", "3", 10)
    assert (report.rater.name, report.tree()["draws"]) == ("m", 10)
    result = report.beside[alias]
    # Right on two of three; the fourth is a tie of the person's.
    assert (result.accuracy.value, result.accuracy.n, result.ties, result.brier.value) == (
        pytest.approx(2 / 3), 3, 1, pytest.approx((0.04 + 0.04 + 0.36) / 3),
    )  # fmt: skip
    assert (result.calibration.value, result.ratings.n) == pytest.approx(((0.4 + 0.6) / 3, 8))
    # What people compare takes no calls.
    tree = contest_standings.report(project, alias, "3").tree()
    assert (tree["calls_near_the_cut"], tree["comparisons_near_the_cut"] > 0) == (0, True)


def test_standings_have_draws_and_a_cut_of_any_size(project, tmp_path):
    assert result_views.show(project, "contest", {}).sheets == ()
    imported(project, tmp_path, "t01,t02,t01,0.8,m", "t03,t04,t04,0.8,m")
    sheet = result_views.show(project, "contest", {"top": "5"}).sheets[0]
    assert [line.cells[1].words for line in sheet.lines[:2]] == ["s1-t01", "s1-t04"]
    expect_refusal("“13” of 12 tasks", result_views.show, project, "contest", {"top": "13"})


def chosen(project, top, *, per_seminar=None, wanted=()):
    result = contest_standings.report(project, "", str(top), 10)
    limits, decided = contest_standings.quotas(per_seminar, wanted), contest_standings.decisions(project)
    return {
        one.task: one for one in contest_standings.chosen(result.ranking, result.tasks, top, limits, decided)
    }


def kept(project, top, **limits):
    return [task for task, one in chosen(project, top, **limits).items() if one.kept]


def keep(project, *told, **limits):
    """Items are made of the tasks that are chosen; the ids of the new ones."""
    tasks = {task.id: task for task in contest_rows.tasks(project)}
    return contest_standings.keep_tasks(project, list(chosen(project, *told, **limits).values()), tasks)[1]


LOUD = ["t01,t07,t01,0.9,m", "t02,t08,t02,0.8,m", "t03,t09,t03,0.7,m"]


def test_loud_seminars_are_held_to_quotas(project, tmp_path):
    imported(project, tmp_path, *LOUD)
    assert list(chosen(project, 3)) == ["t01", "t02", "t03"]
    assert chosen(project, 3, per_seminar=2)["t03"].words == "held back: 2 of the seminar s1 are kept already"
    assert kept(project, 3, per_seminar=2) == ["t01", "t02", "t10"]
    assert len(kept(project, 12, wanted=["phase=1"])) == 3
    assert kept(project, 4, wanted=["discipline:biology=1"]) == ["t01", "t10", "t11", "t12"]


@pytest.mark.parametrize("wanted", ["phase", "phase=x", "colour=3", "=3"])
def test_what_is_no_quota_is_refused(wanted):
    expect_refusal("is no quota", contest_standings.quotas, None, [wanted])


def test_of_near_duplicates_the_better_one_stays(tmp_path):
    project = two_tasks(tmp_path)
    add_seminar(project, "s2", (task(3), task(4, task(1).text.replace("Part", "part"))))
    imported(project, tmp_path, "t01,t02,t01,0.9,m", "t04,t03,t04,0.8,m")
    result = chosen(project, 3)
    assert result["t04"].reason == "nearly the same as s1-t01, which ranks higher"
    assert result["t01"].kept


def test_kept_tasks_become_items(project, tmp_path):
    imported(project, tmp_path, *LOUD)
    contest_standings.hold(project, "t01", "Needs a licence.", 1)
    assert chosen(project, 1)["t01"].words == "held back: Needs a licence."
    contest_standings.hold(project, "t01", "")
    assert kept(project, 1) == ["t01"]
    assert len(keep(project, 3, per_seminar=2)) == 3
    assert keep(project, 3, per_seminar=2) == []
    keys = {items.read(project, one).key for one in items.ids(project)}
    assert keys - {"s1", "s2"} == {"s1-t01", "s1-t02", "s2-t04"}
    decided = contest_standings.decisions(project)
    assert (decided["t03"].kept, decided["t03"].rank, decided["t03"].by_hand, decided["t01"].by) == (
        False, 3, False, project.by,
    )  # fmt: skip
    assert (
        "held back: 2 of the seminar s1"
        in contest_standings.sheets(contest_standings.report(project, top="3"))[0].lines[2].cells[7].words
    )
    keep(project, 2)
    # What somebody holds back stays so by hand when the standings hold it back again.
    contest_standings.hold(project, "t02", "Needs a licence.")
    keep(project, 2)
    assert contest_standings.decisions(project)["t02"].by_hand
    assert len(contest_rows.tasks(project)) == 12


def test_all_people_together_have_a_standing_with_each_ones_beside_it(project, tmp_path):
    people.add_person(project, "Bo")
    lines = ["t01,t02,t01,0.8,R1", "t03,t04,t03,0.8,R1", "t01,t03,t01,0.8,R1"]
    imported(project, tmp_path, *lines, "t01,t02,t01,0.8,R2", "t05,t06,t05,0.8,m")
    assert [value for _, value in contest_standings.choices(project)[0].values] == ["R1", "R2", "m", "people"]
    result = contest_standings.report(project, "people", "7", 10)
    assert (result.rater.name, result.ranking.top, result.ranking.matches) == ("people", 7, 4)
    # The second of two matches of 1200 : 1200 at a confidence of .8 gives 1218.3167 : 1181.6833.
    rows = {row["key"]: row for row in result.tree()["standings"]}
    assert (rows["s1-t02"]["elo"], rows["s1-t02"]["each"], rows["s1-t03"]["each"]["R2"]) == (
        1181.6833, {"R1": 1190.4, "R2": 1190.4}, None,
    )  # fmt: skip
    second = next(
        line for line in contest_standings.sheets(result)[0].lines if line.cells[1].words == "s1-t02"
    )
    assert [cell.words for cell in second.cells[7:9]] == ["1,190.4", "1,190.4"]
    assert contest_rows.write_matches(project, tmp_path / "people.csv", "people") == 4
    assert "s1-t01,s1-t02,s1-t01,0.8,R2" in (tmp_path / "people.csv").read_text("utf-8")
