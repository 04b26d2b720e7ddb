"""State of the Adjudicate page: the open item, the current row, and what every row still lacks."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from annotator.actions.adjudication import (
    adjudication_sheets,
    closing,
    openings,
    ruling,
    voting,
)
from annotator.actions.adjudication.adjudicating import QueueLine
from annotator.actions.adjudication.adjudication_sheets import AdjudicationSheet, SheetRow
from annotator.actions.adjudication.closing import Lacking
from annotator.actions.adjudication.voting import Ballot
from annotator.actions.authoring import criterion_weights
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import OWN, AdjudicationState
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.weights import Weights
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.review.adjudication_queue import NOWHERE, Place
from annotator.gui.widgets.later import later

RULING_EVERY_MS = 20_000

T = TypeVar("T")
# The sheet, what its rows lack, unfinished texts by ruling and field, and ballots where a first vote is wanted.
Read = tuple[AdjudicationSheet, Sequence[Lacking], dict[tuple[str, str], str], Sequence[Ballot]]
KINDS = ("ruling", "adjudication", "dispute")


class AdjudicationBench(QObject):
    """The open item and stage; all rulings and their changes pass through here."""

    leaving = Signal()
    """The open item is about to be left: what is being typed must be kept now."""
    opened = Signal()
    """Another item lies open, or none."""
    laid = Signal()
    """The rows are others than before, or in another order."""
    told = Signal(object)
    """What is shown of some rows has changed: their ids."""
    moved = Signal(str)
    """The row at hand has changed: its id."""

    def __init__(self, desk: Desk, page: QObject) -> None:
        super().__init__(page)
        self._desk = desk
        self.typing = RulingDraft(desk, self.do, self)
        self.sheet: AdjudicationSheet | None = None
        self.rows: dict[str, SheetRow] = {}
        self.ruling_id = ""
        self.lacking: dict[str, tuple[Lacking, ...]] = {}
        self.ballots: dict[str, Ballot] = {}
        self._drafts: dict[tuple[str, str], str] = {}
        self.vote_first = False
        self.begun = False
        """Whether the open item is this person's: it is from the first act on, and looking at it is none."""
        self.acting = False
        """Whether a change that is told just now was made here, and not undone or redone elsewhere."""

    @property
    def place(self) -> Place:
        return (self.sheet.item_id, self.sheet.stage) if self.sheet else NOWHERE

    @property
    def row(self) -> SheetRow | None:
        return self.rows.get(self.ruling_id)

    @property
    def locked(self) -> bool:
        """Whether nothing can be ruled now: the file may only be read, or the adjudication is closed."""
        closed = self.sheet is not None and self.sheet.state is AdjudicationState.CLOSED
        return self._desk.project.readonly or closed

    @property
    def weights(self) -> Weights:
        return criterion_weights.allowed(self._desk.project)

    @property
    def unconfirmed(self) -> list[str]:
        """The rows on which everybody agrees and that nobody has confirmed."""
        return [row.ruling.id for row in self.rows.values() if row.ruling.unanimous and row.ruling.open]

    def unresolved(self, *, contested: bool) -> list[str]:
        """The rows that lack something, in order; only those that someone disagrees on, or all."""
        return [ruling_id for ruling_id in self.lacking if self.rows[ruling_id].contested or not contested]

    def lacks(self, ruling_id: str) -> set[str]:
        return {lacking.field for lacking in self.lacking.get(ruling_id, ())}

    def ballot(self, ruling_id: str) -> Ballot | None:
        """The row as it is put to a first vote, while that vote is wanted and not given."""
        ballot = self.ballots.get(ruling_id) if self.vote_first else None
        return ballot if ballot and not ballot.vote else None

    def open(self, line: QueueLine, ruling_id: str = "") -> bool:
        """Lay out a line of the queue at a row, by default its first open conflict; whether that could be done."""
        self.leaving.emit()
        if not self._load(line.item_id, line.stage):
            return False
        self.begun = False
        for (of_ruling, field), text in self._drafts.items():
            self.typing.type(of_ruling, field, text)
        self.ruling_id = ""
        self.opened.emit()
        self.move_to(ruling_id if ruling_id in self.rows else self._first())
        return True

    def show_votes(self, wanted: bool) -> None:
        """Hide contested values until they were voted on, or no longer."""
        self.vote_first = wanted
        self._ask_ballots()
        self.told.emit(tuple(self.rows))

    def move_to(self, ruling_id: str) -> None:
        if ruling_id in self.rows and ruling_id != self.ruling_id:
            self.ruling_id = ruling_id
            self.moved.emit(ruling_id)

    def step(self, by: int) -> None:
        """Take up the row below (1) or above (-1), no further than the ends."""
        ids = list(self.rows)
        if self.ruling_id in ids:
            self.move_to(ids[max(0, min(len(ids) - 1, ids.index(self.ruling_id) + by))])

    def take_in(self, change: Change) -> str:
        """Take over a change; the adjudication that it is about, or nothing."""
        if change.kind not in KINDS:
            return ""
        tree = change.after or change.before or {}
        about = change.subject if change.kind == "adjudication" else str(tree.get("adjudication", ""))
        if self.sheet is not None and (about == self.sheet.adjudication_id or change.kind == "dispute"):
            self.refresh()
        return about

    def refresh(self) -> None:
        """Look at the open item again and tell what is different."""
        if self.sheet is None:
            return
        before, ids = self._seen(), list(self.rows)
        place = ids.index(self.ruling_id) if self.ruling_id in ids else 0
        if not self._load(self.sheet.item_id, self.sheet.stage):
            return
        after = self._seen()
        if list(before) == list(after):
            self.told.emit(tuple(name for name in after if before[name] != after[name]))
            return
        if self.ruling_id not in self.rows:
            left = list(self.rows)
            self.ruling_id = left[min(place, len(left) - 1)] if left else ""
        self.laid.emit()

    def _seen(self) -> dict[str, object]:
        return {
            name: (row, self.lacking.get(name), self.ballot(name), self.locked)
            for name, row in self.rows.items()
        }

    def ask(self, question: Callable[[Project, str], T]) -> T | None:
        """Ask a question about the open adjudication, which need not be begun; a refusal is told and None returned."""
        if self.sheet is None:
            return None
        item_id, stage = self.place
        return self._desk.ask(lambda project: openings.look(project, item_id, stage, question))

    def _load(self, item_id: str, stage: Stage) -> bool:
        found = self._desk.ask(openings.look, item_id, stage, self._read)
        if found is None:
            return False
        self.sheet, missing, self._drafts, ballots = found
        self.rows = {row.ruling.id: row for row in self.sheet.rows}
        lacking: defaultdict[str, list[Lacking]] = defaultdict(list)
        for each in missing:
            lacking[each.ruling_id].append(each)
        self.lacking = {ruling_id: tuple(found) for ruling_id, found in lacking.items()}
        self._take_ballots(ballots)
        self.typing.follow(self.rows)
        return True

    def _read(self, project: Project, adjudication_id: str) -> Read:
        """All in one look, so that all of it is of one state."""
        sheet = adjudication_sheets.sheet(project, adjudication_id)
        closed = sheet.state is AdjudicationState.CLOSED
        return (
            sheet,
            () if closed else closing.missing(project, adjudication_id),
            ruling.kept(project, adjudication_id),
            voting.ballots(project, adjudication_id) if self.vote_first else (),
        )

    def _ask_ballots(self) -> None:
        wanted = self.sheet is not None and self.vote_first
        self._take_ballots(self.ask(voting.ballots) or () if wanted else ())

    def _take_ballots(self, found: Sequence[Ballot]) -> None:
        self.ballots = {ballot.ruling_id: ballot for ballot in found}

    def _first(self) -> str:
        contested = self.unresolved(contested=True) or self.unresolved(contested=False)
        return next(iter(contested or self.rows), "")

    def do(self, verb: Callable[..., Any], *args: Any, **fields: Any) -> bool:
        """Do a verb whose change is this page's own; whether it was done."""
        self.acting = True
        try:
            return self._begin() and self._desk.do(verb, *args, **fields) is not None
        finally:
            self.acting = False

    def _begin(self) -> bool:
        """Make the open item this person's before the first act; whether it is now."""
        if not self.begun and self.sheet is not None and not self._desk.project.readonly:
            self.begun = self._desk.do(openings.open_, *self.place) is not None
            return self.begun
        return True


