"""The menus as plain data, the font check, and the page for unexpected errors."""

import sys
import traceback
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import (
    QAction,
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QFontMetrics,
    QImage,
    QKeySequence,
    QPainter,
)
from PySide6.QtWidgets import QApplication, QFileDialog, QPlainTextEdit, QWidget
from shiboken6 import isValid

from annotator import __version__, files
from annotator.domain.common import Refusal
from annotator.domain.texts.redaction import held, redact
from annotator.gui import keys, theme
from annotator.gui.shell import navigation
from annotator.gui.shell.frame import Frame
from annotator.gui.widgets.basics import PlainLabel, open_file, push_button, vertical
from annotator.gui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from annotator.gui.shell.window import Window

Entry = tuple[str, str, Callable[[], Any]] | None
# Clipboard acts of a text field; the field itself handles the keys.
CLIPBOARD = (
    ("Cut", QKeySequence.StandardKey.Cut, "cut"),
    ("Copy", QKeySequence.StandardKey.Copy, "copy"),
    ("Paste", QKeySequence.StandardKey.Paste, "paste"),
)
OPENED = "Goldsmith projects and tasks (*.goldsmith *.goldsmith-task)"


def build(window: "Window") -> dict[str, QAction]:
    """Fill the menu bar of a window; return the actions that have keys, by act."""
    acts: dict[str, QAction] = {}
    for title, entries in menus(window):
        menu = window.menuBar().addMenu(title)
        for entry in entries:
            if entry is None:
                menu.addSeparator()
                continue
            act, words, slot = entry
            action = QAction(window)
            keys.tell(action, "text", words)
            if act:
                action.setShortcuts(keys.sequences(act))
                acts[act] = action
            action.triggered.connect(partial(window.session.attempt, slot))
            menu.addAction(action)
    return acts


def menus(window: "Window") -> list[tuple[str, list[Entry]]]:
    """The menus of a window as (title, entries); an entry is (act, words, slot), or None for a separator.

    Words may contain the key of an act, as in “Find {find}”.
    """
    session = window.session
    return [
        ("&File", [
            ("new_project", "New project…", lambda: _new(window)),
            ("open_project", "Open project…", lambda: _open(window)),
            ("", "Close project", lambda: window.other_project_wanted.emit(None)),
            None,
            *_coming_and_going(window),
            ("", "Save a copy…", lambda: _copy(window)),
            ("settings", "Settings…", lambda: window.show_place("Settings")),
            None,
            ("quit", "Quit", lambda: window.window().close()),
        ]),
        ("&Edit", [
            ("undo", "Undo", lambda: window.take_back(session.undo)),
            ("redo", "Redo", lambda: window.take_back(session.redo)),
            None,
            *((("", f"{words}\t{keys.written(key)}", partial(_edit, verb))) for words, key, verb in CLIPBOARD),
            None,
            ("", "Find on this page\t{find}", lambda: _find(window)),
            ("palette", "Find anything…", window.find_anything),
        ]),
        ("&View", [
            ("zoom_in", "Larger", partial(theme.zoom, 1)),
            ("zoom_out", "Smaller", partial(theme.zoom, -1)),
            ("zoom_reset", "Normal size", partial(theme.zoom, 0)),
        ]),
        ("&Help", [
            ("keys", "Keys", window.show_keys),
            ("", "First steps", lambda: window.show_page("Help", topic="first-steps")),
            ("", "About Goldsmith", lambda: window.show_page("Help", topic="about")),
        ]),
    ]  # fmt: skip


def _edit(verb: str) -> None:
    """Cut, copy or paste in the focused widget; do nothing if it has no such method."""
    if (act := getattr(QApplication.focusWidget(), verb, None)) is not None:
        act()


def _find(window: "Window") -> None:
    """Find on the page in view, or in the whole project if the page has no search of its own."""
    if not window.page.press("find"):
        window.find_anything()


def _coming_and_going(window: "Window") -> list[Entry]:
    """The menu entries for import and exchange; for someone working on a task, only the one that sends the work."""
    if window.session.project.from_task:
        return [("exchange", "Send my work…", lambda: window.show_page("Send"))]
    return [("import", "Import…", lambda: window.show_page("Import"))]


def _open(window: "Window") -> None:
    here = str(window.session.project.path.parent)
    open_file(window.page, "Open project", OPENED, window.other_project_wanted.emit, here)


def _new(window: "Window") -> None:
    if path := navigation.create_by_dialog(window.page):
        window.other_project_wanted.emit(path)


def _copy(window: "Window") -> None:
    from annotator.actions.project import backups

    here = window.session.project.path
    suggested = here.with_name(f"{here.stem} copy{here.suffix}")
    name, _ = QFileDialog.getSaveFileName(window.page, "Save a copy", str(suggested), navigation.FILES)
    if not name:
        return
    copy = files.with_ending(Path(name), here.suffix)
    if window.session.do(backups.save_copy, copy) is not None:
        window.messages.show_message("success", f"Saved a copy as {copy.name}.")


