"""Judging: what can be judged, what a judge was asked, what it cost, and what is missing."""
