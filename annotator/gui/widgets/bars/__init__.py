"""Rows and bars of buttons, messages and progress."""
