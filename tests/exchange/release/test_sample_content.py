"""What stands in the release of the sample, and in its cards."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from annotator.domain.experts.adjudication import Agreement, DisputeState, Figure, Origin, Reason, SealedInput
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.publication import Publication, ReleaseMetadata
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds import documents
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.words import word_count
from annotator.exchange.release import release
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.data_card import ALONE, NO_LICENCE, ReleaseFacts, StageFigure, gold_card, text
from annotator.exchange.release.records import (
    AdjudicationRecord,
    AgreementRecord,
    ArtifactRecord,
    DisputeRecord,
    JudgementRecord,
    JudgeRecord,
    ProvenanceRecord,
    ResponseRecord,
    RulingRecord,
)
from annotator.places import resources
from annotator.protocols.researcherbench.coverage import baseline
from tests.material.anchors import stands_in
from tests.material.bundles import AT, rich_bundle
from tests.projects.sample_files import (
    ADJUDICATIONS,
    AGREEMENTS,
    ALIASES,
    ARTIFACTS,
    COVERAGE,
    FILES,
    FIRST,
    ITEMS,
    JUDGEMENTS,
    OF_CRITERIA,
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
    annotators,
    document,
    judged,
    records,
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SAMPLE).as_posix())
def test_every_file_is_written_in_the_one_way_that_compares_well(path: Path) -> None:
    tree = json.loads(path.read_text(encoding="utf-8"))
    wanted = json.dumps(tree, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert path.read_bytes() == wanted.encode("utf-8")


def test_the_folder_reads_as_a_release_without_a_single_problem() -> None:
    bundle, problems = release.read([SAMPLE])
    assert (problems, len(bundle.items), len(bundle.responses)) == ([], 3, 9)


def test_ids_are_uuids() -> None:
    of_records = [one.id for cls in set(FILES.values()) for one in records(cls) if hasattr(one, "id")]
    for ids in (of_records, [unit.id for record in ARTIFACTS for unit in document(record).units]):
        assert [str(UUID(text)) for text in ids] == ids
        assert len(ids) == len(set(ids))


def test_whatever_is_referred_to_is_there() -> None:
    items, systems = {item.id for item in ITEMS}, {system.id for system in SYSTEMS}
    assert {one.item_id for one in (*SOURCES, *RESPONSES, *ARTIFACTS, *JUDGEMENTS)} == items
    assert {one.system_id for one in RESPONSES} == systems
    assert {one.author_id for one in ARTIFACTS} == set(ALIASES)
    assert {one.item_id for one in (*REVISIONS, *AGREEMENTS, *ADJUDICATIONS)} <= items
    assert {one.response_id for one in JUDGEMENTS} <= {one.id for one in RESPONSES}


def test_no_report_names_the_system_that_wrote_it() -> None:
    names = re.compile("|".join(system.name for system in SYSTEMS), re.IGNORECASE)
    assert [one.id for one in RESPONSES if names.search(one.text)] == []


@pytest.mark.parametrize("record", ARTIFACTS, ids=lambda record: record.id)
def test_each_document_has_the_hash_that_is_recorded_and_anchors_in_sources(record: ArtifactRecord) -> None:
    made = document(record)
    assert (record.sha256, record.document) == (made.sha256(), made.tree())
    # Every anchor stands in a source of its item.
    sources = {source.id for source in SOURCES if source.item_id == record.item_id}
    for anchor in filter(None, (unit.anchor for unit in made.units)):
        assert anchor.source_id in sources
        assert stands_in(anchor, TEXTS[anchor.source_id])


def objections(record: ArtifactRecord) -> set[str]:
    (item,) = [one for one in ITEMS if one.id == record.item_id]
    source = "\n".join(source.text for source in SOURCES if source.item_id == item.id)
    result = {
        result.rule for result in documents.lint(document(record), item.question, source, item.language)
    }
    # The sample's ratings were given before reasons and recommendations were asked for, and its insights drawn before
    # a number of them was.
    few = {"count"} if record.kind is Kind.INSIGHTS else set()
    return result - {"no-reason", "no-recommendation"} - few


def test_the_guideline_objects_to_drafts_and_to_nothing_that_is_sealed() -> None:
    assert {
        one.id: objections(one) for one in ARTIFACTS if one.state is not State.DRAFT and objections(one)
    } == {}
    (plan,) = [one for one in ARTIFACTS if one.kind is Kind.PLAN and one.state is State.DRAFT]
    assert (plan.item_id, objections(plan)) == (THIRD, {"length", "low-level-number", "near-duplicate"})


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


def test_the_baseline_run_is_finished_and_covers_every_report() -> None:
    run = RUNS[0]
    (judge,) = records(JudgeRecord)
    verdicts = [one for one in JUDGEMENTS if one.run_id == run.id]
    assert (judge.name, judge.kind, run.judge_id, run.state) == ("baseline", "baseline", judge.id, "done")
    assert all((verdict.rater_kind, verdict.rater_id) == ("judge", judge.id) for verdict in verdicts)
    said = Counter((verdict.response_id, verdict.unit_id) for verdict in verdicts)
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


GUIDELINES = sorted((resources() / "guidelines").glob("*.md"))
FIELDS = {
    kind.value: {*documents.DOCUMENTS[kind].UNIT.model_fields, *documents.DOCUMENTS[kind].model_fields}
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
    assert set() < set(sections) <= FIELDS[path.stem]
    assert {"Good", "Poor"} <= set(re.findall(r"^\w+\b", text, re.MULTILINE))


def test_letter_6_no_guideline_and_no_prompt_says_how_others_spread_weights_or_labels() -> None:
    places = [*(resources() / "prompts").glob("*.md"), *(resources() / "guidelines").glob("*.md")]
    texts = [" ".join(path.read_text("utf-8").split()) for path in places]
    assert len(texts) > 20
    result = r"\d\s?% (?:threes|twos|ones|true)|one in seven|two thirds True|two thirds of them true"
    assert [text for text in texts if re.search(result, text, re.IGNORECASE)] == []
    assert "Eight to fifteen" in (resources() / "guidelines" / "insights.md").read_text("utf-8")


def test_both_answered_every_stage_that_is_not_a_draft_and_their_agreement_is_frozen() -> None:
    frozen = {(one.item_id, one.stage.value) for one in AGREEMENTS}
    drafts = {(one.item_id, one.kind.value) for one in ARTIFACTS if one.state is State.DRAFT}
    twice = {(item.id, kind.value) for item in ITEMS for kind in (*SETTLED, Kind.INSIGHTS, Kind.SELECTION)}
    assert (len(drafts), frozen) == (3, (twice - drafts) | {(FIRST, "labelling")})
    for one in AGREEMENTS:
        assert {ALIASES[given.person_id] for given in one.inputs} == annotators(one.item_id)


def test_a_consensus_leads_back_to_its_rulings_and_every_ruling_that_changes_something_says_why() -> None:
    assert Counter(one.version for one in ADJUDICATIONS) == {1: 6, 2: 1}
    for one in ADJUDICATIONS:
        assert {unit.ruling_id for unit in one.provenance} <= {row.id for row in one.rulings}
        assert all(row.reason and row.rationale for row in one.rulings if row.take == "drop")
    rows = [row for one in ADJUDICATIONS for row in one.rulings]
    reasons = {row.reason.value for row in rows if row.reason}
    assert reasons >= {"wording", "scope", "weight", "error", "guideline gap"}
    assert {row.take for row in rows} > {"both", "own", "drop"}


LICENSED = Publication(metadata=ReleaseMetadata(licence="CC BY 4.0"))


def test_the_card_counts_and_cites() -> None:
    card = text(rich_bundle(), ReleaseFacts(title="Rain"))
    for line in (
        "# Rain",
        "| items | 2 | – |",
        "| rubric (artifact) | 1 | 2 |",
        "| ja | 1 | 50.0 % |",
        "| 3 | 1 | 50.0 % |",
        "| R1 | person | 0 | 1 |",
        "| R2 | person | 1 | 0 |",
        "| J | judge, m | 0 | 2 |",
        "| researcherbench.coverage | timeout | 1 |",
    ):
        assert line in card.splitlines()
    assert "Σ wᵢ·bᵢ / Σ wᵢ" in card
    assert NO_LICENCE in card
    assert NO_LICENCE not in text(rich_bundle(), ReleaseFacts(title="T", publication=LICENSED))
    assert text(rich_bundle(), ReleaseFacts(title="Rain", number=2)) == card


def test_a_title_cannot_break_the_card_and_nothing_at_all_is_said() -> None:
    card = text(Bundle(), ReleaseFacts(title="A\n## B | c"))
    assert card.startswith("# A ## B | c\n")
    assert "There are no judgements yet." in card


GIVEN = {"revision": 1, "sha256": "s", "chain": "c", "form": "1", "sealed_at": AT}


def agreement(item: str = "item-1", stage: Stage = Stage.RUBRIC) -> AgreementRecord:
    inputs = tuple(
        SealedInput(person_id=f"person-{n}", artifact_id=f"{item}-{stage}-{n}", guideline="2", **GIVEN)
        for n in (1, 2)
    )
    made = Agreement(
        id=f"{item}/{stage}",
        item_id=item,
        stage=stage,
        matcher="1",
        program="0.1",
        frozen_at=AT,
        inputs=inputs,
        pairs=(),
    )
    return AgreementRecord(**made.model_dump())


def adjudication(**more: Any) -> AdjudicationRecord:
    """One row that both wrote, one that was dropped for a gap in the guideline."""
    fields: dict[str, Any] = {
        "id": "v1", "adjudication_id": "a", "version": 1, "item_id": "item-1", "stage": Stage.RUBRIC,
        "agreement_id": "item-1/rubric", "artifact_id": "rubric-1", "revision": 1, "adjudicator_id": "person-3",
        "letters": {"A": "person-1", "B": "person-2"}, "seed": 1, "opened_at": AT, "closed_at": AT,
        "provenance": [ProvenanceRecord(unit_id="c1", ruling_id="r1", origin=Origin.BOTH)],
        "rulings": [
            RulingRecord(id="r1", position=0, take="both", unanimous=True),
            RulingRecord(id="r2", position=1, take="drop", reason=Reason.GUIDELINE_GAP),
        ],
    }  # fmt: skip
    return AdjudicationRecord(**{**fields, **more})


def paired_bundle(*adjudications: AdjudicationRecord) -> Bundle:
    bundle = rich_bundle()
    bundle.agreements = [agreement(), agreement(stage=Stage.PLAN), agreement("item-2")]
    bundle.adjudications = list(adjudications)
    return bundle


@pytest.mark.usefixtures("small_cases")
def test_the_card_tells_twice_answered_stages() -> None:
    card = gold_card(rich_bundle(), ())
    assert ALONE in card
    assert "| R2 | 1 | 1 | 0 | 0 |" in card.splitlines()
    assert "Nobody's work is in it." in gold_card(Bundle(), ())
    card = gold_card(paired_bundle(), ())
    assert "3 stages on 2 items were answered by two or more of 2 people" in card
    assert "Guidelines by version: plan 2, rubric 2." in card
    assert "None of it has been adjudicated yet." in card
    result = Figure(name="kappa", value=0.5, low=-0.25, high=1.0, n=7)
    figures = (
        StageFigure("rubric", "weight", 2, result),
        StageFigure(
            "rubric",
            "weight",
            1,
            Figure(name="kappa", value=None, note="one | category"),
            pairing="the adjudicator's",
        ),
    )
    lines = gold_card(paired_bundle(), figures).splitlines()
    assert "| rubric | weight | automatic | 2 | 7 | kappa | 0.50 | [−0.25, 1.00] |  |" in lines
    assert "| rubric | weight | the adjudicator's | 1 | 0 | kappa | – | – | one \\| category |" in lines
    card = gold_card(paired_bundle(adjudication(spot_check=True)), ())
    for words in (
        "1 of these 3 was adjudicated by somebody who was none of the raters",
        "Of 2 rows, 1 (50 %) was unanimous and 1 was dropped.",
        "1 unanimous stage was drawn for a spot check",
        "1 row showed a gap in the guideline.",
        "Nobody has objected.",
        "| what all of them wrote | 1 | 100.0 % |",
        "| guideline gap | 1 | 100.0 % |",
    ):
        assert words in card
    disputes = [
        DisputeRecord(id=f"d{n}", person_id="person-1", text="No", at=AT, state=state)
        for n, state in enumerate((DisputeState.ANSWERED, DisputeState.OPEN))
    ]
    unit = ProvenanceRecord(unit_id="c9", ruling_id="r1", origin=Origin.NEW)
    last = adjudication(id="v2", version=2, provenance=[unit])
    card = gold_card(paired_bundle(last, adjudication(disputes=disputes)), ())
    assert "2 objections came back from annotators; 1 was answered." in card
    assert "| added by the adjudicator | 1 | 100.0 % |" in card
    assert "what all of them wrote" not in card
