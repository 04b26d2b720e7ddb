"""Judges, their judgements, and how they are validated."""
