"""Intervals: of shares, means and figures over clusters; sample sizes."""
