"""Transcripts: times of passages, doubts, pieces for models, and corrections that can be put back."""

from itertools import pairwise

import pytest

from annotator.domain.common import Refusal
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.material.extract import pieces
from annotator.domain.material.item import Source, SourceFormat
from annotator.domain.material.transcript import (
    LEFT_OUT,
    Doubt,
    Stretch,
    Transcript,
    clock,
    corrected,
    doubts_about,
    exchanged,
    left_out,
    of_source,
    parsed,
    quoted_in_doubt,
    renamed,
    time_words,
)
from annotator.exchange.transcripts import SpokenLine, assembled

SAID = (
    SpokenLine("Salt is old.", 0, 4_000, "Ann"),
    SpokenLine("Very old.", 4_000, 5_000, "Ann", (Doubt.SILENCE,)),
    SpokenLine("Thank you.", 65_000, 66_000, "Bob", (Doubt.SILENCE,)),
    SpokenLine("And cheap.", 3_723_000, 3_725_000, "Ann"),
)
TEXT = "Ann: Salt is old. Very old.\n\nBob: Thank you.\n\nAnn: And cheap."
MADE, TRANSCRIPT = assembled(SAID, {}, "hash")


def source(text: str, transcript: Transcript | None) -> Source:
    content = transcript.content() if transcript else ""
    return Source(
        id="s", item_id="i", title="t", format=SourceFormat.TRANSCRIPT, text=text, transcript=content
    )


def said(text: str, transcript: Transcript) -> list[str]:
    return [text[segment.first : segment.last] for segment in transcript.segments]


def test_a_transcript_comes_back_as_it_was_kept() -> None:
    assert (MADE, of_source(source(TEXT, TRANSCRIPT))) == (TEXT, TRANSCRIPT)
    assert (of_source(source(TEXT[:-1], TRANSCRIPT)), of_source(source(TEXT, None))) == (None, None)


