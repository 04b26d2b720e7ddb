"""The Judges page: judges, runs, replies, comparison, costs and prompts."""

from annotator.gui.pages.judges.page import JudgesPage

__all__ = ["JudgesPage"]
