"""What each stage's answers are given under: read, written anew, published as a version."""

from annotator.gui.pages.guidelines.page import GuidelinesPage

__all__ = ["GuidelinesPage"]
