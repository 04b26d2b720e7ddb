"""Attacks on judges, their biases and consistency: copies with planted changes, and how often a verdict changes."""
