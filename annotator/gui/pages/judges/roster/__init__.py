"""Judges tab: the list of judges and their settings."""
