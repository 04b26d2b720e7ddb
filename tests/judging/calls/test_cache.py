"""What makes two calls the same call."""

import dataclasses
from typing import Any

import pytest

from annotator.domain.kinds.rubric import Criterion
from annotator.judging.calls.cache import cache_key, keys_of
from tests.judging.odd_server import case

SAME: dict[str, Any] = {
    "endpoint": "http://host/v1",
    "model": "m",
    "params": {"temperature": 0, "seed": 1},
    "prompt_sha256": "abc",
    "messages": [{"role": "user", "content": "Question"}],
    "schema": {"type": "object"},
    "trial": 1,
}


def test_the_key_does_not_depend_on_the_order_of_parameters() -> None:
    assert cache_key(**SAME) == cache_key(**SAME | {"params": {"seed": 1, "temperature": 0}})
    assert len(cache_key(**SAME)) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"endpoint": "http://other/v1"},
        {"model": "n"},
        {"params": {"temperature": 1, "seed": 1}},
        {"prompt_sha256": "abd"},
        {"messages": [{"role": "user", "content": "Question?"}]},
        {"schema": {"type": "string"}},
        {"trial": 2},
    ],
)
def test_whatever_could_change_the_answer_changes_the_key(change: dict[str, Any]) -> None:
    assert cache_key(**SAME | change) != cache_key(**SAME)


def test_a_judgement_is_named_by_response_unit_and_trial() -> None:
    both = dataclasses.replace(case(3, trial=2), units=(Criterion(id="c1"), Criterion(id="c2")))
    assert keys_of(both) == (("response-3", "c1", 2), ("response-3", "c2", 2))