@pytest.mark.parametrize(
    "content",
    [
        "[]", "{}", '{"speakers":[],"segments":[[0,1,0,0,1,""]]}', '{"speakers":[],"segments":[[0,1,-1,5,1,""]]}',
        '{"speakers":[],"segments":[[0,1,-1,0,2,""],[0,1,-1,1,2,""]]}', '{"speakers":[],"segments":[[0]]}', "x",
    ],
)  # fmt: skip
def test_what_is_no_transcript_is_an_error(content: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(content)


@pytest.mark.parametrize(
    ("moment", "words"), [(-1, ""), (0, "0:00"), (65_999, "1:05"), (3_723_000, "1:02:03"), (450_000_000, "125:00:00")]
)  # fmt: skip
def test_moments_are_written_as_clocks(moment: int, words: str) -> None:
    assert clock(moment) == words


def test_the_time_stands_beside_a_quotation() -> None:
    for quote, time in (("Salt", "0:00"), ("Very", "0:04"), ("Thank", "1:05"), ("cheap", "1:02:03")):
        at = TEXT.index(quote)
        assert time_words(source(TEXT, TRANSCRIPT), Anchor.at(TEXT, at, at + 4, "s")) == time
    assert time_words(source(TEXT, None), Anchor(quote="x", start=0, end=1)) == ""
    assert time_words(None, Anchor(quote="x")) == ""


@pytest.mark.parametrize(
    ("quotes", "doubted"),
    [
        (["Very old"], True), (["old. Very"], False), (["Thank you"], True), (["Very old.", "Thank"], True),
        (["Very old.", "cheap"], False), ([], False),
    ],
)  # fmt: skip
def test_a_quotation_may_lie_in_doubtful_words_alone(quotes: list[str], doubted: bool) -> None:
    anchors = [Anchor.at(TEXT, TEXT.index(quote), TEXT.index(quote) + len(quote), "s") for quote in quotes]
    assert quoted_in_doubt([source(TEXT, TRANSCRIPT)], anchors) is doubted


def test_a_doubtful_quotation_is_found_after_the_text_has_moved_and_remarked_on() -> None:
    at = TEXT.index("Very old.")
    unit = Unit(id="u", anchor=Anchor.at(TEXT, at, at + 9, "s"))
    moved = exchanged(TEXT, TRANSCRIPT, *corrected(TEXT, TRANSCRIPT, 5, 9, "Sodium chloride"))
    (result,) = doubts_about([source(*moved)], [unit, Unit(id="v")])
    assert (result.rule, result.unit_id) == ("in-doubt", "u")


def test_a_correction_moves_what_follows_and_can_be_put_back() -> None:
    at = TEXT.index("Very")
    before, after = corrected(TEXT, TRANSCRIPT, at, at + 4, "Terribly  much")
    new, changed = exchanged(TEXT, TRANSCRIPT, before, after)
    assert new == TEXT.replace("Very", "Terribly much")
    assert said(new, changed) == ["Salt is old.", "Terribly much old.", "Thank you.", "And cheap."]
    assert changed.segments[1].doubts == ()
    assert exchanged(new, changed, after, before) == (TEXT, TRANSCRIPT)
    assert Stretch.of(before.tree()) == before


def test_a_correction_of_several_segments_makes_one_of_them() -> None:
    before, after = corrected(TEXT, TRANSCRIPT, TEXT.index("old."), TEXT.index("Very old.") + 4, "new, so")
    new, changed = exchanged(TEXT, TRANSCRIPT, before, after)
    assert (said(new, changed)[0], changed.segments[0][:2]) == ("Salt is new, so old.", (0, 5_000))


@pytest.mark.parametrize(
    ("first", "last", "words", "reason"),
    [
        ("Very", "Thank", "x", "one paragraph at a time"), ("Ann", ": S", "", "needs words"),
        (": ", "\n\nBob", "x", "one paragraph|No words"),
    ],
)  # fmt: skip
def test_other_corrections_are_refused(first: str, last: str, words: str, reason: str) -> None:
    if first == ": ":
        start, end = TEXT.index("\n\nBob"), TEXT.index("Thank")
    else:
        start, end = TEXT.index(first), TEXT.index(last) + len(last)
    with pytest.raises(Refusal, match=reason):
        corrected(TEXT, TRANSCRIPT, start, end, words)


def test_a_passage_over_two_turns_is_left_out_of_each() -> None:
    before, after = left_out(TEXT, TRANSCRIPT, TEXT.index("old."), TEXT.index(" you."), "e1")
    new, changed = exchanged(TEXT, TRANSCRIPT, before, after)
    assert new == f"Ann: Salt is {LEFT_OUT}\n\nBob: {LEFT_OUT} you.\n\nAnn: And cheap."
    assert said(new, changed) == ["Salt is", LEFT_OUT, LEFT_OUT, "you.", "And cheap."]
    assert [segment.excluded for segment in changed.segments] == ["", "e1", "e1", "", ""]
    assert exchanged(new, changed, after, before) == (TEXT, TRANSCRIPT)
    with pytest.raises(Refusal, match="left out already"):
        corrected(new, changed, 0, len(new), "x")


def test_an_exclusion_is_found_again_after_other_corrections() -> None:
    before, after = left_out(TEXT, TRANSCRIPT, TEXT.index("Thank"), TEXT.index(" you."), "e1")
    there = exchanged(TEXT, TRANSCRIPT, before, after)
    moved = exchanged(*there, *corrected(*there, 5, 9, "Sodium chloride"))
    new, _ = exchanged(*moved, after, before)
    assert new == TEXT.replace("Salt", "Sodium chloride")
    with pytest.raises(Refusal, match="changed since"):
        exchanged(new, parsed(moved[1].content()), after, before)


def test_speakers_are_merged_and_parted_again() -> None:
    new, merged = renamed(TEXT, TRANSCRIPT, ("Anna", "Anna"))
    assert new == TEXT.replace("Ann:", "Anna:").replace("Bob:", "Anna:")
    assert said(new, merged) == said(TEXT, TRANSCRIPT)
    assert renamed(new, merged, ("Ann", "Bob")) == (TEXT, TRANSCRIPT)


def turns(many: int, words: int) -> Source:
    return source(
        *assembled([SpokenLine(" ".join([f"{n}"] * words), speaker=f"P{n % 2}") for n in range(many)], {}, "")
    )


def test_pieces_end_where_turns_end_and_share_one_turn() -> None:
    given = turns(10, 4)
    result = pieces(given, 13)
    # A turn has five words with the name; two fit into thirteen, one of which was in the piece before.
    held = [tuple(one.text.split("\n\n")) for one in result]
    assert held == list(pairwise([f"P{n % 2}: {n} {n} {n} {n}" for n in range(10)]))
    assert [(one.number, given.text[one.start : one.end]) for one in result] == [
        (number, one.text) for number, one in enumerate(result, 1)
    ]


def test_a_turn_longer_than_a_piece_is_cut_at_its_paragraphs() -> None:
    sentence = "Salt keeps food for a long time in any house. "
    result = pieces(source(*assembled([SpokenLine((sentence * 60).strip(), speaker="Ann")], {}, "")), 200)
    assert len(result) > 3
    assert all(one.text.startswith("Ann: ") for one in result)
    assert result[1].start < result[0].end < result[1].end


def test_a_source_without_words_has_no_pieces() -> None:
    assert pieces(source("", None)) == ()
    assert [piece.text for piece in pieces(source("One.\n\nTwo.", None))] == ["One.\n\nTwo."]


def test_what_is_left_out_is_in_no_piece() -> None:
    new, changed = exchanged(
        TEXT, TRANSCRIPT, *left_out(TEXT, TRANSCRIPT, TEXT.index("Very"), TEXT.index(" you.") + 5, "e")
    )
    (result,) = pieces(source(new, changed))
    assert result.text == "Ann: Salt is old.\n\nAnn: And cheap."
