"""The Author page, where experts write the documents of an item."""

from annotator.gui.pages.authoring.page import AuthorPage

__all__ = ["AuthorPage"]
