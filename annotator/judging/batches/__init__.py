"""Overnight batches at a provider."""
