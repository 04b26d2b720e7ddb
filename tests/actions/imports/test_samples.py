"""The sample's shipped part: the same whenever it is made, sound, and with something to show on every page."""

from typing import Any

import pytest
from sqlalchemy import func, select

from annotator.actions.adjudication import adjudicating, adjudication_sheets, feedback
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import agreements
from annotator.actions.authoring import guidelines
from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.labelling import board, label_sealing, label_tasks
from annotator.actions.parcels import packing, tray, unpacking, waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_raters
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.experts.person import Role
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.texts.refusal import Refusal
from annotator.places import resources
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import TIME, JudgementRow, table
from tests.actions.releases.released_pairs import taken_in
from tests.material.bundles import change_json
from tests.material.content_hash import content_hash

SAMPLE = resources() / "sample"


def work_as(project: Project, alias: str) -> Project:
    project.work_as(next(one for one in people.people(project) if one.alias == alias))
    return project


def keys(project: Project) -> dict[str, str]:
    return {items.read(project, item_id).key: item_id for item_id in items.ids(project)}


def test_it_holds_the_same_content_whenever_it_is_made(sample, tmp_path):
    again = samples.create(tmp_path / "again.goldsmith", to_work_in=False)
    assert content_hash(again) == content_hash(sample)
    assert checking.check(again).problems == []


def test_its_coordinator_works_first_and_has_something_on_every_page(sample):
    me = people.someone(sample)
    assert (me.alias, me.has(Role.COORDINATOR), me.has(Role.ANNOTATOR)) == ("Annotator A", True, True)
    counts = waiting.counts(sample)
    assert counts["Author"] == 1
    assert counts["Adjudicate"] == 6
    assert {task.item_key for task in label_tasks.queue(sample)} == {"norm-placement", "early-warning"}
    assert [line.item_key for line in feedback.items_with_digest(sample)] == [
        "norm-placement",
        "early-warning",
    ]
    assert len(agreement_report.report(sample).stages) == 8
    assert result_raters.raters(sample)


def test_one_item_of_labels_is_sealed_and_the_other_waits_to_be_submitted(sample):
    first, second = (
        label_sealing.state(sample, keys(sample)[key]) for key in ("norm-placement", "early-warning")
    )
    assert (first.state, second.state, second.labelled, second.units) == ("sealed", "open", 33, 33)
    label_sealing.submit(sample, keys(sample)["early-warning"])
    stages = {one.stage for one in agreements.of_item(sample, keys(sample)["early-warning"])}
    assert Stage.LABELLING in stages


def test_nobody_adjudicates_what_they_wrote(sample):
    queues = {}
    for person in people.people(sample):
        sample.work_as(person)
        queues[person.alias] = {line.item_key for line in adjudicating.queue(sample)}
    assert queues == {
        "Annotator A": {"desalination-plan"},
        "Annotator B": set(),
        "Annotator C": set(),
        "Adjudicator": {"norm-placement", "early-warning"},
    }


def test_the_adjudicator_has_conflicts_one_half_done_and_closed_ones_with_their_origin(sample):
    work_as(sample, "Adjudicator")
    lines = adjudicating.queue(sample)
    assert sum(line.conflict for line in lines) == 6
    (begun,) = [line for line in lines if line.state == "open"]
    assert (begun.item_key, begun.stage, begun.decided, begun.rows) == ("early-warning", Stage.PLAN, 3, 12)
    closed = [line for line in lines if line.closed]
    assert len(closed) == 6
    sheet = adjudication_sheets.sheet(sample, closed[0].adjudication_id)
    assert all(provenance.sources for row in sheet.rows for _, provenance in row.made)


def test_what_happens_first_cannot_be_undone_by_the_coordinator(sample):
    for act in (history.undo, history.redo):
        with pytest.raises(Refusal, match="There is nothing"):
            act(sample)


def test_one_answer_was_given_under_an_older_guideline(sample):
    (stale,) = guidelines.stale(sample)
    assert (stale.item_key, stale.stage, stale.then, stale.now) == (
        "early-warning",
        Stage.DIAGNOSTICS,
        "1",
        "2",
    )


def test_everybody_has_assignments_with_dates(sample):
    lines = board.board(sample)
    assert all(line.due is not None and line.due.year == 2026 for line in lines)
    assert {line.state for line in lines} == {*board.STATES} - {board.DISPUTED}
    assert {line.alias for line in lines} == {one.alias for one in people.people(sample)}
    assert [line.alias for line in lines if line.trial == 2] == ["Annotator B"]


