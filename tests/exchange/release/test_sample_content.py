"""The sample project's files: whole, in step with one another, and fit to show every page at work."""

import json
import re
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds import documents
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import DOCUMENTS, lint
from annotator.domain.material.item import QUESTION_TYPES, Item
from annotator.domain.material.response import Response
from annotator.domain.texts.words import word_count
from annotator.exchange.release import release
from annotator.exchange.release.records import ArtifactRecord, JudgementRecord, JudgeRecord, ResponseRecord
from annotator.places import resources
from annotator.protocols.researcherbench.coverage import baseline
from tests.material.anchors import stands_in
from tests.projects.pairs_project import DIMENSIONS
from tests.projects.sample_files import (
    ADJUDICATIONS,
    AGREEMENTS,
    ALIASES,
    ARTIFACTS,
    COVERAGE,
    DRAWN,
    FILES,
    FIRST,
    ITEMS,
    JUDGEMENTS,
    LABELS,
    OF_CRITERIA,
    PEOPLE,
    RESPONSES,
    REVISIONS,
    RUNS,
    SAMPLE,
    SECOND,
    SETTLED,
    SOURCES,
    SYSTEMS,
    TEXTS,
    THIRD,
    WRITTEN,
    annotators,
    document,
    judged,
    of,
    records,
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SAMPLE).as_posix())
def test_every_file_is_written_in_the_one_way_that_compares_well(path: Path) -> None:
    tree = json.loads(path.read_text(encoding="utf-8"))
    wanted = json.dumps(tree, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert path.read_bytes() == wanted.encode("utf-8")


def test_no_file_lies_in_the_folder_that_nobody_reads() -> None:
    assert {path for path in SAMPLE.rglob("*") if path.is_file()} == set(FILES)


def test_the_folder_reads_as_a_release_without_a_single_problem() -> None:
    bundle, problems = release.read([SAMPLE])
    assert problems == []
    assert (len(bundle.items), len(bundle.responses)) == (3, 9)


def test_ids_are_uuids_and_no_two_records_share_one() -> None:
    ids = [one.id for cls in set(FILES.values()) for one in records(cls) if hasattr(one, "id")]
    assert [str(UUID(text)) for text in ids] == ids
    assert len(ids) == len(set(ids))


def test_units_have_uuids_and_no_two_units_share_one() -> None:
    ids = [unit.id for record in ARTIFACTS for unit in document(record).units]
    assert [str(UUID(text)) for text in ids] == ids
    assert len(ids) == len(set(ids))


def test_whatever_is_referred_to_is_there() -> None:
    items, systems = {item.id for item in ITEMS}, {system.id for system in SYSTEMS}
    assert {one.item_id for one in (*SOURCES, *RESPONSES, *ARTIFACTS, *JUDGEMENTS)} == items
    assert {one.system_id for one in RESPONSES} == systems
    assert {one.author_id for one in ARTIFACTS} == set(ALIASES)
    assert {one.item_id for one in (*REVISIONS, *AGREEMENTS, *ADJUDICATIONS)} <= items
    assert {one.response_id for one in JUDGEMENTS} <= {one.id for one in RESPONSES}


def test_there_is_one_item_of_each_question_type() -> None:
    assert tuple(item.question_type for item in ITEMS) == QUESTION_TYPES


def test_three_people_annotate_and_the_first_coordinates_and_adjudicates_as_well() -> None:
    assert {person.alias: person.roles for person in PEOPLE} == {
        "Annotator A": ["adjudicator", "annotator", "coordinator"],
        "Annotator B": ["annotator"],
        "Annotator C": ["annotator"],
        "Adjudicator": ["adjudicator"],
    }


def test_each_system_answers_each_item_once() -> None:
    answers = Counter((one.system_id, one.item_id) for one in RESPONSES)
    assert answers == {(system.id, item.id): 1 for system in SYSTEMS for item in ITEMS}


def test_no_report_names_the_system_that_wrote_it() -> None:
    names = re.compile("|".join(system.name for system in SYSTEMS), re.IGNORECASE)
    assert [one.id for one in RESPONSES if names.search(one.text)] == []


def test_reports_of_an_item_differ_in_length() -> None:
    for item in ITEMS:
        lengths = sorted(word_count(one.text) for one in RESPONSES if one.item_id == item.id)
        assert lengths[0] * 1.8 < lengths[2]


def test_languages_are_said_rightly_and_one_source_runs_from_right_to_left() -> None:
    assert [item.language for item in ITEMS] == ["en", "en", "zh-Hans"]
    arabic = [source for source in SOURCES if re.search("[\u0600-\u06ff]", source.text)]
    assert [source.item_id for source in arabic] == [THIRD]
    assert any(re.search("[\u0600-\u06ff]", one.text) for one in RESPONSES)


@pytest.mark.parametrize("record", ARTIFACTS, ids=lambda record: record.id)
def test_the_hash_of_each_document_is_the_one_recorded(record: ArtifactRecord) -> None:
    made = document(record)
    assert record.sha256 == made.sha256()
    assert record.document == made.tree()


@pytest.mark.parametrize("record", ARTIFACTS, ids=lambda record: record.id)
def test_every_anchor_stands_in_a_source_of_its_item(record: ArtifactRecord) -> None:
    sources = {source.id for source in SOURCES if source.item_id == record.item_id}
    anchors = [unit.anchor for unit in document(record).units if unit.anchor]
    assert all(anchor.source_id in sources for anchor in anchors)
    assert all(stands_in(anchor, TEXTS[anchor.source_id]) for anchor in anchors)


def test_some_anchor_leads_into_the_arabic_source() -> None:
    anchors = [unit.anchor for record in ARTIFACTS for unit in document(record).units if unit.anchor]
    assert any(re.search("[\u0600-\u06ff]", anchor.quote) for anchor in anchors)


def test_criteria_are_tied_to_insights_of_the_same_item() -> None:
    for item in ITEMS:
        known = {unit.id for record in of(item.id, Kind.INSIGHTS).values() for unit in document(record).units}
        rubrics = [document(record) for record in of(item.id, Kind.RUBRIC).values()]
        tied = {unit.insight_id for rubric in rubrics for unit in rubric.units} - {""}
        assert tied
        assert tied <= known


def test_two_annotators_wrote_every_kind_of_the_two_papers_for_every_item() -> None:
    twice = set(WRITTEN) - {Kind.NUGGETS, Kind.CHECKLIST}
    for item in ITEMS:
        for kind in twice:
            assert of(item.id, kind).keys() - {"Adjudicator"} == annotators(item.id)


def test_the_first_item_is_adjudicated_and_of_the_second_what_its_reports_are_judged_by() -> None:
    settled = {(one.item_id, one.kind) for one in ARTIFACTS if one.state is State.CONSENSUS}
    assert settled == {(FIRST, kind) for kind in SETTLED} | {(SECOND, Kind.RUBRIC)}
    assert all(
        (one.state is State.CONSENSUS) == (ALIASES[one.author_id] == "Adjudicator") for one in ARTIFACTS
    )


def test_a_consensus_is_younger_than_what_it_settles() -> None:
    for kind in SETTLED:
        written = of(FIRST, kind)
        assert written["Adjudicator"].at > max(written["Annotator A"].at, written["Annotator B"].at)


def test_rubrics_are_sealed_and_hold_eight_to_eleven_criteria_with_a_core() -> None:
    rubrics = [record for item in ITEMS for record in of(item.id, Kind.RUBRIC).values()]
    assert all(record.state is not State.DRAFT for record in rubrics)
    assert all(8 <= len(document(record).units) <= 11 for record in rubrics)
    assert all(1 <= [u.weight for u in document(record).units].count(3) <= 2 for record in rubrics)


def test_the_checklist_shares_make_one() -> None:
    (record,) = [one for one in ARTIFACTS if one.kind is Kind.CHECKLIST]
    assert sum(unit.share for unit in document(record).units) == pytest.approx(1)


def test_selection_rates_the_dimensions_of_each_question_type_and_keeps_all_items() -> None:
    for item in ITEMS:
        ratings = [document(record).units for record in of(item.id, Kind.SELECTION).values()]
        assert all(tuple(unit.text for unit in units) == DIMENSIONS[item.question_type] for units in ratings)
        means = [sum(unit.rating for unit in units) / len(units) for units in ratings]
        assert sum(means) / len(means) >= 4.5


def objections(record: ArtifactRecord) -> set[str]:
    (item,) = [one for one in ITEMS if one.id == record.item_id]
    source = "\n".join(source.text for source in SOURCES if source.item_id == item.id)
    found = {found.rule for found in lint(document(record), item.question, source, item.language)}
    # The sample's ratings were given before reasons and recommendations were asked for, and its insights drawn before
    # a number of them was.
    few = {"count"} if record.kind is Kind.INSIGHTS else set()
    return found - {"no-reason", "no-recommendation"} - few


def test_the_guideline_objects_to_drafts_and_to_nothing_that_is_sealed() -> None:
    assert {
        one.id: objections(one) for one in ARTIFACTS if one.state is not State.DRAFT and objections(one)
    } == {}
    (plan,) = [one for one in ARTIFACTS if one.kind is Kind.PLAN and one.state is State.DRAFT]
    assert plan.item_id == THIRD
    assert objections(plan) == {"length", "low-level-number", "near-duplicate"}


@pytest.mark.parametrize("one", [one for one in JUDGEMENTS if one.quote], ids=lambda one: one.unit_id[-4:])
def test_every_quote_stands_in_its_report_where_it_says(one: JudgementRecord) -> None:
    assert TEXTS[one.response_id][one.quote_start : one.quote_end] == one.quote


def test_a_value_is_there_exactly_when_the_status_is_ok() -> None:
    assert all((one.value is None) == (one.status is not Status.OK) for one in JUDGEMENTS)
    assert {one.value for one in OF_CRITERIA} == {"yes", "no", None}
    assert all(one.cause for one in JUDGEMENTS if one.status is not Status.OK)


def test_judgements_are_about_units_of_the_judged_rubric() -> None:
    for one in OF_CRITERIA:
        record = judged(one.item_id)
        assert one.artifact_id == record.id
        assert document(record).unit(one.unit_id)


def units_of(item_id: str) -> Counter[tuple[str, str]]:
    """Every (response, criterion) of an item, once."""
    answers = [one.id for one in RESPONSES if one.item_id == item_id]
    return Counter((answer, unit.id) for answer in answers for unit in document(judged(item_id)).units)


@pytest.mark.parametrize("alias", ["Annotator A", "Annotator B"])
def test_each_annotator_labelled_two_items_whole_and_nothing_twice(alias: str) -> None:
    said = Counter((one.response_id, one.unit_id) for one in LABELS if ALIASES[one.rater_id] == alias)
    assert said == units_of(FIRST) + units_of(SECOND)


def test_the_two_annotators_agree_on_about_85_of_100_labels() -> None:
    a, b = (
        {(one.response_id, one.unit_id): one.value for one in LABELS if ALIASES[one.rater_id] == alias}
        for alias in ("Annotator A", "Annotator B")
    )
    both = [unit for unit in a if a[unit] and b[unit]]
    assert sum(a[unit] == b[unit] for unit in both) / len(both) == pytest.approx(0.85, abs=0.03)


def test_labels_show_doubts_notes_flags_and_plausible_times() -> None:
    assert 2 <= sum(one.status is Status.UNCLEAR for one in LABELS) <= 5
    assert any(one.note for one in LABELS)
    assert any(one.flags == ["flagged"] for one in LABELS)
    assert all(one.seconds and 8 <= one.seconds <= 90 for one in LABELS)


def test_times_carry_their_zone_and_lie_in_2026() -> None:
    times = [one.at for one in (*ARTIFACTS, *JUDGEMENTS)] + [one.started_at for one in RUNS]
    assert all(at.tzinfo and at.year == 2026 for at in times)


def test_the_baseline_run_is_finished_and_covers_every_report() -> None:
    run = RUNS[0]
    (judge,) = records(JudgeRecord)
    verdicts = [one for one in JUDGEMENTS if one.run_id == run.id]
    assert (judge.name, judge.kind, run.judge_id, run.state) == ("baseline", "baseline", judge.id, "done")
    assert all((one.rater_kind, one.rater_id) == ("judge", judge.id) for one in verdicts)
    said = Counter((one.response_id, one.unit_id) for one in verdicts)
    assert said == units_of(FIRST) + units_of(SECOND) + units_of(THIRD)
    assert run.total == run.done == len(verdicts)


@pytest.mark.parametrize("answer", RESPONSES, ids=lambda answer: answer.id)
def test_the_stored_verdicts_are_those_the_baseline_gives(answer: ResponseRecord) -> None:
    (item,) = [Item(**one.model_dump()) for one in ITEMS if one.id == answer.item_id]
    response, record = Response(**answer.model_dump()), judged(item.id)
    stored = {one.unit_id: one for one in OF_CRITERIA if one.run_id and one.response_id == answer.id}
    for unit in document(record).units:
        verdict = baseline(Case(COVERAGE, item, response, record.id, (unit,)))[unit.id]
        one = stored[unit.id]
        assert (one.value, one.quote, one.quote_start) == (verdict.value, verdict.quote, verdict.quote_start)


def test_the_baseline_judged_by_every_protocol_that_the_sample_has_everything_for() -> None:
    assert Counter(one.protocol for one in RUNS) == Counter(
        (COVERAGE, "researcherbench.pairwise", "adra.plan", "adra.reasoning", *DRAWN)
    )
    assert all(run.state == "done" and run.total == run.done for run in RUNS)
    assert all(one.run_id for one in JUDGEMENTS if one.rater_kind == "judge")
    assert {one.protocol for one in LABELS} == {COVERAGE}
    assert not any(one.run_id for one in LABELS)


GUIDELINES = sorted((resources() / "guidelines").glob("*.md"))
FIELDS = {
    kind.value: {*DOCUMENTS[kind].UNIT.model_fields, *DOCUMENTS[kind].model_fields}
    for kind in documents.WRITTEN
}
FIELDS["labelling"] = set(Verdict.model_fields)


def test_each_kind_and_labelling_has_a_guideline() -> None:
    assert {path.stem for path in GUIDELINES} == FIELDS.keys()


@pytest.mark.parametrize("path", GUIDELINES, ids=lambda path: path.stem)
def test_a_guideline_is_short_and_its_sections_name_fields(path: Path) -> None:
    # What types of questions there are is told beside each rating, and is no reading matter.
    text = path.read_text(encoding="utf-8").partition("\n## Bar:")[0]
    assert 100 <= word_count(text) <= 250
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sections
    assert set(sections) <= FIELDS[path.stem]
    assert re.search(r"^Good\b", text, re.MULTILINE)
    assert re.search(r"^Poor\b", text, re.MULTILINE)


def test_letter_6_no_guideline_and_no_prompt_says_how_others_spread_weights_or_labels() -> None:
    places = [*(resources() / "prompts").glob("*.md"), *(resources() / "guidelines").glob("*.md")]
    texts = [" ".join(path.read_text("utf-8").split()) for path in places]
    assert len(texts) > 20
    found = r"\d\s?% (?:threes|twos|ones|true)|one in seven|two thirds True|two thirds of them true"
    assert [text for text in texts if re.search(found, text, re.IGNORECASE)] == []
    assert "Eight to fifteen" in (resources() / "guidelines" / "insights.md").read_text("utf-8")
