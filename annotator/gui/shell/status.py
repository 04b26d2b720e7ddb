"""Status bar: last save, runs in the background, file."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QLabel, QPushButton, QStatusBar, QWidget

from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.plain import tooltip

if TYPE_CHECKING:
    from annotator.gui.desk.run import BackgroundRun


class StatusBar(QStatusBar):
    """Words in a fixed order: saved · a button for each run, which opens where it is shown · the file."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.setSizeGripEnabled(False)
        self.runs: dict[BackgroundRun, QPushButton] = {}
        """What runs in the background, in the order in which it began."""
        self._saved, self._file = QLabel(), ElidedLabel()
        for label in (self._saved, self._file):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setContentsMargins(8, 0, 8, 0)
        self.addWidget(self._saved)
        self.addPermanentWidget(self._file, 1)
        self._file.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._file.setText(desk.project.path.name)
        self._file.setToolTip(str(desk.project.path))
        self._saved.setText("Everything is saved")
        desk.saved.connect(self._show_saved)
        desk.run_changed.connect(self._show_run)
        self.acts = {
            "hold_run": self._bound("hold_run", lambda run: run.hold()),
            "stop_run": self._bound("stop_run", lambda run: run.cancel()),
        }

    def _bound(self, act: str, verb: "Callable[[BackgroundRun], None]") -> QAction:
        """The keys of an act on the run at hand, on whatever page."""
        action = QAction(self)
        action.setShortcuts(keys.sequences(act))
        action.triggered.connect(lambda: self._act(verb))
        self.addAction(action)
        return action

    def _act(self, verb: "Callable[[BackgroundRun], None]") -> None:
        """On the run that is shown in view, otherwise on the one that began last."""
        seen = [run for run in self.runs if run.is_seen()]
        for run in [*seen, *reversed(self.runs)][:1]:
            verb(run)

    def end_runs(self, page: QWidget) -> None:
        """End the runs of a page that is taken down; what is finished is kept."""
        for run in [run for run in self.runs if run.owner is page or page.isAncestorOf(run.owner)]:
            run.stop()

    def _show_saved(self, at: datetime) -> None:
        self._saved.setText(f"Saved {at:%H:%M:%S}")

    def say_saved(self) -> None:
        """Answer Ctrl+S: nothing is ever unsaved."""
        self._saved.setText(f"Everything is saved ({datetime.now().astimezone():%H:%M:%S})")

    def _show_run(self, run: "BackgroundRun") -> None:
        """Show how far a run is; one that has ended is not in the background any more."""
        if not run.running:
            if (button := self.runs.pop(run, None)) is not None:
                self.removeWidget(button)
                button.deleteLater()
            return
        if run not in self.runs:
            button = self.runs[run] = QPushButton()
            button.setProperty("role", "quiet")
            button.clicked.connect(lambda: self._desk.go(run.page, **run.place))
            self.addWidget(button)
        self.runs[run].setText(run.words())
        self.runs[run].setToolTip(tooltip(f"{run.words()}: show it"))
