"""Judging: what can be judged, what it costs, what a judge was asked, what is missing, and whether judges drift."""
