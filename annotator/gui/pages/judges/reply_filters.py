"""Filters of the Replies tab."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.judging.judge_offers import title
from annotator.actions.runs.judge_totals import JudgeTotal
from annotator.actions.runs.run_judgements import (
    ALL,
    FLAGGED,
    NO_VERDICT,
    JudgementLines,
    JudgementQuery,
    JudgementSource,
)
from annotator.actions.runs.run_records import RunLine
from annotator.domain.judges.judge import Judge
from annotator.gui.pages.judges.roster.judges_model import RUNS_OFFERED, run_words
from annotator.gui.review.judge_words import STATUS_WORDS, flag_words
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField

RUN, OF = "run", "of"


class ReplyFilters(QWidget):
    """Combo boxes for source, sort, cause, flag and system, and a search field."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.source, self.which, self.cause = ChoiceBox(), ChoiceBox(), ChoiceBox()
        self.flag, self.system, self.place = ChoiceBox(), ChoiceBox(), ChoiceBox()
        self._places: list[tuple[str, str]] = [("", "")]
        self.search = LineField(placeholderText="Find in replies…", clearButtonEnabled=True)
        for combo, name in (
            (self.source, "Whose judgements"),
            (self.which, "Which"),
            (self.cause, "Cause"),
            (self.flag, "Flag"),
            (self.system, "System"),
            (self.place, "Item, or what was asked about"),
        ):
            combo.setAccessibleName(name)
            combo.keep_short(11)
            combo.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.source.setMinimumContentsLength(34)
        self.search.setAccessibleName("Find in replies")
        self.search.setMinimumWidth(200)
        self.search.textChanged.connect(lambda _: self.changed.emit())
        grow_by_width(self)
        row = FlowRow(self)
        for widget in (self.source, self.which, self.cause, self.flag, self.system, self.place, self.search):
            row.addWidget(widget)
        self.place.hide()

    def offer_sources(
        self, totals: Iterable[JudgeTotal], runs: Sequence[RunLine], known: Mapping[str, Judge]
    ) -> bool:
        """Offer what judges stand by, then their runs; whether there is anything."""
        choices = [
            (
                f"{known[one.judge_id].name} · {title(one.protocol)} · all runs",
                f"{OF} {one.judge_id} {one.protocol}",
            )
            for one in totals
            if one.judge_id in known and one.judgements
        ]
        choices += [(run_words(run), f"{RUN} {run.id}") for run in runs[:RUNS_OFFERED]]
        offer(self.source, choices)
        return bool(choices)

    def offer_kinds(self, found: JudgementLines, systems: Sequence[str]) -> None:
        """Offer what there is to narrow by, with how many there are of each."""
        counts = found.counts
        sorts = ((ALL, "All"), (NO_VERDICT, "Without a verdict"), (FLAGGED, "With a flag"))
        offer(self.which, [(f"{words} ({counts[which]:,})", which) for which, words in sorts])
        causes = [
            (f"{STATUS_WORDS.get(name, name)} ({count:,})", name) for name, count in found.causes.items()
        ]
        flags = [(f"{flag_words(name)} ({count:,})", name) for name, count in found.flags.items()]
        offer(self.cause, [("Any cause", ""), *causes])
        offer(self.flag, [("Any flag", ""), *flags])
        offer(self.system, [("All systems", ""), *((name, name) for name in systems)])

    def go(self, place: Mapping[str, Any]) -> bool:
        """Choose the run or the judge that a place names; whether it names one.

        Nothing is narrowed but to the place's `system`, `item` (its key) and `unit` (its id, with its `words`).
        """
        wanted = f"{RUN} {place['run_id']}" if place.get("run_id") else ""
        if place.get("judge_id"):
            wanted = f"{OF} {place['judge_id']} {place.get('protocol', '')}"
        row = self.source.findData(wanted)
        if row >= 0:
            self.source.setCurrentIndex(row)
            self.clear()
            self._narrow(place)
        return row >= 0

    def _narrow(self, place: Mapping[str, Any]) -> None:
        item, unit, system = (str(place.get(name, "")) for name in ("item", "unit", "system"))
        if item:
            self._places = [("", ""), (item, "")] + ([(item, unit)] if unit else [])
            words = ["All items", f"Item {item}", f"Item {item}: {place.get('words', unit)}"]
            offer(self.place, [(words[n], str(n)) for n in range(len(self._places))])
            self.place.setCurrentIndex(len(self._places) - 1)
            self.place.show()
        if system:
            # All of them are offered once the judgements are read.
            offer(self.system, [("All systems", ""), (system, system)])
            self.system.setCurrentIndex(1)

    def clear(self) -> None:
        """Narrow no more."""
        for combo in (self.which, self.cause, self.flag, self.system):
            combo.setCurrentIndex(0)
        self._places = [("", "")]
        self.place.clear()
        self.place.hide()
        self.search.clear()

    def enable(self, *, enabled: bool) -> None:
        """Let the list be narrowed, or not."""
        for widget in (self.which, self.cause, self.flag, self.system, self.place, self.search):
            widget.setEnabled(enabled)

    def seek(self) -> None:
        """Put the caret into the search field."""
        self.search.setFocus()
        self.search.selectAll()

    def chosen(self) -> JudgementSource:
        """Whose judgements are chosen."""
        kind, _, rest = str(self.source.currentData() or "").partition(" ")
        if kind == OF:
            judge_id, _, protocol = rest.partition(" ")
            return JudgementSource(judge_id=judge_id, protocol=protocol)
        return JudgementSource(run_id=rest)

    def query(self) -> JudgementQuery:
        """Which of them."""
        return JudgementQuery(
            str(self.which.currentData() or ALL),
            str(self.cause.currentData() or ""),
            str(self.system.currentData() or ""),
            str(self.flag.currentData() or ""),
            self.search.text().strip(),
            *self._places[max(0, self.place.currentIndex())],
        )
