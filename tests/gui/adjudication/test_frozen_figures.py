"""Frozen figures in a line: an undefined one says why, in words that an expert knows."""

from annotator.domain.experts.agreement import Figure
from annotator.gui.review.ruling_words import figures_words


def test_why_a_figure_of_one_item_is_undefined_speaks_of_reports():
    found = Figure(
        name="value_kappa", value=None, note="all said yes; 3 clusters are too few for an interval"
    )
    assert figures_words([found]) == "value κ undefined (all said yes; 3 reports are too few for an interval)"
