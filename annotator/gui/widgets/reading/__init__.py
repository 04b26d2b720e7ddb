"""Readers for texts, PDFs and formulas."""
