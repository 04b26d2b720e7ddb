"""Goldsmith's own release: records, layout, tables, data card."""
