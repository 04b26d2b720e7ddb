"""Drift tab: changes in what judges say."""
