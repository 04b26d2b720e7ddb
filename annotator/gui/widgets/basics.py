"""Labels of plain text, buttons, layouts and file dialogs: the basic parts of every page."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
    QAbstractButton,
    QBoxLayout,
    QButtonGroup,
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
    """A frame; `role` selects its style in the style sheet."""

    def __init__(self, role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        if role:
            self.setProperty("role", role)


class Refitting:
    """A widget that adapts its content in `refit` whenever its size changes."""

    def refit(self) -> None:
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)  # type: ignore[misc]
        self.refit()


class PlainLabel(QLabel):
    """A label that shows all lines of a plain text; `role` selects its style in the style sheet."""

    def __init__(self, text: str = "", role: str = "", wrap: bool = False, **settings: Any) -> None:
        super().__init__(textFormat=Qt.TextFormat.PlainText, wordWrap=wrap, **settings)
        self._lines = 0
        if role:
            self.setProperty("role", role)
        self.setText(text)

    def show_words(self, words: str) -> None:
        """Show a text; an empty one hides the label."""
        self.setText(words)
        self.setVisible(bool(words))

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        # Out of view it may not have been given its width yet.
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
    """Wrap the entries of a list so that they are shown in full at any width."""
    with_properties(
        entries,
        wordWrap=True,
        textElideMode=Qt.TextElideMode.ElideNone,
        resizeMode=QListWidget.ResizeMode.Adjust,
        horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
    )


def tooltip(text: str) -> str:
    """A tooltip that shows a text literally: Qt would interpret anything that looks like markup."""
    # Loads a table of all entities, which no start needs.
    from html import escape

    return f"<qt>{escape(text).replace(chr(10), '<br>')}</qt>" if text else ""


def push_button(
    words: str, press: Callable[..., object] | SignalInstance, role: str = "", **settings: Any
) -> QPushButton:
    """A button that calls `press`; `role` selects its style in the style sheet."""
    made = QPushButton(words, **settings)
    if role:
        made.setProperty("role", role)
    made.clicked.connect(press)
    return made


def check_box(words: str, turn: Callable[[], object], **settings: Any) -> QCheckBox:
    """A check box that calls `turn` whenever it is ticked or unticked."""
    made = QCheckBox(words, **settings)
    made.toggled.connect(lambda _: turn())
    return made


def check_only(group: QButtonGroup, button: QAbstractButton | None) -> None:
    """Check one button of an exclusive group, or none of them."""
    group.setExclusive(False)
    for each in group.buttons():
        each.setChecked(each is button)
    group.setExclusive(True)


Shown = TypeVar("Shown", bound=QWidget)


def with_properties(widget: Shown, **properties: Any) -> Shown:
    """Set properties of a widget and return it: Qt's own, and those used by the style sheet, such as `role`."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    return widget


Margins = int | tuple[int, int, int, int]


class StretchSpace(int):
    """Stretchable space, with its stretch factor."""


# A widget or layout, optionally with its stretch factor and alignment; a fixed space in pixels; or stretchable space.
Part = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]


