"""What of an item's sources a model is shown, and where in them its quotes stand."""

import pytest

from annotator.domain.judges.protocol import Material
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.material.source import Source
from annotator.protocols.sources import LONGEST_QUOTED, anchored, with_text
from tests.material.anchors import stands_in


def source(source_id, text, drafted=""):
    return Source(id=source_id, item_id="i", title=source_id, text=text, drafted=drafted)


def test_a_source_without_text_and_one_that_a_model_drafted_are_not_shown():
    sources = (source("a", " \n"), source("b", "Costs rise."), source("c", "Costs fall.", "by a model"))
    item = Item(id="i", key="q1", question="Which?")
    material = Material(item, Response(id="", item_id="i", system_id="", text=""), sources=sources)
    assert [one.id for one in with_text(material)] == ["b"]


def test_a_quote_stands_in_the_first_source_that_has_it():
    sources = (source("a", "Prices."), source("b", "So costs rise."), source("c", "Costs rise."))
    found = anchored(sources, "costs rise")
    assert (found.source_id, found.start, found.end, found.quote) == ("b", 3, 13, "costs rise")
    assert stands_in(found, sources[1].text)


@pytest.mark.parametrize("quote", ["", "costs fall"])
def test_a_quote_that_no_source_has_stands_nowhere(quote):
    assert anchored([source("a", "Costs rise.")], quote) is None


def test_a_long_quote_is_anchored_by_its_beginning():
    text = "word " * LONGEST_QUOTED
    assert len(anchored([source("a", text)], text).quote) == LONGEST_QUOTED
