"""Stored documents are read once for each content."""

import pytest
from pydantic import ValidationError

from annotator.actions.authoring import artifacts
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import canonical_json


def stored(document: Rubric | Insights) -> str:
    return canonical_json(document.tree()).decode()


def test_the_same_content_is_one_document():
    content = stored(Rubric(units=(Criterion(id="u1", text="Names a dataset", weight=3),)))
    first = artifacts.read_document(Kind.RUBRIC, content)
    assert first.units[0].weight == 3
    assert artifacts.read_document("rubric", content) is first


def test_other_content_is_another_document():
    one, other = (Rubric(units=(Criterion(id="u1", text=text),)) for text in ("One", "Other"))
    assert artifacts.read_document("rubric", stored(one)) == one
    assert artifacts.read_document("rubric", stored(other)) == other


def test_the_same_content_of_another_kind_is_another_document():
    content = stored(Insights(units=(Insight(id="u1", text="Depth helps"),)))
    assert isinstance(artifacts.read_document("insights", content), Insights)
    assert isinstance(artifacts.read_document("rubric", content), Rubric)


def test_only_so_many_are_remembered():
    first = stored(Rubric(remark="note 0"))
    kept = artifacts.read_document("rubric", first)
    for number in range(1, artifacts.REMEMBERED + 1):
        artifacts.read_document("rubric", stored(Rubric(remark=f"note {number}")))
    again = artifacts.read_document("rubric", first)
    assert again == kept
    assert again is not kept


def test_content_that_does_not_fit_is_refused_by_name():
    with pytest.raises(ValidationError, match="weight"):
        artifacts.read_document("rubric", '{"units":[{"id":"u1","weight":9999}]}')
