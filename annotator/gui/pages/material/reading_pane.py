"""A report or source beside its extract, with the chosen unit's place marked."""

from PySide6.QtWidgets import QWidget

from annotator.actions.items import pages, report_lines, sources
from annotator.domain.kinds.unit import Unit
from annotator.domain.material.keypoints import KeyPoint
from annotator.domain.material.part import Claim
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.material.drawn_lines import DrawnLine, places_alike
from annotator.gui.review.text_pane import TextPane
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel

# A judge's replies are read one after the other.
RULE = "\n\n" + "─" * 24 + "\n\n"


class PartReadingPane(QWidget):
    """A heading, the text, and a search field."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._line: DrawnLine | None = None
        self._source_id = self._page = ""
        self._unit: Unit | None = None
        self.heading, self.place = PlainLabel(role="strong", wrap=True), PlainLabel(role="hint", wrap=True)
        self.pane = TextPane(desk)
        self.view = self.pane.report
        self.pane.loaded.connect(self._mark)
        vertical(self.heading, self.place, (self.pane, 1), on=self, margins=(8, 0, 4, 0), spacing=4)

    def show_line(self, line: DrawnLine | None) -> None:
        """Show the report of a line, or the item's first source."""
        if places_alike(line, self._line):
            return
        self._line, self._unit, self._source_id, self._page = line, None, "", ""
        self.place.hide()
        if line is None:
            self.heading.clear()
            self.pane.show_words("")
            return
        whose = line.about if line.response_id else f"Sources of item {line.item}"
        self.heading.setText(whose)
        if line.response_id:
            self.pane.show_report(self._desk.ask(report_lines.text_of, line.response_id) or "")
        else:
            self._show_source("")

    def show_unit(self, unit: Unit | None) -> None:
        """Mark where a unit comes from, and bring it into view; of a key point that is a page."""
        self._unit = unit
        anchor = unit.anchor if unit else None
        page = anchor.source_id if anchor and isinstance(unit, KeyPoint) else ""
        if self._line is not None and page != self._page:
            self._turn(self._line, page)
        if (
            self._line is not None
            and not self._line.response_id
            and not page
            and anchor
            and anchor.source_id != self._source_id
        ):
            self._show_source(anchor.source_id)
        self._mark()

    def _turn(self, line: DrawnLine, page: str) -> None:
        """Show a page in the place of the report or source, or these again."""
        self._page, self._source_id = page, ""
        if not page:
            self._line = None
            self.show_line(line)
            return
        found = self._desk.ask(pages.page, page)
        self.heading.setText(f"{found.title} ({page})" if found and found.title else page)
        self.pane.show_words(found.text if found else "")

    def show_replies(self, replies: list[str]) -> None:
        """Show a judge's replies as they came, in the place of the report."""
        self._line, self._unit = None, None
        self.heading.setText(f"Raw replies: {len(replies):,}")
        self.pane.show_words(RULE.join(replies))
        self.place.setText("None: no call was made, or the question has changed since.")
        self.place.setVisible(not replies)

    def seek(self) -> None:
        """Open the line to search the text by."""
        self.pane.seek()

    def _show_source(self, source_id: str) -> None:
        assert self._line is not None
        found = [one for one in self._desk.ask(sources.sources, self._line.item_id) or [] if one.text.strip()]
        source = next((one for one in found if one.id == source_id), found[0] if found else None)
        self._source_id = source.id if source else ""
        self.heading.setText(
            f"{source.title} (item {self._line.item})" if source else f"Item {self._line.item}"
        )
        if source is None:
            self.pane.show_words("This item has no source with text. Add one on the Author page.")
        else:
            self.pane.show_report(source.text, "source")

    def _mark(self) -> None:
        unit, quoted = self._unit, words_of(self._unit)
        if unit is None or not self.pane.text or not quoted:
            self.pane.mark("evidence", None, reveal=False)
            self.place.hide()
            return
        start = unit.anchor.start if unit.anchor else None
        span = next(filter(None, (self.pane.place(words, start) for words in quoted)), None)
        self.place.setVisible(span is None)
        self.place.setText("The words of this unit are not in the text: it was reworded.")
        self.pane.mark("evidence", span, reveal=True)


def words_of(unit: Unit | None) -> list[str]:
    """The words by which a unit's place is looked for, the surest first."""
    if unit is None:
        return []
    if unit.anchor is not None:
        return [unit.anchor.quote]
    said = [unit.context] if isinstance(unit, Claim) else []
    return [words for words in (*said, unit.text, str(getattr(unit, "identifier", ""))) if words.strip()]
