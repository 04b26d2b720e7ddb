"""Texts, numbers and names."""
