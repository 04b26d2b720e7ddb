"""Validation sets: drawn evenly by chance, dealt blind, locked before a judge is shown, their test part counted."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import board, label_tasks, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_ground, validation_sets
from annotator.actions.sets.validation_ground import mean_cost
from annotator.actions.sets.validation_sets import Candidate, SetRequest
from annotator.actions.validation import judge_comparing
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.judges.validation import Split
from annotator.protocols import USUAL
from tests.actions.parcels.test_exchange_labels import label_all, three_reports
from tests.projects.refusals import expect_refusal
from tests.projects.validation_project import judge_says, person, person_says, places, validation_project
from tests.storage import sql

PROJECT = validation_project


def request(project: Project, **more: object) -> SetRequest:
    both = (person(project, "R2").id, person(project, "R3").id)
    return replace(SetRequest("Spring", both, size=4, seed=3), **more)


def grid(items: int, systems: int, units: int = 10) -> list[Candidate]:
    return [
        Candidate(f"r{i}-{s}", f"i{i}", ("A" if i % 2 else "B", f"s{s}", 1), units)
        for i in range(items)
        for s in range(systems)
    ]


def test_draws_and_splits_are_even() -> None:
    chosen = validation_sets.drawn(grid(10, 4), 20, seed=1)
    assert set(Counter(one.stratum for one in chosen).values()) == {20 // 8, 20 // 8 + 1}
    assert set(Counter(one.item_id for one in chosen).values()) == {2}
    assert chosen == validation_sets.drawn(reversed(grid(10, 4)), 20, seed=1)
    assert chosen != validation_sets.drawn(grid(10, 4), 20, seed=2)
    sampled = validation_sets.split(grid(8, 2), 0.5, seed=1)
    parts = {one.item_id: one.split for one in sampled}
    assert Counter((one.question_type, one.split) for one in sampled) == Counter(
        {(kind, part): 4 for kind in "AB" for part in Split}
    )
    assert all(parts[one.item_id] is one.split for one in sampled)
    # n = z² (1/w² − 1) = 3.8415 · 99 = 380.3 → 381 units about ½ of independent units, ten to a response.
    alone = validation_sets.size_for(grid(100, 4), 0.1, 0.5, 0.0)
    assert (alone.responses, alone.units, alone.effect, alone.reached) == (39, 381, 1.0, True)
    # Ten units of an item that are alike by 0.1 are worth ten by 1.9: 722.6 units, in 73 responses of 73 items.
    alike = validation_sets.size_for(grid(100, 4), 0.1, 0.5, 0.1)
    assert (alike.responses, alike.units, alike.effect) == (73, 723, pytest.approx(1.9))
    few = validation_sets.size_for(grid(2, 2), 0.1, 0.5, 0.0)
    assert (few.responses, few.reached) == (4, False)


def test_of_pairs_so_many_are_drawn_and_told(tmp_path) -> None:
    project = validation_project(tmp_path)
    asked = request(project, protocol="adra.preference", size=3)
    result = validation_sets.preview(project, asked)
    # Two systems on each item: one pair, shown first with one of them.
    assert (len(result.content.responses), result.units) == (3, 3)
    assert result.told[0].startswith("3 responses of 3 items with 3 pairs, ")
    several = [replace(one, units=4) for one in grid(10, 1)]
    many = validation_sets._size(several, replace(asked, size=10))
    assert (many.responses, many.reached) == (3, True)
    assert not validation_sets._size(several, replace(asked, size=41)).reached


def test_whoever_labels_and_coordinates_is_told_that_judges_are_not_hidden_from_them(
    project: Project,
) -> None:
    assert not any("coordinate" in line for line in validation_sets.preview(project, request(project)).told)
    both = (person(project, "R1").id, person(project, "R2").id)
    told = validation_sets.preview(project, request(project, people=both)).told
    assert told[-1].startswith("R1 coordinates as well")


def test_a_set_is_dealt_blind_and_progress_counts_what_was_drawn(project: Project) -> None:
    validation_sets.make(project, request(project))
    person_says(project, "R2", lambda _: "yes")
    rows = [row for row in board.board(project) if row.person_id == person(project, "R2").id]
    assert {(row.units, row.of) for row in rows} == {(2, 2)}
    result = validation_sets.named(project, "Spring")
    assert (len(result.content.responses), len(result.content.dealt)) == (4, 4)
    project.work_as(person(project, "R2"))
    tasks = label_tasks.queue(project)
    assert {task.response_id for task in tasks} == result.responses()
    assert {task.name for task in tasks} == {"Report A"}
    other = next(r for _, r, _ in places(project).values() if r not in result.responses())
    expect_refusal("", labels.sheet, project, other)


def test_whoever_labels_an_item_already_goes_on_with_all_of_it(project: Project) -> None:
    first, ann = items.ids(project)[0], person(project, "R2").id
    assignments.assign_one(project, first, ann, Stage.LABELLING)
    validation_sets.make(project, request(project))
    content = validation_sets.named(project, "Spring").content
    assert set(content.dealt[first]) == {ann, person(project, "R3").id}
    assert content.narrowed[first] == (person(project, "R3").id,)
    project.work_as(person(project, "R2"))
    assert sum(task.item_id == first for task in label_tasks.queue(project)) == 2


def test_whoever_takes_an_item_over_labels_what_was_drawn_of_it(project: Project) -> None:
    validation_sets.make(project, request(project))
    people.add_person(project, "Cleo")
    for one in assignments.of_person(project, person(project, "R3").id):
        assignments.reassign(project, one.id, person(project, "R4").id)
    person_says(project, "R2", lambda _: "yes")
    person_says(project, "R4", lambda _: "no")
    validation_sets.lock(project, "Spring")
    result = validation_sets.named(project, "Spring")
    assert Counter(first_label.person_id for first_label in result.first_labels) == {
        person(project, "R2").id: 8, person(project, "R4").id: 8,
    }  # fmt: skip


def test_labels_of_others_are_no_first_labels(project: Project) -> None:
    validation_sets.make(project, request(project))
    person_says(project, "R1", lambda _: "no", submit=False)
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda _: "yes")
    validation_sets.lock(project, "Spring")
    assert {first_label.value for first_label in validation_sets.named(project, "Spring").first_labels} == {
        "yes"
    }


def test_labels_are_locked_only_when_all_are_submitted_and_stay_what_they_were_then(project: Project) -> None:
    validation_sets.make(project, request(project))
    person_says(project, "R2", lambda _: "yes")
    person_says(project, "R3", lambda at: "no" if at[2] == 1 else "unsure", submit=False)
    refused = expect_refusal("no judge is shown before", validation_sets.lock, project, "Spring")
    assert refused.details[0].startswith("R3, item ")
    assert refused.details[0].endswith("labelled, not submitted")
    expect_refusal("not locked", validation_sets.open_test, project, "Spring", ["m"])
    person_says(project, "R3", lambda at: "no" if at[2] == 1 else "unsure")
    validation_sets.lock(project, "Spring")
    result = validation_sets.named(project, "Spring")
    assert Counter((first_label.person_id, first_label.value) for first_label in result.first_labels) == {
        (person(project, "R2").id, "yes"): 8, (person(project, "R3").id, "no"): 4, (person(project, "R3").id, None): 4,
    }  # fmt: skip
    expect_refusal("locked already", validation_sets.lock, project, "Spring")


def test_every_look_at_the_test_part_is_counted_and_audited(project: Project) -> None:
    validation_sets.make(project, request(project))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda _: "yes")
    validation_sets.lock(project, "Spring")
    for _ in range(2):
        validation_sets.open_test(project, "Spring", ["b", "a"])
    result = validation_sets.named(project, "Spring")
    looks = validation_sets.openings(project, result.id)
    assert (result.openings, [look.judges for look in looks]) == (2, ['["a","b"]'] * 2)
    assert {look.labels_sha256 for look in looks} == {result.labels_sha256}
    with project.store.read() as db:
        audited = db.exec_driver_sql("SELECT count(*) FROM audit WHERE verb = 'open the test part'").scalar()
    assert audited == 2


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"name": " "}, "needs a name"),
        ({"name": "x" * 121}, "at most 120 letters"),
        ({"people": ("nobody", "else")}, "not active"),
        ({"raters": 3}, "more people than are in the set"),
        ({"width": 1.0}, "between 0 and 1"),
        ({"size": 0}, "at least one response"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused(project: Project, more: dict[str, object], words: str) -> None:
    expect_refusal(words, validation_sets.preview, project, request(project, **more))


def test_only_a_coordinator_draws(project: Project) -> None:
    wanted = request(project)
    project.work_as(people.known(project, "R2"))
    expect_refusal("Only a coordinator", validation_sets.make, project, wanted)


def test_judges_are_not_compared_with_people_on_what_a_set_holds_back(project: Project) -> None:
    judge_says(project, "small", lambda _: "yes")
    validation_sets.make(project, request(project))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda _: "yes")

    def units() -> int:
        result = judge_comparing.compare(project, USUAL).pairings
        return next(one.units for one in result if {one.a.name, one.b.name} == {"small", "people"})

    assert units() == 0
    validation_sets.lock(project, "Spring")
    dev = validation_sets.named(project, "Spring").responses(Split.DEV)
    assert units() == 2 * len(dev) > 0


@pytest.fixture
def locked(tmp_path: Path) -> Project:
    """A locked set of all reports, half of them its test part, and one judge."""
    locked = validation_project(tmp_path)
    both = (person(locked, "R2").id, person(locked, "R3").id)
    validation_sets.make(locked, validation_sets.SetRequest("Spring", both, size=8))
    for alias in ("R2", "R3"):
        person_says(locked, alias, lambda at: "yes" if at[1] == "Alpha" else "no")
    judge_says(locked, "small", lambda _: "yes")
    validation_sets.lock(locked, "Spring")
    return locked


def test_a_look_covers_the_same_labels_and_verdicts_and_no_other_wording_or_judge(locked: Project) -> None:
    before = validation_ground.seen(locked, "Spring")
    validation_sets.open_test(locked, "Spring", before.judges)
    after = validation_ground.seen(locked, "Spring")
    assert before.judges == ("small",)
    assert (before.openings, after.openings) == (0, 1)
    assert validation_ground.covers(before, after)
    sql.alter(locked, "UPDATE run SET prompt_sha256 = 'p2'")
    reworded = validation_ground.seen(locked, "Spring")
    assert not validation_ground.covers(before, reworded)
    judge_says(locked, "other", lambda _: "no")
    assert not validation_ground.covers(reworded, validation_ground.seen(locked, "Spring"))


@pytest.mark.parametrize(
    ("name", "part", "closed"),
    [("", "test", False), ("S", "", False), ("S", "dev", False), ("S", "test", True), ("S", "whole", True)],
)
def test_only_what_holds_the_test_part_of_a_set_is_closed(name: str, part: str, closed: bool) -> None:
    assert validation_ground.is_closed(name, part) is closed


def test_before_labels_are_locked_nothing_is_opened(locked: Project) -> None:
    both = (person(locked, "R2").id, person(locked, "R3").id)
    validation_sets.make(locked, validation_sets.SetRequest("Autumn", both, size=2))
    expect_refusal("not locked", validation_ground.seen, locked, "Autumn")


@pytest.fixture
def apart(tmp_path: Path) -> Project:
    """Two items with three reports each, of which three are drawn for Ada and Ben."""
    apart = three_reports(tmp_path / "home")
    both = tuple(
        people.add_person(apart, name, (Role.ANNOTATOR,), alias).subject
        for name, alias in (("Ada", "Z1"), ("Ben", "Z2"))
    )
    validation_sets.make(apart, validation_sets.SetRequest("Spring", both, size=3))
    return apart


def test_only_what_was_drawn_travels_and_the_set_is_locked_when_it_is_back(
    apart: Project, tmp_path: Path
) -> None:
    drawn = validation_sets.named(apart, "Spring")
    for alias in ("Z1", "Z2"):
        folder = tmp_path / alias
        folder.mkdir()
        theirs = tasking.take_task(packing.task(apart, people.known(apart, alias).id, folder).path).project
        assert len(label_tasks.queue(theirs)) == len(drawn.responses()) == 3
        assert sql.first(theirs, "SELECT count(*) FROM response")[0] == 3
        label_all(theirs, "number 1")
        work = tray.work(theirs).path
        theirs.close()
        unpacking.take_in(apart, [work])
    assert validation_sets.lacking(apart, drawn) == []
    validation_sets.lock(apart, "Spring")
    result = validation_sets.named(apart, "Spring")
    assert {first_label.response_id for first_label in result.first_labels} == drawn.responses()
    # Three criteria, three reports, two people.
    assert len(result.first_labels) == 18


def test_mean_costs_leave_out_the_unknown():
    # (0.1 + 0.2) / 2; not (0.1 + 0.2 + 0) / 3
    result = mean_cost([0.1, None, 0.2])
    assert result.value == pytest.approx(0.15)
    assert (result.n, result.missing) == (2, 1)
    assert "1 of 3" in result.note
    # (0 + 0.3) / 2
    assert mean_cost([0.0, 0.3]).value == 0.15


@pytest.mark.parametrize("costs", [[], [None, None]])
def test_no_known_cost_is_not_0(costs):
    assert mean_cost(costs).value is None
