"""The start page (sample, new project, open, recent projects), and the program around its windows."""

import gc
import os
import signal
import sys
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QApplication,
    QLabel,
    QListWidget,
    QMenu,
    QVBoxLayout,
    QWidget,
)
from shiboken6 import isValid

from annotator.actions.project.file import Project, Unwritable
from annotator.domain.common import Refusal
from annotator.gui import theme
from annotator.gui.session import page
from annotator.gui.session.page import PACKAGES, form_of
from annotator.gui.session.session import BackgroundTasks, TaskCallbacks, Tell
from annotator.gui.shell import frame, menus, navigation
from annotator.gui.shell.frame import Application, Frame
from annotator.gui.shell.navigation import FILES, create_by_dialog, sample, small_sample
from annotator.gui.shell.window import Window
from annotator.gui.widgets.bars import EnterPresses
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    StretchSpace,
    add_entry,
    column_of,
    horizontal,
    later,
    open_file,
    push_button,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.chips import icon
from annotator.gui.widgets.message_bar import MessageBar, ProgressRow

if TYPE_CHECKING:
    from annotator.gui.shell.opening import Packages

# The other samples, by their names under New project.
SAMPLES = {
    "Related-work sections": partial(small_sample, "related-work"),
    "Tasks from seminars": partial(small_sample, "seminar"),
}
TASKS = f"Tasks (*{page.TASK} *{page.TASK}.zip)"
# The maximum widths of the two columns, in pixels.
WELCOME, RECENT = 460, 380


class StartPage(QWidget):
    chosen = Signal(object)
    """A project file to open."""
    to_read = Signal(object)
    """A project file to open read-only."""

    def __init__(self, recent: list[Path]) -> None:
        super().__init__()
        with_properties(self, windowTitle="Goldsmith", acceptDrops=True)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(980, 640)
        self.messages = MessageBar()
        self._tasks_behind = BackgroundTasks(self)
        row = horizontal(StretchSpace(1), margins=(56, 48, 56, 48), spacing=56)
        for layout, width in ((self._welcome(), WELCOME), (self._recent(recent), RECENT)):
            part = QWidget()
            layout.setContentsMargins(0, 0, 0, 0)
            part.setLayout(layout)
            part.setMaximumWidth(width)
            row.addWidget(part, width)
        row.addStretch(1)
        body = column_of(StretchSpace(1), (row, 6), StretchSpace(1))
        vertical(self.messages, (PlainArea("Welcome", body), 1), on=self, margins=0, spacing=0)
        theme.apply_theme(self)
        EnterPresses(self)

    def _welcome(self) -> QVBoxLayout:
        mark = QLabel()
        mark.setPixmap(icon("logo", 72).pixmap(72, 72))
        title = PlainLabel("Goldsmith", "headline")
        words = PlainLabel(
            "Write the gold standard for research agents, label their reports, and measure how well a model "
            "judge can replace human judgement.",
            "lead",
            wrap=True,
        )
        self.sample = push_button("Open the sample project", self.open_sample, "primary")
        self.making = ProgressRow()
        self.new = push_button("New project…", self._new)
        self.open = push_button("Open project…", lambda: self._open("Open project", FILES))
        self.task = push_button("Open a task…", lambda: self._open("Open a task that came by mail", TASKS))
        self.more = push_button("More samples…", self._offer_samples)
        hint = PlainLabel(
            "The samples need no key and no network. To import a benchmark, make a new project first. "
            "A task that came by mail may also be dropped on this window.",
            "hint",
            wrap=True,
        )
        buttons = (self.sample, self.new, self.open, self.task, self.more)
        for button in buttons:
            button.setMinimumHeight(40)
        return vertical(mark, title, words, 16, *buttons, self.making, hint, StretchSpace(1), spacing=12)

    def _recent(self, recent: list[Path]) -> QVBoxLayout:
        title = PlainLabel("Recent projects", "subtitle")
        self.list = with_properties(QListWidget(), accessibleName="Recent projects")
        wrap_lines(self.list)
        for path in recent:
            add_entry(self.list, f"{path.stem}\n{path.parent}", path, str(path))
        self.list.itemActivated.connect(lambda entry: self.chosen.emit(entry.data(Qt.ItemDataRole.UserRole)))
        if recent:
            return vertical(title, (self.list, 1))
        nothing = PlainLabel("Projects you open are listed here.", "hint", wrap=True)
        return vertical(title, nothing, StretchSpace(1))

    def show_problem(self, problem: Refusal, path: Path | None) -> None:
        """Say why a project could not be opened, and offer reading only, or its backups."""
        self.messages.show_message("error", problem.happened, problem.todo, lasting=True)
        if path is None:
            return
        from annotator.actions.project import backups

        if "for reading only" in problem.todo:
            self.messages.set_action("Open for reading only", lambda: self.to_read.emit(path))
        elif backups.listing(path):
            self.messages.set_action("Restore a backup…", lambda: self._restore(path))

    def _restore(self, path: Path) -> None:
        from annotator.gui.pages.backups import BackupList

        self._backups = BackupList(path)
        self._backups.restored.connect(self.chosen)
        theme.apply_theme(self._backups)
        self._backups.show()

    def open_sample(self) -> None:
        """Open the sample; if it is missing, create it on another thread while the window stays responsive."""
        self.make("Making the sample project", sample)

    def _offer_samples(self) -> None:
        menu = QMenu(self)
        for title, made in SAMPLES.items():
            menu.addAction(title, partial(self.make, f"Making the sample of {title.lower()}", made))
        menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def make(self, what: str, act: Callable[[Tell], Path]) -> None:
        """Create a project file on another thread and open it; meanwhile nothing else can be chosen."""
        if len(self._tasks_behind):
            return
        self.messages.clear()
        self._offer(False)
        self.making.show_progress(what, 0, 0)
        callbacks = TaskCallbacks(
            None, self.making.show_progress, self.chosen.emit, self._refused, self._made, job=True
        )
        self._tasks_behind.send(act, callbacks)

    def _offer(self, some: bool) -> None:
        for choice in (self.sample, self.new, self.open, self.task, self.more, self.list):
            choice.setEnabled(some)
        self.setAcceptDrops(some)

    def _made(self) -> None:
        self.making.hide()
        self._offer(True)

    def _refused(self, refusal: Refusal) -> None:
        self.messages.show_message("error", refusal.happened, refusal.todo)

    def closeEvent(self, event: QCloseEvent) -> None:
        self._tasks_behind.end()
        super().closeEvent(event)

    def _new(self) -> None:
        try:
            path = create_by_dialog(self)
        except Refusal as refusal:
            self.messages.show_message("error", refusal.happened, refusal.todo)
            return
        if path:
            self.chosen.emit(path)

    def _open(self, title: str, files: str) -> None:
        open_file(self, title, files, self.chosen.emit, str(Path.home()))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if page.files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        if files := page.ours(event):
            self.chosen.emit(files[0])
        else:
            self.messages.show_message("info", "Open or make a project first, then drop the files.")


