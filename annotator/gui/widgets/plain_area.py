"""A scroll area that is only a frame for what stands in it."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
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

    def minimumSizeHint(self) -> QSize:
        """As wide as what stands in it needs, since across it does not scroll."""
        hint, inside = super().minimumSizeHint(), self.widget()
        if inside is None or self.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
            return hint
        wide = inside.minimumSizeHint().expandedTo(inside.minimumSize()).width()
        return hint.expandedTo(QSize(wide + self.verticalScrollBar().sizeHint().width(), 0))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What stands in it may need more or less room now."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self.widget():
            self.updateGeometry()
        return super().eventFilter(watched, event)
