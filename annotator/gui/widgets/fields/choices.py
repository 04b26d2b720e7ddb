"""Combo boxes: long entries, and replacing the entries."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QPoint, QSignalBlocker, Qt
from PySide6.QtGui import QHelpEvent, QPaintEvent, QPalette
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QToolTip

from annotator.gui.widgets.basics import tooltip

# A list that drops down has at most this many rows; its frame takes this much at most (px).
MOST_ROWS, AROUND_ROWS = 16, 24


class ChoiceBox(QComboBox):
    """A combo box that elides long entries, with the whole in a tooltip."""

    def keep_short(self, letters: int) -> None:
        """Ask for room for so many letters, however long the entries are."""
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(letters)

    def showPopup(self) -> None:
        """Show only whole rows, as many as there is room for, as wide as the longest entry up to the window's width."""
        screen, top = self.screen().availableGeometry(), self.mapToGlobal(QPoint(0, 0)).y()
        room = max(top - screen.top(), screen.bottom() - top - self.height()) - AROUND_ROWS
        self.setMaxVisibleItems(max(1, min(MOST_ROWS, room // max(1, self.view().sizeHintForRow(0)))))
        rows = self.view()
        rows.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        whole = rows.sizeHintForColumn(0) + AROUND_ROWS + rows.verticalScrollBar().sizeHint().width()
        rows.setMinimumWidth(min(whole, self.window().width()))
        for row in range(self.count()):
            # An entry that is cut is whole in its tooltip.
            if whole > self.window().width() and not self.itemData(row, Qt.ItemDataRole.ToolTipRole):
                self.setItemData(row, tooltip(self.itemText(row)), Qt.ItemDataRole.ToolTipRole)
        super().showPopup()

    def elided(self) -> str:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self._fitted(option)

    def _fitted(self, option: QStyleOptionComboBox) -> str:
        parts, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(parts, option, part, self).width()
        return self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw as much of the words as there is room for."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        option.currentText = self._fitted(option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and not self.toolTip():
            words = self.currentText()
            QToolTip.showText(event.globalPos(), tooltip(words) if self.elided() != words else "", self)
            return True
        return super().event(event)


def offer(combo: QComboBox, choices: Iterable[tuple[str, str]]) -> None:
    """Offer choices, each in words and with its value, and tell nobody; the first holds where the former is gone."""
    kept = combo.currentData()
    with QSignalBlocker(combo):
        combo.clear()
        for words, value in choices:
            combo.addItem(words, value)
        combo.setCurrentIndex(max(0, combo.findData(kept)))
