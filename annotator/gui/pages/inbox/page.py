"""The Exchange page, with the parts that import returned work, list it, and hand out tasks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QShortcut,
)
from PySide6.QtWidgets import QFileDialog, QTreeWidgetItem

from annotator.actions.labelling import board
from annotator.actions.parcels import known_keys, packing, unpacking
from annotator.actions.parcels.packing import HandOutResult, TaskContent
from annotator.actions.project import people
from annotator.domain.common import Change, counted, natural, words_that_hold
from annotator.domain.experts.assignment import REFUSED, Arrival, ParcelOutcome, Signed
from annotator.gui import theme
from annotator.gui.pages.inbox import tray_pane
from annotator.gui.pages.inbox.tray_pane import in_order, piece_words, plain_code, shown
from annotator.gui.review.field_chips import moment
from annotator.gui.session import page
from annotator.gui.session.page import PartedPage, Tab, TabPart
from annotator.gui.session.session import ProjectSession
from annotator.gui.session.shared_folder import FolderLine
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    Stack,
    choose_folder,
    column_of,
    horizontal,
    push_button,
    show_folder,
    vertical,
)
from annotator.gui.widgets.chips import EmptyState, icon
from annotator.gui.widgets.columns import RowsTree, line
from annotator.gui.widgets.fields import search_field
from annotator.gui.widgets.message_bar import ProgressRow

PIECE_FILE, PERSON, OUTCOME, RECEIPT, REASON = range(5)
PIECE_COLUMNS = ("File", "Person", "Status", "Receipt code", "Details")
PIECE_WIDTHS = (290, 170, 128, 122, 380)
CAME = "Came"
# Signatures that the coordinator should know about.
KEY_NEWS = (Signed.FIRST, Signed.OTHER, Signed.NOBODY)
_PAD = 14

WHAT = (
    "Each annotator sends back one .goldsmith-work file. Drop any number of files, or a whole folder. You "
    "first see what each would change; nothing is changed until you press Import."
)
FILES = f"Returned work (*{page.WORK} *{page.WORK}.zip);;All files (*)"


class ImportFiles(TabPart):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._paths: list[Path] = []
        self._arrivals: list[Arrival] = []
        self._done = self._busy = self._key_offered = False
        self.acts = {"submit": self.take_in}
        self.setAcceptDrops(not session.project.readonly)
        self.head = PlainLabel(role="strong", wrap=True)
        self.tree, self.progress = ArrivalsTree("Returned files"), ProgressRow()
        self.detail = PlainLabel(role="hint", wrap=True)
        for moved in (self.tree.currentItemChanged, self.tree.header().sectionResized):
            moved.connect(lambda *_: self.detail.setText(self.tree.cut_words()))
        self.tree.currentItemChanged.connect(lambda *_: self._offer_key())
        self.nothing = EmptyState("import", "Drop returned files here", WHAT)
        self._first = KeyButton(
            "Choose files…",
            act="choose_work",
            role="primary",
            press=self.choose,
            enabled=not self.session.project.readonly,
        )
        self.nothing.add_button(self._first)
        self.more = KeyButton(
            "Choose more…", act="choose_work", press=self.choose, enabled=not self.session.project.readonly
        )
        self.bring_in = KeyButton("Import", act="submit", role="primary", press=self.take_in)
        self.remove, self.clear = (
            KeyButton("Remove from list", "Del", press=self.forget),
            push_button("Clear the list", self._clear),
        )
        QShortcut(
            QKeySequence(Qt.Key.Key_Delete), self.tree, context=Qt.ShortcutContext.WidgetShortcut
        ).activated.connect(lambda: None if self._done else self.forget())
        self.copy = KeyButton("Copy all receipt codes", role="primary", press=self._copy)
        self.about = PlainLabel(
            role="hint", wrap=True, alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        )
        foot = horizontal(self.more, self.remove, self.clear, (self.about, 1), self.copy, self.bring_in)
        listed = column_of(self.head, (self.tree, 1), self.detail, self.progress, foot, spacing=8)
        self.answer.float_over(self.tree)
        self.body = Stack(self.nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))
        self._show()

    def go(self, place: Mapping[str, Any]) -> None:
        """Preview the `files` that a place names."""
        if files := place.get("files"):
            self.look_at([Path(file) for file in files])

    def focus_first(self) -> None:
        """Focus the table of files, or the button that chooses some."""
        (self.tree if self._paths else self._first).setFocus()

    def choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Work that came back", "", FILES)
        self.look_at([Path(name) for name in names])

    def look_at(self, paths: Sequence[Path]) -> None:
        """Add files, or those in a folder, to the list, and preview their import."""
        result = page.with_contents(paths)
        if paths and not result:
            self.nothing.show_words("That folder holds no file ending in .goldsmith-work", WHAT)
        if not result or self._busy:
            return
        listed = [] if self._done else self._paths
        known = {path.resolve() for path in listed}
        self._paths = [*listed, *(path for path in result if path.resolve() not in known)]
        self._preview()
        self.tree.setFocus()

    def forget(self) -> None:
        """Remove the selected files from the list; the files themselves stay where they are."""
        gone = set(self.tree.chosen())
        self._paths = [path for place, path in enumerate(self._paths) if place not in gone]
        self._arrivals = [arrival for place, arrival in enumerate(self._arrivals) if place not in gone]
        if self._paths:
            self._preview()
        else:
            self._clear()

    def _clear(self) -> None:
        self._paths, self._arrivals, self._done = [], [], False
        self.answer.clear()
        self.nothing.show_words("Drop returned files here", WHAT)
        self._show()
        self.focus_first()

    def _preview(self) -> None:
        self._done = False
        self.answer.clear()
        self._begin("Reading the files")
        self.session.do_later(self._looked, self.progress.show_progress, unpacking.preview, list(self._paths))

    def take_in(self) -> None:
        if not self.bring_in.isEnabled() or self._busy:
            return
        self._begin("Making a backup and importing the work")
        self.session.do_later(self._taken, self.progress.show_progress, unpacking.take_in, list(self._paths))

    def _begin(self, what: str) -> None:
        self._busy = True
        self.progress.show_progress(what, 0, 0)
        self._show()

    def _looked(self, arrivals: list[Arrival] | None) -> None:
        if arrivals is None:
            self._paths, self._arrivals = [], []
            self._end(None)
            return
        # Files that need attention come first.
        order = sorted(range(len(arrivals)), key=lambda place: tray_pane.urgency(arrivals[place]))
        self._paths = [self._paths[place] for place in order]
        self._end([arrivals[place] for place in order])

    def _taken(self, arrivals: list[Arrival] | None) -> None:
        self._done = arrivals is not None
        self._end(arrivals)
        if arrivals is None:
            return
        waits = tray_pane.goes_to_tray(self._arrivals)
        damaged = sum(arrival.outcome in REFUSED for arrival in self._arrivals)
        new = tray_pane.goes_in(self._arrivals)
        happened = (
            f"Imported: {counted(new, 'piece of work', 'pieces of work')}."
            if new
            else "Nothing new was imported."
        )
        were, pieces = "was" if damaged == 1 else "were", counted(waits, "piece of work", "pieces of work")
        todo = {
            f"{counted(damaged, 'file')} {were} left out; the list gives the reasons.": damaged,
            f"Needs attention: {pieces}. Decide what becomes of it.": waits,
            "Tell each annotator their receipt code, to confirm that the file arrived.": True,
        }
        self.answer.show_message(
            "warning" if waits or damaged else "success",
            happened,
            " ".join(words_that_hold(todo)),
            lasting=True,
        )
        if waits:
            self.answer.set_action("Look", lambda: self.session.go("Exchange", part="Tray"))
        # Pages that show items or documents may have to show others now.
        for kind in ("parcel", "import"):
            self.session.tell(Change(kind, "", "take in"))
        self.session.tell_end("Returned work was imported.", "Exchange", self, part="Import")

    def _end(self, arrivals: list[Arrival] | None) -> None:
        self._busy = False
        self.progress.hide()
        if arrivals is not None:
            self._arrivals = arrivals
            self.tree.show_arrivals(arrivals, done=self._done)
        self._show()

    def _offer_key(self) -> None:
        """For a file signed with another key, explain and offer the replacement of the key."""
        arrival = self.tree.line_of(self._arrivals)
        if arrival is None or arrival.outcome is not ParcelOutcome.OTHER_KEY or self._busy:
            if self._key_offered:
                self.answer.clear()
            self._key_offered = False
            return
        result = self.session.ask(known_keys.replacement_by, arrival.person_id, arrival.key)
        if result is None:
            return
        self.answer.show_message(
            "warning",
            f"“{arrival.file}” is signed with another key than before.",
            f"If you replace the key: {result.meaning}",
            lasting=True,
        )
        self._key_offered = True
        if not self.session.project.readonly:
            self.answer.set_action("Replace the key", lambda: self._replace_key(arrival))
        # The table makes room for the message; keep the current row in view.
        self.tree.scrollTo(self.tree.currentIndex())

    def _replace_key(self, arrival: Arrival) -> None:
        if self.session.do(known_keys.replace, arrival.person_id, arrival.key) is not None:
            self._preview()

    def _copy(self) -> None:
        words = codes([arrival for arrival in self._arrivals if arrival.receipt and arrival.person_name])
        QGuiApplication.clipboard().setText(words)
        self.about.setText(
            f"Copied {words}." if "\n" not in words else "Copied: a line with name and code for each."
        )

    def _show(self) -> None:
        self.body.setCurrentIndex(1 if self._paths else 0)
        news = tray_pane.goes_in(self._arrivals) + tray_pane.goes_to_tray(self._arrivals)
        sound = any(arrival.outcome not in REFUSED for arrival in self._arrivals)
        idle = bool(self._arrivals) and not self._busy
        self.head.setText(self._heading())
        for button, visible in (
            (self.remove, not self._done),
            (self.clear, self._done),
            (self.copy, self._done),
        ):
            button.setVisible(visible)
            button.setEnabled(idle)
        self.copy.setEnabled(idle and sound)
        self.bring_in.setVisible(not self._done)
        self.bring_in.setEnabled(idle and sound and not self.session.project.readonly)
        self.about.setText("" if self._busy else self._about(sound=sound, news=bool(news)))

    def _heading(self) -> str:
        if not self._arrivals:
            return "Reading…" if self._busy else ""
        total = tray_pane.total_words(self._arrivals, done=self._done)
        return f"{'What happened' if self._done else 'What would happen'} · {total}"

    def _about(self, *, sound: bool, news: bool) -> str:
        return words_that_hold({
            "A backup was made first: Settings → Backups.": self._done,
            "None of these can be imported; each row gives the reason.": not sound,
            "All of this is already here; importing it again changes nothing.": not news,
            "A backup is made first; then everything is imported in one step.": True,
        })[0]  # fmt: skip

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(page.form_of(path) == page.WORK for path in page.with_contents(page.files(event))):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.look_at(page.files(event))


class ArrivalsTree(RowsTree):
    """Files with their pieces; Ctrl+C copies the receipt codes of the selection."""

    def __init__(self, name: str) -> None:
        super().__init__(name, PIECE_COLUMNS, PIECE_WIDTHS, REASON, several=True, nested=True)
        self._arrivals: list[Arrival] = []
        self._last, self._done = PIECE_COLUMNS[REASON], False
        theme.watch(self, self._restyle)

    def show_arrivals(
        self, arrivals: Sequence[Arrival], last: str = PIECE_COLUMNS[REASON], *, done: bool = False
    ) -> None:
        """Show files, already imported if `done`.

        `last` is the title of the last column; for `CAME` the column shows dates.
        """
        self._arrivals, self._last, self._done = list(arrivals), last, done
        self.headerItem().setText(REASON, last)
        self.clear()
        for arrival in arrivals:
            self._add(arrival)
        self.choose(0)

    def _add(self, arrival: Arrival) -> None:
        reason = arrival.reason or tray_pane.pieces_words(arrival.pieces)
        last = moment(arrival.at) if self._last == CAME and arrival.at else reason
        file, person = shown(arrival.file), shown(arrival.person_name)
        entry = line([file, person, self._status(arrival.outcome), arrival.receipt, shown(last)])
        _with_look(entry, arrival.outcome)
        self.addTopLevelItem(entry)
        # A package that was not opened has one piece without a stage, which adds nothing.
        for piece in sorted((one for one in arrival.pieces if one.stage), key=in_order):
            # Once imported, a piece needs no preview of what would happen.
            words = "" if self._done and piece.outcome in tray_pane.GOES_IN else piece.words
            cells = [piece_words(piece), "", self._status(piece.outcome), "", words]
            entry.addChild(_with_look(line(cells), piece.outcome))
        if arrival.program:
            entry.addChild(line([f"Made with Goldsmith {arrival.program}", "", "", "", ""]))
        if arrival.signed in KEY_NEWS:
            entry.addChild(
                line([arrival.signed.value.capitalize(), "", "", "", tray_pane.key_words(arrival)])
            )
        noticed = any(piece.outcome in tray_pane.ATTENTION for piece in arrival.pieces)
        noticed = noticed or arrival.signed in KEY_NEWS
        entry.setExpanded(noticed and self._last != CAME)

    def _status(self, outcome: ParcelOutcome) -> str:
        return tray_pane.HAPPENED[outcome] if self._done else outcome.value

    def cut_words(self) -> str:
        """The last column's text of the current row, if it does not fit there; otherwise empty."""
        entry = self.currentItem()
        words = entry.text(REASON) if entry is not None else ""
        room = self.columnWidth(REASON) - theme.current().px(_PAD)
        return words if self.fontMetrics().horizontalAdvance(words) > room else ""

    def copy_codes(self) -> str:
        """Copy the receipt codes of the selected files to the clipboard, with names if there are several."""
        chosen = [self._arrivals[place] for place in self.chosen() if self._arrivals[place].receipt]
        words = codes(chosen)
        if words:
            QGuiApplication.clipboard().setText(words)
        return words

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_codes()
        else:
            super().keyPressEvent(event)

    def _restyle(self) -> None:
        rows = range(self.topLevelItemCount())
        open_rows = [row for row in rows if self.isExpanded(self.model().index(row, 0))]
        self.show_arrivals(self._arrivals, self._last, done=self._done)
        for row in rows:
            self.setExpanded(self.model().index(row, 0), row in open_rows)


