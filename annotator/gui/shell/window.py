"""The main window: navigation, pages, message bar and status bar, built from data."""

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QLabel,
    QMainWindow,
    QMenu,
    QPushButton,
    QStatusBar,
    QToolButton,
    QWidget,
)

from annotator import files
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.common import Change, KeyNotAllowed, Refusal
from annotator.gui import keys, theme
from annotator.gui.parts import below
from annotator.gui.session import page as page_module
from annotator.gui.session.page import Page
from annotator.gui.session.session import ANY, FocusKeeper, Pane, ProjectSession, Tell, be_seen
from annotator.gui.session.shared_folder import FolderWatch
from annotator.gui.shell import frame, navigation
from annotator.gui.shell.navigation import (
    PAGES,
    SETTINGS,
    Navigation,
    PageRoom,
    Place,
    PlaceBar,
    PlaceTab,
    places,
    standing,
)
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import EnterPresses, FlowRow
from annotator.gui.widgets.basics import ElidedLabel, PlainLabel, horizontal, later, tooltip, with_properties
from annotator.gui.widgets.message_bar import MessageBar

if TYPE_CHECKING:
    from annotator.actions.imports.samples import PracticeStep
    from annotator.gui.session.run import BackgroundRun
    from annotator.gui.shell.palette import Palette

MOVED = (
    "There are ten places now: Ctrl+6 is Validate, Ctrl+7 Results with the agreement, Ctrl+8 People.",
    "Ctrl+K finds everything else; guidelines, keys and backups are in Settings.",
)
TRY = "Try this:"
DISMISS = "Do not show these steps again"
# Below this height, in pixels at 100 %, the window has no room for the strip.
LOW = 640


class TryStrip(Pane):
    """The steps to try in a sample; hidden if there are none, or once dismissed."""

    def __init__(self, session: ProjectSession, window: QWidget) -> None:
        super().__init__(session, "try")
        self._window = window
        self.button = with_properties(
            QToolButton(),
            role="try",
            text="Try this…",
            popupMode=QToolButton.ToolButtonPopupMode.InstantPopup,
        )
        """The steps as a menu, shown instead of the strip if the window is low."""
        self.button.setMenu(QMenu(self.button))
        self.button.menu().aboutToShow.connect(self._fill_menu)
        self._lead = PlainLabel(TRY, role="strong")
        self._steps = QWidget()
        self._row = FlowRow(self._steps, gap=4)
        self._row.addWidget(self._lead)
        self._close = chips.tool_button(
            DISMISS, "close", self.dismiss, 14, accessibleName="Dismiss the steps to try"
        )
        horizontal(
            (self._steps, 1), (self._close, 0, Qt.AlignmentFlag.AlignTop), on=self, margins=(12, 2, 8, 2)
        )
        self._buttons: list[QPushButton] = []
        self._steps_to_try: Sequence[PracticeStep] = ()
        self._person = ""
        theme.apply_theme(self)
        theme.follow(window, self.fit)

    def refresh(self) -> None:
        if self._person == self.session.project.by:
            return
        self._person = self.session.project.by
        # After the first idle, except in a sample never opened before: it loads all that labelling and judging need.
        from annotator.actions.imports import samples

        self._show(self.session.ask(samples.tries) or [])

    def _show(self, steps: "Sequence[PracticeStep]") -> None:
        self._steps_to_try = steps
        for number, step in enumerate(steps, 1):
            if number > len(self._buttons):
                self._buttons.append(self._button())
            button = self._buttons[number - 1]
            button.setText(f"{number}  {step.words}")
            button.setAccessibleName(step.words)
        self.fit()

    def fit(self) -> None:
        """Show the steps as a menu if the window is too low for the strip."""
        low = self._window.height() < theme.current().px(LOW)
        self.setVisible(bool(self._steps_to_try) and not low)
        self.button.setVisible(bool(self._steps_to_try) and low)

    def _fill_menu(self) -> None:
        menu = self.button.menu()
        menu.clear()
        for number, button in enumerate(self._buttons):
            menu.addAction(button.text(), partial(self._go, number))
        menu.addSeparator()
        menu.addAction(DISMISS, self.dismiss)

    def _button(self) -> QPushButton:
        button = with_properties(QPushButton(), role="quiet")
        button.clicked.connect(partial(self._go, len(self._buttons)))
        self._row.addWidget(button)
        return button

    def _go(self, number: int) -> None:
        step = self._steps_to_try[number]
        self.session.go(step.page, **step.place)

    def dismiss(self) -> None:
        from annotator.actions.imports import samples

        self.session.ask(samples.stop_trying)
        self._show([])