# Seconds to wait for another process's write before telling the person and going on.
PATIENCE_S = 2.0
# The number of items from which a project's scripts are determined.
ENOUGH = 40


class Goldsmith:
    def __init__(self, application: QApplication, first: Frame | None = None) -> None:
        self.application = application
        self._frame = first
        self._shown: QWidget | None = None
        self._pulse = QTimer(application, interval=300)

    def show(self, path: Path | None, readonly: bool = False) -> QWidget:
        """Open a project's window, or the start page, and close what was shown before.

        A task or returned work is opened on another thread, and what is shown stays until that is done.
        """
        if path is not None and form_of(path) in PACKAGES:
            return self.packages.open(path)
        if isinstance(self._shown, Window) and self._shown.shows(path):
            self._shown.activateWindow()
            return self._shown
        following: QWidget
        try:
            following = self._window(path, readonly) if path else self._first_page()
        except Refusal as refusal:
            following = self._first_page()
            following.show_problem(refusal, path)
        # A window with a running job keeps its frame, and closes it when the job has ended.
        if self._frame is None or not isValid(self._frame) or not self._frame.clear():
            self._frame = Frame()
        self._shown = following
        self._frame.hold(following)
        self._frame.show()
        return following

    def show_sample(self) -> QWidget:
        """Open the sample project; if it has to be created, the start page shows the progress or the refusal."""
        if (path := navigation.finished_sample()) is not None:
            return self.show(path)
        page = self.show(None)
        if isinstance(page, StartPage):
            page.open_sample()
        return page

    def _make(self, what: str, act: Callable[[Tell], Path]) -> None:
        page = self.show(None)
        if isinstance(page, StartPage):
            page.make(what, act)

    @cached_property
    def packages(self) -> "Packages":
        from annotator.gui.shell.opening import Packages

        return Packages(self.shown, self.show)

    def shown(self) -> QWidget:
        """The widget in view; the start page if there is none."""
        return self._shown or self.show(None)

    def _first_page(self) -> StartPage:
        start = StartPage(navigation.recent())
        start.chosen.connect(self.show)
        start.to_read.connect(lambda path: self.show(path, readonly=True))
        return start

    def _window(self, path: Path, readonly: bool) -> Window:
        try:
            window = self._window_over(path, readonly)
        except Unwritable as refusal:
            # A full disk must not keep anyone from their work: it can still be read.
            window = self._window_over(path, refusal)
        window.other_project_wanted.connect(lambda other: QTimer.singleShot(0, lambda: self.show(other)))
        window.making_wanted.connect(lambda what, act: QTimer.singleShot(0, lambda: self._make(what, act)))
        later(window, partial(_warn, window), 300).start()
        navigation.remember(path)
        return window

    def _window_over(self, path: Path, readonly: bool | Refusal) -> Window:
        project = Project.open(path, readonly=readonly, busy_seconds=PATIENCE_S)
        try:
            project.hold()
            return Window(project)
        except Refusal:
            project.close()
            raise

    def settle(self) -> None:
        """At the first idle: freeze what is loaded so far, and collect garbage at every pulse from now on."""
        begin()
        frame.tell_time()
        self.application.setWindowIcon(icon("logo", 256))
        # Background threads yield to the window five times as often as by Python's default.
        sys.setswitchinterval(0.001)
        self._pulse.timeout.connect(tidy)
        self._pulse.start()
        if "GOLDSMITH_STOPWATCH" in os.environ:
            self.close()

    def close(self) -> None:
        """Close the window in order, storing what is being typed."""
        if self._frame is not None and isValid(self._frame):
            self._frame.close()


