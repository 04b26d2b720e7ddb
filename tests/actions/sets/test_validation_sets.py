"""Validation sets: drawn, dealt blind, locked, their test part counted; open reviews, and criteria worded anew."""

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items, materials
from annotator.actions.judging import judge_runs, reparse
from annotator.actions.labelling import board, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import gathering
from annotator.actions.results import result_raters
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import reviews, validation_figures, validation_ground, validation_sets
from annotator.actions.undo import history
from annotator.actions.validation import disagreements, validation
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.judges.judge import Fault, Review
from annotator.domain.judges.validation import Split
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.protocols import PROTOCOLS, USUAL
from tests.actions.parcels.test_exchange import label_all, three_reports
from tests.common import expect_refusal, fixture_of, once
from tests.judging.odd_server import OddServer
from tests.projects import pairs_project
from tests.projects.small_projects import CRITERIA
from tests.projects.validation_project import (
    PLAN,
    At,
    ann,
    judge_says,
    labelled_set,
    negative,
    person,
    person_says,
    places,
    protocols_project,
    validation_project,
)
from tests.servers.served import JUDGE, asked_about, judged_project
from tests.storage import sql

PROJECT = validation_project


def request(project: Project, **more: object) -> validation_sets.SetRequest:
    return replace(
        validation_sets.SetRequest(
            "Spring", (person(project, "R2").id, person(project, "R3").id), size=4, seed=3
        ),
        **more,
    )


def grid(items: int, systems: int, units: int = 10) -> list[validation_sets.Candidate]:
    return [
        validation_sets.Candidate(f"r{i}-{s}", f"i{i}", ("A" if i % 2 else "B", f"s{s}", 1), units)
        for i in range(items)
        for s in range(systems)
    ]


def test_draws_and_splits_are_even() -> None:
    chosen = validation_sets.sample(grid(10, 4), 20, seed=1)
    assert set(Counter(one.stratum for one in chosen).values()) == {20 // 8, 20 // 8 + 1}
    assert set(Counter(one.item_id for one in chosen).values()) == {2}
    assert chosen == validation_sets.sample(reversed(grid(10, 4)), 20, seed=1)
    assert chosen != validation_sets.sample(grid(10, 4), 20, seed=2)
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
    assert result.sentences[0].startswith("3 responses of 3 items with 3 pairs, ")
    several = [replace(one, units=4) for one in grid(10, 1)]
    many = validation_sets._size(several, replace(asked, size=10))
    assert (many.responses, many.reached) == (3, True)
    assert not validation_sets._size(several, replace(asked, size=41)).reached


def test_a_coordinator_draws_and_judges_are_not_hidden_from_one_who_labels(project: Project) -> None:
    assert not any(
        "coordinate" in line for line in validation_sets.preview(project, request(project)).sentences
    )
    told = validation_sets.preview(
        project, request(project, people=(person(project, "R1").id, person(project, "R2").id))
    ).sentences
    assert told[-1].startswith("R1 coordinates as well")
    wanted = request(project)
    project.work_as(people.known(project, "R2"))
    expect_refusal("Only a coordinator", validation_sets.make, project, wanted)


def test_a_set_is_dealt_blind_and_progress_counts_what_was_drawn(project: Project) -> None:
    validation_sets.make(project, request(project))
    person_says(project, "R2", lambda _: "yes")
    rows = [row for row in board.board(project) if row.person_id == person(project, "R2").id]
    assert {(row.units, row.of) for row in rows} == {(2, 2)}
    result = validation_sets.named(project, "Spring")
    assert (len(result.content.responses), len(result.content.dealt)) == (4, 4)
    project.work_as(person(project, "R2"))
    tasks = labels.queue(project)
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
    assert sum(task.item_id == first for task in labels.queue(project)) == 2


def test_whoever_takes_an_item_over_labels_what_was_drawn_of_it(project: Project) -> None:
    validation_sets.make(project, request(project))
    cleo = people.add_person(project, "Cleo").subject
    for one in assignments.of_person(project, person(project, "R3").id):
        assignments.reassign(project, one.id, cleo)
    for alias in ("R2", "R4"):
        person_says(project, alias, lambda _: "yes")
    validation_sets.lock(project, "Spring")
    assert Counter(one.person_id for one in validation_sets.named(project, "Spring").first_labels) == {
        person(project, "R2").id: 8,
        cleo: 8,
    }


def test_labels_of_others_are_no_first_labels(project: Project) -> None:
    validation_sets.make(project, request(project))
    person_says(project, "R1", lambda _: "no", submit=False)
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda _: "yes")
    validation_sets.lock(project, "Spring")
    assert {one.value for one in validation_sets.named(project, "Spring").first_labels} == {"yes"}


