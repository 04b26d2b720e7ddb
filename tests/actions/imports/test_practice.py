"""What the sample keeps open: an English question to write, to label and to rule on, claims with pages, dates ahead."""

import pytest

from annotator.actions.adjudication import adjudicating, openings
from annotator.actions.adjudication.closing import missing
from annotator.actions.agreement import pilot_summary
from annotator.actions.assignments import reviewing
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.imports import practice, samples
from annotator.actions.items import cited_pages, items, metadata
from annotator.actions.labelling import board, label_offers, label_tasks, labels
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.runs import run_records
from annotator.actions.studies import result_views
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.change import now
from annotator.protocols import USUAL

CLAIMS = "researcherbench.claims"


@pytest.fixture
def whole(whole_sample):
    yield whole_sample
    whole_sample.close()


def test_a_report_that_nothing_can_be_drawn_from_fails_instead_of_being_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(practice.materials, "of_response", lambda *_: None)
    with pytest.raises(ValueError, match="nothing was drawn from the report"):
        samples.create(tmp_path / "sample.goldsmith")


def item_ids(project: Project) -> dict[str, str]:
    return {items.read(project, item_id).key: item_id for item_id in items.ids(project)}


def test_the_sample_begins_with_what_is_in_english_and_open(whole):
    lines = items.lines(whole, items.ids(whole))
    assert [line.key for line in lines[:3]] == [practice.WRITE, practice.LABEL, practice.RULE]
    assert {line.language for line in lines[:3]} == {"en"}
    assert len(lines) == 6
    assert whole.is_sample
    assert checking.check(whole).problems == []


def test_a_rubric_is_open_with_two_criteria_and_one_quotation(whole):
    (found,) = artifacts_of(whole, item_ids(whole)[practice.WRITE])
    assert (found.kind, found.state.value, len(found.document.units)) == (Kind.RUBRIC, "draft", 2)
    assert [unit.anchor is not None for unit in found.document.units] == [True, False]
    assert artifacts.add_unit(whole, found.id, text="Names what is not known").seq


def test_questions_sources_and_systems_say_where_they_belong(whole):
    sheets = {one.key: one for one in result_views.show(whole, "selection", {}).sheets}
    assert [line.cells[0].words for line in sheets["funnel"].lines][:3] == [
        "forums", "interviews", "laboratory discussions",
    ]  # fmt: skip
    balance = result_views.show(whole, "sources", {}).sheets[0]
    assert any(cell.value == 1 for line in balance.lines for cell in line.cells)
    systems = {one["name"]: one["group"] for one in metadata.systems(whole)}
    assert systems == {"Larkmoor": "deep research", "Pendrel": "deep research", "Quarrow": "LLM + search"}


def test_a_draft_waits_for_its_review_and_a_pilot_was_done(whole):
    (line,) = reviewing.lines(whole)
    assert (line.item_key, line.kind, line.author, line.reviewer) == (
        practice.LABEL, Kind.PLAN, "Annotator B", "Annotator A",
    )  # fmt: skip
    assert reviewing.is_mine(whole, line.item_id, Kind.PLAN)
    assert "2 of 2 pieces of work handed in" in pilot_summary.summary(whole)


def test_one_report_is_half_labelled_and_the_other_not_begun(whole):
    mine = [task for task in label_tasks.queue(whole) if task.item_key == practice.LABEL]
    assert [(task.labelled, task.units) for task in mine] == [(3, 6), (0, 6)]


def test_one_conflict_of_four_rows_can_be_ruled_on_and_closed(whole):
    conflicts = [line for line in adjudicating.queue(whole) if line.conflict]
    assert [(line.item_key, line.rows, line.contested) for line in conflicts] == [(practice.RULE, 4, 4)]
    opened = openings.open_(whole, conflicts[0].item_id, conflicts[0].stage).id
    assert len(missing(whole, opened)) == 4


def test_claims_can_be_labelled_by_the_pages_that_are_here(whole):
    pages = [page for page in cited_pages.cited(whole).pages if page.is_here]
    assert [page.claims for page in pages] == [3, 2]
    assert CLAIMS in label_offers.offered(whole)
    task = next(one for one in label_tasks.queue(whole, CLAIMS) if one.item_key == practice.LABEL)
    assert any(group.given for group in labels.sheet(whole, task.response_id, CLAIMS).groups)


def test_a_run_of_the_judge_lacks_verdicts_that_it_can_still_give(whole):
    newest = run_records.runs(whole)[0]
    assert (newest.protocol, newest.judged, newest.left) == (USUAL, practice.JUDGED, 4)
    assert newest.order().items == (practice.LABEL,)


def test_nothing_of_the_sample_is_late(whole):
    lines = board.board(whole)
    assert [line for line in lines if line.overdue] == []
    assert min(line.due for line in lines) > now()


def test_each_page_waits_with_a_few_things(whole):
    assert waiting.counts(whole) == {"Author": 3, "Label": 2, "Adjudicate": 1}


def test_what_is_open_keeps_nothing_from_being_released(whole, tmp_path):
    releases.export(whole, tmp_path / "release")
    assert (tmp_path / "release" / "manifest.json").is_file()


def test_nobody_else_is_told_what_to_try_and_nobody_once_it_is_dismissed(whole):
    me = whole.person
    whole.work_as(next(one for one in people.people(whole) if one.alias == "Annotator B"))
    assert practice.tries(whole) == []
    whole.work_as(me)
    practice.stop_trying(whole)
    assert practice.tries(whole) == []


def test_the_shipped_part_alone_has_nothing_to_try(sample):
    assert practice.tries(sample) == []
