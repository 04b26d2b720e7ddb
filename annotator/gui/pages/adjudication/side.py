"""The side panels, one at a time: source, guideline, discussion or gaps."""

from PySide6.QtCore import QSettings, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QStackedWidget, QWidget

from annotator.actions.adjudication import adjudicating
from annotator.actions.authoring import settings
from annotator.actions.consensus import consensus
from annotator.actions.items import items, materials
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import Label
from annotator.gui import keys, theme
from annotator.gui.forms.forms import whole
from annotator.gui.pages.adjudication.bench import AdjudicationModel
from annotator.gui.review.people_choice import with_names
from annotator.gui.review.source_pane import SourcePane, Span, TextPane
from annotator.gui.session.session import Pane, ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    add_entry,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.reading.marked_text import MarkedText
from annotator.gui.widgets.reading.report_view import ReportView

# The mark kinds for the evidence of the documents, in their order; the view's names of the kinds are not visible.
MARKS = ("evidence", "other", "judge", "find")
LINES = ("underlined", "dotted", "dashed", "plain")

SHOWN = "adjudicate/side"
ENTERED = ("discussion", "gaps")
LEAST_WIDTH, WIDTH = 240, 380


class SidePart(Pane):
    def __init__(self, session: ProjectSession, bench: AdjudicationModel) -> None:
        super().__init__(session)
        self._bench = bench

    def show_item(self) -> None:
        """Show what belongs to the open item."""

    def show_row(self) -> None:
        """Show what belongs to the current row, unless it is the same for every row."""


TITLES = {"source": "Source", "guideline": "Guideline", "discussion": "Discussion", "gaps": "Guideline gaps"}


class SourceSide(SidePart):
    def __init__(self, session: ProjectSession, bench: AdjudicationModel) -> None:
        super().__init__(session, bench)
        self._response_id = ""
        self.sources, self.pane = SourcePane(session), TextPane(session)
        self.report = self.pane.report
        self.name = PlainLabel("", "hint", wrap=True)
        self.pane.report.loaded.connect(lambda: self._mark(reveal=True))
        self._of_labels = column_of(self.name, (self.pane, 1))
        self._stack = Stack(self.sources, self._of_labels)
        vertical(self._stack, on=self, margins=0)

    def show_item(self) -> None:
        sheet = self._bench.open_sheet
        if sheet.kind is Kind.LABELS:
            self._stack.setCurrentWidget(self._of_labels)
            self.setFocusProxy(self.report)
            return
        self._stack.setCurrentWidget(self.sources)
        self.setFocusProxy(self.sources.text)
        result = self.session.ask(items.beside, sheet.item_id) or []
        item = self.session.ask(items.read, sheet.item_id)
        if item is None:
            return
        self.sources.show_item(item, result)
        for part in (self.sources.quoting, self.sources.add):
            part.hide()
        if not result:
            self.sources.tabs.setCurrentIndex(self.sources.tabs.count() - 1)

    def show_row(self) -> None:
        row, sheet = self._bench.row, self._bench.sheet
        if row is None or sheet is None or sheet.kind is not Kind.LABELS:
            return
        if row.response_id == self._response_id:
            self._mark(reveal=True)
        elif (text := self.session.ask(adjudicating.report_text, row.response_id)) is not None:
            self._response_id = row.response_id
            self.pane.show_report(text)

    def show_quote(self, letter: str, place: int = 0) -> bool:
        """Scroll to a quotation of a document in the current row; whether it was found."""
        unit = self._bench.row.units.get(letter) if self._bench.row else None
        if isinstance(unit, Label):
            span = self._span(unit)
            if span is not None:
                self.report.reveal(*span)
            return span is not None
        return (
            unit is not None and place < len(unit.anchors) and self.sources.show_anchor(unit.anchors[place])
        )

    def seek(self) -> None:
        if self._stack.currentWidget() is self.sources:
            self.sources.open_find()
        else:
            self.pane.seek()

    def _mark(self, *, reveal: bool) -> None:
        row, sheet = self._bench.row, self._bench.sheet
        if row is None or sheet is None:
            return
        self.report.clear_marks()
        hidden = self._bench.ballot(row.ruling.id) is not None
        legend = []
        for letter, kind, line in zip(sheet.letters, MARKS, LINES, strict=False):
            unit = row.units.get(letter)
            if hidden or not isinstance(unit, Label) or not unit.quote:
                continue
            span = self._span(unit)
            legend.append(f"{letter} {line}" if span else f"{letter} not found")
            if span is not None:
                self.report.set_marks(kind, [span])
                if reveal:
                    self.report.reveal(*span)
                    reveal = False
        suffix = f" · evidence of {', '.join(legend)}" if legend else ""
        self.name.setText(f"{row.report}{suffix}")

    def _span(self, unit: Label) -> Span | None:
        return self.pane.place(unit.quote, self.pane.text.find(unit.quote))


