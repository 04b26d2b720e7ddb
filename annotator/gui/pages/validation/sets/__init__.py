"""Validation sets, and labels from files."""
