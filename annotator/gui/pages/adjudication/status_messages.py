"""Status of a closed adjudication: version, two figures of agreement, objections, and a reopen button."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from annotator.actions.adjudication.adjudication_sheets import AdjudicationSheet, SheetDispute
from annotator.actions.adjudication.settled import ClosedVersion
from annotator.domain.experts.adjudication import AdjudicationState, Origin
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.counting import counted
from annotator.gui import theme
from annotator.gui.review.ruling_words import figures_words
from annotator.gui.widgets.fields.growing_edit import GrowingEdit
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button
from annotator.gui.widgets.reading.marked_text import MarkedText

ORIGINS = {
    Origin.BOTH: "from all",
    Origin.ONE: "from one",
    Origin.EDITED: "edited",
    Origin.NEW: "new",
}


class StatusMessages(QFrame):
    """A message for the current version, and one for each dispute; hidden at first."""

    reopened = Signal(str)
    """Take it up again, for this reason."""
    answered = Signal(str, str)
    """Dispute and the answer to it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self.said, self.figures = PlainLabel(role="strong", wrap=True), PlainLabel(wrap=True)
        self.reason = GrowingEdit(least=1, most=4)
        self.reason.setAccessibleName("Reason for reopening")
        self.reason.setPlaceholderText("Why reopen it?")
        self.reopen = push_button("Reopen", lambda: self.reopened.emit(self.reason.toPlainText()))
        self._again = QWidget()
        horizontal((self.reason, 1), (self.reopen, 0, Qt.AlignmentFlag.AlignTop), on=self._again, margins=0)
        self._column = vertical(
            self.said, self.figures, self._again, on=self, margins=(10, 6, 10, 8), spacing=4
        )
        self.disputes: dict[str, DisputeMessage] = {}
        self._item = ""
        theme.set_role(self, level="success")
        self.hide()

    def show_sheet(self, sheet: AdjudicationSheet, versions: list[ClosedVersion], *, readonly: bool) -> None:
        """Show how an item stands; hide where there is nothing to say."""
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
        self.said.setText(f"{began} version {last.version}: {units} ({', '.join(parts)}).")
        by_hand = figures_words(last.repaired)
        words = [f"Frozen before adjudication: {figures_words(sheet.figures) or 'no figure'}."]
        words += [f"By your pairing: {by_hand}."] if by_hand else []
        self.figures.setText("\n".join(words))
        self._again.setVisible(closed and not readonly)
        theme.set_role(self, level="warning" if sheet.disputes else "success" if closed else "info")

    def _show_disputes(self, disputes: tuple[SheetDispute, ...], *, readonly: bool) -> None:
        wanted = {dispute.id for dispute in disputes}
        for dispute_id in [known for known in self.disputes if known not in wanted]:
            gone = self.disputes.pop(dispute_id)
            self._column.removeWidget(gone)
            gone.deleteLater()
        for dispute in disputes:
            if dispute.id not in self.disputes:
                row = DisputeMessage(dispute)
                row.answered.connect(self.answered)
                row.setEnabled(not readonly)
                self.disputes[dispute.id] = row
                self._column.insertWidget(2, row)


class DisputeMessage(QWidget):
    """An objection of a letter, and the option to uphold the consensus."""

    answered = Signal(str, str)

    def __init__(self, dispute: SheetDispute) -> None:
        super().__init__()
        self.text = MarkedText()
        self.text.show_text(f"{dispute.letter or 'Someone'} objects: {dispute.text}")
        self.answer = GrowingEdit(least=1, most=6)
        self.answer.setAccessibleName(f"Answer to {dispute.letter}")
        self.answer.setPlaceholderText(
            "Answer: why it stays unchanged. A new version also counts as an answer."
        )
        self.send = push_button(
            "Keep and answer", lambda: self.answered.emit(dispute.id, self.answer.toPlainText())
        )
        row = horizontal((self.answer, 1), (self.send, 0, Qt.AlignmentFlag.AlignTop))
        vertical(self.text, row, on=self, margins=(0, 2, 0, 4), spacing=4)
