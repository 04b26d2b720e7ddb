"""What the menus hold: title by title, entry by entry, as plain data."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QFileDialog

from annotator.gui import theme

if TYPE_CHECKING:
    from annotator.gui.window import Window

Entry = tuple[str, str, Callable[[], Any]] | None
FILES = "Goldsmith projects (*.goldsmith)"
OPENED = "Goldsmith projects and tasks (*.goldsmith *.goldsmith-task)"


def menus(window: "Window") -> list[tuple[str, list[Entry]]]:
    """The menus of a window: (title, entries); an entry is (act, words, what to do) or None for a line."""
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
            ("", "Quit", window.close),
        ]),
        ("&Edit", [
            ("undo", "Undo", lambda: window.take_back(desk.undo)),
            ("redo", "Redo", lambda: window.take_back(desk.redo)),
            None,
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
            ("keys", "Keys", lambda: window.show_page("Keys")),
            ("", "First steps", lambda: window.show_page("Help")),
            *_of_the_sample(window),
        ]),
    ]  # fmt: skip


def _of_the_sample(window: "Window") -> list[Entry]:
    if window.desk.project.readonly or not window.desk.project.is_sample:
        return []
    return [None, ("", "Reset the sample…", window.ask_to_reset)]


def _people(window: "Window") -> list[Entry]:
    """Who works here, by what rules, and what became of it; in a project made from a task that is one person."""
    guided: list[Entry] = [
        ("", "Guidelines…", lambda: window.show_page("Guidelines")),
        ("", "What became of my work…", lambda: window.show_page("Feedback")),
    ]
    if window.desk.project.from_task:
        return guided
    return [
        ("", "Who works here…", lambda: window.show_page("People", part="Who works here")),
        ("", "Hand out work…", lambda: window.show_page("People", part="Hand out")),
        ("", "Who is where…", lambda: window.show_page("People", part="Who is where")),
        None,
        *guided,
    ]


def _coming_and_going(window: "Window") -> list[Entry]:
    """Import and exchange; whoever works on a task has one way in, opening the next one, and one way back."""
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
    from annotator.gui.starting import create_by_dialog

    path = create_by_dialog(window.page)
    if path:
        window.open_other(path)


def _copy(window: "Window") -> None:
    from annotator.actions import backups

    here = window.desk.project.path
    suggested = here.with_name(f"{here.stem} copy{here.suffix}")
    name, _ = QFileDialog.getSaveFileName(window.page, "Save a copy", str(suggested), FILES)
    if name and window.desk.do(backups.save_copy, Path(name)) is not None:
        window.messages.show_message("success", f"Saved a copy as {Path(name).name}.")
