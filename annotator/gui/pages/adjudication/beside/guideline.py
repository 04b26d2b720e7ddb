"""Guideline panel: the current guideline of the open stage."""

from PySide6.QtWidgets import QWidget

from annotator.actions.authoring import guidelines
from annotator.actions.items import renderings
from annotator.domain.kinds.artifact import Kind
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.forms.kind_guideline import whole
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.review.label_guideline import FIELDS
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.reading.report_view import ReportView


class GuidelineText(QWidget):
    """The text of one stage."""

    def __init__(self, desk: Desk, bench: AdjudicationBench) -> None:
        super().__init__()
        self._desk, self._bench = desk, bench
        self._shown = ""
        self.text = ReportView()
        self.text.setProperty("role", "side")
        self.text.setAccessibleName("Guideline")
        self.setFocusProxy(self.text)
        vertical(self.text, on=self, margins=0)

    def show_item(self) -> None:
        """Show the guideline of the open stage, where it is not shown already."""
        sheet = self._bench.sheet
        if sheet is None:
            return
        words = self._desk.ask(guidelines.text_in_force, sheet.stage) or ""
        words = _with_names(words) if sheet.kind is Kind.LABELS else whole(sheet.kind, words)
        if words == self._shown:
            return
        self._shown = words
        rendered = self._desk.ask(renderings.html, keys.in_words(words))
        if rendered is not None:
            self.text.show_html(rendered.html)

    def show_row(self) -> None:
        """The guideline is the same for every row."""


def _with_names(words: str) -> str:
    for field, name in FIELDS.items():
        words = words.replace(f"\n## {field}\n", f"\n## {name}\n")
    return words
