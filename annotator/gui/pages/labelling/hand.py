"""Evidence, search and focus on the Label page."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from annotator.domain.judges.judgement import Judgement
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.queue_pane import LabellingQueuePane
from annotator.gui.pages.labelling.report_pane import ReportPane
from annotator.gui.pages.labelling.units.units_pane import UnitsPane
from annotator.gui.widgets.bars.message_bar import MessageBar

TOLD = 60
SCREENS = {int(Qt.Key.Key_PageDown): 1, int(Qt.Key.Key_PageUp): -1}


class LabellingHand:
    """Connects the parts of the page."""

    def __init__(
        self,
        bench: LabellingBench,
        units: UnitsPane,
        texts: ReportPane,
        queue: LabellingQueuePane,
        messages: MessageBar,
    ) -> None:
        self._bench, self._units, self._texts = bench, units, texts
        self._queue, self._messages = queue, messages

    def mark(self) -> None:
        """Keep the words selected in what is read as evidence for the current unit."""
        quote, start, end = self._texts.selection()
        if not quote:
            self._messages.show_message(
                "info",
                "No text is selected.",
                "Select the deciding words, then mark them.",
            )
            return
        unit_id = self._bench.unit_id
        before = self._bench.label(unit_id)
        if self._bench.mark(unit_id, quote, start, end):
            self._messages.clear()
            self._texts.forget_selection()
            if before and before.quote and (before.quote, before.quote_start) != (quote, start):
                self._say_replaced(before)

    def _say_replaced(self, before: Judgement) -> None:
        """A label holds one passage: which one was replaced is told, and it is a press away."""
        short = " ".join(before.quote.split())
        short = short if len(short) <= TOLD else f"{short[:TOLD]}…"
        self._messages.show_message("info", f"“{short}” was replaced by this passage as evidence.")
        old = (before.unit_id, before.quote, before.quote_start, before.quote_end)
        self._messages.set_action("Restore it", lambda: self._bench.mark(*old))

    def find(self) -> None:
        """Find an item while the list has the keyboard, otherwise words in what is read."""
        here = QApplication.focusWidget()
        if here is not None and self._queue.isAncestorOf(here):
            self._queue.seek()
        else:
            self._texts.seek()

    def other_pane(self) -> None:
        """From the units to what is read, text by text, from there to the list of reports, and round again."""
        here = QApplication.focusWidget()
        parts: list[tuple[QWidget, QWidget]] = [(self._units, self._units.body.holder)]
        parts += [(pane, pane.report) for pane in self._texts.panes if pane.report.isVisible()]
        parts += [(self._queue, self._queue.list)] if self._queue.isVisible() else []
        inside = (n for n, (part, _) in enumerate(parts) if here is not None and part.isAncestorOf(here))
        _, target = parts[(next(inside, -1) + 1) % len(parts)]
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def takes(self, event: QKeyEvent) -> bool:
        """Esc leads back to the current unit; from there the page keys scroll what is read. Whether it was one."""
        here = QApplication.focusWidget()
        inside = here is not None and self._units.isAncestorOf(here)
        if event.key() == Qt.Key.Key_Escape:
            self._units.take_focus()
        elif inside and event.key() in SCREENS:
            self._texts.turn(SCREENS[event.key()])
        else:
            return False
        return True