class RulingDraft(QObject):
    """Typed text that is not ruled yet, by row and field."""

    def __init__(self, desk: Desk, do: Callable[..., bool], parent: QObject) -> None:
        """`do` does a verb as the page's own act and says whether it was done."""
        super().__init__(parent)
        self._desk, self._do = desk, do
        self._rows: Mapping[str, SheetRow] = {}
        self.typed: dict[str, dict[str, Any]] = {}
        self._timer = later(self, self.keep, RULING_EVERY_MS)

    def follow(self, rows: Mapping[str, SheetRow]) -> None:
        """The rows as they now are; what was typed into one that is gone is shown, and stays a draft."""
        self._rows, typed = rows, self.typed
        self.typed = {ruling_id: fields for ruling_id, fields in typed.items() if ruling_id in rows}
        for ruling_id in typed.keys() - rows.keys():
            for field, words in typed[ruling_id].items():
                if isinstance(words, str) and words.strip():
                    self._desk.do(ruling.save_draft, ruling_id, field, words)
                    self._desk.refused.emit(
                        Refusal("The row that you were writing in is gone.", f"Your words: “{words}”")
                    )

    def type(self, ruling_id: str, field: str, value: Any) -> None:
        self.typed.setdefault(ruling_id, {})[field] = value
        if not self._timer.isActive():
            self._timer.start()

    def draft(self, ruling_id: str, field: str, text: str) -> None:
        """Typing paused: the text goes into the file at once."""
        if field in self.typed.get(ruling_id, {}):
            self._do(ruling.save_draft, ruling_id, field, text)

    def keep(self) -> bool:
        """Rule what was typed; whether everything is kept now."""
        self._timer.stop()
        taken, self.typed = self.typed, {}
        for ruling_id, fields in taken.items():
            if ruling_id in self._rows and not self._keep_row(self._rows[ruling_id], fields):
                self.typed[ruling_id] = fields | self.typed.get(ruling_id, {})
        if self.typed:
            self._timer.start()
        return not self.typed

    def _keep_row(self, row: SheetRow, fields: dict[str, Any]) -> bool:
        ruling_id, there = row.ruling.id, self._there(row)
        new = {name: value for name, value in fields.items() if there.get(name) != value}
        for name in fields.keys() - new.keys():
            self._desk.do(ruling.forget_draft, ruling_id, name)
        said = {name: value for name, value in new.items() if name in ruling.EXPLAINED}
        worded = {name: value for name, value in new.items() if name not in ruling.EXPLAINED}
        done = not said or self._do(lambda project: ruling.explain(project, ruling_id, **said))
        if worded:
            done = self._do(lambda project: ruling.write_own(project, ruling_id, **worded)) and done
        return done

    def _there(self, row: SheetRow) -> dict[str, Any]:
        there: dict[str, Any] = {name: getattr(row.ruling, name) for name in ruling.EXPLAINED}
        if row.ruling.take == OWN and row.made:
            there |= dict(row.made[0][0])
        return there
