"""The table of who is where: states, dates, progress and time, for each assignment and added up."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import board, label_sealing, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Purpose, Role, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.canonical import now, sha256
from annotator.storage.tables import ADJUDICATION, AGREEMENT, DISPUTE
from tests.projects.pairs_project import who, work_as
from tests.projects.small_projects import labelling_project, rubric
from tests.storage import sql

DAY = timedelta(days=1)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two items with two reports and a rubric of three criteria each; Ada and Ben annotate, Sue adjudicates."""
    project = labelling_project(tmp_path, criteria=3, reports=2)
    for name in ("Ada", "Ben"):
        people.add_person(project, name)
    people.add_person(project, "Sue", (Role.ADJUDICATOR,))
    return project


def ask(project: Project, name: str, stage: Stage, item: int = 0, **fields: object) -> str:
    work_as(project, "Me")
    item_id = items.ids(project)[item]
    return assignments.assign_one(project, item_id, who(project, name), stage, **fields).subject  # type: ignore[arg-type]


def line(project: Project, name: str, stage: Stage = Stage.RUBRIC, trial: int = 1) -> board.AssignmentStatus:
    work_as(project, "Me")
    return next(
        one for one in board.board(project) if (one.person, one.stage, one.trial) == (name, stage, trial)
    )


def states(project: Project, stage: Stage = Stage.RUBRIC) -> dict[str, str]:
    work_as(project, "Me")
    return {one.person: one.state for one in board.board(project) if one.stage is stage}


def begin(project: Project, name: str) -> str:
    work_as(project, name)
    item_id = items.ids(project)[0]
    return artifacts.start(project, item_id, Kind.RUBRIC, rubric(item_id, 4)).subject


def label(project: Project, name: str, most: int = 99, seconds: float = 10.0) -> None:
    work_as(project, name)
    for response_id, unit_id in label_sealing.missing(project, items.ids(project)[0])[:most]:
        labels.set_label(project, response_id, unit_id, "yes", seconds=seconds)


def add_adjudication(project: Project, state: str, stage: Stage = Stage.RUBRIC) -> None:
    """An adjudication by Sue, the agreement of that stage of the first item being frozen."""
    item_id = items.ids(project)[0]
    with project.store.write() as db:
        frozen = {
            "id": f"agreement {stage}", "item_id": item_id, "stage": stage.value, "content": "{}",
            "sha256": sha256("{}"), "frozen_at": now(),
        }  # fmt: skip
        db.execute(insert(AGREEMENT).prefix_with("OR IGNORE").values(**frozen))
        db.execute(
            insert(ADJUDICATION).values(
                id=f"adjudication {stage}", item_id=item_id, stage=stage.value, agreement_id=f"agreement {stage}",
                adjudicator_id=who(project, "Sue"), seed=1, letters=json.dumps({}), state=state, opened_at=now(),
            )
        )  # fmt: skip


def close(project: Project, stage: Stage = Stage.RUBRIC) -> None:
    sql.alter(project, "UPDATE adjudication SET state = 'closed' WHERE stage = ?", [stage.value])


def dispute(project: Project, name: str) -> None:
    item_id = items.ids(project)[0]
    with project.store.write() as db:
        db.execute(
            insert(DISPUTE).values(
                id="dispute", item_id=item_id, person_id=who(project, name), stage=Stage.RUBRIC.value,
                text="The paper says so.", at=now(), state="open",
            )
        )  # fmt: skip


def test_the_board_is_empty_then_ordered(project: Project) -> None:
    assert board.board(project) == []
    assert board.per_person([]) == []
    for name, stage, item in (
        ("Ben", Stage.RUBRIC, 1), ("Ben", Stage.RUBRIC, 0), ("Ada", Stage.RUBRIC, 0), ("Ada", Stage.QUERY, 0)
    ):  # fmt: skip
        ask(project, name, stage, item)
    result = [(one.item_key, one.stage.value, one.person) for one in board.board(project)]
    assert result == [
        ("1", "query", "Ada"),
        ("1", "rubric", "Ada"),
        ("1", "rubric", "Ben"),
        ("2", "rubric", "Ben"),
    ]
    items.change(project, items.ids(project)[0], retired=True)
    assert [one.item_key for one in board.board(project)] == ["2"]


