"""Releases: gathering, checking and writing."""
