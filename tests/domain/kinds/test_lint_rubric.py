"""What the guideline objects to in a rubric."""

import json
from collections import Counter
from pathlib import Path

import pytest

from annotator.actions.imports import practice
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Criterion, Rubric, weight_shares

PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"
GOOD = "Explains how retrieval of sources lowers the rate of invented answers."


def rules(*texts):
    document = Rubric(units=tuple(Criterion(text=text) for text in (*texts, GOOD)))
    return {finding.rule for finding in lint(document) if finding.unit_id == document.units[0].id}


def of_weights(*weights):
    texts = (
        "Explains alpha",
        "Describes beta",
        "Compares gamma",
        "Outlines delta",
        "Identifies epsilon",
        "Lists zeta",
    )
    return Rubric(
        units=tuple(Criterion(text=texts[i % 6] * (1 + i), weight=w) for i, w in enumerate(weights))
    )


def document_rules(rubric):
    return {finding.rule for finding in lint(rubric) if not finding.unit_id}


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "Discuss the limits of supervised fine-tuning on long documents.",
        "Clearly sets out where planning differs from acting in such programs.",
        "The report identifies the main cause of the drift in the sensor.",
        "Analyses the cost of training, with at least two figures.",
        "Gives one earlier technology that grew in the same way (e.g., UNIX, TeX, HTML).",
        "Compares and contrasts the memory needs of both methods.",
    ],
)
def test_a_good_criterion_is_left_in_peace(text):
    assert rules(text) == set()


def test_the_samples_own_criteria_are_accepted():
    for criteria in (practice.BEGUN, practice.OTHERS, practice.AGREED, practice.ONE, practice.OTHER):
        for text, _ in criteria:
            assert rules(text) == set(), text
    assert rules("Tells how much water the plant would use in a year.") == set()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Retrieval of sources lowers the rate of invented answers.", "opening-verb"),
        ("Data with explicit constraints are needed for training.", "opening-verb"),
        ("Explains the memory and/or the time that training takes.", "several-claims"),
        ("Explains how retrieval works in practice and discusses its cost at scale.", "several-claims"),
        ("Explains the role of memory; names the cost of each step.", "several-claims"),
        ("Explains the role of memory. Names the cost of each step.", "several-claims"),
        ("Explains the role of memory, bandwidth, latency, and heat in training.", "several-claims"),
        ("Explains various methods of retrieval in the field.", "vague"),
        ("Provides a comprehensive overview of the methods in the field.", "vague"),
        ("Explains the result, ideally with a figure for each.", "optional"),
        ("Provides text that is well-structured and of use to the reader.", "surface"),
        ("Discusses formatting and layout of the report for readability.", "surface"),
        ("Shows how four tricks (MoE, MLA, FP8, RL) cut the cost of training.", "rigid-list"),
        ("Does it explain how retrieval works in the clinic?", "question"),
        ("Explains attention.", "length"),
        ("Explains " + "how one more thing follows from the last " * 6, "length"),
    ],
)
def test_what_the_guideline_objects_to_is_named(text, rule):
    assert rule in rules(text)


def test_names_given_as_examples_are_not_too_rigid():
    assert "rigid-list" not in rules("Describes one of the known benchmarks, such as GAIA, BRIGHT, and MMLU.")
    assert "rigid-list" not in rules("Describes how GAIA, BRIGHT, or MMLU measures the quality of an agent.")


def test_a_list_of_examples_is_no_list_of_claims():
    assert rules("Gives reasons for the cost, such as memory, bandwidth, latency, and heat.") == set()


def test_the_wording_found_is_shown():
    document = Rubric(units=(Criterion(text="Explains several methods of retrieval and their use"),))
    (finding,) = [f for f in lint(document) if f.rule == "vague"]
    assert "“several”" in finding.message


def test_weight_shares_are_counted_over_all_criteria():
    assert weight_shares(of_weights(1, 1, 2, 3)) == {1: 0.5, 2: 0.25, 3: 0.25}
    assert weight_shares(Rubric()) == {}


def test_a_rubric_without_a_core_criterion_is_warned_about():
    assert "no-core" in document_rules(of_weights(1, 2, 2, 1))
    assert "no-core" not in document_rules(of_weights(1, 2, 2, 3))


def test_letter_6_no_spread_of_weights_is_held_against_what_others_found():
    assert document_rules(of_weights(*[3] * 10)) == document_rules(of_weights(1, 1, 1, 2, 2, 2, 2, 2, 3, 3))


@pytest.fixture
def experts():
    if not PUBLIC.exists():
        pytest.skip("the public rubrics of ResearcherBench are not beside this checkout")
    return [
        Rubric(units=tuple(Criterion(text=line["point"], weight=line["weight"]) for line in entry["rubric"]))
        for entry in json.loads(PUBLIC.read_text(encoding="utf-8"))
    ]


def test_the_experts_weights_are_those_of_the_papers_table_10(experts):
    together = Rubric(units=tuple(unit for rubric in experts for unit in rubric.units))
    assert len(together.units) == 931
    for weight, share in weight_shares(together).items():
        assert share == pytest.approx(EXPERT_WEIGHT_SHARES[weight], abs=5e-5)


def test_experts_criteria_are_seldom_warned_about(experts):
    found = Counter(f.rule for rubric in experts for f in lint(rubric) if f.unit_id)
    assert sum(found.values()) < 0.06 * 931
    assert all(count < 0.03 * 931 for count in found.values()), found


def test_experts_work_has_no_errors(experts):
    assert not [f for rubric in experts for f in lint(rubric) if f.level == "error"]
