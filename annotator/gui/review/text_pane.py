"""A text to read: name, banner, scrolling text, find bar, and its evidence, step by step."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QWidget

from annotator.actions.items import renderings
from annotator.domain.texts import quotation
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.reading.find_bar import FindBar
from annotator.gui.widgets.reading.link_question import ask_to_open
from annotator.gui.widgets.reading.report_view import ReportView

Span = tuple[int, int]
EVIDENCE, KEPT = "evidence", "kept"
LONGEST_SOUGHT = 100


class TextPane(QWidget):
    """Shows a report, a source or a page. Offsets are those of the text itself, not of what is shown."""

    scrolled = Signal()
    loaded = Signal()
    """The whole text is there, for the first time or in other colours."""
    stepped = Signal(str)
    """A passage was stepped to: whose it is."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.text = ""
        """What is shown, as it stands in the project."""
        self._placed: dict[tuple[str, int | None], Span | None] = {}
        self.head = ElidedLabel("", "strong")
        self.banner, self.report = MessageBar(), ReportView()
        self.report.link_clicked.connect(lambda url: ask_to_open(self, url))
        self.report.loaded.connect(self.loaded)
        self.report.verticalScrollBar().valueChanged.connect(lambda _: self.scrolled.emit())
        self.find_bar = FindBar(self.report)
        self.find_bar.closed.connect(lambda: self.report.setFocus(Qt.FocusReason.OtherFocusReason))
        self.steps = EvidenceSteps()
        self.steps.wanted.connect(self._show_passage)
        vertical(
            self.head, self.banner, (self.report, 1), self.steps, self.find_bar, on=self, margins=0, spacing=6
        )
        self.head.hide()

    def entitle(self, words: str) -> None:
        """Say over the text what it is; nothing hides the line."""
        self.head.setText(words)
        self.head.setVisible(bool(words))

    def show_report(self, text: str, what: str = "report") -> None:
        """Show Markdown, as plain text where it cannot be rendered safely."""
        self._begin(text)
        rendered = self._desk.ask(renderings.html, text)
        if rendered is None or rendered.plain:
            reason = rendered.reason if rendered else ""
            self.banner.show_message("info", f"This {what} is shown as plain text.", reason, lasting=True)
            self.report.show_plain(text)
        else:
            self.report.show_html(rendered.html)
            if rendered.reason:
                self.banner.show_message("info", rendered.reason)
        self.report.verticalScrollBar().setValue(0)

    def show_words(self, text: str, unread: str = "", moments: Sequence[tuple[int, str]] = ()) -> None:
        """Show plain words; `unread` says why there are none. What parts the pages of a PDF is shown as a space.

        `moments` are printed beside the lines that begin there.
        """
        self._begin(text)
        if unread:
            self.banner.show_message("warning", unread, lasting=True)
        self.report.show_plain(text.replace("\f", " "), moments)
        self.report.verticalScrollBar().setValue(0)

    def _begin(self, text: str) -> None:
        self.text = text
        self._placed.clear()
        self.find_bar.hide()
        self.banner.clear()
        self.steps.show_passages([], "")

    def seek(self) -> None:
        """Open the find bar, with the selected words when they are few."""
        self.find_bar.open_bar(sought(self.report.selected_text()[0]))

    def chosen(self) -> Span | None:
        """What is selected in what is shown.

        While the find bar is open and nothing is selected, the place it found counts as selected.
        """
        words, *span = self.report.selected_text()
        found = self.report.marks("find-current")
        if words.strip():
            return span[0], span[1]
        return (found[0].start, found[0].end) if found else None

    def selection(self) -> tuple[str, int | None, int | None]:
        """The chosen words as they stand in the text itself, with their offsets there when they are found."""
        chosen = self.chosen()
        if chosen is None:
            return "", None, None
        span = quotation.locate(self.text, self.report.text(), *chosen)
        words = self.report.text()[chosen[0] : chosen[1]].strip()
        return (self.text[span[0] : span[1]], *span) if span else (words, None, None)

    def forget_selection(self) -> None:
        """Take the selection away, so that a mark in its place can be seen."""
        cursor = self.report.textCursor()
        cursor.clearSelection()
        self.report.setTextCursor(cursor)

    def place(self, quote: str, start: int | None) -> Span | None:
        """Where a quotation stands in what is shown; `start` is its place in the text itself, if known."""
        if not quote:
            return None
        if (quote, start) not in self._placed:
            self._placed[quote, start] = quotation.find_in_rendered(
                self.report.text(), quote, self.text, -1 if start is None else start
            )
        return self._placed[quote, start]

    def mark(self, kind: str, span: Span | None, *, reveal: bool) -> None:
        """Mark one place as a kind of mark, or none, and bring it into view if wished."""
        self.report.set_marks(kind, [span] if span else [])
        if span is not None and reveal:
            self.report.reveal(*span)

    def show_evidence(self, passages: Sequence[tuple[str, Span]], at_hand: str, *, reveal: bool) -> None:
        """Mark all passages, each told with whose it is; those of the current one stand out."""
        mine = [span for whose, span in passages if whose == at_hand]
        self.report.set_marks(KEPT, [span for whose, span in passages if whose != at_hand])
        self.report.set_marks(EVIDENCE, mine)
        self.steps.show_passages(passages, at_hand)
        if mine and reveal:
            self.report.reveal(*mine[0])

    def _show_passage(self, whose: str, span: Span) -> None:
        self.report.reveal(*span)
        self.stepped.emit(whose)

    def turn(self, screens: int) -> None:
        bar = self.report.verticalScrollBar()
        bar.setValue(bar.value() + screens * bar.pageStep())


