"""The sample: the same whenever it is made, sound, and with something open on every page."""

import shutil
from dataclasses import replace
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.adjudication.ruling import missing
from annotator.actions.agreement import agreement_report, final_pass
from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import artifacts, settings
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.items.pages import cited_states
from annotator.actions.judges import judges
from annotator.actions.labelling import board, label_cases, label_sealing, labels
from annotator.actions.parcels import packing, tray, unpacking, waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.results import result_raters
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.studies import result_views
from annotator.actions.undo import history
from annotator.actions.validation import disagreements, stand_in
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.experts.assignment import ParcelOutcome, Role, Stage, stage_of
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.texts.canonical import now
from annotator.places import resources
from annotator.protocols import PROTOCOLS, USUAL
from tests.actions.releases.released_pairs import taken_in
from tests.material.bundles import change_json
from tests.material.content_hash import content_hash
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_sample
from tests.storage import sql

SAMPLE = resources() / "sample"


def keys(project: Project) -> dict[str, str]:
    return {items.read(project, item_id).key: item_id for item_id in items.ids(project)}


def test_it_holds_the_same_content_whenever_it_is_made(sample, tmp_path):
    again = samples.create(tmp_path / "again.goldsmith", to_work_in=False)
    assert (content_hash(again), checking.check(again).problems) == (content_hash(sample), [])


def test_its_shipped_part_has_something_open_for_everybody_on_every_page(sample):
    me = people.someone(sample)
    assert (me.alias, me.has(Role.COORDINATOR), me.has(Role.ANNOTATOR)) == ("Annotator A", True, True)
    counts = waiting.counts(sample)
    assert (counts["Author"], counts["Adjudicate"]) == (1, 6)
    both = ["norm-placement", "early-warning"]
    assert {task.item_key for task in labels.queue(sample)} == set(both)
    assert [line.item_key for line in feedback.items_with_digest(sample)] == both
    assert len(agreement_report.report(sample).stages) == 8
    assert result_raters.raters(sample)
    (stale,) = settings.stale(sample)
    assert (stale.item_key, stale.stage) == ("early-warning", Stage.DIAGNOSTICS)
    lines = board.board(sample)
    assert {line.state for line in lines} == {*board.STATES} - {board.DISPUTED}
    assert {line.alias for line in lines if line.due} == {one.alias for one in people.people(sample)}
    assert [line.alias for line in lines if line.trial == 2] == ["Annotator B"]
    assert all(line.seconds > 0 for line in lines if line.units and line.stage is not Stage.ADJUDICATION)
    (result,) = tray.sheets(sample)
    sheet = tray.sheet(sample, result)
    assert (result.entry.reason, result.item_key) == (ParcelOutcome.LATE, "norm-placement")
    assert sum(came.text != here.text for came, here in sheet.rows) == 1
    (arrival,) = unpacking.received(sample)
    assert [piece.outcome for piece in arrival.pieces] == [ParcelOutcome.NEW, ParcelOutcome.LATE]
    first, second = (label_sealing.state(sample, keys(sample)[key]) for key in both)
    assert (first.state, second.state, second.labelled, second.units) == ("sealed", "open", 33, 33)
    warning = keys(sample)["early-warning"]
    label_sealing.submit(sample, warning)
    assert Stage.LABELLING in {one.stage for one in assignments.of_item(sample, warning)}


def test_the_adjudicator_has_conflicts_one_half_done_and_closed_ones_with_their_origin(sample):
    sample.work_as(people.known(sample, "Adjudicator"))
    lines = adjudicating.queue(sample)
    assert sum(line.conflict for line in lines) == 6
    (begun,) = [line for line in lines if line.state == "open"]
    assert (begun.item_key, begun.stage, begun.decided, begun.rows) == ("early-warning", Stage.PLAN, 3, 12)
    closed = [line for line in lines if line.closed]
    assert len(closed) == 6
    sheet = adjudicating.sheet(sample, closed[0].adjudication_id)
    assert all(provenance.sources for row in sheet.rows for _, provenance in row.made)


