"""Work is handed out by a plan or one by one, and what is handed out decides what a person is offered.

Drafts that others review are handed out too. With the last of a stage its agreement is frozen: from what, and that
nothing ever changes it again.
"""

import json
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from annotator import __version__
from annotator.actions.assignments import assignments, planning, reviewing
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.authoring.comparing import matcher
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.parcels import packing, tasking, tray, unpacking, waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.cli.saying import app
from annotator.domain.common import canonical_json, derived_id, sha256
from annotator.domain.experts.adjudication import Agreement, form_of
from annotator.domain.experts.assignment import Assignment, ParcelOutcome, Purpose, Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.plan import Plan as Steps, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.common import expect_refusal, fixture_of
from tests.projects import pairs_project
from tests.projects.pairs_project import who, work_as
from tests.projects.small_projects import add_report, project_with, seal_rubric
from tests.storage import sql

DUE = datetime(2027, 1, 1, tzinfo=UTC)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four items; the annotators Ada, Ben and Cai, and Sue, who adjudicates. The coordinator works."""
    project = people.new_project(tmp_path / "p.goldsmith")
    for number in range(4):
        items.add(project, f"Question {number}")
    for name in ("Ada", "Ben", "Cai"):
        people.add_person(project, name)
    people.add_person(project, "Sue", (Role.ADJUDICATOR, Role.ANNOTATOR))
    return project


def plan(project: Project, **fields: object) -> AssignmentPlan:
    usual = {
        "stages": (Stage.RUBRIC, Stage.LABELLING), "overlap": 2,
        "annotators": tuple(who(project, name) for name in ("Ada", "Ben", "Cai")),
        "adjudicators": (who(project, "Sue"),), "items": tuple(items.ids(project)), "due": DUE, "seed": 3,
    }  # fmt: skip
    return AssignmentPlan(**usual | fields)  # type: ignore[arg-type]


def hand_out(project: Project, item_id: str, name: str, stage: Stage = Stage.RUBRIC, **how: object) -> str:
    return assignments.assign_one(project, item_id, who(project, name), stage, **how).subject  # type: ignore[arg-type]


def of(project: Project, name: str) -> list[Assignment]:
    return assignments.of_person(project, who(project, name))


def everything(project: Project) -> list[Assignment]:
    return [one for person in people.people(project) for one in assignments.of_person(project, person.id)]


def seal(project: Project, item_id: str, name: str) -> str:
    artifact_id = seal_rubric(work_as(project, name), item_id, 2)
    work_as(project, "Me")
    return artifact_id


def test_a_preview_tells_the_load_and_is_what_assigning_comes_to(project: Project) -> None:
    shown = planning.preview(
        project, plan(project, stages=(Stage.RUBRIC,), items=tuple(items.ids(project))[:3])
    )
    assert [(load.name, load.items, load.adjudications) for load in shown.load] == [
        ("Ada", 2, 0), ("Ben", 2, 0), ("Cai", 2, 0), ("Sue", 0, 3)
    ]  # fmt: skip
    assert ([pairing.items for pairing in shown.pairings], shown.refusals, shown.notes) == (
        [1, 1, 1],
        (),
        (),
    )
    shown = planning.preview(project, plan(project))
    assert everything(project) == []
    change = assignments.assign(project, plan(project))
    assert (change.kind, change.verb, len(change.after["rows"])) == ("assignment", "assign", shown.new)
    made = {(one.item_id, one.stage, one.person_id) for one in everything(project)}
    assert (made, len(made)) == (
        {(line.item_id, line.stage, person) for line in shown.lines for person in line.people}, 4 * (2 + 2 + 1),
    )  # fmt: skip


def test_a_plan_is_assigned_once_and_undone_in_one_step(project: Project) -> None:
    whole = plan(project, repeat_share=0.5)
    assignments.assign(project, whole)
    made = everything(project)
    shown = planning.preview(project, whole)
    assert (shown.new, shown.notes) == (0, ("All of this is assigned already.",))
    expect_refusal("assigned already", assignments.assign, project, whole)
    history.undo(project)
    assert everything(project) == []
    history.redo(project)
    assert everything(project) == made


def test_a_plan_is_not_undone_once_something_was_handed_in(project: Project) -> None:
    assignments.assign(project, plan(project, items=tuple(items.ids(project)[:1]), overlap=3))
    seal(project, items.ids(project)[0], "Ada")
    expect_refusal("changed elsewhere since", history.undo, project)


def test_a_plan_that_makes_no_sense_is_refused_in_words(project: Project) -> None:
    for fields, told in (
        ({"items": ()}, "names no items"),
        ({"items": ("elsewhere",)}, "not in this project"),
        ({"overlap": 0}, "At least one person"),
        ({"overlap": 4}, "done by 4 people, but the plan names 3"),
        ({"stages": (), "adjudicators": ()}, "names no stages"),
        ({"repeat_share": 1.5}, "share of repeats"),
        ({"annotators": ("nobody", "else")}, "not in this project"),
    ):
        assert told in " ".join(planning.preview(project, plan(project, **fields)).refusals)
        assert told in " ".join(
            expect_refusal("cannot be met", assignments.assign, project, plan(project, **fields)).details
        )
    assert everything(project) == []


def test_a_plan_names_only_people_who_are_there_and_have_the_role(project: Project) -> None:
    people.deactivate(project, who(project, "Ben"))
    shown = planning.preview(project, plan(project, adjudicators=(who(project, "Cai"),)))
    assert set(shown.refusals) == {"Ben left the project.", "Cai is not an adjudicator of this project."}
    expect_refusal("Ben left", hand_out, project, items.ids(project)[0], "Ben")


@pytest.mark.parametrize(
    ("many", "told"),
    [
        (1, "1 item will have no adjudicator, because fewer than two people answer it."),
        (2, "2 items will have no adjudicator, because fewer than two people answer each of them."),
    ],
)
def test_items_that_one_person_answers_have_no_adjudicator(project: Project, many: int, told: str) -> None:
    few = {"overlap": 1, "stages": (Stage.LABELLING,), "items": tuple(items.ids(project)[:many])}
    assert told in planning.preview(project, plan(project, **few)).notes


def test_an_item_without_anybody_left_to_adjudicate_is_named(project: Project) -> None:
    seal(project, items.ids(project)[0], "Sue")
    assert planning.preview(project, plan(project)).refusals == (
        "Everyone who could adjudicate item 1 also answers it.",
    )


def test_the_adjudicator_may_not_be_one_who_is_assigned_who_wrote_or_who_labelled(project: Project) -> None:
    one, two, three, free = items.ids(project)
    hand_out(project, one, "Sue", Stage.PLAN)
    seal(project, two, "Sue")
    report = add_report(work_as(project, "Ada"), three)
    seal(project, three, "Ada")
    labels.set_label(work_as(project, "Sue"), report, f"{three}/c1", "yes")
    work_as(project, "Me")
    for item_id in (one, two, three):
        expect_refusal("not be one of its annotators", hand_out, project, item_id, "Sue", Stage.ADJUDICATION)
    hand_out(project, free, "Sue", Stage.ADJUDICATION)


def test_an_item_has_one_adjudicator_who_is_not_made_an_annotator_of_it(project: Project) -> None:
    item_id = items.ids(project)[0]
    hand_out(project, item_id, "Sue", Stage.ADJUDICATION)
    expect_refusal("may not be one of its annotators", hand_out, project, item_id, "Sue", Stage.LABELLING)
    people.set_roles(project, who(project, "Cai"), (Role.ADJUDICATOR,))
    expect_refusal("has an adjudicator already", hand_out, project, item_id, "Cai", Stage.ADJUDICATION)
    assert [(one.item_id, one.stage) for one in of(project, "Sue")] == [(item_id, Stage.ADJUDICATION)]


def test_undoing_a_withdrawal_does_not_break_the_rule(project: Project) -> None:
    item_id, coordinator = items.ids(project)[0], project.person
    assignments.withdraw_all(project, [hand_out(project, item_id, "Sue")])
    people.set_roles(project, who(project, "Ada"), (Role.ANNOTATOR, Role.COORDINATOR))
    hand_out(work_as(project, "Ada"), item_id, "Sue", Stage.ADJUDICATION)
    project.work_as(coordinator)
    history.undo(project)  # of the roles
    expect_refusal("may not be one of its annotators", history.undo, project)


def test_work_is_assigned_once_withdrawn_and_given_back(project: Project) -> None:
    item_id = items.ids(project)[0]
    given = hand_out(project, item_id, "Ada", due=DUE)
    expect_refusal("already", hand_out, project, item_id, "Ada")
    made = of(project, "Ada")
    assert [(one.id, one.due, one.purpose) for one in made] == [(given, DUE, Purpose.WORK)]
    assignments.withdraw_all(project, [given])
    assert of(project, "Ada") == []
    history.undo(project)
    assert of(project, "Ada") == made
    history.undo(project)
    assert of(project, "Ada") == []
    given = hand_out(project, item_id, "Ada")
    assignments.change_due(project, [given], DUE.astimezone(timezone(timedelta(hours=9))))
    assert of(project, "Ada")[0].due == DUE
    history.undo(project)
    assert of(project, "Ada")[0].due is None


def test_sealing_hands_in_and_reopening_takes_that_back(project: Project) -> None:
    item_id, other, *_ = items.ids(project)
    given = hand_out(project, item_id, "Ada")
    hand_out(project, other, "Ada")
    artifact_id = seal(project, item_id, "Ada")
    assert {one.item_id: one.submitted_at for one in of(project, "Ada")} == {
        item_id: artifacts.read(project, artifact_id).sealed_at,
        other: None,
    }
    expect_refusal("None of these can be withdrawn", assignments.withdraw_all, project, [given])
    assignments.withdraw_open(project, who(project, "Ada"))
    assert [one.item_id for one in of(project, "Ada")] == [item_id]
    expect_refusal("no open work", assignments.withdraw_open, project, who(project, "Ada"))
    assignments.reopen(work_as(project, "Ada"), artifact_id)
    assert of(project, "Ada")[0].submitted_at is None
    assignments.withdraw_all(work_as(project, "Me"), [given])
    assert of(project, "Ada") == []


def test_what_was_sealed_before_it_was_assigned_is_handed_in(project: Project) -> None:
    item_id = items.ids(project)[0]
    seal(project, item_id, "Ada")
    for stage in (Stage.RUBRIC, Stage.PLAN):
        hand_out(project, item_id, "Ada", stage)
    assert {one.stage: one.submitted_at is not None for one in of(project, "Ada")} == {
        Stage.PLAN: False,
        Stage.RUBRIC: True,
    }


def test_agreement_freezes_when_the_last_rater_it_waited_for_is_withdrawn(project: Project) -> None:
    item_id = items.ids(project)[0]
    for name in ("Ada", "Ben", "Cai"):
        hand_out(project, item_id, name)
    for name in ("Ada", "Ben"):
        seal(project, item_id, name)
    assert assignments.of_item(project, item_id) == []
    assignments.withdraw_open(project, who(project, "Cai"))
    (frozen,) = assignments.of_item(project, item_id)
    assert {given.person_id for given in frozen.inputs} == {who(project, "Ada"), who(project, "Ben")}


def test_a_repeat_counts_as_no_further_rater_and_is_never_offered_in_the_project(project: Project) -> None:
    item_id = items.ids(project)[0]
    for name in ("Ben", "Ada"):
        hand_out(project, item_id, name, Stage.LABELLING)
    for name in ("Ada", "Cai"):
        hand_out(project, item_id, name, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT)
    with project.store.read() as db:
        result = assignments.raters_of(db, item_id, Stage.LABELLING)
        assert assignments.raters_of(db, item_id, Stage.RUBRIC) == []
    assert result == sorted([who(project, "Ada"), who(project, "Ben")])
    assert assignments.offered(work_as(project, "Cai")) == {}
    assert items.ids(project, items.Filter(mine=True)) == []


def test_without_assignment_everything_is_offered_with_one_only_that(project: Project) -> None:
    assert assignments.offered(project) is None
    _, second, third, _ = everything = items.ids(project)
    assert items.ids(project, items.Filter(mine=True)) == everything
    hand_out(project, second, "Ada")
    hand_out(project, third, "Ada", Stage.LABELLING)
    assert assignments.offered(work_as(project, "Ada")) == {second: {Stage.RUBRIC}, third: {Stage.LABELLING}}
    assert items.ids(project, items.Filter(mine=True)) == [second, third]
    assert items.ids(project, items.Filter(mine=True, stages=(Stage.RUBRIC, Stage.PLAN))) == [second]
    assert items.ids(project) == everything
    assert assignments.offered(work_as(project, "Ben")) is None
    assert items.ids(project, items.Filter(mine=True)) == everything


def waits(project: Project) -> int:
    """How many documents wait for Ada to write them; the coordinator works again."""
    count = waiting.counts(work_as(project, "Ada"))["Author"]
    work_as(project, "Me")
    return count


def test_what_waits_is_what_is_assigned_and_not_handed_in(project: Project) -> None:
    first, second, third, _ = items.ids(project)
    artifacts.start(work_as(project, "Ada"), third, Kind.RUBRIC)
    assert waits(project) == 1
    for item_id in (first, second):
        hand_out(project, item_id, "Ada")
        hand_out(project, item_id, "Ada", Stage.PLAN)
    # Items wait, not documents, and of those that were handed out only.
    assert waits(project) == 2
    items.change(project, second, retired=True)
    assert waits(project) == 1
    seal(project, first, "Ada")
    assert waits(project) == 1
    assignments.seal(
        project,
        artifacts.start(
            work_as(project, "Ada"), first, Kind.PLAN, Steps(units=(Subtask(text="Reads"),))
        ).subject,
    )
    assert waits(project) == 0


def test_only_a_coordinator_hands_out_takes_back_and_sets_dates(project: Project) -> None:
    item_id, ada = items.ids(project)[0], who(project, "Ada")
    given = hand_out(project, item_id, "Ada")
    before = everything(project)
    work_as(project, "Ben")
    for act, *told in (
        (assignments.assign, plan(project)),
        (assignments.assign_one, item_id, who(project, "Ben"), Stage.RUBRIC),
        (assignments.withdraw_all, [given]),
        (assignments.withdraw_open, ada),
        (assignments.reassign, given, who(project, "Cai")),
        (assignments.change_due, [given], DUE),
    ):
        expect_refusal("Only a coordinator", act, project, *told)
    assert everything(project) == before


DRAFT = Rubric(
    units=(
        Criterion(id="k1", text="Explains how citations are checked", weight=3),
        Criterion(id="k2", text="Names a study", weight=1),
        Criterion(id="k3", text="Is well written", weight=1),
    )
)


@pytest.fixture
def drafted(tmp_path: Path) -> Project:
    return reviewed(project_with(tmp_path, 2))


def reviewed(drafted: Project) -> Project:
    items.add(drafted, "How is evidence attributed?")
    assignments.assign(drafted, reviews_of(drafted, Stage.RUBRIC))
    return drafted


def reviews_of(drafted: Project, stage: Stage) -> AssignmentPlan:
    everyone = tuple(one.id for one in people.people(drafted) if one.name.startswith("Rater"))
    return AssignmentPlan(
        (stage,), len(everyone), everyone, items=tuple(items.ids(drafted)), reviewed=(stage,)
    )


def raters(drafted: Project) -> tuple[str, ...]:
    """The author and the reviewers, by their aliases."""
    of = [
        (purpose is not Purpose.WORK, person.alias, person.id)
        for person in people.people(drafted)
        for purpose in (one.purpose for one in assignments.of_person(drafted, person.id))
    ]
    return tuple(person_id for *_, person_id in sorted(of))


def as_(drafted: Project, person_id: str) -> Project:
    drafted.work_as(people.known(drafted, person_id))
    return drafted


def draft(drafted: Project) -> None:
    assignments.seal(drafted, artifacts.start(drafted, items.ids(drafted)[0], Kind.RUBRIC, DRAFT).subject)


def review(drafted: Project) -> str:
    artifact = reviewing.begin(drafted, items.ids(drafted)[0], Kind.RUBRIC).subject
    artifacts.change_unit(drafted, artifact, "k2", text="Names the first study", note="Which one?")
    artifacts.remove_unit(drafted, artifact, "k3")
    artifacts.add_unit(drafted, artifact, text="Compares two ways of checking", weight=2)
    expect_refusal("lacks an answer", assignments.seal, drafted, artifact)
    submit(drafted, artifact)
    return artifact


def submit(drafted: Project, artifact: str) -> None:
    for question in form_of(Kind.RUBRIC):
        reviewing.fill_in(drafted, artifact, question, "yes", "")
    assignments.seal(drafted, artifact)


def test_letter_5_a_draft_is_reviewed_unit_by_unit_and_its_author_answers(drafted: Project) -> None:
    coordinator = people.someone(drafted)
    author, reviewer = raters(drafted)
    item_id = items.ids(drafted)[0]
    expect_refusal("not submitted", reviewing.begin, as_(drafted, reviewer), item_id, Kind.RUBRIC)
    draft(as_(drafted, author))
    artifact = review(as_(drafted, reviewer))
    kept = reviewing.of_artifact(drafted, artifact)
    # No agreement is figured where nobody was blind, and nobody's counts before they agree.
    assert assignments.all_frozen(drafted) == []
    with drafted.store.read() as db:
        assert annotating.whose(db, Kind.RUBRIC) == {item_id: annotating.LEFT_OUT}
    changes = {unit.unit_id: (unit.change, unit.comment) for unit in reviewing.units(drafted, kept)}
    assert [changes.pop(unit) for unit in ("k1", "k2", "k3")] == [
        ("kept", ""), ("changed", "Which one?"), ("removed", ""),
    ]  # fmt: skip
    assert list(changes.values()) == [("added", "")]
    expect_refusal("Only the author", reviewing.answer, drafted, artifact, True)
    expect_refusal("do not agree", reviewing.answer, as_(drafted, author), artifact, False)
    reviewing.answer(drafted, artifact, True, "Right.")
    (line,) = reviewing.lines(as_(drafted, coordinator.id))
    assert line.state == "agreed"
    with drafted.store.read() as db:
        assert annotating.whose(db, Kind.RUBRIC) == {item_id: annotating.REVIEWED}
    assert "blind" in " ".join(
        expect_refusal("", assignments.assign, drafted, reviews_of(drafted, Stage.LABELLING)).details
    )


def test_letter_5_draft_review_and_answer_travel_in_packages(drafted: Project, tmp_path: Path) -> None:
    author, reviewer = raters(drafted)
    expect_refusal("not submitted", packing.task, drafted, reviewer, tmp_path / "early")
    first = tasking.take_task(packing.task(drafted, author, tmp_path / "a").path).project
    draft(first)
    unpacking.take_in(drafted, [tray.work(first, tmp_path / "a").path])
    with closing(tasking.take_task(packing.task(drafted, reviewer, tmp_path / "b").path).project) as second:
        review(second)
        came = tray.work(second, tmp_path / "b").path
    unpacking.take_in(drafted, [came])
    task = packing.task(drafted, author, tmp_path / "a").path
    first.close()
    with closing(tasking.take_task(task, first.path).project) as first:
        (line,) = [line for line in reviewing.lines(first) if not line.reviewer_id]
        assert [unit.change for unit in reviewing.units(first, line.review)] == [
            "kept",
            "changed",
            "added",
            "removed",
        ]
        reviewing.answer(first, line.review.artifact_id, True, "Thank you.")
        home = tray.work(first, tmp_path / "c").path
    unpacking.preview(drafted, [home])
    assert ParcelOutcome.NEW in {piece.outcome for piece in unpacking.take_in(drafted, [home])[0].pieces}
    (line,) = reviewing.lines(drafted)
    assert (line.state, line.review.answer) == ("agreed", "Thank you.")


def test_letter_5_reviews_are_listed_by_the_command_line(
    drafted: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    author, reviewer = raters(drafted)
    draft(as_(drafted, author))
    review(as_(drafted, reviewer))
    answer = ["answer", str(drafted.path), "--item", "1", "--kind", "rubric", "--agree", "--as", author]
    app(["reviews", *answer], standalone_mode=False)
    capsys.readouterr()
    app(["reviews", "list", str(drafted.path), "--as", author, "--json"], standalone_mode=False)
    (one,) = json.loads(capsys.readouterr().out)["reviews"]
    assert (one["state"], one["blind"], len(one["units"])) == ("agreed", False, 4)


def test_letter_5_a_second_reviewer_goes_on_from_what_the_author_agreed_with(tmp_path: Path) -> None:
    drafted = reviewed(project_with(tmp_path, 3))
    (item_id,), coordinator = items.ids(drafted), people.someone(drafted)
    author, first, second = raters(drafted)
    draft(as_(drafted, author))
    expect_refusal("comes first", reviewing.begin, as_(drafted, second), item_id, Kind.RUBRIC)
    one = review(as_(drafted, first))
    expect_refusal("comes first", reviewing.begin, as_(drafted, second), item_id, Kind.RUBRIC)
    expect_refusal("another review", packing.task, as_(drafted, coordinator.id), second, tmp_path / "early")
    reviewing.answer(as_(drafted, author), one, True)
    other = reviewing.begin(as_(drafted, second), item_id, Kind.RUBRIC).subject
    reviewing.fill_in(drafted, other, "clarity", "partly", "Two readings.")
    history.undo(drafted)
    assert reviewing.of_artifact(drafted, other).form == {}
    expect_refusal("no such answer", reviewing.fill_in, drafted, other, "beauty", "yes")
    begun = [unit.text for unit in artifacts.read(drafted, other).document.units]
    assert begun == [
        "Explains how citations are checked",
        "Names the first study",
        "Compares two ways of checking",
    ]
    artifacts.change_unit(drafted, other, "k1", text="Explains how each citation is checked")
    submit(drafted, other)
    assert settled(drafted) == begun
    reviewing.answer(as_(drafted, author), other, True)
    assert settled(drafted) == ["Explains how each citation is checked", *begun[1:]]
    assert [line.state for line in reviewing.lines(as_(drafted, coordinator.id))] == ["agreed", "agreed"]


def settled(drafted: Project) -> list[str]:
    with drafted.store.read() as db:
        (row,) = annotating.judged_rows(db, Kind.RUBRIC).values()
    return [unit.text for unit in artifacts.artifact_of(row).document.units]


paired = fixture_of(pairs_project.paired_project, annotators=3)


def item(paired: Project) -> str:
    return items.ids(paired)[0]


def frozen(paired: Project) -> Agreement | None:
    return next(iter(assignments.of_item(paired, item(paired))), None)


def kept(paired: Project) -> list[tuple[Any, ...]]:
    return sql.rows(paired, "SELECT * FROM agreement ORDER BY id")


def go_on(paired: Project, alias: str, artifact_id: str, weight: int) -> None:
    assignments.reopen(work_as(paired, f"Expert {alias}"), artifact_id)
    artifacts.change_unit(
        paired, artifact_id, artifacts.read(paired, artifact_id).document.units[0].id, weight=weight
    )
    assignments.seal(paired, artifact_id)


def test_the_second_seal_freezes_what_was_sealed_in_the_order_of_ids(paired: Project) -> None:
    sealed = {pairs_project.sealed_by(paired, "B", pairs_project.weighted_rubric(1, 2, 2))}
    assert frozen(paired) is None
    sealed.add(pairs_project.sealed_by(paired, "A", pairs_project.weighted_rubric(1, 2, 3)))
    result = frozen(paired)
    assert (result.stage, result.matcher, result.program, result.id) == (
        Stage.RUBRIC, matcher(), __version__, derived_id("agreement", item(paired), "rubric"),
    )  # fmt: skip
    (pair,) = result.pairs
    assert pair.values == {"weight": ((1, 1), (2, 2), pairs_project.in_order(paired, 3, 2))}
    assert pair.a < pair.b
    assert [given.person_id for given in result.inputs] == [pair.a, pair.b]
    assert {given.artifact_id for given in result.inputs} == sealed
    for given in result.inputs:
        (revision,) = artifacts.revisions(paired, given.artifact_id, (given.revision,))
        assert (revision.sealed, revision.sha256, revision.chain) == (True, given.sha256, given.chain)
        assert (given.sealed_at, given.guideline, given.form) == (revision.at, "1", "1")
    assert result.frozen_at == max(given.sealed_at for given in result.inputs)


def test_a_frozen_record_has_its_hash_is_audited_once_and_never_changes(paired: Project) -> None:
    first, _ = (pairs_project.sealed_by(paired, alias, pairs_project.weighted_rubric(1, 2)) for alias in "AB")
    before = kept(paired)
    assert len(before) == 1
    record_id, content, digest = sql.first(paired, "SELECT id, content, sha256 FROM agreement")
    assert (digest, content.encode()) == (sha256(content), canonical_json(json.loads(content)))
    assert Agreement.model_validate_json(content).id == record_id
    audited = sql.rows(
        paired, "SELECT verb, before, json_extract(after, '$.sha256') FROM audit WHERE kind = 'agreement'"
    )
    assert audited == [("freeze", None, digest)]
    go_on(paired, "A", first, weight=3)
    pairs_project.sealed_by(paired, "C", pairs_project.weighted_rubric(3, 3))
    assert (kept(paired), checking.check(paired).problems) == (before, [])
    altered = content.replace('"value":1.0', '"value":0.5', 1)
    assert altered != content
    # Through the store, so that the witness of the row is renewed: the record's own hash must tell.
    sql.alter(paired, "UPDATE agreement SET content = ?", [altered])
    (problem,) = checking.check(paired).problems
    assert problem.table == "agreement"
    assert "was altered" in problem.happened


def test_the_first_seal_counts_even_when_its_author_went_on(paired: Project) -> None:
    first = pairs_project.sealed_by(paired, "A", pairs_project.weighted_rubric(1, 2, 3))
    go_on(paired, "A", first, weight=3)
    assignments.reopen(paired, first)
    pairs_project.sealed_by(paired, "B", pairs_project.weighted_rubric(1, 2, 3))
    result = frozen(paired)
    # The first sealed revision follows that of starting; the weights in it are equal.
    assert ({given.revision for given in result.inputs}, result.pairs[0].values["weight"]) == (
        {2}, ((1, 1), (2, 2), (3, 3)),
    )  # fmt: skip


def test_a_third_who_has_begun_is_waited_for(paired: Project) -> None:
    artifacts.start(work_as(paired, "Expert C"), item(paired), Kind.RUBRIC, pairs_project.weighted_rubric(1))
    for alias in "AB":
        pairs_project.sealed_by(paired, alias, pairs_project.weighted_rubric(1, 2))
    assert frozen(paired) is None


RUBRIC, PLAN, AGAIN = (Stage.RUBRIC, 1), (Stage.PLAN, 1), (Stage.RUBRIC, 2)


@pytest.mark.parametrize(
    ("assigned", "seal", "counted"),
    [
        ({"A": [RUBRIC], "B": [RUBRIC]}, "AC", ""),
        ({"A": [RUBRIC], "B": [RUBRIC]}, "ACB", "AB"),
        ({"A": [RUBRIC], "B": [RUBRIC], "C": [RUBRIC]}, "AB", ""),
        ({"A": [RUBRIC], "B": [RUBRIC], "C": [RUBRIC]}, "CAB", "ABC"),
        # Other stages and repeats are not waited for, and a single person assigned freezes nothing.
        ({"C": [PLAN, AGAIN]}, "AB", "AB"),
        ({"A": [RUBRIC]}, "AB", ""),
    ],
)
def test_only_the_people_assigned_are_waited_for_and_counted(
    paired: Project, assigned: dict[str, list[tuple[Stage, int]]], seal: str, counted: str
) -> None:
    for alias, given in assigned.items():
        for stage, trial in given:
            pairs_project.assign(paired, f"Expert {alias}", stage, trial=trial)
    for alias in seal:
        pairs_project.sealed_by(paired, alias, pairs_project.weighted_rubric(1, 2))
    inputs = {one.person_id for each in assignments.of_item(paired, item(paired)) for one in each.inputs}
    assert inputs == {pairs_project.person_of(paired, alias).id for alias in counted}


def test_imported_gold_and_a_consensus_are_nobodys_answer(paired: Project) -> None:
    for alias, becomes in (("A", "author_id = ''"), ("C", "state = 'consensus'")):
        sql.alter(
            paired,
            f"UPDATE artifact SET {becomes} WHERE id = ?",
            [pairs_project.sealed_by(paired, alias, pairs_project.weighted_rubric(1, 2))],
        )
    pairs_project.sealed_by(paired, "B", pairs_project.weighted_rubric(1, 2))
    assert frozen(paired) is None


def test_a_seal_that_is_taken_back_takes_its_agreement_along(paired: Project) -> None:
    pairs_project.sealed_by(paired, "A", pairs_project.weighted_rubric(1, 2))
    with suppress(InterruptedError), paired.store.write():
        pairs_project.sealed_by(paired, "B", pairs_project.weighted_rubric(1, 2))
        assert frozen(paired) is not None
        raise InterruptedError
    assert (frozen(paired), len(sql.rows(paired, "SELECT 1 FROM artifact"))) == (None, 1)
