"""What each person's task would hold, and many tasks written in one go."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.parcels import packing, unpacking
from annotator.actions.project import people
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.experts.person import Role
from annotator.domain.texts.change import now
from tests.material.sent_apart import annotators, coordinated, returned


def test_a_holding_counts_items_stages_and_the_earliest_open_date(tmp_path: Path) -> None:
    project = coordinated(tmp_path, ["Ana"])
    ana, (first, second) = annotators(project)[0], items.ids(project)
    dates = [datetime(2030, 5, day, tzinfo=UTC) for day in (9, 4)]
    assignments.assign_one(project, first, ana.id, Stage.PLAN, due=dates[0])
    assignments.assign_one(project, second, ana.id, Stage.PLAN, due=dates[1])
    (holding,) = packing.holdings(project)
    assert (holding.items, holding.pieces, holding.handed_in) == (2, 4, 0)
    assert holding.stages == ((Stage.PLAN, 2), (Stage.RUBRIC, 2))
    assert holding.due == dates[1]


def test_a_repeat_waits_for_its_day_and_then_counts_as_an_item(tmp_path: Path) -> None:
    project = coordinated(tmp_path, ["Ana"])
    ana, (first, second) = annotators(project)[0], items.ids(project)
    unpacking.take_in(project, [returned(project, ana.id, tmp_path / "ana")])
    for item_id, days in ((first, 10), (second, -1)):
        assignments.assign_one(
            project, item_id, ana.id, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT,
            not_before=now() + timedelta(days=days),
        )  # fmt: skip
    (holding,) = packing.holdings(project)
    assert holding.items == 3
    assert holding.stages == ((Stage.RUBRIC, 2), (Stage.LABELLING, 1))


def test_labelling_waits_until_the_own_document_of_the_item_is_handed_in(tmp_path: Path) -> None:
    project = coordinated(tmp_path, ["Ana"])
    ana, (first, _) = annotators(project)[0], items.ids(project)
    assignments.assign_one(project, first, ana.id, Stage.LABELLING)
    assert packing.holdings(project)[0].stages == ((Stage.RUBRIC, 2),)
    unpacking.take_in(project, [returned(project, ana.id, tmp_path / "ana")])
    assert packing.holdings(project)[0].stages == ((Stage.RUBRIC, 2), (Stage.LABELLING, 1))


def test_who_only_adjudicates_gets_no_task(tmp_path: Path) -> None:
    project = coordinated(tmp_path, [])
    people.add_person(project, "Senior", (Role.ADJUDICATOR,))
    assignments.assign_one(project, items.ids(project)[0], annotators(project)[0].id, Stage.ADJUDICATION)
    assert packing.holdings(project) == []


def test_handed_in_work_and_the_last_writing_are_told(tmp_path: Path) -> None:
    project = coordinated(tmp_path, ["Ana"])
    unpacking.take_in(project, [returned(project, annotators(project)[0].id, tmp_path / "ana")])
    (holding,) = packing.holdings(project)
    assert holding.handed_in == 2
    assert holding.written_at is not None


def test_a_task_that_cannot_be_written_keeps_no_other_back(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    ana, li = annotators(project)
    unpacking.take_in(project, [returned(project, ana.id, tmp_path / "ana")])
    assignments.assign_one(project, items.ids(project)[0], ana.id, Stage.LABELLING)
    told: list[tuple[str, int, int]] = []
    done = packing.write_tasks(project, [ana.id, li.id], tmp_path, progress=lambda *words: told.append(words))
    assert [one.packed is not None for one in done] == [False, True]
    assert "no settled rubric" in str(done[0].problem)
    assert [words[1:] for words in told] == [(0, 2), (1, 2)]
