"""Panels beside the rows: source, guideline, discussion, gaps."""
