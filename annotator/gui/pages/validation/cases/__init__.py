"""Verdicts worked through one by one: disagreements and reviews."""
