"""Validity cards as files and pages."""
