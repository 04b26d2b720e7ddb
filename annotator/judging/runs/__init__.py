"""Runs: many cases in parallel."""
