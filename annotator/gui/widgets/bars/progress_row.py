"""Progress of long work: what, how many, time left."""

import time

from PySide6.QtWidgets import QProgressBar, QWidget

from annotator.gui.widgets.basics import PlainLabel, horizontal, vertical
from annotator.gui.widgets.elided_label import ElidedLabel

# Before this share and time have passed, what is left cannot be told from what is done.
_SHARE_TO_TELL = 0.03
_SECONDS_TO_TELL = 2.0


class ProgressRow(QWidget):
    """A line of words over a bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._what, self._count = ElidedLabel(), PlainLabel(role="hint")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._begun: tuple[str, float] = ("", 0.0)
        vertical(horizontal((self._what, 1), self._count), self._bar, on=self, margins=0, spacing=4)

    def show_progress(self, what: str, done: int, total: int, left_s: float | None = None) -> None:
        """Show that `done` of `total` are through; a total of 0 means that nobody knows how many there are.

        Without `left_s`, seconds still to go, they are estimated from the time so far.
        """
        if self._begun[0] != what or done == 0:
            self._begun = (what, time.monotonic())
        left = left_s if left_s is not None else self._estimate(done, total)
        self._what.setText(what)
        self._bar.setRange(0, total)
        self._bar.setValue(min(done, total))
        counted = f"{done:,} of {total:,}" if total else ""
        self._count.setText(" · ".join(part for part in (counted, left_in_words(left)) if part))
        self._bar.setAccessibleName(f"{what} {self._count.text()}")

    def _estimate(self, done: int, total: int) -> float | None:
        passed = time.monotonic() - self._begun[1]
        if not total or done >= total or done < total * _SHARE_TO_TELL or passed < _SECONDS_TO_TELL:
            return None
        return passed / done * (total - done)


def left_in_words(seconds: float | None) -> str:
    """How long still, as one would say it: “about 3 min left”; empty when that is not known."""
    if seconds is None:
        return ""
    if seconds < 5:
        return "a few seconds left"
    if seconds < 55:
        return f"about {round(seconds / 5) * 5} s left"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"about {max(1, minutes)} min left"
    return f"about {minutes // 60} h {minutes % 60:02} min left"
