"""Import of returned files: previewed when chosen, then imported in one go."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QTreeWidgetItem, QWidget

from annotator.actions.parcels import known_keys, unpacking
from annotator.domain.experts.parcel import REFUSED, Arrival, ParcelOutcome, Signed
from annotator.domain.texts.change import Change
from annotator.gui import keys, theme
from annotator.gui.desk import dropping
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.inbox import outcomes
from annotator.gui.pages.inbox.outcomes import in_order, piece_words, shown
from annotator.gui.review.moments import moment
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import PlainLabel, horizontal, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

FILE, PERSON, OUTCOME, RECEIPT, REASON = range(5)
COLUMNS = ("File", "Person", "Outcome", "Receipt code", "Outcome")
WIDTHS = (290, 170, 128, 122, 380)
CAME = "Came"
# What someone should know about how a file is signed.
KEY_NEWS = (Signed.FIRST, Signed.OTHER, Signed.NOBODY)
_PAD = 14

WHAT = (
    "Each annotator sends back one .goldsmith-work file. Drop any number of files, or a whole folder. You "
    "first see what each would change; nothing is changed until you press Import."
)
FILES = f"Returned work (*{dropping.WORK} *{dropping.WORK}.zip);;All files (*)"


class ImportFiles(QWidget):
    """Files to import, with a preview and then the result of each."""

    tray_wanted = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._paths: list[Path] = []
        self._arrivals: list[Arrival] = []
        self._done = self._busy = self._key_offered = False
        self.setAcceptDrops(not desk.project.readonly)
        self.answer, self.head = MessageBar(), PlainLabel(role="strong", wrap=True)
        self.tree, self.progress = ArrivalsTree("Returned files"), ProgressRow()
        self.progress.hide()
        self.detail = PlainLabel(role="hint", wrap=True)
        for moved in (self.tree.currentItemChanged, self.tree.header().sectionResized):
            moved.connect(lambda *_: self.detail.setText(self.tree.cut_words()))
        self.tree.currentItemChanged.connect(lambda *_: self._offer_key())
        self.nothing = EmptyState("import", "Drop returned files here", WHAT)
        self._first = KeyButton("Choose files…", role="primary")
        self._first.clicked.connect(self.choose)
        self.nothing.add_button(self._first)
        listed = QWidget()
        column = vertical(self.head, (self.tree, 1), on=listed, margins=0, spacing=8)
        self.answer.float_over(self.tree)
        column.addWidget(self.detail)
        column.addWidget(self.progress)
        column.addLayout(self._foot())
        self.body = stacked(self.nothing, listed)
        vertical(self.body, on=self, margins=(0, 10, 0, 0))
        self.rebind()
        self._show()

    def _foot(self) -> QHBoxLayout:
        self.more, self.go = KeyButton("Choose more…"), KeyButton("Import", role="primary")
        self.remove, self.clear = KeyButton("Remove from list", "Del"), QPushButton("Clear the list")
        gone = QShortcut(
            QKeySequence(Qt.Key.Key_Delete), self.tree, context=Qt.ShortcutContext.WidgetShortcut
        )
        gone.activated.connect(lambda: None if self._done else self.forget())
        self.copy = KeyButton("Copy all receipt codes", role="primary")
        self.more.clicked.connect(self.choose)
        self.remove.clicked.connect(self.forget)
        self.clear.clicked.connect(self._clear)
        self.copy.clicked.connect(self._copy)
        self.go.clicked.connect(self.take_in)
        self.about = PlainLabel(role="hint", wrap=True)
        self.about.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return horizontal(self.more, self.remove, self.clear, (self.about, 1), self.copy, self.go)

    def rebind(self) -> None:
        """Print the keys as they now are on the buttons."""
        for button in (self._first, self.more):
            button.set_key(keys.shown("choose_work"))
            button.setEnabled(not self._desk.project.readonly)
        self.go.set_key(keys.shown("submit"))

    def focus_first(self) -> None:
        """Work begins with choosing files, or in the table of those that were."""
        (self.tree if self._paths else self._first).setFocus()

    def choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Work that came back", "", FILES)
        self.look_at([Path(name) for name in names])

    def look_at(self, paths: Sequence[Path]) -> None:
        """Put files, or those in a folder, on the list and show what taking them in would do."""
        found = dropping.with_contents(paths)
        if paths and not found:
            self.nothing.show_words("That folder holds no file ending in .goldsmith-work", WHAT)
        if not found or self._busy:
            return
        listed = [] if self._done else self._paths
        known = {path.resolve() for path in listed}
        self._paths = [*listed, *(path for path in found if path.resolve() not in known)]
        self._preview()
        self.tree.setFocus()

    def forget(self) -> None:
        """Take the selected files off the list; the files themselves stay where they are."""
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
        self._desk.do_later(self._looked, self.progress.show_progress, unpacking.preview, list(self._paths))

    def take_in(self) -> None:
        """Take all of the listed files in, after a backup."""
        if not self.go.isEnabled() or self._busy:
            return
        self._begin("Making a backup and importing the work")
        self._desk.do_later(self._taken, self.progress.show_progress, unpacking.take_in, list(self._paths))

    def _begin(self, what: str) -> None:
        self._busy = True
        self.progress.show_progress(what, 0, 0)
        self.progress.show()
        self._show()

    def _looked(self, arrivals: list[Arrival] | None) -> None:
        if arrivals is None:
            self._paths, self._arrivals = [], []
            self._end(None)
            return
        # What someone has to look at stands first.
        order = sorted(range(len(arrivals)), key=lambda place: outcomes.urgency(arrivals[place]))
        self._paths = [self._paths[place] for place in order]
        self._end([arrivals[place] for place in order])

    def _taken(self, arrivals: list[Arrival] | None) -> None:
        self._done = arrivals is not None
        self._end(arrivals)
        if arrivals is None:
            return
        self._tell()
        # Whatever shows items or documents may show others now.
        for kind in ("parcel", "import"):
            self._desk.tell(Change(kind, "", "take in"))
        self._desk.tell_end("Returned work was imported.", "Exchange", self, part="Import")

    def _end(self, arrivals: list[Arrival] | None) -> None:
        self._busy = False
        self.progress.hide()
        if arrivals is not None:
            self._arrivals = arrivals
            self.tree.show_arrivals(arrivals, "Outcome")
        self._show()

    def _tell(self) -> None:
        waits = outcomes.goes_to_tray(self._arrivals)
        damaged = sum(arrival.outcome in REFUSED for arrival in self._arrivals)
        new = outcomes.goes_in(self._arrivals)
        happened = f"Imported: {_pieces(new)}." if new else "Nothing new was imported."
        todo = ["Tell each annotator their receipt code, to confirm that the file arrived."]
        if waits:
            todo.insert(
                0, f"{_pieces(waits)} {'waits' if waits == 1 else 'wait'} in the tray for you to decide."
            )
        if damaged:
            files = "1 file was left out" if damaged == 1 else f"{damaged} files were left out"
            todo.insert(0, f"{files}; the list gives the reasons.")
        self.answer.show_message(
            "warning" if waits or damaged else "success", happened, " ".join(todo), lasting=True
        )
        if waits:
            self.answer.set_action("Look at the tray", self.tray_wanted.emit)

    def _offer_key(self) -> None:
        """Say of a file that another key signed what replacing the key would mean, and offer it."""
        arrival = self.tree.current_arrival()
        if arrival is None or arrival.outcome is not ParcelOutcome.OTHER_KEY or self._busy:
            if self._key_offered:
                self.answer.clear()
            self._key_offered = False
            return
        found = self._desk.ask(known_keys.replacement_by, arrival.person_id, arrival.key)
        if found is None:
            return
        self.answer.show_message(
            "warning",
            f"“{arrival.file}” is signed with another key than before.",
            f"If you replace the key: {found.meaning}",
            lasting=True,
        )
        self._key_offered = True
        if not self._desk.project.readonly:
            self.answer.set_action("Replace the key", lambda: self._replace_key(arrival))
        # The table gives way to the message; the row that it is about stays in view.
        self.tree.scrollTo(self.tree.currentIndex())

    def _replace_key(self, arrival: Arrival) -> None:
        if self._desk.do(known_keys.replace, arrival.person_id, arrival.key) is not None:
            self._preview()

    def _copy(self) -> None:
        words = codes([arrival for arrival in self._arrivals if arrival.receipt and arrival.person_name])
        QGuiApplication.clipboard().setText(words)
        self.about.setText(
            f"Copied {words}." if "\n" not in words else "Copied: a line with name and code for each."
        )

    def _show(self) -> None:
        self.body.setCurrentIndex(1 if self._paths else 0)
        news = outcomes.goes_in(self._arrivals) + outcomes.goes_to_tray(self._arrivals)
        sound = any(arrival.outcome not in REFUSED for arrival in self._arrivals)
        idle = bool(self._arrivals) and not self._busy
        self.head.setText(self._heading())
        for button, wanted in (
            (self.remove, not self._done),
            (self.clear, self._done),
            (self.copy, self._done),
        ):
            button.setVisible(wanted)
            button.setEnabled(idle)
        self.copy.setEnabled(idle and sound)
        self.go.setVisible(not self._done)
        self.go.setEnabled(idle and sound and not self._desk.project.readonly)
        self.about.setText("" if self._busy else self._about(sound=sound, news=bool(news)))

    def _heading(self) -> str:
        if not self._arrivals:
            return "Reading…" if self._busy else ""
        total = outcomes.total_words(self._arrivals, done=self._done)
        return f"{'What happened' if self._done else 'What would happen'} · {total}"

    def _about(self, *, sound: bool, news: bool) -> str:
        if self._done:
            return "A backup was made first: File → Backups…"
        if not sound:
            return "None of these can be imported; each row gives the reason."
        if not news:
            return "All of this is already here; importing it again changes nothing."
        return "A backup is made first; then everything is imported in one step."

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(
            dropping.form_of(path) == dropping.WORK for path in dropping.with_contents(dropping.files(event))
        ):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.look_at(dropping.files(event))


def _pieces(number: int) -> str:
    return "1 piece of work" if number == 1 else f"{number} pieces of work"


class ArrivalsTree(RowsTree):
    """Files with their pieces; Ctrl+C copies the receipt codes of what is selected."""

    def __init__(self, name: str) -> None:
        super().__init__(name, COLUMNS, WIDTHS, REASON, several=True, nested=True)
        self._arrivals: list[Arrival] = []
        self._last = COLUMNS[REASON]
        theme.watch(self, self._dress)

    def show_arrivals(self, arrivals: Sequence[Arrival], last: str = COLUMNS[REASON]) -> None:
        """Show these; `last` is the title of the last column, which with `CAME` tells the moment each came."""
        self._arrivals, self._last = list(arrivals), last
        self.headerItem().setText(REASON, last)
        self.clear()
        for arrival in arrivals:
            self._add(arrival)
        self.choose(0)

    def _add(self, arrival: Arrival) -> None:
        reason = arrival.reason or outcomes.pieces_words(arrival.pieces)
        last = moment(arrival.at) if self._last == CAME and arrival.at else reason
        file, person = shown(arrival.file), shown(arrival.person_name)
        entry = line([file, person, arrival.outcome.value, arrival.receipt, shown(last)])
        _dress(entry, arrival.outcome)
        self.addTopLevelItem(entry)
        # A package that was not looked into has one piece without a stage, which says nothing more.
        for piece in sorted((one for one in arrival.pieces if one.stage), key=in_order):
            entry.addChild(
                _dress(line([piece_words(piece), "", piece.outcome.value, "", piece.words]), piece.outcome)
            )
        if arrival.program:
            entry.addChild(line([f"Made with Goldsmith {arrival.program}", "", "", "", ""]))
        if arrival.signed in KEY_NEWS:
            entry.addChild(line([arrival.signed.value.capitalize(), "", "", "", outcomes.key_words(arrival)]))
        noticed = any(piece.outcome in outcomes.ATTENTION for piece in arrival.pieces)
        noticed = noticed or arrival.signed in KEY_NEWS
        entry.setExpanded(noticed and self._last != CAME)

    def cut_words(self) -> str:
        """What the current row says in its last column, when there is no room for all of it there."""
        entry = self.currentItem()
        words = entry.text(REASON) if entry is not None else ""
        room = self.columnWidth(REASON) - theme.current().px(_PAD)
        return words if self.fontMetrics().horizontalAdvance(words) > room else ""

    def current_arrival(self) -> Arrival | None:
        """The file of the current row, or of the piece that is current."""
        entry = self.currentItem()
        if entry is None:
            return None
        place = self.indexOfTopLevelItem(entry.parent() or entry)
        return self._arrivals[place] if 0 <= place < len(self._arrivals) else None

    def copy_codes(self) -> str:
        """Put the receipt codes of the selected files on the clipboard, with names when there are several."""
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

    def _dress(self) -> None:
        rows = range(self.topLevelItemCount())
        open_rows = [row for row in rows if self.isExpanded(self.model().index(row, 0))]
        self.show_arrivals(self._arrivals, self._last)
        for row in rows:
            self.setExpanded(self.model().index(row, 0), row in open_rows)


def _dress(entry: QTreeWidgetItem, outcome: ParcelOutcome) -> QTreeWidgetItem:
    entry.setIcon(OUTCOME, outcomes.picture(outcome, theme.current().px(15)))
    entry.setForeground(OUTCOME, outcomes.colour(outcome))
    return entry


def codes(arrivals: Sequence[Arrival]) -> str:
    """The code of one file, or a line with name and code for each of several."""
    if len(arrivals) == 1:
        return arrivals[0].receipt
    return "\n".join(f"{one.person_name or one.file}\t{one.receipt}" for one in arrivals)
