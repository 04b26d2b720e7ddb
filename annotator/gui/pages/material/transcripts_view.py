"""Transcripts tab: the list, the text with its doubtful passages, and corrections."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.transcripts import correcting
from annotator.actions.transcripts.correcting import OpenTranscript, TranscriptLine
from annotator.domain.texts.counting import counted
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.material.transcript_side import TranscriptSide
from annotator.gui.review.text_pane import TextPane
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.bars.tabs import Stack
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.typed import search_field
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea

# People: a coordinator with hours of speech recognition. What annoys them elsewhere: invented sentences that look like
# said ones, corrections without a trace, and names of guests that cannot be taken out.
COLUMNS: Sequence[Column[TranscriptLine]] = (
    Column(
        "Transcript",
        lambda one: one.title,
        150,
        tip=lambda one: f"{one.title}\n{one.characters:,} characters",
    ),
)
NOTHING = (
    "No transcripts yet",
    "Import recordings’ captions, speech recognition or minutes: File → Import, layout “Transcripts of seminars”.",
)
LEAST_LIST, LEAST_TEXT, LEAST_SIDE = 150, 280, 240


class TranscriptsView(QWidget):
    """The list on the left, the text in the middle, the passage, speakers and history on the right."""

    came = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._found: Sequence[TranscriptLine] = ()
        self._opened: OpenTranscript | None = None
        self._wanted, self._span = "", (0, 0)
        self._stopped = False
        self.model = CellsModel[TranscriptLine](COLUMNS, self)
        self.list = LinesTable("Transcripts", self.model, self.model.widths, stretched=0)
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._open())
        self.search = search_field("Find a transcript…", "Find a transcript", self._narrow)
        self.facts = PlainLabel(role="hint", wrap=True)
        self.pane, self.side, self.answer = TextPane(desk), TranscriptSide(), MessageBar()
        self.text = self.pane.report
        self.text.setAccessibleName("Transcript")
        self._lay_out()
        self._listen()

    def _lay_out(self) -> None:
        self._nothing = EmptyState("folder", *NOTHING)
        self._nothing.add_action("Import…", lambda: self._desk.go("Import"), primary=True)
        left, middle = QWidget(), QWidget()
        vertical(self.search, (self.list, 1), on=left, margins=(0, 0, 8, 0), spacing=6)
        vertical(self.facts, (self.pane, 1), on=middle, margins=0, spacing=6)
        area = PlainArea("Passage, speakers and changes", self.side)
        for part, least in ((left, LEAST_LIST), (middle, LEAST_TEXT), (area, LEAST_SIDE)):
            theme.scale(part.setMinimumWidth, least)
        self._parts = Splitter(
            "material-transcripts", parts=(left, middle, area), sizes=(190, 600, 280), stretch=(0, 1)
        )
        self._body = Stack(self._parts, self._nothing)
        vertical((self._body, 1), on=self, margins=(0, 10, 0, 0))
        self.answer.float_over(self._body)

    def _listen(self) -> None:
        self.text.marked_words.connect(self._weigh_selection)
        self.pane.find_bar.moved.connect(self._weigh_selection)
        self.pane.stepped.connect(self._choose_segment)
        side = self.side
        side.corrected.connect(lambda words: self._act(correcting.correct, *self._span, words))
        side.left_out.connect(lambda: self._act(correcting.leave_out, *self._span))
        side.taken_back.connect(lambda: self._act(correcting.take_back, self._span[0]))
        side.renamed.connect(lambda old, new: self._act(correcting.rename, {old: new}))
        side.hidden.connect(lambda: self._act(correcting.pseudonyms))

    def fill(self) -> None:
        """Read the transcripts again, on another thread."""
        self._desk.ask_later(self._show, correcting.lines)

    def focus_first(self) -> None:
        """Work begins in the text, or in the list."""
        goal: QWidget = self.text if self._opened else self.list
        goal.setFocus(Qt.FocusReason.OtherFocusReason)

    def seek(self) -> None:
        """Find words in the transcript."""
        self.pane.seek()

    def step(self, way: int) -> None:
        """To the next doubtful passage, or the one before."""
        self.pane.steps.step(way)

    def stop(self) -> None:
        """Read nothing more."""
        self._stopped = True

    def rebind(self) -> None:
        """Print the keys as they now are."""
        self.side.rebind()

    def _show(self, found: Sequence[TranscriptLine]) -> None:
        if not self._stopped:
            self._found = found
            self._body.setCurrentWidget(self._parts if found else self._nothing)
            self._narrow()
            self._open(anew=True)

    def _narrow(self) -> None:
        words = self.search.text().casefold().split()
        rows = [
            one for one in self._found if all(word in f"{one.key} {one.title}".casefold() for word in words)
        ]
        self.model.show(rows)
        row = self.model.place_of(lambda one: one.source_id == self._wanted)
        if rows and self.list.currentIndex().row() != max(0, row):
            self.list.setCurrentIndex(self.model.index(max(0, row), 0))

    def _open(self, *, anew: bool = False) -> None:
        one = self.model.at(self.list.currentIndex().row())
        if one is not None and (anew or one.source_id != self._wanted):
            self._wanted = one.source_id
            self._desk.ask_later(self._show_opened, correcting.opened, one.source_id)

    def _show_opened(self, opened: OpenTranscript) -> None:
        before, self._opened = self._opened, opened
        if self._stopped or opened.source.id != self._wanted or opened == before:
            return
        same = before is not None and before.source.id == opened.source.id
        self.side.show_transcript(opened, readonly=self._desk.project.readonly)
        if not same or before is None or before.source.text != opened.source.text:
            self.pane.show_words(opened.source.text)
        self._mark()
        if same:
            self.text.reveal(self._span[0], self._span[0])
        else:
            self._span = (0, 0)
        self.side.show_passage(None)

    def _mark(self) -> None:
        assert self._opened is not None
        transcript = self._opened.transcript
        rows = list(enumerate(transcript.segments))
        doubtful = [(str(row), (one.first, one.last)) for row, one in rows if one.doubts]
        left_out = [(one.first, one.last) for _, one in rows if one.excluded]
        self.pane.show_evidence(doubtful, "", reveal=False)
        self.text.set_marks("other", left_out)
        parts = [counted(len(set(transcript.speakers)), "speaker"), counted(len(rows), "line")]
        parts += [f"{len(doubtful):,} doubtful (dash-dotted)"] if doubtful else []
        parts += [f"{len(left_out):,} left out (dotted)"] if left_out else []
        ends = transcript.time_at(len(self._opened.source.text))
        self.facts.setText(" · ".join([*([f"until {ends}"] if ends else []), *parts]))

    def _choose_segment(self, row: str) -> None:
        if self._opened is not None:
            one = self._opened.transcript.segments[int(row)]
            self.text.select(one.first, one.last)

    def _weigh_selection(self) -> None:
        chosen = self.pane.chosen()
        if chosen is not None and self._opened is not None:
            self._span = chosen
        self.side.show_passage(chosen)

    def _act(self, act: Callable[..., Any], *given: Any) -> None:
        if self._opened is None:
            return
        change = self._desk.do(act, self._opened.source.id, *given)
        lost = change.after.get("lost", ()) if change is not None else ()
        if lost:
            gone = counted(len(lost), "quotation is no longer", "quotations are no longer")
            told = f"{gone} in the transcript: “{lost[0][:80]}”"
            self.answer.show_message("warning", told + (" …" if len(lost) > 1 else ""), lasting=True)
