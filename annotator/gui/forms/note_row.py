"""The note below a unit, set apart from the unit's own words by its icon."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from annotator.gui import theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.layouts import horizontal

ICON_SIZE = 16
TOLD = "Note: for yourself and the adjudicator"


class NoteRow(QWidget):
    """An icon and the field of the note."""

    def __init__(self, note: QWidget) -> None:
        super().__init__()
        self._icon = QLabel()
        self._icon.setToolTip(TOLD)
        horizontal((self._icon, 0, Qt.AlignmentFlag.AlignTop), (note, 1), on=self, margins=0, spacing=6)
        self._dress()
        theme.watch(self, self._dress)

    def _dress(self) -> None:
        size = theme.current().px(ICON_SIZE)
        self._icon.setContentsMargins(0, size // 2, 0, 0)
        self._icon.setPixmap(icons.pixmap("note", size, "text-muted", self.devicePixelRatio()))
