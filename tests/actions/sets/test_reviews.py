"""Open reviews of a judge's verdicts, and criteria worded anew."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from annotator.actions.adjudication import ruling
from annotator.actions.adjudication.adjudicating import sheet
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import judged_artifact
from annotator.actions.items import materials
from annotator.actions.judging import judge_runs, reparse
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import gathering
from annotator.actions.results import result_raters
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import reviews, validation_figures, validation_sets
from annotator.actions.sets.reviews import ReviewOrder
from annotator.actions.undo import history
from annotator.actions.validation import validation
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Fault, Review
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGEMENT
from tests.judging.odd_server import OddServer
from tests.projects import pairs_project
from tests.projects.refusals import expect_refusal
from tests.projects.small_project import CRITERIA, small_project
from tests.projects.validation_project import (
    At,
    ann,
    judge_says,
    negative,
    person,
    person_says,
    places,
    validation_project,
)
from tests.projects.verdicts_project import PLAN, protocols_project
from tests.servers.served import JUDGE, add_judge, asked_about


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A judge that says yes of all sixteen units, and another that says no of the first one."""
    project = validation_project(tmp_path)
    judge_says(project, "small", lambda _: "yes")
    judge_says(project, "other", lambda at: "no" if at == (1, "Alpha", 2) else "yes")
    return project


def say(project: Project, at: At, said: Review, **more: str) -> None:
    _, response, unit = places(project)[at]
    reviews.review(project, "small", response, unit, said, **more)


def test_what_judges_differ_on_comes_up_first(project: Project) -> None:
    uncertain = reviews.queue(project, "small")
    assert (uncertain[0].place.unit_id, uncertain[0].uncertainty) == ("i1c2", 1.0)
    assert [one.place.weight for one in uncertain[1:]] == [3] * 8 + [1] * 7
    lines = reviews.outlook(project, "small").lines
    assert [list(part) for part in (lines[-2:], lines[16:])] == [[lines[14], lines[15]], []]
    heavy = reviews.queue(project, "small", order=ReviewOrder.WEIGHT)
    assert [one.place.weight for one in heavy] == [3] * 8 + [1] * 8
    assert heavy[8].place.unit_id == "i1c2"
    chance = reviews.queue(project, "small", order=ReviewOrder.RANDOM)
    assert {one.place.key for one in chance} == {one.place.key for one in heavy}
    assert [one.place.key for one in chance] != [one.place.key for one in heavy]
    _, response, unit = places(project)[3, "Beta", 2]
    with project.store.write() as db:
        mine = (JUDGEMENT.c.response_id == response) & (JUDGEMENT.c.unit_id == unit)
        db.execute(update(JUDGEMENT).where(mine).values(flags="quote_missing"))
    assert [one.place.unit_id for one in reviews.queue(project, "small")[:2]] in (
        ["i1c2", "i3c2"],
        ["i3c2", "i1c2"],
    )


def test_what_takes_away_comes_up_as_heavy_as_its_weight(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch, 3)
    heavy = reviews.queue(project, "small", order=ReviewOrder.WEIGHT)
    assert [one.place.weight for one in heavy] == [-3] * 8 + [1] * 8


def test_a_reviewed_verdict_waits_for_a_second_expert_only_when_two_are_wanted(project: Project) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    assert len(reviews.queue(project, "small", experts=2)) == 15
    project.work_as(person(project, "R2"))
    assert len(reviews.queue(project, "small")) == 15
    assert len(reviews.queue(project, "small", experts=2)) == 16


def test_the_accepted_rate_is_counted_with_the_reasons(project: Project) -> None:
    for item in (1, 2, 3, 4):
        say(project, (item, "Alpha", 1), Review.AGREE)
        say(project, (item, "Beta", 1), Review.DISAGREE if item < 3 else Review.UNSURE, reason=Fault.INVENTED)
    (line,) = reviews.report(project)
    # Four of six; two are unsure. The interval is over four items, not over six units.
    assert (line.accepted.value, line.accepted.n) == (pytest.approx(4 / 6), 6)
    assert "4 clusters are too few" in line.accepted.note
    assert line.said == {"agree": 4, "disagree": 2, "unsure": 2}
    assert line.reasons == {Fault.INVENTED.value: 2}
    by = {one.group: one.accepted.value for one in reviews.report(project, by="type")}
    assert by == {"Technical Details": pytest.approx(2 / 3), "Literature Review": 0.5, "Open Consulting": 1.0}
    assert len(reviews.report(project, by="criterion")) == 4
    assert reviews.sheets([line])[0].lines[0].cells[1].words == "small"


