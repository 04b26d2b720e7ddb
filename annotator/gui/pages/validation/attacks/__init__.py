"""Attacks tab."""
