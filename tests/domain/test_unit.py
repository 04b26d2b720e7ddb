"""What an anchor is."""

import pytest
from pydantic import ValidationError

from annotator.domain.canonical import sha256
from annotator.domain.unit import Anchor

TEXT = "Costs rise slowly. Demand falls."


def test_an_anchor_holds_the_words_their_place_and_the_hash_of_the_whole_text():
    anchor = Anchor.at(TEXT, 6, 10, "s")
    assert (anchor.quote, anchor.start, anchor.end, anchor.source_id) == ("rise", 6, 10, "s")
    assert anchor.text_sha256 == sha256(TEXT)


def test_in_a_text_that_was_changed_an_anchor_stands_no_more():
    anchor = Anchor.at(TEXT, 6, 10)
    assert anchor.stands_in(TEXT)
    assert not anchor.stands_in(f"{TEXT} ")


def test_nothing_is_no_place():
    with pytest.raises(ValidationError, match="quote"):
        Anchor.at(TEXT, 6, 6)
