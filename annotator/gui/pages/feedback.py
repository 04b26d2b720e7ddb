"""The Feedback page."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QSettings, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QTabBar, QWidget

from annotator.actions.adjudication import feedback
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.domain.common import Change, counted
from annotator.domain.experts.adjudication import DigestDispute, DigestRow, DisputeState, Fate, StageDigest
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.difference import TextPiece, differences
from annotator.gui import theme
from annotator.gui.parts import go_round
from annotator.gui.review.field_chips import field_chips
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession, title
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    PlainLabel,
    RoleFrame,
    Stack,
    StretchSpace,
    check_box,
    column_of,
    horizontal,
    show_tabs,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.gui.widgets.columns import RowsTree, around
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.reading.marked_text import MarkedText, Span, keep_hidden, spans_of
from annotator.gui.widgets.splitter import Splitter

# The order in which the fates of a stage's units are counted.
FATES: dict[str, Chip] = {
    Fate.KEPT: Chip("kept", "check", "agreed"),
    Fate.REWORDED: Chip("reworded", "author", "unconfirmed"),
    Fate.MERGED: Chip("merged", "link", "unconfirmed"),
    Fate.DROPPED: Chip("dropped", "trash", "disagree"),
    Fate.ADDED: Chip("added", "plus", "incomplete"),
}

EXPLAINED = (
    "You can object once per item, so state what matters most. The adjudicator reads it without your name "
    "and replies with an answer or a new version. The agreement figure was frozen before adjudication and "
    "does not change."
)
PROMPT = "What is wrong with the consensus, and why?"

# If less than this share of the words is common, marking the rest would only be noise.
WORTH_MARKING = 0.3
GONE, NEW = "state-disagree", "state-agreed"
NOTHING = {
    "own": "You had no such unit.",
    "consensus": "The consensus has no such unit.",
}

# At most this many rows are laid out at once; the others are reached by buttons.
AT_ONCE = 60

# People: experts who handed in weeks ago and, elsewhere, never learnt what the curator made of it.
# In a narrow list, an item's key is elided, with a tooltip; the list gets at most this share of the window.
LEAST_KEY, SHARE = 80, 0.38
OBJECTIONS = {DisputeState.OPEN: "waits", DisputeState.ANSWERED: "answered", None: ""}


class FeedbackPage(Page):
    """The Feedback page: items with a consensus on the left; the stages of one, row by row, on the right."""

    NAME = "Feedback"
    HEARS = ("adjudication", "dispute", "artifact", "import", "person", "parcel")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._lines: list[feedback.DigestLine] = []
        self._item_id, self._digest = "", feedback.Digest("", (), may_dispute=False)
        self._reports: dict[str, str] = {}
        self.list = RowsTree(
            "Items with a consensus",
            ("Item", "Changed", "Objection"),
            (90, 74, 84),
            0,
            least=LEAST_KEY,
            moved=self._choose,
        )
        self.question, self.stages, self.view = ElidedLabel("", "subtitle"), QTabBar(), StageView()
        with_properties(self.stages, drawBase=False, expanding=False, accessibleName="Stages of the item")
        self.stages.currentChanged.connect(lambda _: self._show_stage())
        project = session.project
        self.objection = Objection(
            str(project.get("id", "")), from_task=project.from_task, readonly=project.readonly
        )
        self.objection.sent.connect(self._object)
        self.answer = MessageBar()
        self.view.guideline.clicked.connect(self._show_guideline)
        right = column_of(
            self.question, self.stages, (self.view, 1), self.objection, margins=(8, 0, 0, 0), spacing=6
        )
        self.answer.float_over(self.view)
        parts = Splitter(
            "feedback", parts=(self.list, right), sizes=(296, 795), stretch=(0, 1), least=(200, 300)
        )
        parts.grow(self.list, 296, SHARE)
        self.nothing = EmptyState(
            "eye",
            "No consensus yet",
            "Once an adjudicator has made a consensus from your work and others', you see here, unit by "
            "unit, what was changed in yours and why. You can object once per item.",
            actions=[("Go to Author", lambda: self.session.go("Author"))],
        )
        self.body = Stack(self.nothing, parts)
        vertical(
            PlainLabel("Feedback on my work", "title"),
            (self.body, 1),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=8,
        )
        self.bind_all(
            {
                "submit": self.objection.submit,
                "note": self.objection.enter,
                "next_item": lambda: self._step(1),
                "previous_item": lambda: self._step(-1),
                "next_open": self._next_changed,
                "guideline": self._show_guideline,
                "other_pane": self._other_pane,
            }
        )

    def navigate(self, place: dict[str, Any]) -> None:
        """Show every item with feedback; `item_id` and `stage` select the place."""
        self._item_id = str(place.get("item_id") or self._item_id)
        self.answer.clear()
        self._fill(str(place.get("stage", "")))

    def leave(self) -> None:
        self.objection.field.tell()

    def focus_first(self) -> None:
        if self.body.currentIndex() == 1:
            self.list.setFocus()

    def on_change(self, change: Change) -> None:
        self._fill(self._stage.value)

    @property
    def _stage(self) -> Stage:
        place = self.stages.currentIndex()
        return self._digest.stages[place].stage if 0 <= place < len(self._digest.stages) else Stage.RUBRIC

    def _fill(self, stage: str = "") -> None:
        self._lines = self.session.ask(feedback.items_with_digest) or []
        self.body.setCurrentIndex(1 if self._lines else 0)
        ids = [each.item_id for each in self._lines]
        place = ids.index(self._item_id) if self._item_id in ids else 0
        self.list.show_lines(
            [(each.item_key, str(each.changed or "–"), OBJECTIONS[each.dispute]) for each in self._lines],
            place,
        )
        if self._lines:
            self._show_item(ids[place], stage)

    def _choose(self) -> None:
        line = self.list.line_of(self._lines)
        if line is not None and line.item_id != self._item_id:
            self.answer.clear()
            self._show_item(line.item_id)

    def _show_item(self, item_id: str, stage: str = "") -> None:
        result = self.session.ask(feedback.digest, item_id)
        if result is None or not result.stages:
            return
        self._item_id, self._digest = item_id, result
        item = items.read(self.session.project, item_id)
        self.question.setText(f"{item.key} · {item.question}")
        if any(each.stage is Stage.LABELLING for each in result.stages):
            self._reports = {task.response_id: task.name for task in self.session.ask(labels.queue) or []}
        stages = [each.stage for each in result.stages]
        current = next((place for place, each in enumerate(stages) if each.value == stage), 0)
        show_tabs(self.stages, [(title(each), "") for each in stages], current)
        self._show_stage()

    def _show_stage(self) -> None:
        place = self.stages.currentIndex()
        if 0 <= place < len(self._digest.stages):
            self.view.show_stage(self._digest.stages[place], self._reports)
            self.objection.show_item(self._digest, self._stage)

    def _object(self, words: str) -> None:
        if self.session.do(feedback.dispute, self._item_id, self._stage, words) is not None:
            self.objection.forget(self._item_id)
            self._fill(self._stage.value)
            self.answer.show_message("success", "Your objection was sent.", "The answer will appear here.")

    def _show_guideline(self) -> None:
        self.session.go("Guidelines", stage=self._stage.value)

    def _step(self, by: int) -> None:
        self.list.choose(self.list.row() + by)

    def _next_changed(self) -> None:
        """Go to the next item with a change, wrapping around."""
        rows = around(self.list.row(), len(self._lines))
        self.list.choose(next((row for row in rows if self._lines[row].changed), -1))

    def _other_pane(self) -> None:
        """Cycle the focus: list, rows, objection."""
        panes = (
            (self.list, self.list.setFocus),
            (self.view, self.view.area.setFocus),
            (self.objection.field, self.objection.enter),
        )
        go_round([pane for pane in panes if pane[0].isVisible()])


class StageView(QWidget):
    """The units of a stage; unchanged ones are folded unless requested."""

    def __init__(self) -> None:
        super().__init__()
        self._digest: StageDigest | None = None
        self._reports: Mapping[str, str] = {}
        self.cards: list[FeedbackCard] = []
        self.title, self.counts = PlainLabel("", "strong"), Chips(wrap=False)
        self.unchanged = check_box("", lambda: self._lay_out_rows(0))
        self.guideline = with_properties(QPushButton("Guideline"), role="quiet")
        self.area = _Rows()
        head = wrapping(self.title, self.counts, self.unchanged, self.guideline)
        own, agreed = PlainLabel("Yours", "hint"), PlainLabel("In the consensus", "hint")
        heads = horizontal((own, 1), (agreed, 1), margins=(12, 0, 24, 0), spacing=16)
        vertical(head, heads, (self.area, 1), on=self, margins=0, spacing=6)

    def hasHeightForWidth(self) -> bool:
        """Rows scroll: in a narrow window they leave the objection below them its lines."""
        return False

    def show_stage(self, digest: StageDigest, reports: Mapping[str, str]) -> None:
        """Show what happened to a stage's units; `reports` names the reports that labels are about."""
        self._digest, self._reports = digest, reports
        self.title.setText(f"Version {digest.version}")
        self.counts.show_chips(counted_up(digest.rows))
        unchanged = sum(row.change == Fate.KEPT for row in digest.rows)
        self.unchanged.setText(f"Show the {counted(unchanged, 'unit')} kept" if unchanged else "")
        self.unchanged.setVisible(0 < unchanged < len(digest.rows))
        self._lay_out_rows(0)

    def rows(self) -> list[DigestRow]:
        result = list(self._digest.rows) if self._digest else []
        changed = [row for row in result if row.change != Fate.KEPT]
        return result if self.unchanged.isChecked() or not changed else changed

    def _lay_out_rows(self, first: int) -> None:
        rows = self.rows()
        kind = (self._digest.stage.kind if self._digest else None) or Kind.RUBRIC
        shown = rows[first : first + AT_ONCE]
        self.cards = [FeedbackCard(kind, row, self._report(row)) for row in shown]
        turning = [self._turning(first, len(shown), len(rows))] if len(shown) < len(rows) else []
        self.area.setWidget(
            column_of(*self.cards, *turning, StretchSpace(1), margins=(0, 0, 8, 8), spacing=8)
        )

    def _turning(self, first: int, shown: int, of: int) -> QHBoxLayout:
        """The position of these rows among all, with buttons to the previous and next ones."""
        place = PlainLabel(f"{first + 1:,}–{first + shown:,} of {counted(of, 'unit')}", "hint")
        back, on = QPushButton("Previous"), QPushButton("Next")
        for button, start in ((back, first - AT_ONCE), (on, first + AT_ONCE)):
            button.setEnabled(0 <= start < of)
            button.clicked.connect(partial(self._turn_to, start))
        return horizontal(place, StretchSpace(1), back, on)

    def _turn_to(self, first: int) -> None:
        self._lay_out_rows(first)
        self.area.verticalScrollBar().setValue(0)
        self.area.setFocus()

    def _report(self, row: DigestRow) -> str:
        if self._digest is None or self._digest.stage is not Stage.LABELLING:
            return ""
        return self._reports.get(str((row.own or row.consensus or {}).get("response_id", "")), "A report")


