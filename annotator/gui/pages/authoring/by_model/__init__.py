"""Drafts by a model: requested, shown, and accepted unit by unit."""
