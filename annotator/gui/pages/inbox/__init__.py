"""The Exchange page of the coordinator: task files out, work files in."""

from annotator.gui.pages.inbox.page import ExchangePage

__all__ = ["ExchangePage"]
