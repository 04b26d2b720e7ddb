"""Judges: their settings, keys, endpoints and prompts."""
