"""Packages with tasks and returned work."""
