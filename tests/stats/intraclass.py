"""An intraclass correlation of scores as they stand, without its interval."""

import numpy as np

from annotator.stats.agreement.levels import moments, of_moments


def icc(raters, form):
    """That of `raters` × units; None where it is undefined."""
    scores = np.array(raters, dtype=np.float64).T
    value = of_moments(moments(scores - scores.min()).sum(axis=0)[None], form)[0]
    return None if np.isnan(value) else float(value)
