"""Labels of plain text, buttons, layouts and questions for files: what every page is made of."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import (
    QEvent,
    QObject,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    QUrl,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import (
    QDesktopServices,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QBoxLayout,
    QCheckBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QVBoxLayout,
    QWidget,
)


class RoleFrame(QFrame):
    """A frame; `role` is used by the style sheet."""

    def __init__(self, role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if role:
            self.setProperty("role", role)


class Refitting:
    """A widget that sets out what it shows anew, by its `refit`, whenever it has another size."""

    def refit(self) -> None:
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)  # type: ignore[misc]
        self.refit()


class PlainLabel(QLabel):
    """A label that shows plain text with all its lines; `role` is used by the style sheet."""

    def __init__(self, text: str = "", role: str = "", wrap: bool = False, **settings: Any) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText, wordWrap=wrap, **settings)
        self._lines = 0
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def show_words(self, words: str) -> None:
        """Show words; where there are none, the label is hidden."""
        self.setText(words)
        self.setVisible(bool(words))

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        # Out of view it may never have been given its width.
        if not self._lines or not self.isVisible():
            return hint
        return hint.expandedTo(QSize(0, self.heightForWidth(self.width())))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        high = self.heightForWidth(self.width()) if self.wordWrap() else 0
        if high != self._lines:
            self._lines = high
            self.updateGeometry()


def wrap_lines(entries: QListWidget) -> None:
    """Have the entries of a list break into lines and show all of them, whatever its width."""
    with_properties(
        entries,
        wordWrap=True,
        textElideMode=Qt.TextElideMode.ElideNone,
        resizeMode=QListWidget.ResizeMode.Adjust,
        horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
    )


def tooltip(text: str) -> str:
    """A tooltip that shows the text as it is: Qt takes any tooltip that looks like markup for markup."""
    return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>" if text else ""


def push_button(
    words: str, press: Callable[..., object] | SignalInstance, role: str = "", **settings: Any
) -> QPushButton:
    """A button that does something when it is pressed; `role` is used by the style sheet."""
    made = QPushButton(words, **settings)
    if role:
        made.setProperty("role", role)
    made.clicked.connect(press)
    return made


def check_box(words: str, turn: Callable[[], object], **settings: Any) -> QCheckBox:
    """A box that does something when it is ticked, and when it is no more."""
    made = QCheckBox(words, **settings)
    made.toggled.connect(lambda _: turn())
    return made


Shown = TypeVar("Shown", bound=QWidget)


def with_properties(widget: Shown, **properties: Any) -> Shown:
    """The widget with these properties: those of Qt by their names, and those of the style sheet, such as `role`."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    return widget


Margins = int | tuple[int, int, int, int]


class StretchSpace(int):
    """Stretchable space, with its factor."""


# A widget or layout, also with its share of the room that is left and its alignment; fixed room in pixels; or room
# that grows.
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]


