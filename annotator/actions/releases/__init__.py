"""Releases: what is gathered, checked and written."""
