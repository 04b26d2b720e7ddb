"""What came out: figures with their intervals, pictures, and the rows behind every number."""

from annotator.gui.pages.results.page import ResultsPage as ResultsPage
