"""Assignments, submissions, and agreement frozen when everyone has submitted."""
