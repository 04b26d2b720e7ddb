"""Labels go out under aliases and come back; what each task would hold, and what lies in the tray."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from annotator.actions.assignments import assignments
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Purpose, Role, Stage, TrayState
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import now
from annotator.storage.tables import ARTIFACT
from tests.material.sent_apart import annotators, coordinated, project_in, returned, second_copy, write_rubric
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import SYSTEMS, add_report, labelling_project, units_of
from tests.storage import sql


def three_reports(folder: Path) -> Project:
    """Two items with settled rubrics, three reports each that differ in their words; a coordinator works."""
    folder.mkdir()
    project = labelling_project(folder, reports=0)
    for item_id in items.ids(project):
        for number, system in enumerate(SYSTEMS):
            add_report(project, item_id, system, f"Report number {number} measures accuracy.")
    settle(project, "", "consensus")
    return project


def settle(project: Project, author: str, state: str) -> None:
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE artifact SET author_id = ?, state = ?", (author, state))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Such a project, in which Ada is to label the first item."""
    project = three_reports(tmp_path / "home")
    person = people.add_person(project, "Ada", alias="Z1").subject
    assignments.assign_one(project, items.ids(project)[0], person, Stage.LABELLING)
    return project


def ada(project: Project) -> str:
    return people.known(project, "Z1").id


def label_all(project: Project, yes: str) -> None:
    """Every unit of every report is labelled: yes where the report holds these words; then all is submitted."""
    for task in labels.queue(project):
        shown = labels.sheet(project, task.response_id)
        for unit in shown.units:
            labels.set_label(project, task.response_id, unit.id, "yes" if yes in shown.report else "no")
            labels.set_evidence(project, task.response_id, unit.id, shown.report[2:6], 2, 6)
    for item_id in {task.item_id for task in labels.queue(project)}:
        label_sealing.submit(project, item_id)


def judged(project: Project, trial: int) -> set[tuple[str, str, str]]:
    """(system, unit, value) of what Ada said."""
    rows = sql.rows(project,
        "SELECT s.name, j.unit_id, j.value FROM judgement j JOIN response r ON r.id = j.response_id "
        "JOIN system s ON s.id = r.system_id WHERE j.rater_id = ? AND j.trial = ?", (ada(project), trial),
    )  # fmt: skip
    return set(rows)


def test_labels_come_back_on_the_reports_they_were_given_for(project: Project, tmp_path: Path) -> None:
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    names = {name for (name,) in sql.rows(theirs, "SELECT name FROM system")}
    ids = {one for (one,) in sql.rows(theirs, "SELECT id FROM response")}
    report = sql.first(
        project,
        "SELECT r.text, s.name FROM response r JOIN system s ON s.id = r.system_id WHERE r.item_id = ? LIMIT 1",
        (items.ids(project)[0],),
    )
    label_all(theirs, report[0])
    unpacking.take_in(project, [tray.work(theirs).path])
    units = units_of(project, items.ids(project)[0])
    expected = {(name, unit, "yes" if name == report[1] else "no") for name in SYSTEMS for unit in units}
    assert judged(project, 1) == expected
    evidence = "SELECT DISTINCT quote_start, quote_end FROM judgement WHERE rater_id = ?"
    assert sql.rows(project, evidence, (ada(project),)) == [(2, 6)]
    assert not names & set(SYSTEMS)
    assert not ids & {one for (one,) in sql.rows(project, "SELECT id FROM response")}


def test_what_they_said_here_under_other_protocols_stays_when_their_labels_come_back(
    project: Project, tmp_path: Path
) -> None:
    me = people.someone(project)
    project.work_as(people.known(project, "Z1"))
    task = labels.queue(project, "researcherbench.pairwise")[0]
    labels.set_label(project, task.response_id, task.other_id, "tie", protocol="researcherbench.pairwise")
    project.work_as(me)
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    label_all(theirs, "nothing")
    unpacking.take_in(project, [tray.work(theirs).path])
    values = [value for _, _, value in judged(project, 1)]
    assert (values.count("tie"), "no" in values) == (1, True)