def test_labels_are_locked_only_when_all_are_submitted_and_stay_what_they_were_then(project: Project) -> None:
    def half_unsure(at: At) -> str:
        return "no" if at[2] == 1 else "unsure"

    validation_sets.make(project, request(project))
    person_says(project, "R2", lambda _: "yes")
    person_says(project, "R3", half_unsure, submit=False)
    refused = expect_refusal("no judge is shown before", validation_sets.lock, project, "Spring")
    assert refused.details[0].startswith("R3, item ")
    assert refused.details[0].endswith("labelled, not submitted")
    expect_refusal("not locked", validation_sets.open_test, project, "Spring", ["m"])
    person_says(project, "R3", half_unsure)
    validation_sets.lock(project, "Spring")
    assert Counter((one.person_id, one.value) for one in validation_sets.named(project, "Spring").first_labels) == {
        (person(project, "R2").id, "yes"): 8, (person(project, "R3").id, "no"): 4, (person(project, "R3").id, None): 4,
    }  # fmt: skip
    expect_refusal("locked already", validation_sets.lock, project, "Spring")


def test_every_look_at_the_test_part_is_counted_and_audited(tmp_path: Path) -> None:
    project = labelled_set(tmp_path)
    validation_sets.lock(project, "Spring")
    for _ in range(2):
        validation_sets.open_test(project, "Spring", ["b", "a"])
    result = validation_sets.named(project, "Spring")
    assert [(look.judges, look.labels_sha256) for look in validation_sets.openings(project, result.id)] == [
        ('["a","b"]', result.labels_sha256)
    ] * 2
    assert (
        result.openings,
        sql.first(project, "SELECT count(*) FROM audit WHERE verb = 'open the test part'"),
    ) == (2, (2,))


def test_a_wish_that_makes_no_sense_is_refused(project: Project) -> None:
    for more, words in (
        ({"name": " "}, "needs a name"),
        ({"name": "x" * 121}, "at most 120 letters"),
        ({"people": ("nobody", "else")}, "not active"),
        ({"raters": 3}, "more people than are in the set"),
        ({"width": 1.0}, "between 0 and 1"),
        ({"size": 0}, "at least one response"),
    ):
        expect_refusal(words, validation_sets.preview, project, request(project, **more))


def test_judges_are_not_compared_with_people_on_what_a_set_holds_back(tmp_path: Path) -> None:
    project = labelled_set(tmp_path)

    def units() -> int:
        return next(
            one.units
            for one in disagreements.compare(project, USUAL).pairings
            if {one.a.name, one.b.name} == {"small", "people"}
        )

    assert units() == 0
    validation_sets.lock(project, "Spring")
    assert units() == 2 * len(validation_sets.named(project, "Spring").responses(Split.DEV)) > 0


