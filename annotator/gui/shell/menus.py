"""Menus as plain data."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QFileDialog

from annotator import files
from annotator.gui import keys, theme
from annotator.gui.shell import projects

if TYPE_CHECKING:
    from annotator.gui.shell.window import Window

Entry = tuple[str, str, Callable[[], Any]] | None
# What a field does with its text; it heeds the key itself.
CLIPBOARD = (
    ("Cut", QKeySequence.StandardKey.Cut, "cut"),
    ("Copy", QKeySequence.StandardKey.Copy, "copy"),
    ("Paste", QKeySequence.StandardKey.Paste, "paste"),
)
OPENED = "Goldsmith projects and tasks (*.goldsmith *.goldsmith-task)"


def build(window: "Window") -> dict[str, QAction]:
    """Fill the menu bar of a window; the actions that have keys, by act."""
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
            action.triggered.connect(partial(window.desk.attempt, slot))
            menu.addAction(action)
    return acts


def menus(window: "Window") -> list[tuple[str, list[Entry]]]:
    """The menus of a window: (title, entries); an entry is (act, words, what to do) or None for a line.

    Words may name the key of an act, as in “Find {find}”.
    """
    desk = window.desk
    return [
        ("&File", [
            ("new_project", "New project…", lambda: _new(window)),
            ("open_project", "Open project…", lambda: _open(window)),
            ("", "Close project", lambda: window.open_other(None)),
            None,
            *_coming_and_going(window),
            ("", "Save a copy…", lambda: _copy(window)),
            ("", "Backups…", lambda: window.show_page("Backups")),
            ("", "Check this project…", lambda: window.show_page("Check")),
            None,
            ("quit", "Quit", window.close),
        ]),
        ("&Edit", [
            ("undo", "Undo", lambda: window.take_back(desk.undo)),
            ("redo", "Redo", lambda: window.take_back(desk.redo)),
            None,
            *((("", f"{words}\t{keys.written(key)}", partial(_edit, verb))) for words, key, verb in CLIPBOARD),
            None,
            ("", "Find on this page\t{find}", lambda: _find(window)),
            ("find_everywhere", "Find an item", lambda: window.show_page("Items", search=True)),
            ("checkpoint", "Save", window.checkpoint),
        ]),
        ("&View", [
            ("zoom_in", "Larger", lambda: window.zoom(1)),
            ("zoom_out", "Smaller", lambda: window.zoom(-1)),
            ("zoom_reset", "Normal size", lambda: window.zoom(0)),
            None,
            ("", "Colours of the system", lambda: theme.choose("system")),
            ("", "Light", lambda: theme.choose("light")),
            ("", "Dark", lambda: theme.choose("dark")),
        ]),
        ("&People", _people(window)),
        ("&Help", [
            ("keys", "Keys", window.show_keys),
            ("", "First steps", lambda: window.show_page("Help", topic="first-steps")),
            ("", "About Goldsmith", lambda: window.show_page("Help", topic="about")),
            *_of_the_sample(window),
        ]),
    ]  # fmt: skip


def _edit(verb: str) -> None:
    """Cut, copy or paste where the focus is; where nothing is written or read, nothing happens."""
    act = getattr(QApplication.focusWidget(), verb, None)
    if act is not None:
        act()


def _find(window: "Window") -> None:
    """Find on the page in view; on one without a search of its own, among the items."""
    if not window.page.press("find"):
        window.show_page("Items", search=True)


def _of_the_sample(window: "Window") -> list[Entry]:
    if window.desk.project.readonly or not window.desk.project.is_sample:
        return []
    return [None, ("", "Reset the sample…", lambda: _ask_to_reset(window))]


def _ask_to_reset(window: "Window") -> None:
    todo = "The sample is restored to its original state. Your version is kept in a file beside it."
    window.messages.show_message("warning", "Reset the sample?", todo)
    window.messages.set_action("Reset the sample", window.reset_sample)


def _people(window: "Window") -> list[Entry]:
    """Who works here, by what rules, and what happened to it; in a project made from a task that is one person."""
    guided: list[Entry] = [
        ("", "Guidelines…", lambda: window.show_page("Guidelines")),
        ("", "Feedback on my work…", lambda: window.show_page("Feedback")),
        ("", "Reviews of drafts…", lambda: window.show_page("Reviews")),
    ]
    if window.desk.project.from_task:
        return guided
    return [
        ("", "Team…", lambda: window.show_page("People", part="Team")),
        ("", "Hand out work…", lambda: window.show_page("People", part="Hand out")),
        ("", "Progress…", lambda: window.show_page("People", part="Progress")),
        ("", "Pilot and final pass…", lambda: window.show_page("Final pass")),
        ("", "Contest of tasks…", lambda: window.show_page("Contest")),
        None,
        *guided,
    ]


def _coming_and_going(window: "Window") -> list[Entry]:
    """Import and exchange; the person who works on a task has one way in, opening the next one, and one way back."""
    if window.desk.project.from_task:
        return [("exchange", "Send my work…", lambda: window.show_page("Send"))]
    return [
        ("import", "Import…", lambda: window.show_page("Import")),
        ("material", "Material: reports and cited pages…", lambda: window.show_page("Material")),
        ("exchange", "Exchange…", lambda: window.show_page("Exchange")),
    ]


def _open(window: "Window") -> None:
    name, _ = QFileDialog.getOpenFileName(
        window.page, "Open project", str(window.desk.project.path.parent), OPENED
    )
    if name:
        window.open_other(Path(name))


def _new(window: "Window") -> None:
    path = projects.create_by_dialog(window.page)
    if path:
        window.open_other(path)


def _copy(window: "Window") -> None:
    from annotator.actions.project import backups

    here = window.desk.project.path
    suggested = here.with_name(f"{here.stem} copy{here.suffix}")
    name, _ = QFileDialog.getSaveFileName(window.page, "Save a copy", str(suggested), projects.FILES)
    if not name:
        return
    copy = files.with_ending(Path(name), here.suffix)
    if window.desk.do(backups.save_copy, copy) is not None:
        window.messages.show_message("success", f"Saved a copy as {copy.name}.")
