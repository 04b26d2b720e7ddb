"""Attacks on judges: copies with planted changes, and how often a judge falls for them."""
