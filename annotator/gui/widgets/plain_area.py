"""A scroll area that is only a frame for what stands in it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class PlainArea(QScrollArea):
    """As wide as its room, scrolled up and down; Tab goes through what stands in it and never stops at the area."""

    def __init__(self, name: str, inside: QWidget | None = None) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)
        if inside is not None:
            self.setWidget(inside)
