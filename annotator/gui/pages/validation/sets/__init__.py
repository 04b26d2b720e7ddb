"""Validation sets tab, with labels from files."""
