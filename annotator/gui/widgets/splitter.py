"""A splitter that remembers its place under a name, and moves by the keyboard too."""

from PySide6.QtCore import QByteArray, QSettings, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QSplitterHandle, QWidget

_STEP = 24


class Splitter(QSplitter):
    """Parts whose sizes come back at the next start; none can be folded away by accident."""

    def __init__(
        self,
        name: str,
        orientation: Qt.Orientation = Qt.Orientation.Horizontal,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(orientation, parent)
        self._key = f"splitter/{name}"
        self._restored = False
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(lambda *_: self.remember())

    def remember(self) -> None:
        """Keep the present sizes for the next start."""
        QSettings().setValue(self._key, self.saveState())

    def rename(self, name: str) -> None:
        """Remember sizes under another name from now on."""
        self._key = f"splitter/{name}"

    @property
    def is_fresh(self) -> bool:
        """Whether nobody has moved a handle yet, now or at an earlier start."""
        return not isinstance(QSettings().value(self._key), QByteArray)

    def createHandle(self) -> QSplitterHandle:
        """A handle that the keyboard reaches."""
        return _Handle(self.orientation(), self)

    def showEvent(self, event: QShowEvent) -> None:
        """Take the remembered place when first shown."""
        super().showEvent(event)
        if not self._restored:
            self._restored = True
            stored = QSettings().value(self._key)
            if isinstance(stored, QByteArray):
                self.restoreState(stored)


class _Handle(QSplitterHandle):
    def __init__(self, orientation: Qt.Orientation, parent: QSplitter) -> None:
        super().__init__(orientation, parent)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName("Divider; arrow keys move it")
        self.setToolTip("Drag, or move with the arrow keys")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The arrows across the handle move it."""
        across = self.orientation() == Qt.Orientation.Horizontal
        less, more = (Qt.Key.Key_Left, Qt.Key.Key_Right) if across else (Qt.Key.Key_Up, Qt.Key.Key_Down)
        if event.key() not in (less, more):
            super().keyPressEvent(event)
            return
        place = self.x() if across else self.y()
        self.moveSplitter(place + (_STEP if event.key() == more else -_STEP))
