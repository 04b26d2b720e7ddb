"""What the values of a scale are to one another, and how they are read."""

import pytest

from annotator.domain.judges.scale import Level, Scale, Value, nominal, numbers, plain


def test_numbers_are_named_by_themselves_and_explained_by_ranges():
    scale = numbers(0, 10, hints={range(8, 11): "Mastery"})
    assert scale.names == tuple(map(str, range(11)))
    assert [scale.number(name) for name in ("0", "10")] == [0.0, 10.0]
    assert [scale.value(name).hint for name in ("7", "8", "10")] == ["", "Mastery", "Mastery"]
    assert numbers(1, 2, 0.5).names == ("1", "1.5", "2")


def test_an_ordered_value_counts_as_its_place():
    scale = Scale(Level.ORDINAL, (Value("none", "None"), Value("partial", "Partial"), Value("full", "Full")))
    assert [scale.number(name) for name in scale.names] == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="more"):
        scale.number("more")


def test_values_without_an_order_have_no_number():
    with pytest.raises(ValueError, match="order"):
        plain("yes", "no").number("yes")


@pytest.mark.parametrize(
    ("scale", "positive"),
    [
        (plain("yes", "no"), "yes"),
        (nominal(Value("no", "No"), Value("yes", "Yes"), positive="yes"), "yes"),
        (plain("first", "second", "tie"), ""),
        (numbers(0, 1, level=Level.ORDINAL), ""),
    ],
)
def test_of_two_values_the_first_is_positive_unless_another_is_named(scale, positive):
    assert scale.positive == positive


def test_a_value_of_a_later_version_is_shown_as_it_is_stored():
    value = plain("yes", "no").value("half-met")
    assert (value.words, value.hint) == ("half-met", "")
