"""Order form for reports by a model: system, gold given, items, cost estimate."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QCheckBox, QFormLayout, QWidget

from annotator.actions.items.items import LeftOut
from annotator.actions.judges import judges
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.material import responding
from annotator.actions.material.responding import MissingResponse
from annotator.actions.project import profile
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import Refusal, counted, words_that_hold
from annotator.domain.kinds.artifact import Kind
from annotator.gui.review.run_panel import OrderPane, RunPanel, judges_to_ask
from annotator.gui.session.run import OrderEstimate
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    choose_folder,
    horizontal,
    push_button,
    vertical,
)
from annotator.gui.widgets.fields import (
    BudgetBox,
    ChoiceBox,
    LineField,
    NumberBox,
    completing,
    offer,
    when_changed,
)

# What the writer is given, in words, with the name used in orders.
SEARCHES, ON_ARXIV, ALL_IMPORTANT = "searched", "given-arxiv", "given-all"
INPUTS = (
    ("works that it searches, filters and ranks", SEARCHES),
    ("the important references on arXiv", ON_ARXIV),
    ("all important references", ALL_IMPORTANT),
)
_ORACLES = {SEARCHES: "", ON_ARXIV: "arxiv", ALL_IMPORTANT: "all"}


class ResearchFields(QObject):
    """The settings of a literature search: the collection with a button, and `rows` of numbers with labels."""

    def __init__(self, form: QWidget, changed: Callable[[], object]) -> None:
        super().__init__(form)
        usual = responding.SystemSettings()
        self.corpus = LineField(
            placeholderText="arXiv, or a folder with works.csv",
            accessibleName="Collection of works",
            textChanged=lambda _: changed(),
        )
        self.choose = push_button("Choose…", self._choose, accessibleName="Choose a collection of works")
        self.rounds = NumberBox(minimum=1, maximum=10, value=usual.rounds, accessibleName="Rounds of search")
        self.queries = NumberBox(
            minimum=1, maximum=10, value=usual.queries, accessibleName="Queries in each round"
        )
        self.per_query = NumberBox(
            minimum=1, maximum=1000, value=usual.per_query, accessibleName="Works looked up for each query"
        )
        self.keep = NumberBox(
            minimum=1, maximum=1000, value=usual.keep, accessibleName="Works kept for the writer"
        )
        boxes = (self.rounds, "queries each", self.queries), (self.per_query, "keep", self.keep)
        when_changed(changed, self.rounds, self.queries, self.per_query, self.keep)
        lines = [
            horizontal(first, PlainLabel(words), second, StretchSpace(1)) for first, words, second in boxes
        ]
        self.rows = (
            ("Search in", horizontal(self.corpus, self.choose)),
            *zip(("Rounds", "Hits"), lines, strict=True),
        )

    def manner(self, oracle: str) -> str:
        return responding.research_name(
            rounds=self.rounds.value(),
            queries=self.queries.value(),
            per_query=self.per_query.value(),
            keep=self.keep.value(),
            oracle=_ORACLES[oracle],
        )

    def place(self) -> str:
        return self.corpus.text().strip()

    def lacks(self, *, model: bool) -> str:
        """Why the fields do not allow a search; empty if they do. Only a `model` may search arXiv."""
        if not self.place() and not model:
            return "The baseline asks nobody: choose a collection of works to search in."
        # Unlike `Path.exists`, this accepts any pasted text: no file has a name of 3 000 letters.
        there = not self.place() or os.path.exists(self.place())
        return "" if there else "There is no such file or folder of works."

    def _choose(self) -> None:
        choose_folder(
            self.corpus, "Folder with works.csv", lambda path: self.corpus.setText(str(path)), self.place()
        )


MODES = (
    ("the question alone", "end-to-end"),
    ("the question and the gold plan", "gold-plan-injection"),
    ("the question, gold plan and gold evidence", "isolated"),
    ("the first half of the task, to be continued", "continuation"),
)
RESEARCH = tuple(name for _, name in INPUTS)
ALL, CHOSEN, FEW = "all", "chosen", "few"
END_TO_END, CONTINUED = MODES[0][1], MODES[-1][1]
A_FEW = 3
TIMEOUT_S = 900.0


class WritingForm(OrderPane):
    """Orders reports by a model: settings with one button; existing reports are never written again."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "card", "Writing reports", "Material", part="Reports")
        self._keys: Sequence[str] = ()
        self._without = LeftOut()
        self._chosen = self._unfit = ""
        self._plans = False
        self.system = LineField(placeholderText="a name, e.g. model X, plain")
        self._known = completing(self.system)
        self.judge, self.mode, self.items, self.condition = (ChoiceBox(letters=12) for _ in range(4))
        self.planned = QCheckBox("Ask for a plan first and keep it")
        self.cutoff = LineField(placeholderText="none, or a day such as 2025-03-24")
        self.filed_as = LineField(placeholderText="the input's own mode")
        self.trials = NumberBox(minimum=1, maximum=100, accessibleName="Runs per item")
        self.at_once = NumberBox(minimum=1, maximum=64, value=4, accessibleName="Concurrent calls")
        self.budget = BudgetBox()
        self.research = ResearchFields(self, self.refresh)
        self.words, self.estimate = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.begin = KeyButton("Write reports", act="start_run", role="primary", press=self.start)
        self._estimate = OrderEstimate(session, self, self.order, self._show_estimate)
        self._form = form = QFormLayout(fieldGrowthPolicy=QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for words, field in (
            ("System", self.system), ("Endpoint of", self.judge), ("Input", self.mode), ("", self.planned),
            ("Prompt", self.condition), ("Cut-off", self.cutoff), ("Mode name", self.filed_as), ("On", self.items),
        ):  # fmt: skip
            field.setAccessibleName(words or self.planned.text())
            form.addRow(words, field)
        for words, row in self.research.rows:
            form.insertRow(form.rowCount() - 1, words, row)
        numbers = horizontal(self.trials, PlainLabel("concurrent"), self.at_once, StretchSpace(1))
        form.addRow("Runs", numbers)
        form.addRow("Budget", self.budget)
        vertical(
            self.words,
            form,
            self.estimate,
            horizontal(StretchSpace(1), self.begin),
            RunPanel(self.run),
            on=self,
        )
        self.mode.currentIndexChanged.connect(lambda _: self._offer_judges())
        when_changed(
            self.refresh,
            self.system,
            self.cutoff,
            self.filed_as,
            self.judge,
            self.mode,
            self.condition,
            self.items,
            self.planned,
            self.trials,
        )

    def offer(self, systems: Sequence[str], item_keys: Sequence[str], without: LeftOut) -> None:
        """Offer these systems and items; `without` says what is left out."""
        self._keys, self._without = item_keys, without
        self._known.setStringList(list(systems))
        modes, conditions = self.session.ask(responding.in_use) or ([], [])
        kinds = self.session.ask(profile.kinds) or ()
        inputs = [(words, value) for words, value in MODES if value in modes]
        offer(self.mode, [*inputs, *(INPUTS if Kind.EVIDENCE in kinds else ())])
        offer(self.condition, [(condition.title, condition.name) for condition in conditions])
        self._plans = Kind.PLAN in kinds
        self._offer_judges()
        self._offer_items()

    def _offer_judges(self) -> None:
        """Offer the judges with an endpoint, and the baseline if works are searched or given."""
        result = judges_to_ask(self.session, self.mode.currentData() in RESEARCH)
        offer(self.judge, [(one.name, one.name) for one in result])

    def choose(self, key: str) -> None:
        if key != self._chosen:
            self._chosen = key
            self._offer_items()

    def _offer_items(self) -> None:
        count = len(self._keys)
        but = f" but {counted(self._without.seminars, 'seminar')}" if self._without.seminars else ""
        choices = [(f"all items{but} ({count:,})" if count > 1 else "the one item", ALL)] if count else []
        choices += [(f"the first {A_FEW}, to try it", FEW)] if count > A_FEW else []
        choices += [(f"only item {self._chosen}", CHOSEN)] if self._chosen and count else []
        offer(self.items, choices)
        self.refresh()

    def order(self) -> RunRequest | None:
        system = self.system.text().strip()
        if not system or not self.judge.currentText() or not self._keys:
            return None
        manner = self._manner()
        if not manner:
            return None
        chosen = {ALL: (), FEW: tuple(self._keys[:A_FEW]), CHOSEN: (self._chosen,)}
        return RunRequest(
            judge=self.judge.currentText(),
            protocol=manner,
            systems=(system,),
            items=chosen.get(str(self.items.currentData()), ()),
            trials=self.trials.value(),
            concurrency=self.at_once.value(),
            timeout_s=TIMEOUT_S,
            budget_usd=self.budget.limit,
            corpus=self.research.place(),
        )

    def _manner(self) -> str:
        """The writing protocol that the fields describe; empty if one of them does not fit (`_unfit` then says why)."""
        mode = str(self.mode.currentData())
        try:
            self._unfit = ""
            if mode in RESEARCH:
                model = self.judge.currentText() != judges.BASELINE.name
                self._unfit = self.research.lacks(model=model) if mode == SEARCHES else ""
                return "" if self._unfit else self.research.manner(mode)
            if mode == CONTINUED:
                return responding.protocol_name(mode)
            return responding.protocol_name(
                mode, planned=self.planned.isChecked() and mode == END_TO_END,
                condition=str(self.condition.currentData()), cutoff=self.cutoff.text(), filed_as=self.filed_as.text(),
            )  # fmt: skip
        except Refusal as refusal:
            self._unfit = str(refusal)
            return ""

    def again(self, lacking: Sequence[MissingResponse]) -> None:
        """Ask again for missing reports of one system in one mode, with the judge and protocol of the last run."""
        if not lacking or self.run.running:
            return
        last = max(lacking, key=lambda response: response.at)
        runs = self.session.ask(run_records.runs) or []
        run = next((line for line in runs if line.id == last.run_id), None)
        if run is None:
            return
        items = tuple(dict.fromkeys(one.item for one in lacking))
        order = RunRequest(
            run.judge, run.protocol, (last.system,), items, trials=max(one.trial for one in lacking),
            concurrency=self.at_once.value(), timeout_s=TIMEOUT_S, budget_usd=self.budget.limit,
            corpus=self.research.place(),
        )  # fmt: skip
        self.carry_out(order)

    def refresh(self) -> None:
        self.planned.setEnabled(self.mode.currentData() == END_TO_END)
        for field in (self.planned, self.condition, self.cutoff, self.filed_as):
            shown = self.mode.currentData() not in (*RESEARCH, CONTINUED)
            self._form.setRowVisible(field, shown and (field is not self.planned or self._plans))
        for _, row in self.research.rows:
            self._form.setRowVisible(row, self.mode.currentData() == SEARCHES)
        order = self.order()
        self.begin.setEnabled(order is not None and self.free)
        self.words.show_words(self._lacks())
        self.estimate.setVisible(order is not None)
        self._estimate.count_soon()

    def _lacks(self) -> str:
        lacks = {
            "This file is read-only.": self.session.project.readonly,
            f"There are no items yet to write about. {self._without.sentence}".strip(): not self._keys,
            "There is no judge with an endpoint yet. Add one on the Judges page: its endpoint writes the reports.": (
                not self.judge.count()
            ),
            "Name the system: a name stands for one model with one set of parameters.": (
                not self.system.text().strip()
            ),
        }
        return next(iter(words_that_hold(lacks)), self._unfit)

    def _show_estimate(self, estimate: CostEstimate) -> None:
        if not estimate.units:
            self.estimate.setText(f"Every report of this system is there: {estimate.total:,}.")
        else:
            without = estimate.units - estimate.calls - estimate.in_journal
            lacks = counted(without, "item lacks", "items lack")
            lacks = f" {lacks} the required gold." if without > 0 else ""
            self.estimate.setText(" ".join(estimate.words()) + lacks)
        self.begin.setEnabled(bool(estimate.units) and self.free)

    def tell(self, line: dict[str, Any]) -> None:
        failed, done = len(line.get("failed") or []), int(line.get("done", 0))
        summary = f"{done:,} of {int(line['total']):,} reports are there."
        if failed:
            self.answer.show_message("warning", summary, "Failures are listed below with their cause.")
        elif line.get("state") == "done":
            self.answer.show_message("success", summary)
        else:
            why = str(line.get("cause") or "Start again to resume; nothing is written twice.")
            self.answer.show_message("info", f"{summary} Stopped.", why)
