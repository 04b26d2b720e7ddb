"""A judge beside people: classification, corrections, comparisons."""
