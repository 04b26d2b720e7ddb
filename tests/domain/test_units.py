"""Units of documents: scales, weights, and families of models."""

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError

from annotator.domain.judges.judge import family_of
from annotator.domain.judges.protocol import Level, Scale, Value, nominal, numbers, plain
from annotator.domain.kinds.artifact import FURTHEST, MOST, USUAL, Anchor, Weights, read
from annotator.domain.kinds.documents import KINDS, lint
from annotator.domain.kinds.rubric import Criterion, Rubric, counted_weights, weight_shares
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.refusal import Refusal
from tests.material.anchors import stands_in

TEXT = "Costs rise slowly. Demand falls."


def test_an_anchor_holds_the_words_their_place_and_the_hash_of_the_whole_text():
    anchor = Anchor.at(TEXT, 6, 10, "s")
    assert anchor == Anchor(quote="rise", start=6, end=10, source_id="s", text_sha256=sha256(TEXT))
    assert (stands_in(anchor, TEXT), stands_in(anchor, f"{TEXT} ")) == (True, False)
    with pytest.raises(ValidationError, match="quote"):
        Anchor.at(TEXT, 6, 6)


def test_a_unit_with_one_quotation_is_written_as_it_always_was():
    one = Criterion(id="c", text="Explains it", anchor=Anchor(quote="first"))
    assert "more_anchors" not in one.model_dump(mode="json")
    assert Rubric(units=(one,)).tree()["units"][0] == one.model_dump(mode="json")


def test_further_quotations_are_kept_in_their_order_and_come_back():
    one = Criterion(id="c", text="Explains it")
    anchors = (Anchor(quote="first"), Anchor(quote="second"), Anchor(quote="third"))
    for quoted in (anchors, anchors[1:], ()):
        one = Criterion.model_validate({**one.model_dump(), **one.quoting(quoted)})
        rubric = Rubric(units=(one,))
        assert (one.anchors, Rubric.model_validate_json(canonical_json(rubric.tree()))) == (quoted, rubric)
    assert one == Criterion(id="c", text="Explains it")


def test_numbers_are_named_by_themselves_and_explained_by_ranges():
    scale = numbers(0, 10, hints={range(8, 11): "Mastery"})
    assert scale.names == tuple(map(str, range(11)))
    assert [scale.number(name) for name in ("0", "10")] == [0.0, 10.0]
    assert [scale.value(name).hint for name in ("7", "8", "10")] == ["", "Mastery", "Mastery"]
    assert numbers(1, 2, 0.5).names == ("1", "1.5", "2")


ORDERED = Scale(Level.ORDINAL, (Value("none", "None"), Value("partial", "Partial"), Value("full", "Full")))


def test_an_ordered_value_counts_as_its_place():
    assert [ORDERED.number(name) for name in ORDERED.names] == [0.0, 1.0, 2.0]


@pytest.mark.parametrize(
    ("scale", "name", "words"), [(ORDERED, "more", "more"), (plain("yes", "no"), "yes", "order")]
)
def test_a_value_without_a_place_has_no_number(scale, name, words):
    with pytest.raises(ValueError, match=words):
        scale.number(name)


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
    assert (weights.values, weights.text) == (values, again)
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
    assert (weights.values, read(weights.text)) == (tuple(sorted(numbers)), weights)


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


@pytest.mark.parametrize(
    ("weights", "allowed", "rule", "named"),
    [
        # A weight that is not allowed is an error, and only then.
        ((-3, 1), "", "weight-outside", True),
        ((-3, 1), "-3 to 3", "weight-outside", False),
        ((1, 2), "-5, 5", "weight-outside", True),
        # The experts' shares are no norm for other weights.
        ((1, 1, 2), "", "no-core", True),
        ((1, 1, 2), "1 to 10", "no-core", False),
    ],
)
def test_weights_are_held_against_those_that_the_project_allows(
    weights: tuple[float, ...], allowed: str, rule: str, named: bool
) -> None:
    assert (rule in rules(rubric(*weights), read(allowed))) is named


def test_shares_are_of_the_weights_in_use_where_others_than_the_usual_are() -> None:
    assert weight_shares(rubric(-2, 3, 3, 0.5)) == {-2: 0.25, 0.5: 0.25, 3: 0.5}
    assert counted_weights([rubric(1, 1), rubric(3)]) == {1: 2, 2: 0, 3: 1}


def test_the_form_offers_what_is_allowed() -> None:
    spec = KINDS[Rubric.KIND]
    assert spec.under(USUAL) is spec
    (weight, *_) = spec.under(read("-5, 1, 3")).fields
    assert [value for value, *_ in weight.options] == [-5, 1, 3]
    assert "-5, 1, 3" in spec.under(read("-5, 1, 3")).what


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "OpenAI"),
        ("o3-2025-04-16", "OpenAI"),
        ("OpenAI Deep Research", "OpenAI"),
        ("anthropic/claude-sonnet-4", "Anthropic"),
        ("Gemini Deep Research", "Google"),
        ("meta-llama/Llama-3.1-8B", "Meta"),
        ("Perplexity: Sonar Reasoning Pro", "Perplexity"),
        ("Qwen2.5-72B", "Alibaba"),
        ("nvidia/Llama-3.1-Nemotron-70B", "NVIDIA"),
        ("Grok3 Deeper Search", "xAI"),
        ("yi-34b", "01.AI"),
        ("phi4", "Microsoft"),
        ("Yield model", ""),
        ("Philadelphia", ""),
        ("Metaphor search", ""),
        ("Commander", ""),
        ("DeepScholar-ref (GPT-4.1, o3)", "Stanford"),
        ("our pipeline", ""),
        ("", ""),
    ],
)
def test_a_family_is_told_from_a_name(name: str, family: str) -> None:
    assert family_of(name) == family