class _Rows(PlainArea):
    """A scroll area that also scrolls by keys while it has the focus."""

    def __init__(self) -> None:
        super().__init__("Outcome of each unit")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Home and End go to the ends, arrows and page keys scroll."""
        bar = self.verticalScrollBar()
        ends = {int(Qt.Key.Key_Home): bar.minimum(), int(Qt.Key.Key_End): bar.maximum()}
        if event.key() in ends:
            bar.setValue(ends[event.key()])
        else:
            super().keyPressEvent(event)


class FeedbackCard(RoleFrame):
    def __init__(self, kind: Kind, row: DigestRow, about: str = "") -> None:
        super().__init__("card")
        own, agreed = unit_of(kind, row.own), unit_of(kind, row.consensus)
        pieces = differences(own.text, agreed.text) if own is not None and agreed is not None else ()
        self.own = _Side(
            kind, own, agreed, _spans(pieces, "removed"), "own", struck=row.change == Fate.DROPPED
        )
        self.consensus = _Side(kind, agreed, own, _spans(pieces, "added"), "consensus")
        column = vertical(margins=(10, 8, 10, 10), spacing=6)
        self.chips = Chips()
        reason = [Chip(f"reason: {row.reason.value}")] if row.reason else []
        self.chips.show_chips([fate(row.change), *reason])
        column.addWidget(self.chips)
        if heading := " · ".join(part for part in (about, row.heading) if part):
            column.addWidget(MarkedText(heading))
        column.addLayout(horizontal((self.own, 1), (self.consensus, 1), spacing=16))
        if row.rationale.strip():
            self.why = MarkedText(f"Why: {row.rationale.strip()}")
            column.addWidget(self.why)
        self.setLayout(column)
        self.setAccessibleName(
            f"{fate(row.change).words}. Yours: {own.text if own else 'nothing'}. "
            f"Consensus: {agreed.text if agreed else 'nothing'}. {row.rationale}"
        )


class _Side(QWidget):
    def __init__(
        self,
        kind: Kind,
        unit: Unit | None,
        other: Unit | None,
        marked: list[Span],
        which: str,
        *,
        struck: bool = False,
    ) -> None:
        super().__init__()
        self.text, self.fields = MarkedText(mark=GONE if which == "own" else NEW), Chips()
        column = vertical(on=self, margins=0, spacing=4)
        if unit is None:
            column.addWidget(PlainLabel(NOTHING[which], "hint", wrap=True))
        else:
            if unit.text:
                self.text.show_text(unit.text, marked, struck=struck)
                column.addWidget(self.text)
            self.fields.show_chips(field_words(kind, unit, other, given_up=which == "own"))
            column.addWidget(self.fields)
        column.addStretch(1)
        keep_hidden(self, self.text, self.fields)


def _spans(pieces: tuple[TextPiece, ...], kind: str) -> list[Span]:
    """The spans of pieces of a kind in their own wording; empty if nearly all was changed."""
    whole = sum(len(piece.text) for piece in pieces)
    same = sum(len(piece.text) for piece in pieces if piece.kind == "same")
    if not whole or same < WORTH_MARKING * (whole + same) / 2:
        return []
    return spans_of(pieces, kind)


class Objection(RoleFrame):
    """An objection to a consensus: a field and a button while it is possible; afterwards its text and outcome."""

    sent = Signal(str)

    def __init__(self, project_id: str, *, from_task: bool, readonly: bool) -> None:
        super().__init__("card")
        self._project_id, self._readonly, self._item_id = project_id, readonly, ""
        self.title, self.chips = PlainLabel("", "strong"), Chips()
        self.hint = PlainLabel(
            f"{EXPLAINED}{' It is included in the next file you send.' if from_task else ''}",
            "hint",
            wrap=True,
        )
        self.field = GrowingEdit(1, 6, placeholderText=PROMPT, accessibleName=PROMPT, edited=self._keep)
        self.send = KeyButton("Send the objection", act="submit", role="primary", press=self.submit)
        self.objection, self.answer = MarkedText(), MarkedText()
        head = horizontal(self.title, (self.chips, 1))
        self._form = QWidget()
        horizontal((self.field, 1), self.send, on=self._form, margins=0)
        parts = head, self.hint, self._form, self.objection, self.answer
        vertical(*parts, on=self, margins=(12, 8, 12, 10), spacing=6)

    def show_item(self, digest: feedback.Digest, stage: Stage) -> None:
        """Show the objection to an item, with its state, from the view of one stage."""
        self.field.tell()
        self._item_id = digest.item_id
        made = next(((each.stage, each.dispute) for each in digest.stages if each.dispute), None)
        may = digest.may_dispute and not self._readonly
        self._form.setVisible(may)
        self.hint.setVisible(may or made is None)
        self.title.setText(f"Object to the consensus: {title(stage)}" if may else "Objection")
        if may:
            self.field.setPlainText(str(QSettings().value(self._key(self._item_id), "")))
            self.send.set_hint(f"Send the objection to the consensus of the {stage.value}")
        for part in (self.objection, self.answer, self.chips):
            part.setVisible(made is not None)
        if made is not None:
            self._show_made(*made)

    def _show_made(self, stage: Stage, made: DigestDispute) -> None:
        state = (
            Chip("answered", "check", "agreed")
            if (made.state is DisputeState.ANSWERED)
            else Chip("waiting for an answer", "clock", "incomplete")
        )
        self.chips.show_chips([Chip(title(stage)), state])
        self.objection.show_text(f"You: {made.text}")
        version = (
            f"Version {made.answered_version} of the consensus answers it." if made.answered_version else ""
        )
        words = " ".join(part for part in (made.answer.strip(), version) if part)
        self.answer.show_text(f"Adjudicator: {words}" if words else "")
        self.answer.setVisible(bool(words))

    def submit(self) -> None:
        """Send the typed objection; without a reason, focus the field instead."""
        if self._form.isHidden():
            return
        self.field.tell()
        words = self.field.toPlainText().strip()
        theme.set_role(self.field, wrong=not words)
        if words:
            self.sent.emit(words)
        else:
            self.field.setFocus()

    def enter(self) -> None:
        if not self._form.isHidden():
            self.field.setFocus()

    def forget(self, item_id: str) -> None:
        """Discard the stored draft of an objection that was sent."""
        QSettings().remove(self._key(item_id))

    def _keep(self, words: str) -> None:
        theme.set_role(self.field, wrong=False)
        if words.strip():
            QSettings().setValue(self._key(self._item_id), words)
        else:
            QSettings().remove(self._key(self._item_id))

    def _key(self, item_id: str) -> str:
        return f"feedback/{self._project_id}/{item_id}"


def fate(change: str) -> Chip:
    """The fate of a unit as a chip; if only a field changed, with that field's name."""
    return FATES.get(change) or Chip(change, "author", "unconfirmed")


def counted_up(rows: tuple[DigestRow, ...]) -> list[Chip]:
    """The number of units by fate: “12 kept”, “1 weight changed” …"""
    counts = Counter(row.change for row in rows)
    met = [change for change in dict.fromkeys([*FATES, *counts]) if counts[change]]
    return [replace(fate(change), words=f"{counts[change]} {change}") for change in met]


def unit_of(kind: Kind, values: Mapping[str, Any] | None) -> Unit | None:
    return KINDS[kind].document.UNIT.model_validate(values) if values is not None else None


def field_words(kind: Kind, unit: Unit, other: Unit | None, *, given_up: bool) -> list[Chip]:
    """Chips for a unit's fields; those that differ from the other unit are marked as given up, or as new."""
    names = [field.name for field in KINDS[kind].shown]
    differing = [name for name in names if other is not None and getattr(unit, name) != getattr(other, name)]
    plain, marked = field_chips(kind, unit), field_chips(kind, unit, differing)
    look = ("minus", "disagree") if given_up else ("check", "agreed")
    return [chip if chip in plain else Chip(chip.words, *look) for chip in marked]
