"""How reports are labelled: the queue, the report, the criteria beside it, and what leads from one to the next."""

from annotator.gui.pages.labelling.page import LabelPage as LabelPage
