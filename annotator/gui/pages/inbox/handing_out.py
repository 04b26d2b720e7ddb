"""Hand-out pane: assigned work per person, and writing their task files."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QTreeWidgetItem, QWidget

from annotator.actions.parcels import packing, parcel_secrets
from annotator.actions.parcels.packing import HandOutResult, TaskContent
from annotator.actions.project import people
from annotator.domain.texts.change import Change
from annotator.domain.texts.ordering import natural
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.inbox.outcomes import shown
from annotator.gui.review.moments import moment
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import PlainLabel, horizontal, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

COLUMNS = ("Person", "Alias", "Items", "Assigned", "Due", "Handed in", "Works with", "Task file")
WIDTHS = (180, 100, 64, 250, 150, 90, 90, 260)
ALIAS, STAGES, DUE, PROGRAM, FILE = 1, 3, 4, 6, 7

KEY = (
    "This project signs its tasks as “{}”. People who open their first task see these six words: tell them "
    "by telephone or in person."
)
NO_KEY = "Tasks are signed; the six words of this project's key appear here once the first task is written."

VERSION = "The version of Goldsmith that this person's newest returned work was made with"


class HandingOut(QWidget):
    """People with their task content; one file for each selected person, or for everybody."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._holdings: list[TaskContent] = []
        self._written: dict[str, HandOutResult] = {}
        self._programs: dict[str, str] = {}
        self._folder: Path | None = None
        self.answer, self.progress = MessageBar(), ProgressRow()
        self.progress.hide()
        self.nothing = EmptyState(
            "annotator",
            "Nobody has anything to do yet",
            "A task contains only what was assigned to one person. Add people and assign items to them "
            "first; then write their tasks here.",
        )
        self.nothing.add_action(
            "Hand out work…", lambda: self._desk.go("People", part="Hand out"), primary=True
        )
        listed = QWidget()
        column = vertical((self._table(), 1), on=listed, margins=0, spacing=8)
        self.answer.float_over(self.table)
        column.addWidget(self.progress)
        column.addLayout(self._foot())
        self.body = stacked(self.nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))
        self.rebind()
        theme.watch(self, self._fill_table)

    def _table(self) -> RowsTree:
        self.table = RowsTree(
            "People and the contents of their tasks", COLUMNS, WIDTHS, STAGES, several=True, firm=(ALIAS, DUE)
        )
        self.table.itemSelectionChanged.connect(self._offer)
        return self.table

    def _foot(self) -> QHBoxLayout:
        self.some, self.all = KeyButton("Write task…"), KeyButton("Write all tasks…", role="primary")
        self.some.clicked.connect(lambda: self._choose(self._selected()))
        self.all.clicked.connect(self.choose_all)
        about = PlainLabel(
            "One file for each person, named after their alias. It contains only what they may see, and can "
            "be written again at any time: opening it updates their project and never changes their work.",
            "hint",
            wrap=True,
        )
        self.key = PlainLabel(wrap=True)
        return horizontal((vertical(about, self.key), 1), self.some, self.all)

    def rebind(self) -> None:
        """Print the keys as they now are on the buttons."""
        self.all.set_key(keys.shown("submit"))

    def focus_first(self) -> None:
        self.table.setFocus()

    def fill(self) -> None:
        """Read again who has what to do."""
        found = self._desk.ask(packing.holdings) or []
        self._holdings = sorted(found, key=lambda holding: natural(holding.person.alias))
        self.body.setCurrentIndex(1 if self._holdings else 0)
        words = self._desk.ask(parcel_secrets.own_words)
        self.key.setText(KEY.format(words) if words else NO_KEY)
        self._programs = self._desk.ask(people.programs) or {}
        self._fill_table()

    def _fill_table(self) -> None:
        row = max(0, self.table.row())
        self.table.clear()
        for holding in self._holdings:
            self.table.addTopLevelItem(self._line(holding))
        self.table.choose(min(row, len(self._holdings) - 1))
        self._offer()

    def _line(self, holding: TaskContent) -> QTreeWidgetItem:
        stages = ", ".join(f"{stage.value} × {count}" for stage, count in holding.stages)
        due = moment(holding.due) if holding.due else "no date"
        handed = f"{holding.handed_in:,} of {holding.pieces:,}"
        cells = [
            shown(holding.person.name), shown(holding.person.alias), str(holding.items), stages, due, handed,
            self._programs.get(holding.person.id, "–"), self._file_words(holding),
        ]  # fmt: skip
        made = line(cells)
        made.setToolTip(PROGRAM, VERSION)
        written = self._written.get(holding.person.id)
        if written is not None:
            name, colour = ("check", "state-agreed") if written.packed else ("warning", "state-disagree")
            made.setIcon(FILE, icon(name, theme.current().px(15), colour))
        return made

    def _file_words(self, holding: TaskContent) -> str:
        written = self._written.get(holding.person.id)
        if written is None:
            return f"written {moment(holding.written_at)}" if holding.written_at else "not written yet"
        return written.packed.path.name if written.packed else str(written.problem)

    def _selected(self) -> list[str]:
        return [self._holdings[row].person.id for row in self.table.chosen()]

    def _offer(self) -> None:
        chosen, idle = len(self._selected()), self.progress.isHidden() and not self._desk.project.readonly
        self.some.set_words("Write task…" if chosen < 2 else f"Write {chosen} tasks…")
        self.some.setEnabled(idle and chosen > 0)
        self.all.setEnabled(idle)

    def choose_all(self) -> None:
        """Ask for a folder and write everybody's task into it."""
        if self._holdings and self.all.isEnabled():
            self._choose([holding.person.id for holding in self._holdings])

    def _choose(self, person_ids: list[str]) -> None:
        here = str(self._folder or self._desk.project.path.parent)
        name = QFileDialog.getExistingDirectory(self, "Folder for the tasks", here)
        if name:
            self.write(person_ids, Path(name))

    def write(self, person_ids: list[str], folder: Path) -> None:
        """Write the tasks of these people into a folder, on another thread."""
        self._folder = folder
        self.answer.clear()
        self.progress.show_progress("Writing tasks", 0, len(person_ids))
        self.progress.show()
        self._offer()
        self._desk.do_later(self._done, self.progress.show_progress, packing.write_tasks, person_ids, folder)

    def _done(self, written: list[HandOutResult] | None) -> None:
        self.progress.hide()
        if written is not None:
            self._written |= {one.person.id: one for one in written}
            self._tell(written)
            self._desk.tell(Change("parcel", "", "pack task"))
            self._desk.tell_end("The tasks are written.", "Exchange", self, part="Hand out")
        self._offer()

    def _tell(self, written: list[HandOutResult]) -> None:
        good = [one for one in written if one.packed]
        bad = [one for one in written if one.problem]
        many = "1 task" if len(good) == 1 else f"{len(good):,} tasks"
        happened = f"Wrote {many} to {self._folder}." if good else "No task was written."
        todo = "Send each file to its person; the table shows which is whose." if good else ""
        if bad:
            names = ", ".join(shown(one.person.name) for one in bad[:4])
            todo = f"Not written for {names}: {bad[0].problem} {todo}".strip()
        self.answer.show_message("warning" if bad else "success", happened, todo, lasting=True)
        if good:
            self.answer.set_action("Open the folder", self._open_folder)

    def _open_folder(self) -> Any:
        return QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder)))
