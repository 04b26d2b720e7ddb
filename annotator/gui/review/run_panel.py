"""The panel of a run, on every page that starts one: progress, cost, missing judgements, Pause and Stop."""

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from annotator.actions.judges import judges
from annotator.domain.common import counted, usd
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.extract import NAMES, WriterAid
from annotator.domain.material.item import Item
from annotator.gui.review.verdict_words import causes_words, doing, status_words
from annotator.gui.session.run import REFUSED, BackgroundRun, OrderEstimate
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import ElidedLabel, PlainLabel, StretchSpace, horizontal, vertical
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields import BudgetBox, ChoiceBox, offer
from annotator.gui.widgets.message_bar import MessageBar, ProgressRow


class RunPanel(QWidget):
    """The progress of a run; hidden while none is in progress. Its keys belong to the window, on every page."""

    def __init__(self, run: BackgroundRun) -> None:
        super().__init__()
        self.run = run
        self.title, self.progress, self.chips = ElidedLabel("", "strong"), ProgressRow(), Chips()
        self.hold, self.cancel = (
            KeyButton(
                "Pause",
                act="hold_run",
                hint="Send no further questions until resumed; pending ones are answered",
                press=run.hold,
            ),
            KeyButton("Stop", act="stop_run", hint="Stop the run; finished work is kept", press=run.cancel),
        )
        head = horizontal((self.title, 1), self.hold, self.cancel)
        vertical(head, self.progress, self.chips, on=self, margins=0, spacing=6)
        self.hide()
        run.changed.connect(self._show)
        run.progressed.connect(lambda _: self._show_line())

    def _show(self) -> None:
        run = self.run
        if run.running:
            self.title.setText(run.title)
            self.hold.set_words("Resume" if run.held else "Pause")
            for button in (self.hold, self.cancel):
                button.setEnabled(not run.stopping)
            self._show_line()
            self.show()
        else:
            self.hide()

    def _show_line(self) -> None:
        line = self.run.line
        self.chips.show_chips(chips(line) if line else [Chip("Starting", "clock", "incomplete")])
        if self.run.stopping:
            self.progress.show_progress("Stopping; finished work is kept", 0, 0)
        elif not line:
            self.progress.show_progress("Starting", 0, 0)
        else:
            what = doing(line, "Pausing" if self.run.held else _speed(line))
            self.progress.show_progress(what, int(line["done"]), int(line["total"]), line.get("left_s"))


def _speed(line: Mapping[str, Any]) -> str:
    rate, running = line.get("rate"), line.get("running")
    parts = [f"{rate:,.1f} per second"] if rate else []
    return " · ".join([*parts, f"{running:,} in progress"] if running else parts) or "In progress"


def chips(line: Mapping[str, Any]) -> list[Chip]:
    if "by_state" in line:
        return _pages(line["by_state"])
    missing = line.get("missing") or {}
    cost = line.get("cost_usd")
    made = [Chip(counted(line.get("calls", 0), "call"), "link", "missing")]
    if line.get("reused"):
        made.append(Chip(f"{line['reused']:,} from the cache", "restore", "agreed"))
    if cost is not None:
        made.append(Chip(f"{usd(cost)} spent", "info", "unconfirmed"))
    elif line.get("calls"):
        made.append(Chip("cost not known", "info", "missing"))
    came = int(line.get("judged_now", 0)) - sum(missing.values())
    made.append(Chip(f"{came:,} came now", "check", "agreed"))
    if missing:
        made.append(Chip(f"missing: {causes_words(missing)}", "warning", "unconfirmed"))
    if len(line.get("models") or ()) > 1:
        made.append(Chip(f"answers as {', '.join(line['models'])}", "warning", "disagree"))
    return made


def _pages(by_state: Mapping[str, int]) -> list[Chip]:
    read = by_state.get("ok", 0)
    unread = sum(by_state.values()) - read
    made = [Chip(f"{counted(read, 'page')} read", "check", "agreed")]
    return [*made, Chip(f"{unread:,} could not be read", "warning", "unconfirmed")] if unread else made


AT_ONCE, TIMEOUT_S = 4, 600.0
NO_SOURCE = "Add a source with text to this item first: a model drafts from sources only."
NO_JUDGE = "No judge has an endpoint yet. Add one on the Judges page."


def judges_to_ask(session: ProjectSession, baseline: bool) -> list[Judge]:
    """The judges with an endpoint, and last the `baseline` if it can do what is asked: forms are meant for models."""
    kinds = (JudgeKind.ENDPOINT, JudgeKind.BASELINE) if baseline else (JudgeKind.ENDPOINT,)
    known = [judge for judge in session.ask(judges.all_of) or [] if judge.kind in kinds]
    return sorted(known, key=lambda judge: judge.kind == JudgeKind.BASELINE)


def say_ended(answer: MessageBar, line: Mapping[str, Any], done: str) -> bool:
    """Show how a run has ended, by its last line; whether it is complete (then the message is `done`)."""
    missing = line.get("missing") or {}
    if missing:
        answer.show_message("warning", f"Incomplete: {causes_words(missing)}.", "Start again to retry.")
    elif line.get("state") == "done":
        answer.show_message("success", done)
    else:
        answer.show_message("info", "Stopped.", str(line.get("cause") or "Start again to resume."))
    return not missing and line.get("state") == "done"


