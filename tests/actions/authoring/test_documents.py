"""Stored documents are read once for each content."""

import pytest
from pydantic import ValidationError

from annotator.actions.authoring import documents
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import canonical_json


def stored(document: Rubric | Insights) -> str:
    return canonical_json(document.tree()).decode()


def test_the_same_content_is_one_document():
    content = stored(Rubric(units=(Criterion(id="u1", text="Names a dataset", weight=3),)))
    first = documents.read(Kind.RUBRIC, content)
    assert first.units[0].weight == 3
    assert documents.read("rubric", content) is first


def test_other_content_is_another_document():
    one, other = (Rubric(units=(Criterion(id="u1", text=text),)) for text in ("One", "Other"))
    assert documents.read("rubric", stored(one)) == one
    assert documents.read("rubric", stored(other)) == other


def test_the_same_content_of_another_kind_is_another_document():
    content = stored(Insights(units=(Insight(id="u1", text="Depth helps"),)))
    assert isinstance(documents.read("insights", content), Insights)
    assert isinstance(documents.read("rubric", content), Rubric)


def test_only_so_many_are_remembered():
    first = stored(Rubric(remark="note 0"))
    kept = documents.read("rubric", first)
    for number in range(1, documents.REMEMBERED + 1):
        documents.read("rubric", stored(Rubric(remark=f"note {number}")))
    again = documents.read("rubric", first)
    assert again == kept
    assert again is not kept


def test_content_that_does_not_fit_is_refused_by_name():
    with pytest.raises(ValidationError, match="weight"):
        documents.read("rubric", '{"units":[{"id":"u1","weight":9}]}')
