"""Table of returned files: person, outcome, receipt code, and pieces."""

from collections.abc import Sequence

from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QTreeWidgetItem

from annotator.domain.experts.parcel import Arrival, ParcelOutcome, Signed
from annotator.gui import theme
from annotator.gui.pages.inbox import outcomes
from annotator.gui.pages.inbox.naming import in_order, shown
from annotator.gui.pages.inbox.outcomes import piece_words
from annotator.gui.review.moments import moment
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

FILE, PERSON, OUTCOME, RECEIPT, REASON = range(5)
COLUMNS = ("File", "Person", "Outcome", "Receipt code", "Outcome")
WIDTHS = (290, 170, 128, 122, 380)
CAME = "Came"
# What someone should know about how a file is signed.
KEY_NEWS = (Signed.FIRST, Signed.OTHER, Signed.NOBODY)
_PAD = 14


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
        """Copy codes by the system's own key."""
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