class SideStack(Pane):
    """One of four panels, or none; the choice is stored."""

    turned = Signal(str)
    """The name of the part now shown; empty for none."""

    def __init__(self, session: ProjectSession, bench: AdjudicationModel) -> None:
        super().__init__(session, "side")
        self._bench = bench
        self.title = PlainLabel(role="subtitle")
        close = chips.tool_button("Close this panel", "close", lambda: self.show_part(""), 14)
        self._stack = QStackedWidget()
        self.parts: dict[str, SidePart] = {}
        self.shown = ""
        theme.scale(self.setMinimumWidth, LEAST_WIDTH)
        vertical(horizontal((self.title, 1), close), (self._stack, 1), on=self, margins=(8, 6, 8, 8))
        for sign in (bench.opened, bench.laid, bench.rows_changed):
            sign.connect(lambda *_: self._refresh())
        bench.moved.connect(lambda _: self._refresh(same_item=True))
        self.hide()

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(WIDTH), super().sizeHint().height())

    def restore(self) -> None:
        stored = str(QSettings().value(SHOWN, ""))
        self.show_part(stored if stored in TITLES else "")

    def toggle(self, name: str) -> None:
        """Show a part, or hide it if it is shown already; parts for writing or choosing take the focus."""
        self.show_part("" if name == self.shown else name)
        if self.shown in ENTERED:
            self.enter()

    def show_part(self, name: str) -> None:
        """Show a part, built now if it was never shown; none for an empty name."""
        self.shown = name
        QSettings().setValue(SHOWN, name)
        if name:
            if name not in self.parts:
                self.parts[name] = MAKERS[name](self.session, self._bench)
                self._stack.addWidget(self.parts[name])
            self._stack.setCurrentWidget(self.parts[name])
            self.title.setText(TITLES[name])
        self.setVisible(bool(name))
        self._refresh()
        self.turned.emit(name)

    def source(self) -> SourceSide:
        if self.shown != "source":
            self.show_part("source")
        part = self.parts["source"]
        assert isinstance(part, SourceSide)
        return part

    def enter(self) -> None:
        part = self.parts.get(self.shown)
        if part is not None:
            part.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def seek(self) -> None:
        part = self.parts.get(self.shown)
        if isinstance(part, SourceSide):
            part.seek()

    def stop(self) -> None:
        part = self.parts.get("source")
        if isinstance(part, SourceSide):
            part.sources.stop()

    def _refresh(self, *, same_item: bool = False) -> None:
        part = self.parts.get(self.shown)
        if part is not None and self._bench.sheet is not None:
            if not same_item:
                part.show_item()
            part.show_row()


class GuidelineText(SidePart):
    def __init__(self, session: ProjectSession, bench: AdjudicationModel) -> None:
        super().__init__(session, bench)
        self._shown = ""
        self.text = with_properties(ReportView(), role="side", accessibleName="Guideline")
        self.setFocusProxy(self.text)
        vertical(self.text, on=self, margins=0)

    def show_item(self) -> None:
        """Show the guideline of the open stage, if it has changed."""
        sheet = self._bench.open_sheet
        words = self.session.ask(settings.text_in_force, sheet.stage) or ""
        words = with_names(words) if sheet.kind is Kind.LABELS else whole(sheet.kind, words)
        if words == self._shown:
            return
        self._shown = words
        rendered = self.session.ask(materials.html, keys.in_words(words))
        if rendered is not None:
            self.text.show_html(rendered.html)


