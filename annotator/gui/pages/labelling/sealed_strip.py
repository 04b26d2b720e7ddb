"""Notice that an item's labels are submitted, with a reopen button."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel

from annotator.actions.labelling.label_sealing import SealingStatus
from annotator.gui import keys, theme
from annotator.gui.review.moments import moment
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import PlainLabel, horizontal


class SealedStrip(QFrame):
    """Hidden while the labels can be changed."""

    reopen_wanted = Signal()

    def __init__(self, *, readonly: bool) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self._icon, self.words = QLabel(), PlainLabel("", wrap=True)
        self.reopen = KeyButton("Reopen")
        self.reopen.set_hint(
            "Change your labels in a new revision; the submitted ones count until you submit again"
        )
        self.reopen.clicked.connect(self.reopen_wanted)
        horizontal(self._icon, (self.words, 1), self.reopen, on=self, margins=(12, 6, 8, 6))
        self.reopen.setVisible(not readonly)
        theme.set_role(self, level="success")
        self._dress()
        theme.watch(self, self._dress)
        self.rebind()
        self.hide()

    def show_standing(self, standing: SealingStatus | None, key: str) -> None:
        """Say when an item's labels were submitted; None hides the line."""
        self.setVisible(standing is not None)
        if standing is not None:
            when = f" on {moment(standing.sealed_at)}" if standing.sealed_at else ""
            self.words.setText(
                f"Your labels of item {key} are submitted{when} as revision {standing.revision}. They are locked."
            )

    def rebind(self) -> None:
        self.reopen.set_key(keys.shown("reopen_labels"))

    def _dress(self) -> None:
        size = theme.current().px(16)
        self._icon.setPixmap(icons.pixmap("lock", size, "level-success", self.devicePixelRatio()))
