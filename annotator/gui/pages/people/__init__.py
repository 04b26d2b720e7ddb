"""The coordinator's page: who works here, handing out, who is where."""

from annotator.gui.pages.people.page import PeoplePage

__all__ = ["PeoplePage"]