class GapList(SidePart):
    def __init__(self, session: ProjectSession, bench: AdjudicationModel) -> None:
        super().__init__(session, bench)
        self._gaps: list[consensus.Gap] = []
        self.list = with_properties(
            QListWidget(),
            wordWrap=True,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            accessibleName="Guideline gaps",
        )
        self.list.itemActivated.connect(self._choose)
        self.list.itemClicked.connect(self._choose)
        self.nothing = PlainLabel(
            "No gap yet. Where the guideline does not say how to decide, give the reason “Guideline gap” "
            "and describe what it leaves open.",
            "hint",
            wrap=True,
        )
        self.copy = push_button("Copy the list", self._copy)
        self.setFocusProxy(self.list)
        vertical(
            self.nothing, (self.list, 1), (self.copy, 0, Qt.AlignmentFlag.AlignRight), on=self, margins=0
        )

    def show_item(self) -> None:
        result = self.session.ask(consensus.gaps) or []
        if result == self._gaps and self.list.count():
            return
        self._gaps = result
        self.list.clear()
        for gap in result:
            add_entry(self.list, _words(gap), (gap.adjudication_id, gap.ruling_id))
        for part in (self.list, self.copy):
            part.setVisible(bool(result))
        self.nothing.setVisible(not result)

    def _choose(self, entry: QListWidgetItem) -> None:
        self._bench.row_wanted.emit(*entry.data(Qt.ItemDataRole.UserRole))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText("\n".join(_words(gap) for gap in self._gaps))


def _words(gap: consensus.Gap) -> str:
    description = " ".join(gap.text.split()) or "not described yet"
    return f"Item {gap.item_key}, {gap.stage.value}: {description}"


class Discussion(SidePart):
    """The discussion of an item: notes without names, one's own and those of others with access."""

    def __init__(self, session: ProjectSession, bench: AdjudicationModel) -> None:
        super().__init__(session, bench)
        self._area = PlainArea("Notes")
        self.field = GrowingEdit(
            least=2,
            most=8,
            accessibleName="Add a note",
            placeholderText="Note for the coordinator and for yourself",
        )
        self.add = push_button("Add note", self._add)
        self.notes: list[MarkedText] = []
        self._of = ""
        self.setFocusProxy(self.field)
        vertical((self._area, 1), self.field, (self.add, 0, Qt.AlignmentFlag.AlignRight), on=self, margins=0)

    def show_item(self) -> None:
        sheet = self._bench.open_sheet
        if self._of != sheet.adjudication_id:
            self._of = sheet.adjudication_id
            self.field.setPlainText("")
        me = self.session.project.by
        inside = QWidget()
        column = vertical(on=inside, margins=(0, 0, 4, 0))
        self.notes = []
        for note in self._bench.ask(consensus.remarks) or ():
            card, words = with_properties(QFrame(), role="card"), MarkedText(note.text)
            vertical(PlainLabel("You" if note.person_id == me else "Someone else", "hint"), words, on=card)
            column.addWidget(card)
            self.notes.append(words)
        if not self.notes:
            column.addWidget(
                PlainLabel("No notes yet. People who answered this item cannot read them.", "hint", wrap=True)
            )
        column.addStretch(1)
        self._area.setWidget(inside)
        self._area.verticalScrollBar().setValue(self._area.verticalScrollBar().maximum())
        for part in (self.field, self.add):
            part.setVisible(not self.session.project.readonly)

    def _add(self) -> None:
        if self._bench.do(consensus.remark, self._of, self.field.toPlainText()):
            self.field.setPlainText("")
            self.show_item()
            self.field.setFocus(Qt.FocusReason.OtherFocusReason)


MAKERS: dict[str, type[SidePart]] = {
    "source": SourceSide, "guideline": GuidelineText, "discussion": Discussion, "gaps": GapList,
}  # fmt: skip
