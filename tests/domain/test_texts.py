"""Texts and units: words compared and shown, quotes located, runs broken; scales, weights and families of models."""

from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import given, strategies as st
from pydantic import ValidationError
from uniseg.wordbreak import words

from annotator.domain.common import Refusal, canonical_json, counted, local, natural, sha256
from annotator.domain.judges.judge import family_of
from annotator.domain.judges.protocol import Level, Scale, Value, nominal, numbers, plain
from annotator.domain.kinds.artifact import FURTHEST, MOST, USUAL, Anchor, read
from annotator.domain.kinds.documents import KINDS, lint
from annotator.domain.kinds.rubric import Criterion, Rubric, counted_weights, weight_shares
from annotator.domain.texts.difference import (
    LONGEST,
    TextPiece,
    differences,
    find,
    find_in_rendered,
    locate,
    same_words,
    spaced,
)
from annotator.domain.texts.estimate import TextRanking
from annotator.domain.texts.identifier import Identifier, normal_title, parse, same_title
from annotator.domain.texts.rendered import BREAK, BREAK_EVERY, LONGEST_RUN, with_breaks
from annotator.domain.texts.words import latin, likeness, terms, unspaced, word_count
from tests.common import stands_in

MIXED = st.text(alphabet="ab the Ré19._,;'’-\n\t\u00a0\u202f深度学アー각กा\u0301\u200d，。😀🇩ß", max_size=40)
WORDS = st.lists(
    st.sampled_from(["the", "a", "report", "cost", "costs", ",", "\n", "深度", "学习", "。"]), max_size=30
)
TEXTS = st.one_of(MIXED, st.text(max_size=30), WORDS.map(" ".join), WORDS.map("".join))


def joined(pieces, *kinds):
    return "".join(piece.text for piece in pieces if piece.kind in kinds)


def marked(old, new):
    marks = {"same": "", "removed": "−", "added": "+"}
    return "".join(f"{marks[p.kind]}{p.text}{marks[p.kind]}" for p in differences(old, new))


@pytest.mark.slow
@given(TEXTS, TEXTS)
def test_no_character_is_lost(old, new):
    pieces = differences(old, new)
    assert (joined(pieces, "same", "removed"), joined(pieces, "same", "added")) == (old, new)


@given(WORDS, WORDS, WORDS)
def test_no_character_of_long_texts_is_lost(head, middle, tail):
    # More words than are compared each with each: those that occur once lead.
    body = [f"w{i}" for i in range(150)]
    old, new = " ".join([*head, *body, *middle]), " ".join([*middle, *body[40:], *head, *body[:60], *tail])
    pieces = differences(old, new)
    assert (joined(pieces, "same", "removed"), joined(pieces, "same", "added")) == (old, new)


@given(TEXTS, TEXTS)
def test_no_piece_is_empty_and_neighbours_differ_in_kind(old, new):
    pieces = differences(old, new)
    assert all(piece.text for piece in pieces)
    assert all(left.kind != right.kind for left, right in pairwise(pieces))


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(text):
    assert differences(text, text) == ((TextPiece(text, "same"),) if text else ())


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("the red car", "the blue car", "the −red−+blue+ car"),
        ("the car", "the red car", "the +red +car"),
        ("the red car", "the car", "the −red −car"),
        ("Costs rise", "Costs rise.", "Costs rise+.+"),
        ("", "new", "+new+"),
        ("a gain of 3.5 points", "a gain of 3.6 points", "a gain of −3.5−+3.6+ points"),
        ("they don't agree", "they do agree", "they −don't−+do+ agree"),
        ("one\ntwo", "one two", "one−\n−+ +two"),
        ("cafe\u0301 noir", "cafe noir", "−cafe\u0301−+cafe+ noir"),
    ],
)
def test_words_are_taken_out_and_put_in_whole(old, new, line):
    assert marked(old, new) == line


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        pytest.param("湿地植物吸收污水", "湿地动物吸收污水", "湿地−植−+动+物吸收污水", id="Chinese by characters"),
        pytest.param("हिन्दी में लिखा", "हिन्दी पर लिखा", "हिन्दी −में−+पर+ लिखा", id="a Hindi word stays whole"),
        pytest.param(
            "measures heat of cells", "measures cold of plants", "measures −heat of cells−+cold of plants+",
            id="a lone common word goes with the changes about it",
        ),
        pytest.param(
            "speed, safety", "noise, comfort", "−speed, safety−+noise, comfort+", id="a lone comma goes with them"
        ),
        pytest.param("红的花", "蓝的草", "−红的花−+蓝的草+", id="a lone character goes with them"),
        pytest.param(
            "cold battery cells", "frozen battery packs", "−cold−+frozen+ battery −cells−+packs+",
            id="a telling word stays",
        ),
        pytest.param("甲的花乙", "丙的花丁", "−甲−+丙+的花−乙−+丁+", id="two characters stay"),
        pytest.param(
            "cold is not as it was here", "warm is not as it was there",
            "−cold−+warm+ is not as it was −here−+there+", id="a phrase of common words stays",
        ),
        pytest.param(
            "cells and", "cells new and old", "cells +new +and+ old+", id="a common word between insertions stays"
        ),
    ],
)  # fmt: skip
def test_what_is_shown_as_changed_are_whole_words_and_what_lies_alone_between_them(old, new, line):
    assert marked(old, new) == line


