"""The Contest page: tasks ranked by pairs, and the best of them kept."""

from annotator.gui.pages.contest.page import ContestPage

__all__ = ["ContestPage"]