def _with_look(entry: QTreeWidgetItem, outcome: ParcelOutcome) -> QTreeWidgetItem:
    entry.setIcon(OUTCOME, tray_pane.picture(outcome, theme.current().px(15)))
    entry.setForeground(OUTCOME, tray_pane.colour(outcome))
    return entry


def codes(arrivals: Sequence[Arrival]) -> str:
    """The code of one file, or a line with name and code for each of several."""
    if len(arrivals) == 1:
        return arrivals[0].receipt
    return "\n".join(f"{arrival.person_name or arrival.file}\t{arrival.receipt}" for arrival in arrivals)


COLUMNS = ("Person", "Alias", "Items", "In the task", "Due", "Handed in", "Version", "Task file")
WIDTHS = (180, 100, 64, 250, 150, 90, 90, 260)
ALIAS, STAGES, DUE, PROGRAM, FILE = 1, 3, 4, 6, 7

KEY = (
    "This project signs its tasks as “{}”. People who open their first task see these six words: tell them "
    "by telephone or in person."
)
NO_KEY = "Tasks are signed; the six words of this project's key appear here once the first task is written."

VERSION = "The version of Goldsmith that this person's newest returned work was made with"


class HandingOut(TabPart):
    """People with the contents of their tasks; one file for each selected person, or for everybody."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.acts = {"submit": self.choose_all}
        self._holdings: list[TaskContent] = []
        self._written: dict[str, HandOutResult] = {}
        self._programs: dict[str, str] = {}
        self._handed_in: dict[str, str] = {}
        self._folder: Path | None = None
        self.progress = ProgressRow()
        self.nothing = EmptyState(
            "annotator",
            "Nobody has anything to do yet",
            "A task contains only what was assigned to one person. Add people and assign items to them "
            "first; then write their tasks here.",
            actions=[("Assign work…", lambda: self.session.go("People", part="Hand out"))],
        )
        self.table = RowsTree(
            "People and the contents of their tasks", COLUMNS, WIDTHS, STAGES, several=True, firm=(ALIAS, DUE)
        )
        self.focus_on = self.table
        self.table.itemSelectionChanged.connect(self._offer)
        self.mail = push_button(
            "Copy a mail", self._copy_mail, "quiet", toolTip="A text to send with the file"
        )
        self.some = KeyButton("Write 1 task file…", press=lambda: self._choose(self._selected()))
        self.all = KeyButton("Write all…", act="submit", role="primary", press=self.choose_all)
        about = PlainLabel(
            "One file for each person, named after them. It contains only what they may see, and can "
            "be written again at any time: opening it updates their project and never changes their work.",
            "hint",
            wrap=True,
        )
        self.key, self.shared, self.later = PlainLabel(wrap=True), FolderLine(session), PlainLabel(wrap=True)
        foot = horizontal((vertical(about, self.key), 1), self.mail, self.some, self.all)
        listed = column_of((self.table, 1), self.progress, self.later, foot, self.shared, spacing=8)
        self.answer.float_over(self.table)
        self.body = Stack(self.nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))
        theme.watch(self, self._fill_table)

    def fill(self) -> None:
        result = self.session.ask(packing.holdings) or []
        self._holdings = sorted(result, key=lambda holding: natural(holding.person.alias))
        self.body.setCurrentIndex(1 if self._holdings else 0)
        words = self.session.ask(known_keys.own_words)
        self.key.setText(KEY.format(words) if words else NO_KEY)
        self._programs = self.session.ask(people.programs) or {}
        # Counted as on Team and Progress: work whose day has not come yet is in no task.
        self._handed_in = {
            each.key: f"{each.handed_in:,} of {each.assignments:,}"
            for each in board.per_person(self.session.ask(board.board) or ())
        }
        self.later.show_words("\n".join(self.session.ask(packing.without_task) or ()))
        self.shared.fill()
        self._fill_table()

    def go(self, place: Mapping[str, Any]) -> None:
        """Select only the `person` that a place names."""
        if person_id := place.get("person"):
            self.table.clearSelection()
            rows = (row for row, holding in enumerate(self._holdings) if holding.person.id == person_id)
            self.table.choose(next(rows, 0))

    def _fill_table(self) -> None:
        row = max(0, self.table.row())
        self.table.show_lines(map(self._line, self._holdings), min(row, len(self._holdings) - 1))
        self._offer()

    def _line(self, holding: TaskContent) -> QTreeWidgetItem:
        stages = ", ".join(f"{stage.value} × {count}" for stage, count in holding.stages)
        due = moment(holding.due) if holding.due else "no date"
        cells = [
            shown(holding.person.name), shown(holding.person.alias), str(holding.items), stages, due,
            self._handed_in.get(holding.person.id, ""),
            self._programs.get(holding.person.id, "–"), self._file_words(holding),
        ]  # fmt: skip
        made = line(cells)
        made.setToolTip(PROGRAM, VERSION)
        if (written := self._written.get(holding.person.id)) is not None:
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
        chosen, idle = len(self._selected()), self.progress.isHidden() and not self.session.project.readonly
        self.some.set_words(_files(max(1, chosen)))
        self.some.setEnabled(idle and chosen > 0)
        self.all.set_words(_files(len(self._holdings)))
        self.mail.setEnabled(chosen == 1)
        self.all.setEnabled(idle)

    def choose_all(self) -> None:
        if self._holdings and self.all.isEnabled():
            self._choose([holding.person.id for holding in self._holdings])

    def _copy_mail(self) -> None:
        holding = self._holdings[self.table.chosen()[0]]
        QGuiApplication.clipboard().setText(packing.mail(self.session.project, holding))
        self.answer.show_message(
            "success",
            f"A mail to {shown(holding.person.name)} is copied.",
            "Paste it, and attach the task file.",
        )

    def _choose(self, person_ids: list[str]) -> None:
        here = str(self._folder or self.session.project.path.parent)
        choose_folder(self, "Folder for the tasks", lambda folder: self.write(person_ids, folder), here)

    def write(self, person_ids: list[str], folder: Path) -> None:
        """Write the tasks of these people into a folder, on another thread."""
        self._folder = folder
        self.answer.clear()
        self.progress.show_progress("Writing tasks", 0, len(person_ids))
        self._offer()
        self.session.do_later(
            self._done, self.progress.show_progress, packing.write_tasks, person_ids, folder
        )

    def _done(self, written: list[HandOutResult] | None) -> None:
        self.progress.hide()
        if written is not None:
            self._written |= {result.person.id: result for result in written}
            self._tell(written)
            self.session.tell(Change("parcel", "", "pack task"))
            self.session.tell_end("The tasks are written.", "Exchange", self, part="Hand out")
        self._offer()

    def _tell(self, written: list[HandOutResult]) -> None:
        good = [result for result in written if result.packed]
        bad = [result for result in written if result.problem]
        many = counted(len(good), "task file")
        happened = f"Wrote {many} to {self._folder}." if good else "No task was written."
        todo = "Send each file to its person; “Copy a mail” gives a text for it." if good else ""
        if bad:
            names = ", ".join(shown(result.person.name) for result in bad[:4])
            todo = f"Not written for {names}: {bad[0].problem} {todo}".strip()
        self.answer.show_message("warning" if bad else "success", happened, todo, lasting=True)
        if good:
            self.answer.set_action("Open the folder", lambda: show_folder(self._folder))


def _files(many: int) -> str:
    return f"Write {counted(many, 'task file')}…"


LEAST_CODE = 4

# People: coordinators with twenty files in the mail. What annoys them elsewhere: merges by a typed name, imports that
# double or drop work without a word, no way to see beforehand what would happen, and nothing to answer the sender with.
TAKE_IN, TRAY, RECEIVED, HAND_OUT = range(4)
HERE = "annotator.gui.pages.inbox"


class ExchangePage(PartedPage):
    NAME = "Exchange"
    TABS = ("Import", "Tray", "Received", "Hand out")
    PARTS = ("intake", "tray", "received", "out")
    OPEN = ()
    DENIED = (
        "Only a coordinator exchanges files here",
        "Work as a coordinator of this project to import work or hand out tasks.",
    )
    INTRODUCTION = (
        "Tasks and returned work travel as files, by mail or on a USB stick. People are identified by "
        "id, never by a typed name; existing work is never overwritten."
    )
    ABOVE = 16
    HEARS = ("parcel", "tray", "assignment", "person", "import", "item", "setting")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.tabs.setAccessibleName("Parts of the exchange")
        self.denied.add_action("Team…", lambda: self.session.go("People"), primary=True)
        self.bind("choose_work", self._choose)

    intake = Tab(f"{HERE}.page", "ImportFiles")
    tray = Tab(f"{HERE}.tray_pane", "TrayPane")
    received = Tab(f"{HERE}.page", "Received")
    out = Tab(f"{HERE}.page", "HandingOut")

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current state; preview the given files, or open a part by its name."""
        super().navigate({**place, "part": "Import"} if place.get("files") else place)

    def on_change(self, change: Change) -> None:
        self._fill()

    def fill(self) -> None:
        for part in (self.tray, self.received, self.out):
            part.fill()
        for tab, count in ((TRAY, self.tray.waiting), (RECEIVED, self.received.count)):
            words = self.TABS[tab]
            self.tabs.setTabText(tab, f"{words}  {count}" if count else words)

    def _choose(self) -> None:
        if self.body.currentIndex() == 0 and not self.session.project.readonly:
            self.tabs.setCurrentIndex(TAKE_IN)
            self.intake.choose()


