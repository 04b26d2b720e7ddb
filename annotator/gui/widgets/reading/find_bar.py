"""Find bar: marks all matches, and brings one after the other into view. Also asks before opening a link."""

import re
import time
from collections.abc import Iterator
from typing import Protocol

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeyEvent, Qt
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QWidget

from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    StretchSpace,
    check_box,
    horizontal,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.fields import LineField
from annotator.gui.widgets.reading.report_view import SLICE_S

MOST = 5_000
# Seconds a search goes on at once; after that it continues in slices.
AT_ONCE_S = 0.1
SEARCHING = "Searching…"


class Searched(Protocol):
    """A searchable view with marks; positions are spans of two increasing numbers.

    Slow matches are yielded with a None wherever the search may be interrupted.
    """

    def hits(self, words: re.Pattern[str]) -> Iterator[tuple[int, int] | None]: ...

    def set_marks(self, kind: str, spans: list[tuple[int, int]]) -> None: ...

    def reveal(self, start: int, end: int) -> None: ...

    def select(self, start: int, end: int) -> None: ...


class FindBar(RoleFrame):
    """A search field, the count, next and previous; Enter next, Shift+Enter previous, Esc closes."""

    closed = Signal()
    moved = Signal()
    """Another match is in view, or none."""

    def __init__(self, searched: Searched, parent: QWidget | None = None) -> None:
        super().__init__("bar", parent)
        self._searched = searched
        self._matches: list[tuple[int, int]] = []
        self._at = -1
        self._settle = later(self, self.search, 120)
        self.words, self._count, self._case = (
            LineField(
                placeholderText="Find in this text",
                accessibleName="Find in this text",
                textChanged=lambda: self._settle.start(),
            ),
            PlainLabel(role="hint"),
            check_box("Match case", self.search),
        )
        self._hits: Iterator[tuple[int, int] | None] = iter(())
        self._spans: list[tuple[int, int]] = []
        self._further = later(self, self._search_on, 0)
        horizontal(
            (self.words, 1),
            self._count,
            chips.tool_button("Previous (Shift+Enter)", "up", lambda: self.go(-1)),
            chips.tool_button("Next (Enter)", "down", lambda: self.go(1)),
            self._case,
            chips.tool_button("Close (Esc)", "close", self.close_bar),
            on=self,
            margins=(8, 5, 8, 5),
        )
        self.hide()

    def open_bar(self, words: str = "") -> None:
        """Show the bar with the focus and search for these words, or the previous ones."""
        self.show()
        if words:
            self.words.setText(words)
        self.words.seek()
        self.search()

    def close_bar(self) -> None:
        """Close the bar and clear the marks; select the current match, so that work can go on from there."""
        if self._settle.isActive():
            self.search()
        span = self._matches[self._at] if self._at >= 0 and not self._further.isActive() else None
        self.hide()
        self._further.stop()
        self._mark([], -1)
        self.closed.emit()
        if span is not None:
            self._searched.select(*span)

    def search(self) -> None:
        """Search again; the current match stays current if it still matches."""
        self._settle.stop()
        self._further.stop()
        words = r"\s+".join(re.escape(word) for word in self.words.text().split())
        flags = 0 if self._case.isChecked() else re.IGNORECASE
        self._hits = self._searched.hits(re.compile(words, flags)) if words else iter(())
        self._spans = []
        self._gather(AT_ONCE_S)

    def _search_on(self) -> None:
        # Go on while the page is out of view, but not after the bar was closed.
        if not self.isHidden():
            self._gather(SLICE_S)

    def _gather(self, seconds: float) -> None:
        until, spans = time.perf_counter() + seconds, self._spans
        for span in self._hits:
            spans += [span] if span is not None else []
            if len(spans) == MOST:
                break
            if time.perf_counter() >= until:
                self._further.start()
                if self._count.text() != SEARCHING:
                    self._count.setText(SEARCHING)
                    self._show_marks([], -1)
                return
        before = self._matches[self._at][0] if self._at >= 0 else 0
        at = next((place for place, (start, _) in enumerate(spans) if start >= before), 0) if spans else -1
        self._mark(spans, at)

    def go(self, step: int) -> None:
        """Go to the next match (1) or the previous one (-1), wrapping around."""
        if self._settle.isActive():
            self.search()
        elif self._matches and not self._further.isActive():
            self._mark(self._matches, (self._at + step) % len(self._matches))

    def count(self) -> tuple[int, int]:
        """The number of the current match, counted from 1, and the number of matches."""
        return self._at + 1, len(self._matches)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.go(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

    def _mark(self, spans: list[tuple[int, int]], at: int) -> None:
        self._matches, self._at = spans, at
        many = f"{MOST:,}+" if len(spans) == MOST else f"{len(spans):,}"
        self._count.setText(f"{at + 1:,} of {many}" if spans else "Not found" if self.words.text() else "")
        self._show_marks(spans, at)

    def _show_marks(self, spans: list[tuple[int, int]], at: int) -> None:
        self._searched.set_marks("find", [span for place, span in enumerate(spans) if place != at])
        self._searched.set_marks("find-current", [spans[at]] if at >= 0 else [])
        if at >= 0:
            self._searched.reveal(*spans[at])
        self.moved.emit()


SCHEMES = ("http", "https")


class LinkQuestion(QDialog):
    """Shows the whole address before a link is opened; Cancel has the focus."""

    def __init__(self, url: QUrl, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._url = url
        self.setWindowTitle("Open this link?")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        address = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        shown = with_properties(
            QPlainTextEdit(address), accessibleName="The whole address", readOnly=True, tabChangesFocus=True
        )
        shown.setFixedHeight(shown.fontMetrics().lineSpacing() * 5)
        self.opening, copy, cancel = (
            push_button("Open in browser", self._open),
            push_button("Copy address", lambda: QGuiApplication.clipboard().setText(address)),
            push_button("Cancel", self.reject),
        )
        buttons = horizontal(copy, StretchSpace(1), self.opening, cancel)
        host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
        vertical(PlainLabel(f"This link leads to {host}.", "strong"), shown, buttons, on=self)
        cancel.setDefault(True)
        cancel.setFocus()
        self.resize(560, self.sizeHint().height())

    def _open(self) -> None:
        self.accept()
        QDesktopServices.openUrl(self._url)


def ask_to_open(parent: QWidget, url: str) -> LinkQuestion | None:
    """Ask whether to open a web address; for any other kind of address, ask nothing and return None."""
    parsed = QUrl(url)
    if not parsed.isValid() or parsed.scheme().lower() not in SCHEMES or not parsed.host():
        return None
    question = LinkQuestion(parsed, parent)
    question.open()
    return question
