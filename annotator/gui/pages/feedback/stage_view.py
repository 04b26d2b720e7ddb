"""Feedback on one stage of an item: counts, then unit by unit."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QWidget

from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.digest import DigestRow, Fate, StageDigest
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.counting import counted
from annotator.gui.pages.feedback.row_card import FeedbackCard
from annotator.gui.pages.feedback.wording import counted_up
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.chips import Chips
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea
from annotator.gui.widgets.push_button import push_button

# So many rows are laid out at once, whatever the number of them: the rest is a press away.
AT_ONCE = 60


class StageView(QWidget):
    """Kept units are folded unless requested."""

    guideline_wanted = Signal(object)
    """The guideline of a Stage is to be shown."""

    def __init__(self) -> None:
        super().__init__()
        self._digest: StageDigest | None = None
        self._reports: Mapping[str, str] = {}
        self.cards: list[FeedbackCard] = []
        self.title, self.counts = PlainLabel("", "strong"), Chips(wrap=False)
        self.kept = QCheckBox()
        self.kept.toggled.connect(lambda _: self._lay_out_rows(0))
        self.guideline = push_button("Guideline", self._want_guideline, "quiet")
        self.area = _Rows()
        head = horizontal((wrapping(self.title, self.counts, self.kept), 1), self.guideline)
        vertical(head, self._heads(), (self.area, 1), on=self, margins=0, spacing=6)

    def hasHeightForWidth(self) -> bool:
        """Rows scroll: in a narrow window they leave the objection below them its lines."""
        return False

    def _heads(self) -> QHBoxLayout:
        row = horizontal(margins=(12, 0, 24, 0), spacing=16)
        for words in ("Yours", "In the consensus"):
            row.addWidget(PlainLabel(words, "hint"), 1)
        return row

    def show_stage(self, digest: StageDigest, reports: Mapping[str, str]) -> None:
        """Show what happened to a stage; `reports` names the reports that labels are about."""
        self._digest, self._reports = digest, reports
        self.title.setText(f"Version {digest.version}")
        self.counts.show_chips(counted_up(digest.rows))
        kept = sum(row.change == Fate.KEPT for row in digest.rows)
        self.kept.setText(f"Show the {counted(kept, 'unit')} kept" if kept else "")
        self.kept.setVisible(0 < kept < len(digest.rows))
        self._lay_out_rows(0)

    def _want_guideline(self) -> None:
        if self._digest is not None:
            self.guideline_wanted.emit(self._digest.stage)

    def rows(self) -> list[DigestRow]:
        """The rows that are wanted: what changed, or all of them."""
        found = list(self._digest.rows) if self._digest else []
        changed = [row for row in found if row.change != Fate.KEPT]
        return found if self.kept.isChecked() or not changed else changed

    def _lay_out_rows(self, first: int) -> None:
        rows, inside = self.rows(), QWidget()
        column = vertical(on=inside, margins=(0, 0, 8, 8), spacing=8)
        kind = (self._digest.stage.kind if self._digest else None) or Kind.RUBRIC
        shown = rows[first : first + AT_ONCE]
        self.cards = [FeedbackCard(kind, row, self._report(row)) for row in shown]
        for card in self.cards:
            column.addWidget(card)
        if len(shown) < len(rows):
            column.addLayout(self._turning(first, len(shown), len(rows)))
        column.addStretch(1)
        self.area.setWidget(inside)

    def _turning(self, first: int, shown: int, of: int) -> QHBoxLayout:
        """Where these rows stand among all, with the ways to those before and after them."""
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
        """Home and End lead to the ends, arrows and page keys scroll."""
        bar = self.verticalScrollBar()
        ends = {int(Qt.Key.Key_Home): bar.minimum(), int(Qt.Key.Key_End): bar.maximum()}
        if event.key() in ends:
            bar.setValue(ends[event.key()])
        else:
            super().keyPressEvent(event)
