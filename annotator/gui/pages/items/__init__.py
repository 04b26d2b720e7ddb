"""The list of items."""
