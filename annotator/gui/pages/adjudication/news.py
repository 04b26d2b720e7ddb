"""Messages of the Adjudicate page: progress, missing rulings, settled, closed or reopened items."""

from collections import Counter
from collections.abc import Callable

from PySide6.QtCore import QObject

from annotator.actions.adjudication import feedback, settled
from annotator.actions.consensus import remarks
from annotator.actions.items import items
from annotator.domain.experts.adjudication import Reason, Ruling
from annotator.domain.kinds.documents import KINDS
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.adjudication.acts import AdjudicationActs
from annotator.gui.pages.adjudication.bench import AdjudicationBench
from annotator.gui.pages.adjudication.flow import AdjudicationFlow
from annotator.gui.pages.adjudication.frame import Frame
from annotator.gui.review.adjudication_queue import AdjudicationQueue, LineFilter
from annotator.gui.review.ruling_words import figures_words, title_of


class RulingNews(QObject):
    """Listens to the bench and the flow, and shows messages in the frame."""

    def __init__(
        self,
        desk: Desk,
        bench: AdjudicationBench,
        flow: AdjudicationFlow,
        acts: AdjudicationActs,
        frame: Frame,
        queue: AdjudicationQueue,
        fill_queue: Callable[[], object],
    ) -> None:
        super().__init__(bench)
        self._desk, self._bench, self._flow, self._acts = desk, bench, flow, acts
        self._frame, self._queue, self._fill_queue = frame, queue, fill_queue
        self._gaps: Counter[str] = Counter()
        bench.opened.connect(self._opened)
        bench.moved.connect(lambda _: self._hush())
        for sign in (bench.laid, bench.told):
            sign.connect(lambda *_: self.show_progress())
        flow.settled.connect(self._say_settled)
        flow.spent.connect(self._say_spent)
        flow.still_open.connect(self._list_lacking)
        flow.closed.connect(self._say_closed)
        frame.close_panel.jumped.connect(self._jump)
        frame.standing.answered.connect(self._answer)

    def count_gaps(self) -> None:
        """Count the guideline gaps of the whole project; from then on those of the open item are followed."""
        self._gaps = Counter(gap.adjudication_id for gap in self._desk.ask(remarks.gaps) or ())

    def _opened(self) -> None:
        sheet, frame = self._bench.sheet, self._frame
        if sheet is None:
            return
        frame.messages.clear()
        frame.close_panel.hide()
        item = self._desk.ask(items.read, sheet.item_id)
        if item is not None:
            frame.rows.know(item)
        frame.head.show_sheet(sheet)
        frame.head.buttons["vote_first"].setVisible(KINDS[sheet.kind].voted is not None)
        frame.show_middle(frame.work)
        frame.queue_pane.show_open(self._bench.place)
        self.show_progress()

    def show_progress(self) -> None:
        """Say how far the open item is, everywhere."""
        sheet, bench, frame = self._bench.sheet, self._bench, self._frame
        if sheet is None:
            return
        closed = bench.ask(settled.versions) if sheet.version else []
        frame.standing.show_sheet(sheet, closed or [], readonly=self._desk.project.readonly)
        frame.head.show_sheet(sheet)
        self._gaps[sheet.adjudication_id] = sum(_is_gap(row.ruling) for row in sheet.rows)
        frame.head.show_gaps(sum(self._gaps.values()))
        decided = sum(not row.ruling.open for row in sheet.rows)
        self._queue.follow(sheet, begun=bench.begun)
        left, agreed = len(bench.unresolved(contested=True)), len(bench.unconfirmed)
        conflicts = self._queue.counted(LineFilter.CONFLICTS)
        frame.bar.show_item(len(sheet.letters), locked=bench.locked)
        self._show_row()
        frame.bar.show_progress(decided, len(sheet.rows), left, 0 if bench.locked else agreed, conflicts)
        if frame.close_panel.isVisible():
            self._show_lacking()

    def _show_row(self) -> None:
        bench = self._bench
        voting = bench.ballot(bench.ruling_id) is not None
        self._frame.bar.show_row(voting=voting, locked=bench.locked)

    def _hush(self) -> None:
        self._show_row()
        if not self._acts.pairing.active:
            self._frame.messages.clear()

    def _say_settled(self) -> None:
        agreed, messages = len(self._bench.unconfirmed), self._frame.messages
        if wanting := len(self._bench.unresolved(contested=True)):
            rows = "One row still lacks" if wanting == 1 else f"{wanting:,} rows still lack"
            messages.show_message(
                "info",
                f"Every conflict of this item is ruled on. {rows} a reason or a wording.",
                lasting=True,
            )
            messages.set_action(f"Go there  {_key('next_open')}", self._flow.next_open)
        elif agreed:
            messages.show_message("success", "Every conflict of this item is settled.", lasting=True)
            words = f"Confirm {agreed} agreed  {_key('confirm_unanimous')}"
            messages.set_action(words, self._acts.confirm)
        elif not self._bench.lacking:
            messages.show_message("success", "Every row of this item is settled.", lasting=True)
            messages.set_action(f"Close it  {_key('submit')}", self._flow.submit)

    def _say_spent(self) -> None:
        if any(self._bench.rows[each].ruling.open for each in self._bench.unresolved(contested=True)):
            back, on = _key("take_back"), _key("next_open")
            self._frame.messages.show_message(
                "info", "This row is ruled on.", f"{back} takes the ruling back, {on} goes on."
            )
        else:
            self._say_settled()

    def _list_lacking(self) -> None:
        self._frame.messages.clear()
        self._show_lacking()
        self._frame.close_panel.enter()

    def _show_lacking(self) -> None:
        lacking = [each for found in self._bench.lacking.values() for each in found]
        self._frame.close_panel.show_lacking(lacking, self._bench.unconfirmed, self._bench.rows)

    def _jump(self, ruling_id: str, field: str) -> None:
        self._bench.move_to(ruling_id)
        self._frame.rows.take_focus()
        if field == "own":
            self._frame.rows.enter("own")

    def _say_closed(self) -> None:
        sheet = self._bench.sheet
        if sheet is None:
            return
        versions = self._bench.ask(settled.versions) or []
        self._fill_queue()
        self._flow.leave_closed()
        if not versions:
            return
        last, title = versions[-1], title_of(sheet.stage, sheet.kind)
        units = KINDS[sheet.kind].counted(last.units)
        frozen = f"Frozen: {figures_words(sheet.figures[:1]) or 'no figure'}"
        by_hand = figures_words(last.repaired[:1])
        self._frame.messages.show_message(
            "success",
            f"{title} of item {sheet.item_key} is closed as version {last.version}: {units}.",
            f"{frozen}; by your pairing: {by_hand}." if by_hand else f"{frozen}.",
        )

    def _answer(self, dispute_id: str, text: str) -> None:
        if self._desk.do(feedback.answer, dispute_id, text) is not None:
            self._fill_queue()
            self._frame.messages.show_message("success", "Answered: the consensus stays unchanged.")


def _is_gap(ruling: Ruling) -> bool:
    return bool(ruling.gap) or ruling.reason is Reason.GUIDELINE_GAP


def _key(act: str) -> str:
    return keys.shown(act).replace("Return", "Enter")
