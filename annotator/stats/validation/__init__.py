"""Judges compared with people: classification, correction, comparison."""
