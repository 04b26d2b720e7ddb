"""What an entry of a list of references says."""

import pytest

from annotator.protocols.adra.entry import as_title, read_entry


@pytest.mark.parametrize(
    ("text", "title", "authors", "year"),
    [
        (
            'Z. Chen et al., "Graphs for Tuning," arXiv preprint arXiv:2505.20416, 2025.',
            "Graphs for Tuning",
            "Z. Chen et al",
            2025,
        ),
        (
            "Smith, J., & Doe, A. (2024). Trees of thought. *Journal of Trees*, 3.",
            "Trees of thought",
            "Smith, J., & Doe, A",
            2024,
        ),
        (
            "Lee, J. *et al.* (2019). *BioBERT: a model*. – Beats others.",
            "BioBERT: a model",
            "Lee, J. et al",
            2019,
        ),
        (
            "OpenAI (2022). *Findings of a Study* – Shows that it helps.",
            "Findings of a Study",
            "OpenAI",
            2022,
        ),
        (
            "Xu et al., 2024 – *Stronger Models Teach* ([on](https://a.org))",
            "Stronger Models Teach",
            "Xu et al., 2024",
            2024,
        ),
        (
            "Silver et al., *“Mastering the game,”* **Nature**, 2016",
            "Mastering the game",
            "Silver et al",
            2016,
        ),
        (
            "J. Smith, A. B. van Lee, and C. Doe. Attention in long texts. In Proc. of X, 2021.",
            "Attention in long texts",
            "J. Smith, A. B. van Lee, and C. Doe",
            2021,
        ),
        (
            "S. Schneider, Artificial You and the Mind, Princeton, 2019.",
            "Artificial You and the Mind, Princeton",
            "S. Schneider",
            2019,
        ),
        ("Attention in long texts. Smith and Doe. 2021.", "Attention in long texts", "", 2021),
        ("Smith et al. Attention in long texts. 2021", "Attention in long texts", "Smith et al", 2021),
        ("Attention in long texts: https://a.org/2019/x", "Attention in long texts", "", None),
        (
            '"The Future of X," Blog. Available: https://a.org. [Accessed: 2-Jul-2025]',
            "The Future of X",
            "",
            None,
        ),
        ("王伟. 深度学习综述. 2020", "深度学习综述", "王伟", 2020),
        (
            "Alice Smith, Bob van den Berg, Chen Liu, Dana O’Neil, Émile Xu, Farid García Márquez, et al. "
            "Deep rivers of the north. In Advances in Water, 33:1877–1901, 2020.",
            "Deep rivers of the north",
            "Alice Smith, Bob van den Berg, Chen Liu, Dana O’Neil, Émile Xu, Farid García Márquez, et al",
            2020,
        ),
        (
            "Smith, A., Kaiser, Ł., and Lee, K.-H. Deep rivers of the north. In Proc. of Water, pp. 1–2, 2017.",
            "Deep rivers of the north",
            "Smith, A., Kaiser, Ł., and Lee, K.-H",
            2017,
        ),
        (
            "Baek, J.; Jauhar, S. K.; and Hwang, S. J. 2024a. Deep rivers of the north. In *Proceedings of Water*.",
            "Deep rivers of the north",
            "Baek, J.; Jauhar, S. K.; and Hwang, S. J",
            2024,
        ),
        (
            "Jane Doe and John Roe. 2020. Are rivers deep? In Proceedings of Water (2020), 1–5.",
            "Are rivers deep?",
            "Jane Doe and John Roe",
            2020,
        ),
        (
            "Smith J, Doe AB, Roe C. Deep rivers of the north. J Water. 2020;3:1-2.",
            "Deep rivers of the north",
            "Smith J, Doe AB, Roe C",
            2020,
        ),
        (
            "J. Smith, A. Doe, Deep rivers of the north, J. Water 3 (2020) 100–105, Article 12.",
            "Deep rivers of the north",
            "J. Smith, A. Doe",
            2020,
        ),
        (
            "Smith, J., Doe, A.: Deep rivers of the north. In: Proc. of Water, pp. 1–2. Springer (2019).",
            "Deep rivers of the north",
            "Smith, J., Doe, A",
            2019,
        ),
        (
            "Jane Doe. Deep rivers of the north, 2021. URL https://a.org/x.",
            "Deep rivers of the north",
            "Jane Doe",
            2021,
        ),
    ],
)
def test_an_entry_is_read_by_its_marks_or_its_order(text, title, authors, year):
    assert read_entry(text) == (title, authors, year)


def test_a_link_gives_the_title_where_nothing_else_does():
    text = "[Attention in long texts](https://a.org/x), 2021"
    assert read_entry(text, "Attention in long texts") == ("Attention in long texts", "", 2021)


def test_what_is_in_italics_after_a_sentence_is_the_journal():
    found = read_entry("Attention in long texts. *Journal of Machine Learning Research*, 2020.")
    assert found.title == "Attention in long texts"


def test_an_address_alone_says_nothing():
    assert read_entry("https://a.org/x") == ("", "", None)
    assert read_entry("") == ("", "", None)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("**Attention** in `long` texts.", "Attention in long texts"),
        ("2305.20050\\] Attention in long texts", "Attention in long texts"),
        ("(PDF) Attention in long texts", "Attention in long texts"),
        ("snake_case stays in titles", "snake_case stays in titles"),
        ("深度学习综述", "深度学习综述"),
    ],
)
def test_a_title_loses_its_marks(text, title):
    assert as_title(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "source",
        "arxiv.org",
        "here it is",
        "https://a.org/a long path",
        "Teddy Lazebnik' 2025-01-30",
        "Smith et al., 2024",
        "深度",
    ],
)
def test_what_cannot_be_a_title_is_none(text):
    assert as_title(text) == ""


def test_a_very_long_entry_is_read_by_its_beginning():
    found = read_entry('A. Lee, "Attention in long texts," 2020. ' + "word " * 100_000 + "2021")
    assert (found.title, found.year) == ("Attention in long texts", 2020)
