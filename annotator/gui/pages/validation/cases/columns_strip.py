"""A judge's two figures in a line: by first labels, and after rulings."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame

from annotator.actions.sets.validation_figures import TITLES
from annotator.actions.sets.validation_ground import ValidationRater
from annotator.actions.validation.disagreements import RuledJudge
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, decimal, interval
from annotator.gui.widgets.layouts import horizontal
from annotator.gui.widgets.plain import PlainLabel, tooltip
from annotator.gui.widgets.push_button import push_button

SHOWN = (
    ("accuracy", "accuracy"),
    ("kappa", "κ"),
    *((name, TITLES[name][0]) for name in ("kappa_quadratic", "icc", "absolute_difference")),
    ("f1", "F1"),
)
METRIC = (
    "First labels stay the metric; labels never change. Rulings are a second column and can only raise "
    "agreement, because errors shared by both sides are never reviewed."
)


class ColumnsStrip(QFrame):
    """Figures in words, and a link to all of them."""

    figures_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.words = PlainLabel("", wrap=True)
        self.jump = push_button("All figures", self.figures_wanted, "quiet")
        horizontal((self.words, 1), self.jump, on=self, margins=(10, 5, 6, 5))

    def show_judge(self, found: Sequence[RuledJudge] | None, judge: ValidationRater, more: str = "") -> None:
        """Show the columns of the judge in view, where they are counted; `more` is said at the end."""
        told = f"{METRIC} {more}".strip()
        mine = [one for one in found or () if one.rater.id == judge.id]
        mine = [one for one in mine if one.rater.prompt == judge.prompt] or mine
        if not mine:
            self.words.setText(
                f"{judge.name}: its figures are being counted.\n{told}" if found is None else told
            )
            self.words.setToolTip("")
            return
        one = mine[0]
        ruled = sum(one.rulings.values()) > 0
        shown = [(name, words) for name, words in SHOWN if name in one.first.plain]
        pairs = [
            f"{words} {_value(first)}" + (f" → {_value(one.ruled.plain[name])}" if ruled else "")
            for name, words in shown
            for first in (one.first.plain[name],)
        ]
        spans = any(one.first.plain[name].low is not None for name, _ in shown)
        method = "95 % intervals over items" if spans else "too few items for an interval"
        before, after = (of.plain[shown[0][0]] for of in (one.first, one.ruled))
        rest = f"; {counted(one.open, 'disagreement')} not ruled on" if one.open else ""
        columns = "first labels → after the rulings" if ruled else "first labels"
        n = f"{before.n:,} → {after.n:,}" if ruled else f"{before.n:,}"
        self.words.setText(
            f"{one.rater.name}, {columns}: {' · '.join(pairs)} (n = {n}, {method}{rest}).\n{told}"
        )
        self.words.setToolTip(
            tooltip("\n".join(f"{TITLES[name][0]}: {TITLES[name][1]}" for name, _ in shown))
        )


def _value(estimate: Estimate) -> str:
    """A figure with its interval; never a number where there is none."""
    if estimate.value is None:
        return "undefined"
    return f"{_short(estimate.value)} {interval(estimate, _short)}".rstrip()


def _short(value: float) -> str:
    return decimal(value, 2)