def test_a_moved_paragraph_of_a_long_text_is_one_removal_and_one_addition():
    # 400 different words: the first 100 go to the end. The 300 that keep their order stay.
    words = [f"w{i}" for i in range(400)]
    old, new = " ".join(words), " ".join(words[100:] + words[:100])
    assert [p.kind for p in differences(old, new)] == ["removed", "same", "added"]


def test_a_text_longer_than_any_unit_is_compared_by_lines():
    head = "same line\n" * (LONGEST // 10)
    assert marked(f"{head}the red car", f"{head}the blue car") == f"{head}−the red car−+the blue car+"


def test_a_text_of_twenty_thousand_characters_is_compared_by_words():
    body = "".join(f"word{i} " for i in range(2000))
    assert marked(f"{body}red {body[:900]}", f"{body}blue {body[:900]}") == f"{body}−red−+blue+ {body[:900]}"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("Explains the cost.", "explains  the\ncost", True),
        ("Explains the cost。", "Explains the cost …", True),
        ("re\u0301sume\u0301", "résumé", True),
        ("ＧＰＴ－4", "GPT-4", True),
        ("the “best” one", 'the "best" one', True),
        ("pages 3–5", "pages 3-5", True),
        ("soft\u00adhyphen\ufeff", "softhyphen", True),
        ("GPT 用于检索", "GPT用于检索。", True),
        ("STRASSE", "straße", True),
        ("", "  \n", True),
        ("Explains the cost", "Explains costs", False),
        ("p < 0.05", "p > 0.05", False),
        ("a gain of 3.5", "a gain of 35", False),
        ("10² cells", "102 cells", False),
        ("resume", "résumé", False),
        ("not only this", "only this", False),
        ("yes, all", "yes all", False),
        ("", "x", False),
    ],
)
def test_formatting_is_no_difference_and_other_words_are_one(a, b, same):
    assert same_words(a, b) is same


@given(TEXTS)
def test_white_space_and_a_full_stop_are_no_difference(text):
    assert same_words(text, f" {text.strip()}. ")
    assert same_words(text, "\n".join(text.split(" ")))


@given(TEXTS)
def test_one_word_more_is_a_difference_either_way(text):
    longer = f"{text} x"
    assert (same_words(text, longer), same_words(longer, text)) == (False, False)


def test_words_of_a_script_without_spaces_are_put_together_without_any():
    assert spaced(["GPT", "用于", "检索", "and", "more"]) == "GPT用于检索and more"


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


COMPOSED = "le café reçoit 한국"
APART = normalize("NFD", COMPOSED)
LEFT_OUT = "Erosion upstream is the main source of sediment. Floods matter. Slow flow lets sediment settle."


