"""Layout of the Adjudicate page: queue, work and side panel; panels and messages below, acts at the foot."""

from collections.abc import Callable

from PySide6.QtCore import QSettings, Qt
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.action_bar import AdjudicationActionBar
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.pages.adjudication.beside.side import SideStack
from annotator.gui.pages.adjudication.close_panel import ClosePanel
from annotator.gui.pages.adjudication.empty import AdjudicationDone, AdjudicationStart
from annotator.gui.pages.adjudication.head import AdjudicationHead
from annotator.gui.pages.adjudication.queue_pane import AdjudicationQueuePane
from annotator.gui.pages.adjudication.rows.consensus_list import ConsensusList
from annotator.gui.pages.adjudication.rows.rows_pane import RowsPane
from annotator.gui.pages.adjudication.status_messages import StatusMessages
from annotator.gui.pages.adjudication.unanimous_panel import UnanimousPanel
from annotator.gui.review.adjudication_queue import AdjudicationQueue
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.layouts import column_of, horizontal, stacked

QUEUE = "adjudicate/queue"
LEAST_WIDTHS = (150, 330)


class Frame(QStackedWidget):
    """The layout of the page; a single empty state where there is nothing to adjudicate."""

    def __init__(self, desk: Desk, bench: AdjudicationBench, queue: AdjudicationQueue) -> None:
        super().__init__()
        self.queue_pane, self.head, self.standing = (
            AdjudicationQueuePane(queue),
            AdjudicationHead(),
            StatusMessages(),
        )
        self.consensus, self.rows = ConsensusList(bench), RowsPane(bench)
        self.side, self.bar = SideStack(desk, bench), AdjudicationActionBar()
        self.close_panel, self.unanimous, self.messages = ClosePanel(), UnanimousPanel(), MessageBar()
        self.done, self.beginning = AdjudicationDone(desk), AdjudicationStart()
        self._empty: QWidget | None = None
        self._roomy = False
        self._whole = column_of((self._across(), 1), self.bar, spacing=0)
        self.addWidget(self._whole)
        self.head.queue_toggled.connect(self.show_queue)
        self.head.queue_shown.setChecked(QSettings().value(QUEUE, True, bool) is True)
        self.queue_pane.setVisible(self.head.queue_shown.isChecked())

    def _across(self) -> Splitter:
        centre = column_of((self._middle(), 1), self.close_panel, self.unanimous, spacing=0)
        self.messages.float_over(self.middle)
        # Less than what they would like: large type must not push the window over the edge of the screen.
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

    def _middle(self) -> QStackedWidget:
        both = Splitter(
            "adjudicate/both",
            Qt.Orientation.Vertical,
            parts=(self.consensus, self.rows),
            sizes=(84, 496),
            stretch=(0, 1),
        )
        self.work = column_of(self.head, self.standing, (both, 1), spacing=0)
        self.middle = stacked(self.work, self.done, self.beginning)
        self.middle.currentChanged.connect(lambda _: self._turned())
        return self.middle

    def show_middle(self, part: QWidget) -> None:
        """Show the work, the way to begin, or that all is done."""
        self.setCurrentWidget(self._whole)
        self.middle.setCurrentWidget(part)

    def show_nothing(self, empty: QWidget) -> None:
        """Show that there is nothing to adjudicate, and why."""
        if self._empty is not None:
            self.removeWidget(self._empty)
            self._empty.deleteLater()
        self._empty = empty
        self.addWidget(empty)
        self.setCurrentWidget(empty)

    def focus_first(self) -> None:
        """Put the keyboard on the current row, or on the button that leads on."""
        if self.currentWidget() is not self._whole and self._empty is not None:
            self._empty.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.middle.currentWidget() is self.done:
            self.done.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.middle.currentWidget() is self.beginning:
            self.beginning.begin.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.rows.take_focus()

    def next_pane(self) -> None:
        """From the rows to the consensus, to what stands beside, to the queue, and round again."""
        panes: list[tuple[QWidget, Callable[[], object]]] = [
            (self.rows, self.rows.take_focus),
            (self.consensus, lambda: self.consensus.list.setFocus(Qt.FocusReason.ShortcutFocusReason)),
            (self.side, self.side.enter),
            (self.queue_pane, lambda: self.queue_pane.list.setFocus(Qt.FocusReason.ShortcutFocusReason)),
        ]
        shown = [pane for pane in panes if pane[0].isVisible()]
        focused = QApplication.focusWidget()
        here = next((n for n, (part, _) in enumerate(shown) if focused and part.isAncestorOf(focused)), -1)
        if shown:
            shown[(here + 1) % len(shown)][1]()

    def show_queue(self, shown: bool) -> None:
        """Show or hide the list of items; kept for the next start."""
        QSettings().setValue(QUEUE, shown)
        self.queue_pane.setVisible(shown)

    def _make_room(self, shown: str) -> None:
        """What stands beside the work is at first wide enough to read in, afterwards as wide as it was left."""
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


def fill(page: QWidget, frame: Frame) -> None:
    """Let the frame fill a page."""
    horizontal(frame, on=page, margins=0)
