"""Status bar: last save, progress, running judge, current person."""

from datetime import datetime
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QStatusBar

from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.elided_label import ElidedLabel


class StatusBar(QStatusBar):
    """Words in a fixed order: saved · project · judge run."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self._saved, self._run, self._file = QLabel(), QLabel(), ElidedLabel()
        for label in (self._saved, self._run, self._file):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setContentsMargins(8, 0, 8, 0)
        self.addWidget(self._saved)
        self.addWidget(self._run, 1)
        self.addPermanentWidget(self._file, 1)
        self._file.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._file.setText(desk.project.path.name)
        self._file.setToolTip(str(desk.project.path))
        self._saved.setText("Everything is saved")
        desk.saved.connect(self._show_saved)

    def _show_saved(self, at: datetime) -> None:
        self._saved.setText(f"Saved {at:%H:%M:%S}")

    def say_saved(self) -> None:
        """Answer Ctrl+S: nothing is ever unsaved."""
        self._saved.setText(f"Everything is saved ({datetime.now().astimezone():%H:%M:%S})")

    def show_run(self, line: dict[str, Any] | None) -> None:
        """Show the progress of a judge run, or that none is in progress."""
        if line is None:
            self._run.setText("")
            return
        cost = line.get("cost_usd")
        money = f" ${cost:.2f}" if cost else ""
        self._run.setText(f"Judge run {line.get('done', 0)}/{line.get('total', 0)}{money}")