@pytest.mark.parametrize(
    ("text", "quote", "stands"),
    [
        ("it’s a “well–known” case", 'it\'s a "well-known" case', "it’s a “well–known” case"),
        ("报告包含三个\n部分。", "包含三个部分", "包含三个\n部分"),
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


@pytest.mark.parametrize(
    ("text", "quote", "place"),
    [
        *(("a bar *b* of c", absent, None) for absent in ("", "  ", "**", "not there at all", "b c")),
        pytest.param("The cat. the cat.", "the cat", (9, 16), id="letter by letter first"),
        pytest.param("concatenate a cat", "cat", (14, 17), id="a short one as a whole word first"),
        pytest.param(
            "👩‍🔬 works *well* today", "works well today", (4, 22), id="letters beyond the first plane"
        ),
    ],
)
def test_a_quote_has_its_place_or_none(text, quote, place):
    assert find(text, quote) == place


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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("  \n\t ", 0),
        ("One claim per criterion.", 4),
        ("can't stop", 2),
        ("3.5 percent of 1,000", 4),
        ("state-of-the-art and/or", 6),
        ("snake_case __ ok", 2),
        ("— … !?", 0),
        ("深度学习", 4),
        ("深度学习，很好。", 6),
        ("ディープラーニング", 1),
        ("딥 러닝 모델", 3),
        ("l’état c’est moi", 3),
        ("Größe, Maß", 2),
        ("مرحبا بالعالم", 2),
        ("GPT用于检索", 5),
    ],
)
def test_words_are_counted_by_unicodes_rules(text, count):
    assert word_count(text) == count


MIXED_SCRIPTS = st.text(
    alphabet="ab19 _.,:;'\"’-\n\t\u00a0\u202féßжα深のアー・カ々가กא\u0301\u200d，。（“", max_size=12
)


@given(st.one_of(MIXED_SCRIPTS, st.text(max_size=12)))
def test_the_short_cuts_count_as_the_full_algorithm_does(text):
    assert word_count(text) == sum(any(c.isalnum() for c in word) for word in words(text))


def test_forms_of_a_word_are_one_term():
    assert terms("Explains retrieval") == terms("explaining the RETRIEVAL")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("how it is with the", set()),
        ("12345678", {"12345678"}),
        # Scripts without spaces go by pairs of characters.
        ("深度学习", {"深度", "度学", "学习"}),
        ("学", {"学"}),
        ("GPT用于检索", {"gpt", "用于", "于检", "检索"}),
    ],
)
def test_common_words_are_no_terms_and_pairs_of_characters_are(text, told):
    assert terms(text) == told


def test_likeness_is_the_jaccard_index():
    assert (likeness(frozenset("abc"), frozenset("bcd")), likeness(frozenset(), frozenset())) == (2 / 4, 0.0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [("10.1000/182", "doi:10.1000/182"), ("https://example.org/a", "https://example.org/a")],
)
def test_an_identifier_shows_its_scheme(text, shown):
    assert str(parse(text)) == shown


def test_titles_are_compared_without_case_accents_and_punctuation():
    assert normal_title("  Überblick:  the “State”—of Things ") == "uberblick the state of things"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        # Long ones are the same when their first 20 characters are, short ones when they are equal.
        ("Attention Is All You Need", "Attention is all you seek", True),
        ("Deep Learning", "Deep Learning for Vision and Language", False),
        ("Deep learning.", "Deep Learning", True),
        ("", "", False),
    ],
)
def test_titles_are_the_same_by_their_beginning(one, other, same):
    assert same_title(one, other) is same


@pytest.mark.parametrize(
    ("text", "is_latin", "is_unspaced"),
    [
        ("Plain text", True, False),
        ("Größe der Maße", True, False),
        ("使用 Retrieval Augmented 改进模型的检索", False, True),
        ("深度学习模型", False, True),
        ("Обзор методов", False, False),
        ("1234", False, False),
    ],
)
def test_the_script_of_most_letters_decides(text, is_latin, is_unspaced):
    assert (latin(text), unspaced(text)) == (is_latin, is_unspaced)


SPELLINGS = {
    ("doi", "10.1016/s0140-6736(20)30183-5"): (
        "10.1016/S0140-6736(20)30183-5",
        "doi:10.1016/s0140-6736(20)30183-5",
        "DOI 10.1016/S0140-6736(20)30183-5.",
        "https://doi.org/10.1016/S0140-6736(20)30183-5",
        "http://dx.doi.org/10.1016/S0140-6736%2820%2930183-5",
    ),
    # The address of a publisher.
    ("doi", "10.1145/3292500.3330701"): (
        "https://dl.acm.org/doi/10.1145/3292500.3330701?download=true",
        "10.1145/3292500.3330701",
    ),
    # An id of arXiv loses its version, one of before 2007 its subject class.
    ("arxiv", "2301.12345"): (
        "arXiv:2301.12345v2",
        "2301.12345",
        "https://arxiv.org/abs/2301.12345#sec",
        "https://arxiv.org/pdf/2301.12345v3.pdf",
        "https://doi.org/10.48550/arXiv.2301.12345",
    ),
    ("arxiv", "math/0309136"): ("math.GT/0309136", "arXiv:math/0309136v1"),
    # The example of the ISBN Users' Manual: 0-306-40615-2 is 978-0-306-40615-7.
    ("isbn", "9780306406157"): ("ISBN 0-306-40615-2", "978-0-306-40615-7"),
    ("isbn", "9780804429573"): ("0-8044-2957-X",),
    ("url", "https://example.org/a/b"): ("https://Example.org:443/a/b/#part",),
    ("url", "http://example.org:8080/a?x=1"): ("http://example.org:8080/a?x=1",),
}


