"""What became of one's own work: unit by unit what stands now and why, and one objection an item."""

from annotator.gui.pages.feedback.page import FeedbackPage

__all__ = ["FeedbackPage"]
