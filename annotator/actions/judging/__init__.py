"""Judging: what can be judged, by which judges, what a judge was asked, what it cost, and what is missing."""
