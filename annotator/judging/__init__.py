"""Asking models: prompts, endpoints, retries, prices and runs."""
