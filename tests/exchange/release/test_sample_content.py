"""The files of a release and their tables; what stands in the release of the sample, and in its cards."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pandas as pd
import pytest

from annotator.actions.releases import releases
from annotator.domain.experts.adjudication import Agreement, DisputeState, Figure, Origin, Reason, SealedInput
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.publication import Publication, ReleaseMetadata
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds import documents
from annotator.domain.kinds.artifact import Document, Kind, State
from annotator.domain.kinds.documents import document_of
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.words import word_count
from annotator.exchange import folders
from annotator.exchange.release import release, tables_csv
from annotator.exchange.release.bundle import CLASSES, Bundle, laid_aside
from annotator.exchange.release.data_card import ALONE, NO_LICENCE, ReleaseFacts, StageFigure, gold_card, text
from annotator.exchange.release.records import (
    LEFT_OUT_EMPTY,
    AdjudicationRecord,
    AgreementRecord,
    ArtifactRecord,
    DisputeRecord,
    JudgementRecord,
    JudgeRecord,
    ProvenanceRecord,
    Record,
    ResponseRecord,
    RulingRecord,
)
from annotator.places import resources
from annotator.protocols.researcherbench.coverage import baseline
from tests.actions.releases.released_pairs import paired_project
from tests.common import COVERAGE, expect_refusal, stands_in
from tests.material.bundles import AT, change_json, found, rich_bundle, without_manifest, write_release

SAMPLE = resources() / "sample"
# Reports have a file each, and documents one for each kind.
FILES: dict[Path, type[Record]] = {
    SAMPLE / record.FILE: record
    for record in CLASSES.values()
    if record.FILE.endswith(".json")
    and (record.FILE not in LEFT_OUT_EMPTY or (SAMPLE / record.FILE).exists())
}
# People's labels are judgements.
# The sample has no seminar.
WRITTEN = tuple(kind for kind in Kind if kind not in (Kind.LABELS, Kind.INSPIRATIONS, Kind.TASKS))
FILES |= {SAMPLE / "artifacts" / f"{kind}.json": ArtifactRecord for kind in WRITTEN}
FILES |= {path: ResponseRecord for path in sorted((SAMPLE / "responses").glob("*.json"))}


def read(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8")))


def records(cls: type[Record]) -> list[Any]:
    return [
        cls.model_validate(raw)
        for path, kind in FILES.items()
        if kind is cls and path.exists()
        for raw in read(path)
    ]


ALL = {thing: records(cls) for thing, cls in CLASSES.items()}
PEOPLE, ITEMS, SOURCES = ALL["people"], ALL["items"], ALL["sources"]
SYSTEMS, RESPONSES, ARTIFACTS = ALL["systems"], ALL["responses"], ALL["artifacts"]
JUDGEMENTS, RUNS = ALL["judgements"], ALL["runs"]
REVISIONS, AGREEMENTS = ALL["revisions"], ALL["agreements"]
ADJUDICATIONS = ALL["adjudications"]
OF_CRITERIA = [judgement for judgement in JUDGEMENTS if judgement.protocol == COVERAGE]
LABELS = [judgement for judgement in JUDGEMENTS if judgement.rater_kind == "person"]
TEXTS = {source.id: source.text for source in SOURCES} | {one.id: one.text for one in RESPONSES}
ALIASES = {person.id: person.alias for person in PEOPLE}
FIRST, SECOND, THIRD = (item.id for item in ITEMS)
SETTLED = (Kind.QUERY, Kind.RUBRIC, Kind.PLAN, Kind.EVIDENCE, Kind.DIAGNOSTICS)


def document(record: ArtifactRecord) -> Document[Any]:
    return document_of(record.kind, record.document)


def of(item_id: str, kind: Kind) -> dict[str, ArtifactRecord]:
    return {ALIASES[a.author_id]: a for a in ARTIFACTS if a.item_id == item_id and a.kind is kind}


def judged(item_id: str) -> ArtifactRecord:
    """The consensus where there is one, otherwise the sealed rubric of the lowest alias."""
    rubrics = of(item_id, Kind.RUBRIC)
    return rubrics.get("Adjudicator", rubrics[min(rubrics)])


def annotators(item_id: str) -> set[str]:
    return {"Annotator B", "Annotator C"} if item_id == THIRD else {"Annotator A", "Annotator B"}


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


def test_what_was_written_is_read_again_and_written_the_same(tmp_path: Path) -> None:
    first = write_release(tmp_path / "a")
    bundle, problems = release.read([first])
    assert (problems, bundle.counts()) == ([], rich_bundle().counts())
    assert found(write_release(tmp_path / "b", bundle)) == found(first)


def test_files_are_the_same_in_any_order(tmp_path: Path) -> None:
    bundle = rich_bundle()
    for thing in bundle.counts():
        getattr(bundle, thing).reverse()
    files = found(write_release(tmp_path / "a"))
    assert found(write_release(tmp_path / "b", bundle)) == files
    assert {"responses/alpha.json", "responses/nul_.json", "artifacts/rubric.json"} <= files.keys()
    for path, content in files.items():
        assert content.endswith(b"\n")
        if path.endswith(".json"):
            tree = json.loads(content)
            assert content.decode() == json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    listed = {file["path"]: file for file in json.loads(files["manifest.json"])["files"]}
    assert listed.keys() == files.keys() - {"manifest.json", "SHA256SUMS"}
    assert all(len(files[path]) == file["bytes"] for path, file in listed.items())
    assert listed["judgements.json"]["records"] == 3
    other = rich_bundle()
    other.items[0] = other.items[0].model_copy(update={"question": "Why does it snow?"})
    first, third, changed = (
        release.content_sha256(release.content(bundle, ReleaseFacts(title="T", number=number))[1])
        for bundle, number in ((rich_bundle(), 1), (rich_bundle(), 3), (other, 1))
    )
    assert first == third != changed


def test_what_is_made_once_is_read_twice_and_in_turns() -> None:
    made = laid_aside(iter([b"one\n", b"", b"two and three\n"]), "rows")
    assert [*zip(made, made, strict=True)] == [
        (piece, piece) for piece in (b"one\n", b"", b"two and three\n")
    ]


def test_files_written_by_hand_need_no_manifest(tmp_path: Path) -> None:
    folder = without_manifest(write_release(tmp_path / "a"))
    (folder / "runs.json").unlink()
    (folder / "notes.json").write_text("[]", "utf-8")
    bundle, (problem,) = release.read([folder])
    assert (bundle.counts()["items"], problem.file, problem.note) == (2, "notes.json", True)


def test_units_written_without_ids_get_the_same_ids_every_time(tmp_path: Path) -> None:
    folder = without_manifest(write_release(tmp_path / "a"))

    def unnamed(tree: Any) -> None:
        for unit in tree[0]["document"]["units"]:
            del unit["id"]
        tree[0]["sha256"] = release.sha256(release.canonical_json(tree[0]["document"]))

    change_json(folder / "artifacts" / "rubric.json", unnamed)
    ids = [[u["id"] for u in release.read([folder])[0].artifacts[1].document["units"]] for _ in range(2)]
    assert (ids[0], len(set(ids[0]))) == (ids[1], 2)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            lambda f: (f / "items.json").write_bytes((f / "items.json").read_bytes() + b" "),
            "checksum differs",
        ),
        (lambda f: (f / "judgements.json").unlink(), "There is no file"),
        (lambda f: (f / "responses" / "extra.json").write_text("[]", "utf-8"), "is not listed"),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t.update(format_version="2.0")),
            "needs a newer Goldsmith",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t.update(format="zip")),
            "not that of a Goldsmith",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t.update(format_version="one")),
            "not a format version",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t["files"][0].update(path="../evil")),
            "no file of a release",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t["files"].append(t["files"][0])),
            "lists a file twice",
        ),
        (lambda f: change_json(f / "manifest.json", lambda t: t.pop("files")), "“files” is missing"),
    ],
)
def test_a_release_that_is_not_as_its_manifest_says_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    folder = write_release(tmp_path / "a")
    spoil(folder)
    expect_refusal(reason, release.read, [folder])


def test_a_newer_minor_format_is_read_without_its_new_fields(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "a")
    change_json(folder / "items.json", lambda tree: tree[0].update(mood="calm"))
    content = (folder / "items.json").read_bytes()

    def newer(tree: Any) -> None:
        entry = next(file for file in tree["files"] if file["path"] == "items.json")
        entry.update(bytes=len(content), sha256=release.sha256(content))
        tree.update(format_version="1.7", colour="blue")

    change_json(folder / "manifest.json", newer)
    bundle, (problem,) = release.read([folder])
    assert (len(bundle.items), problem.file, problem.index, problem.note) == (2, "items.json", 0, True)


def test_a_newer_minor_format_may_hold_files_that_are_left_unread_but_not_unchecked(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "a")
    (folder / "moods.json").write_text("[]", "utf-8")
    entry = {"path": "moods.json", "sha256": release.sha256("[]"), "bytes": 2, "records": 0}
    change_json(folder / "manifest.json", lambda t: t.update(files=[*t["files"], entry]))
    expect_refusal("no file of a release", release.read, [folder])
    change_json(folder / "manifest.json", lambda t: t.update(format_version="1.7"))
    assert [(p.file, p.note) for p in release.read([folder])[1]] == [("moods.json", True)]
    (folder / "moods.json").write_text("{}", "utf-8")
    expect_refusal("checksum differs", release.read, [folder])


def first_unit(tree: Any) -> dict[str, Any]:
    unit: dict[str, Any] = tree[0]["document"]["units"][0]
    return unit


BAD_RECORDS: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "text as number": (
        "responses/alpha.json",
        lambda t: t[0].update(trial="1"),
        "“trial” should be a valid integer",
    ),
    "true as number": (
        "responses/alpha.json",
        lambda t: t[0].update(tokens=True),
        "“tokens” should be a valid integer",
    ),
    "foreign field": (
        "items.json",
        lambda t: t[0].update(__proto__={}),
        "“__proto__” is not a field of this format",
    ),
    "missing field": ("items.json", lambda t: t[0].pop("question"), "“question” is missing"),
    "unknown state": ("artifacts/rubric.json", lambda t: t[0].update(state="gold"), "“state” should be"),
    "true as weight": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(weight=True),
        "“units.0.weight” should be a valid number",
    ),
    "fraction as weight": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(weight=3.0),
        "“document.units[0].weight” is of the wrong",
    ),
    "weight out of scale": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(weight=5000),
        "“units.0.weight” should",
    ),
    "changed document": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(text="Mine"),
        "not the one its checksum",
    ),
    "repeated unit": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(id="c2"),
        "two units have the same id",
    ),
    "wrong file": ("artifacts/rubric.json", lambda t: t[0].update(kind="plan"), "“units.0."),
    "value without ok": (
        "judgements.json",
        lambda t: t[0].update(status="timeout"),
        "has a value when its status is ok",
    ),
    "ok without value": (
        "judgements.json",
        lambda t: t[0].update(value=None),
        "has a value when its status is ok",
    ),
    "not a list": ("items.json", lambda t: t[0].update(key=[1]), "“key” should be a valid string"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_a_bad_record_is_listed_by_file_index_and_reason(tmp_path: Path, name: str) -> None:
    path, spoil, reason = BAD_RECORDS[name]
    folder = without_manifest(write_release(tmp_path / "a"))
    change_json(folder / path, spoil)
    _, (problem,) = release.read([folder])
    assert (problem.file, problem.index, reason in problem.reason) == (path, 0, True)


def test_shares_that_do_not_sum_to_one_are_a_problem(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "artifacts"
    folder.mkdir(parents=True)
    units = [{"id": "p1", "text": "Depth", "share": 0.5}, {"id": "p2", "text": "Breadth", "share": 0.4}]
    document = {"units": units}
    record = {
        "id": "a", "item_id": "i", "kind": "checklist", "author_id": "", "state": "sealed", "revision": 1,
        "at": "2025-01-01T00:00:00Z", "document": document,
        "sha256": release.sha256(release.canonical_json(document)),
    }  # fmt: skip
    (folder / "checklist.json").write_text(json.dumps([record]), "utf-8")
    assert [p.reason for p in release.read([folder.parent])[1]] == [
        "The shares of the checklist sum to 0.90 and not to 1."
    ]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photo.json").write_text("{}", "utf-8")
    expect_refusal("holds no file of a Goldsmith release", release.read, [tmp_path])


def table(name: str) -> Any:
    return pd.read_csv(io.BytesIO(bytes(tables_csv.files(rich_bundle())[name])))


@pytest.mark.parametrize(
    "cell", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠A1"]
)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell: str) -> None:
    assert tables_csv.guard(cell) == f"'{cell}"
    written = tables_csv.csv([{"a": cell, "b": 1}]).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(written, newline="")))[1] == [f"'{cell}", "1"]


@pytest.mark.parametrize("cell", [-1, -0.5, 0, True, None, "a=b", "", "'quoted"])
def test_numbers_and_harmless_texts_stay_as_they_are(cell: Any) -> None:
    assert tables_csv.guard(cell) is cell


def test_cells_are_harmless_and_numbers_stay() -> None:
    assert tables_csv.files(rich_bundle())["items.csv"].startswith(b"\xef\xbb\xbfid,")
    assert list(table("items.csv")["question"]) == ["Why does it rain?", "なぜ?"]
    lines = tables_csv.files(rich_bundle())["responses.csv"].decode("utf-8-sig").splitlines()
    # "Rain.", CR, LF, "And", U+2028, "more": 5 + 2 + 3 + 1 + 4 characters.
    assert lines[:2] == [
        "id,item_key,system,trial,mode,characters,latency_s,tokens,cost_usd,run_tokens,cost_part_usd",
        "response-1,one,Alpha,1,end-to-end,15,,,,,",
    ]
    assert "response-2,two,Alpha,1,end-to-end,1,1.5,2,,," in lines
    cell = 'a\r\nb\u2028c,"d"\n\x0b' + "x" * 40_000
    (row,) = csv.DictReader(io.StringIO(tables_csv.csv([{"a": cell}]).decode("utf-8-sig"), newline=""))
    assert row["a"] == cell


def test_there_is_one_line_for_each_unit_with_its_item() -> None:
    criteria = table("criteria.csv")
    lines = list(zip(criteria["item_key"], criteria["weight"], criteria["text"], strict=True))
    assert lines == [("one", 3, "Names the cause"), ("one", 1, "'=Compares “two”, with commas")]
    assert criteria["quote"][0] == "the cause"
    # Authors appear by their alias.
    statement = table("statements.csv").iloc[0]
    assert (statement["author"], statement["label"], statement["aspect"]) == ("R2", True, "results")
    # A missing judgement has an empty value and its cause.
    missing = table("judgements.csv").set_index(["rater_id", "unit_id"]).loc[("judge-1", "c2")]
    assert (missing["status"], missing["cause"]) == ("timeout", "no answer in 60 s")
    assert pd.isna(missing["value"])


def test_the_same_content_gives_the_same_bytes_in_any_order() -> None:
    bundle = rich_bundle()
    for thing in bundle.counts():
        getattr(bundle, thing).reverse()
    made, again = (tables_csv.files(each) for each in (bundle, rich_bundle()))
    assert {name: bytes(made[name]) for name in made} == {name: bytes(again[name]) for name in again}


def test_tables_are_as_pandas_writes_them() -> None:
    cells = [
        1,
        -0.5,
        1e-7,
        1e22,
        True,
        None,
        float("nan"),
        "",
        "a,b",
        'a"b',
        "a\nb",
        "a\r",
        " a ",
        "界",
        "0.10",
    ]
    pairs = [{"first": cell, "second, third": n if n % 3 else None} for n, cell in enumerate(cells)]
    for rows in (pairs, [{"a": None}, {"a": ""}, {"a": 2}]):
        expected = pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\r\n")
        assert tables_csv.csv(rows).decode("utf-8-sig") == expected
    rows = [
        {"a": n, "b": None if n % 7 else n / 3, "c": f'"{n}", =x'} for n in range(2 * folders.AT_ONCE + 1)
    ]
    head, *lines = tables_csv.csv(rows).decode("utf-8-sig").splitlines(keepends=True)
    assert head == "a,b,c\r\n"
    assert lines == [tables_csv.csv([row]).decode("utf-8-sig").splitlines(keepends=True)[1] for row in rows]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return releases.gather(paired_project(tmp_path_factory.mktemp("pairs")))[0]


def test_frozen_figures_and_versions_have_lines(bundle: Bundle, tmp_path: Path) -> None:
    tables = tables_csv.pair_tables(bundle)
    lines = tables["agreement"]
    assert len(lines) == sum(len(pair.figures) for one in bundle.agreements for pair in one.pairs)
    (f1,) = [line for line in lines if line["stage"] == "rubric" and line["figure"] == "match_f1"]
    # 4 pairs of 5 and 6 criteria.
    assert f1["value"] == pytest.approx(8 / 11)
    assert (sorted((f1["rater_a"], f1["rater_b"])), f1["item_key"], f1["matcher"]) == (["R2", "R3"], "1", "2")
    lines = tables["provenance"]
    assert [(line["version"], line["adjudicator"]) for line in lines] == [(1, "R4")] * 6 + [(2, "R4")] * 7
    (edited,) = [line for line in lines if line["origin"] == "edited"]
    assert (edited["written_by"], edited["wording_of"], edited["reason"]) == ("R2", "", "wording")
    assert {line["written_by"] for line in lines if line["origin"] == "both"} == {"R2 and R3"}
    (line,) = tables["disputes"]
    assert line.items() >= {"person": "R2", "version": 1, "state": "answered", "answered_version": 2}.items()
    ids = {person.id for person in bundle.people}
    assert not any(
        str(value) in ids for lines in tables.values() for line in lines for value in line.values()
    )


def test_the_tables_are_files_like_the_others_and_absent_where_there_is_nothing(bundle: Bundle) -> None:
    names = {"agreement.csv", "provenance.csv", "disputes.csv"}
    assert names <= tables_csv.files(bundle).keys()
    assert not names & tables_csv.files(rich_bundle()).keys()
