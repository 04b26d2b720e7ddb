"""Batches over night."""
