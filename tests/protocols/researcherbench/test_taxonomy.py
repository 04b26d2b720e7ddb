"""What goes wrong in reports, and how often."""

import pytest

from annotator.domain.judges.taxonomy import SUBTOTAL, LabelledResponse, due, mean_counts
from annotator.protocols import TAXONOMIES
from annotator.protocols.researcherbench.taxonomy import CITATION_ERRORS, MISSES, MODES, suggested

# Appendix E.6.2, Table 6: mean errors per response, by question type, with the printed subtotals.
TABLE_6 = {
    "Open Consulting": ((447, 180, 627), (248, 1640, 1888)),
    "Literature Review": ((623, 264, 887), (235, 1635, 1870)),
    "Technical Details": ((563, 293, 856), (142, 1550, 1692)),
}


def looked(question_type, *labels, name="r"):
    return LabelledResponse(name, question_type, {f"u{n}": label for n, label in enumerate(labels)})


def hundred(question_type, counts, values):
    """A hundred responses with so many labels of each value in all, spread unevenly; the last have none."""
    labels = [value for value, count in zip(values, counts, strict=False) for _ in range(count)]
    return [looked(question_type, *labels[n::80], name=f"r{n}") for n in range(80)] + [
        looked(question_type)
    ] * 20


@pytest.mark.parametrize("question_type", TABLE_6)
@pytest.mark.parametrize(("taxonomy", "place"), [(MISSES, 0), (CITATION_ERRORS, 1)])
def test_the_columns_of_table_6(question_type, taxonomy, place):
    *counts, subtotal = TABLE_6[question_type][place]
    found = mean_counts(hundred(question_type, counts, taxonomy.values), taxonomy)[question_type]
    assert [round(100 * found[value].value) for value in taxonomy.values] == counts
    assert round(100 * found[SUBTOTAL].value) == subtotal
    assert found[SUBTOTAL].n == 100


def test_the_mean_is_over_responses_also_those_without_an_error():
    # incompleteness 2 + 0 + 1 of three responses, partial missing 1
    rows = [
        looked("T", "incompleteness", "partial_missing", "incompleteness"),
        looked("T"),
        looked("T", "incompleteness"),
    ]
    found = mean_counts(rows, MISSES)["T"]
    assert (found["incompleteness"].value, found["partial_missing"].value) == (3 / 3, 1 / 3)
    assert found[SUBTOTAL].value == 4 / 3


def test_types_stand_in_the_papers_order():
    rows = [looked(kind) for kind in ("Other", "Open Consulting", "Technical Details", "Another")]
    assert list(mean_counts(rows, MISSES)) == ["Technical Details", "Open Consulting", "Another", "Other"]


def test_a_unit_without_a_label_leaves_a_range_and_counts_in_the_subtotal():
    # 1 of 2 responses' 3 units is incompleteness, one nobody labelled
    found = mean_counts([looked("T", "incompleteness", None), looked("T", "partial_missing")], MISSES)["T"]
    one = found["incompleteness"]
    assert (one.value, one.floor, one.ceiling, one.missing) == (None, 1 / 2, 2 / 2, 1)
    assert (found[SUBTOTAL].value, found[SUBTOTAL].missing) == (3 / 2, 0)


def test_nothing_labelled_and_nothing_looked_at():
    found = mean_counts([looked("T", None, None)], MISSES)["T"]
    assert (found["incompleteness"].value, found["incompleteness"].ceiling, found[SUBTOTAL].value) == (
        None,
        2.0,
        2.0,
    )
    assert mean_counts([], MISSES) == {}
    assert mean_counts([looked("T")], MISSES)["T"]["incompleteness"].value == 0.0


def test_a_response_mode_may_be_left_out():
    found = mean_counts([looked("T", "retrieval", None, "internal_knowledge")], MODES)["T"]
    assert (found["retrieval"].value, found["retrieval"].missing) == (1.0, 0)
    assert SUBTOTAL not in found


def test_a_foreign_label_is_refused():
    with pytest.raises(ValueError, match=r"no label of researcherbench\.misses"):
        mean_counts([looked("T", "retrieval")], MISSES)


def test_only_some_verdicts_ask_for_a_label():
    verdicts = {"a": "yes", "b": "no", "c": "unknown"}
    assert due(MISSES, verdicts) == ["b"]
    assert due(MODES, verdicts) == ["a"]
    assert due(CITATION_ERRORS, verdicts) == ["b", "c"]


@pytest.mark.parametrize(
    ("value", "flags", "label"),
    [
        ("unknown", "page_dead", "invalid_attribution"),
        ("unknown", "injection page_forbidden", "invalid_attribution"),
        ("no", "", "unsupported_answer"),
        ("no", "page_cut", "unsupported_answer"),
        ("unknown", "", ""),
        ("yes", "quote_missing", ""),
    ],
)
def test_a_claims_label_is_offered_by_its_page_or_verdict(value, flags, label):
    assert suggested(value, flags) == label


def test_each_taxonomy_is_known_by_its_name():
    assert {name: taxonomy.name for name, taxonomy in TAXONOMIES.items()} == {
        name: name for name in TAXONOMIES
    }
    assert [len(taxonomy.values) for taxonomy in TAXONOMIES.values()] == [2, 2, 4, 3, 3, 3]
