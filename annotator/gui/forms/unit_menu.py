"""Context menu of the current unit, with the keys of its acts."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton

from annotator.domain.kinds.spec import KindSpec
from annotator.gui import keys
from annotator.gui.widgets import icons

# What is asked for, the act whose key is told, the icon, the name.
ACTS = (
    ("note", "note", "note", "Note"),
    ("up", "unit_up", "up", "Move up"),
    ("down", "unit_down", "down", "Move down"),
    ("merge", "merge_unit", "link", "Merge with the one above"),
    ("split", "split_unit", "minus", "Split at the cursor"),
    ("retire", "retire_unit", "remove", "Retire"),
)


class UnitMenu(QToolButton):
    """A small button; Tab passes it by."""

    asked = Signal(str)

    def __init__(self, words: KindSpec, *, given: bool) -> None:
        super().__init__()
        self._acts = ACTS[: 1 if given else None]
        self.setText("⋯")
        self.setProperty("role", "tool")
        self.setToolTip(f"Actions for this {words.unit}")
        self.setAccessibleName(f"Menu of this {words.unit}")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.clicked.connect(self._open)

    def _open(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for ask, act, picture, name in self._acts:
            entry = menu.addAction(icons.icon(picture), f"{name}\t{keys.shown(act)}")
            entry.triggered.connect(lambda _=False, ask=ask: self.asked.emit(ask))
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
