"""Which works a text names."""

import pytest

from annotator.protocols.works import named_in


def named(text):
    return [(str(one.identifier), one.words) for one in named_in(text)]


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        ("see https://a.org/x.", "https://a.org/x"),
        ("(https://a.org/x)", "https://a.org/x"),
        ("(https://en.wikipedia.org/wiki/Tree_(graph)).", "https://en.wikipedia.org/wiki/Tree_(graph)"),
        ("https://a.org/x#:~:text=Some words,here", "https://a.org/x"),
        ("https://a.org/x?utm_source=openai", "https://a.org/x"),
        ("https://a.org/x?id=3&utm_source=openai", "https://a.org/x?id=3"),
        ("<https://a.org/x>", "https://a.org/x"),
        ("doi:10.1000/182, and", "doi:10.1000/182"),
        ("https://doi.org/10.1016/S0140-6736(20)30183-5)", "doi:10.1016/s0140-6736(20)30183-5"),
        ("https://link.springer.com/article/10.1007/s10462-024-1?a=b", "doi:10.1007/s10462-024-1"),
        (
            "https://www.frontiersin.org/articles/10.3389/frai.2021.622364/full",
            "doi:10.3389/frai.2021.622364",
        ),
        ("https://www.biorxiv.org/content/10.1101/2024.01.02.573v2.full.pdf", "doi:10.1101/2024.01.02.573"),
        ("https://www.nature.com/articles/s41586-024-07421-0", "doi:10.1038/s41586-024-07421-0"),
        ("https://aclanthology.org/2023.findings-acl.441.pdf", "doi:10.18653/v1/2023.findings-acl.441"),
        ("https://aclanthology.org/P18-1209.pdf", "doi:10.18653/v1/p18-1209"),
        ("https://aclanthology.org/P15-1209.pdf", "https://aclanthology.org/P15-1209.pdf"),
        ("https://arxiv.org/html/2408.00727v1#S2", "arxiv:2408.00727"),
        ("https://ar5iv.labs.arxiv.org/html/2305.20050", "arxiv:2305.20050"),
        ("https://huggingface.co/papers/2305.20050", "arxiv:2305.20050"),
        ("arXiv preprint arXiv:2505.20416, 2025", "arxiv:2505.20416"),
        ("(arXiv 2501.12948)", "arxiv:2501.12948"),
        ("ISBN 978-0-306-40615-7", "isbn:9780306406157"),
    ],
)
def test_a_name_is_read_in_its_normal_spelling(text, identifier):
    assert named(text) == [(identifier, "")]


@pytest.mark.parametrize(
    "text", ["", "no names", "version 10.2/3", "ISBN 978-0-306-40615-8", "https://", "arXiv 20250"]
)
def test_what_names_nothing_is_passed_over(text):
    assert named(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("([A title](https://a.org/x))", "A title"),
        ("[A [nested] title](https://a.org/x)", "A [nested] title"),
        ("[[2305.20050\\] A title](https://a.org/x)", "2305.20050\\] A title"),
        ("[A title](<https://a.org/x>)", "A title"),
        ("[](https://a.org/x)", ""),
        ("broken\ntitle](https://a.org/x)", ""),
    ],
)
def test_a_link_speaks_in_its_words(text, words):
    assert named(text) == [("https://a.org/x", words)]


def test_a_link_stands_where_its_words_begin():
    (one,) = named_in("See [it](https://a.org/x) there.")
    assert (one.start, one.end) == (4, 4 + len("[it](https://a.org/x"))


def test_links_side_by_side_are_two():
    assert named("([A](https://a.org/x))([B](https://b.org/y))") == [
        ("https://a.org/x", "A"),
        ("https://b.org/y", "B"),
    ]


def test_an_image_is_no_work():
    assert named("![chart](https://a.org/x.png)") == []


def test_an_address_too_long_to_keep_is_none():
    assert named("https://a.org/" + "x" * 2000) == []
