"""Results of drift checks: changed verdicts, with the replies of then and now."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.judging import drift
from annotator.actions.judging.drift import DriftStatus, TurnedVerdict
from annotator.actions.judging.drift_reports import DriftReport
from annotator.actions.project.file import Project
from annotator.actions.runs.judgement_replies import Reply
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.judges.drift.drifts import CHANGED, CHECKS, account
from annotator.gui.review.judge_words import when
from annotator.gui.review.reply_detail import facts, pretty
from annotator.gui.review.stacked import column
from annotator.gui.tables.cells import CellsModel
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.later import later
from annotator.gui.widgets.layouts import horizontal, stacked
from annotator.gui.widgets.plain import PlainLabel, tooltip
from annotator.gui.widgets.reading.raw_text import RawText

# Of a reply a few lines are seen at least; it scrolls.
LEAST_REPLY = 90
SETTLE_MS = 60
NO_ANCHOR = (
    "Nothing to check “{}” against yet",
    "Providers may change the model behind a name. Freeze some verdicts now: the same units can be judged "
    "again in weeks or months, and you see which verdicts changed, since when, and what else changed at the "
    "endpoint.",
)
NO_CHECK = (
    "Not checked yet",
    "{} of “{}” are frozen. A check judges the same units again, without the cache, and compares. It does "
    "not affect any result.",
)
NOT_KEPT = "the call is no longer stored."


class DriftFound(QWidget):
    """The checks above, the changed verdicts of the chosen one below, and both replies of the chosen verdict."""

    freeze_wanted = Signal()
    check_wanted = Signal()
    turned = Signal()
    """Another verdict, or none, is chosen."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._standing: DriftStatus | None = None
        self.stopped = False
        self.title = ElidedLabel("", "strong")
        self.account, self.count = PlainLabel("", wrap=True), ElidedLabel("", "strong")
        self.account.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.checks, self.changed = (
            CellsModel[DriftReport](CHECKS, self),
            CellsModel[TurnedVerdict](CHANGED, self),
        )
        self.table = CellsTable("Checks, the newest first", self.checks, stretched=5)
        self.list = CellsTable("Verdicts that changed", self.changed, stretched=2)
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn_check())
        self._soon = later(self, self._ask_replies, SETTLE_MS)
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._soon.start())
        self.then, self.now = RawText("The reply then"), RawText("The reply now")
        self.about_then, self.about_now = PlainLabel("", "hint", wrap=True), PlainLabel("", "hint", wrap=True)
        self._lay_out()

    def _lay_out(self) -> None:
        self.replies = Splitter("judges/drift replies")
        for about, text in ((self.about_then, self.then), (self.about_now, self.now)):
            text.setMinimumHeight(LEAST_REPLY)
            self.replies.addWidget(column(about, text, grows=text))
        self.parts = Splitter(
            "judges/drift found",
            Qt.Orientation.Vertical,
            parts=(
                column(self.title, self.table, grows=self.table),
                column(self.account, self.count, self.list, grows=self.list),
                self.replies,
            ),
            sizes=(140, 230, 170),
        )
        self.no_anchor, self.no_check = EmptyState("lock", ""), EmptyState("check", "")
        self.freeze = self.no_anchor.add_action("Freeze verdicts", self.freeze_wanted.emit, primary=True)
        self.check = self.no_check.add_action("Check now", self.check_wanted.emit, primary=True)
        self.body = stacked(self.parts, self.no_anchor, self.no_check)
        horizontal(self.body, on=self, margins=(4, 0, 0, 0))

    def show_standing(self, one: DriftStatus) -> None:
        """Show what came of the checks of a judge; the one that was chosen stays chosen."""
        kept = self._check() if self._standing and _key(self._standing) == _key(one) else None
        newer = len(one.checks) > self.checks.rowCount()
        self._standing = one
        self.checks.show(one.checks)
        self.title.setText(f"Checks of \u2068{one.judge}\u2069")
        if not one.checks:
            self.no_anchor.show_words(NO_ANCHOR[0].format(one.judge), NO_ANCHOR[1])
            frozen = counted(one.frozen, "verdict")
            self.no_check.show_words(NO_CHECK[0], NO_CHECK[1].format(frozen, one.judge))
            self.body.setCurrentWidget(self.no_check if one.frozen_at else self.no_anchor)
            self.turned.emit()
            return
        self.body.setCurrentWidget(self.parts)
        place = self.checks.place_of(lambda check: kept is not None and check.run_id == kept.run_id)
        self.table.setCurrentIndex(self.checks.index(0 if newer else max(0, place), 0))
        self._turn_check()

    def _check(self) -> DriftReport | None:
        return self.checks.at(self.table.currentIndex().row())

    def _turn_check(self) -> None:
        check, one = self._check(), self._standing
        if check is None or one is None:
            return
        stands = one.frozen_at is not None and check.anchored_at == one.frozen_at.isoformat()
        self.account.setText(account(check, stands=stands))
        self.count.setText("Reading…")
        older = one.checks[self.table.currentIndex().row() :]
        self._desk.ask_later(self._found, _turned, older)

    def _found(self, found: tuple[DriftReport, list[TurnedVerdict]]) -> None:
        check, rows = found
        if self.stopped or self._check() != check:
            return
        self.changed.show(rows)
        many = len(rows)
        self.count.setText(f"{counted(many, 'verdict')} changed" if many else "No verdict changed.")
        for widget in (self.list, self.replies):
            widget.setVisible(many > 0)
        if many:
            self.list.setCurrentIndex(self.changed.index(0, 0))
        self._soon.start()
        self.turned.emit()

    def step(self, by: int) -> None:
        """Choose the changed verdict before or after."""
        row = self.list.currentIndex().row() + by
        if 0 <= row < self.changed.rowCount():
            self.list.setCurrentIndex(self.changed.index(row, 0))

    def stop(self) -> None:
        """Ask nothing more."""
        self.stopped = True
        self._soon.stop()

    def _ask_replies(self) -> None:
        one = self.changed.at(self.list.currentIndex().row())
        found = self._desk.ask(drift.replies, one.changed) if one is not None else None
        before, after = found or (None, None)
        _show(self.then, self.about_then, "Then", before)
        _show(self.now, self.about_now, "Now", after)


def _show(text: RawText, about: PlainLabel, word: str, reply: Reply | None) -> None:
    model = (reply.call.returned_model or reply.call.requested_model or "an unnamed model") if reply else ""
    about.setText(f"{word}, {when(reply.at)}, by {model}" if reply else f"{word}: {NOT_KEPT}")
    about.setToolTip(tooltip(facts(reply.call)) if reply else "")
    text.setPlainText((pretty(reply.call.raw) or "(the reply was empty)") if reply else "")


def _turned(project: Project, checks: tuple[DriftReport, ...]) -> tuple[DriftReport, list[TurnedVerdict]]:
    return checks[0], drift.turned(project, checks)


def _key(one: DriftStatus) -> tuple[str, str]:
    return one.judge_id, one.protocol
