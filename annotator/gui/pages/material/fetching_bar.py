"""Fetching cited pages or importing a folder: options, run and result."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFrame, QHBoxLayout

from annotator.actions.items import page_fetching
from annotator.actions.items.cited_pages import CitedPages
from annotator.actions.items.page_fetching import PagesFolder
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.run import REFUSED, BackgroundRun
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import Level, MessageBar
from annotator.gui.widgets.basics import PlainLabel, push_button, vertical
from annotator.gui.widgets.fields.labelled import together
from annotator.gui.widgets.fields.typed import LineField

READER = "https://reader.example/ — used instead of the pages' own servers"
EVERY = "Every page that a report gives is to be fetched, as key points need them."
SHOWN_PROBLEMS = 4


class FetchingBar(QFrame):
    """A card over the list of pages."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.setProperty("role", "card")
        self.words = PlainLabel(wrap=True)
        self.private = QCheckBox("Also from this machine and private networks")
        self.private.setToolTip("While off, addresses cited in reports cannot reach your own network")
        self.refresh = QCheckBox("Fetch read pages again")
        self.refresh.setToolTip("A stored text is never replaced by an empty one")
        self.every = QCheckBox("All that reports give")
        self.every.setToolTip(
            "Key points are drawn from every page that a report gives, cited by a claim or not"
        )
        self.every.toggled.connect(lambda _: self._offer())
        self._found: CitedPages | None = None
        self.refresh.toggled.connect(lambda _: self._offer())
        self.reader = LineField(placeholderText=READER, clearButtonEnabled=True)
        self.reader.setAccessibleName("Reader service")
        self.folder = push_button("From a folder…", self._choose_folder)
        self.folder.setToolTip(
            "A folder with pages.csv or pages.json, or with saved pages that name their address"
        )
        self.begin = KeyButton("Fetch", keys.shown("start_run"), "primary")
        self.begin.clicked.connect(self.start)
        self.run = BackgroundRun(desk, "Fetching cited pages", "Material", self, part="Cited pages")
        self.answer = MessageBar()
        self.run.ended.connect(self._ended)
        self.run.progressed.connect(lambda _: self.came.emit())
        row, options = QHBoxLayout(), FlowRow(gap=14)
        row.addWidget(self.words, 1)
        row.addWidget(self.folder)
        row.addWidget(self.begin)
        for box in (self.every, self.private, self.refresh, together("Reader service", self.reader)):
            options.addWidget(box)
        vertical(row, options, RunPanel(self.run), on=self, margins=(10, 8, 10, 8))

    def show_plan(self, found: CitedPages) -> None:
        self._found = found
        self._offer()

    def _offer(self) -> None:
        plan = self._found.plan(refresh=self.refresh.isChecked()) if self._found else None
        free = not self.run.running and not self._desk.project.readonly
        every = plan is not None and self.every.isChecked()
        self.words.setText(EVERY if every else plan.words() if plan else "")
        self.begin.setEnabled((every or bool(plan and plan.to_fetch)) and free)
        self.folder.setEnabled(free)

    def start(self) -> None:
        """Fetch what is lacking, in a process of its own."""
        if not self.begin.isEnabled():
            return
        reader = self.reader.text().strip()
        boxes = (self.refresh, self.private, self.every)
        refresh, private, every = (box.isChecked() for box in boxes)
        self._run(page_fetching.FetchRequest(refresh, private, reader, every=every))

    def take_in(self, folder: Path) -> None:
        """Take pages from a folder, in a process of its own."""
        self._run(PagesFolder(str(folder)))

    def rebind(self) -> None:
        self.begin.set_key(keys.shown("start_run"))

    def _run(self, order: page_fetching.FetchRequest | PagesFolder) -> None:
        self.answer.clear()
        self.begin.setEnabled(False)
        self.folder.setEnabled(False)
        self.run.start(order)

    def _choose_folder(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Folder with cited pages")
        if name:
            self.take_in(Path(name))

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            first, *more = page_fetching.words(line)
            problems = list(line.get("problems") or [])
            left = [f"and {len(problems) - SHOWN_PROBLEMS:,} more"] * (len(problems) > SHOWN_PROBLEMS)
            told = " ".join([*more, *problems[:SHOWN_PROBLEMS], *left])
            level: Level = "warning" if line.get("state") == "interrupted" or problems else "info"
            self.answer.show_message(level, first, told)
        self._offer()
        self.came.emit()
