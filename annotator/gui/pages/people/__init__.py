"""The People page of the coordinator: people, assignments and progress."""

from annotator.gui.pages.people.page import PeoplePage

__all__ = ["PeoplePage"]
