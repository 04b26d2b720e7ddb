"""Opens tasks and returned work on another thread, each file once, and reports the result."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import (
    QWidget,
)

from annotator.actions.parcels import tasking
from annotator.actions.parcels.tasking import OpenedTask, ParcelOwner
from annotator.domain.common import Refusal, counted
from annotator.gui.session import page, session
from annotator.gui.session.session import BackgroundTasks, TaskCallbacks, Tell
from annotator.gui.shell import navigation
from annotator.gui.shell.window import Window
from annotator.gui.widgets.message_bar import Level, MessageBar
from annotator.places import user_data


class Packages:
    def __init__(self, shown: Callable[[], QWidget], show: Callable[[Path], QWidget]) -> None:
        """`shown` returns the widget in view, `show` puts a project's window in its place."""
        self._shown, self._show = shown, show
        self._tasks_behind = BackgroundTasks()

    def open(self, path: Path) -> QWidget:
        """Open a task or returned work; return the widget that stays in view until that is done."""
        shown, known = self._shown(), navigation.recent()
        if page.form_of(path) == page.TASK:
            here = shown.session.project.path if isinstance(shown, Window) else None
            self._progress(path, "large sources take a few seconds", 0, 0)
            self._send(
                lambda tell: _take(path, here, known, tell), self._opened, partial(self._progress, path)
            )
        else:
            self._send(lambda _: tasking.owner_of_work(path, known), partial(self._place, path))
        return shown

    def wait(self) -> None:
        """Block until no file is being opened; for closing and for tests."""
        self._tasks_behind.wait()

    def _progress(self, path: Path, what: str, done: int, total: int) -> None:
        sentence = session.progress_words(what, done, total)
        self._say("info", f"Opening the task “{path.name}”…", f"{sentence}.", lasting=True)

    def _send(
        self, act: Callable[[Tell], Any], then: Callable[[Any], None], progress: Tell | None = None
    ) -> None:
        self._tasks_behind.send(act, TaskCallbacks(then, progress, refused=self._refused))

    def _opened(self, opened: OpenedTask) -> None:
        path, shown = opened.project.path, self._shown()
        if isinstance(shown, Window) and shown.shows(path):
            # Everything in the window may have changed.
            shown.give_back()
        self._show(path)
        self._say(*_message(opened), lasting=opened.project.readonly)

    def _place(self, path: Path, owner: ParcelOwner) -> None:
        home = owner.project
        if owner.sent_from_here:
            self._say(
                "info",
                f"“{owner.name}” is your work file to send back.",
                "Mail it to the sender of your task; you do not need to open it here.",
            )
        elif home is not None:
            self._say("info", f"“{owner.name}” is work that came back to “{owner.title}”.",
                      "Open it there: nothing is imported until you confirm.")  # fmt: skip
            self._bar().set_action(f"Open it in “{owner.title}”", lambda: self._look(home, path))
        else:
            self._say(
                "warning",
                f"“{owner.name}” is work that came back from an annotator; its project is not known here.",
                "Open the project it belongs to, and drop the file on its window.",
            )

    def _look(self, home: Path, path: Path) -> None:
        window = self._show(home)
        if isinstance(window, Window):
            window.show_page("Exchange", files=[path])

    def _refused(self, refusal: Refusal) -> None:
        self._say("error", refusal.happened, refusal.todo)

    def _bar(self) -> MessageBar:
        result: MessageBar = self._shown().messages  # type: ignore[attr-defined]
        return result

    def _say(self, level: Level, happened: str, todo: str = "", *, lasting: bool = False) -> None:
        self._bar().show_message(level, happened, todo, lasting)


def _take(path: Path, shown: Path | None, known: list[Path], tell: Tell) -> OpenedTask:
    paths = sorted((user_data() / "projects").glob(f"*{page.PROJECT}"))
    among = [*([shown] if shown else []), *known, *paths]
    opened = tasking.take_task(
        path, known=among, folder=tasking.project_place(path), alone=True, shown=shown, progress=tell
    )
    opened.project.close()
    return opened


def _message(opened: OpenedTask) -> tuple[Level, str, str]:
    """The message about an opened task: level, what happened, what to do."""
    path, number = opened.project.path, opened.new_items
    items = counted(number, "new item")
    # The signer is mentioned the first time only, and whenever there is no signature.
    signed = tasking.signed_words(opened) if opened.pinned or not opened.words else ""
    if opened.made:
        happened, todo = f"Your task is ready: {items}.", (
            f"Your work is saved in “{path.name}” in {path.parent}; open that file to go on. "
            "When you have submitted something, Send writes the file that goes back."
        )  # fmt: skip
    elif number:
        happened, todo = f"This task adds {items}.", "Your work is unchanged."
    else:
        happened = "This task adds no new items."
        todo = "Dates, guidelines and feedback were updated; your work is unchanged."
    return "info", happened, f"{todo} {signed}".strip()