def test_a_repeat_looks_like_another_item_and_comes_back_as_a_second_trial(
    project: Project, tmp_path: Path
) -> None:
    item_id = items.ids(project)[0]
    past = datetime(2026, 1, 1, tzinfo=UTC)
    assignments.assign_one(
        project, item_id, ada(project), Stage.LABELLING, purpose=Purpose.REPEAT, trial=2, not_before=past
    )
    theirs = tasking.take_task(packing.task(project, ada(project), tmp_path).path).project
    assert len(items.ids(theirs)) == 2
    keys = {key for (key,) in sql.rows(theirs, "SELECT key FROM item")}
    label_all(theirs, "nothing")
    work = tray.work(theirs).path
    assert len(keys) == 2
    unpacking.take_in(project, [work])
    assert (len(judged(project, 1)), judged(project, 2)) == (len(judged(project, 2)), judged(project, 1))
    before = sql.first(project, "SELECT count(*) FROM judgement")
    unpacking.take_in(project, [work])
    assert sql.first(project, "SELECT count(*) FROM judgement") == before


def test_a_repeat_is_not_served_before_its_day(project: Project, tmp_path: Path) -> None:
    later = datetime(2099, 1, 1, tzinfo=UTC)
    assignments.assign_one(
        project, items.ids(project)[0], ada(project), Stage.LABELLING, purpose=Purpose.REPEAT, trial=2, not_before=later
    )  # fmt: skip
    packed = packing.task(project, ada(project), tmp_path)
    assert (packed.items, packed.notes) == (1, ("1 repeat is not served before their date.",))


def test_reports_are_labelled_by_what_is_settled_never_by_a_partners_rubric(
    project: Project, tmp_path: Path
) -> None:
    settle(project, people.add_person(project, "Somebody").subject, "sealed")
    expect_refusal("no settled rubric", packing.task, project, ada(project), tmp_path)


def test_no_quotation_of_its_authors_reaches_those_who_label_by_a_document():
    anchors = (Anchor(quote="CANARY 1"), Anchor(quote="CANARY 2"))
    quoted = Criterion(text="Explains it", anchor=anchors[0], more_anchors=anchors[1:])
    served = packing._for_raters(Kind.RUBRIC, Rubric(units=(quoted,)).tree())
    assert "CANARY" not in str(served)
    assert [unit["text"] for unit in served["units"]] == ["Explains it"]


def clashing(project: Project, folder: Path, *texts: str) -> tray.TraySheet:
    """Work on the first item from a second copy of Ana's task, taken in after that of the first."""
    ana = annotators(project)[0]
    unpacking.take_in(project, [returned(project, ana.id, folder / "one")])
    theirs = second_copy(project, ana.id, project_in(folder / "one"), folder / "two")
    write_rubric(theirs, items.ids(theirs)[0], *texts)
    path = tray.work(theirs).path
    theirs.close()
    unpacking.take_in(project, [path])
    return only(project)


def only(project: Project) -> tray.TraySheet:
    (result,) = tray.sheets(project)
    return tray.sheet(project, result)


def words(sheet: tray.TraySheet) -> list[tuple[str, str]]:
    return [(came.text if came else "", here.text if here else "") for came, here in sheet.rows]