def test_a_line_goes_from_not_begun_over_draft_to_submitted_and_back(project: Project) -> None:
    ask(project, "Ada", Stage.RUBRIC)
    assert (line(project, "Ada").state, line(project, "Ada").units) == ("not begun", 0)
    artifact_id = begin(project, "Ada")
    assert (line(project, "Ada").state, line(project, "Ada").units) == ("draft", 4)
    work_as(project, "Ada")
    assignments.seal(project, artifact_id)
    result = line(project, "Ada")
    assert (result.state, result.handed_in) == ("submitted", True)
    assert result.submitted_at == artifacts.read(project, artifact_id).sealed_at
    work_as(project, "Ada")
    assignments.reopen(project, artifact_id)
    assert (line(project, "Ada").state, line(project, "Ada").handed_in) == ("draft", False)


def test_both_lines_of_a_pair_follow_what_becomes_of_the_stage(project: Project) -> None:
    for name in ("Ada", "Ben"):
        ask(project, name, Stage.RUBRIC)
        assignments.seal(project, mine := begin(project, name))
    assert states(project) == {"Ada": "frozen", "Ben": "frozen"}
    work_as(project, "Ben")
    assignments.reopen(project, mine)
    assert states(project) == {"Ada": "frozen", "Ben": "frozen"}
    assert line(project, "Ben").submitted_at is None
    sql.alter(project, "DELETE FROM agreement")
    add_adjudication(project, "open")
    assert states(project) == {"Ada": "in adjudication", "Ben": "in adjudication"}
    close(project)
    assert states(project) == {"Ada": "consensus", "Ben": "consensus"}
    dispute(project, "Ben")
    assert states(project) == {"Ada": "disputed", "Ben": "disputed"}


def test_who_joins_after_the_freeze_has_not_begun(project: Project) -> None:
    for name in ("Ada", "Ben"):
        assignments.seal(project, begin(project, name))
    ask(project, "Ada", Stage.RUBRIC)
    ask(project, "Rater 2", Stage.RUBRIC)
    assert states(project) == {"Ada": "frozen", "Rater 2": "not begun"}


def test_labelling_counts_labels_of_all_reports_and_their_seconds(project: Project) -> None:
    ask(project, "Ada", Stage.LABELLING)
    result = line(project, "Ada", Stage.LABELLING)
    assert (result.state, result.units, result.of, result.seconds) == ("not begun", 0, 6, 0.0)
    label(project, "Ada", most=2)
    result = line(project, "Ada", Stage.LABELLING)
    assert (result.state, result.units, result.of, result.seconds) == ("draft", 2, 6, 20.0)
    label(project, "Ada")
    label_sealing.submit(project, items.ids(project)[0])
    # Time is taken from what was spent on the report where that is more.
    for task in labels.queue(project):
        assignments.spend(project, task.response_id, 100)
    result = line(project, "Ada", Stage.LABELLING)
    assert (result.state, result.units, result.seconds) == ("submitted", 6, 200.0)


def test_time_on_a_document_counts_for_its_stage_alone(project: Project) -> None:
    for stage in (Stage.RUBRIC, Stage.PLAN):
        ask(project, "Ada", stage)
    artifact_id = begin(project, "Ada")
    assignments.spend(project, artifact_id, 30)
    assignments.spend(project, artifact_id, 12.5)
    work_as(project, "Ben")
    assignments.spend(project, artifact_id, 99)
    assert line(project, "Ada").seconds == 42.5
    assert line(project, "Ada", Stage.PLAN).seconds == 0.0


