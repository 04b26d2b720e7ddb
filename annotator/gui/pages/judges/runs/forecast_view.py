"""Cost estimate of a run: questions, cached answers, tokens, money and time."""

from dataclasses import replace
from typing import Any

from PySide6.QtWidgets import QFormLayout, QFrame

from annotator.actions.judging.judge_planning import RunSummary
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.counting import lasting, usd
from annotator.gui.desk.child import Child
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.later import later

SETTLE_MS = 500


class ForecastView(QFrame):
    """A card; a child process counts the questions, since it must read their words."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._desk = desk
        self._order: RunRequest | None = None
        self._budget: float | None = None
        self._child: Child | None = None
        self._counted: tuple[RunRequest, dict[str, Any]] | None = None
        self.words, self.state = PlainLabel("", "strong", wrap=True), PlainLabel("", "hint", wrap=True)
        self.facts = QFormLayout()
        self.facts.setHorizontalSpacing(14)
        self.facts.setVerticalSpacing(2)
        self._soon = later(self, self._count, SETTLE_MS)
        vertical(
            PlainLabel("Before it starts", "hint"), self.words, self.facts, self.state, on=self, spacing=4
        )

    def show_look(self, look: RunSummary, *, asks: bool) -> None:
        """Show what is known at once; where a model is asked (`asks`), count its questions beside that."""
        self.words.setText(look.words)
        # How much may be spent changes nothing about what there is to ask.
        counted = replace(look.order, budget_usd=None)
        self._order, self._budget = (
            counted if asks and not look.refused and look.total else None,
            look.order.budget_usd,
        )
        if self._order is None:
            self._end()
            self._show({})
            self.state.setText(
                "" if look.refused or asks or not look.total else "It asks no model and costs nothing."
            )
            return
        if self._counted is not None and self._counted[0] == self._order:
            self._show(self._counted[1])
            return
        self._show({})
        self.state.setText("Counting the questions…")
        self._soon.start()

    def forget(self) -> None:
        """Count again at the next look: something was judged, or a prompt changed."""
        self._counted = None

    def stop(self) -> None:
        self._soon.stop()
        self._end()

    def _count(self) -> None:
        self._end()
        order = self._order
        if order is None:
            return
        child = self._child = Child(self._desk, self)
        child.ended.connect(lambda line: self._ended(child, order, line))
        child.start(order, estimate=True)

    def _ended(self, child: Child, order: RunRequest, found: dict[str, Any]) -> None:
        if child is not self._child or order != self._order:
            return
        self._child = None
        child.deleteLater()
        if "error" in found:
            self.state.setText(found["error"])
            return
        self._counted = order, found
        self._show(found)

    def _end(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.deleteLater()

    def _show(self, found: dict[str, Any]) -> None:
        while self.facts.rowCount():
            self.facts.removeRow(0)
        for name, words in facts(found) if found else ():
            self.facts.addRow(PlainLabel(name, "hint"), PlainLabel(words, wrap=True))
        said = (
            "In batches it is usually half of that." if self._order is not None and self._order.batch else ""
        )
        if found and found["cost_usd"] is None:
            said = f"The price of {found['model']} is not known: no budget can be kept. Enter its prices on Judges."
        elif found and self._budget and self._budget < (found["smallest_usd"] or 0):
            said = f"A budget of {usd(self._budget)} asks nothing. Give {usd(found['smallest_usd'])} or more."
        self.state.setText(said if found else "")
        self.state.setVisible(True)


def _by(as_of: str) -> str:
    return f"at prices of {as_of}" if as_of else "at the judge's own prices"


def facts(found: dict[str, Any]) -> list[tuple[str, str]]:
    """A estimate name by name."""
    if found["lacks"]:
        return [("Questions", f"none yet. {found['lacks']}")]
    most = "at most " if found["at_most"] else ""
    assumed = " (assumed)" if found["assumed"] else ""
    money = found["cost_usd"]
    told = [
        (
            "Questions",
            f"{most}{found['calls'] + found['in_journal']:,} for {found['units']:,} {found['things']}",
        ),
        ("Cached", f"{found['in_journal']:,}, which cost nothing" if found["in_journal"] else "none"),
        ("Tokens", f"about {found['tokens_input']:,} in, {found['tokens_output']:,} out{assumed}"),
        (
            "Money",
            f"about {usd(money)}, {_by(found['price_as_of'])}" if money is not None else "not known",
        ),
    ]
    if found["smallest_usd"]:
        told += [("Budget", f"useful from {usd(found['smallest_usd'])} on")]
    seconds = found["seconds"]
    by_test = ", going by its test call" if found["by_test"] else ""
    time = f"about {lasting(seconds)}{by_test}" if seconds is not None else "known once it has answered"
    told += [("Time", time)]
    afresh = found["cost_usd_afresh"]
    cost = f", about {usd(afresh)}" if afresh is not None else ""
    told += [("Left out", found["without"].removeprefix("Left out: "))] if found["without"] else []
    return [*told, ("If uncached", f"{found['calls_afresh']:,} questions{cost}")]
