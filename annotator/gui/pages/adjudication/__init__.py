"""Where a senior makes one document of several: conflicts first, letters instead of people, a key for every ruling."""

from annotator.gui.pages.adjudication.page import AdjudicatePage as AdjudicatePage
