"""The page on which a coordinator prepares what is judged: reports, what was drawn from them, the pages they cite."""

from annotator.gui.pages.material.page import MaterialPage

__all__ = ["MaterialPage"]