# A private-use character that no font has.
_NOBODYS = "\U0010fff0"
# The last code point of the Latin, Greek and Cyrillic letters, which every text font has.
_EVERYWHERE = 0x52F
_EAST_ASIAN = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO")
# At most this many blocks of 256 code points are checked; a text in one script has few.
_MOST = 12


def ensure(application: QApplication) -> None:
    """Load the font shipped with Matplotlib if the system font has no letters."""
    if QFontMetrics(application.font()).inFont("a"):
        return
    package = find_spec("matplotlib")
    if package is not None and package.origin:
        for font in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"):
            QFontDatabase.addApplicationFont(
                str(Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / font)
            )


def seen() -> str:
    """The font family in use; empty if letters are drawn as boxes."""
    font = QApplication.font()
    return QFontInfo(font).family() if _image_of("a", font) not in (_image_of("g", font), _box(font)) else ""


def lacking(text: str) -> str:
    """The script in a text that has no font here, by name; empty if every letter can be drawn."""
    font = QApplication.font()
    result = {ord(letter) >> 8: letter for letter in text if ord(letter) > _EVERYWHERE and letter.isalpha()}
    for letter in islice(result.values(), _MOST):
        if _image_of(letter, font) == _box(font):
            name = unicodedata.name(letter, "this script").split()[0]
            return "Chinese, Japanese or Korean" if name in _EAST_ASIAN else name.title()
    return ""


def advice(script: str) -> str:
    east = script.startswith("Chinese")
    if sys.platform != "linux":
        return (
            f"Install {'Noto Sans CJK' if east else 'a font of the Noto family'} and start Goldsmith again."
        )
    return f"Install the package fonts-noto-{'cjk' if east else 'core'} and start Goldsmith again."


def _box(font: QFont) -> QImage:
    return _image_of(_NOBODYS, font)


def _image_of(letter: str, font: QFont) -> QImage:
    """A letter in black on white, large enough to compare letters."""
    image = QImage(48, 48, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    large = QFont(font)
    large.setPixelSize(32)
    painter = QPainter(image)
    painter.setFont(large)
    painter.drawText(6, 36, letter)
    painter.end()
    return image


class BugPage(QWidget):
    def __init__(self, report: str) -> None:
        super().__init__()
        self.setWindowTitle("Goldsmith — a fault in the program")
        self.resize(760, 480)
        label = PlainLabel(
            "Something went wrong inside Goldsmith. Everything you did is saved in the project file. "
            "Please copy this report and send it to the maintainers of Goldsmith, then restart the program.",
            wrap=True,
        )
        text = QPlainTextEdit(report, readOnly=True)
        copy = push_button("Copy the report", lambda: QApplication.clipboard().setText(report))
        vertical(label, text, copy, on=self)
        theme.apply_theme(self)


class _Bell(QObject):
    """Carries reports from any thread to the window's thread."""

    rung = Signal(str)
    refused = Signal(object)


_shown: list[BugPage] = []


def _show(report: str) -> None:
    if not _shown:
        page = BugPage(report)
        _shown.append(page)
        page.show()


def _tell(refusal: Refusal) -> None:
    """Show a refusal in the message bar of the active window; on the error page if no window has one."""
    for window in (QApplication.activeWindow(), *QApplication.topLevelWidgets()):
        bar = getattr(window.content if isinstance(window, Frame) else window, "messages", None)
        if isinstance(bar, MessageBar) and isValid(bar) and bar.window().isVisible():
            bar.show_message("warning", refusal.happened, refusal.todo)
            return
    _show(str(refusal))


_bell = _Bell()
_bell.rung.connect(_show)
_bell.refused.connect(_tell)


def install() -> None:
    """Show unexpected errors on a page of their own from now on, not only in a terminal nobody sees."""
    sys.excepthook = report


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Show the error page, from whatever thread; after the first one, further errors only go to stderr.

    An uncaught Refusal is not a fault: it is shown as a message.
    """
    if isinstance(error, Refusal) and QApplication.instance() is not None:
        _bell.refused.emit(error)
        return
    words = redact("".join(traceback.format_exception(kind, error, trace)), held())
    # The page must be shown even if the terminal has been closed.
    with suppress(OSError, ValueError):
        sys.stderr.write(words)
    if QApplication.instance() is None or issubclass(kind, KeyboardInterrupt):
        return
    # Opening a window on a background thread would end the program.
    _bell.rung.emit(f"Goldsmith {__version__}, Python {sys.version.split()[0]}, {sys.platform}\n\n{words}")
