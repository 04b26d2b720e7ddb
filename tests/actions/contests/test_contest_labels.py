"""People rank pairs: what they see, what is kept, taken back and refused."""

import pytest

from annotator.actions.contests import contest_files, contest_labels, contest_rows, contest_standings
from annotator.actions.contests.contest_labels import RankedPairs
from annotator.actions.project import people
from annotator.actions.project.people import new_project
from annotator.actions.undo import history
from annotator.domain.texts.refusal import Refusal
from tests.actions.contests.contest_project import contest_project, two_tasks


@pytest.fixture
def project(tmp_path):
    return contest_project(tmp_path)


def said(project, better="first", step=3):
    pair = contest_labels.next_pair(project)
    contest_labels.say(project, pair.first.id, pair.second.id, better, step, 2.0)
    return pair


@pytest.mark.parametrize(("step", "confidence"), [(1, 0.5), (2, 0.6), (3, 0.7), (4, 0.8), (5, 0.95)])
def test_five_steps_are_five_confidences(tmp_path, step, confidence):
    project = two_tasks(tmp_path)
    pair = said(project, "second", step)
    (row,) = contest_rows.showings(project, people.someone(project).id)
    assert (row.first, row.value, row.confidence) == (pair.first.id, "second", confidence)


def test_every_pair_of_a_round_comes_once(project):
    pairs = [said(project) for _ in range(6)]
    assert [(pair.done, pair.left) for pair in pairs[:2]] == [(0, 6), (1, 5)]
    assert len({task for pair in pairs for task in (pair.first.id, pair.second.id)}) == 12
    assert contest_labels.next_pair(project).left == 0


def rank_by_number(project, top, most=400):
    """Rank further pairs, the lower number always the better, until none is offered; the last answer and how many."""
    for count in range(most):
        found = contest_labels.next_pair(project, top=top)
        if isinstance(found, RankedPairs):
            return found, count
        better = "first" if found.first.id < found.second.id else "second"
        contest_labels.say(project, found.first.id, found.second.id, better, 4, 1.0)
    raise AssertionError("there is no end")


def test_pairs_come_as_long_as_neighbours_among_the_best_overlap(project):
    for _ in range(6):
        pair = contest_labels.next_pair(project)
        better = "first" if pair.first.id < pair.second.id else "second"
        contest_labels.say(project, pair.first.id, pair.second.id, better, 4, 1.0)
    further = contest_labels.next_pair(project, top=3)
    assert (further.done, further.left, further.top, further.open) == (6, 0, 3, 3)
    ended, more = rank_by_number(project, top=3)
    assert ended == RankedPairs(6 + more, 3)
    ranked = contest_rows.pairs(project, [f"t{number:02}" for number in range(1, 13)])
    assert len(ranked) == 6 + more <= 66


def test_a_further_pair_has_one_of_the_best_and_was_never_ranked(project):
    for _ in range(6):
        said(project)
    seen = {
        frozenset((one.first, one.second))
        for one in contest_rows.showings(project, people.someone(project).id)
    }
    # How long it goes on hangs on who met whom; a few pairs come at least.
    agreed = len(seen)
    for _ in range(12):
        if isinstance(contest_labels.next_pair(project), RankedPairs):
            break
        pair = said(project)
        assert (pair.left, frozenset((pair.first.id, pair.second.id)) in seen) == (0, False)
        seen.add(frozenset((pair.first.id, pair.second.id)))
    assert len(seen) > agreed + 1


def test_without_two_tasks_there_is_no_pair(tmp_path):
    project = new_project(tmp_path / "none.goldsmith")
    people.someone(project)
    assert contest_labels.next_pair(project, top=3) == RankedPairs(0)
    project.close()


def test_pairs_that_a_judge_compared_come_so_that_it_stands_beside_people(project, tmp_path):
    (tmp_path / "m.csv").write_text(
        "first,second,winner,confidence,rater\nt01,t02,t01,0.8,m\nt03,t04,t04,0.8,m\n", encoding="utf-8"
    )
    contest_files.import_matches(project, tmp_path / "m.csv")
    pairs = [said(project) for _ in range(2)]
    assert {frozenset((pair.first.id, pair.second.id)) for pair in pairs} == {
        frozenset(("t01", "t02")), frozenset(("t03", "t04")),
    }  # fmt: skip
    (found,) = contest_standings.report(project, "m", "3", 10).beside.values()
    assert found.accuracy.n == 2


def test_what_is_taken_back_is_shown_again(project):
    pair = said(project)
    (row,) = contest_rows.showings(project, people.someone(project).id)
    history.undo(project)
    again = contest_labels.next_pair(project)
    assert (again.first.id, again.second.id, again.done) == (pair.first.id, pair.second.id, 0)
    history.redo(project)
    assert contest_rows.showings(project, people.someone(project).id) == [row]


def test_the_pair_that_is_read_stays_whatever_comes_in_until_it_is_ranked(project, tmp_path):
    shown = contest_labels.next_pair(project)
    at = shown.first.id, shown.second.id
    (tmp_path / "m.csv").write_text(
        "first,second,winner,confidence,rater\nt01,t02,t01,0.8,m\n", encoding="utf-8"
    )
    contest_files.import_matches(project, tmp_path / "m.csv")
    stays = contest_labels.next_pair(project, at)
    assert (stays.first.id, stays.second.id) == at
    contest_labels.say(project, *at, "first", 3, 2.0)
    assert contest_labels.next_pair(project, at).first.id in ("t01", "t02")


def test_what_came_from_a_file_is_not_taken_back(project, tmp_path):
    me = people.someone(project).alias
    (tmp_path / "m.csv").write_text(
        f"first,second,winner,confidence,rater\nt01,t02,t01,0.8,{me}\n", encoding="utf-8"
    )
    before = said(project)
    contest_files.import_matches(project, tmp_path / "m.csv")
    history.undo(project)
    (left,) = contest_rows.showings(project, people.someone(project).id)
    assert {left.first, left.second} == {"t01", "t02"} != {before.first.id, before.second.id}
    with pytest.raises(Refusal, match="nothing to undo"):
        history.undo(project)


def test_what_is_shown_tells_neither_seminar_nor_rating(project):
    shown = contest_labels.next_pair(project).first.shown
    assert "Difficulty: " in shown
    assert "s1" not in shown
    assert "Seminar" not in shown


@pytest.mark.parametrize(("better", "step"), [("tie", 3), ("first", 0), ("first", 6)])
def test_another_answer_is_refused(project, better, step):
    with pytest.raises(Refusal, match="no answer"):
        said(project, better, step)
    assert contest_rows.raters(project) == []


def test_a_task_that_is_gone_is_refused(project):
    with pytest.raises(Refusal, match="is gone"):
        contest_labels.say(project, "t01", "t99", "first", 3, 2.0)
