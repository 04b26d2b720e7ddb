"""The Feedback page: unit by unit what the consensus did with one's own work, and one objection per item."""

from annotator.gui.pages.feedback.page import FeedbackPage

__all__ = ["FeedbackPage"]
