"""How the baseline reads."""

import pytest

from annotator.domain.texts.words import terms
from annotator.protocols.lexical import Overlap, best_passage


def best(report, *wanted):
    found = best_passage(report, frozenset(wanted))
    return found.share, report[found.start : found.end]


def test_the_sentence_that_holds_most_terms_is_the_best_passage():
    report = "Alpha is here. Alpha and beta meet. Gamma rests."
    assert best(report, "alpha", "beta") == (1.0, "Alpha and beta meet.")


def test_neighbouring_sentences_make_one_passage():
    report = "Alpha is here. Nothing more. Beta rests. Delta."
    assert best(report, "alpha", "beta") == (1.0, "Alpha is here. Nothing more. Beta rests.")


def test_sentences_further_apart_do_not():
    report = "Alpha. One. Two. Beta."
    assert best(report, "alpha", "beta") == (0.5, "Alpha.")


def test_of_equals_the_shortest_and_then_the_first_is_taken():
    assert best("Alpha.\nBeta.\nAlpha and beta.", "alpha", "beta")[1] == "Alpha and beta."
    assert best("Alpha one.\nAlpha two.", "alpha")[1] == "Alpha one."


def test_nothing_found_has_no_place():
    assert best_passage("Gamma.", frozenset({"alpha"})) == Overlap(0.0, 0, 0)
    assert best_passage("", frozenset({"alpha"})) == Overlap(0.0, 0, 0)


def test_nothing_wanted_is_refused():
    with pytest.raises(ValueError, match="no terms"):
        best_passage("Gamma.", frozenset())


def test_a_line_without_end_is_cut():
    table = " | ".join(f"word{i}" for i in range(400))
    found = best_passage(table, terms("word0000 word399"))
    assert found.end - found.start <= 600


def test_a_long_run_of_white_space_is_read_at_once():
    assert best("Alpha." + " " * 200_000 + "beta", "beta") == (1.0, "beta")
