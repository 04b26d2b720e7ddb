"""Runs: ordered, under way, waiting and past."""
