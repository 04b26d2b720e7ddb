"""The Guidelines page: reading, editing and publishing the guideline of each stage."""

from annotator.gui.pages.guidelines.page import GuidelinesPage

__all__ = ["GuidelinesPage"]
