"""The start page: the sample, a new project, an old one, or a recent one."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import dropping
from annotator.gui.desk.errands import Errands, Hearers, Tell
from annotator.gui.shell.projects import FILES, create_by_dialog, related_sample, sample, seminar_sample
from annotator.gui.widgets.bars.key_button import EnterPresses
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
    wrap_lines,
)
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain_area import PlainArea

TASKS = f"Tasks (*{dropping.TASK} *{dropping.TASK}.zip)"
# The widest the two columns get, in pixels.
WELCOME, RECENT = 460, 380


class StartPage(QWidget):
    """The page shown without a project."""

    chosen = Signal(object)
    """A project file to open."""
    to_read = Signal(object)
    """A project file to open without changing it."""

    def __init__(self, recent: list[Path]) -> None:
        super().__init__()
        self.setWindowTitle("Goldsmith")
        self.setAcceptDrops(True)
        self.resize(980, 640)
        self.messages = MessageBar()
        self._errands = Errands(self)
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
        theme.wear(self)
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
        self.making.hide()
        self.related = push_button(
            "Open the sample of related work",
            lambda: self.make("Making the sample of related work", related_sample),
        )
        self.related.setToolTip("The related-work section of one paper and two systems that wrote it, too")
        self.seminar = push_button(
            "Open the sample of a seminar",
            lambda: self.make("Making the sample of a seminar", seminar_sample),
        )
        self.seminar.setToolTip(
            "A seminar’s transcript, the tasks made from it, and two reports on one of them"
        )
        self.new = push_button("New project…", self._new)
        self.open = push_button("Open project…", lambda: self._open("Open project", FILES))
        self.task = push_button("Open a task…", lambda: self._open("Open a task that came by mail", TASKS))
        hint = PlainLabel(
            "The samples need no key and no network. To import a benchmark, make a new project first. "
            "A task that came by mail may also be dropped on this window.",
            "hint",
            wrap=True,
        )
        column = vertical(mark, title, words, 16, spacing=12)
        for button in (self.sample, self.related, self.seminar, self.new, self.open, self.task):
            button.setMinimumHeight(40)
            column.addWidget(button)
            if button is self.seminar:
                column.addWidget(self.making)
        column.addWidget(hint)
        column.addStretch(1)
        return column

    def _recent(self, recent: list[Path]) -> QVBoxLayout:
        title = PlainLabel("Recent projects", "subtitle")
        self.list = QListWidget()
        self.list.setAccessibleName("Recent projects")
        wrap_lines(self.list)
        for path in recent:
            entry = QListWidgetItem(f"{path.stem}\n{path.parent}")
            entry.setData(Qt.ItemDataRole.UserRole, path)
            entry.setToolTip(str(path))
            self.list.addItem(entry)
        self.list.itemActivated.connect(lambda entry: self.chosen.emit(entry.data(Qt.ItemDataRole.UserRole)))
        column = vertical(title)
        if recent:
            column.addWidget(self.list, 1)
        else:
            column.addWidget(PlainLabel("Projects you open are listed here.", "hint", wrap=True))
            column.addStretch(1)
        return column

    def show_problem(self, problem: Refusal, path: Path | None) -> None:
        """Say why a project could not be opened, and offer the way on: reading only, or its backups."""
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
        theme.wear(self._backups)
        self._backups.show()

    def open_sample(self) -> None:
        """Open the sample; where it is not there yet it is made on another thread, and the window lives on."""
        self.make("Making the sample project", sample)

    def make(self, what: str, act: Callable[[Tell], Path]) -> None:
        """Make a project file on another thread and open it; meanwhile nothing else can be chosen."""
        if len(self._errands):
            return
        self.messages.clear()
        self._offer(False)
        self._show_making(what, 0, 0)
        hearers = Hearers(None, self._show_making, self.chosen.emit, self._refused, self._made, job=True)
        self._errands.send(act, hearers)

    def _offer(self, some: bool) -> None:
        for choice in (self.sample, self.related, self.seminar, self.new, self.open, self.task, self.list):
            choice.setEnabled(some)
        self.setAcceptDrops(some)

    def _show_making(self, what: str, done: int, total: int) -> None:
        self.making.show_progress(what, done, total)
        self.making.show()

    def _made(self) -> None:
        self.making.hide()
        self._offer(True)

    def _refused(self, refusal: Refusal) -> None:
        self.messages.show_message("error", refusal.happened, refusal.todo)

    def closeEvent(self, event: QCloseEvent) -> None:
        """What is being made is made whole, and opened by nobody."""
        self._errands.end()
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
        name, _ = QFileDialog.getOpenFileName(self, title, str(Path.home()), files)
        if name:
            self.chosen.emit(Path(name))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropping.files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        if files := dropping.ours(event):
            self.chosen.emit(files[0])
        else:
            self.messages.show_message("info", "Open or make a project first, then drop the files.")
