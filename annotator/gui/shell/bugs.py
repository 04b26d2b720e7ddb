"""Crash screen: work is safe, the report can be copied, and the program closes in order."""

import sys
import traceback
from contextlib import suppress
from types import TracebackType

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QWidget

from annotator import __version__
from annotator.domain.texts.redaction import held, redact
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.basics import PlainLabel, push_button, vertical


class BugPage(QWidget):
    """A page about a program error, with a report to send."""

    def __init__(self, report: str) -> None:
        super().__init__()
        self.setWindowTitle("Goldsmith — a fault in the program")
        self.resize(760, 480)
        said = PlainLabel(
            "Something went wrong inside Goldsmith. Everything you did is saved in the project file. "
            "Please copy this report and send it to the maintainers of Goldsmith, then restart the program.",
            wrap=True,
        )
        text = QPlainTextEdit(report, readOnly=True)
        copy = push_button("Copy the report", lambda: QApplication.clipboard().setText(report))
        vertical(said, text, copy, on=self)
        theme.wear(self)


class _Bell(QObject):
    """Carries a report from any thread to the window's own."""

    rung = Signal(str)
    refused = Signal(object)


_shown: list[BugPage] = []


def _show(report: str) -> None:
    if not _shown:
        page = BugPage(report)
        _shown.append(page)
        page.show()


def _tell(refusal: Refusal) -> None:
    """Say a refusal where the window in use says all others; a fault where no window says anything."""
    for window in (QApplication.activeWindow(), *QApplication.topLevelWidgets()):
        bar = getattr(window, "messages", None)
        if isinstance(bar, MessageBar) and bar.window().isVisible():
            bar.show_message("warning", refusal.happened, refusal.todo)
            return
    _show(str(refusal))


_bell = _Bell()
_bell.rung.connect(_show)
_bell.refused.connect(_tell)


def install() -> None:
    """From now on an unforeseen error shows the page instead of vanishing in a terminal nobody sees."""
    sys.excepthook = report


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show the report, on whatever thread it came up; after the first one the rest only go to the error stream.

    A refusal that nobody has told is no fault: it is told.
    """
    if isinstance(error, Refusal) and QApplication.instance() is not None:
        _bell.refused.emit(error)
        return
    words = redact("".join(traceback.format_exception(kind, error, trace)), held())
    # A terminal that was closed must not keep the page from being shown.
    with suppress(OSError, ValueError):
        sys.stderr.write(words)
    if QApplication.instance() is None or issubclass(kind, KeyboardInterrupt):
        return
    # A window made on a background task's thread ends the program.
    _bell.rung.emit(f"Goldsmith {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n\n{words}")
