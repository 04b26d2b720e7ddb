"""What a person does with a window: keys go to whatever has the focus, and what was asked for is waited for.

Every text that a window shows or tells, for tests that something is not there.
"""

import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import (
    QAbstractItemModel,
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QPoint,
    Qt,
    QTimer,
    QUrl,
)
from PySide6.QtGui import QAction, QDropEvent, QKeySequence, QPixmap
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QTabBar,
    QTableView,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

Widget = TypeVar("Widget", bound=QWidget)
PATIENCE_S = 15.0
# Long enough for what was changed to be drawn.
TURN_MS = 5
# What waits longer is no pause before something that was asked for.
PAUSE_MS = 1000
HERE = Qt.FindChildOption.FindDirectChildrenOnly


def settle(page: Any) -> Any:
    """A page once it and its window are at rest; tasks_behind come home and pauses end at once."""
    deadline, quiet = time.monotonic() + PATIENCE_S, 0
    while quiet < 2 and time.monotonic() < deadline:
        ended = _end_pauses([*page.findChildren(QTimer), *page.window().findChildren(QTimer, options=HERE)])
        QTest.qWait(TURN_MS)
        page.session.wait()
        quiet = 0 if ended or page.session._tasks_behind else quiet + 1
    return page


def _end_pauses(timers: list[QTimer]) -> bool:
    """Do now what is to be done after a pause; whether there was any."""
    pauses = [
        each for each in timers if each.isActive() and each.isSingleShot() and each.interval() < PAUSE_MS
    ]
    for pause in pauses:
        # One may have ended another.
        if isValid(pause) and pause.isActive():
            pause.stop()
            pause.timeout.emit()
    return bool(pauses)


def in_view(whole: QWidget) -> Iterator[QWidget]:
    """What is seen of a widget, however deep; what lies in a hidden part is not even looked at."""
    for part in whole.children():
        if isinstance(part, QWidget) and part.isVisible():
            yield part
            yield from in_view(part)


def shut(window: QWidget) -> None:
    """Close a window; one with a job in progress closes by itself once that is done."""
    if isValid(window) and not window.close():
        deadline = time.monotonic() + 4 * PATIENCE_S
        while isValid(window) and window.isVisible():
            assert time.monotonic() < deadline, "its job does not end"
            QTest.qWait(TURN_MS)


def owned(qtbot, widget: Widget, *size: int) -> Widget:
    """A widget that is closed after the test, shown if a width and a height are given."""
    qtbot.addWidget(widget)
    if size:
        widget.resize(*size)
        widget.show()
    return widget


def inks(picture: QPixmap) -> set[str]:
    image = picture.toImage()
    points = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    return {colour.name() for colour in points if colour.alpha() == 255}


def be_active(window: Widget, qtbot) -> Widget:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is window.window())
    return window


def drop(widget: QWidget, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    widget.dropEvent(
        QDropEvent(
            QPoint(5, 5), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
    )  # fmt: skip


class Typed(str):
    """Words to be typed among keys to be pressed."""


def press(*keys: str | int, at: QWidget | None = None) -> None:
    """Press keys one after the other, at a widget if one is given.

    A number behind a key says how often it is pressed, and `Typed` words are typed.
    """
    if at is not None:
        at.setFocus()
    for key, behind in zip(keys, (*keys[1:], 1), strict=True):
        if isinstance(key, Typed):
            type_words(key)
        elif isinstance(key, str):
            combination = QKeySequence(key)[0]
            for _ in range(behind if isinstance(behind, int) else 1):
                QTest.keyClick(focus(), combination.key(), combination.keyboardModifiers())


def type_words(words: str) -> None:
    QTest.keyClicks(focus(), words, Qt.KeyboardModifier.NoModifier)


def focus() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the focus"
    return widget


ROLES = [Qt.ItemDataRole(role) for role in range(14)]


def all_words(whole: QWidget) -> list[str]:
    """Every text on a widget and anywhere below it, and of its acts."""
    result = [word for widget in (whole, *whole.findChildren(QWidget)) for word in words_of(widget)]
    actions = whole.findChildren(QAction)
    return [*result, *(text for action in actions for text in (action.text(), action.toolTip()))]


def words_of(widget: QWidget) -> Iterator[str]:
    """Every text a widget shows or tells: on it, in its tooltip, to a screen reader, in its model."""
    yield from (
        widget.toolTip(), widget.whatsThis(), widget.statusTip(), widget.accessibleName(),
        widget.accessibleDescription(), widget.windowTitle(), widget.objectName(),
    )  # fmt: skip
    if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
        yield widget.text()
    if isinstance(widget, QLineEdit | QPlainTextEdit):
        yield widget.placeholderText()
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        yield widget.toPlainText()
    if isinstance(widget, QTextEdit):
        yield widget.toHtml()
    if isinstance(widget, QAbstractItemView) and widget.model() is not None:
        yield from words_in(widget.model())
    for name in ("role", "state", "level", "current"):
        yield str(widget.property(name))


def words_in(model: QAbstractItemModel) -> Iterator[str]:
    for index in _indexes(model):
        for role in (*ROLES, Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1):
            yield repr(index.data(role))


def seen_words(whole: QWidget) -> Iterator[str]:
    """What a person meets on a widget as it is now: texts, hints and choices of what is visible, tabs and menus."""
    for widget in (whole, *in_view(whole)):
        yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription())
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
            yield widget.text()
        elif isinstance(widget, QPlainTextEdit | QTextEdit):
            yield f"{widget.placeholderText()} {widget.toPlainText()}"
        elif isinstance(widget, QTabBar):
            shown = (place for place in range(widget.count()) if widget.isTabVisible(place))
            yield from (f"{widget.tabText(place)} {widget.tabToolTip(place)}" for place in shown)
        elif isinstance(widget, QComboBox):
            yield from (widget.itemText(place) for place in range(widget.count()))
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
            hides = isinstance(widget, QListView | QTableView)
            for index in _indexes(widget.model()):
                if not hides or not widget.isRowHidden(index.row()):
                    roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole)
                    yield " ".join(str(index.data(role) or "") for role in roles)
    for action in whole.findChildren(QAction):
        if action.isVisible():
            yield f"{action.text()} {action.toolTip()}"


def _indexes(model: QAbstractItemModel) -> Iterator[QModelIndex]:
    # What Qt calls a list has one column, and does not let itself be asked.
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
    for row, column in product(range(model.rowCount(QModelIndex())), range(columns)):
        yield model.index(row, column, QModelIndex())
