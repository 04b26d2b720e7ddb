"""Rows of the open item, and the controls of the current row."""
