"""Validity cards tab."""