def horizontal(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Parts side by side; `on` is the widget that they stand on."""
    layout = QHBoxLayout()
    _fill(layout, parts, on, margins, spacing)
    return layout


def vertical(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Parts below one another; `on` is the widget that they stand on."""
    layout = QVBoxLayout()
    _fill(layout, parts, on, margins, spacing)
    return layout


def add_row(column: QBoxLayout, *parts: Part) -> None:
    """Add a row of parts to a layout that stands on a widget already; `_fill` says why it is filled last."""
    row = QHBoxLayout()
    column.addLayout(row)
    _fill(row, parts)


def grow_by_width(widget: QWidget, across: QSizePolicy.Policy = QSizePolicy.Policy.Preferred) -> None:
    """Let a widget be as high as its parts need at the width that it has."""
    policy = QSizePolicy(across, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)


def column_of(*parts: Part, margins: Margins | None = 0, spacing: int | None = None) -> QWidget:
    made = QWidget()
    vertical(*parts, on=made, margins=margins, spacing=spacing)
    return made


def take_out(layout: QLayout | QStackedWidget, *parts: QWidget) -> None:
    """Have parts of a layout leave it, and end."""
    for part in parts:
        layout.removeWidget(part)
        part.deleteLater()


class Stack(QStackedWidget):
    """Stacked widgets, the first in view; no larger than the one in view needs."""

    def __init__(self, *parts: QWidget) -> None:
        super().__init__()
        for part in parts:
            self.addWidget(part)
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:
        return least_size(self.currentWidget())


def show_folder(folder: Path | None) -> None:
    """Open a folder where this system shows files."""
    if folder is not None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def least_size(part: QWidget | None) -> QSize:
    """What a part asks for at least, by its contents or by its own minimum."""
    return QSize(0, 0) if part is None else part.minimumSizeHint().expandedTo(part.minimumSize())


def _fill(
    layout: QBoxLayout,
    parts: tuple[Part, ...],
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> None:
    """Put parts into a layout, and then the layout on a widget.

    In this order: to what stands on a widget already, PySide adds a layout with objects of its own for the items that
    Qt made. These outlive the items, and are taken for whatever lies in the same memory later.
    """
    if margins is not None:
        layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for part in parts:
        if isinstance(part, StretchSpace):
            layout.addStretch(part)
        elif isinstance(part, int):
            layout.addSpacing(part)
        else:
            one, *how = part if isinstance(part, tuple) else (part,)
            add: Callable[..., None] = layout.addLayout if isinstance(one, QLayout) else layout.addWidget
            add(one, *how)
            if isinstance(one, QCheckBox | QRadioButton) and isinstance(layout, QVBoxLayout):
                # As wide as its words, and its frame in focus, too.
                layout.setAlignment(one, Qt.AlignmentFlag.AlignLeft)
    if on is not None:
        on.setLayout(layout)


TABLES = "Tables (*.csv *.tsv *.xlsx *.json *.jsonl *.parquet)"


def open_file(parent: QWidget, title: str, kinds: str, then: Callable[[Path], object], at: str = "") -> None:
    """Ask for a file that is to be read, and go on with it when one was chosen."""
    name, _ = QFileDialog.getOpenFileName(parent, title, at, kinds)
    if name:
        then(Path(name))


def save_file(
    parent: QWidget, title: str, suggested: str, kinds: str, then: Callable[[Path], object]
) -> None:
    """Ask where a file is to be written, and go on with the place when one was chosen."""
    name, _ = QFileDialog.getSaveFileName(parent, title, suggested, kinds)
    if name:
        then(Path(name))


def choose_folder(parent: QWidget, title: str, then: Callable[[Path], object], at: str = "") -> None:
    if name := QFileDialog.getExistingDirectory(parent, title, at):
        then(Path(name))


def path_button(
    words: str, title: str, then: Callable[[Path], object], kinds: str = "", role: str = "", **settings: Any
) -> QPushButton:
    """A button that asks for a file of these kinds, or for a folder where none are named."""
    made = push_button(
        words,
        lambda: open_file(made, title, kinds, then) if kinds else choose_folder(made, title, then),
        role,
        **settings,
    )
    return made


def add_entry(entries: QListWidget, words: str, data: object = None, tip: str = "") -> QListWidgetItem:
    """A further entry of a list, which holds `data` for whoever chooses it."""
    entry = QListWidgetItem(words)
    entry.setData(Qt.ItemDataRole.UserRole, data)
    entry.setToolTip(tooltip(tip))
    entries.addItem(entry)
    return entry


def show_tabs(bar: QTabBar, tabs: Iterable[tuple[str, str]], current: int) -> None:
    """Have tabs with these titles and tooltips, and one of them in front; tells nobody."""
    with QSignalBlocker(bar):
        while bar.count():
            bar.removeTab(0)
        for title, tip in tabs:
            bar.setTabToolTip(bar.addTab(title.replace("&", "&&")), tooltip(tip))
        bar.setCurrentIndex(current)


def later(
    owner: QObject, do: Callable[[], object] | SignalInstance, after_ms: int, *, again: bool = False
) -> QTimer:
    """A timer to start: it acts once, or `again` and again until it is stopped."""
    timer = QTimer(owner, singleShot=not again, interval=after_ms)
    timer.timeout.connect(do)
    return timer


_LEAST_LETTERS = 6


class ElidedLabel(Refitting, PlainLabel):
    """A label of one line; line breaks in its text are shown as spaces."""

    _whole = ""

    def __init__(self, text: str = "", role: str = "", **settings: Any) -> None:
        super().__init__("", role, **settings)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        before, self._whole = self._whole, " ".join(text.split())
        if before and self._whole and self.sizePolicy().horizontalPolicy() == QSizePolicy.Policy.Ignored:
            # Other words need the same room: what lies around them is not laid out again.
            self.update()
        else:
            super().setText(self._whole)
        self.setAccessibleName(self._whole)
        self.refit()

    def text(self) -> str:
        return self._whole

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(self.fontMetrics().averageCharWidth() * _LEAST_LETTERS, hint.height())

    def elided(self) -> str:
        return self.fontMetrics().elidedText(
            self._whole, Qt.TextElideMode.ElideRight, self.contentsRect().width()
        )

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.setLayoutDirection(direction_of(self._whole))
        where = self.alignment() | Qt.AlignmentFlag.AlignAbsolute
        painter.drawText(self.contentsRect(), int(where), self.elided())

    def refit(self) -> None:
        self.setToolTip(tooltip(self._whole) if self.elided() != self._whole else "")


# Qt looks again whether a scroll bar is needed at every size that the look itself leads to, some seven deep where rows
# break into lines. Such rows may be higher in a wider room, and it would go on permanently: deeper than this the bar is
# kept, and deeper than twice this nothing is tried until what stands inside was laid out.
LOOKS = 12


class PlainArea(QScrollArea):
    """As wide as its room, scrolled vertically; Tab skips the area itself."""

    def __init__(self, name: str, inside: QWidget | None = None) -> None:
        super().__init__()
        self._looks = 0
        self._bar_kept_at: QSize | None = None
        # Of a viewport that Qt makes, Python has to find out what it is when it is first asked for: 5 ms of a start.
        self.setViewport(QWidget())
        with_properties(
            self,
            widgetResizable=True,
            frameShape=QFrame.Shape.NoFrame,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            focusPolicy=Qt.FocusPolicy.NoFocus,
            accessibleName=name,
        )
        if inside is not None:
            self.setWidget(inside)

    def minimumSizeHint(self) -> QSize:
        """As wide as what stands in it needs, since across it does not scroll."""
        hint, inside = super().minimumSizeHint(), self.widget()
        if inside is None or self.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
            return hint
        wide = inside.minimumSizeHint().expandedTo(inside.minimumSize()).width()
        return hint.expandedTo(QSize(wide + self.verticalScrollBar().sizeHint().width(), 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another size of the room may call for scroll bars, or do without the one that was kept."""
        if not self._looks and self._bar_kept_at not in (None, self.size()):
            self._bar_kept_at = None
            self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        with self._look() as may:
            if may:
                super().resizeEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.widget() and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        if event.type() != QEvent.Type.Resize:
            return super().eventFilter(watched, event)
        with self._look() as may:
            return super().eventFilter(watched, event) if may else False

    @contextmanager
    def _look(self) -> Iterator[bool]:
        """One look among those that led to it, and whether it may be had."""
        self._looks += 1
        try:
            if self._looks > LOOKS and self._bar_kept_at is None:
                self._bar_kept_at = self.size()
                self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
            yield self._looks <= 2 * LOOKS
        finally:
            self._looks -= 1


class KeylessArea(PlainArea):
    """Scrolls by the wheel and to visible widgets; keys are left to the page."""

    resized = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.resized.emit()


def direction_of(text: str) -> Qt.LayoutDirection:
    """The direction of a text's first strong letter; that of the surroundings when it has none."""
    for letter in text[:1000]:
        kind = unicodedata.bidirectional(letter)
        if kind == "L":
            return Qt.LayoutDirection.LeftToRight
        if kind in ("R", "AL"):
            return Qt.LayoutDirection.RightToLeft
    return Qt.LayoutDirection.LayoutDirectionAuto
