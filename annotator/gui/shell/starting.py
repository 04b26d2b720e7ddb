"""Start of the window, with a project or the start page."""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QLocale, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication, QWidget

from annotator.actions.items import items
from annotator.actions.project.file import Project, Unwritable
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import dropping
from annotator.gui.desk.errands import Tell
from annotator.gui.shell import fonts, projects
from annotator.gui.shell.window import Window
from annotator.gui.widgets.icons import icon

if TYPE_CHECKING:
    from annotator.gui.shell.opening import Packages
    from annotator.gui.shell.start import StartPage


# The window waits this long for another process's write, then says so and lets the person go on.
PATIENCE_S = 2.0
PULSE_MS = 300
# So many items show in which scripts a project is written.
ENOUGH = 40
SWITCH_S = 0.001


class Goldsmith:
    """The running program: one window at a time."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        self._shown: QWidget | None = None
        self._pulse = QTimer(application, interval=PULSE_MS)

    def show(self, path: Path | None, readonly: bool = False) -> QWidget:
        """Open a project's window, or the first page; what stood there before is closed.

        A task or returned work is opened on another thread meanwhile, and what is shown stays until then.
        """
        if path is not None and dropping.form_of(path) in dropping.PACKAGES:
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
        following.show()
        before, self._shown = self._shown, following
        # A window in the middle of a job closes itself when that has ended.
        if before is not None and before.close():
            before.deleteLater()
        return following

    def show_sample(self) -> QWidget:
        """Open the sample project; where it has to be made, the first page says how far that is, or why not."""
        path = projects.finished_sample()
        if path is not None:
            return self.show(path)
        page = self.show(None)
        if isinstance(page, _start_page()):
            page.open_sample()
        return page

    def _make(self, what: str, act: Callable[[Tell], Path]) -> None:
        page = self.show(None)
        if isinstance(page, _start_page()):
            page.make(what, act)

    @cached_property
    def packages(self) -> "Packages":
        from annotator.gui.shell.opening import Packages

        return Packages(self)

    def shown(self) -> QWidget:
        """What is shown now; the first page when nothing is."""
        return self._shown or self.show(None)

    def known(self) -> list[Path]:
        return projects.recent()

    def _first_page(self) -> "StartPage":
        start = _start_page()(projects.recent())
        start.chosen.connect(self.show)
        start.to_read.connect(lambda path: self.show(path, readonly=True))
        return start

    def _window(self, path: Path, readonly: bool) -> Window:
        try:
            window = self._window_over(path, readonly)
        except Unwritable as refusal:
            # A full disk must not keep anyone from their work: it can still be read.
            window = self._window_over(path, refusal)
        project = window.desk.project
        window.other_project_wanted.connect(lambda other: QTimer.singleShot(0, lambda: self.show(other)))
        window.making_wanted.connect(lambda what, act: QTimer.singleShot(0, lambda: self._make(what, act)))
        warning = Project.warning_about(path)
        if warning and not project.readonly:
            window.messages.show_message("warning", warning, lasting=True)
        script = "" if warning else fonts.lacking(" ".join(items.questions(project, ENOUGH)))
        if script:
            boxes = f"This system has no font for {script}: such letters are drawn as boxes."
            window.messages.show_message("warning", boxes, fonts.advice(script), lasting=True)
        projects.remember(path)
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
        """At the first idle: what is loaded by now stays, and from now on garbage is collected at every pulse."""
        begin()
        # What counts on another thread gives way to the window five times as soon as Python would have it.
        sys.setswitchinterval(SWITCH_S)
        self._pulse.timeout.connect(tidy)
        self._pulse.start()
        if "GOLDSMITH_STOPWATCH" in os.environ:
            print(time.monotonic(), flush=True)
            self.close()

    def close(self) -> None:
        """Close what is shown, in order: what is being typed is kept."""
        if self._shown is not None:
            self._shown.close()


def _start_page() -> "type[StartPage]":
    from annotator.gui.shell.start import StartPage

    return StartPage


def run(path: Path | None = None, *, with_sample: bool = False) -> int:
    """Start the program and return its exit code when the last window is closed."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    application = make_application()
    goldsmith = Goldsmith(application)
    if isinstance(application, Application):
        application.file_asked.connect(lambda name: goldsmith.show(Path(name)))
    if with_sample:
        goldsmith.show_sample()
    else:
        goldsmith.show(path)
    heed_signals(goldsmith)
    QTimer.singleShot(0, goldsmith.settle)
    return application.exec()


def heed_signals(goldsmith: Goldsmith) -> None:
    """Let a polite end of the process, or of the session, close the window in order.

    Python looks at its signals only between its own instructions: the pulse gives it some.
    """
    # A terminal that is closed ends the program as politely; Windows has no such signal.
    for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, lambda *_: goldsmith.close())
    goldsmith.application.commitDataRequest.connect(lambda _: goldsmith.close())


def make_application() -> QApplication:
    """The one application object, named so that settings find their place, dressed in the theme."""
    from annotator.gui.shell.bugs import install

    if sys.platform == "win32":
        import ctypes

        # The taskbar counts the window to the program of this name, and not to Python.
        ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("org.goldsmith.goldsmith")
    QCoreApplication.setOrganizationName("goldsmith")
    QCoreApplication.setApplicationName("goldsmith")
    existing = QApplication.instance()
    application = existing if isinstance(existing, QApplication) else Application(sys.argv[:1])
    fonts.ensure(application)
    theme.apply(application)
    application.setWindowIcon(icon("logo", 256))
    application.setDesktopFileName("goldsmith")
    # Months are in the language of the rest, the order of a date is that of the country.
    QLocale.setDefault(QLocale(QLocale.Language.English, QLocale.system().territory()))
    install()
    return application


class Application(QApplication):
    """Announces double-clicked files; macOS hands them over as events, not as arguments."""

    file_asked = Signal(str)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent) and event.file():
            self.file_asked.emit(event.file())
            return True
        return super().event(event)


def begin() -> None:
    """Set aside what is loaded by now, and collect only when told to.

    Python by itself collects on whatever thread happens to ask for memory, a background one too, and frees there what
    a window has left: a timer or a model that dies on another thread than its own can end the program.
    """
    gc.freeze()
    gc.disable()


def tidy() -> None:
    """Collect what is due by Python's own thresholds; to be called now and then.

    Everything is looked through only while nobody does anything: that can take as long as a key press is noticed.
    """
    young, middle, old = (
        have > due > 0 for have, due in zip(gc.get_count(), gc.get_threshold(), strict=True)
    )
    if young:
        gc.collect(1 if middle else 0)
    elif old:
        gc.collect()
