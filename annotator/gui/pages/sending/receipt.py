"""The receipt of a sent file: its code in large type, and what to do next."""

from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy

from annotator.actions.parcels.sending import SendingOverview
from annotator.gui.review.moments import moment
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel

COPY = "Copy the code"
EARLIER = 4


class Receipt(QFrame):
    """The newest file's code; earlier ones in a line."""

    def __init__(self) -> None:
        super().__init__()
        self._path: Path | None = None
        self.setProperty("role", "card")
        self.code, self.about = PlainLabel(role="headline"), PlainLabel(wrap=True)
        self.code.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.earlier = PlainLabel(role="hint", wrap=True)
        self.copy, self.look = QPushButton(COPY), QPushButton("Open the folder")
        self.copy.clicked.connect(self._copy)
        self.look.clicked.connect(self._open_folder)
        row = horizontal(
            self.code, (vertical(self.about, self.earlier), 1), on=self, margins=(16, 12, 16, 12), spacing=20
        )
        for button in (self.copy, self.look):
            button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            row.addWidget(button)
        self.hide()

    def show_sent(self, found: SendingOverview, path: Path | None) -> None:
        """Show what was sent last; `path` is where it lies, if that is known."""
        self._path = path
        self.setVisible(bool(found.sent))
        if not found.sent:
            return
        last = found.sent[0]
        self.code.setText(last.receipt)
        self.code.setAccessibleName(f"Receipt code {last.receipt}")
        self.copy.setText(COPY)
        self.about.setText(
            f"This is the receipt code of “{last.file}”, written {moment(last.at)}. Mail that file to the "
            "sender of your task. They see the same code once it has arrived; ask them for it."
        )
        earlier = ", ".join(f"{sent.receipt} ({moment(sent.at)})" for sent in found.sent[1 : EARLIER + 1])
        told = ["You have submitted more since: write the file again."] if found.news else []
        self.earlier.setText(" ".join([*told, *([f"Earlier codes: {earlier}."] if earlier else [])]))
        self.earlier.setVisible(bool(self.earlier.text()))
        self.look.setVisible(path is not None)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.code.text())
        self.copy.setText("Copied")

    def _open_folder(self) -> None:
        if self._path is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._path.parent)))