class Received(TabPart):
    """The Received tab: imported packages with date and code, newest first."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._all: list[Arrival] = []
        self.search = search_field(
            "Find a person, a file or a receipt code…", "Find among the received files", self._narrow
        )
        self.focus_on = self.search
        self.tree = ArrivalsTree("Received files, newest first")
        self.copy = KeyButton("Copy the receipt code", "Ctrl+C", role="primary", press=self._copy)
        self.tree.itemSelectionChanged.connect(self._offer)
        self.about = PlainLabel(role="hint")
        nothing = EmptyState(
            "import",
            "Nothing was received yet",
            "Imported files are listed here with their receipt codes. Annotators see the same code when "
            "they write their file; if the codes match, the same file arrived.",
        )
        listed = column_of(self.search, (self.tree, 1), horizontal((self.about, 1), self.copy))
        self.body = Stack(nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))

    def fill(self) -> None:
        result = self.session.ask(unpacking.received) or []
        self._all = sorted(result, key=_newest)
        self.body.setCurrentIndex(1 if result else 0)
        self._narrow()

    @property
    def count(self) -> int:
        return len(self._all)

    def _narrow(self) -> None:
        words = self.search.text().strip()
        result = [arrival for arrival in self._all if _fits(arrival, words)]
        self.tree.show_arrivals(result, CAME)
        self.about.setText(
            f"{len(result):,} of {len(self._all):,}" if words else f"{len(self._all):,} received"
        )
        self._offer()

    def _offer(self) -> None:
        chosen = len(self.tree.chosen())
        self.copy.setEnabled(chosen > 0)
        self.copy.set_words("Copy the receipt code" if chosen < 2 else f"Copy {chosen} receipt codes")

    def _copy(self) -> None:
        words = self.tree.copy_codes()
        self.about.setText(
            f"Copied: {words}" if "\n" not in words else "Copied: a line with name and code for each."
        )


def _newest(arrival: Arrival) -> Any:
    # Files imported together are sorted by name.
    minute = int(arrival.at.timestamp() // 60) if arrival.at else 0
    return -minute, natural(arrival.file), arrival.receipt


def _fits(arrival: Arrival, words: str) -> bool:
    if not words:
        return True
    code = plain_code(words)
    if len(code) >= LEAST_CODE and code in plain_code(arrival.receipt):
        return True
    return any(words.casefold() in name.casefold() for name in (arrival.person_name, arrival.file))