def _warn(window: Window) -> None:
    """After the first idle, warn of a location that is unfit for a project, or of a script that no font covers.

    Drawing letters of many scripts takes as long as building a page.
    """
    from annotator.actions.items import items

    project = window.session.project
    if not window.shows(project.path):
        return
    if warning := Project.warning_about(project.path):
        if not project.readonly:
            window.messages.show_message("warning", warning, lasting=True)
    elif script := menus.lacking(" ".join(items.questions(project, ENOUGH))):
        boxes = f"This system has no font for {script}: such letters are drawn as boxes."
        window.messages.show_message("warning", boxes, menus.advice(script), lasting=True)


def run(first: Frame, path: Path | None = None, *, with_sample: bool = False) -> int:
    """Fill the frame in view, and return the program's exit code when the last window is closed."""
    application = make_application()
    goldsmith = Goldsmith(application, first)
    if with_sample:
        goldsmith.show_sample()
    else:
        goldsmith.show(path)
    if isinstance(application, Application):
        application.file_asked.connect(lambda name: goldsmith.show(Path(name)))
        for name in application.announced:
            goldsmith.show(Path(name))
    heed_signals(goldsmith)
    QTimer.singleShot(0, goldsmith.settle)
    return application.exec()


def heed_signals(goldsmith: Goldsmith) -> None:
    """Close the window in order when the process or the desktop session is asked to end.

    Python handles signals only between its own instructions: the pulse gives it some.
    """
    # A closed terminal ends the program in the same way; Windows has no such signal.
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, lambda *_: goldsmith.close())
    goldsmith.application.commitDataRequest.connect(lambda _: goldsmith.close())


def make_application() -> QApplication:
    """The one application object, with a font that has letters, and the page for unexpected errors."""
    application = frame.make_application()
    menus.ensure(application)
    menus.install()
    return application


def begin() -> None:
    """Freeze what is loaded so far, and disable automatic garbage collection.

    Python by itself collects on whatever thread allocates memory, a background one too, and frees there what a window
    has left behind: a timer or model deleted on another thread than its own can end the program.
    """
    gc.freeze()
    gc.disable()


def tidy() -> None:
    """Collect what is due by Python's own thresholds; called at intervals.

    The oldest generation is collected only if no young objects are due, that is while nobody does anything: a full
    collection can take long enough to delay a key press noticeably.
    """
    young, middle, old = (
        have > due > 0 for have, due in zip(gc.get_count(), gc.get_threshold(), strict=True)
    )
    if young:
        gc.collect(1 if middle else 0)
    elif old:
        gc.collect()