def test_units_of_two_copies_are_paired_by_likeness(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    sheet = clashing(project, tmp_path, "Names a mine in Peru", "Explains the weight of pure gold")
    assert words(sheet) == [
        ("Names a mine in Peru", ""),
        ("Explains the weight of pure gold", "Explains the weight of gold"),
    ]
    assert sheet.here_revision == 2


def test_what_is_here_only_stands_last_and_an_entry_may_be_accepted_until_it_is(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    sheet = clashing(project, tmp_path, "Names a mine in Peru")
    assert words(sheet) == [("Names a mine in Peru", ""), ("", "Explains the weight of gold")]
    tray.set_aside(project, sheet.entry.id)
    (aside,) = tray.sheets(project, TrayState.SET_ASIDE)
    assert aside.may_be_accepted
    tray.accept(project, sheet.entry.id)
    (accepted,) = tray.sheets(project, TrayState.ACCEPTED)
    assert not accepted.may_be_accepted


def test_the_adjudicator_of_an_item_decides_without_seeing_its_annotators_work(tmp_path: Path) -> None:
    project = coordinated(tmp_path)
    people.add_person(project, "Senior", (Role.ADJUDICATOR, Role.COORDINATOR), "S")
    senior = next(one for one in people.people(project) if one.alias == "S")
    assignments.assign_one(project, items.ids(project)[0], senior.id, Stage.ADJUDICATION)
    clashing(project, tmp_path, "Names a mine in Peru")
    project.work_as(senior)
    sheet = only(project)
    assert "You adjudicate this item" in sheet.withheld
    assert (sheet.came, sheet.here, sheet.rows) == (None, None, ())
    tray.accept(project, sheet.entry.id)
    assert tray.sheets(project) == []


@pytest.fixture
def labelled(tmp_path: Path) -> Project:
    """One item with a settled rubric and two reports, to be labelled by Rater 2."""
    project = labelling_project(tmp_path, criteria=2, reports=2, questions=1)
    item_id = items.ids(project)[0]
    with project.store.write() as db:
        rubric = artifacts_of(project, item_id)[0].id
        db.execute(update(ARTIFACT).where(ARTIFACT.c.id == rubric).values(author_id="", state="consensus"))
    rater = next(one for one in people.people(project) if one.name == "Rater 2")
    assignments.assign_one(project, item_id, rater.id, Stage.LABELLING)
    return project


def labels_from(theirs: Project, value: str) -> Path:
    """The rater's file in which every criterion got the same label."""
    for task in labels.queue(theirs):
        for unit in labels.sheet(theirs, task.response_id).units:
            labels.set_label(theirs, task.response_id, unit.id, value)
    label_sealing.submit(theirs, items.ids(theirs)[0])
    path = tray.work(theirs).path
    theirs.close()
    return path


def test_labels_are_told_by_criterion_and_report_number_never_by_system(
    labelled: Project, tmp_path: Path
) -> None:
    rater = next(one for one in people.people(labelled) if one.name == "Rater 2")
    theirs = tasking.take_task(
        packing.task(labelled, rater.id, tmp_path).path, tmp_path / "first.goldsmith"
    ).project
    second = second_copy(labelled, rater.id, theirs.path, tmp_path / "two")
    for copy, value in ((theirs, "yes"), (second, "no")):
        unpacking.take_in(labelled, [labels_from(copy, value)])
    sheet = only(labelled)
    assert sorted(sheet.reports.values()) == [1, 2]
    assert {came.unit_id for came, _ in sheet.rows if came} <= set(sheet.headings)
    assert {(came.value, here.value) for came, here in sheet.rows if came and here} == {("no", "yes")}
    assert "Canary" not in repr(sheet)


def test_a_holding_counts_what_a_person_can_do_now(tmp_path: Path) -> None:
    project = coordinated(tmp_path, ["Ana"])
    ana, (first, second) = annotators(project)[0], items.ids(project)
    for item_id, day in ((first, 9), (second, 4)):
        due = datetime(2030, 5, day, tzinfo=UTC)
        assignments.assign_one(project, item_id, ana.id, Stage.PLAN, due=due)
    assignments.assign_one(project, first, ana.id, Stage.LABELLING)
    (holding,) = packing.holdings(project)
    assert (holding.items, holding.pieces, holding.handed_in, holding.due) == (2, 4, 0, due)
    # Labelling waits until the own document of the item is handed in, a repeat for its day; it counts as an item.
    assert holding.stages == ((Stage.PLAN, 2), (Stage.RUBRIC, 2))
    unpacking.take_in(project, [returned(project, ana.id, tmp_path / "ana")])
    for item_id, days in ((first, 10), (second, -1)):
        assignments.assign_one(
            project, item_id, ana.id, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT,
            not_before=now() + timedelta(days=days),
        )  # fmt: skip
    (holding,) = packing.holdings(project)
    assert (holding.items, holding.handed_in) == (3, 2)
    assert holding.stages == ((Stage.PLAN, 2), (Stage.RUBRIC, 2), (Stage.LABELLING, 2))
    assert holding.written_at is not None


def test_who_only_adjudicates_gets_no_task(tmp_path: Path) -> None:
    project = coordinated(tmp_path, [])
    people.add_person(project, "Senior", (Role.ADJUDICATOR,))
    assignments.assign_one(project, items.ids(project)[0], annotators(project)[0].id, Stage.ADJUDICATION)
    assert packing.holdings(project) == []


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
