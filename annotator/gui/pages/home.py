"""Home: where the benchmark stands, and what comes next."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QProgressBar, QPushButton, QSizePolicy, QWidget

from annotator.actions.project.file import Project
from annotator.domain.common import Change
from annotator.gui import theme
from annotator.gui.parts import below, holds
from annotator.gui.session.page import Page
from annotator.gui.session.session import ANY, Pane, ProjectSession
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

if TYPE_CHECKING:
    from annotator.actions.home import HomeReport, HomeStep, NextStep

SETTLE_MS = 400
# The minimum width of a step's contents, and the margin around them, in pixels.
LEAST, AROUND = 80, 8


class HomePage(Page):
    """The Home page: how far each step of the project is, and what comes next.

    People: someone opens the project and asks what is to be done. What annoys them elsewhere: ten pages to look through
    before one knows that a single file is late.
    """

    NAME = "Home"
    HEARS = (ANY,)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._report: HomeReport | None = None
        self._later = later(self, self._ask, SETTLE_MS)
        # Started only when the event loop runs, however long the window took to open.
        self._first = later(self, self._later.start, 0)
        self.title, self.about = (
            PlainLabel("", "headline", wrap=True),
            PlainLabel("Counting…", "hint", wrap=True),
        )
        self.steps, self.next = QWidget(), QWidget()
        self.lately = PlainLabel("", "hint", wrap=True)
        self.next_title = PlainLabel("Next", "subtitle", visible=False)
        self.lately_title = PlainLabel("Lately", "subtitle", visible=False)
        self._body = column_of(
            self.title,
            self.about,
            self.steps,
            self.next_title,
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
        # The modules that count work are loaded after the window's first idle.
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
        # The focused button is rebuilt: the first one gets the focus instead.
        held = holds(self.steps) or holds(self.next)
        first, self._report = self._report is None, report
        self.title.setText(report.title)
        self.about.setText(report.about)
        steps = QWidget()
        steps.setLayout(wrapping(*(self._step(step) for step in report.steps), gap=6, even=True))
        following = NextCard(self.session, report.next, "Nothing waits.", leads=True)
        self.steps = replaced(self._body, self.steps, steps)
        self.next = replaced(self._body, self.next, following)
        self.lately.setText("    ".join(report.lately))
        self.next_title.show()
        self.lately_title.setVisible(bool(report.lately))
        if (first or held) and self.isVisible():
            self.focus_first()

    def _step(self, step: "HomeStep") -> QWidget:
        button = StepButton(step)
        button.clicked.connect(partial(self.session.go, step.page, **step.place))
        return button


def replaced(body: QWidget, old: QWidget, new: QWidget) -> QWidget:
    """Replace a widget in a layout."""
    if (layout := body.layout()) is not None:
        layout.replaceWidget(old, new)
    old.hide()
    old.deleteLater()
    new.show()
    return new


class NextRow(QWidget):
    """One sentence of a `NextCard`, and its button."""


class NextCard(Pane):
    """What is to be done, each sentence with the button that leads there or copies a text."""

    def __init__(
        self, session: ProjectSession, steps: Sequence["NextStep"], nothing: str, *, leads: bool
    ) -> None:
        """`leads`: the first of the steps is the page's primary button."""
        super().__init__(session, "card")
        rows: list[QWidget] = [
            self._row(step, "primary" if leads and step is steps[0] else "") for step in steps
        ]
        vertical(*rows or [PlainLabel(nothing, "hint")], on=self, margins=(16, 8, 16, 8), spacing=6)

    def _row(self, step: "NextStep", role: str) -> NextRow:
        row = NextRow()
        act = partial(self._copy, step) if step.copied else partial(self.session.go, step.page, **step.place)
        button = push_button(step.button, act, role, accessibleName=f"{step.button}: {step.words}")
        horizontal(
            PlainLabel("•", "hint"),
            (PlainLabel(step.words, wrap=True), 1),
            button,
            on=row,
            margins=0,
            spacing=10,
        )
        return row

    def _copy(self, step: "NextStep") -> None:
        QApplication.clipboard().setText(step.copied)
        self.session.tell_end("The reminder is copied: paste it into a mail.", step.page, None, **step.place)


def _report(project: Project) -> "HomeReport":
    """Run on the other thread, where the modules that count work are loaded after the first idle."""
    from annotator.actions import home

    return home.report(project)


class StepButton(QPushButton):
    """A step as a button: its name, the progress, a bar, and a note."""

    def __init__(self, step: "HomeStep") -> None:
        super().__init__()
        done = "–" if step.done is None or step.total == 0 else f"{step.done:,}"
        total = f"of {step.total:,}" if step.total else ""
        words = f"{step.title}: {done} {total}{f', {step.note}' if step.note else ''}"
        with_properties(self, role="step", accessibleName=words, toolTip=words)
        bar = with_properties(QProgressBar(), maximum=max(1, step.total or 0), textVisible=False)
        bar.setValue(min(bar.maximum(), step.done if step.total else bool(step.done)) if step.done else 0)
        counts = horizontal(PlainLabel(done, "title"), PlainLabel(total, "hint"), StretchSpace(1), spacing=6)
        inside = column_of(
            PlainLabel(step.title, "hint"), counts, bar, PlainLabel(step.note, "note"), spacing=2
        )
        inside.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.scale(inside.setMinimumWidth, LEAST)
        self._inside = vertical(inside, on=self, margins=AROUND)
        # None of them grows: all are as wide as they need, on each line.
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return self._inside.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
