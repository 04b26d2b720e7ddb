"""Every text that a window shows or tells, for tests that something is not there."""

from collections.abc import Iterator
from itertools import product

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
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

from tests.windows.using import in_view

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
