"""Home: where the benchmark stands, and what comes next."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QPushButton, QWidget

from annotator.actions.project.file import Project
from annotator.domain.texts.canonical import Change
from annotator.gui import theme
from annotator.gui.parts import below, holds
from annotator.gui.session.page import Page
from annotator.gui.session.session import ANY, ProjectSession
from annotator.gui.widgets.bars import wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Picture

if TYPE_CHECKING:
    from annotator.actions.home.home import HomeReport, HomeStep, NextStep

SETTLE_MS = 400
# The least width of a step, its inner margin, and the height of its bar, in pixels.
LEAST, AROUND, BAR = 100, 10, 4


class HomePage(Page):
    """People: whoever opens the project and asks what is to be done. What annoys them elsewhere: ten pages to look
    through before one knows that a single file is late.
    """

    NAME = "Home"
    ICON = "home"
    HEARS = (ANY,)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._report: HomeReport | None = None
        self._later = later(self, self._ask, SETTLE_MS)
        # It begins to run out only once the window turns its loop, however long it took to open.
        self._first = later(self, self._later.start, 0)
        self.title, self.about = PlainLabel("", "headline", wrap=True), PlainLabel("", "hint", wrap=True)
        self.steps, self.next = QWidget(), QWidget()
        self.lately = PlainLabel("", "hint", wrap=True)
        self.lately_title = PlainLabel("Lately", "subtitle")
        self._body = column_of(
            self.title,
            self.about,
            self.steps,
            PlainLabel("Next", "subtitle"),
            self.next,
            self.lately_title,
            self.lately,
            StretchSpace(1),
            margins=(28, 20, 28, 16),
            spacing=10,
        )
        vertical(PlainArea("Home", self._body), on=self, margins=0)

    def navigate(self, place: dict[str, Any]) -> None:
        self.title.setText(self.session.project.title)
        # What counts is loaded after the window's first idle.
        self._first.start() if self._report is None else self._ask()

    def on_change(self, change: Change) -> None:
        self._later.start()

    def focus_first(self) -> None:
        first = next(
            (button for part in (self.next, self.steps) for button in below(part, QPushButton)), None
        )
        (first or self).setFocus()

    def _ask(self) -> None:
        self.session.ask_newest(self._show, _report)

    def _show(self, report: "HomeReport") -> None:
        if report == self._report:
            return
        # The button that has the keyboard is made anew: the first one takes over.
        held = holds(self.steps) or holds(self.next)
        first, self._report = self._report is None, report
        self.title.setText(report.title)
        self.about.setText(report.about)
        steps = QWidget()
        steps.setLayout(wrapping(*(self._step(step) for step in report.steps), gap=8))
        following = NextCard(self.session, report.next, "Nothing waits.", leads=True)
        self.steps = replaced(self._body, self.steps, steps)
        self.next = replaced(self._body, self.next, following)
        self.lately.setText("    ".join(report.lately))
        self.lately_title.setVisible(bool(report.lately))
        if (first or held) and self.isVisible():
            self.focus_first()

    def _step(self, step: "HomeStep") -> QWidget:
        button = StepButton(step)
        button.clicked.connect(partial(self.session.go, step.page, **step.place))
        return button


def replaced(body: QWidget, old: QWidget, new: QWidget) -> QWidget:
    """Show another part where one is."""
    if (layout := body.layout()) is not None:
        layout.replaceWidget(old, new)
    theme.apply_theme(new)
    old.hide()
    old.deleteLater()
    new.show()
    return new


class NextRow(QWidget):
    """One sentence of a `NextCard`, and its button."""


class NextCard(QFrame):
    """What is to be done, each sentence with the button that leads there or copies a text."""

    def __init__(
        self, session: ProjectSession, steps: Sequence["NextStep"], nothing: str, *, leads: bool
    ) -> None:
        """`leads`: the first of these is the page's main button."""
        super().__init__()
        self._session = session
        self.setProperty("role", "card")
        rows = [self._row(step, "primary" if leads and step is steps[0] else "") for step in steps]
        vertical(*rows or [PlainLabel(nothing, "hint")], on=self, margins=(16, 8, 16, 8), spacing=6)

    def _row(self, step: "NextStep", role: str) -> QWidget:
        row = NextRow()
        act = partial(self._copy, step) if step.copied else partial(self._session.go, step.page, **step.place)
        button = push_button(step.button, act, role)
        button.setAccessibleName(f"{step.button}: {step.words}")
        mark = Picture("right", "accent", 14)
        horizontal(mark, (PlainLabel(step.words, wrap=True), 1), button, on=row, margins=0, spacing=10)
        return row

    def _copy(self, step: "NextStep") -> None:
        QApplication.clipboard().setText(step.copied)
        self._session.tell_end("The reminder is copied: paste it into a mail.", step.page, None, **step.place)


