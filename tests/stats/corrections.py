"""A corrected mean of values as they come."""

from annotator.stats.validation import correction


def corrected_mean(labels, said, weights=None, clusters=None, strata=None, **more):
    return correction.corrected_mean(correction.units_of(labels, said, weights, clusters, strata), **more)
