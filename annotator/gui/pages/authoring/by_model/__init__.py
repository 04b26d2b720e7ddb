"""Drafts by a model: asked for, shown, and taken unit by unit."""
