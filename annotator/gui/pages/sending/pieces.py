"""Table of what is returned and what stays, piece by piece."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTreeWidgetItem

from annotator.actions.parcels.sending import SendingOutcome, SendingOverview, SendingPiece
from annotator.gui import theme
from annotator.gui.review.moments import moment
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.lists.rows_tree import RowsTree, line

COLUMNS = ("Item", "Question", "Stage", "Outcome", "Submitted", "Due")
WIDTHS = (120, 360, 100, 280, 140, 140)
QUESTION, GOING = 1, 3
_LOOKS = {
    SendingOutcome.NEW: ("export", "agreed"),
    SendingOutcome.SENT: ("check", "missing"),
    SendingOutcome.DRAFT: ("author", "incomplete"),
    SendingOutcome.OPEN: ("minus", "missing"),
}


class PiecesTable(RowsTree):
    """One line for each stage of each item."""

    wanted = Signal(object)
    """The Piece to go to."""

    def __init__(self) -> None:
        super().__init__("Work sent back and work kept here", COLUMNS, WIDTHS, QUESTION)
        self._pieces: tuple[SendingPiece, ...] = ()
        self.itemActivated.connect(lambda _: self.go())
        theme.watch(self, lambda: self.show_pieces(self._pieces))

    def show_pieces(self, pieces: tuple[SendingPiece, ...]) -> None:
        """Show these, staying at the line that was current."""
        row = max(0, self.row())
        self._pieces = pieces
        self.clear()
        self.addTopLevelItems([_line(piece) for piece in pieces])
        self.choose(min(row, len(pieces) - 1))

    def next_open(self) -> None:
        """Choose the next piece that is not submitted, going round."""
        waits = [
            row for row, piece in enumerate(self._pieces) if piece.draft or piece.going is SendingOutcome.OPEN
        ]
        following = [row for row in waits if row > self.row()] + waits
        if following:
            self.choose(following[0])

    def go(self) -> None:
        """Ask for the page on which the current piece is worked on."""
        if self.row() >= 0:
            self.wanted.emit(self._pieces[self.row()])


def summary(found: SendingOverview) -> str:
    """What goes and what stays in one line."""
    goes, drafts = (
        found.count(SendingOutcome.NEW, SendingOutcome.SENT),
        sum(piece.draft for piece in found.pieces),
    )
    if not found.pieces and not found.disputes:
        return ""
    parts = [f"{_documents(goes)} {'goes' if goes == 1 else 'go'} back"]
    if found.count(SendingOutcome.NEW) and found.sent:
        parts[0] += f", {found.count(SendingOutcome.NEW)} of them for the first time"
    if found.disputes:
        parts.append(
            "1 objection goes along" if found.disputes == 1 else f"{found.disputes} objections go along"
        )
    if not goes and not found.disputes:
        parts[0] = "Nothing is submitted yet, so there is nothing to send"
    if drafts:
        parts.append(f"{_documents(drafts)} not submitted: {'it stays' if drafts == 1 else 'they stay'} here")
    if still := found.count(SendingOutcome.OPEN):
        parts.append(f"{still} not begun")
    return " · ".join(parts)


def key_words(found: SendingOverview) -> str:
    """By which keys this person and the coordinator know each other's files."""
    parts = []
    if found.own_key:
        parts.append(f"Your key is “{found.own_key}”: tell these six words to the coordinator when they ask.")
    if found.task_key:
        parts.append(
            f"Your tasks are signed with “{found.task_key}”: the coordinator's Exchange page shows the same."
        )
    elif found.own_key:
        parts.append("Your task is not signed by a person: an older Goldsmith wrote it.")
    return "\n".join(parts)


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"


def _line(piece: SendingPiece) -> QTreeWidgetItem:
    words = piece.going.value
    if piece.draft and piece.going is not SendingOutcome.DRAFT:
        words += "; your newer draft stays"
    cells = [
        piece.item_key, " ".join(piece.question.split()), piece.stage.value, words,
        moment(piece.at) if piece.at else "", moment(piece.due) if piece.due else "",
    ]  # fmt: skip
    made = line(cells)
    name, state = _LOOKS[SendingOutcome.DRAFT if piece.draft else piece.going]
    made.setIcon(GOING, icon(name, theme.current().px(15), f"state-{state}"))
    made.setForeground(GOING, theme.token(f"state-{state}"))
    return made
