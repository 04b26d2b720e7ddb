"""The things that Goldsmith works with, as plain data."""
