"""What a verb says where it refuses."""

from collections.abc import Callable
from typing import ParamSpec

import pytest

from annotator.domain.texts.refusal import Refusal

P = ParamSpec("P")


def expect_refusal(words: str, act: Callable[P, object], /, *args: P.args, **kwargs: P.kwargs) -> Refusal:
    """The refusal of an act, in which these words (a regular expression) stand; any refusal, where there are none."""
    with pytest.raises(Refusal, match=words or None) as refused:
        act(*args, **kwargs)
    return refused.value
