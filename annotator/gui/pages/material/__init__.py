"""The Material page, where a coordinator prepares what is judged: reports, extracts, cited pages."""

from annotator.gui.pages.material.page import MaterialPage

__all__ = ["MaterialPage"]
