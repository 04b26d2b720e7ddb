"""State of the Adjudicate page: the open item, the current row, and what every row still lacks."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.adjudication.adjudicating import AdjudicationSheet, Ballot, QueueLine, SheetRow
from annotator.actions.authoring import artifacts, settings
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import OWN, AdjudicationState
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Weights
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import grouped
from annotator.gui.pages.adjudication.queue_pane import NOWHERE, Place
from annotator.gui.review.queues import WorkModel
from annotator.gui.session.page import TypedFields
from annotator.gui.session.session import ProjectSession

T = TypeVar("T")
# The sheet, what its rows lack, unfinished texts by ruling and field, and ballots for first votes.
Read = tuple[AdjudicationSheet, Sequence[ruling.Lacking], dict[tuple[str, str], str], Sequence[Ballot]]
RULING_KINDS = ("ruling", "adjudication", "dispute")


class AdjudicationModel(WorkModel):
    """The open item and stage; all rulings and their changes pass through here."""

    laid = Signal()
    """The rows or their order have changed."""
    rows_changed = Signal(object)
    """The ids of rows whose contents have changed."""
    row_wanted = Signal(str, str)
    """The adjudication and row of a guideline gap to be opened."""
    entered = Signal()
    """Enter was pressed on a row's card."""
    dropped = Signal(str, str, str)
    """A unit was dragged to a row: that row, the row it comes from, and its letter."""
    worded = Signal(object)
    """Values by field, chosen in the own wording of the current row, to be stored at once."""
    quote_wanted = Signal(str, str, int)
    """A quotation to show in its source: row, letter (empty for the own wording), and its index."""

    def __init__(self, session: ProjectSession, page: QObject) -> None:
        super().__init__(session, page)
        self.typing = RulingDraft(session, self.do, self)
        self.sheet: AdjudicationSheet | None = None
        self.rows: dict[str, SheetRow] = {}
        self.lacking: dict[str, tuple[ruling.Lacking, ...]] = {}
        self.ballots: dict[str, Ballot] = {}
        self._drafts: dict[tuple[str, str], str] = {}
        self.vote_first = False
        self.begun = False
        """Whether the open item is this person's: from the first act on, not from looking at it."""
        self.acting = False
        """Whether the change being announced was made here, not undone or redone elsewhere."""

    @property
    def place(self) -> Place:
        return (self.sheet.item_id, self.sheet.stage) if self.sheet else NOWHERE

    @property
    def open_sheet(self) -> AdjudicationSheet:
        """The sheet, for what is shown only while an item is open."""
        assert self.sheet is not None
        return self.sheet

    @property
    def ids(self) -> list[str]:
        return list(self.rows)

    @property
    def row(self) -> SheetRow | None:
        return self.rows.get(self.current_id)

    @property
    def locked(self) -> bool:
        """Whether nothing can be ruled now: the file is read-only, or the adjudication is closed."""
        closed = self.sheet is not None and self.sheet.state is AdjudicationState.CLOSED
        return self._session.project.readonly or closed

    @property
    def weights(self) -> Weights:
        return settings.allowed(self._session.project)

    @property
    def unconfirmed(self) -> list[str]:
        return [row.ruling.id for row in self.rows.values() if row.ruling.unanimous and row.ruling.open]

    def unresolved(self, *, contested: bool) -> list[str]:
        """The rows that lack something, in order; only the contested ones, or all."""
        return [ruling_id for ruling_id in self.lacking if self.rows[ruling_id].contested or not contested]

    def lacks(self, ruling_id: str) -> set[str]:
        return {lacking.field for lacking in self.lacking.get(ruling_id, ())}

    def ballot(self, ruling_id: str) -> Ballot | None:
        """The ballot of a row, while a first vote is wanted and not given; otherwise None."""
        ballot = self.ballots.get(ruling_id)
        return ballot if ballot and not ballot.vote else None

    def open(self, line: QueueLine, ruling_id: str = "") -> None:
        """Open a line of the queue at a row, by default its first open conflict."""
        self.leaving.emit()
        if self._load(line.item_id, line.stage):
            self.begun = False
            for (of_ruling, field), text in self._drafts.items():
                self.typing.type(of_ruling, field, text)
            self.current_id = ""
            self.opened.emit()
            self.move_to(ruling_id if ruling_id in self.rows else self._first())

    def show_votes(self, first: bool) -> None:
        """Hide contested values until they are voted on, or show them."""
        self.vote_first = first
        self.refresh()

    def take_in(self, change: Change) -> str:
        """Apply a change; return the adjudication it is about, or an empty string."""
        if change.kind not in RULING_KINDS:
            return ""
        tree = change.after or change.before or {}
        about = change.subject if change.kind == "adjudication" else str(tree.get("adjudication", ""))
        if self.sheet is not None and (about == self.sheet.adjudication_id or change.kind == "dispute"):
            self.refresh()
        return about

    def refresh(self) -> None:
        if self.sheet is None:
            return
        before, ids = self._seen(), self.ids
        place = ids.index(self.current_id) if self.current_id in ids else 0
        if not self._load(self.sheet.item_id, self.sheet.stage):
            return
        after = self._seen()
        if list(before) == list(after):
            self.rows_changed.emit(tuple(name for name in after if before[name] != after[name]))
            return
        if self.current_id not in self.rows:
            left = self.ids
            self.current_id = left[min(place, len(left) - 1)] if left else ""
        self.laid.emit()

    def _seen(self) -> dict[str, object]:
        return {
            name: (row, self.lacking.get(name), self.ballots.get(name), self.locked)
            for name, row in self.rows.items()
        }

    def ask(self, question: Callable[[Project, str], T]) -> T | None:
        """Run a query on the open adjudication, begun or not; emit the refusal and return None if it is refused."""
        if self.sheet is None:
            return None
        item_id, stage = self.place
        return self._session.ask(lambda project: adjudicating.look(project, item_id, stage, question))

    def _load(self, item_id: str, stage: Stage) -> bool:
        result = self._session.ask(adjudicating.look, item_id, stage, self._read)
        if result is None:
            return False
        self.sheet, missing, self._drafts, ballots = result
        self.rows = {row.ruling.id: row for row in self.sheet.rows}
        lacking = grouped((each.ruling_id, each) for each in missing)
        self.lacking = {ruling_id: tuple(result) for ruling_id, result in lacking.items()}
        self.ballots = {ballot.ruling_id: ballot for ballot in ballots}
        self.typing.follow(self.rows)
        return True

    def _read(self, project: Project, adjudication_id: str) -> Read:
        sheet = adjudicating.sheet(project, adjudication_id)
        return (
            sheet,
            () if sheet.state is AdjudicationState.CLOSED else ruling.missing(project, adjudication_id),
            ruling.unfinished(project, adjudication_id),
            adjudicating.ballots(project, adjudication_id) if self.vote_first else (),
        )

    def _first(self) -> str:
        contested = self.unresolved(contested=True) or self.unresolved(contested=False)
        return next(iter(contested or self.rows), "")

    def do(self, verb: Callable[..., Any], *args: Any, **fields: Any) -> bool:
        """Run an action as this page's own; whether it succeeded."""
        self.acting = True
        try:
            return self._begin() and self._session.do(verb, *args, **fields) is not None
        finally:
            self.acting = False

    def do_here(self, verb: Callable[..., Any], *args: Any, **fields: Any) -> bool:
        """Run an action on the current row, if there is one; whether it succeeded."""
        return bool(self.current_id) and self.do(verb, self.current_id, *args, **fields)

    def _begin(self) -> bool:
        """Assign the open item to this person before the first act; whether it is theirs."""
        if not self.begun and self.sheet is not None and not self._session.project.readonly:
            self.begun = self._session.do(adjudicating.open_, *self.place) is not None
            return self.begun
        return True


