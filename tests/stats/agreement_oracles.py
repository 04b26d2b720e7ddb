"""Published figures of agreement, and how a table of counts becomes two series of judgements."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "../shared/data/oracles/agreement.json"
needs_oracles = pytest.mark.skipif(
    not PATH.exists(), reason="the published figures are not beside the checkout"
)


def oracle(name: str) -> Any:
    return json.loads(PATH.read_text("utf-8"))[name]


def two_raters(table) -> tuple[list[int], list[int]]:
    """The judgements of two raters whose confusion table (first × second) this is."""
    counts = np.array(table)
    first, second = np.nonzero(counts)
    times = counts[first, second]
    return np.repeat(first, times).tolist(), np.repeat(second, times).tolist()
