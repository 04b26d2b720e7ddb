"""How the window says what came about out of sight: a job that ended, a change that was undone; with a way to it."""

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

if TYPE_CHECKING:
    from annotator.gui.window import Window


class Ends(QObject):
    """The page is brought into view only when that is asked for."""

    def __init__(self, window: "Window") -> None:
        super().__init__(window)
        self._window = window
        window.desk.ended.connect(self._show)
        window.desk.turned.connect(self._show_turned)

    def _show_turned(self, words: str, page: str, place: dict[str, Any]) -> None:
        """Say what was undone or redone, where the page in view does not show it."""
        if page != self._window.page.NAME:
            self._show(words, page, place)

    def _show(self, words: str, page: str, place: dict[str, Any]) -> None:
        self._window.messages.show_message("success", words)
        self._window.messages.set_action("Show", partial(self._go, page, place))

    def _go(self, page: str, place: dict[str, Any]) -> None:
        self._window.messages.clear()
        self._window.show_page(page, **place)
