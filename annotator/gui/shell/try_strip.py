"""Exercises in the sample: each leads to its place and ticks itself off."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QToolButton, QWidget

from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.layouts import horizontal
from annotator.gui.widgets.plain import PlainLabel

if TYPE_CHECKING:
    from annotator.actions.imports.practice import PracticeStep

TRY, DONE = "Try this:", "You have tried everything. Continue with Help → First steps."
DISMISS = "Do not show these steps again"
# A window that is lower than this, at 100 %, has no room for the strip.
LOW = 640


class TryStrip(QFrame):
    """Hidden where there is nothing to try, or once dismissed."""

    def __init__(self, desk: Desk, window: QWidget) -> None:
        super().__init__()
        self._desk, self._window = desk, window
        self.button = QToolButton()
        """Has the steps in a menu, in place of the strip where the window is low."""
        self.button.setText("Try this…")
        self.button.setProperty("role", "try")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setMenu(QMenu(self.button))
        self.button.menu().aboutToShow.connect(self._fill_menu)
        self.setProperty("role", "try")
        self._lead = PlainLabel(role="strong")
        self._steps = QWidget()
        self._row = FlowRow(self._steps, gap=4)
        self._row.addWidget(self._lead)
        self._close = QToolButton()
        icons.put(self._close, "close", 14)
        self._close.setToolTip(DISMISS)
        self._close.setAccessibleName("Dismiss the steps to try")
        self._close.clicked.connect(self.dismiss)
        horizontal(
            (self._steps, 1), (self._close, 0, Qt.AlignmentFlag.AlignTop), on=self, margins=(12, 2, 8, 2)
        )
        self._buttons: list[QPushButton] = []
        self._steps_to_try: Sequence[PracticeStep] = ()
        theme.wear(self)
        self._fit()
        window.installEventFilter(self)
        theme.watch(window, self._fit)

    def refresh(self) -> None:
        """Tick off what has been done."""
        self._show(self._tries())

    def _show(self, steps: "Sequence[PracticeStep]") -> None:
        self._steps_to_try = steps
        for number, step in enumerate(steps, 1):
            if number > len(self._buttons):
                self._buttons.append(self._button())
            button = self._buttons[number - 1]
            button.setText(f"{'✓' if step.done else number}  {step.words}")
            button.setAccessibleName(f"{step.words}, done" if step.done else step.words)
        self._lead.setText(DONE if steps and all(step.done for step in steps) else TRY)
        self._fit()

    def _fit(self) -> None:
        low = self._window.height() < theme.current().px(LOW)
        self.setVisible(bool(self._steps_to_try) and not low)
        self.button.setVisible(bool(self._steps_to_try) and low)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Another height of the window may have no room for the strip, or room for it."""
        if event.type() == QEvent.Type.Resize:
            self._fit()
        return super().eventFilter(watched, event)

    def _fill_menu(self) -> None:
        menu = self.button.menu()
        menu.clear()
        if self._lead.text() == DONE:
            menu.addAction(DONE).setEnabled(False)
        for number, button in enumerate(self._buttons):
            menu.addAction(button.text(), partial(self._go, number))
        menu.addSeparator()
        menu.addAction(DISMISS, self.dismiss)

    def first(self) -> tuple[str, dict[str, str]] | None:
        """Where the first step is that has not been done; the steps are shown from now on."""
        steps = self._tries()
        self._show(steps)
        return next(((step.page, step.place) for step in steps if not step.done), None)

    def _tries(self) -> "Sequence[PracticeStep]":
        # After the first idle, except in a sample never opened before: it loads all that labelling and judging need.
        from annotator.actions.imports import practice

        return self._desk.ask(practice.tries) or []

    def _button(self) -> QPushButton:
        button = QPushButton()
        button.setProperty("role", "quiet")
        button.clicked.connect(partial(self._go, len(self._buttons)))
        self._row.addWidget(button)
        return button

    def _go(self, number: int) -> None:
        for step in self._tries()[number : number + 1]:
            self._desk.go(step.page, **step.place)

    def dismiss(self) -> None:
        """Show it no more in this project."""
        from annotator.actions.imports import practice

        self._desk.ask(practice.stop_trying)
        self._show([])
