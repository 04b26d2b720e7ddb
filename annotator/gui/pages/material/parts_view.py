"""Extracts tab: report by report, editable beside the text they come from."""

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import Any

from PySide6.QtWidgets import QApplication

from annotator.actions.items import items, materials, pages
from annotator.actions.items.extracts import OPEN
from annotator.actions.items.materials import Reports
from annotator.actions.judging import judge_runs
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.judging.judge_runs import ExtractionOffer
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.material.extract import Claim, KeyPoint, ResponsePart
from annotator.gui.pages.material.part_editor import (
    ITEM,
    ExtractLine,
    PartEditor,
    columns,
    places_alike,
)
from annotator.gui.pages.material.reports_view import column_words
from annotator.gui.review.run_panel import OrderPane, RunPanel, judges_to_ask, say_ended
from annotator.gui.review.sheets import CellsModel
from annotator.gui.review.source_pane import TextPane
from annotator.gui.review.verdict_words import with_network
from annotator.gui.session.page import TabPart
from annotator.gui.session.run import OrderEstimate
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets.bars import Fold, KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
)
from annotator.gui.widgets.chips import EmptyState, answered_label
from annotator.gui.widgets.columns import FilterChoice, LinesTable
from annotator.gui.widgets.fields import BudgetBox, ChoiceBox, offer, search_field, together, when_changed
from annotator.gui.widgets.splitter import Splitter

ALL, CHOSEN = "all", "chosen"


class DrawingBar(OrderPane):
    """Orders extractions: a line of settings with a button; existing extracts are not asked for again."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "card", "Extracting from reports", "Material", part="Extracts")
        self._drawing: ExtractionOffer | None = None
        self._line: ExtractLine | None = None
        self.judge, self.scope = (
            ChoiceBox(letters=14, accessibleName="Judge that extracts"),
            ChoiceBox(letters=14, accessibleName="Reports"),
        )
        when_changed(self.refresh, self.judge, self.scope)
        self.budget = BudgetBox()
        self.begin = KeyButton("Draw", act="start_run", role="primary", press=self.start)
        self.words = PlainLabel(role="hint", wrap=True)
        self.count = push_button(
            "Estimate", self._count, "quiet", toolTip="Estimate calls and cost, without making a call"
        )
        self._estimate = OrderEstimate(session, self, self.order, self._show_estimate)
        fields = ("Judge", self.judge), ("from", self.scope), ("Budget", self.budget)
        choices = wrapping(*(together(words, field) for words, field in fields), gap=10)
        vertical(
            horizontal((choices, 1), self.count, self.begin),
            self.words,
            RunPanel(self.run),
            on=self,
            margins=(10, 8, 10, 8),
        )

    def offer(self, drawing: ExtractionOffer | None, line: ExtractLine | None) -> None:
        """Set up an extraction; `line` is the current report."""
        self._drawing, self._line = drawing, line
        fit = judges_to_ask(self.session, drawing.alone) if drawing is not None else []
        offer(self.judge, [(with_network(one), one.name) for one in fit])
        things = drawing.things if drawing else "report"
        choices: list[tuple[str, str]] = [(f"every {things}", ALL)]
        choices += [(f"the {things} shown", CHOSEN)] if line is not None else []
        offer(self.scope, choices)
        self.refresh()

    def order(self) -> RunRequest | None:
        drawing, line = self._drawing, self._line
        if drawing is None or not self.judge.count():
            return None
        one = line if self.scope.currentData() == CHOSEN else None
        return RunRequest(
            judge=str(self.judge.currentData()),
            protocol=drawing.name,
            systems=(one.system,) if one and one.system else (),
            items=(one.item,) if one else (),
            budget_usd=self.budget.limit,
        )

    def refresh(self) -> None:
        drawing, order = self._drawing, self.order()
        lacks = "" if drawing is None else drawing.lacks
        free = order is not None and not lacks and self.free
        self.begin.setEnabled(free)
        if lacks or order is None:
            self._estimate.stop()
            self.words.setText(
                lacks or ("No judge can extract this: add one with an endpoint." if drawing else "")
            )
        else:
            self.words.setText(drawing.words() if drawing else "")
            # Counting all reports takes seconds, and is done only on demand.
            if order.items:
                self._estimate.count_soon()
            else:
                self._estimate.stop()
        self.count.setVisible(free and order is not None and not order.items)

    def _count(self) -> None:
        self.words.setText("Counting…")
        self._estimate.count()

    def _show_estimate(self, estimate: CostEstimate) -> None:
        if self._drawing is None:
            return
        summary = self._drawing.words()
        self.words.setText(
            f"{summary} {' '.join(estimate.words())}"
            if estimate.units
            else f"{summary} {estimate.judge} has extracted all."
        )
        self.begin.setEnabled(bool(estimate.units) and self.free)

    def tell(self, line: dict[str, Any]) -> None:
        say_ended(self.answer, line, f"{line['done']:,} of {line['total']:,} are extracted.")


# Separates a judge's replies.
RULE = "\n\n" + "─" * 24 + "\n\n"

LIST_WIDTH, LEAST_WIDTH = 342, 240


class Drawable(Enum):
    """What can be extracted: from reports, and (key insights) from an item's sources."""

    CLAIMS = "Claims"
    PLAN = "Plans"
    REFERENCES = "References"
    SENTENCES = "Sentences"
    KEYPOINTS = "Key points"
    POOL = "Common pools"
    INSIGHTS = "Insights"

    @property
    def kind(self) -> ResponsePart | Kind:
        return KINDS[self]


