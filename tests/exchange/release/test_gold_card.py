"""How the gold came about: figures that can be counted by hand, in sentences that fit their numbers."""

from typing import Any

import pytest

from annotator.domain.experts.adjudication import DisputeState, Origin, Reason
from annotator.domain.experts.agreement import Agreement, Figure, SealedInput
from annotator.domain.experts.assignment import Stage
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.gold_card import ALONE, StageFigure, text
from annotator.exchange.release.pair_records import (
    AdjudicationRecord,
    AgreementRecord,
    DisputeRecord,
    ProvenanceRecord,
    RulingRecord,
)
from tests.material.bundles import AT, rich_bundle

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


def test_work_that_nobody_did_twice_is_said_to_be_so() -> None:
    card = text(rich_bundle(), ())
    assert ALONE in card
    assert "| R2 | 1 | 1 | 0 | 0 |" in card.splitlines()
    assert "Nobody's work is in it." in text(Bundle(), ())


def test_the_stages_that_were_answered_twice_are_counted() -> None:
    card = text(paired_bundle(), ())
    assert "3 stages on 2 items were answered by two or more of 2 people" in card
    assert "Guidelines by version: plan 2, rubric 2." in card
    assert "None of it has been adjudicated yet." in card


@pytest.mark.usefixtures("small_cases")
def test_a_figure_has_its_interval_or_the_reason_why_there_is_none() -> None:
    found = Figure(name="kappa", value=0.5, low=-0.25, high=1.0, n=7)
    figures = (
        StageFigure("rubric", "weight", 2, found),
        StageFigure(
            "rubric",
            "weight",
            1,
            Figure(name="kappa", value=None, note="one | category"),
            pairing="the adjudicator's",
        ),
    )
    lines = text(paired_bundle(), figures).splitlines()
    assert "| rubric | weight | automatic | 2 | 7 | kappa | 0.50 | [−0.25, 1.00] |  |" in lines
    assert "| rubric | weight | the adjudicator's | 1 | 0 | kappa | – | – | one \\| category |" in lines


def test_what_became_of_it_is_told_in_numbers() -> None:
    card = text(paired_bundle(adjudication(spot_check=True)), ())
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


def test_of_several_versions_the_last_one_is_counted_and_every_objection() -> None:
    disputes = [
        DisputeRecord(id=f"d{n}", person_id="person-1", text="No", at=AT, state=state)
        for n, state in enumerate((DisputeState.ANSWERED, DisputeState.OPEN))
    ]
    unit = ProvenanceRecord(unit_id="c9", ruling_id="r1", origin=Origin.NEW)
    last = adjudication(id="v2", version=2, provenance=[unit])
    card = text(paired_bundle(last, adjudication(disputes=disputes)), ())
    assert "2 objections came back from annotators; 1 was answered." in card
    assert "| added by the adjudicator | 1 | 100.0 % |" in card
    assert "what all of them wrote" not in card