class EvidenceSteps(QWidget):
    """The current passage and the number of passages, with buttons for next and previous."""

    wanted = Signal(str, tuple)
    """A passage is to be seen: whose it is, and where."""

    def __init__(self) -> None:
        super().__init__()
        self._passages: list[tuple[str, Span]] = []
        self._at = -1
        self.told, self.before, self.after = PlainLabel(role="hint"), QToolButton(), QToolButton()
        row = horizontal(self.told, on=self, margins=0, spacing=4)
        for button, picture, words, act, way in (
            (self.before, "up", "Previous passage", "previous_evidence", -1),
            (self.after, "down", "Next passage", "next_evidence", 1),
        ):
            icons.put(button, picture)
            keys.tell(button, "toolTip", f"{words} ({{{act}}})")
            button.setAccessibleName(words)
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(lambda _=False, way=way: self.step(way))
            row.addWidget(button)
        row.addStretch(1)
        self.hide()

    def show_passages(self, passages: Sequence[tuple[str, Span]], at_hand: str) -> None:
        """Step through these from now on, in the order of the text; one alone is no walk."""
        kept = self._passages[self._at] if self._at >= 0 else None
        self._passages = sorted(passages, key=lambda one: one[1])
        first = next((n for n, (whose, _) in enumerate(self._passages) if whose == at_hand), -1)
        same = (n for n, one in enumerate(self._passages) if one == kept and one[0] == at_hand)
        self._at = next(same, first)
        self.setVisible(len(self._passages) > 1)
        self._tell()

    def step(self, way: int) -> None:
        """To the next passage (1) or the one before (-1), around the end."""
        if self._passages:
            self._at = (self._at + way) % len(self._passages) if self._at >= 0 else min(way, 0)
            self._tell()
            self.wanted.emit(*self._passages[self._at])

    def _tell(self) -> None:
        many = len(self._passages)
        self.told.setText(f"Passage {self._at + 1} of {many}" if self._at >= 0 else f"{many} passages marked")


def sought(words: str) -> str:
    """Selected words as what to look for, when they are few enough."""
    return words if len(words) <= LONGEST_SOUGHT and "\n" not in words else ""