@pytest.mark.parametrize(("scheme", "value"), SPELLINGS)
def test_an_identifier_has_one_spelling(scheme, value):
    assert {parse(text) for text in SPELLINGS[scheme, value]} == {Identifier(scheme, value)}


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
        # ISBNs with a wrong check digit.
        "0-306-40615-3",
        "978-0-306-40615-8",
    ],
)
def test_anything_else_is_no_identifier(text):
    assert parse(text) is None


def test_numbers_inside_names_are_counted():
    assert sorted(["R10", "r9", "R2", "Ada", "²", "1"], key=natural) == ["1", "Ada", "R2", "r9", "R10", "²"]


def test_one_and_many():
    assert [counted(n, "item") for n in (0, 1, 1200)] == ["0 items", "1 item", "1,200 items"]
    assert counted(2, "query", "queries") == "2 queries"


@pytest.mark.parametrize(
    ("texts", "words", "ranked"),
    [
        # Only those that share a word, the best first.
        (["oak shade", "elm water", "oak oak shade shade"], "shade of the oak", [2, 0]),
        (["oak shade", "elm water", "oak oak shade shade"], "quakes", []),
        # A rare word counts for more than a common one.
        (["shade", "shade", "sap", "shade"], "shade sap", [2, 0, 1, 3]),
        # Of equal texts the earlier is first, and a longer one last.
        (["shade oak elm lime", "shade", "shade"], "shade", [1, 2, 0]),
        (["城市树木", "地震预警"], "树木降温", [0]),
        ([], "shade", []),
    ],
)
def test_texts_are_ranked_by_the_words_they_share(texts, words, ranked) -> None:
    assert TextRanking(texts).ranked(words) == ranked


def test_a_long_run_without_white_space_gets_a_break_every_2000_characters():
    broken = with_breaks("a" * LONGEST_RUN)
    assert [len(part) for part in broken.split(BREAK)] == [BREAK_EVERY] * 10 + [0]


def test_only_the_long_run_of_a_text_is_broken():
    words, text = "word " * 100_000, "before " + "x" * 20_000 + " after"
    broken = with_breaks(text)
    assert (broken.startswith("before x"), broken.endswith(" after"), broken.replace(BREAK, "")) == (
        True,
        True,
        text,
    )
    # However many words there are.
    assert with_breaks(words) == words


def test_a_no_break_space_does_not_end_a_run():
    assert BREAK in with_breaks("ab\u00a0" * 7_000)


@pytest.mark.parametrize("before", [0, 1, 19_999, 20_000, 20_001, 39_999])
@pytest.mark.parametrize("long", [19_999, 20_000, 20_001])
def test_a_run_is_found_wherever_it_lies(before, long):
    assert (BREAK in with_breaks("w " * (before // 2) + " " * (before % 2) + "x" * long + " end")) is (
        long >= LONGEST_RUN
    )


class OnWindows(datetime):
    """A moment before 1970 as Windows treats it."""

    def astimezone(self, tz: tzinfo | None = None) -> datetime:
        if tz is None or self.tzinfo is None:
            raise OSError(22, "Invalid argument")
        return super().astimezone(tz)


def test_a_moment_is_shown_in_local_time() -> None:
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert local(at) == at
    assert local(at).utcoffset() == at.astimezone().utcoffset()


@pytest.mark.parametrize("zone", [UTC, None])
def test_where_the_system_has_no_local_time_it_is_shown_in_utc(zone: tzinfo | None) -> None:
    found = local(OnWindows(1955, 4, 18, 6, tzinfo=zone))
    assert (found.isoformat(), found.utcoffset()) == ("1955-04-18T06:00:00+00:00", timedelta(0))


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
    assert (rule in [one.rule for one in lint(rubric(*weights), weights=read(allowed))]) is named


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
