"""Validity cards."""
