"""Confirmation before a link of foreign text is opened, with the full address."""

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QDialog, QPlainTextEdit, QPushButton, QWidget

from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical

SCHEMES = ("http", "https")


class LinkQuestion(QDialog):
    """Shows the whole address; Cancel has the focus."""

    def __init__(self, url: QUrl, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._url = url
        self.setWindowTitle("Open this link?")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        address = url.toString(QUrl.ComponentFormattingOption.FullyEncoded)
        shown = QPlainTextEdit(address)
        shown.setReadOnly(True)
        shown.setTabChangesFocus(True)
        shown.setAccessibleName("The whole address")
        shown.setFixedHeight(shown.fontMetrics().lineSpacing() * 5)
        self.opening, copy, cancel = (
            QPushButton("Open in browser"),
            QPushButton("Copy address"),
            QPushButton("Cancel"),
        )
        self.opening.clicked.connect(self._open)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(address))
        cancel.clicked.connect(self.reject)
        buttons = horizontal(copy, StretchSpace(1), self.opening, cancel)
        host = url.host(QUrl.ComponentFormattingOption.FullyEncoded)
        vertical(PlainLabel(f"It opens {host}.", "strong"), shown, buttons, on=self)
        cancel.setDefault(True)
        cancel.setFocus()
        self.resize(560, self.sizeHint().height())

    def _open(self) -> None:
        self.accept()
        QDesktopServices.openUrl(self._url)


def ask_to_open(parent: QWidget, url: str) -> LinkQuestion | None:
    """Ask whether to open an address of the web; None, and nothing asked, for any other kind of address."""
    parsed = QUrl(url)
    if not parsed.isValid() or parsed.scheme().lower() not in SCHEMES or not parsed.host():
        return None
    question = LinkQuestion(parsed, parent)
    question.open()
    return question
