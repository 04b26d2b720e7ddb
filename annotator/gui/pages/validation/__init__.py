"""The Validate page, where judges are compared with people."""

from annotator.gui.pages.validation.page import ValidatePage

__all__ = ["ValidatePage"]
