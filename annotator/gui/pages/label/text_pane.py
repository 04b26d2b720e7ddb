"""A text to be read: its name, a banner, the text scrolling alone, the find bar, and marks over its words."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from annotator.actions import renderings
from annotator.domain import quotation
from annotator.gui.desk import Desk
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.find_bar import FindBar
from annotator.gui.widgets.link_question import ask_to_open
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.report_view import ReportView

Span = tuple[int, int]


class TextPane(QWidget):
    """Shows a report, or the snapshot of a page. Offsets are those of the text itself, not of what is shown."""

    scrolled = Signal()
    loaded = Signal()
    """The whole text is there, for the first time or in other colours."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.text = ""
        """What is shown, as it stands in the project."""
        self.head = ElidedLabel("", "strong")
        self.banner, self.report = MessageBar(), ReportView()
        self.report.link_clicked.connect(lambda url: ask_to_open(self, url))
        self.report.loaded.connect(self.loaded)
        self.report.verticalScrollBar().valueChanged.connect(lambda _: self.scrolled.emit())
        self.find_bar = _Find(self.report)
        self.find_bar.closed.connect(lambda: self.report.setFocus(Qt.FocusReason.OtherFocusReason))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.head)
        column.addWidget(self.banner)
        column.addWidget(self.report, 1)
        column.addWidget(self.find_bar)
        self.head.hide()

    def entitle(self, words: str) -> None:
        """Say over the text what it is; nothing hides the line."""
        self.head.setText(words)
        self.head.setVisible(bool(words))

    def show_report(self, text: str) -> None:
        """Show a report's Markdown, as plain text where it cannot be rendered safely."""
        self._begin(text)
        rendered = self._desk.ask(renderings.html, text)
        if rendered is None or rendered.plain:
            reason = rendered.reason if rendered else ""
            self.banner.show_message("info", "This report is shown as plain text.", reason, lasting=True)
            self.report.show_plain(text)
        else:
            self.report.show_html(rendered.html)
        self.report.verticalScrollBar().setValue(0)

    def show_words(self, text: str, unread: str = "") -> None:
        """Show plain words; `unread` says why there are none."""
        self._begin(text)
        if unread:
            self.banner.show_message("warning", unread, lasting=True)
        self.report.show_plain(text)
        self.report.verticalScrollBar().setValue(0)

    def _begin(self, text: str) -> None:
        self.text = text
        self.find_bar.hide()
        self.banner.clear()

    def seek(self) -> None:
        """Open the find bar, with the selected words when they are few."""
        words, *_ = self.report.selected_text()
        self.find_bar.open_bar(words if 0 < len(words) <= 100 and "\n" not in words else "")

    def selection(self) -> tuple[str, int | None, int | None]:
        """The selected words as they stand in the text itself, with their offsets there when they are found.

        While the find bar is open and nothing is selected, the place it found counts as selected.
        """
        words, start, end = self.report.selected_text()
        found = self.report.marks("find-current")
        if not words.strip() and found:
            start, end = found[0].start, found[0].end
            words = self.report.text()[start:end]
        if not words.strip():
            return "", None, None
        span = quotation.locate(self.text, self.report.text(), start, end)
        return (self.text[span[0] : span[1]], *span) if span else (words.strip(), None, None)

    def forget_selection(self) -> None:
        """Take the selection away, so that a mark in its place can be seen."""
        cursor = self.report.textCursor()
        cursor.clearSelection()
        self.report.setTextCursor(cursor)

    def place(self, quote: str, start: int | None) -> Span | None:
        """Where a quotation stands in what is shown; `start` is its place in the text itself, if known."""
        if not quote:
            return None
        return quotation.find_in_rendered(
            self.report.text(), quote, self.text, -1 if start is None else start
        )

    def mark(self, kind: str, span: Span | None, *, reveal: bool) -> None:
        """Mark one place as a kind of mark, or none, and bring it into view if wished."""
        if span is None:
            self.report.clear_marks(kind)
            return
        self.report.set_marks(kind, [span])
        if reveal:
            self.report.reveal(*span)

    def turn(self, screens: int) -> None:
        """Scroll by screens."""
        bar = self.report.verticalScrollBar()
        bar.setValue(bar.value() + screens * bar.pageStep())


class _Find(FindBar):
    """Leaves what it found selected when it is closed, so that the keyboard can go on from there."""

    def __init__(self, report: ReportView) -> None:
        super().__init__(report)
        self._report = report

    def close_bar(self) -> None:
        """Go away, with the place in view selected."""
        found = self._report.marks("find-current")
        super().close_bar()
        if found:
            self._report.select(found[0].start, found[0].end)
