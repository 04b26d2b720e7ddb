"""Where a report or a source is read beside what was drawn from it, the place of the chosen unit marked in it."""

from PySide6.QtWidgets import QVBoxLayout, QWidget

from annotator.actions import renderings, report_lines, sources
from annotator.domain import quotation
from annotator.domain.part import Claim
from annotator.domain.unit import Unit
from annotator.gui.desk import Desk
from annotator.gui.models.drawn_lines import Line, places_alike
from annotator.gui.widgets.find_bar import FindBar
from annotator.gui.widgets.link_question import ask_to_open
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.report_view import ReportView

# A judge's replies are read one after the other.
RULE = "\n\n" + "─" * 24 + "\n\n"


class ReadingPane(QWidget):
    """A heading, the text, and a line to search it by."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._line: Line | None = None
        self._text = ""
        self._source_id = ""
        self._unit: Unit | None = None
        self.heading, self.place = PlainLabel(role="strong", wrap=True), PlainLabel(role="hint", wrap=True)
        self.view = ReportView()
        self.view.link_clicked.connect(lambda url: ask_to_open(self, url))
        self.view.loaded.connect(self._mark)
        self.finder = FindBar(self.view)
        self.finder.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 0, 4, 0)
        column.setSpacing(4)
        for widget in (self.heading, self.place, self.finder):
            column.addWidget(widget)
        column.addWidget(self.view, 1)

    def show_line(self, line: Line | None) -> None:
        """Show the report of a line, or the item's first source."""
        if places_alike(line, self._line):
            return
        self._line, self._unit, self._source_id = line, None, ""
        self._text = ""
        self.place.hide()
        if line is None:
            self.heading.clear()
            self.view.show_plain("")
            return
        whose = line.about if line.response_id else f"Sources of item {line.item}"
        self.heading.setText(whose)
        if line.response_id:
            self._show_text(self._desk.ask(report_lines.text_of, line.response_id) or "")
        else:
            self._show_source("")

    def show_unit(self, unit: Unit | None) -> None:
        """Mark where a unit comes from, and bring it into view."""
        self._unit = unit
        anchor = unit.anchor if unit else None
        if (
            self._line is not None
            and not self._line.response_id
            and anchor
            and anchor.source_id != self._source_id
        ):
            self._show_source(anchor.source_id)
        self._mark()

    def show_replies(self, replies: list[str]) -> None:
        """Show a judge's replies as they came, in the place of the report."""
        self._line, self._unit, self._text = None, None, ""
        self.heading.setText(f"Raw replies: {len(replies)}")
        self.view.show_plain(RULE.join(replies))
        self.place.setText("None is known: nobody was asked, or the question has changed since.")
        self.place.setVisible(not replies)

    def seek(self) -> None:
        """Open the line to search the text by."""
        self.finder.open_bar("")

    def _show_source(self, source_id: str) -> None:
        assert self._line is not None
        found = [one for one in self._desk.ask(sources.sources, self._line.item_id) or [] if one.text.strip()]
        source = next((one for one in found if one.id == source_id), found[0] if found else None)
        self._source_id = source.id if source else ""
        self.heading.setText(
            f"{source.title} (item {self._line.item})" if source else f"Item {self._line.item}"
        )
        self._show_text(source.text if source else "")
        if source is None:
            self.view.show_plain("This item has no source with text. Put one beside it on the Author page.")

    def _show_text(self, text: str) -> None:
        self._text = text
        rendered = self._desk.ask(renderings.html, text)
        if rendered is None or rendered.plain:
            self.view.show_plain(text)
        else:
            self.view.show_html(rendered.html)

    def _mark(self) -> None:
        unit, quoted = self._unit, words_of(self._unit)
        self.view.clear_marks("evidence")
        if unit is None or not self._text or not quoted:
            self.place.hide()
            return
        start = unit.anchor.start if unit.anchor else -1
        span = next(
            (
                found
                for words in quoted
                if (found := quotation.find_in_rendered(self.view.text(), words, self._text, start))
            ),
            None,
        )
        self.place.setVisible(span is None)
        self.place.setText("The words of this unit are not found in the text: it was worded anew.")
        if span is not None:
            self.view.set_marks("evidence", [span])
            self.view.reveal(*span)


def words_of(unit: Unit | None) -> list[str]:
    """The words by which a unit's place is looked for, the surest first."""
    if unit is None:
        return []
    if unit.anchor is not None:
        return [unit.anchor.quote]
    said = [unit.context] if isinstance(unit, Claim) else []
    return [words for words in (*said, unit.text, str(getattr(unit, "identifier", ""))) if words.strip()]