KINDS: dict[Drawable, ResponsePart | Kind] = {
    Drawable.CLAIMS: ResponsePart.CLAIMS,
    Drawable.PLAN: ResponsePart.PLAN,
    Drawable.REFERENCES: ResponsePart.REFERENCES,
    Drawable.SENTENCES: ResponsePart.SENTENCES,
    Drawable.KEYPOINTS: ResponsePart.KEYPOINTS,
    Drawable.POOL: ResponsePart.POOL,
    Drawable.INSIGHTS: Kind.INSIGHTS,
}


class PartFilter(Enum):
    ALL = "All"
    NONE = "Not extracted"
    OPEN = "To confirm"
    DONE = "Settled"


NOTHING = (
    "Nothing to extract from yet",
    "What reports claim and cite is extracted from them, and what items rest on from their sources. Import them, or "
    "have a model write reports on the Reports tab.",
)


class PartsView(TabPart):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._reports = Reports((), (), {})
        self._goal: tuple[str, str, str] | None = None
        self._drawings: Sequence[ExtractionOffer] = ()
        self._in_replies = False
        # An answer may still arrive after the window has closed the file.
        self.model = CellsModel[ExtractLine](columns("System"), self)
        self.list = LinesTable(
            "Reports and extracts", self.model, self.model.widths, stretched=ITEM, moved=self._show_line
        )
        self.kinds, self.filter = (
            FilterChoice("What is extracted", Drawable),
            FilterChoice("State", PartFilter),
        )
        self.kinds.chosen.connect(self._change_kind)
        self.filter.chosen.connect(self._narrow)
        self.search = search_field("Find an item or a system…", "Find an item or a system", self._narrow)
        self.nothing = answered_label("No matches. Remove a word or the filter.")
        self.drawing, self.text, self.editor = (
            DrawingBar(session),
            PartReadingPane(session),
            PartEditor(session),
        )
        self.drawing.came.connect(self.session.tell_material)
        self.editor.chosen.connect(self._show_place)
        self.editor.replies_wanted.connect(self.turn_replies)
        left = column_of(
            self.search, self.filter, self.nothing, (self.list, 1), margins=(0, 0, 4, 0), spacing=6
        )
        area = PlainArea("Extract, unit by unit", self.editor)
        self._parts = Splitter(
            "material-parts",
            parts=(left, self.text, area),
            sizes=(LIST_WIDTH, 380, 380),
            stretch=(0, 1, 1),
            # The third part's minimum is that of its fields.
            least=(LEAST_WIDTH, LEAST_WIDTH),
        )
        self._parts.grow(left, LIST_WIDTH)
        self._empty = EmptyState("folder", *NOTHING, actions=[("Import…", lambda: self.session.go("Import"))])
        self._body = Stack(self._parts, self._empty)
        self.asking = Fold("Have a judge extract them", self.drawing, apart=True)
        top = horizontal(self.kinds, self.asking.button, StretchSpace(1))
        vertical(top, self.asking, (self._body, 1), on=self, margins=(0, 10, 0, 0), spacing=8)
        self.drawing.answer.float_over(self._body, below=False)
        editor = self.editor
        self.acts = {
            "start_run": partial(self.asking.press, self.drawing.start),
            "find": self.seek,
            "next_open": self.next_open,
            "new_drawn": editor.add,
            "remove_drawn": editor.remove,
            "confirm_drawn": editor.confirm,
            "accept_drawn": editor.accept,
            "vital_drawn": editor.turn_vital,
            "part_drawn": editor.part,
            "keep_drawn": editor.keep,
            "raw_replies": self.turn_replies,
        }
        self.focus_on = self.list

    def fill(self) -> None:
        self.session.ask_later(self._show, _read)

    def seek(self) -> None:
        if self.text.isAncestorOf(QApplication.focusWidget() or self.list):
            self.text.pane.seek()
        else:
            self.search.seek()

    def keep(self) -> None:
        self.editor.keep()

    def go(self, place: Mapping[str, Any]) -> None:
        """Show a report (`response_id`, with its `kind` and `unit_id`), or the extracts `waiting` to be confirmed of a
        kind.

        Filters that hide the report are cleared; it is shown as soon as it is read.
        """
        waiting = place.get("waiting")
        if not (waiting or place.get("response_id")):
            return
        item_id, response_id, unit_id = (
            str(place.get(name, "")) for name in ("item_id", "response_id", "unit_id")
        )
        self._goal = None if waiting else (item_id, response_id, unit_id)
        kind = waiting or place.get("kind")
        goal = next((drawable for drawable in Drawable if drawable.kind.value == kind), self.kinds.held)
        if goal is not self.kinds.held:
            self.kinds.hold(goal)
        self.search.clear()
        self.filter.hold(PartFilter.OPEN if waiting else PartFilter.ALL)

    def next_open(self) -> None:
        """Go to the next report with an unconfirmed extract, wrapping around."""
        self.list.choose_next(lambda row: self.model.rows[row].standing in OPEN)

    def turn_replies(self) -> None:
        """Show the judge's replies in place of the text, or the text again."""
        result = self.editor.extract
        self._in_replies = not self._in_replies and result is not None
        self.editor.replies.setChecked(self._in_replies)
        if self._in_replies and result is not None:
            replies = self.session.ask(extracting.replies, result.id) or ()
            self.text.show_replies([reply.call.raw or reply.call.cause for reply in replies])
        else:
            self.text.show_unit(self.editor.line, self.editor.unit)

    def _show(self, answer: tuple[Reports, list[ExtractionOffer]]) -> None:
        self._reports, self._drawings = answer
        there = {drawing.makes for drawing in self._drawings}
        there |= {part for cell in self._reports.lines.values() for line in cell for part in line.parts}
        if ResponsePart.KEYPOINTS in there:
            there.add(ResponsePart.POOL)
        offered = [drawable for drawable in Drawable if drawable.kind in there]
        if offered and self.kinds.held not in offered:
            self.kinds.hold(offered[0])
        self.kinds.offer(offered)
        self._narrow()

    def _change_kind(self) -> None:
        self.editor.keep()
        self._narrow()

    def _narrow(self) -> None:
        lines = list(_lines(self._reports, self.kinds.held.kind))
        self.filter.show_counts({one: sum(_fits(line, one) for line in lines) for one in PartFilter})
        shown = [
            line
            for line in lines
            if _fits(line, self.filter.held)
            and self.search.finds(f"{line.item} {line.label} {line.question}")
        ]
        here = self.editor.line
        self.model.retitle({1: "Question" if any(not line.response_id for line in shown) else "System"})
        self.model.show(shown)
        self.list.fit()
        self.nothing.setVisible(not shown)
        self._body.setCurrentWidget(self._parts if lines else self._empty)
        for pane in (self.text, self.editor):
            pane.setVisible(bool(shown))
        place = self._goal[:2] if self._goal else here.place if here else None
        row = self.model.place_of(lambda line: line.place == place)
        self.list.choose(row, first=True)
        self._show_line()
        if self._goal is not None and row >= 0:
            if self._goal[2]:
                self.editor.go_to(self._goal[2])
            self._goal = None

    def _show_line(self) -> None:
        line = self.model.at(self.list.currentIndex().row())
        if not places_alike(line, self.editor.line):
            self._in_replies = False
            self.editor.replies.setChecked(False)
        self.editor.show_line(line, self.kinds.held.kind)
        if not self._in_replies:
            self.text.show_unit(line, self.editor.unit)
        makes = self.kinds.held.kind.value
        pool = self.kinds.held is Drawable.POOL
        self.asking.button.setVisible(not pool)
        if pool:
            self.asking.button.setChecked(False)
        self.drawing.offer(
            next((drawing for drawing in self._drawings if drawing.makes == makes), None), line
        )

    def _show_place(self, unit: Unit | None) -> None:
        if not self._in_replies:
            self.text.show_unit(self.editor.line, unit)


