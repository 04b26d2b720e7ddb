"""The work in pairs in the sample's files: frozen, adjudicated, objected to, and in step with what was written."""

from collections import Counter

from annotator.domain.kinds.artifact import Kind, State
from annotator.exchange.release.pair_records import GuidelineRecord
from annotator.places import resources
from tests.projects.sample_files import (
    ADJUDICATIONS,
    ADJUDICATOR,
    AGREEMENTS,
    ALIASES,
    ARTIFACTS,
    FIRST,
    ITEMS,
    REVISIONS,
    SETTLED,
    annotators,
    records,
)


def test_both_answered_every_stage_that_is_not_a_draft_and_their_agreement_is_frozen() -> None:
    frozen = {(one.item_id, one.stage.value) for one in AGREEMENTS}
    drafts = {(one.item_id, one.kind.value) for one in ARTIFACTS if one.state is State.DRAFT}
    twice = {(item.id, kind.value) for item in ITEMS for kind in (*SETTLED, Kind.INSIGHTS, Kind.SELECTION)}
    assert len(drafts) == 3
    assert frozen == (twice - drafts) | {(FIRST, "labelling")}
    for one in AGREEMENTS:
        assert {ALIASES[given.person_id] for given in one.inputs} == annotators(one.item_id)


def test_neither_everything_nor_nothing_is_agreed_on() -> None:
    found = [
        figure.value for one in AGREEMENTS for figure in one.pairs[0].figures if figure.name == "match_f1"
    ]
    assert all(0.3 <= value <= 1 for value in found)
    assert sum(value < 0.8 for value in found) > len(found) / 2


def test_a_consensus_leads_back_to_its_rulings_and_every_ruling_that_changes_something_says_why() -> None:
    assert Counter(one.version for one in ADJUDICATIONS) == {1: 6, 2: 1}
    for one in ADJUDICATIONS:
        assert {unit.ruling_id for unit in one.provenance} <= {row.id for row in one.rulings}
        assert all(row.reason and row.rationale for row in one.rulings if row.take == "drop")
    rows = [row for one in ADJUDICATIONS for row in one.rulings]
    assert {row.reason.value for row in rows if row.reason} >= {
        "wording",
        "scope",
        "weight",
        "error",
        "guideline gap",
    }
    assert {row.take for row in rows} > {"both", "own", "drop"}


def test_one_objection_was_answered_by_a_second_version() -> None:
    (dispute,) = [each for one in ADJUDICATIONS for each in one.disputes]
    assert (ALIASES[dispute.person_id], dispute.state.value, dispute.answered_version) == (
        "Annotator B", "answered", 2,
    )  # fmt: skip


def test_one_draft_was_begun_under_the_guideline_before_the_present_one() -> None:
    (guideline,) = records(GuidelineRecord)
    (stale,) = [one for one in REVISIONS if one.kind is Kind.DIAGNOSTICS and one.guideline == "1"]
    assert (guideline.stage.value, guideline.version, stale.sealed, stale.at < guideline.at) == (
        "diagnostics", 2, False, True,
    )  # fmt: skip
    shipped = (resources() / "guidelines" / "diagnostics.md").read_text("utf-8")
    assert guideline.text != shipped
    assert guideline.text.splitlines()[0] == shipped.splitlines()[0]


def test_of_one_document_an_earlier_sealed_revision_is_kept() -> None:
    numbers = Counter(one.artifact_id for one in REVISIONS if one.sealed and one.author_id != ADJUDICATOR)
    (again,) = [name for name, count in numbers.items() if count > 1]
    first, later = [one for one in REVISIONS if one.artifact_id == again]
    assert (first.kind, first.document is None, later.document is None) == (Kind.PLAN, False, True)
