"""Source panel: the item's sources, or for labels the report with everybody's evidence."""

from PySide6.QtWidgets import QWidget

from annotator.actions.adjudication import adjudication_sheets
from annotator.actions.items import items, sources
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.labels import Label
from annotator.domain.kinds.unit import Anchor
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.review.source_pane import SourcePane
from annotator.gui.review.text_pane import Span, TextPane
from annotator.gui.widgets.layouts import column_of, stacked, vertical
from annotator.gui.widgets.plain import PlainLabel

# How the evidence of the letters is marked, in their order; what the view calls these kinds is seen by nobody.
MARKS = ("evidence", "other", "judge", "find")
LINES = ("underlined", "dotted", "dashed", "plain")


class SourceSide(QWidget):
    """Sources, for reading and searching only."""

    def __init__(self, desk: Desk, bench: AdjudicationBench) -> None:
        super().__init__()
        self._desk, self._bench = desk, bench
        self._response_id = ""
        self.sources, self.pane = SourcePane(desk), TextPane(desk)
        self.report = self.pane.report
        self.name = PlainLabel("", "hint", wrap=True)
        self.pane.loaded.connect(lambda: self._mark(reveal=True))
        self._of_labels = column_of(self.name, (self.pane, 1))
        self._stack = stacked(self.sources, self._of_labels)
        vertical(self._stack, on=self, margins=0)

    def show_item(self) -> None:
        """Show the sources of the open item, or the report that labels are about."""
        sheet = self._bench.sheet
        if sheet is None:
            return
        if sheet.kind is Kind.LABELS:
            self._stack.setCurrentWidget(self._of_labels)
            self.setFocusProxy(self.report)
            return
        self._stack.setCurrentWidget(self.sources)
        self.setFocusProxy(self.sources.text)
        found = self._desk.ask(sources.sources, sheet.item_id) or []
        item = self._desk.ask(items.read, sheet.item_id)
        if item is None:
            return
        self.sources.show_item(item, found)
        for part in (self.sources.quoting, self.sources.add):
            part.hide()
        if not found:
            self.sources.tabs.setCurrentIndex(self.sources.tabs.count() - 1)

    def show_row(self) -> None:
        """Show the report and the evidence of the current row."""
        row, sheet = self._bench.row, self._bench.sheet
        if row is None or sheet is None or sheet.kind is not Kind.LABELS:
            return
        if row.response_id != self._response_id:
            self._show_report(row.response_id)
        else:
            self._mark(reveal=True)

    def show_quote(self, letter: str, place: int = 0) -> bool:
        """Bring a quotation of a letter in the current row into view; whether it was found."""
        unit = self._bench.row.units.get(letter) if self._bench.row else None
        if isinstance(unit, Label):
            span = self._span(unit)
            if span is not None:
                self.report.reveal(*span)
            return span is not None
        return unit is not None and place < len(unit.anchors) and self.show_anchor(unit.anchors[place])

    def show_anchor(self, anchor: Anchor) -> bool:
        """Bring a quotation of a source into view; whether it was found."""
        return self.sources.show_anchor(anchor)

    def seek(self) -> None:
        """Search in what is in view."""
        if self._stack.currentWidget() is self.sources:
            self.sources.open_find()
        else:
            self.pane.seek()

    def stop(self) -> None:
        """Give back the memory of a PDF."""
        self.sources.stop()

    def _show_report(self, response_id: str) -> None:
        text = self._desk.ask(adjudication_sheets.report_text, response_id)
        if text is None:
            return
        self._response_id = response_id
        self.pane.show_report(text)

    def _mark(self, *, reveal: bool) -> None:
        row, sheet = self._bench.row, self._bench.sheet
        if row is None or sheet is None:
            return
        self.report.clear_marks()
        hidden = self._bench.ballot(row.ruling.id) is not None
        legend = []
        for letter, kind, line in zip(sheet.letters, MARKS, LINES, strict=False):
            unit = row.units.get(letter)
            if hidden or not isinstance(unit, Label) or not unit.quote:
                continue
            span = self._span(unit)
            legend.append(f"{letter} {line}" if span else f"{letter} not found")
            if span is not None:
                self.report.set_marks(kind, [span])
                if reveal:
                    self.report.reveal(*span)
                    reveal = False
        told = f" · evidence of {', '.join(legend)}" if legend else ""
        self.name.setText(f"{row.report}{told}")

    def _span(self, unit: Label) -> Span | None:
        return self.pane.place(unit.quote, self.pane.text.find(unit.quote))
