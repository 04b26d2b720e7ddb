"""Trials for the self-test: the window paints every page and part once; Qt sorts names, steps through letters and names
months.
"""

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QCollator,
    QDateTime,
    QEventLoop,
    QLocale,
    Qt,
    QTextBoundaryFinder,
    QTimer,
    QTimeZone,
)
from PySide6.QtWidgets import QTabWidget

from annotator.gui.parts import below

if TYPE_CHECKING:
    from annotator.gui.shell.window import Window


def try_window() -> str:
    """Open the sample's window, paint every page with all its parts, and close it; return a summary in words."""
    from annotator.actions.imports import samples
    from annotator.gui.shell.navigation import PAGES
    from annotator.gui.shell.start import make_application
    from annotator.gui.shell.window import Window

    application, faults = make_application(), list[BaseException]()
    hook, sys.excepthook = sys.excepthook, lambda _kind, error, _trace: faults.append(error)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            window = Window(samples.create(Path(folder) / "tried.goldsmith"))
            window.resize(800, 600)
            window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
            window.show()
            parts = sum(_try_page(window, name) for name in PAGES)
            picture = window.grab()
            window.close()
    finally:
        sys.excepthook = hook
    if faults:
        raise RuntimeError(f"{type(faults[0]).__name__}: {faults[0]}") from faults[0]
    return f"{application.platformName()}, {picture.width()} × {picture.height()}, {parts} pages and parts"


def _try_page(window: "Window", name: str) -> int:
    """Paint a page and each of its parts; return the number of parts."""
    tabs = list(below(window.show_page(name), QTabWidget))
    places = [(one, place) for one in tabs for place in range(one.count()) if one.isTabVisible(place)]
    for widget, place in places:
        widget.setCurrentIndex(place)
        _pause()
        window.session.wait()
    _pause()
    window.grab()
    return max(1, len(places))


def _pause() -> None:
    loop = QEventLoop()
    QTimer.singleShot(0, loop.quit)
    loop.exec()


def in_order(names: list[str]) -> list[str]:
    """Names in the order of a file dialog: accented letters beside their base letters, numbers by value."""
    collator = QCollator(QLocale("de"))
    collator.setNumericMode(True)
    return sorted(names, key=collator.sortKey)


def steps(text: str) -> int:
    """The number of caret steps through a text, grapheme by grapheme."""
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    moved = 0
    while finder.toNextBoundary() != -1:
        moved += 1
    return moved


def dated(seconds: int, language: str) -> str:
    """The month and year of a time in seconds since 1970 (UTC), in a language."""
    return QLocale(language).toString(QDateTime.fromSecsSinceEpoch(seconds, QTimeZone.utc()), "MMMM yyyy")
