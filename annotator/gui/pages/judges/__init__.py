"""The page of judges: who they are, their runs, their replies, how they compare, and by what words they are asked."""

from annotator.gui.pages.judges.page import JudgesPage

__all__ = ["JudgesPage"]