def test_a_look_covers_the_same_labels_and_verdicts_and_no_other_wording_or_judge(tmp_path: Path) -> None:
    locked = labelled_set(tmp_path)
    validation_sets.lock(locked, "Spring")
    before = validation_ground.seen(locked, "Spring")
    validation_sets.open_test(locked, "Spring", before.judges)
    after = validation_ground.seen(locked, "Spring")
    assert (before.judges, before.openings, after.openings) == (("small",), 0, 1)
    assert validation_ground.covers(before, after)
    sql.alter(locked, "UPDATE run SET prompt_sha256 = 'p2'")
    reworded = validation_ground.seen(locked, "Spring")
    assert not validation_ground.covers(before, reworded)
    judge_says(locked, "other", lambda _: "no")
    assert not validation_ground.covers(reworded, validation_ground.seen(locked, "Spring"))
    validation_sets.make(
        locked,
        validation_sets.SetRequest("Autumn", (person(locked, "R2").id, person(locked, "R3").id), size=2),
    )
    expect_refusal("not locked", validation_ground.seen, locked, "Autumn")


@pytest.mark.parametrize(
    ("name", "part", "closed"),
    [("", "test", False), ("S", "", False), ("S", "dev", False), ("S", "test", True), ("S", "whole", True)],
)
def test_only_what_holds_the_test_part_of_a_set_is_closed(name: str, part: str, closed: bool) -> None:
    assert validation_ground.is_closed(name, part) is closed


def test_only_what_was_drawn_travels_and_the_set_is_locked_when_it_is_back(tmp_path: Path) -> None:
    apart = three_reports(tmp_path / "home")
    both = tuple(
        people.add_person(apart, name, (Role.ANNOTATOR,), alias).subject
        for name, alias in (("Ada", "Z1"), ("Ben", "Z2"))
    )
    validation_sets.make(apart, validation_sets.SetRequest("Spring", both, size=3))
    drawn = validation_sets.named(apart, "Spring")
    for alias in ("Z1", "Z2"):
        (folder := tmp_path / alias).mkdir()
        theirs = tasking.take_task(packing.task(apart, people.known(apart, alias).id, folder).path).project
        assert len(labels.queue(theirs)) == len(drawn.responses()) == 3
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
    result = validation_ground.mean_cost([0.1, None, 0.2])
    assert (result.value, result.n, result.missing) == (pytest.approx(0.15), 2, 1)
    assert "1 of 3" in result.note
    # (0 + 0.3) / 2; and no known cost is not 0
    assert [validation_ground.mean_cost(costs).value for costs in ([0.0, 0.3], [], [None, None])] == [
        0.15,
        None,
        None,
    ]


@pytest.fixture
def reviewed(tmp_path: Path) -> Project:
    """A judge that says yes of all sixteen units, and another that says no of the first one."""
    reviewed = validation_project(tmp_path)
    judge_says(reviewed, "small", lambda _: "yes")
    judge_says(reviewed, "other", lambda at: "no" if at == (1, "Alpha", 2) else "yes")
    return reviewed


def say(reviewed: Project, at: At, said: Review, **more: str) -> None:
    _, response, unit = places(reviewed)[at]
    reviews.review(reviewed, "small", response, unit, said, **more)


def alter_judgements(reviewed: Project, at: At, change: str) -> None:
    sql.alter(
        reviewed,
        f"UPDATE judgement SET {change} WHERE response_id = ? AND unit_id = ?",
        places(reviewed)[at][1:],
    )


def test_what_judges_differ_on_comes_up_first(reviewed: Project) -> None:
    uncertain = reviews.queue(reviewed, "small")
    assert (uncertain[0].place.unit_id, uncertain[0].uncertainty) == ("i1c2", 1.0)
    assert [one.place.weight for one in uncertain[1:]] == [3] * 8 + [1] * 7
    heavy = reviews.queue(reviewed, "small", order=reviews.ReviewOrder.WEIGHT)
    assert ([one.place.weight for one in heavy], heavy[8].place.unit_id) == ([3] * 8 + [1] * 8, "i1c2")
    chance = reviews.queue(reviewed, "small", order=reviews.ReviewOrder.RANDOM)
    assert {one.place.key for one in chance} == {one.place.key for one in heavy}
    assert [one.place.key for one in chance] != [one.place.key for one in heavy]
    alter_judgements(reviewed, (3, "Beta", 2), "flags = 'quote_missing'")
    assert {one.place.unit_id for one in reviews.queue(reviewed, "small")[:2]} == {"i1c2", "i3c2"}


