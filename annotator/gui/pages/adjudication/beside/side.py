"""The panels beside the work, one at a time: source, guideline, discussion or gaps."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QToolButton, QWidget

from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.pages.adjudication.beside.discussion import Discussion
from annotator.gui.pages.adjudication.beside.gap_list import GapList
from annotator.gui.pages.adjudication.beside.guideline import GuidelineText
from annotator.gui.pages.adjudication.beside.source_side import SourceSide
from annotator.gui.widgets import icons
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

SHOWN = "adjudicate/side"
ENTERED = ("discussion", "gaps")
LEAST_WIDTH, WIDTH = 240, 380


class SidePart(Protocol):
    """A panel that can be shown beside the work."""

    def show_item(self) -> None:
        """Show what belongs to the open item."""

    def show_row(self) -> None:
        """Show what belongs to the current row."""


TITLES = {"source": "Source", "guideline": "Guideline", "discussion": "Discussion", "gaps": "Guideline gaps"}


class SideStack(QFrame):
    """One of four panels, or none; the choice is remembered across starts."""

    turned = Signal(str)
    """Another part is shown; an empty name for none."""
    row_wanted = Signal(str, str)
    """A gap's adjudication and row are to be opened."""

    def __init__(self, desk: Desk, bench: AdjudicationBench) -> None:
        super().__init__()
        self._desk, self._bench = desk, bench
        self.setProperty("role", "side")
        self.title, close = PlainLabel(role="subtitle"), QToolButton()
        icons.put(close, "close", 14)
        close.setToolTip("Close this panel")
        close.setAccessibleName("Close this panel")
        close.clicked.connect(lambda: self.show_part(""))
        self._stack = QStackedWidget()
        self.parts: dict[str, QWidget] = {}
        self.shown = ""
        theme.scale(self.setMinimumWidth, LEAST_WIDTH)
        vertical(horizontal((self.title, 1), close), (self._stack, 1), on=self, margins=(8, 6, 8, 8))
        for sign in (bench.opened, bench.laid, bench.told):
            sign.connect(lambda *_: self._refresh())
        bench.moved.connect(lambda _: self._follow())
        self.hide()

    def sizeHint(self) -> QSize:
        """Wide enough to read in."""
        return QSize(theme.current().px(WIDTH), super().sizeHint().height())

    def restore(self) -> None:
        """Show what stood there last."""
        stored = str(QSettings().value(SHOWN, ""))
        self.show_part(stored if stored in TITLES else "")

    def toggle(self, name: str) -> None:
        """Show a part, or hide it where it is shown already; one that is written or chosen in takes the focus."""
        self.show_part("" if name == self.shown else name)
        if self.shown in ENTERED:
            self.enter()

    def show_part(self, name: str) -> None:
        """Show a part, made now if it was never shown; none for an empty name."""
        self.shown = name
        QSettings().setValue(SHOWN, name)
        if name:
            if name not in self.parts:
                self.parts[name] = self._make(name)
                self._stack.addWidget(self.parts[name])
            self._stack.setCurrentWidget(self.parts[name])
            self.title.setText(TITLES[name])
        self.setVisible(bool(name))
        self._refresh()
        self.turned.emit(name)

    def source(self) -> SourceSide:
        """The source, shown now if it was not."""
        if self.shown != "source":
            self.show_part("source")
        part = self.parts["source"]
        assert isinstance(part, SourceSide)
        return part

    def enter(self) -> None:
        """Take the focus."""
        part = self.parts.get(self.shown)
        if part is not None:
            part.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def seek(self) -> None:
        """Search in the source."""
        part = self.parts.get(self.shown)
        if isinstance(part, SourceSide):
            part.seek()

    def stop(self) -> None:
        """Give back the memory of a PDF."""
        part = self.parts.get("source")
        if isinstance(part, SourceSide):
            part.stop()

    def _make(self, name: str) -> QWidget:
        makers: dict[str, Callable[[Desk, AdjudicationBench], QWidget]] = {
            "source": SourceSide, "guideline": GuidelineText, "discussion": Discussion, "gaps": GapList,
        }  # fmt: skip
        made = makers[name](self._desk, self._bench)
        if isinstance(made, GapList):
            made.chosen.connect(self.row_wanted)
        return made

    def _refresh(self) -> None:
        part = self.parts.get(self.shown)
        if part is not None and self._bench.sheet is not None:
            _as_part(part).show_item()
            _as_part(part).show_row()

    def _follow(self) -> None:
        part = self.parts.get(self.shown)
        if part is not None and self._bench.sheet is not None:
            _as_part(part).show_row()


def _as_part(widget: QWidget) -> SidePart:
    assert isinstance(widget, SourceSide | GuidelineText | Discussion | GapList)
    return widget
