"""The Label page: queue, report and units."""

from annotator.gui.pages.labelling.page import LabelPage as LabelPage
