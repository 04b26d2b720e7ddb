"""The action bar of the Author page: counts, findings, and buttons for the whole document."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton

from annotator.domain.kinds.artifact import Document, Finding, KindSpec, Unit, Weights
from annotator.domain.kinds.checklist import Checklist, shared_rest
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.rubric import Rubric, counted_weights
from annotator.domain.texts.words import counted
from annotator.gui import theme
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    StretchSpace,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.fields import LineField
from annotator.gui.widgets.message_bar import MissingPanel
from annotator.gui.widgets.splitter import SpreadBar

if TYPE_CHECKING:
    from annotator.actions.sets.validation_ground import OfferedMarks


class AuthoringActionBar(RoleFrame):
    def __init__(self) -> None:
        super().__init__("bar")
        self.counts, self.spread = PlainLabel(wrap=True), SpreadBar()
        self._shown: tuple[Document[Any], Weights, float, bool, bool] | None = None
        self.share = with_properties(
            QPushButton("Share the rest"),
            role="quiet",
            toolTip="Points without a share get equal parts of what the others leave of 1",
        )
        self.remarks = with_properties(QPushButton(), role="quiet", toolTip="List the guideline's remarks")
        self.new, self.submit = (
            KeyButton("New", act="new_unit"),
            KeyButton("Submit", act="submit", role="primary"),
        )
        # How submitting affects scores.
        self.consequence = PlainLabel(role="hint", wrap=True)
        self.offered: OfferedMarks | None = None
        self.marks = KeyButton("", act="take_marks", role="quiet")
        self._shown_findings: tuple[Sequence[Finding], int] = (), -1
        vertical(
            horizontal((self.counts, 1), (self.spread, 2), self.share, self.remarks, spacing=10),
            horizontal(self.marks, StretchSpace(1)),
            horizontal((self.consequence, 1), self.new, self.submit, spacing=10),
            on=self,
            margins=(12, 6, 12, 8),
            spacing=4,
        )
        theme.watch(self, lambda: self._tell_findings(*self._shown_findings))

    def show_document(
        self, document: Document[Any], weights: Weights, bar: float, *, locked: bool, given: bool
    ) -> None:
        """Show the counts of a document as currently typed; a `locked` one takes no new units and cannot be submitted.

        `weights` are those the project allows, `bar` is its threshold for questions.
        """
        shown = document, weights, bar, locked, given
        if shown != self._shown:
            self._shown = shown
            self._tell(*shown[:3])
            self._show_offer()
            self.new.set_words(f"New {KINDS[document.KIND].under(weights).unit}")
            self.new.setVisible(not locked and not given)
            self.submit.setVisible(not locked)
            self.remarks.setVisible(not locked)
            units = document.units if isinstance(document, Checklist) and not locked else ()
            self.share.setVisible(bool(units))
            self.share.setEnabled(shared_rest(units) != tuple(units))

    def offer(self, offered: "OfferedMarks | None") -> None:
        self.offered = offered
        self._show_offer()

    def _show_offer(self) -> None:
        left = self.offered.left(self._shown[0]) if self.offered and self._shown else {}
        self.marks.setVisible(bool(left))
        # The key works through the button, visible or not.
        self.marks.setEnabled(bool(left))
        if self.offered and left:
            counts = Counter(value.replace("_", " ") for one in left.values() for value in one.values())
            self.marks.set_words(f"Take over {counted(len(left), 'mark')} of {self.offered.judge[:40]}")
            self.marks.set_hint(
                ", ".join(f"{many} {words}" for words, many in counts.items()) + "; yours stay"
            )

    def _tell(self, document: Document[Any], weights: Weights, bar: float) -> None:
        words = KINDS[document.KIND].under(weights)
        summary = words.summary(document, bar) if document.units else ""
        self.counts.setText(" · ".join(filter(None, (words.counted(len(document.units)), summary))))
        weighed = isinstance(document, Rubric) and weights.usual
        self.spread.setVisible(weighed)
        if isinstance(document, Rubric) and weighed:
            self.spread.show_parts(
                [(str(weight), many) for weight, many in counted_weights([document]).items()]
            )

    def show_findings(self, findings: Sequence[Finding], to_come: int = 0) -> None:
        """Show the number of errors and of warnings; `to_come` also counts findings not shown yet."""
        if self._shown_findings != (findings, to_come):
            self._shown_findings = findings, to_come
            self._tell_findings(findings, to_come)

    def _tell_findings(self, findings: Sequence[Finding], to_come: int) -> None:
        errors = sum(finding.level == "error" for finding in findings)
        warnings = len(findings) - errors
        parts = [f"{errors} to fix"] if errors else []
        parts += [f"{warnings} to check"] if warnings else []
        self.remarks.setEnabled(bool(findings))
        self.remarks.setText(", ".join(parts) or ("No remarks yet" if to_come else "No remarks"))
        picture, colour = ("error", "level-error") if errors else ("warning", "level-warning")
        if not findings:
            picture, colour = ("clock", "text-muted") if to_come else ("check", "level-success")
        self.remarks.setIcon(chips.icon(picture, theme.current().px(16), colour))


ROWS_SHOWN = 6


class SubmitPanel(MissingPanel):
    """The findings that hinder submitting: errors and warnings; warnings can be overridden with a reason."""

    overridden = Signal(str)
    """Submit despite the warnings, for this reason."""

    def __init__(self) -> None:
        super().__init__("Missing fields and remarks", "Close")
        with_properties(
            self.entries, wordWrap=True, horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        )
        self.reason = LineField(
            accessibleName="Reason for submitting it unchanged",
            placeholderText="Why may it stay unchanged?",
            textChanged=self._judge_reason,
            returnPressed=self._override,
        )
        self.anyway = push_button("Submit anyway", self._override)
        vertical(
            horizontal((self.title, 1), self.close_button),
            self.entries,
            horizontal((self.reason, 1), self.anyway),
            on=self,
            margins=(10, 8, 10, 8),
        )

    def show_findings(self, findings: Sequence[Finding], units: Sequence[Unit], words: KindSpec) -> None:
        errors = sum(finding.level == "error" for finding in findings)
        self.title.setText(_title(words, errors, len(findings) - errors))
        entries = [
            (finding.level, finding.words(words.unit, units), (finding.unit_id, finding.field))
            for finding in findings
        ]
        self.show_entries(entries, self.fontMetrics().height() * 2, ROWS_SHOWN)
        for part in (self.reason, self.anyway):
            part.setVisible(bool(findings) and not errors)
        self._judge_reason()

    def enter(self) -> None:
        self.show()
        self.entries.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _judge_reason(self) -> None:
        self.anyway.setEnabled(bool(self.reason.text().strip()))

    def _override(self) -> None:
        if reason := self.reason.text().strip():
            self.reason.clear()
            self.overridden.emit(reason)


def _title(words: KindSpec, errors: int, warnings: int) -> str:
    name = words.title.lower()
    if errors:
        rest = f" and {warnings} to check" if warnings else ""
        return f"The {name} cannot be submitted yet: {errors} to fix{rest}. Enter goes to the field."
    if warnings:
        return (
            "1 remark is left: fix it, or give a reason below why it may stay."
            if warnings == 1
            else f"{warnings} remarks are left: fix them, or give a reason below why they may stay."
        )
    return f"Nothing is left to fix: the {name} can be submitted."
