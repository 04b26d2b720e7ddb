"""How a long text is cut for a question."""

import pytest

from annotator.protocols.passages import PASSAGE, excerpt

FILLER = "Nothing of any note stands here. " * 60


def test_what_fits_is_given_whole():
    found = excerpt("A short page.", ["anything"])
    assert (found.text, found.cut, found.shown, found.whole) == ("A short page.", False, 13, 13)
    assert found.extent == "It is given whole."


def test_the_beginning_and_the_nearest_passages_are_kept_in_order():
    text = f"Title of the page. {FILLER} Glaciers lose mass. {FILLER} Retrieval helps models. {FILLER}"
    found = excerpt(text, ["retrieval helps", "glaciers lose"], longest=4500)
    places = [found.text.find(words) for words in ("Title", "Glaciers", "Retrieval")]
    assert places == sorted(places)
    assert -1 not in places
    assert found.cut
    assert "[…]" in found.text


def test_each_of_what_is_wanted_has_its_turn():
    text = "Start. " + FILLER + "alpha " * 2000 + FILLER + " omega once. " + FILLER
    found = excerpt(text, ["alpha", "omega"], longest=4 * PASSAGE)
    assert "alpha" in found.text
    assert "omega once" in found.text


@pytest.mark.parametrize("text", ["x" * 50_000, "word " * 10_000, "\n" * 50_000, "字" * 50_000])
def test_nothing_is_longer_than_allowed(text):
    found = excerpt(text, ["word"], longest=3000)
    assert len(found.text) <= 3000
    assert found.cut


def test_the_reader_is_told_how_much_is_shown():
    found = excerpt("word " * 10_000, ["word"], longest=3000)
    assert f"of 50,000 characters {found.shown:,} are shown" in found.extent
