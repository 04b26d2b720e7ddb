"""Texts for a ruling or review: question, report, and a cited page or second report."""

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QWidget

from annotator.actions.sets.verdict_readings import VerdictReading
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.labelling.units.cards import PAGES
from annotator.gui.pages.validation.cases.verdict_cases import CaseVoice
from annotator.gui.review.text_pane import Span, TextPane
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.keyless_area import KeylessArea
from annotator.gui.widgets.reading import report_style

# What both quote, and where a claim stands in the report.
BOTH = "other"
QUESTION_LINES, SIDE_BY_SIDE = 3, 640
ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


class CaseReadingPane(QWidget):
    """`first` is the report, `beside` the cited page or the report shown second; quotes are marked in them."""

    def __init__(self, desk: Desk, name: str) -> None:
        super().__init__()
        self._shown: VerdictReading | None = None
        self._voices: Sequence[CaseVoice] = ()
        self._fresh = False
        self._places: list[tuple[TextPane, Span]] = []
        self.first, self.beside = TextPane(desk), TextPane(desk)
        for pane in (self.first, self.beside):
            pane.loaded.connect(self._loaded)
        self.question = PlainLabel("", wrap=True)
        self.question.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.question.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._area = KeylessArea("The question")
        self._area.setWidget(self.question)
        self.texts = Splitter(f"{name}/texts", parts=(self.first, self.beside))
        self.beside.hide()
        self.legend = QLabel()
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setWordWrap(True)
        vertical(self._area, (self.texts, 1), self.legend, on=self, margins=(4, 6, 4, 0), spacing=6)
        theme.watch(self, self._say_legend)

    def show_reading(self, found: VerdictReading | None, voices: Sequence[CaseVoice]) -> None:
        """Show a case with what each side quotes; a text that is shown already stays where it was scrolled to."""
        before, self._shown, self._voices = self._shown, found, voices
        if found is None:
            self.first.show_words("")
            self.beside.hide()
            self.legend.clear()
            return
        self.question.setText(found.question)
        self.question.setLayoutDirection(direction_of(found.question))
        self._fit_question()
        self._fresh = True
        pair, page = found.other is not None, bool(found.address or found.page)
        self.beside.setVisible(pair or page)
        self.first.entitle("First report" if pair else "Report" if page else "")
        self.first.report.setAccessibleName(f"A report on item {found.item_key}")
        if before is None or before.report != found.report:
            self.first.show_report(found.report)
        if pair:
            self.beside.entitle("Second report")
            self.beside.show_report(found.other or "")
        elif page and (before is None or (before.address, before.page) != (found.address, found.page)):
            self._show_page(found)
        self.mark(reveal=True)

    def _show_page(self, found: VerdictReading) -> None:
        why = PAGES.get(found.page_state, found.page_state)
        unread = f"This page could not be read: {why}. {found.page_cause}".strip() if why else ""
        what = f"Cited page: {found.address}" if found.address else "Sources"
        self.beside.entitle(what)
        self.beside.report.setAccessibleName(what)
        self.beside.show_words(found.page, unread)

    def mark(self, *, reveal: bool) -> None:
        """Mark what each side quotes, and what both do, and bring the first of it into view."""
        found = self._shown
        if found is None:
            return
        spans: dict[str, tuple[TextPane, Span]] = {}
        for voice in self._voices:
            place = self._place(voice)
            if place is not None:
                spans[voice.mark] = place
        context = self.first.place(found.context, found.context_start) if found.context else None
        for pane in (self.first, self.beside):
            pane.report.clear_marks()
            for kind, (where, span) in spans.items():
                pane.mark(kind, span if where is pane else None, reveal=False)
        shared = self._shared(list(spans.values()))
        if shared is not None:
            shared[0].report.mark(*shared[1], BOTH)
        if context is not None:
            self.first.report.mark(*context, BOTH)
        self._places = list(spans.values())
        self._say_legend()
        if reveal:
            self._reveal(context)

    def _reveal(self, context: Span | None) -> None:
        for pane, span in self._places[::-1]:
            pane.report.reveal(*span)
        if context is not None:
            self.first.report.reveal(*context)

    def show_quote(self, number: int) -> bool:
        """Bring what a side quotes into view; whether it stands anywhere."""
        place = self._place(self._voices[number]) if number < len(self._voices) else None
        if place is not None:
            place[0].report.reveal(*place[1])
        return place is not None

    def stands(self, voice: CaseVoice) -> bool | None:
        """Whether what a side quotes stands in what is read; None where it quotes nothing."""
        return self._place(voice) is not None if voice.quote else None

    def _place(self, voice: CaseVoice) -> tuple[TextPane, Span] | None:
        panes = [self.first] if self.beside.isHidden() else [self.beside, self.first]
        for pane in panes if voice.start is None else panes[::-1]:
            span = pane.place(voice.quote, voice.start if pane is self.first else None)
            if span is not None:
                return pane, span
        return None

    def _shared(self, spans: list[tuple[TextPane, Span]]) -> tuple[TextPane, Span] | None:
        if len(spans) < 2 or spans[0][0] is not spans[1][0] or self._claims:
            return None
        start, end = max(one[1][0] for one in spans), min(one[1][1] for one in spans)
        return (spans[0][0], (start, end)) if start < end else None

    @property
    def _claims(self) -> bool:
        return bool(self._shown and self._shown.context)

    def _loaded(self) -> None:
        """A whole text is there, for the first time or in other colours; only the first time moves it."""
        self.mark(reveal=self._fresh)
        self._fresh = False

    def _say_legend(self) -> None:
        if self._shown is None:
            return
        words = [(voice.mark, voice.who) for voice in self._voices if self.stands(voice)]
        if self._claims:
            words.append((BOTH, "the claim"))
        elif self._shared(self._places) is not None:
            words.append((BOTH, "both"))
        swatches = "\u2003".join(_swatch(kind, name) for kind, name in words)
        nothing = "Nobody quoted a passage of this text."
        self.legend.setText(f"Marked: {swatches}" if words else nothing)
        self.legend.setAccessibleName(f"Marked: {', '.join(name for _, name in words)}" if words else nothing)

    def turn(self, screens: int) -> None:
        """Scroll by screens what decides: the page of a claim, or the report."""
        (self.beside if self._claims else self.first).turn(screens)

    def seek(self) -> None:
        (self.beside if self._claims else self.first).seek()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two texts stand above each other where it is narrow."""
        super().resizeEvent(event)
        self._fit_question()
        wide = self.width() >= theme.current().px(SIDE_BY_SIDE)
        if self.texts.orientation() != (wanted := ACROSS if wide else DOWN):
            self.texts.setOrientation(wanted)

    def _fit_question(self) -> None:
        wide = max(160, self._area.viewport().width())
        most = self.question.fontMetrics().lineSpacing() * QUESTION_LINES
        self._area.setFixedHeight(min(self.question.heightForWidth(wide), most) + 4)


def _swatch(kind: str, name: str) -> str:
    colour, _ = report_style.MARKS[kind]
    ground, ink = theme.token(colour).name(), theme.token("on-mark").name()
    style = f"background-color:{ground};color:{ink};text-decoration:underline"
    return f"<span style='{style}'>&nbsp;{escape(name)}&nbsp;</span>"