class OrderPane(Pane):
    """A form for an order: its fields, the button `begin`, its run and the message at its end."""

    came = Signal()
    """A run has ended: there may be new results."""
    begin: QPushButton
    estimate: PlainLabel

    def __init__(self, session: ProjectSession, role: str, what: str, page: str, **place: str) -> None:
        super().__init__(session, role)
        self.run, self.answer = BackgroundRun(session, what, page, self, **place), MessageBar()
        self.run.ended.connect(self._ended)

    @property
    def free(self) -> bool:
        """Whether a run can be started now."""
        return not (self.run.running or self.session.project.readonly)

    def order(self) -> Any:
        """The order that the fields describe; None while it is incomplete."""
        raise NotImplementedError

    def start(self) -> None:
        order = self.order()
        if order is not None and self.begin.isEnabled() and not self.begin.isHidden():
            self.carry_out(order)

    def carry_out(self, order: Any) -> None:
        self.answer.clear()
        self.begin.setEnabled(not self.run.start(order))

    def show_forecast(self, forecast: Any) -> None:
        """Show what a run would cost, while one can be started."""
        if not self.begin.isHidden():
            self.estimate.setText(" ".join(forecast.words()[1:]) or forecast.words()[0])

    def tell(self, line: dict[str, Any]) -> None:
        """Show how a run has ended, by its last line."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Update what can be ordered now."""

    def _ended(self, line: dict[str, Any]) -> None:
        if line.get("event") != REFUSED:
            self.tell(line)
        self.came.emit()
        self.refresh()


class DraftAsking(OrderPane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "", "Drafting", "Author")
        self._item: Item | None = None
        self._kind: Kind | WriterAid = Kind.RUBRIC
        self._lacks = ""
        self.judge = ChoiceBox(self.show_estimate, letters=10, accessibleName="Judge that writes the draft")
        self.budget = BudgetBox(most=10_000)
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.begin = KeyButton("Ask for a draft", act="ask_draft", role="primary", press=self.start)
        self._estimate = OrderEstimate(session, self, self.order, self.show_forecast)
        vertical(
            self.words,
            horizontal((self.judge, 1), self.budget),
            self.estimate,
            horizontal(StretchSpace(1), self.begin),
            RunPanel(self.run),
            on=self,
            margins=0,
            spacing=6,
        )

    def show_item(self, item: Item, kind: Kind | WriterAid, *, lacks: str, waiting: bool) -> None:
        """Show a kind of an item; `lacks` says what is missing first, `waiting` whether a draft of it waits already."""
        other = self._item is None or (item.id, kind) != (self._item.id, self._kind)
        self._item, self._kind, self._lacks = item, kind, lacks
        if other:
            self.answer.clear()
        self._fill_judges()
        self.words.setText(self._summary())
        offered = self._offered() and not waiting
        for part in (self.judge, self.budget, self.estimate, self.begin):
            part.setVisible(offered and bool(self.judge.count()))
        self.show_estimate()

    def show_estimate(self) -> None:
        """Show the estimated cost; it is computed in the background."""
        fit = not self.begin.isHidden() and not self._lacks and not self.session.project.readonly
        self.begin.setEnabled(fit and not self.run.running)
        self.estimate.clear()
        (self._estimate.count if fit else self._estimate.stop)()

    def order(self) -> Any:
        from annotator.actions.material import model_drafts
        from annotator.actions.runs.judge_cases import RunRequest

        if self._item is None:
            return None
        kind, limit = model_drafts.protocol_name(self._kind), self.budget.limit
        return RunRequest(
            self.judge.currentText(),
            kind,
            items=(self._item.key,),
            concurrency=AT_ONCE,
            timeout_s=TIMEOUT_S,
            budget_usd=limit,
        )

    def _offered(self) -> bool:
        from annotator.actions.material import model_drafts

        return self._kind in model_drafts.OFFERED

    def _summary(self) -> str:
        from annotator.actions.material import model_drafts

        if not self._offered():
            known = ", ".join(
                NAMES[kind] if isinstance(kind, WriterAid) else KINDS[kind].title.lower()
                for kind in model_drafts.offered(self.session.project)
            )
            return f"Models do not draft a {self._kind.value}. They draft: {known}."
        if self._lacks:
            return self._lacks
        if not self.judge.count():
            return NO_JUDGE
        prompt = model_drafts.wording(self._kind)
        if self._kind is WriterAid.CLASSIFICATION:
            return (
                "A model reads the question and what the project says of its types, and proposes a type and a subject "
                f"with a reason, using the prompt {prompt}. Nothing is set until you save it."
            )
        if isinstance(self._kind, WriterAid):
            return (
                "A model answers the question from the sources and the key insights, as material for the "
                f"experts, using the prompt {prompt}. Only you see it until you add it to the item."
            )
        words = KINDS[self._kind]
        offered = model_drafts.OFFERED[self._kind]
        made_of = [KINDS[kind].units for kind in offered.needs]
        read = (
            "section that people wrote" if offered.exemplar else "sources" if offered.sources else "question"
        )
        read = made_of[0] if made_of else read
        return (
            f"A model reads the {read} and proposes {words.units}, using the prompt {prompt}. Only you see "
            f"them; nothing enters your document until you take it, {words.unit} by {words.unit}."
        )

    def _fill_judges(self) -> None:
        from annotator.actions.material import model_drafts

        extraction = model_drafts.OFFERED.get(self._kind)
        alone = extraction is not None and extraction.baseline is not None
        offer(self.judge, [(judge.name, judge.name) for judge in judges_to_ask(self.session, alone)])

    def tell(self, line: dict[str, Any]) -> None:
        failed = line.get("failed") or []
        if failed:
            happened = f"No draft came: {status_words(str(failed[0]['status']))}."
            self.answer.show_message("warning", happened, str(failed[0]["cause"]))
        elif line.get("state") != "done":
            self.answer.show_message("info", "Stopped before a draft arrived.", str(line["cause"]))