def test_what_takes_away_comes_up_as_heavy_as_its_weight(
    reviewed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch, 3)
    assert [
        one.place.weight for one in reviews.queue(reviewed, "small", order=reviews.ReviewOrder.WEIGHT)
    ] == [-3] * 8 + [1] * 8


def test_the_accepted_rate_is_counted_with_the_reasons(reviewed: Project) -> None:
    for item in (1, 2, 3, 4):
        say(reviewed, (item, "Alpha", 1), Review.AGREE)
        say(
            reviewed, (item, "Beta", 1), Review.DISAGREE if item < 3 else Review.UNSURE, reason=Fault.INVENTED
        )
    (line,) = reviews.report(reviewed)
    # Four of six; two are unsure. The interval is over four items, not over six units.
    assert (line.accepted.value, line.accepted.n) == (pytest.approx(4 / 6), 6)
    assert "4 clusters are too few" in line.accepted.note
    assert line.said == {"agree": 4, "disagree": 2, "unsure": 2}
    assert line.reasons == {Fault.INVENTED.value: 2}
    by = {one.group: one.accepted.value for one in reviews.report(reviewed, by="type")}
    assert by == {"Technical Details": pytest.approx(2 / 3), "Literature Review": 0.5, "Open Consulting": 1.0}
    assert len(reviews.report(reviewed, by="criterion")) == 4


def test_a_review_is_given_anew_and_undone_and_waits_for_a_second_expert_only_when_two_are_wanted(
    reviewed: Project,
) -> None:
    for said in (Review.AGREE, Review.DISAGREE):
        say(reviewed, (1, "Alpha", 1), said)
        assert reviews.report(reviewed)[0].said == {said.value: 1}
    history.undo(reviewed)
    assert reviews.report(reviewed)[0].said == {"agree": 1}

    def waiting() -> list[int]:
        return [len(reviews.queue(reviewed, "small", experts=experts)) for experts in (1, 2)]

    assert waiting() == [15, 15]
    reviewed.work_as(person(reviewed, "R2"))
    assert waiting() == [15, 16]


def test_whoever_is_still_to_label_an_item_blind_is_not_shown_its_verdicts(reviewed: Project) -> None:
    validation_sets.make(
        reviewed,
        validation_sets.SetRequest("Spring", (person(reviewed, "R2").id, person(reviewed, "R3").id), size=8),
    )
    reviewed.work_as(person(reviewed, "R2"))
    assert reviews.queue(reviewed, "small") == []
    expect_refusal("still have to label this item blind", say, reviewed, (1, "Alpha", 1), Review.AGREE)
    person_says(reviewed, "R2", ann)
    assert len(reviews.queue(reviewed, "small")) == 16


def test_a_label_given_after_a_review_is_no_blind_label(reviewed: Project) -> None:
    person_says(reviewed, "R2", ann)
    query = validation.ValidationQuery(against=("R2",))
    before = validation.report(reviewed, query).of("small").result.confusion
    reviewed.work_as(person(reviewed, "R3"))
    for at in places(reviewed):
        say(reviewed, at, Review.AGREE)
    person_says(reviewed, "R3", lambda _: "yes")
    reviewed.work_as(person(reviewed, "R1"))
    assert validation.report(reviewed, query).of("small").result.confusion == before
    expect_refusal("Nobody has submitted", validation.report, reviewed, replace(query, against=("R3",)))


def test_what_there_is_not_is_refused_and_reviews_of_replaced_verdicts_enter_nothing(
    reviewed: Project,
) -> None:
    at = (1, "Alpha", 1)
    for words, more in (
        ("not a valid reason", {"reason": "mood"}),
        ("note does not fit", {"note": "x" * 20_001}),
    ):
        expect_refusal(words, say, reviewed, at, Review.DISAGREE, **more)
    expect_refusal("no longer has a verdict", reviews.review, reviewed, "small", "nowhere", "u", Review.AGREE)
    expect_refusal("cannot be broken down", reviews.report, reviewed, by="mood")
    say(reviewed, at, Review.AGREE)
    alter_judgements(reviewed, at, "value = 'no'")
    (line,) = reviews.report(reviewed)
    assert (line.accepted.value, line.outdated) == (None, 1)


