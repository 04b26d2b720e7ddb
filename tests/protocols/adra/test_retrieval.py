"""What ADRA says of retrieval."""

from statistics import fmean

import pytest

from annotator.domain.judges.protocol import RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.protocols.adra.retrieval import RETRIEVAL, compare
from tests.protocols.adra.adra_material import evidence, metric, works

FIGURES = ("jaccard", "precision", "recall", "f1", "hit")
DOI, ARXIV = "10.1000/one", "arXiv:2301.00001"
LONG = "A survey of attention in long documents"


def scores(retrieved, gold):
    scored = RatedResponse(evidence(retrieved, gold), {})
    return [metric(RETRIEVAL, f"retrieval.{name}").score(scored, False) for name in FIGURES]


def values(retrieved, gold):
    return [found.value for found in scores(retrieved, gold)]


# The keys of appendix G and the protocols page, in their order


@pytest.mark.parametrize(
    ("retrieved", "gold", "by", "key"),
    [
        (("https://doi.org/10.1000/ONE", ""), (DOI, LONG), "doi", "10.1000/one"),
        (("https://arxiv.org/pdf/2301.00001v3", ""), (ARXIV, LONG), "arxiv", "2301.00001"),
        (("10.48550/arXiv.2301.00001", ""), ("2301.00001v1", ""), "arxiv", "2301.00001"),
        (
            ("", "Attention in Long Documénts!"),
            ("", "attention in long documents: part II"),
            "title",
            "attention in long do",
        ),
        ((ARXIV, LONG), (DOI, LONG), "title", "a survey of attentio"),
        (("", "BERT, again"), ("", "Bert again"), "title", "bert again"),
    ],
)
def test_a_match_tells_by_which_key(retrieved, gold, by, key):
    (match,) = compare(works(retrieved), works(gold)).matches
    assert (match.by, match.key) == (by, key)


@pytest.mark.parametrize(
    ("retrieved", "gold"),
    [
        ((DOI, ""), ("10.1000/two", "")),
        (("", "A survey of attentive readers"), ("", LONG)),
        # Fewer than 20 normal characters match only when equal.
        (("", "Attention"), ("", "Attention in long documents")),
        (("", ""), ("", "")),
        (("https://a.org/x", ""), ("https://a.org/x", "")),
    ],
)
def test_what_no_key_joins_is_superfluous_and_lacking(retrieved, gold):
    found = compare(works(retrieved), works(gold))
    assert (len(found.matches), len(found.superfluous), len(found.lacking)) == (0, 1, 1)


def test_a_doi_goes_before_a_title():
    retrieved = works(("", LONG), (DOI, "Another title"))
    found = compare(retrieved, works((DOI, LONG)))
    assert [(match.retrieved.id, match.by) for match in found.matches] == [("w1", "doi")]
    assert [reference.id for reference in found.superfluous] == ["w0"]


def test_a_gold_work_is_found_once_however_often_it_is_retrieved():
    found = compare(works((DOI, ""), (DOI, "")), works((DOI, ""), ("10.1000/two", "")))
    assert (len(found.matches), len(found.superfluous), len(found.lacking)) == (1, 1, 1)


# What that is worth


def test_a_hand_made_list_of_references():
    # 4 retrieved, 3 gold, 2 the same: J 2/5, P 2/4, R 2/3, F1 4/7; with three gold sources no hit is defined.
    retrieved = works((DOI, ""), (ARXIV, ""), ("10.1/x", ""), ("10.1/y", ""))
    gold = works((ARXIV, LONG), (DOI, ""), ("10.1/z", ""))
    found = scores(retrieved, gold)
    assert [one.value for one in found] == [2 / 5, 2 / 4, 2 / 3, 4 / 7, None]
    assert found[4].note == "there are several gold sources"
    assert (found[0].n, found[0].missing, found[0].floor, found[0].ceiling) == (3, 0, 2 / 5, 2 / 5)
    assert found[0].note == "2 found of 3, 4 retrieved"


def test_one_gold_source_is_hit_or_not():
    # Among three retrieved: hit 1, J 1/3, P 1/3, R 1, F1 2/4.
    retrieved = works(("10.1/x", ""), (DOI, ""), ("10.1/y", ""))
    assert values(retrieved, works((DOI, ""))) == [1 / 3, 1 / 3, 1, 2 / 4, 1]
    assert values(retrieved, works((ARXIV, ""))) == [0, 0, 0, 0, 0]


def test_table_2_averages_hits_of_research_papers_with_jaccard_of_reviews():
    # Table 2, retrieval, OpenAI: research 62.00, review 0.69, Avg. 31.35.
    one, other = works((DOI, "")), works((ARXIV, ""))
    research = fmean([values(one, one)[4]] * 62 + [values(other, one)[4]] * 38)
    assert fmean([research, 0.0069]) == pytest.approx(0.3135, abs=5.1e-5)


def test_no_references_find_nothing():
    found = scores((), works((DOI, "")))
    assert [one.value for one in found] == [0, 0, 0, 0, 0]
    citing, precision = (metric(RETRIEVAL, f"retrieval.precision{end}") for end in (".citing", ""))
    assert (
        citing.score(RatedResponse(evidence((), works((DOI, ""))), {}), False).note == "nothing was predicted"
    )
    # Of two reports one cites nothing: the mean is 1/2 or that of the other alone, by the reading.
    both = [RatedResponse(evidence(one, works((DOI, ""))), {}) for one in ((), works((DOI, "")))]
    assert [[one.score(scored, False).value for scored in both] for one in (citing, precision)] == [
        [None, 1],
        [0, 1],
    ]


def test_references_that_are_not_known_are_not_none():
    found = scores(None, works((DOI, "")))
    assert {(one.value, one.floor, one.note) for one in found} == {
        (None, None, "the references of this response are not known")
    }


def test_without_gold_evidence_nothing_is_defined():
    assert {(one.value, one.note) for one in scores(works((DOI, "")), ())} == {
        (None, "the item has no gold evidence")
    }


def test_no_judge_is_asked():
    assert (RETRIEVAL.judge, RETRIEVAL.baseline, RETRIEVAL.values, RETRIEVAL.unit_kind) == (
        None,
        None,
        (),
        None,
    )
    assert list(RETRIEVAL.cases(evidence((), works((DOI, ""))))) == []
    assert RETRIEVAL.lacks({}, 1, ()) == [f"a {Kind.EVIDENCE.value}", "the references of a response"]