LeftPlace = tuple[str, dict[str, Any]]


BACKUP_EVERY_MS = 60_000
# Reference pages that people visit and come back from.
LOOKED_UP = ("Keys", "Help")


class Window(QMainWindow):
    closed = Signal()
    other_project_wanted = Signal(object)
    """Another project file to open, or None for the start page."""
    making_wanted = Signal(str, object)
    """A progress message and the function that creates the file to open: it takes a Tell and returns the path."""
    tries: TryStrip | None = None
    """The steps to try, which only a sample has."""

    def __init__(self, project: Project, page: str = "", **place: Any) -> None:
        """A window over a project, at a page, or where the person left it."""
        super().__init__()
        if not project.readonly:
            people.someone(project)
            history.recover(project)
        self.session = ProjectSession(project, self)
        self._pages: dict[str, Page] = {}
        self._current = self._from = ""
        # Place → the tab left last.
        self._left: dict[str, PlaceTab] = {}
        self._closed = False
        self._build()
        self._listen()
        self._show_title()
        if navigation.keys_moved():
            self.messages.show_message("info", *MOVED)
        self.resize(frame.usual_size(self))
        self.navigation.fold(self.width())
        left = stored_place(self.session.project)
        if not page:
            page, place = left or (self.first, {})
        offered = standing(page, "")[0] in self._places
        self.show_page(page, **place) if offered else self.show_page(self.first)
        if self.tries is not None and left is None:
            self.tries.refresh()
        self._recount.start()

    def _build(self) -> None:
        self._places = places(self.session.project)
        # A project with adjudication only has nothing to write.
        begin = next(
            (place.name for place in self._places if place.name in ("Author", "Adjudicate")), "Author"
        )
        self.first = "Home" if people.coordinates(self.session.project) else begin
        self.navigation = Navigation(self._places)
        self.bar = PlaceBar()
        self.setAcceptDrops(True)
        self.messages = MessageBar()
        centre = PageRoom(self.navigation)
        self.stack = centre.stack
        self.setCentralWidget(centre)
        self.messages.float_over(centre.work, below=False)
        if self.session.project.is_sample:
            self.tries = TryStrip(self.session, self)
            centre.say_above(self.tries)
        centre.say_above(self.bar)
        self.status = StatusBar(self.session)
        self.setStatusBar(self.status)
        if self.tries is not None:
            self.status.addPermanentWidget(self.tries.button)
        from annotator.gui.shell import menus

        self._acts = menus.build(self)
        # Keys of acts that no menu lists.
        unlisted: dict[str, Callable[[], object]] = {
            "checkpoint": self.checkpoint,
            "hold_run": partial(self.status.act, lambda run: run.hold()),
            "stop_run": partial(self.status.act, lambda run: run.cancel()),
        }
        if not self.session.project.from_task:
            unlisted["exchange"] = partial(self.show_page, "Exchange")
        for act, slot in unlisted.items():
            self._acts[act] = QAction(self)
            self._acts[act].setShortcuts(keys.sequences(act))
            self._acts[act].triggered.connect(partial(self.session.attempt, slot))
            self.addAction(self._acts[act])
        for part in (self.menuBar(), self.navigation, self.bar, self.status):
            theme.apply_theme(part)
        theme.apply_theme(self.messages, hidden=True)

    def _listen(self) -> None:
        self.navigation.chosen.connect(self.show_place)
        self.bar.chosen.connect(self.show_part)
        self.bar.help_wanted.connect(lambda topic: self.show_page("Help", topic=topic))
        self.session.wanted.connect(lambda name, place: self.show_page(name, **place))
        self.session.refused.connect(self.show_refusal)
        self.session.reset_wanted.connect(self.reset_sample)
        self.session.restore_wanted.connect(self.restore_backup)
        self.session.person_wanted.connect(self.choose_person)
        self.session.rebound.connect(self.rebind)
        self.session.saved.connect(self.messages.expire)
        self._ends = FollowUp(self)
        EnterPresses(self)
        FocusKeeper(self)
        self.session.listen(self._changed, (ANY,))
        self._recount = later(self, self._count_waiting, 400)
        self._backup = QTimer(self, interval=BACKUP_EVERY_MS)
        self._backup.timeout.connect(self._back_up_when_due)
        self._backup.start()
        self._folder = FolderWatch(self, self.session)

    def show_page(self, name: str, **place: Any) -> Page:
        """Show a page, built now if it was never visited, at a place on it."""
        if self._current and self._current in self._pages:
            self._pages[self._current].leave()
            for bar in (self.messages, *below(self._pages[self._current], MessageBar)):
                bar.expire(left=True)
        # Pages are ordered by their last visit; the one in view comes last.
        page = self._pages.pop(name, None) or self._make(name)
        self._pages[name] = page
        if name in LOOKED_UP and self._current not in LOOKED_UP:
            self._from = self._current
        self._current = name
        self.stack.setCurrentWidget(page)
        page.navigate(place)
        self._show_tabs()
        page.focus_first()
        be_seen(self)
        return page

    def show_place(self, name: str) -> Page:
        """Show a place at the tab left last."""
        place = next(place for place in (*self._places, SETTINGS) if place.name == name)
        left = self._left.get(name, place.tabs[0])
        return self.show_page(left.page, **({"part": left.part} if left.part else {}))

    def show_part(self, page: str, part: str) -> None:
        self.show_page(page, **({"part": part} if part else {}))

    def _show_tabs(self) -> None:
        """Mark the place of the page in view, and show its tabs."""
        place, tab = standing(self._current, self.page.part_name())
        self.navigation.show_chosen(place.name if place else "")
        if place is None or tab is None:
            self.bar.hide()
            return
        self._left[place.name] = tab
        tabs, more = (
            {each: words for each in line if (words := self._words(each))}
            for line in (place.tabs, place.more)
        )
        self.bar.show_tabs(tabs, more, tab)
        self.bar.show_help(self.page.ABOUT)

    def offered(self) -> Iterator[tuple[Place, PlaceTab]]:
        """Every place with each of its offered tabs."""
        for place in (*self._places, SETTINGS):
            for tab in (*place.tabs, *place.more):
                if self._words(tab):
                    yield from ((place, each) for each in (tab, *tab.beside) if self._words(each))

    def _words(self, tab: PlaceTab) -> str:
        """The current title of a tab, with its page's count; empty if the tab is not offered."""
        project = self.session.project
        if (tab.kind is not None and tab.kind not in profile.profile(project).kinds) or (
            tab.when is not None and not tab.when(project) and tab.page != self._current
        ):
            return ""
        page = self._pages.get(tab.page)
        return page.part_words(tab.part, tab.words) if page else tab.words

    def show_keys(self) -> None:
        """Show all keys; called again, go back."""
        if self._current != "Keys" or not self.come_back():
            self.show_page("Keys")

    def come_back(self) -> bool:
        """Go back from keys or help to the page they were opened from; whether there was one."""
        there = self._from if self._current in LOOKED_UP else ""
        if there:
            page = self._pages.get(there)
            self.show_page(there, **(page.place() if page else {}))
        return bool(there)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave keys and help with Esc."""
        if event.key() != Qt.Key.Key_Escape or not self.come_back():
            super().keyPressEvent(event)

    def _make(self, name: str) -> Page:
        module, class_name = PAGES[name]
        page: Page = getattr(import_module(module), class_name)(self.session)
        if page.part_tabs is not None:
            page.part_tabs.tabBar().hide()
            page.part_tabs.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            page.part_tabs.currentChanged.connect(lambda _: self._show_tabs() if page is self.page else None)
        self.stack.addWidget(page)
        # Only in its place: a page styled before is styled again when it is put there.
        page.apply_theme()
        return page

    @property
    def page(self) -> Page:
        return self._pages[self._current]

    def show_refusal(self, refusal: Refusal) -> None:
        """Show a refusal in the message bar."""
        self.messages.show_message("warning", refusal.happened, refusal.todo)
        if isinstance(refusal, KeyNotAllowed):
            self.messages.set_action("Allow it", partial(self._let_key_go, refusal, allowed=True))
            if refusal.key.startswith("keyring:"):
                self.messages.set_other("Go without it", partial(self._let_key_go, refusal, allowed=False))

    def _let_key_go(self, refusal: KeyNotAllowed, *, allowed: bool) -> None:
        from annotator.actions.judges import kept_keys

        words = self.session.attempt(lambda: kept_keys.allow(refusal.key, refusal.address, allowed=allowed))
        if words is not None:
            self.messages.show_message("success", words, "Start again what was refused.")

    def choose_person(self, person_id: str) -> None:
        """Work as another person of the project; pages are rebuilt, since each shows only that person's work."""
        chosen = next(person for person in people.people(self.session.project) if person.id == person_id)
        self.page.leave()
        self.session.project.work_as(chosen)
        # The page in view goes last: otherwise the next one would be shown and styled, only to be deleted as well.
        for page in sorted(self._pages.values(), key=lambda page: page is self.page):
            self._take_down(page)
            self.stack.removeWidget(page)
            page.deleteLater()
        self.session.forget_pages()
        self._pages.clear()
        self.show_page(self._current)
        self._show_title()
        self._count_waiting()

    @cached_property
    def _palette(self) -> "Palette":
        from annotator.gui.shell.palette import Palette

        return Palette(self)

    def find_anything(self) -> None:
        """Open the command palette over the page, or close it."""
        self._palette.turn()

    def visited(self) -> list[Page]:
        """The pages by their last visit, the one in view first."""
        return list(self._pages.values())[::-1]

    def take_back(self, verb: Callable[[], None]) -> None:
        """Undo or redo after storing what is being typed, which is the latest change."""
        self.page.leave()
        verb()

    def checkpoint(self) -> None:
        """Store what is being typed, and say that everything is saved."""
        self.page.leave()
        self.status.say_saved()

    def rebind(self) -> None:
        for act, action in self._acts.items():
            action.setShortcuts([QKeySequence(key) for key in keys.sequences(act)])
        keys.retell(self)
        for page in self._pages.values():
            page.rebind()

    def _changed(self, change: Change) -> None:
        # Another wording does not change a document's state, nor what waits.
        if change.kind != "artifact" or not change.undoable:
            self._recount.start()
        if change.kind == "person":
            self._show_title()

    def _count_waiting(self) -> None:
        # Only after the first idle: counting the waiting work loads all that labelling needs.
        from annotator.actions.parcels import waiting

        if not self._closed:
            self.session.ask_later(self._show_waiting, waiting.counts)

    def _show_waiting(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            self.navigation.show_waiting(name, count)
        self._show_tabs()
        if self.tries is not None:
            self.tries.refresh()

    def _back_up_when_due(self) -> None:
        from annotator.actions.project import backups

        if not self.session.project.readonly and backups.due(self.session.project):
            self.session.ask(backups.make, "every half hour of work")

    def _show_title(self) -> None:
        project = self.session.project
        locked = " — read only" if project.readonly else ""
        self.setWindowTitle(f"{project.title} — Goldsmith{locked}")
        person = project.person
        self.navigation.person.setText(f"Working as\n{person.name}" if person else "")
        if (why := project.why_readonly) is not None:
            self.messages.show_message("info", why.happened, why.todo, lasting=True)

    def restore_backup(self, backup: Path) -> None:
        """Close the file, replace it by the backup, and open it again."""
        from annotator.actions.project import backups

        self._replace("Restoring the backup", lambda path, _: backups.restore(path, backup))

    def reset_sample(self) -> None:
        """Close the sample, create it again, and open it; the previous contents are kept beside it."""
        from annotator.actions.imports import samples

        self._replace("Resetting the sample project", samples.reset)

    def _replace(self, what: str, put: Callable[[Path, Tell], object]) -> None:
        if job := self.session.job:
            self.show_refusal(Refusal(f"Still in progress: {job}.", "Wait until it has finished."))
            return
        path = self.session.project.path

        def made(tell: Tell) -> Path:
            put(path, tell)
            return path

        self.give_back()
        self.making_wanted.emit(what, made)

    def shows(self, path: Path | None) -> bool:
        return path is not None and not self._closed and files.same(path, self.session.project.path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if page_module.files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Show dropped work on Exchange, open projects and tasks; import anything else."""
        event.acceptProposedAction()
        files = page_module.ours(event)
        work = [path for path in files if page_module.form_of(path) == page_module.WORK]
        if work and not self.session.project.from_task:
            self.show_page("Exchange", files=work)
        elif files:
            self.other_project_wanted.emit(files[0])
        else:
            self.session.attempt(partial(self._import, page_module.files(event)))

    def _import(self, paths: list[Path]) -> None:
        if (project := self.session.project).readonly or project.from_task:
            raise Refusal(
                f"This project {'is read only' if project.readonly else 'was made from a task'}: "
                "nothing was imported.",
                "Drop the files on the project they are for.",
            )
        people.refuse_others(project, "imports files")
        self.show_page("Import", files=paths)

    def give_back(self) -> None:
        """Store what is being typed and close the file; the window cannot be used afterwards."""
        if self._closed:
            return
        self._closed = True
        self._backup.stop()
        self._recount.stop()
        self._folder.stop()
        left = json.dumps([self._current, self.page.place()])
        QSettings().setValue(_key(self.session.project), left)
        for page in self._pages.values():
            page.leave()
            self._take_down(page)
        self.session.end()

    def _take_down(self, page: Page) -> None:
        page.stop()
        self.status.end_runs(page)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.tries is not None:
            self.tries.fit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Store what is being typed, end the judging child and close the file; not while a job is in progress."""
        if self._ends.hold(event):
            return
        self.give_back()
        frame.keep_sidebar(self.navigation)
        self.closed.emit()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)


class FollowUp(QObject):
    """Reports ended jobs with a link to the page, and delays closing until jobs have ended."""

    def __init__(self, window: "Window") -> None:
        super().__init__(window)
        self._window = window
        self._closing = False
        window.session.free.connect(self._close_now)
        # If a job was refused, stay open so that the reason can be read.
        window.session.refused.connect(self._stay)
        window.session.ended.connect(self._show)
        window.session.turned.connect(self._show_turned)

    def hold(self, event: QCloseEvent) -> bool:
        """Whether the window stays open because a job is in progress; it then says so, and closes afterwards.

        What is being typed is stored now: an ending desktop session does not wait.
        """
        if not self._window.session.job:
            return False
        event.ignore()
        self._window.page.leave()
        self._closing = True
        messages, job = self._window.messages, self._window.session.job
        messages.show_message(
            "info", f"The window closes when this has finished: {job}.", "Your work is saved.", lasting=True
        )
        messages.set_action("Stop and close", self._stop)
        messages.set_other("Stay", self._choose_to_stay)
        return True

    def _stop(self) -> None:
        self._window.messages.show_message("info", "Stopping; then the window closes.", lasting=True)
        self._window.session.stop_jobs()

    def _close_now(self) -> None:
        if self._closing:
            QTimer.singleShot(0, self._window, self._window.window().close)

    def _choose_to_stay(self) -> None:
        self._stay()
        self._window.messages.clear()

    def _stay(self) -> None:
        self._closing = False

    def _show_turned(self, words: str, page: str, place: dict[str, Any]) -> None:
        """Say what was undone or redone, unless the page in view shows it."""
        if page != self._window.page.NAME:
            self._show(words, page, place)

    def _show(self, words: str, page: str, place: dict[str, Any]) -> None:
        if self._closing:
            # Another job may still be in progress: keep the button that cancels closing.
            return
        self._window.messages.show_message("success", words)
        self._window.messages.set_action("Show", partial(self._go, page, place))

    def _go(self, page: str, place: dict[str, Any]) -> None:
        self._window.messages.clear()
        self._window.show_page(page, **place)


class StatusBar(QStatusBar):
    """The status bar, in a fixed order: saved · a button for each run, which opens its page · the file."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__()
        self._session = session
        self.setSizeGripEnabled(False)
        self.runs: dict[BackgroundRun, QPushButton] = {}
        """The runs in the background, in the order of their start."""
        self._saved, self._file = QLabel(), ElidedLabel()
        for label in (self._saved, self._file):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setContentsMargins(8, 0, 8, 0)
        self.addWidget(self._saved)
        self.addPermanentWidget(self._file, 1)
        self._file.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._file.setText(session.project.path.name)
        self._file.setToolTip(str(session.project.path))
        self._saved.setText("Everything is saved")
        session.saved.connect(self._show_saved)
        session.run_changed.connect(self._show_run)

    def act(self, verb: "Callable[[BackgroundRun], None]") -> None:
        """Apply an act to the visible run, otherwise to the one started last."""
        seen = [run for run in self.runs if run.is_seen()]
        for run in [*seen, *reversed(self.runs)][:1]:
            verb(run)

    def end_runs(self, page: QWidget) -> None:
        """End the runs of a page that is taken down; what is finished stays stored."""
        for run in [run for run in self.runs if run.owner is page or page.isAncestorOf(run.owner)]:
            run.stop()

    def _show_saved(self, at: datetime) -> None:
        self._saved.setText(f"Saved {at:%H:%M:%S}")

    def say_saved(self) -> None:
        self._saved.setText(f"Everything is saved ({datetime.now().astimezone():%H:%M:%S})")

    def _show_run(self, run: "BackgroundRun") -> None:
        """Show the progress of a run; remove it when it has ended."""
        if not run.running:
            if (button := self.runs.pop(run, None)) is not None:
                self.removeWidget(button)
                button.deleteLater()
            return
        if run not in self.runs:
            button = self.runs[run] = QPushButton()
            button.setProperty("role", "quiet")
            button.clicked.connect(lambda: self._session.go(run.page, **run.place))
            self.addWidget(button)
        self.runs[run].setText(run.words())
        self.runs[run].setToolTip(tooltip(f"{run.words()}: show it"))


def stored_place(project: Project) -> LeftPlace | None:
    """The page and location left last; None the first time."""
    try:
        page, place = json.loads(str(QSettings().value(_key(project), "")))
    except ValueError:
        return None
    return str(page), dict(place)


def _key(project: Project) -> str:
    return f"places/{project.get('id')}/{project.by}"
