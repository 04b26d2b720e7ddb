"""The Items page."""