COVERAGE = "researcherbench.coverage"
OLD, NEW = CRITERIA[1][0], "Compares how stable training is with and without them"


@pytest.fixture
def judged(tmp_path: Path, server: OddServer) -> Project:
    return judged_project(tmp_path, server, "yes")


def run(judged: Project, order: RunRequest | None = None) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(judged, order or RunRequest(JUDGE)))


def rubric(judged: Project, place: int = 0) -> Artifact:
    with judged.store.read() as db:
        result = annotating.judged_artifact(db, materials.item_ids(judged)[place], Kind.RUBRIC)
    assert result is not None
    return result


def word(judged: Project, text: str = NEW) -> None:
    of = rubric(judged)
    reviews.word(judged, COVERAGE, of.item_id, of.document.units[1].id, text)


def came(judged: Project) -> int:
    return len(list(result_raters.spoken(judged, PROTOCOLS[COVERAGE], result_raters.raters(judged)[0].id)))


def test_only_what_was_worded_anew_is_asked(judged: Project, server: OddServer) -> None:
    word(judged)
    reviews.queue_up(judged, JUDGE, COVERAGE)
    assert [one.order.items for one in judge_runs.waiting(judged)] == [("1",)]
    expect_refusal("is already queued", reviews.queue_up, judged, JUDGE, COVERAGE)
    (again,) = reviews.waiting(judged)
    assert (again.judgements, again.units, again.order.items) == (2, 1, ("1",))
    # An ordinary run finds the same to do.
    assert judge_runs.plan(judged, RunRequest(JUDGE)).to_do == 2
    ended = run(judged, again.order)
    assert (ended["judged_now"], ended["total"]) == (2, 6)
    assert [words for body in server.bodies for _, words in asked_about(body)] == [NEW, NEW]
    assert (reviews.waiting(judged), judge_runs.plan(judged, RunRequest(JUDGE)).to_do) == ([], 0)
    expect_refusal("current wording", reviews.order, judged, JUDGE, COVERAGE)


def test_what_was_said_of_the_old_words_is_missing_says_why_and_counts_again_with_them(
    judged: Project,
) -> None:
    assert came(judged) == 12
    word(judged)
    assert came(judged) == 10
    (version,) = validation_figures.of_judges(judged, PROTOCOLS[COVERAGE])
    assert (len(version.verdicts), set(version.missing.values())) == (10, {"reworded"})
    assert [(line.item, line.status) for line in reparse.lines(judged, status="reworded")] == [
        ("1", "reworded")
    ] * 2
    rows = result_raters.judgements(judged, PROTOCOLS[COVERAGE], version.judge.id, rubric(judged).item_id)
    assert sorted(row["status"].value if row["value"] is None else "ok" for row in rows) == [
        "ok", "ok", "ok", "ok", "skipped", "skipped",
    ]  # fmt: skip
    with judged.store.read() as db:
        bundle, notes = gathering.gather(db)
    assert len(bundle.judgements) == 10
    assert notes == ["Left out: 2 judgements on units that were reworded since."]
    word(judged, OLD)
    assert (came(judged), reviews.waiting(judged)) == (12, [])


def test_a_weight_is_no_wording(judged: Project) -> None:
    of = rubric(judged)
    assignments.reopen(judged, of.id)
    artifacts.change_unit(judged, of.id, of.document.units[1].id, weight=3)
    assignments.seal(judged, of.id)
    assert came(judged) == 12