def _read(project: Project) -> tuple[Reports, list[ExtractionOffer]]:
    result = materials.reports(project)
    return result, judge_runs.drawings_of(project, result)


def _lines(reports: Reports, kind: ResponsePart | Kind) -> Iterator[ExtractLine]:
    for item in reports.items:
        about = f"Item {item.key}"
        if isinstance(kind, Kind) or kind is ResponsePart.POOL:
            label = " ".join(item.question.split())
            yield ExtractLine(
                item.id, "", item.key, item.question, "", label, about, item.parts.get(kind.value)
            )
            continue
        for column in reports.columns:
            for report in reports.lines.get((item.id, column), ()):
                run = f", run {report.trial}" if report.trial > 1 else ""
                part = report.parts.get(kind.value)
                label = f"{column_words(column)}{run}"
                about = f"{label} on item {item.key}"
                yield ExtractLine(
                    item.id, report.id, item.key, item.question, report.system, label, about, part
                )


def _fits(line: ExtractLine, part_filter: PartFilter) -> bool:
    fits = {
        PartFilter.ALL: True,
        PartFilter.NONE: line.part is None,
        PartFilter.OPEN: line.standing in OPEN,
        PartFilter.DONE: line.part is not None and line.standing not in OPEN,
    }
    return fits[part_filter]