def test_reviews_of_two_criteria_in_the_same_words_are_told_apart(project: Project, monkeypatch) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    say(project, (1, "Alpha", 2), Review.DISAGREE)
    result = validation_figures.places

    def alike(*of: object) -> object:
        return {key: place._replace(words="Names gold") for key, place in result(*of).items()}

    monkeypatch.setattr(validation_figures, "places", alike)
    told = {one.group: one.accepted.value for one in reviews.report(project, by="criterion")}
    assert told == {"item 1: Names gold": 1, "item 1: Names gold (2)": 0}


def test_a_second_review_takes_the_place_of_the_first_and_can_be_undone(project: Project) -> None:
    say(project, (1, "Alpha", 1), Review.AGREE)
    say(project, (1, "Alpha", 1), Review.DISAGREE)
    assert reviews.report(project)[0].said == {"disagree": 1}
    history.undo(project)
    assert reviews.report(project)[0].said == {"agree": 1}


def test_whoever_is_still_to_label_an_item_blind_is_not_shown_its_verdicts(project: Project) -> None:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    project.work_as(person(project, "R2"))
    assert reviews.queue(project, "small") == []
    expect_refusal("still have to label this item blind", say, project, (1, "Alpha", 1), Review.AGREE)
    person_says(project, "R2", ann)
    assert len(reviews.queue(project, "small")) == 16


def test_a_label_given_after_a_review_is_no_blind_label(project: Project) -> None:
    person_says(project, "R2", ann)
    query = validation.ValidationQuery(against=("R2",))
    before = validation.report(project, query).of("small").told.confusion
    project.work_as(person(project, "R3"))
    for at in places(project):
        say(project, at, Review.AGREE)
    person_says(project, "R3", lambda _: "yes")
    project.work_as(person(project, "R1"))
    assert validation.report(project, query).of("small").told.confusion == before
    expect_refusal("Nobody has submitted", validation.report, project, replace(query, against=("R3",)))


def test_what_there_is_not_is_refused_and_reviews_of_replaced_verdicts_enter_nothing(
    project: Project,
) -> None:
    expect_refusal("not a valid reason", say, project, (1, "Alpha", 1), Review.DISAGREE, reason="mood")
    expect_refusal("The note does not fit", say, project, (1, "Alpha", 1), Review.DISAGREE, note="x" * 20_001)
    expect_refusal("no longer has a verdict", reviews.review, project, "small", "nowhere", "u", Review.AGREE)
    expect_refusal("cannot be broken down", reviews.report, project, by="mood")
    say(project, (1, "Alpha", 1), Review.AGREE)
    _, response, unit = places(project)[1, "Alpha", 1]
    with project.store.write() as db:
        mine = (JUDGEMENT.c.response_id == response) & (JUDGEMENT.c.unit_id == unit)
        db.execute(update(JUDGEMENT).where(mine).values(value="no"))
    (line,) = reviews.report(project)
    assert (line.accepted.value, line.outdated) == (None, 1)


COVERAGE = "researcherbench.coverage"
OLD, NEW = CRITERIA[1][0], "Compares how stable training is with and without them"


@pytest.fixture
def judged(tmp_path: Path, server: OddServer) -> Project:
    """A judge has judged all twelve; then nothing was asked any more."""
    judged = small_project(tmp_path)
    add_judge(judged, server)
    run(judged)
    server.bodies.clear()
    return judged


def run(judged: Project, order: RunRequest | None = None) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(judged, order or RunRequest(JUDGE)))


