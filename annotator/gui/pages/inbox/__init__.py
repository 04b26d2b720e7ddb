"""Where tasks go out and work comes back by file: the coordinator's page of exchange."""

from annotator.gui.pages.inbox.page import ExchangePage

__all__ = ["ExchangePage"]
