"""Panel of a run, wherever one is started: progress, cost, what is missing, and Pause and Stop."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from annotator.domain.texts.counting import counted, usd
from annotator.gui import keys, theme
from annotator.gui.desk.run import BackgroundRun
from annotator.gui.review.judge_words import causes_words, doing
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import horizontal, vertical
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.elided_label import ElidedLabel

# Where it is narrower, the buttons leave their keys to the tooltip.
ROOM_FOR_KEYS = 420
STARTING = Chip("Starting", "clock", "incomplete")


class RunPanel(QWidget):
    """Hidden while nothing runs. The keys are the window's own: they work on every page."""

    def __init__(self, run: BackgroundRun) -> None:
        super().__init__()
        self.run = run
        self.title, self.progress, self.chips = ElidedLabel("", "strong"), ProgressRow(), Chips()
        self.hold, self.cancel = KeyButton("Pause"), KeyButton("Stop")
        self.hold.set_hint("Send no further questions until resumed; pending ones are answered")
        self.cancel.set_hint("Stop the run; finished work is kept")
        self.hold.clicked.connect(run.hold)
        self.cancel.clicked.connect(run.cancel)
        head = horizontal((self.title, 1), self.hold, self.cancel)
        vertical(head, self.progress, self.chips, on=self, margins=0, spacing=6)
        keys.tell(self.hold, "key", "{hold_run}")
        keys.tell(self.cancel, "key", "{stop_run}")
        self.hide()
        run.changed.connect(self._show)
        run.progressed.connect(lambda _: self._show_line())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for button in (self.hold, self.cancel):
            button.show_brief(self.width() < theme.current().px(ROOM_FOR_KEYS))

    def _show(self) -> None:
        run = self.run
        if run.running:
            self.title.setText(run.title)
            self.hold.set_words("Resume" if run.held else "Pause")
            for button in (self.hold, self.cancel):
                button.setEnabled(not run.stopping)
            self._show_line()
            self.show()
        else:
            self.hide()

    def _show_line(self) -> None:
        line = self.run.line
        self.chips.show_chips(chips(line) if line else [STARTING])
        if self.run.stopping:
            self.progress.show_progress("Stopping; finished work is kept", 0, 0)
        elif not line:
            self.progress.show_progress("Starting", 0, 0)
        else:
            what = doing(line, "Pausing" if self.run.held else _speed(line))
            self.progress.show_progress(what, int(line["done"]), int(line["total"]), line.get("left_s"))


def _speed(line: Mapping[str, Any]) -> str:
    rate, running = line.get("rate"), line.get("running")
    said = [f"{rate:,.1f} per second"] if rate else []
    return " · ".join([*said, f"{running:,} in progress"] if running else said) or "In progress"


def chips(line: Mapping[str, Any]) -> list[Chip]:
    """What a run came to so far, in pills."""
    if "by_state" in line:
        return _pages(line["by_state"])
    missing = line.get("missing") or {}
    cost = line.get("cost_usd")
    made = [Chip(counted(line.get("calls", 0), "call"), "link", "missing")]
    if line.get("reused"):
        made.append(Chip(f"{line['reused']:,} from the cache", "restore", "agreed"))
    if cost is not None:
        made.append(Chip(f"{usd(cost)} spent", "info", "unconfirmed"))
    elif line.get("calls"):
        made.append(Chip("cost not known", "info", "missing"))
    came = int(line.get("judged_now", 0)) - sum(missing.values())
    made.append(Chip(f"{came:,} came now", "check", "agreed"))
    if missing:
        made.append(Chip(f"missing: {causes_words(missing)}", "warning", "unconfirmed"))
    if len(line.get("models") or ()) > 1:
        made.append(Chip(f"answers as {', '.join(line['models'])}", "warning", "disagree"))
    return made


def _pages(by_state: Mapping[str, int]) -> list[Chip]:
    read = by_state.get("ok", 0)
    unread = sum(by_state.values()) - read
    made = [Chip(f"{counted(read, 'page')} read", "check", "agreed")]
    return [*made, Chip(f"{unread:,} could not be read", "warning", "unconfirmed")] if unread else made