def rubric(judged: Project, place: int = 0) -> Artifact:
    with judged.store.read() as db:
        result = judged_artifact(db, materials.item_ids(judged)[place], Kind.RUBRIC)
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
    assert reviews.waiting(judged) == []
    assert judge_runs.plan(judged, RunRequest(JUDGE)).to_do == 0
    expect_refusal("current wording", reviews.order, judged, JUDGE, COVERAGE)


def test_what_was_said_of_the_old_words_is_missing_says_why_and_counts_again_with_them(
    judged: Project,
) -> None:
    assert came(judged) == 12
    word(judged)
    assert came(judged) == 10
    (version,) = validation_figures.of_judges(judged, PROTOCOLS[COVERAGE])
    assert (len(version.said), set(version.missing.values())) == (10, {"reworded"})
    listed = reparse.lines(judged, status="reworded")
    assert [(line.item, line.status) for line in listed] == [("1", "reworded")] * 2
    rows = result_raters.judgements(judged, PROTOCOLS[COVERAGE], version.judge.id, rubric(judged).item_id)
    assert sorted(row["status"].value if row["value"] is None else "ok" for row in rows) == [
        "ok", "ok", "ok", "ok", "skipped", "skipped",
    ]  # fmt: skip
    with judged.store.read() as db:
        bundle, notes = gathering.gather(db)
    assert len(bundle.judgements) == 10
    assert notes == ["2 judgements on units that were reworded since were left out."]
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
    for text in (OLD, "  "):
        expect_refusal("its current wording", word, judged, text)
    assert rubric(judged).revision == 2
    before = rubric(judged)
    word(judged)
    after = rubric(judged)
    assert [unit.text for unit in after.document.units] == [CRITERIA[0][0], NEW, CRITERIA[2][0]]
    assert [unit.id for unit in after.document.units] == [unit.id for unit in before.document.units]
    assert (after.id, after.state) == (before.id, State.SEALED)


def test_who_did_not_write_a_rubric_is_told_whom_to_ask(judged: Project) -> None:
    of = rubric(judged)
    with judged.store.write() as db:
        db.exec_driver_sql("UPDATE artifact SET author_id = 'gone' WHERE id = ?", (of.id,))
    way = reviews.way(judged, COVERAGE, of.item_id, of.document.units[0].id)
    assert (way.page, "wrote this rubric" in way.refused) == ("Author", True)
    expect_refusal("wrote this rubric", word, judged)


def test_a_gold_sub_task_is_worded_anew_through_any_of_its_cells(tmp_path: Path) -> None:
    judged = protocols_project(tmp_path)
    protocol = PROTOCOLS[PLAN]
    (version,) = validation_figures.of_judges(judged, protocol)
    cell = next(unit for _, unit in version.said)
    reviews.word(judged, PLAN, materials.item_ids(judged)[0], cell, "Gather every report there is.")
    (version,) = validation_figures.of_judges(judged, protocol)
    # Two sub-tasks of the system stand against the one that changed, and against two that did not.
    assert (list(version.missing.values()), len(version.said)) == (["reworded"] * 2, 4)


@pytest.fixture
def settled(tmp_path: Path) -> Project:
    """A consensus of two rubrics, closed by Cleo, who coordinates too."""
    judged = pairs_project.rubrics_project(tmp_path)
    result = pairs_project.opened(judged)
    for row in sheet(judged, result).rows:
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
    after = rubric(settled)
    assert [one.id for one in after.document.units] == [one.id for one in before.document.units]
    changed = [
        (a.text, b.text) for a, b in zip(before.document.units, after.document.units, strict=True) if a != b
    ]
    assert changed == [(unit.text, "Names two datasets")]
    assert reviews.way(settled, COVERAGE, before.item_id, unit.id).page == "Adjudicate"


def test_who_may_not_adjudicate_is_told_so_and_nothing_changes(settled: Project) -> None:
    pairs_project.work_as(settled, "Cora")
    of = rubric(settled)
    assert reviews.way(settled, COVERAGE, of.item_id, of.document.units[0].id).refused
    expect_refusal(
        "omeone else", reviews.word, settled, COVERAGE, of.item_id, of.document.units[0].id, "Other words"
    )
    assert rubric(settled) == of
