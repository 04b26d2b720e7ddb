"""Runs that ask models: cases, calls, outcomes, progress and cost."""