class PartReadingPane(Pane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._shown: tuple[tuple[str, str], str, str] | None = None
        """The report or item in view, the page or the source of it."""
        self._unit: Unit | None = None
        self.heading, self.place = PlainLabel(role="strong", wrap=True), PlainLabel(role="hint", wrap=True)
        self.pane = TextPane(session)
        self.view = self.pane.report
        self.pane.report.loaded.connect(self._mark)
        vertical(self.heading, self.place, (self.pane, 1), on=self, margins=(8, 0, 4, 0), spacing=4)

    def show_unit(self, line: ExtractLine | None, unit: Unit | None) -> None:
        """Show a report, a source of an item or a key point's page, scrolled to the passage a unit comes from."""
        self._unit, anchor = unit, unit.anchor if unit else None
        page = anchor.source_id if anchor and isinstance(unit, KeyPoint) else ""
        source_id = anchor.source_id if anchor and line and not line.response_id and not page else ""
        wanted = (line.place, page, source_id) if line else None
        # A unit that quotes nothing leaves the source in view.
        if wanted != self._shown and not (self._shown and wanted == (*self._shown[:2], "")):
            shown = self._show_text(line, page, source_id)
            self._shown = (line.place, page, shown) if line else None
        self._mark()

    def _show_text(self, line: ExtractLine | None, page: str, source_id: str) -> str:
        """Show the text of a page, a report or a source; return the id of the source, empty for the others."""
        if line is None:
            self.heading.clear()
            self.pane.show_words("")
        elif page:
            result = self.session.ask(pages.page, page)
            self.heading.setText(f"{result.title} ({page})" if result and result.title else page)
            self.pane.show_words(result.text if result else "")
        elif line.response_id:
            self.heading.setText(line.about)
            self.pane.show_report(self.session.ask(materials.text_of, line.response_id) or "")
        else:
            known = [one for one in self.session.ask(items.sources, line.item_id) or [] if one.text.strip()]
            source = next((one for one in known if one.id == source_id), known[0] if known else None)
            self.heading.setText(f"{source.title} (item {line.item})" if source else f"Item {line.item}")
            if source is not None:
                self.pane.show_report(source.text, "source")
                return source.id
            self.pane.show_words("This item has no source with text. Add one on the Author page.")
        return ""

    def show_replies(self, replies: list[str]) -> None:
        self._shown, self._unit = None, None
        self.heading.setText(f"Raw replies: {len(replies):,}")
        self.pane.show_words(RULE.join(replies))
        self.place.setText("None: no call was made, or the question has changed since.")
        self.place.setVisible(not replies)

    def _mark(self) -> None:
        unit, quoted = self._unit, words_of(self._unit)
        if unit is None or not self.pane.text or not quoted:
            self.pane.mark("evidence", None, reveal=False)
            self.place.hide()
            return
        start = unit.anchor.start if unit.anchor else None
        span = next(filter(None, (self.pane.place(words, start) for words in quoted)), None)
        self.place.setVisible(span is None)
        self.place.setText("The words of this unit are not in the text: it was reworded.")
        self.pane.mark("evidence", span, reveal=True)


def words_of(unit: Unit | None) -> list[str]:
    """The words to search for a unit's passage, the most reliable first."""
    if unit is None:
        return []
    if unit.anchor is not None:
        return [unit.anchor.quote]
    context = [unit.context] if isinstance(unit, Claim) else []
    return [words for words in (*context, unit.text, str(getattr(unit, "identifier", ""))) if words.strip()]
