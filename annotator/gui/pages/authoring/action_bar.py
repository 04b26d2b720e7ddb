"""The action bar of the Author page: counts, remarks, and buttons for the whole document."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSettings, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.checklist import Checklist, shared_rest
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.finding import Finding
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Rubric, counted_weights
from annotator.domain.kinds.weights import Weights
from annotator.domain.texts.counting import counted
from annotator.gui import keys, theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.spread_bar import SpreadBar, SpreadPart
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, vertical

if TYPE_CHECKING:
    from annotator.actions.sets.settled_fields import OfferedMarks

ELSEWHERE = "authoring/elsewhere"
JUDGE_LETTERS = 40


class AuthoringActionBar(QFrame):
    """The bar below the form."""

    new_wanted = Signal()
    submit_wanted = Signal()
    remarks_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "bar")
        self.counts, self.spread = PlainLabel(wrap=True), SpreadBar()
        self.elsewhere = QPushButton("Other benchmarks")
        self.elsewhere.setProperty("role", "quiet")
        self.elsewhere.setCheckable(True)
        self.elsewhere.setToolTip("What experts of other benchmarks came to, for comparison; no aim")
        self.elsewhere.setChecked(QSettings().value(ELSEWHERE, "") == "shown")
        self.elsewhere.toggled.connect(self._compare)
        self._shown: tuple[Document[Any], Weights, float, bool, bool] | None = None
        self.share = QPushButton("Share the rest")
        self.share.setProperty("role", "quiet")
        self.share.setToolTip("Points without a share get equal parts of what the others leave of 1")
        self.remarks = QPushButton()
        self.remarks.setProperty("role", "quiet")
        self.remarks.setToolTip("List the guideline's remarks")
        self.remarks.clicked.connect(self.remarks_wanted)
        self.new, self.submit = (
            KeyButton("New", keys.shown("new_unit")),
            KeyButton("Submit", keys.shown("submit"), "primary"),
        )
        self.new.clicked.connect(self.new_wanted)
        self.submit.clicked.connect(self.submit_wanted)
        self.offered: OfferedMarks | None = None
        self.marks = KeyButton("", keys.shown("take_marks"), "quiet")
        self._told: tuple[Sequence[Finding], int] = (), -1
        self._lay_out()
        theme.watch(self, lambda: self._tell_findings(*self._told))

    def _lay_out(self) -> None:
        told, acts = QHBoxLayout(), QHBoxLayout()
        told.setSpacing(10)
        told.addWidget(self.counts, 1)
        told.addWidget(self.spread, 2)
        told.addWidget(self.elsewhere)
        told.addWidget(self.share)
        told.addWidget(self.remarks)
        acts.setSpacing(10)
        acts.addStretch(1)
        acts.addWidget(self.new)
        acts.addWidget(self.submit)
        vertical(
            told, horizontal(self.marks, StretchSpace(1)), acts, on=self, margins=(12, 6, 12, 8), spacing=4
        )

    def show_document(
        self, document: Document[Any], weights: Weights, bar: float, *, locked: bool, given: bool
    ) -> None:
        """Tell of a document as it stands in its fields; a locked one cannot be added to or submitted.

        The project allows the `weights` and keeps questions at the `bar`.
        """
        shown = document, weights, bar, locked, given
        if shown != self._shown:
            self._shown = shown
            self._tell(*shown[:3])
            self._show_offer()
            words = KINDS[document.KIND].under(weights)
            self.new.set_words(f"New {words.unit}")
            self.new.setVisible(not locked and not given)
            self.submit.setVisible(not locked)
            self.remarks.setVisible(not locked)
            units = document.units if isinstance(document, Checklist) and not locked else ()
            self.share.setVisible(bool(units))
            self.share.setEnabled(shared_rest(units) != tuple(units))

    def offer(self, offered: "OfferedMarks | None") -> None:
        """Offer what a judge labelled of the document."""
        self.offered = offered
        self._show_offer()

    def _show_offer(self) -> None:
        left = self.offered.left(self._shown[0]) if self.offered and self._shown else {}
        self.marks.setVisible(bool(left))
        # The key presses the button, seen or not.
        self.marks.setEnabled(bool(left))
        if self.offered and left:
            counts = Counter(value.replace("_", " ") for one in left.values() for value in one.values())
            self.marks.set_words(
                f"Take over {counted(len(left), 'mark')} of {self.offered.judge[:JUDGE_LETTERS]}"
            )
            self.marks.set_hint(
                ", ".join(f"{many} {words}" for words, many in counts.items()) + "; yours stay"
            )

    def _tell(self, document: Document[Any], weights: Weights, bar: float) -> None:
        """Say what there is of a document, beside other benchmarks where that is asked for."""
        words = KINDS[document.KIND].under(weights)
        weighed, beside = isinstance(document, Rubric) and weights.usual, self.elsewhere.isChecked()
        more = [words.told(document, bar)] if document.units else []
        said = [words.counted(len(document.units)), *more, words.elsewhere if beside else ""]
        self.counts.setText(" · ".join(filter(None, said)))
        self.elsewhere.setVisible(bool(words.elsewhere))
        self.spread.setVisible(weighed)
        if isinstance(document, Rubric) and weighed:
            self.spread.show_parts(
                [
                    SpreadPart(f"{weight}", many, EXPERT_WEIGHT_SHARES.get(weight, 0.0) if beside else None)
                    for weight, many in counted_weights([document]).items()
                ]
            )

    def _compare(self, shown: bool) -> None:
        QSettings().setValue(ELSEWHERE, "shown" if shown else "")
        if self._shown is not None:
            self._tell(*self._shown[:3])

    def show_findings(self, findings: Sequence[Finding], to_come: int = 0) -> None:
        """Tell how many remarks there are, errors and warnings apart; `to_come` counts those not yet made as well."""
        if self._told != (findings, to_come):
            self._told = findings, to_come
            self._tell_findings(findings, to_come)

    def _tell_findings(self, findings: Sequence[Finding], to_come: int) -> None:
        errors = sum(finding.level == "error" for finding in findings)
        warnings = len(findings) - errors
        parts = [f"{errors} to fix"] if errors else []
        parts += [f"{warnings} to check"] if warnings else []
        self.remarks.setText(", ".join(parts) or ("No remarks yet" if to_come else "No remarks"))
        picture, colour = ("error", "level-error") if errors else ("warning", "level-warning")
        if not findings:
            picture, colour = ("clock", "text-muted") if to_come else ("check", "level-success")
        self.remarks.setIcon(icons.icon(picture, theme.current().px(16), colour))

    def rebind(self) -> None:
        self.marks.set_key(keys.shown("take_marks"))
        self.new.set_key(keys.shown("new_unit"))
        self.submit.set_key(keys.shown("submit"))
