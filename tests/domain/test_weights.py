"""Which weights a project may allow, how they are typed, and what a rubric under them is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from annotator.domain.kinds.documents import KINDS, lint
from annotator.domain.kinds.rubric import Criterion, Rubric, counted_weights, weight_shares
from annotator.domain.kinds.weights import FURTHEST, MOST, USUAL, Weights, read
from annotator.domain.texts.refusal import Refusal

HUNDREDTHS = st.integers(-100 * FURTHEST, 100 * FURTHEST).map(lambda number: number / 100)


def rubric(*weights: float) -> Rubric:
    words = "Explains how point {} of the question is answered by evidence"
    return Rubric(units=tuple(Criterion(text=words.format(n), weight=w) for n, w in enumerate(weights)))


def rules(document: Rubric, weights: Weights = USUAL) -> list[str]:
    return [finding.rule for finding in lint(document, weights=weights)]


@pytest.mark.parametrize(
    ("text", "values", "again"),
    [
        ("", (1, 2, 3), "1 to 3"),
        ("1..3", (1, 2, 3), "1 to 3"),
        ("-3 to 3", (-3, -2, -1, 0, 1, 2, 3), "-3 to 3"),
        ("−2 to 2 by 2", (-2, 0, 2), "-2 to 2 by 2"),
        ("1–10", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), "1 to 10"),
        ("0 to 1 by 0.25", (0, 0.25, 0.5, 0.75, 1), "0 to 1 by 0.25"),
        ("3, -5; 1,3", (-5, 1, 3), "-5, 1, 3"),
        ("1, 2", (1, 2), "1, 2"),
    ],
)
def test_weights_are_read_as_people_type_them(text: str, values: tuple[float, ...], again: str) -> None:
    weights = read(text)
    assert weights.values == values
    assert weights.text == again
    assert [type(value) for value in weights.values] == [type(value) for value in values]


@pytest.mark.parametrize(
    "text",
    ["high", "3 to 1", "1 to 3 by 0", "0 to 1 by 0.3", "5", "-3 to 0", "1 to 100", "1, 2000", "1 to 3 by -1"],
)
def test_what_says_no_weights_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        read(text)


@given(st.sets(HUNDREDTHS, min_size=2, max_size=MOST).filter(lambda found: max(found) > 0))
def test_what_is_written_is_read_again(numbers: set[float]) -> None:
    weights = read(", ".join(str(number) for number in numbers))
    assert weights.values == tuple(sorted(numbers))
    assert read(weights.text) == weights


@pytest.mark.parametrize(
    ("text", "three"),
    [("", [1, 2, 3]), ("-3 to 3", [1, 2, 3]), ("1 to 10", [1, 5, 10]), ("-1, 4", [4, 4, 4])],
)
def test_a_draft_in_three_steps_is_given_weights_above_0(text: str, three: list[float]) -> None:
    assert [read(text).of_three(importance) for importance in (1, 2, 3)] == three


@pytest.mark.parametrize("weight", [True, "3", None, float("nan"), float("inf"), FURTHEST + 1])
def test_a_weight_is_a_number_within_bounds(weight: object) -> None:
    with pytest.raises(ValidationError):
        Criterion(text="Explains it", weight=weight)  # type: ignore[arg-type]


def test_a_whole_number_is_kept_as_one() -> None:
    assert '"weight":2,' in Criterion(text="Explains it", weight=2.0).model_dump_json()


def test_a_weight_that_is_not_allowed_is_an_error_and_only_then() -> None:
    assert "weight-outside" in rules(rubric(-3, 1))
    assert "weight-outside" not in rules(rubric(-3, 1), read("-3 to 3"))
    assert "weight-outside" in rules(rubric(1, 2), read("-5, 5"))


def test_the_experts_shares_are_no_norm_for_other_weights() -> None:
    assert "no-core" in rules(rubric(1, 1, 2))
    assert "no-core" not in rules(rubric(1, 1, 2), read("1 to 10"))


def test_shares_are_of_the_weights_in_use_where_others_than_the_usual_are() -> None:
    assert weight_shares(rubric(-2, 3, 3, 0.5)) == {-2: 0.25, 0.5: 0.25, 3: 0.5}
    assert counted_weights([rubric(1, 1), rubric(3)]) == {1: 2, 2: 0, 3: 1}


def test_the_form_offers_what_is_allowed() -> None:
    spec = KINDS[Rubric.KIND]
    assert spec.under(USUAL) is spec
    (weight, *_) = spec.under(read("-5, 1, 3")).fields
    assert [value for value, *_ in weight.options] == [-5, 1, 3]
    assert "-5, 1, 3" in spec.under(read("-5, 1, 3")).what