def horizontal(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Parts side by side; `on` is the widget that gets the layout."""
    layout = QHBoxLayout()
    _fill(layout, parts, on, margins, spacing)
    return layout


def vertical(
    *parts: Part, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Parts one below the other; `on` is the widget that gets the layout."""
    layout = QVBoxLayout()
    _fill(layout, parts, on, margins, spacing)
    return layout


def add_row(column: QBoxLayout, *parts: Part) -> None:
    """Add a row of parts to a layout that is already on a widget; for the order see `_fill`."""
    row = QHBoxLayout()
    column.addLayout(row)
    _fill(row, parts)


def grow_by_width(widget: QWidget, across: QSizePolicy.Policy = QSizePolicy.Policy.Preferred) -> None:
    """Let a widget be as high as its parts need at its width."""
    policy = QSizePolicy(across, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    widget.setSizePolicy(policy)


def column_of(*parts: Part, margins: Margins | None = 0, spacing: int | None = None) -> QWidget:
    made = QWidget()
    vertical(*parts, on=made, margins=margins, spacing=spacing)
    return made


def take_out(layout: QLayout | QStackedWidget, *parts: QWidget) -> None:
    """Remove widgets from a layout and delete them."""
    for part in parts:
        layout.removeWidget(part)
        part.deleteLater()


class Stack(QStackedWidget):
    """Stacked widgets, the first one in view; no larger than the one in view needs."""

    def __init__(self, *parts: QWidget) -> None:
        super().__init__()
        for part in parts:
            self.addWidget(part)
        self.currentChanged.connect(lambda _: self.updateGeometry())

    def minimumSizeHint(self) -> QSize:
        return least_size(self.currentWidget())


def show_folder(folder: Path | None) -> None:
    """Open a folder in the system's file manager."""
    if folder is not None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


def least_size(part: QWidget | None) -> QSize:
    """The minimum size of a widget, from its contents or as set explicitly."""
    return QSize(0, 0) if part is None else part.minimumSizeHint().expandedTo(part.minimumSize())


def _fill(
    layout: QBoxLayout,
    parts: tuple[Part, ...],
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> None:
    """Put parts into a layout, and then set the layout on a widget.

    The order matters: adding a layout to one that is already on a widget makes PySide wrap the items that Qt made. The
    wrappers outlive the items, and are later taken for whatever is at the same address.
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
                # As wide as its label, so that its focus frame is, too.
                layout.setAlignment(one, Qt.AlignmentFlag.AlignLeft)
    if on is not None:
        on.setLayout(layout)


TABLES = "Tables (*.csv *.tsv *.xlsx *.json *.jsonl *.parquet)"


def open_file(parent: QWidget, title: str, kinds: str, then: Callable[[Path], object], at: str = "") -> None:
    """Ask for a file to read, and call `then` with it unless cancelled."""
    name, _ = QFileDialog.getOpenFileName(parent, title, at, kinds)
    if name:
        then(Path(name))


def save_file(
    parent: QWidget, title: str, suggested: str, kinds: str, then: Callable[[Path], object]
) -> None:
    """Ask where to write a file, and call `then` with the path unless cancelled."""
    name, _ = QFileDialog.getSaveFileName(parent, title, suggested, kinds)
    if name:
        then(Path(name))


def choose_folder(parent: QWidget, title: str, then: Callable[[Path], object], at: str = "") -> None:
    if name := QFileDialog.getExistingDirectory(parent, title, at):
        then(Path(name))


def path_button(
    words: str, title: str, then: Callable[[Path], object], kinds: str = "", role: str = "", **settings: Any
) -> QPushButton:
    """A button that asks for a file of these kinds, or for a folder if there are none."""
    made = push_button(
        words,
        lambda: open_file(made, title, kinds, then) if kinds else choose_folder(made, title, then),
        role,
        **settings,
    )
    return made


def add_entry(entries: QListWidget, words: str, data: object = None, tip: str = "") -> QListWidgetItem:
    """Add an entry with `data` to a list, and return it."""
    entry = QListWidgetItem(words)
    entry.setData(Qt.ItemDataRole.UserRole, data)
    entry.setToolTip(tooltip(tip))
    entries.addItem(entry)
    return entry


def show_tabs(bar: QTabBar, tabs: Iterable[tuple[str, str]], current: int) -> None:
    """Show these tabs (title, tooltip), with one of them current, without emitting."""
    with QSignalBlocker(bar):
        while bar.count():
            bar.removeTab(0)
        for title, tip in tabs:
            bar.setTabToolTip(bar.addTab(title.replace("&", "&&")), tooltip(tip))
        bar.setCurrentIndex(current)


def later(
    owner: QObject, do: Callable[[], object] | SignalInstance, after_ms: int, *, again: bool = False
) -> QTimer:
    """A timer to be started: it fires once, or `again` and again until it is stopped."""
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
            # Any text needs the same space: the surrounding layout is not invalidated.
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


# Qt checks whether a scroll bar is needed at every size the check itself leads to, some seven levels deep if rows wrap.
# Such rows may be higher in a wider area, which would go on forever: beyond LOOKS levels the bar is kept, and beyond
# twice as many nothing is tried until the content was laid out.
LOOKS = 12


class PlainArea(QScrollArea):
    """A scroll area as wide as its space, scrolled vertically; Tab skips the area itself."""

    def __init__(self, name: str, inside: QWidget | None = None) -> None:
        super().__init__()
        self._looks = 0
        self._bar_fixed_at: QSize | None = None
        # Python must look up the type of a viewport that Qt makes, when it is first accessed: 5 ms of a start.
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
        """As wide as the content needs, because it does not scroll horizontally."""
        hint, inside = super().minimumSizeHint(), self.widget()
        if inside is None or self.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
            return hint
        wide = inside.minimumSizeHint().expandedTo(inside.minimumSize()).width()
        return hint.expandedTo(QSize(wide + self.verticalScrollBar().sizeHint().width(), 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Decide again about scroll bars at another size, also about one that was kept."""
        if not self._looks and self._bar_fixed_at not in (None, self.size()):
            self._bar_fixed_at = None
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
        """Enter one level of checks; yields whether it may go on."""
        self._looks += 1
        try:
            if self._looks > LOOKS and self._bar_fixed_at is None:
                self._bar_fixed_at = self.size()
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
    """The direction of the first strong letter among 1 000; the layout's own if there is none."""
    for letter in text[:1000]:
        kind = unicodedata.bidirectional(letter)
        if kind == "L":
            return Qt.LayoutDirection.LeftToRight
        if kind in ("R", "AL"):
            return Qt.LayoutDirection.RightToLeft
    return Qt.LayoutDirection.LayoutDirectionAuto
