"""A place for a drawn figure; double-clicking a row of it tells which."""

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.gui.widgets.layouts import vertical


class FigureView(QWidget):
    """Shows one matplotlib figure at a time; the drawing library is loaded with the first."""

    row_chosen = Signal(int)
    """The place, from the top, of the row that was double-clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._canvas: Any = None
        self._column = vertical(on=self, margins=0)
        self.figure: Any = None

    def show_figure(self, figure: Any) -> None:
        """Put a figure in the place of the last one."""
        from matplotlib.backends.backend_qtagg import FigureCanvasQTAgg

        if self._canvas is not None:
            self._column.removeWidget(self._canvas)
            self._canvas.deleteLater()
        self.figure = figure
        self._canvas = FigureCanvasQTAgg(figure)
        self._canvas.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._canvas.setMinimumHeight(int(figure.get_figheight() * 60))
        self._canvas.mpl_connect("button_press_event", self._pressed)
        self._column.addWidget(self._canvas)
        self._canvas.draw_idle()

    def _pressed(self, event: Any) -> None:
        if event.dblclick and event.ydata is not None:
            self.row_chosen.emit(round(event.ydata))
