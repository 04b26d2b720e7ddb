"""The page on which judges are held against people."""

from annotator.gui.pages.validation.page import ValidatePage

__all__ = ["ValidatePage"]