def test_overdue_is_what_is_late_and_not_handed_in(project: Project) -> None:
    today = datetime.now(UTC)
    ask(project, "Ada", Stage.RUBRIC, due=today - DAY)
    ask(project, "Ada", Stage.PLAN, due=today + DAY)
    ask(project, "Ada", Stage.QUERY)
    assert line(project, "Ada").overdue
    assert not line(project, "Ada", Stage.PLAN).overdue
    assert not line(project, "Ada", Stage.QUERY).overdue
    work_as(project, "Ada")
    assignments.seal(project, begin(project, "Ada"))
    assert not line(project, "Ada").overdue


def test_a_repeat_is_handed_in_by_itself(project: Project) -> None:
    ask(project, "Ada", Stage.LABELLING)
    ask(project, "Ada", Stage.LABELLING, trial=2, purpose=Purpose.REPEAT)
    label(project, "Ada")
    label_sealing.submit(project, items.ids(project)[0])
    again = line(project, "Ada", Stage.LABELLING, trial=2)
    assert (again.state, again.units, again.purpose) == ("not begun", 0, Purpose.REPEAT)
    with project.store.write() as db:
        assignments.mark_submitted(
            db, items.ids(project)[0], who(project, "Ada"), Stage.LABELLING, now(), trial=2
        )
    assert line(project, "Ada", Stage.LABELLING, trial=2).state == "submitted"
    assert line(project, "Ada", Stage.LABELLING).state == "submitted"


def test_an_adjudicators_line_counts_the_stages_that_are_closed(project: Project) -> None:
    for name in ("Ada", "Ben"):
        for stage in (Stage.RUBRIC, Stage.PLAN):
            ask(project, name, stage)
    ask(project, "Sue", Stage.ADJUDICATION)

    def sue() -> tuple[str, int, int]:
        result = line(project, "Sue", Stage.ADJUDICATION)
        return result.state, result.units, result.of

    assert sue() == ("not begun", 0, 2)
    add_adjudication(project, "open")
    assert sue() == ("in adjudication", 0, 2)
    close(project)
    assert sue() == ("in adjudication", 1, 2)
    add_adjudication(project, "closed", Stage.PLAN)
    assert sue() == ("consensus", 2, 2)
    dispute(project, "Ada")
    assert sue() == ("disputed", 2, 2)


def test_totals_add_up_by_person_and_by_stage(project: Project) -> None:
    late = datetime.now(UTC) - DAY
    ask(project, "Ada", Stage.RUBRIC)
    ask(project, "Ada", Stage.PLAN, due=late)
    ask(project, "Ben", Stage.PLAN)
    artifact_id = begin(project, "Ada")
    assignments.spend(project, artifact_id, 30)
    assignments.seal(project, artifact_id)
    work_as(project, "Me")
    lines = board.board(project)
    by_person = [
        (one.name, one.assignments, one.states, one.handed_in, one.overdue, one.units, one.seconds)
        for one in board.per_person(lines)
    ]
    assert by_person == [
        ("Ada", 2, {"not begun": 1, "submitted": 1}, 1, 1, 4, 30.0),
        ("Ben", 1, {"not begun": 1}, 0, 0, 0, 0.0),
    ]


def test_an_annotator_sees_their_own_lines_alone_and_no_repeat(project: Project) -> None:
    for name in ("Ada", "Ben"):
        ask(project, name, Stage.LABELLING)
        ask(project, name, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT)
    work_as(project, "Ada")
    assert [(one.person, one.trial) for one in board.board(project)] == [("Ada", 1)]


def test_the_board_asks_as_few_questions_for_many_items_as_for_few(tmp_path: Path) -> None:
    asked = []
    for questions in (1, 8):
        (folder := tmp_path / str(questions)).mkdir()
        project = labelling_project(folder, criteria=1, questions=questions)
        for item in range(questions):
            ask(project, "Rater 2", Stage.LABELLING, item)
        with sql.traced(project) as statements:
            assert len(board.board(project)) == questions
        asked.append(len(statements))
        project.close()
    assert asked[0] == asked[1]
