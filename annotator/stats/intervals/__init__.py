"""Intervals: resampling, tails, clusters, sample sizes."""
