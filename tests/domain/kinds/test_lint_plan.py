"""What the guideline objects to in a gold plan."""

import pytest

from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.plan import Plan, Subtask

GOOD = (
    "Establish why long documents remain a challenge for current retrieval systems.",
    "Review earlier approaches to splitting documents and their known weaknesses.",
    "Describe a method that scores passages within their surrounding context.",
    "Evaluate the method against strong baselines on public collections of questions.",
    "Draw conclusions on where the approach helps and what remains open.",
)


def plan(*texts):
    return Plan(units=tuple(Subtask(text=text) for text in texts))


def rules(*texts):
    return {finding.rule for finding in lint(plan(*texts))}


def test_a_good_plan_is_left_in_peace():
    assert lint(plan(*GOOD)) == []


@pytest.mark.parametrize(("n", "warned"), [(4, True), (5, False), (10, False), (11, True)])
def test_a_plan_has_five_to_ten_subtasks(n, warned):
    assert ("count" in rules(*[GOOD[i % 5] for i in range(n)])) is warned


@pytest.mark.parametrize(("n", "warned"), [(7, True), (8, False), (20, False), (21, True)])
def test_a_subtask_has_eight_to_twenty_words(n, warned):
    assert ("length" in rules(" ".join(["Word"] * n) + ".")) is warned


@pytest.mark.parametrize(
    "text",
    [
        "Show that accuracy rises by 12% when passages are scored in their context.",
        "Train the model with a learning rate of 0.001 on the public collections.",
        "Use 64 passages for each question in the evaluation of the method.",
    ],
)
def test_low_level_numbers_are_named(text):
    assert "low-level-number" in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Compare the approach with GPT-4 and with other models published since 2023.",
        "Describe how CO2 uptake and 3D structure depend on the temperature of synthesis.",
        "Review the effects of COVID-19 on supply chains between 2020–2022 in Europe.",
    ],
)
def test_names_and_years_are_not_low_level_numbers(text):
    assert "low-level-number" not in rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "describe how passages are scored in their context here.",
        "Scores of passages in their surrounding context and more",
    ],
)
def test_an_incomplete_sentence_is_named(text):
    assert "sentence" in rules(text)


def test_a_plan_should_run_from_motivation_to_conclusion():
    middle = "Train a ranker on pairs of passages taken from public collections."
    odd = [middle.replace("ranker", word) for word in ("ranker", "reader")]
    assert "no-motivation" in rules(*odd, *GOOD[2:])
    assert "no-conclusion" in rules(*GOOD[:3], *odd)


def test_the_course_of_a_short_draft_is_not_judged():
    assert rules(GOOD[3]) == {"count"}
