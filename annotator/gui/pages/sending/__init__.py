"""Where an annotator sends their work back."""

from annotator.gui.pages.sending.page import SendPage

__all__ = ["SendPage"]
