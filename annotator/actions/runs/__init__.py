"""Runs: cases, calls, outcomes, progress and cost of whatever asks a model."""
