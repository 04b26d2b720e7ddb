"""The Results page: figures with intervals, pictures, and the rows behind every number."""

from annotator.gui.pages.results.page import ResultsPage as ResultsPage