def test_a_reply_about_words_that_changed_while_it_was_asked_for_is_no_verdict(
    judged: Project, server: OddServer
) -> None:
    word(judged)
    answer = server.answer

    def meanwhile(body: dict[str, Any], number: int) -> Any:
        if not reworded:
            reworded.append(True)
            other = Project.open(judged.path)
            people.someone(other)
            word(other, "Compares something else again")
            other.close()
        return answer(body, number)

    reworded: list[bool] = []
    server.answer = meanwhile
    run(judged, RunRequest(JUDGE, systems=("Alpha",), items=("1",), concurrency=1))
    assert came(judged) == 10
    (version,) = validation_figures.of_judges(judged, PROTOCOLS[COVERAGE])[:1]
    assert "skipped" in version.missing.values() or "reworded" in version.missing.values()


def test_a_new_version_is_sealed_in_which_only_other_words_differ(judged: Project) -> None:
    before = rubric(judged)
    for text in (OLD, "  "):
        expect_refusal("its current wording", word, judged, text)
    assert rubric(judged) == before
    word(judged)
    after = rubric(judged)
    assert [(unit.id, unit.text) for unit in after.document.units] == [
        (unit.id, text)
        for unit, text in zip(before.document.units, (CRITERIA[0][0], NEW, CRITERIA[2][0]), strict=True)
    ]
    assert (after.id, after.state) == (before.id, State.SEALED)


def test_who_did_not_write_a_rubric_is_told_whom_to_ask(judged: Project) -> None:
    of = rubric(judged)
    sql.alter(judged, "UPDATE artifact SET author_id = 'gone' WHERE id = ?", (of.id,))
    way = reviews.way(judged, COVERAGE, of.item_id, of.document.units[0].id)
    assert (way.page, "wrote this rubric" in way.refused) == ("Author", True)
    expect_refusal("wrote this rubric", word, judged)


def test_a_gold_sub_task_is_worded_anew_through_any_of_its_cells(tmp_path: Path) -> None:
    judged = protocols_project(tmp_path)
    protocol = PROTOCOLS[PLAN]
    (version,) = validation_figures.of_judges(judged, protocol)
    cell = next(unit for _, unit in version.verdicts)
    reviews.word(judged, PLAN, materials.item_ids(judged)[0], cell, "Gather every report there is.")
    (version,) = validation_figures.of_judges(judged, protocol)
    # Two sub-tasks of the system stand against the one that changed, and against two that did not.
    assert (list(version.missing.values()), len(version.verdicts)) == (["reworded"] * 2, 4)


@fixture_of
@once
def settled(folder: Path) -> Project:
    judged = pairs_project.rubrics_project(folder)
    result = pairs_project.opened(judged)
    for row in adjudicating.sheet(judged, result).rows:
        letter = "A" if "A" in row.ruling.members else "B"
        if row.ruling.open:
            ruling.rule(judged, row.ruling.id, letter, reason="scope")
    ruling.close(judged, result)
    judged.work_as(pairs_project.person(judged, "Cora"))
    people.set_roles(judged, pairs_project.person(judged, "Cleo").id, (Role.COORDINATOR, Role.ADJUDICATOR))
    pairs_project.work_as(judged, "Cleo")
    return judged


def test_a_consensus_is_reopened_and_closed_as_its_next_version(settled: Project) -> None:
    before = rubric(settled)
    unit = before.document.units[2]
    reviews.word(settled, COVERAGE, before.item_id, unit.id, "Names two datasets", "Ruled unclear twice.")
    reworded = unit.model_copy(update={"text": "Names two datasets"})
    expected = [reworded if one is unit else one for one in before.document.units]
    assert list(rubric(settled).document.units) == expected
    assert reviews.way(settled, COVERAGE, before.item_id, unit.id).page == "Adjudicate"


def test_who_may_not_adjudicate_is_told_so_and_nothing_changes(settled: Project) -> None:
    pairs_project.work_as(settled, "Cora")
    of = rubric(settled)
    where = COVERAGE, of.item_id, of.document.units[0].id
    assert reviews.way(settled, *where).refused
    expect_refusal("omeone else", reviews.word, settled, *where, "Other words")
    assert rubric(settled) == of
