"""What names a work outside."""

import pytest

from annotator.domain.texts.identifier import Identifier, normal_title, parse, same_title


@pytest.mark.parametrize(
    "text",
    [
        "10.1016/S0140-6736(20)30183-5",
        "doi:10.1016/s0140-6736(20)30183-5",
        "DOI 10.1016/S0140-6736(20)30183-5.",
        "https://doi.org/10.1016/S0140-6736(20)30183-5",
        "http://dx.doi.org/10.1016/S0140-6736%2820%2930183-5",
    ],
)
def test_a_doi_has_one_spelling(text):
    assert parse(text) == Identifier("doi", "10.1016/s0140-6736(20)30183-5")


def test_a_publishers_address_of_a_doi_is_the_doi():
    address = "https://dl.acm.org/doi/10.1145/3292500.3330701?download=true"
    assert parse(address) == parse("10.1145/3292500.3330701")


@pytest.mark.parametrize(
    "text",
    [
        "arXiv:2301.12345v2",
        "2301.12345",
        "https://arxiv.org/abs/2301.12345#sec",
        "https://arxiv.org/pdf/2301.12345v3.pdf",
        "https://doi.org/10.48550/arXiv.2301.12345",
    ],
)
def test_an_arxiv_id_loses_its_version(text):
    assert parse(text) == Identifier("arxiv", "2301.12345")


def test_an_old_arxiv_id_is_the_same_with_its_subject_class():
    assert parse("math.GT/0309136") == parse("arXiv:math/0309136v1") == Identifier("arxiv", "math/0309136")


def test_an_isbn_of_10_digits_becomes_its_13():
    # The example of the ISBN Users' Manual: 0-306-40615-2 is 978-0-306-40615-7.
    assert parse("ISBN 0-306-40615-2") == parse("978-0-306-40615-7") == Identifier("isbn", "9780306406157")


@pytest.mark.parametrize("text", ["0-306-40615-3", "978-0-306-40615-8"])
def test_an_isbn_with_a_wrong_check_digit_is_none(text):
    assert parse(text) is None


def test_an_isbn_may_end_in_x():
    assert parse("0-8044-2957-X") == Identifier("isbn", "9780804429573")


def test_an_address_loses_fragment_final_slash_and_usual_port():
    assert parse("https://Example.org:443/a/b/#part") == Identifier("url", "https://example.org/a/b")
    assert parse("http://example.org:8080/a?x=1") == Identifier("url", "http://example.org:8080/a?x=1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "example.org/paper",
        "ftp://example.org/a",
        "12345",
        "10.1000/x and more",
        "https://x.org:99999/",
    ],
)
def test_anything_else_is_no_identifier(text):
    assert parse(text) is None


def test_an_identifier_shows_its_scheme():
    assert str(parse("10.1000/182")) == "doi:10.1000/182"
    assert str(parse("https://example.org/a")) == "https://example.org/a"


def test_titles_are_compared_without_case_accents_and_punctuation():
    assert normal_title("  Überblick:  the “State”—of Things ") == "uberblick the state of things"


def test_long_titles_are_the_same_when_their_first_20_characters_are():
    assert same_title("Attention Is All You Need", "Attention is all you seek")


def test_short_titles_must_be_equal():
    assert not same_title("Deep Learning", "Deep Learning for Vision and Language")
    assert same_title("Deep learning.", "Deep Learning")
    assert not same_title("", "")
