"""The Adjudicate page: a senior makes one document of several, conflicts first, entirely by keyboard."""

from annotator.gui.pages.adjudication.page import AdjudicatePage as AdjudicatePage
