"""Messages about background events, such as a finished job or an undone change, with a link."""

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QCloseEvent

if TYPE_CHECKING:
    from annotator.gui.shell.window import Window


class FollowUp(QObject):
    """The page is shown only on request."""

    def __init__(self, window: "Window") -> None:
        super().__init__(window)
        self._window = window
        self._closing = False
        window.desk.free.connect(self._close_now)
        # Why a job was refused is read before the window closes.
        window.desk.refused.connect(self._stay)
        window.desk.ended.connect(self._show)
        window.desk.turned.connect(self._show_turned)

    def hold(self, event: QCloseEvent) -> bool:
        """Whether the window stays open, since a job is in progress; what is waited for is said, and then it closes.

        What is being typed is kept now: a session that ends does not wait.
        """
        if not self._window.desk.job:
            return False
        event.ignore()
        self._window.page.leave()
        self._closing = True
        self._say_waiting()
        return True

    def _say_waiting(self) -> None:
        messages, job = self._window.messages, self._window.desk.job
        messages.show_message(
            "info", f"The window closes when this has finished: {job}.", "Your work is saved.", lasting=True
        )
        messages.set_action("Stop and close", self._stop)
        messages.set_other("Stay", self._choose_to_stay)

    def _stop(self) -> None:
        self._window.messages.show_message("info", "Stopping; then the window closes.", lasting=True)
        self._window.desk.stop_jobs()

    def _close_now(self) -> None:
        if self._closing:
            QTimer.singleShot(0, self._window, self._window.close)

    def _choose_to_stay(self) -> None:
        self._stay()
        self._window.messages.clear()

    def _stay(self) -> None:
        self._closing = False

    def _show_turned(self, words: str, page: str, place: dict[str, Any]) -> None:
        """Say what was undone or redone, where the page in view does not show it."""
        if page != self._window.page.NAME:
            self._show(words, page, place)

    def _show(self, words: str, page: str, place: dict[str, Any]) -> None:
        if self._closing:
            # Another job may still be in progress; the way to stay is not taken away.
            return
        self._window.messages.show_message("success", words)
        self._window.messages.set_action("Show", partial(self._go, page, place))

    def _go(self, page: str, place: dict[str, Any]) -> None:
        self._window.messages.clear()
        self._window.show_page(page, **place)
