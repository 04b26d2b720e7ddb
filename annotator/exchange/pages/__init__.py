"""Cited pages: fetched carefully, read as text, or imported from a folder."""
