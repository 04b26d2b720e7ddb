"""Monospaced text field for a text as it was sent or received."""

from PySide6.QtGui import QFontDatabase

from annotator.gui import theme
from annotator.gui.widgets.fields.typed import TextBox


class RawText(TextBox):
    """A text field that Tab leaves."""

    def __init__(self, name: str, *, readonly: bool = True) -> None:
        super().__init__()
        self.setReadOnly(readonly)
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self._dress()
        theme.watch(self, self._dress)

    def _dress(self) -> None:
        letters = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        letters.setPointSizeF(theme.current().points)
        self.setFont(letters)
