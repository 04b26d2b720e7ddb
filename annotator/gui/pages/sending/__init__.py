"""The Send page, where an annotator returns their work."""

from annotator.gui.pages.sending.page import SendPage

__all__ = ["SendPage"]
