"""Measurements of the project itself, outside the program."""
