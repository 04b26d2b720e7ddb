"""Exercises in the sample: each leads to its place."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QMenu, QPushButton, QToolButton, QWidget

from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.basics import PlainLabel, horizontal

if TYPE_CHECKING:
    from annotator.actions.imports.practice import PracticeStep

TRY = "Try this:"
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
        self._lead = PlainLabel(TRY, role="strong")
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
        self._person = ""
        theme.wear(self)
        self._fit()
        window.installEventFilter(self)
        theme.watch(window, self._fit)

    def refresh(self) -> None:
        """Show what there is to try for the person who works now."""
        if self._person == self._desk.project.by:
            return
        self._person = self._desk.project.by
        # After the first idle, except in a sample never opened before: it loads all that labelling and judging need.
        from annotator.actions.imports import practice

        self._show(self._desk.ask(practice.tries) or [])

    def _show(self, steps: "Sequence[PracticeStep]") -> None:
        self._steps_to_try = steps
        for number, step in enumerate(steps, 1):
            if number > len(self._buttons):
                self._buttons.append(self._button())
            button = self._buttons[number - 1]
            button.setText(f"{number}  {step.words}")
            button.setAccessibleName(step.words)
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
        for number, button in enumerate(self._buttons):
            menu.addAction(button.text(), partial(self._go, number))
        menu.addSeparator()
        menu.addAction(DISMISS, self.dismiss)

    def first(self) -> tuple[str, dict[str, str]] | None:
        """Where the first step is; the steps are shown from now on."""
        self.refresh()
        return next(((step.page, step.place) for step in self._steps_to_try), None)

    def _button(self) -> QPushButton:
        button = QPushButton()
        button.setProperty("role", "quiet")
        button.clicked.connect(partial(self._go, len(self._buttons)))
        self._row.addWidget(button)
        return button

    def _go(self, number: int) -> None:
        step = self._steps_to_try[number]
        self._desk.go(step.page, **step.place)

    def dismiss(self) -> None:
        from annotator.actions.imports import practice

        self._desk.ask(practice.stop_trying)
        self._show([])