def _report(project: Project) -> "HomeReport":
    """Asked on the other thread, where what counts the waiting work is loaded after the first idle."""
    from annotator.actions.home import home

    return home.report(project)


class StepButton(QPushButton):
    """A step as a button: its name, how much is done, a bar, and a note."""

    def __init__(self, step: "HomeStep") -> None:
        super().__init__()
        self._step = step
        self._done = "–" if step.done is None else f"{step.done:,}"
        self._total = "" if step.total is None else f"of {step.total:,}"
        words = f"{step.title}: {self._done} {self._total}{f', {step.note}' if step.note else ''}"
        with_properties(self, role="step", accessibleName=words, toolTip=words)

    def _fonts(self) -> tuple[QFont, QFont]:
        small, large = QFont(self.font()), QFont(self.font())
        small.setPointSizeF(self.font().pointSizeF() * 0.9)
        large.setPointSizeF(self.font().pointSizeF() * 1.5)
        large.setBold(True)
        return small, large

    def sizeHint(self) -> QSize:
        px = theme.current().px
        small, large = (QFontMetrics(font) for font in self._fonts())
        wide = small.horizontalAdvance
        numbers = large.horizontalAdvance(self._done) + wide(f"  {self._total}")
        inner = max(wide(self._step.title), numbers, wide(self._step.note), px(LEAST) - 2 * px(AROUND))
        height = 2 * small.height() + large.height() + px(BAR) + 2 * px(AROUND) + 8
        return QSize(inner + 2 * px(AROUND), height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        px, token, step = theme.current().px, theme.token, self._step
        small, large = self._fonts()
        area = self.rect().adjusted(px(AROUND), px(AROUND), -px(AROUND), -px(AROUND))
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        painter.setFont(small)
        painter.setPen(token("text-muted"))
        painter.drawText(area, top, step.title)
        line = painter.fontMetrics().height()
        painter.setFont(large)
        painter.setPen(token("text"))
        under = area.adjusted(0, line, 0, 0)
        painter.drawText(under, top, self._done)
        numbers, right = painter.fontMetrics(), painter.fontMetrics().horizontalAdvance(self._done)
        painter.setFont(small)
        painter.setPen(token("text-muted"))
        # On the line that the large number stands on.
        down = numbers.ascent() - painter.fontMetrics().ascent()
        painter.drawText(under.adjusted(right + px(6), down, 0, 0), top, self._total)
        bar = QRect(area.left(), under.top() + numbers.height() + 2, area.width(), px(BAR))
        share = 0.0 if not step.done else min(1.0, step.done / step.total) if step.total else 1.0
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(token("border"))
        painter.drawRoundedRect(bar, 2, 2)
        painter.setBrush(token("accent"))
        painter.drawRoundedRect(QRect(bar.topLeft(), QSize(round(bar.width() * share), bar.height())), 2, 2)
        painter.setPen(token("level-warning"))
        painter.drawText(area.adjusted(0, bar.bottom() + 3 - area.top(), 0, line), top, step.note)
