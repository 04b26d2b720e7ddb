"""What an anchor is."""

import pytest
from pydantic import ValidationError

from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import canonical_json, sha256
from tests.material.anchors import stands_in

TEXT = "Costs rise slowly. Demand falls."


def test_an_anchor_holds_the_words_their_place_and_the_hash_of_the_whole_text():
    anchor = Anchor.at(TEXT, 6, 10, "s")
    assert (anchor.quote, anchor.start, anchor.end, anchor.source_id) == ("rise", 6, 10, "s")
    assert anchor.text_sha256 == sha256(TEXT)


def test_in_a_text_that_was_changed_an_anchor_stands_no_more():
    anchor = Anchor.at(TEXT, 6, 10)
    assert stands_in(anchor, TEXT)
    assert not stands_in(anchor, f"{TEXT} ")


def test_nothing_is_no_place():
    with pytest.raises(ValidationError, match="quote"):
        Anchor.at(TEXT, 6, 6)


def test_a_unit_with_one_quotation_is_written_as_it_always_was():
    one = Criterion(id="c", text="Explains it", anchor=Anchor(quote="first"))
    assert "more_anchors" not in one.model_dump(mode="json")
    assert Rubric(units=(one,)).tree()["units"][0] == one.model_dump(mode="json")


def test_further_quotations_are_kept_in_their_order_and_come_back():
    one = Criterion(id="c", text="Explains it")
    anchors = (Anchor(quote="first"), Anchor(quote="second"), Anchor(quote="third"))
    several = Criterion.model_validate({**one.model_dump(), **one.quoting(anchors)})
    assert several.anchors == anchors
    rubric = Rubric(units=(several,))
    assert Rubric.model_validate_json(canonical_json(rubric.tree())) == rubric
    fewer = Criterion.model_validate({**several.model_dump(), **several.quoting(anchors[1:])})
    assert fewer.anchors == anchors[1:]
    none = Criterion.model_validate({**several.model_dump(), **several.quoting(())})
    assert none == one
