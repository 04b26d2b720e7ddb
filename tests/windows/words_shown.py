"""Every text that a window shows or tells, for tests that something is not there."""

from collections.abc import Iterator
from itertools import product

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

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
    # What Qt calls a list has one column, and does not let itself be asked.
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
    for row, column in product(range(model.rowCount(QModelIndex())), range(columns)):
        for role in (*ROLES, Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1):
            yield repr(model.index(row, column, QModelIndex()).data(role))
