"""The shared folder in the window: a watcher that checks it, and the line on a page that chooses it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QWindow
from PySide6.QtWidgets import QWidget

from annotator.actions.project import people, shared
from annotator.domain.common import Change, counted
from annotator.gui.parts import application, below
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    choose_folder,
    horizontal,
    later,
    push_button,
    vertical,
)
from annotator.gui.widgets.message_bar import MessageBar, ProgressRow

if TYPE_CHECKING:
    from annotator.actions.parcels.packing import HandOutResult
    from annotator.actions.parcels.shared_folder import FolderNews, Synced

FOLDER = "folder"
NO_FOLDER = "Shared folder: none"
OFFERED = {
    True: "A synced or network folder spares the mail: what you submit goes there by itself, and newer tasks come in.",
    False: "A synced or network folder spares the mail: tasks go out there and returned work comes in by itself, "
    "each file encrypted for its reader.",
}
GOES = {
    True: "What you submit goes there by itself; newer tasks come in by themselves.",
    False: "Returned work comes in by itself, after a backup.",
}


class FolderWatch(QObject):
    """Checks the shared folder from time to time, and when the window is activated."""

    def __init__(self, window: QWidget, session: ProjectSession) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._news: FolderNews | None = None
        self._timer = later(self, self.look, 30_000, again=True)
        self._timer.start()
        self._soon = later(self, self.look, 600)
        application().focusWindowChanged.connect(self._focus_moved)
        session.listen(self._chosen, (FOLDER,))

    def _focus_moved(self, window: QWindow | None) -> None:
        """Check the folder soon after someone comes back to the window."""
        if window is not None and window is self._window.window().windowHandle():
            self._soon.start()

    def stop(self) -> None:
        application().focusWindowChanged.disconnect(self._focus_moved)
        self._timer.stop()
        self._soon.stop()

    def look(self) -> None:
        if self._session.job or shared.folder_of(self._session.project) is None:
            return
        from annotator.actions.parcels import shared_folder

        self._session.ask_newest(self._looked, shared_folder.look)

    def _chosen(self, change: Change) -> None:
        if change.verb != "look":
            self.look()

    def _looked(self, news: FolderNews) -> None:
        self._tell(news)
        if news.due and not self._session.job and not self._session.project.readonly:
            from annotator.actions.parcels import shared_folder

            self._session.do_later(self._synced, lambda *_: None, shared_folder.sync)

    def _tell(self, news: FolderNews) -> None:
        before, self._news = self._news, news
        if news != before:
            self._session.tell(Change(FOLDER, "", "look"))
        if news.keys and (before is None or news.keys != before.keys):
            whose = " and ".join(dict.fromkeys(key.alias for key in news.keys))
            line = next((one for one in below(self._window, FolderLine) if one.isVisible()), None)
            words = f"{whose} joined the shared folder: compare six words."
            self._session.tell_end(words, "Exchange", line, part="Hand out")

    def _synced(self, done: Synced | None) -> None:
        if done is None:
            return
        from annotator.domain.experts.assignment import TRAYED

        came = done.arrivals or done.new_items is not None
        for kind in ("parcel", "import") if came else ("parcel",):
            self._session.tell(Change(kind, "", "sync"))
        self._tell(done.left)
        if done.arrivals:
            pieces = [piece for arrival in done.arrivals for piece in arrival.pieces]
            waits = any(piece.outcome in TRAYED for piece in pieces)
            whose = ", ".join(sorted({arrival.person_name for arrival in done.arrivals}))
            words = (
                f"{counted(len(pieces), 'piece')} of work came from {whose}{'; some waits for you' * waits}."
            )
            self._session.tell_end(words, "Exchange", part="Tray" if waits else "Received")
        if done.new_items is not None:
            project = self._session.project
            project.work_as(people.known(project, project.by))
            self._session.tell(Change("person", project.by, "sync"))
            new = counted(done.new_items, "new item") if done.new_items else "dates or feedback changed"
            self._session.tell_end(f"A newer task came: {new}. Your work is unchanged.", "Send")


class FolderLine(Pane):
    """The project's shared folder and its state; for coordinators also Send, and new keys to confirm."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._theirs = session.project.from_task
        self._message = ""
        self.folder, self.state = ElidedLabel(NO_FOLDER, "strong"), PlainLabel(role="hint", wrap=True)
        self.keys, self.progress = MessageBar(), ProgressRow()
        self.choose_button = push_button("Choose…", self.choose, accessibleName="Choose the shared folder…")
        self.send_button = push_button("Send all tasks there", self.send, visible=False)
        self.leave_button = push_button("Stop using it", self.leave, "quiet", visible=False)
        row = horizontal((self.folder, 1), self.send_button, self.choose_button, self.leave_button, margins=0)
        vertical(self.keys, row, self.state, self.progress, on=self, margins=0, spacing=4)
        session.listen(self._changed, (FOLDER,))

    def fill(self) -> None:
        folder = shared.folder_of(self.session.project)
        writable = not self.session.project.readonly
        self.folder.setText(f"Shared folder: {folder}" if folder else NO_FOLDER)
        self.choose_button.setEnabled(writable)
        self.send_button.setVisible(folder is not None and not self._theirs)
        self.send_button.setEnabled(writable and self.progress.isHidden())
        self.leave_button.setVisible(folder is not None)
        self.leave_button.setEnabled(writable)
        if folder is None:
            self.keys.clear()
            self.state.setText(OFFERED[self._theirs])
            return
        from annotator.actions.parcels import shared_folder

        self.session.ask_newest(self._show, shared_folder.look)

    def choose(self) -> None:
        here = str(shared.folder_of(self.session.project) or Path.home())
        choose_folder(self, "Shared folder", self.go_by, here)

    def go_by(self, folder: Path | None) -> None:
        from annotator.actions.parcels import shared_folder

        self._message = ""
        self.session.do(shared_folder.choose, folder)
        self.fill()

    def leave(self) -> None:
        self.go_by(None)

    def send(self) -> None:
        from annotator.actions.parcels import shared_folder

        self.progress.show_progress("Writing tasks", 0, 0)
        self.send_button.setEnabled(False)
        self.session.do_later(self._sent, self.progress.show_progress, shared_folder.send)

    def _sent(self, done: list[HandOutResult] | None) -> None:
        self.progress.hide()
        if done is not None:
            self._message = (
                f"Wrote {counted(sum(one.packed is not None for one in done), 'task')} into the folder."
            )
            for result in done:
                if result.problem:
                    self._message += f" Not written for {result.person.name}: {result.problem}"
            self.session.tell(Change("parcel", "", "pack task"))
        self.fill()

    def _changed(self, _: Change) -> None:
        if self.isVisible():
            self.fill()

    def _show(self, news: FolderNews) -> None:
        from annotator.actions.parcels import shared_folder

        sentences = [self._message or GOES[self._theirs], *shared_folder.words(news)]
        self.state.setText(" ".join(sentences))
        if not news.keys:
            self.keys.clear()
            return
        key = news.keys[0]
        self.keys.show_message("warning", *shared_folder.key_words(key), lasting=True)
        if not self.session.project.readonly:
            self.keys.set_action("The words are the same", lambda: self._trust(key.words))

    def _trust(self, words: str) -> None:
        from annotator.actions.parcels import shared_folder

        if self.session.do(shared_folder.trust, words) is not None:
            self.session.tell(Change(FOLDER, "", "trust"))