class RulingDraft(TypedFields):
    """Typed text without a ruling yet, by row and field."""

    def __init__(self, session: ProjectSession, do: Callable[..., bool], parent: QObject) -> None:
        """`do` runs an action as the page's own and returns whether it succeeded."""
        super().__init__(session, parent)
        self._do = do
        self._rows: Mapping[str, SheetRow] = {}

    def follow(self, rows: Mapping[str, SheetRow]) -> None:
        """Take over the current rows; text typed into a row that is gone is shown, and stored as a draft."""
        self._rows, typed = rows, self.typed
        self.typed = {ruling_id: fields for ruling_id, fields in typed.items() if ruling_id in rows}
        for ruling_id in typed.keys() - rows.keys():
            for field, words in typed[ruling_id].items():
                if isinstance(words, str) and words.strip():
                    self._session.do(artifacts.save_draft, artifacts.RULING, ruling_id, field, words)
                    self._session.refused.emit(
                        Refusal("The row that you were writing in is gone.", f"Your words: “{words}”")
                    )

    def draft(self, ruling_id: str, field: str, text: str) -> None:
        if field in self.typed.get(ruling_id, {}):
            self._do(artifacts.save_draft, artifacts.RULING, ruling_id, field, text)

    def _keep_fields(self, ruling_id: str, fields: dict[str, Any]) -> bool:
        row = self._rows.get(ruling_id)
        if row is None:
            return True
        there = {name: getattr(row.ruling, name) for name in ruling.EXPLAINED}
        there |= dict(row.made[0][0]) if row.ruling.take == OWN and row.made else {}
        new = {name: value for name, value in fields.items() if there.get(name) != value}
        for name in fields.keys() - new.keys():
            self._session.do(artifacts.forget_draft, artifacts.RULING, ruling_id, name)
        explanation = {name: value for name, value in new.items() if name in ruling.EXPLAINED}
        worded = {name: value for name, value in new.items() if name not in ruling.EXPLAINED}
        done = not explanation or self._do(lambda project: ruling.explain(project, ruling_id, **explanation))
        if worded:
            done = self._do(lambda project: ruling.write_own(project, ruling_id, **worded)) and done
        return done
