"""Attacks on judges and their biases: copies with planted changes, and how often a judge falls for them."""
