"""Layout of the Adjudicate page: queue, work and side panel; panels and messages below, acts at the foot."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QStackedWidget,
    QWidget,
)

from annotator.actions.adjudication.adjudicating import AdjudicationSheet, QueueLine, SheetDispute, SheetRow
from annotator.actions.adjudication.ruling import ClosedVersion, Lacking, SettledLacking
from annotator.domain.common import counted
from annotator.domain.experts.adjudication import AdjudicationState, Origin
from annotator.domain.kinds.documents import KINDS
from annotator.gui import keys, theme
from annotator.gui.forms.fields import Speller
from annotator.gui.pages.adjudication.bench import (
    AdjudicationModel,
    AdjudicationQueue,
    AdjudicationQueuePane,
    UnanimousPanel,
    agreement_words,
)
from annotator.gui.pages.adjudication.rows_pane import ConsensusList, RowsPane
from annotator.gui.pages.adjudication.side import SideStack
from annotator.gui.parts import go_round
from annotator.gui.review.field_chips import about, figures_words, title_of
from annotator.gui.review.queues import Folding
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import ActsBar, Command, KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    RoleFrame,
    Stack,
    column_of,
    horizontal,
    push_button,
    take_out,
    vertical,
)
from annotator.gui.widgets.chips import Chip, Chips, EmptyState
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.message_bar import MessageBar, MissingPanel
from annotator.gui.widgets.reading.marked_text import MarkedText
from annotator.gui.widgets.splitter import Splitter

# What is missing → headline, text, the page that mends it, and the button's text.
LACKING: dict[SettledLacking, tuple[str, str, str, str]] = {
    "role": (
        "You are not an adjudicator of this project",
        "You can adjudicate if you have the role or an item is assigned to you. Work as a person who has "
        "it, or ask the coordinator for the role.",
        "People",
        "See the team",
    ),
    "task": (
        "Nothing to adjudicate is here yet",
        "What you adjudicate comes with a task, once all its documents are submitted. Open your newest task; a shared "
        "folder brings it by itself.",
        "Send",
        "Go to Send",
    ),
    "items": (
        "No items yet",
        "Two people answer each item, then a third person merges their answers into one document. Import a "
        "benchmark, or write "
        "the first item yourself.",
        "Items",
        "Go to Items",
    ),
    "answers": (
        "Nobody has submitted anything yet",
        "An item appears here once everyone assigned to it has submitted. Import returned work, or wait "
        "until the annotators finish on the Author page.",
        "Items",
        "See the items",
    ),
    "seals": (
        "No agreement is frozen yet",
        "Some work is submitted, but not by everyone assigned. Once the last one is submitted, agreement is "
        "computed and frozen, and the item appears here.",
        "Items",
        "See the items",
    ),
    "own": (
        "You have answered all of these items yourself",
        "Someone else must adjudicate them: nobody adjudicates their own answers.",
        "People",
        "See the team",
    ),
    "others": (
        "Nothing is left for you to adjudicate",
        "Every item that is ready is assigned to others, started by others, or answered by you. The "
        "coordinator can reassign an item to you.",
        "People",
        "See the team",
    ),
}


def nothing_yet(session: ProjectSession, lacking: SettledLacking) -> EmptyState:
    headline, words, page, button = LACKING[lacking]
    empty = EmptyState("adjudicate", headline, words)
    place = {"part": "Team"} if page == "People" else {}
    way = empty.add_action(button, lambda: session.go(page, **place), primary=True)
    way.setAutoDefault(True)
    empty.setFocusProxy(way)
    return empty


class AdjudicationStart(EmptyState):
    """Shown if no conflict is begun: the first ruling assigns one to this person."""

    def __init__(self) -> None:
        super().__init__("adjudicate", "")
        self.begin = self.add_action("Begin", primary=True)
        self.begin.setAutoDefault(True)

    def show_first(self, line: QueueLine, conflicts: int) -> None:
        wait = "1 conflict waits for you" if conflicts == 1 else f"{conflicts} conflicts wait for you"
        first = f"First comes item \u2068{line.item_key}\u2069, {line.stage.value} ({agreement_words(line.agreement)})."
        masked = (
            "Letters stand for the people who wrote, shuffled for each item. Their agreement figure is "
            "frozen; your rulings do not change it."
        )
        self.show_words(wait, f"{first} {masked}")


class AdjudicationDone(EmptyState):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__("check", "No conflict is left")
        self.look = self.add_action("Check the drawn items")
        self.confirm = self.add_action("Confirm the unanimous ones…")
        # Rulings from a task are sent back before they are released.
        onward = "Send" if session.project.from_task else "Release"
        self.release = self.add_action(f"Go to {onward}", lambda: session.go(onward), primary=True)
        self.release.setAutoDefault(True)
        self.setFocusProxy(self.release)

    def show_counts(self, closed: int, sampled: int, agreed: int) -> None:
        """Show how many items are closed, unanimous or drawn for a spot check."""
        parts = [f"{closed} {'is' if closed == 1 else 'are'} closed"]
        parts += (
            [f"{agreed} unanimous {'one is' if agreed == 1 else 'ones are'} not yet confirmed"]
            if agreed
            else []
        )
        parts += [f"{sampled} {'was' if sampled == 1 else 'were'} drawn for a spot check"] if sampled else []
        self.show_words("No conflict is left", f"{'; '.join(parts)}. Thank you.")
        self.look.setVisible(sampled > 0)
        self.confirm.setVisible(agreed > 0)


# Act of the key table, title, icon, tooltip.
HEAD_ACTS = (
    ("vote_first", "Vote first", "eye", "Hide contested values until you have given your own"),
    ("source", "Source", "quote", "Show the sources, or the report that labels are about"),
    ("guideline", "Guideline", "help", "Show the guideline"),
    ("discussion", "Discussion", "note", "Show the notes on this item; they can only be added to"),
    ("gaps", "Gaps", "flag", "Show what the guidelines leave open"),
)
SMALL = 0.92
ORDER = "Order differs: move rows with {} and {}"
WIDE = 640

ORIGINS = {
    Origin.BOTH: "from all",
    Origin.ONE: "from one",
    Origin.EDITED: "edited",
    Origin.NEW: "new",
}

ROWS_SHOWN, SHOWN_LETTERS = 5, 120

LEFT = (
    Command("note", "Rationale", "note", "Explain the reason"),
    Command("flag", "Gap", "flag", "Describe what the guideline leaves open"),
    Command("new_row", "New row", "plus", "Add a unit that nobody wrote"),
)
RIGHT = (
    Command("confirm_unanimous", "Confirm agreed rows"),
    Command("next_open", "Next open"),
    Command("submit", "Close item", hint="Close this item and go to the next conflict", role="primary"),
)

LEAST_WIDTHS = (150, 330)


class Frame(QStackedWidget):
    """The layout of the page; a single empty state if there is nothing to adjudicate."""

    def __init__(self, session: ProjectSession, bench: AdjudicationModel, queue: AdjudicationQueue) -> None:
        super().__init__()
        self.queue_pane, self.head, self.standing = (
            AdjudicationQueuePane(queue),
            AdjudicationHead(),
            StatusMessages(),
        )
        self.speller = Speller(session.ask_newest, self)
        self.consensus, self.rows = ConsensusList(bench), RowsPane(bench, self.speller)
        self.side, self.bar = SideStack(session, bench), AdjudicationActionBar()
        self.close_panel, self.unanimous, self.messages = (
            ClosePanel(),
            UnanimousPanel(session, queue),
            MessageBar(),
        )
        self.done, self.beginning = AdjudicationDone(session), AdjudicationStart()
        self._empty: QWidget | None = None
        self._roomy = False
        self._whole = column_of((self._across(), 1), self.bar, spacing=0)
        self.addWidget(self._whole)
        Folding(self, self.queue_pane, self.head.queue_shown, "adjudicate/queue")

    def _across(self) -> Splitter:
        self._build_middle()
        centre = column_of((self.middle, 1), self.close_panel, self.unanimous, spacing=0)
        self.messages.float_over(self.middle)
        # Less than they ask for: large type must not push the window over the edge of the screen.
        for part, least in zip((self.queue_pane, centre), LEAST_WIDTHS, strict=True):
            part.setMinimumWidth(least)
        self._main = Splitter(
            "adjudicate/main",
            parts=(self.queue_pane, centre, self.side),
            sizes=(236, 895, 0),
            stretch=(0, 1, 0),
        )
        self._main.grow(self.queue_pane, 236)
        self.side.turned.connect(self._make_room)
        return self._main

    def _build_middle(self) -> None:
        both = Splitter(
            "adjudicate/both",
            Qt.Orientation.Vertical,
            parts=(self.consensus, self.rows),
            sizes=(84, 496),
            stretch=(0, 1),
        )
        self.work = column_of(self.head, self.standing, (both, 1), spacing=0)
        self.middle = Stack(self.work, self.done, self.beginning)
        self.middle.currentChanged.connect(lambda _: self._turned())

    def show_middle(self, part: QWidget) -> None:
        self.setCurrentWidget(self._whole)
        self.middle.setCurrentWidget(part)

    def show_nothing(self, empty: QWidget) -> None:
        if self._empty is not None:
            take_out(self, self._empty)
        self._empty = empty
        self.addWidget(empty)
        self.setCurrentWidget(empty)

    def focus_first(self) -> None:
        if self.currentWidget() is not self._whole and self._empty is not None:
            self._empty.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.middle.currentWidget() is self.done:
            self.done.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.middle.currentWidget() is self.beginning:
            self.beginning.begin.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.rows.take_focus()

    def next_pane(self) -> None:
        """Cycle the focus: rows, consensus, side panel, queue."""
        panes: list[tuple[QWidget, Callable[[], object]]] = [
            (self.rows, self.rows.take_focus),
            (self.consensus, lambda: self.consensus.list.setFocus(Qt.FocusReason.ShortcutFocusReason)),
            (self.side, self.side.enter),
            (self.queue_pane, lambda: self.queue_pane.list.setFocus(Qt.FocusReason.ShortcutFocusReason)),
        ]
        go_round([pane for pane in panes if pane[0].isVisible()])

    def _make_room(self, shown: str) -> None:
        """Make the side panel wide enough to read when it is first opened; later it keeps its width."""
        queue, centre, side = self._main.sizes()
        lacking = self.side.sizeHint().width() - side
        if shown and not self._roomy and lacking > 0 and self._main.is_fresh:
            self._main.setSizes([queue, max(LEAST_WIDTHS[1], centre - lacking), side + lacking])
        self._roomy = self._roomy or bool(shown)

    def _turned(self) -> None:
        working = self.middle.currentWidget() is self.work
        self.bar.setVisible(working)
        if not working:
            self.close_panel.hide()


class AdjudicationActionBar(ActsBar):
    # A focused button would take over from the list, and Space would press it.
    FOCUS = Qt.FocusPolicy.NoFocus

    def __init__(self) -> None:
        super().__init__(LEFT, RIGHT)
        chips.put(self.buttons["confirm_unanimous"], "question", color="state-unconfirmed")

    def show_sheet(
        self, sheet: AdjudicationSheet, *, left: int, agreed: int, conflicts: int, locked: bool
    ) -> None:
        """`left` rows are to be settled, `agreed` rows to be confirmed, `conflicts` items to be adjudicated."""
        decided = sum(not row.ruling.open for row in sheet.rows)
        words = f"{decided:,} of {len(sheet.rows):,} decided" + (f" · {left} to settle" if left else "")
        self.progress.setToolTip(f"{words}; {counted(conflicts, 'item')} in conflict")
        self.enable_all({command.act: not locked for command in LEFT})
        self.buttons["confirm_unanimous"].set_words(f"Confirm {agreed} agreed")
        self.buttons["submit"].set_words("Next conflict" if locked else "Close item")
        self.offer("confirm_unanimous", there=agreed > 0 and not locked)
        self.say(words)


class ClosePanel(MissingPanel):
    """What an item still lacks to be closed; hidden until closing is attempted, shrinks as rows are settled."""

    def __init__(self) -> None:
        super().__init__("What is missing", "Hide")
        self.confirm = KeyButton("", act="confirm_unanimous")
        vertical(
            horizontal((self.title, 1), self.confirm, self.close_button),
            self.entries,
            on=self,
            margins=(10, 6, 10, 8),
        )
        theme.set_role(self, level="warning")

    def show_lacking(
        self, lacking: Sequence[Lacking], unconfirmed: Sequence[str], rows: Mapping[str, SheetRow]
    ) -> None:
        """List what is missing; unanimous rows are named together, with the key that confirms them."""
        listed = [each for each in lacking if each.ruling_id not in unconfirmed]
        entries = [
            (
                "warning",
                f"{each.words}  {' '.join(about(rows[each.ruling_id]).split())[:SHOWN_LETTERS]}",
                (each.ruling_id, each.field),
            )
            for each in listed
        ]
        self.show_entries(entries, self.fontMetrics().height() + theme.current().px(10), ROWS_SHOWN)
        self.confirm.set_words(f"Confirm {len(unconfirmed):,} agreed row{'s' * (len(unconfirmed) != 1)}")
        self.confirm.setVisible(bool(unconfirmed))
        self.title.setText(_title(len(listed), len(unconfirmed)))
        if not listed and not unconfirmed:
            self.hide()

    def enter(self) -> None:
        self.show()
        first = self.confirm if self.entries.isHidden() else self.entries
        first.setFocus(Qt.FocusReason.ShortcutFocusReason)


def _title(listed: int, unconfirmed: int) -> str:
    if listed:
        return (
            f"It cannot be closed yet: {listed} thing{'s' * (listed != 1)} to do. Press Enter to go to the "
            "row."
        )
    rows = "1 row on which everybody agrees is" if unconfirmed == 1 else f"{unconfirmed} agreed rows are"
    return f"One thing left to do: {rows} not confirmed yet."


class StatusMessages(RoleFrame):
    """A message about the current version, and one for each dispute; hidden at first."""

    reopened = Signal(str)
    """The reason for reopening."""
    answered = Signal(str, str)
    """A dispute and the answer to it."""

    def __init__(self) -> None:
        super().__init__("message")
        self.decision, self.figures = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self.reason = GrowingEdit(
            least=1, most=4, accessibleName="Reason for reopening", placeholderText="Why reopen it?"
        )
        self.reopen = push_button("Reopen", lambda: self.reopened.emit(self.reason.toPlainText()))
        self._again = QWidget()
        horizontal((self.reason, 1), (self.reopen, 0, Qt.AlignmentFlag.AlignTop), on=self._again, margins=0)
        self._column = vertical(
            self.decision, self.figures, self._again, on=self, margins=(10, 6, 10, 8), spacing=4
        )
        self.disputes: dict[str, DisputeMessage] = {}
        self._item = ""
        theme.set_role(self, level="success")
        self.hide()

    def show_sheet(self, sheet: AdjudicationSheet, versions: list[ClosedVersion], *, readonly: bool) -> None:
        """Show the versions and disputes of an item; hide if there are none."""
        if sheet.adjudication_id != self._item:
            self._item = sheet.adjudication_id
            self.reason.setPlainText("")
        closed = sheet.state is AdjudicationState.CLOSED
        self._show_disputes(sheet.disputes, readonly=readonly)
        self.setVisible(bool(versions))
        if not versions:
            return
        last = versions[-1]
        units = KINDS[sheet.kind].counted(last.units)
        parts = [
            f"{last.origins[origin]} {words}" for origin, words in ORIGINS.items() if origin in last.origins
        ]
        parts += [f"{counted(last.dropped, 'row')} dropped"] if last.dropped else []
        began = "Closed as" if closed else "Reopened; until it is closed again, the consensus is"
        self.decision.setText(f"{began} version {last.version}: {units} ({', '.join(parts)}).")
        by_hand = figures_words(last.repaired)
        words = [f"Frozen before adjudication: {figures_words(sheet.figures) or 'no figure'}."]
        words += [f"By your pairing: {by_hand}."] if by_hand else []
        self.figures.setText("\n".join(words))
        self._again.setVisible(closed and not readonly)
        theme.set_role(self, level="warning" if sheet.disputes else "success" if closed else "info")

    def _show_disputes(self, disputes: tuple[SheetDispute, ...], *, readonly: bool) -> None:
        open_ids = {dispute.id for dispute in disputes}
        for dispute_id in [known for known in self.disputes if known not in open_ids]:
            take_out(self._column, self.disputes.pop(dispute_id))
        for dispute in disputes:
            if dispute.id not in self.disputes:
                row = DisputeMessage(dispute, self.answered.emit)
                row.setEnabled(not readonly)
                self.disputes[dispute.id] = row
                self._column.insertWidget(2, row)


class DisputeMessage(QWidget):
    def __init__(self, dispute: SheetDispute, answered: Callable[[str, str], object]) -> None:
        super().__init__()
        self.text = MarkedText(f"{dispute.letter or 'Someone'} objects: {dispute.text}")
        self.answer = GrowingEdit(
            least=1,
            most=6,
            accessibleName=f"Answer to {dispute.letter}",
            placeholderText="Answer: why it stays unchanged. A new version also counts as an answer.",
        )
        self.send = push_button("Keep and answer", lambda: answered(dispute.id, self.answer.toPlainText()))
        row = horizontal((self.answer, 1), (self.send, 0, Qt.AlignmentFlag.AlignTop))
        vertical(self.text, row, on=self, margins=(0, 2, 0, 4), spacing=4)


class AdjudicationHead(QWidget):
    """Title, question and figures, with buttons that emit the chosen act."""

    asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        # These buttons do not take the focus.
        button = partial(chips.tool_button, checkable=True, focusPolicy=Qt.FocusPolicy.NoFocus)
        self.queue_shown = button(
            "Show or hide the list of items ({conflicts})", "items", accessibleName="List of items"
        )
        self.title, self.question = PlainLabel("", "subtitle"), ElidedLabel("", "hint")
        self.figures, self.signs = ElidedLabel("", "hint"), Chips(wrap=False)
        self.remarks = MarkedText(scale=SMALL, colour="text-muted")
        self.buttons = {
            act: button(
                f"{hint} ({{{act}}})",
                picture,
                partial(self.asked.emit, act),
                14,
                text=words,
                accessibleName="",
            )
            for act, words, picture, hint in HEAD_ACTS
        }
        first = horizontal(self.queue_shown, self.title, (self.question, 1), self.signs, spacing=6)
        second = horizontal((self.figures, 1), *self.buttons.values(), spacing=6)
        vertical(first, second, self.remarks, on=self, margins=(8, 8, 8, 2), spacing=3)

    def show_sheet(self, sheet: AdjudicationSheet) -> None:
        self.title.setText(f"{title_of(sheet.stage, sheet.kind)} · item {sheet.item_key}")
        self.question.setText(sheet.question)
        self.figures.setText(f"Frozen: {figures_words(sheet.figures) or 'no figure'}")
        signs = []
        if sheet.spot_check:
            signs.append(Chip("drawn for a spot check", "eye", "unconfirmed"))
        if sheet.order_differs:
            signs.append(
                Chip(ORDER.format(keys.shown("row_up"), keys.shown("row_down")), "cross", "disagree")
            )
        self.signs.show_chips(signs)
        remarks = [f"{letter}, overall: {text}" for letter, text in sheet.remarks.items() if text.strip()]
        self.remarks.show_text("\n".join(remarks))
        self.remarks.setVisible(bool(remarks))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        icon, both = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for button in self.buttons.values():
            button.setToolButtonStyle(both if self.width() >= theme.current().px(WIDE) else icon)
