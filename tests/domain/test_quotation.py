from unicodedata import normalize

import pytest

from annotator.domain.texts.quotation import find, find_in_rendered, locate

MARKDOWN = """# Results

The **model** answers *most* questions [correctly](https://example.org/a_(b) "title"), see `table`.

| System | Score |
|:-------|------:|
| Alpha  | 0.71  |

1. First step
2. Second step

And a [**bold** link](https://x.y) here.

![A plot](plot.png) ends here &amp; now.
"""
RENDERED = """Results
The model answers most questions correctly, see table.

System
Score
Alpha
0.71

First step
Second step
And a bold link here.
[image: A plot] ends here & now.
"""


def found(text: str, quote: str) -> str | None:
    span = find(text, quote)
    return text[slice(*span)] if span else None


def test_a_quote_is_found_letter_by_letter_first():
    assert find("The cat. the cat.", "the cat") == (9, 16)


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("model answers most questions", "model** answers *most* questions"),
        (
            "questions correctly, see table",
            'questions [correctly](https://example.org/a_(b) "title"), see `table',
        ),
        ("Alpha 0.71", "Alpha  | 0.71"),
        ("Score Alpha", "Score |\n|:-------|------:|\n| Alpha"),
        ("First step Second step", "First step\n2. Second step"),
        ("A plot ends here & now", "A plot](plot.png) ends here &amp; now"),
        ("a bold link", "a [**bold** link"),
        ("The\nMODEL   answers", "The **model** answers"),
    ],
)
def test_a_quote_of_what_is_seen_is_found_in_the_markdown(quote, stands):
    assert found(MARKDOWN, quote) == stands


@pytest.mark.parametrize(
    "quote", ["The **model** answers", "[correctly](https://example.org)", "| Alpha  | 0.71  |"]
)
def test_a_quote_of_the_markdown_is_found_in_what_is_seen(quote):
    assert find_in_rendered(RENDERED, quote) is not None


def test_quotes_and_dashes_may_be_typed_otherwise():
    assert found("it’s a “well–known” case", 'it\'s a "well-known" case') == "it’s a “well–known” case"


COMPOSED = "le café reçoit 한국"
APART = normalize("NFD", COMPOSED)
LEFT_OUT = "Erosion upstream is the main source of sediment. Floods matter. Slow flow lets sediment settle."


@pytest.mark.parametrize(
    ("text", "quote", "stands"),
    [
        (f"Ici {APART} ici.", COMPOSED, APART),
        (f"Ici {COMPOSED} ici.", APART, COMPOSED),
        ("An eﬃcient ﬁlter ﬂows.", "efficient filter flows", "eﬃcient ﬁlter ﬂows"),
        ("An efficient filter flows.", "eﬃcient ﬁlter", "efficient filter"),
        ("Die Straße führt weiter.", "DIE STRASSE FÜHRT", "Die Straße führt"),
        ("The sed\u00adi\u00adment set\u00adtles.", "sediment settles", "sed\u00adi\u00adment set\u00adtles"),
        ("The sediment settles.", "sed\u00adi\u00adment settles", "sediment settles"),
        ("It waits… and goes on.", "It waits... and goes", "It waits… and goes"),
        ("Costs fell by ½ in 2020.", "fell by 1⁄2 in", "fell by ½ in"),
        (LEFT_OUT, "Erosion upstream … sediment settle", LEFT_OUT[:-1]),
        (LEFT_OUT, "Erosion upstream is the main source ... Slow flow", LEFT_OUT[:73]),
        (LEFT_OUT, "Erosion upstream […] Floods matter", LEFT_OUT[:62]),
        (LEFT_OUT, "…main source of sediment…", "main source of sediment"),
        (
            f"{LEFT_OUT} Erosion upstream, of sediment.",
            "Erosion upstream … of sediment",
            "Erosion upstream, of sediment",
        ),
        (LEFT_OUT, "Floods matter … Erosion upstream", None),
        (LEFT_OUT, "the … of … in", None),
        (LEFT_OUT, "Erosion upstream … rivers", None),
        (f"Erosion upstream {'and so on ' * 400} settles.", "Erosion upstream … settles", None),
    ],
)
def test_a_quote_is_located_however_its_letters_are_encoded_and_where_it_leaves_words_out(
    text, quote, stands
):
    assert found(text, quote) == stands


def test_text_without_spaces_is_found():
    assert found("报告包含三个\n部分。", "包含三个部分") == "包含三个\n部分"


def test_offsets_count_letters_beyond_the_first_plane_once():
    assert find("👩‍🔬 works *well* today", "works well today") == (4, 22)


@pytest.mark.parametrize("quote", ["", "  ", "**", "not there at all", "b c"])
def test_what_is_not_there_is_not_found(quote):
    assert find("a bar *b* of c", quote) is None


def test_a_short_quote_is_looked_for_as_a_whole_word_first():
    assert find("concatenate a cat", "cat") == (14, 17)


def test_a_selection_is_located_at_its_own_place_among_equal_words():
    markdown = "- *one* fine day\n- **one** fine day\n- one fine day\n"
    rendered = "one fine day\none fine day\none fine day"
    spans = [locate(markdown, rendered, start, start + 12) for start in (0, 13, 26)]
    assert [markdown[slice(*span)] for span in spans if span] == [
        "one* fine day",
        "one** fine day",
        "one fine day",
    ]
    assert [span[0] for span in spans if span] == [3, 21, 38]


def test_a_repeated_quote_is_shown_at_its_own_place():
    markdown = "**Yes** it is. No. Yes it is."
    rendered = "Yes it is. No. Yes it is."
    assert find_in_rendered(rendered, "Yes it is.", markdown, markdown.rindex("Yes")) == (15, 25)
    assert find_in_rendered(rendered, "Yes** it is.", markdown, 2) == (0, 10)


def test_every_word_of_a_rendered_text_goes_to_the_markdown_and_back():
    for word in ("model", "correctly", "table", "Alpha", "0.71", "Second", "now"):
        start = RENDERED.index(word)
        span = locate(MARKDOWN, RENDERED, start, start + len(word))
        assert span
        assert MARKDOWN[slice(*span)] == word
        assert find_in_rendered(RENDERED, word, MARKDOWN, span[0]) == (start, start + len(word))


def test_plain_text_is_its_own_counterpart():
    assert locate("as *is*", "as *is*", 3, 7) == (3, 7)