def test_what_was_sealed_counts_as_handed_in(sample):
    open_ = {
        (line.item_key, line.stage.value, line.alias) for line in board.board(sample) if not line.handed_in
    }
    assert {line for line in open_ if line[1] != "adjudication"} == {
        ("norm-placement", "labelling", "Annotator B"),
        ("early-warning", "evidence", "Annotator A"),
        ("early-warning", "labelling", "Annotator A"),
        ("early-warning", "diagnostics", "Annotator B"),
        ("early-warning", "nuggets", "Annotator B"),
        ("desalination-plan", "plan", "Annotator B"),
        ("desalination-plan", "checklist", "Annotator B"),
    }


def test_time_was_spent_on_every_document(sample):
    with sample.store.read() as db:
        assert db.execute(select(func.count()).select_from(TIME)).scalar_one() == 44
    assert all(
        line.seconds > 0
        for line in board.board(sample)
        if line.units and line.stage is not Stage.ADJUDICATION
    )


def test_a_late_plan_waits_in_the_tray_beside_the_one_that_is_here(sample):
    (found,) = tray.sheets(sample)
    sheet = tray.sheet(sample, found)
    assert (found.entry.reason, found.item_key, sheet.withheld) == (ParcelOutcome.LATE, "norm-placement", "")
    assert sum(came.text != here.text for came, here in sheet.rows) == 1
    (arrival,) = unpacking.received(sample)
    assert [piece.outcome for piece in arrival.pieces] == [ParcelOutcome.NEW, ParcelOutcome.LATE]


def test_tasks_can_be_handed_out_to_all_who_write(sample, tmp_path):
    wanted = [holding.person.id for holding in packing.holdings(sample)]
    assert len(wanted) == 3
    assert [one.problem for one in packing.write_tasks(sample, wanted, tmp_path)] == [None] * 3


def rounded(tree: Any) -> Any:
    """The tree with numbers to nine places: the last bits may differ from machine to machine."""
    if isinstance(tree, dict):
        return {name: rounded(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [rounded(value) for value in tree]
    return round(tree, 9) if isinstance(tree, float) else tree


def test_the_frozen_figures_are_those_that_the_program_computes(tmp_path):
    """But for the versions of the program and of its matcher: a record says which they were."""
    folder = tmp_path / "in"
    for path in SAMPLE.rglob("*.json"):
        target = folder / path.relative_to(SAMPLE)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    for name in ("agreement.json", "adjudications.json"):
        change_json(folder / name, lambda tree: tree.clear())
    shipped, anew = taken_in(tmp_path / "a", SAMPLE), taken_in(tmp_path / "b", folder)
    with anew.store.write() as db:
        for item_id in items.ids(anew):
            for kind in DOCUMENTS:
                agreements.freeze_when_ready(anew, db, item_id, stage_of(kind))
    wanted, computed = (
        [rounded(one.model_dump(exclude={"program", "matcher"})) for one in agreements.all_frozen(project)]
        for project in (shipped, anew)
    )
    assert computed == wanted
    assert len(wanted) == 19


def test_its_release_comes_back_byte_for_byte_without_what_stays(sample, tmp_path):
    releases.export(sample, tmp_path / "one")
    again = taken_in(tmp_path / "again", tmp_path / "one", sample.title)
    releases.export(again, tmp_path / "two")
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "one", tmp_path / "two")
    )
    assert one == two


@pytest.mark.parametrize("protocol", ["researcherbench.pairwise", "adra.plan", "adra.reasoning"])
def test_the_stored_verdicts_of_every_protocol_are_those_the_baseline_gives(
    sample: Project, protocol: str
) -> None:
    j = table(JudgementRow).c
    with sample.store.read() as db:
        rows = db.execute(select(j.response_id, j.unit_id, j.value).where(j.protocol == protocol)).all()
    given = {
        (case.response.id, unit_id, verdict.value)
        for case in judge_cases.cases(sample, RunRequest("baseline", protocol))
        for unit_id, verdict in PROTOCOLS[protocol].baseline(case).items()
    }
    assert {tuple(row) for row in rows} == given
    assert len(rows) == len(given)
