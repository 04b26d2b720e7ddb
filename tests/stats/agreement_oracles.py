"""Published figures of agreement, a table of counts as two series of judgements, and figures of plain values."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotator.stats.agreement.levels import moments, of_moments
from annotator.stats.validation import correction

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


def icc(raters, form):
    """That of `raters` × units; None where it is undefined."""
    scores = np.array(raters, dtype=np.float64).T
    value = of_moments(moments(scores - scores.min()).sum(axis=0)[None], form)[0]
    return None if np.isnan(value) else float(value)


def corrected_mean(labels, said, weights=None, clusters=None, strata=None, **more):
    return correction.corrected_mean(correction.units_of(labels, said, weights, clusters, strata), **more)
