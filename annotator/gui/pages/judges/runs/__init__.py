"""Runs tab: ordering, progress, queue and past runs."""