def test_the_sample_is_worked_in_by_the_right_people(sample, tmp_path):
    wanted = [holding.person.id for holding in packing.holdings(sample)]
    assert [task.problem for task in packing.write_tasks(sample, wanted, tmp_path)] == [None] * 4
    for act in (history.undo, history.redo):
        expect_refusal("There is nothing", act, sample)
    queues = {}
    for person in people.people(sample):
        sample.work_as(person)
        queues[person.alias] = {line.item_key for line in adjudicating.queue(sample)}
    assert {alias: keys for alias, keys in queues.items() if keys} == {
        "Annotator A": {"desalination-plan"}, "Adjudicator": {"norm-placement", "early-warning"},
    }  # fmt: skip


def rounded(tree: Any) -> Any:
    """The tree with numbers to nine places: the last bits may differ from machine to machine."""
    if isinstance(tree, dict):
        return {name: rounded(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [rounded(value) for value in tree]
    return round(tree, 9) if isinstance(tree, float) else tree


def test_the_frozen_figures_are_those_that_the_program_computes(tmp_path):
    """But for the versions of the program and of its matcher: a record says which they were."""
    folder = shutil.copytree(SAMPLE, tmp_path / "in", ignore=shutil.ignore_patterns("*.md"))
    for name in ("agreement.json", "adjudications.json"):
        change_json(folder / name, lambda tree: tree.clear())
    shipped, anew = taken_in(tmp_path / "a", SAMPLE), taken_in(tmp_path / "b", folder)
    with anew.store.write() as db:
        for item_id in items.ids(anew):
            for kind in DOCUMENTS:
                assignments.freeze_when_ready(anew, db, item_id, stage_of(kind))
    wanted, computed = (
        [rounded(one.model_dump(exclude={"program", "matcher"})) for one in assignments.all_frozen(project)]
        for project in (shipped, anew)
    )
    assert (computed, len(wanted)) == (wanted, 19)


@pytest.mark.parametrize("protocol", ["researcherbench.pairwise", "adra.plan", "adra.reasoning"])
def test_the_stored_verdicts_of_every_protocol_are_those_the_baseline_gives(
    sample: Project, protocol: str
) -> None:
    stored = "SELECT response_id, unit_id, value FROM judgement WHERE protocol = ?"
    given = [
        (case.response.id, unit_id, verdict.value)
        for case in judge_cases.cases(sample, judge_cases.RunRequest("baseline", protocol))
        for unit_id, verdict in PROTOCOLS[protocol].baseline(case).items()
    ]
    assert sorted(sql.rows(sample, stored, [protocol])) == sorted(given)


def test_a_report_that_nothing_can_be_drawn_from_fails_instead_of_being_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(samples.materials, "of_response", lambda *_: None)
    with pytest.raises(ValueError, match="nothing was drawn from the report"):
        samples.create(tmp_path / "sample.goldsmith")


def test_the_sample_keeps_work_open_in_english_on_each_page(whole_sample):
    lines = items.lines(whole_sample, items.ids(whole_sample))
    assert [line.key for line in lines[:3]] == [samples.WRITE, samples.LABEL, samples.RULE]
    assert {line.language for line in lines[:3]} == {"en"}
    assert whole_sample.is_sample
    assert checking.check(whole_sample).problems == []
    assert waiting.counts(whole_sample) == {"Author": 3, "Label": 2, "Adjudicate": 1, "People": 1}
    begun = board.board(whole_sample)
    assert (any(line.overdue for line in begun), min(line.due for line in begun) > now()) == (False, True)
    # To write, with a passage to go by.
    (result,) = artifacts_of(whole_sample, keys(whole_sample)[samples.WRITE])
    assert (result.kind, result.state.value) == (Kind.RUBRIC, "draft")
    assert [unit.anchor is not None for unit in result.document.units] == [True, False]
    assert artifacts.add_unit(whole_sample, result.id, text="Names what is not known").seq
    # To review.
    (line,) = reviewing.lines(whole_sample)
    assert (line.item_key, line.kind, line.author) == (samples.LABEL, Kind.PLAN, "Annotator B")
    assert reviewing.is_mine(whole_sample, line.item_id, Kind.PLAN)
    assert "2 of 2 pieces of work handed in" in final_pass.summary(whole_sample)
    # To label, by rubric and by the claims of cited pages.
    mine = [task for task in labels.queue(whole_sample) if task.item_key == samples.LABEL]
    assert [(task.labelled, task.units) for task in mine] == [(3, 6), (0, 6)]
    assert [page.claims for page in cited_states(whole_sample).pages if page.is_here] == [3, 2]
    claims = "researcherbench.claims"
    assert claims in label_cases.offered(whole_sample)
    task = next(one for one in labels.queue(whole_sample, claims) if one.item_key == samples.LABEL)
    assert any(group.given for group in labels.sheet(whole_sample, task.response_id, claims).groups)
    # To adjudicate.
    conflicts = [line for line in adjudicating.queue(whole_sample) if line.conflict]
    assert [(line.item_key, line.rows, line.contested) for line in conflicts] == [(samples.RULE, 4, 4)]
    opened = adjudicating.open_(whole_sample, conflicts[0].item_id, conflicts[0].stage)
    assert len(missing(whole_sample, opened.id)) == 4
    # To judge, from where a run was left.
    newest = run_records.runs(whole_sample)[0]
    assert (newest.protocol, newest.judged, newest.left, newest.order().items) == (
        USUAL, samples.JUDGED, 4, (samples.LABEL,),
    )  # fmt: skip
    me, other = whole_sample.person, people.known(whole_sample, "Annotator B")
    for person, tries in ((me, True), (other, False), (me, True)):
        whole_sample.work_as(person)
        assert bool(samples.tries(whole_sample)) is tries
    samples.stop_trying(whole_sample)
    assert samples.tries(whole_sample) == []


def test_the_sample_has_intervals_an_answer_disagreements_and_costs(whole_sample):
    """On the five questions that are labelled, the smallest number over which an interval is given."""
    funnel = {sheet.key: sheet for sheet in result_views.show(whole_sample, "selection", {}).sheets}["funnel"]
    assert {line.cells[0].words for line in funnel.lines} >= {
        "forums",
        "interviews",
        "laboratory discussions",
    }
    sheet = result_views.show(whole_sample, "overview", {"judge": samples.RECORDED}).sheets[0]
    assert len(sheet.lines) == 3
    assert all(line.cells[1].estimate.low < line.cells[1].estimate.high for line in sheet.lines)
    answers = stand_in.report(whole_sample, stand_in.StandInQuery()).answers
    assert [answer.rater.name for answer in answers] == [samples.RECORDED, "baseline"]
    assert all(answer.difference.low < answer.difference.high for answer in answers)
    judge = judges.named(whole_sample, samples.RECORDED)
    assert len(disagreements.queue(whole_sample, ValidationQuery(judge=judge.name))) >= 5
    (total,) = run_records.totals(whole_sample, judge.id)
    assert total.spent_usd > 0


@pytest.mark.parametrize(
    ("name", "protocol"),
    [(samples.RELATED_WORK, "deepscholar.nuggets"), (samples.SEMINAR, "arena.checklist")],
)
def test_a_small_sample_has_intervals_two_judges_beside_two_people_and_disagreements(
    name, protocol, tmp_path
):
    made = small_sample(tmp_path, name)
    sheets = result_views.show(made, "overview", {"judge": samples.RECORDED}).sheets
    estimates = [cell.estimate for line in sheets[0].lines for cell in line.cells if cell.estimate]
    assert [one for one in estimates if one.low is not None and one.low < one.high]
    asked = ValidationQuery(protocol=protocol)
    answers = stand_in.report(made, stand_in.StandInQuery(asked)).answers
    assert {answer.rater.name for answer in answers} == {samples.RECORDED, "baseline"}
    assert all(answer.difference.low < answer.difference.high for answer in answers)
    assert disagreements.queue(made, replace(asked, judge=samples.RECORDED))
    assert checking.check(made).problems == []
