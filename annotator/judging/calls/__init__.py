"""Calls to an endpoint: sending, limits, costs, replies, storage."""
