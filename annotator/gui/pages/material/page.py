"""The Material page: reports, extracts, cited pages, sources and transcripts, present and missing."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QListWidget, QWidget

from annotator.actions.project import people, profile
from annotator.domain.common import counted, local, words_that_hold
from annotator.domain.kinds.kind import Kind, Role
from annotator.domain.material.transcript import DOUBTS, clock, moments
from annotator.gui import theme
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.page import PartedPage, Tab, TabPart
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    add_entry,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState, answered_label
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.fields import ChoiceBox, GrowingEdit, LineField, offer, search_field
from annotator.gui.widgets.splitter import Splitter

if TYPE_CHECKING:
    from annotator.actions.items.seminars import OpenTranscript, TranscriptLine

Span = tuple[int, int]

# People: a coordinator with hours of speech recognition. What annoys them elsewhere: invented sentences that look like
# said ones, corrections without a trace, and names of guests that cannot be taken out.
COLUMNS: "Sequence[Column[TranscriptLine]]" = (
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

HERE = "annotator.gui.pages.material"


# People: a coordinator who prepares what is judged. What annoys them elsewhere: cited pages that die between two
# runs, claims that a model got wrong and nobody can correct, and no way to see what is missing.
class MaterialPage(PartedPage):
    NAME = "Material"
    ABOUT = ("How reports, cited pages and sources work", "material")
    TABS = ("Reports", "Extracts", "Cited pages", "Sources", "Transcripts")
    PARTS = ("reports", "parts", "pages", "sources", "transcripts")
    DENIED = (
        "For coordinators only",
        "This page shows which system wrote which report, so people who label blind cannot see it.",
    )
    ABOVE = 16
    HEARS = (
        "extract",
        "page",
        "import",
        "judge",
        "judge_run",
        "item",
        "source",
        "response",
        "artifact",
        "metadata",
        "transcript",
    )

    reports = Tab(f"{HERE}.reports_view", "ReportsView")
    parts = Tab(f"{HERE}.parts_view", "PartsView")
    pages = Tab(f"{HERE}.pages_view", "PagesView")
    sources = Tab(f"{HERE}.sources_view", "SourcesView")
    transcripts = Tab(f"{HERE}.page", "TranscriptsView")

    def offered(self) -> frozenset[str]:
        me = self.session.ask(people.someone)
        if me is None or not (me.has(Role.COORDINATOR) or self.session.project.person is None):
            return frozenset()
        spoken = Kind.INSPIRATIONS in (self.session.ask(profile.kinds) or ())
        return frozenset(self.TABS if spoken else self.TABS[:-1])

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current state; a report, extracts waiting of a kind, or a page opens the part that shows it."""
        if place.get("response_id") or place.get("waiting"):
            place = {**place, "part": "Extracts"}
        elif place.get("url"):
            place = {**place, "part": "Cited pages"}
        super().navigate(place)

    def keeps_words(self, field: QWidget) -> bool:
        return not (self.PARTS[self.tabs.currentIndex()] == "parts" and self.parts.editor.isAncestorOf(field))


class TranscriptsView(TabPart):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._lines: Sequence[TranscriptLine] = ()
        self._opened: OpenTranscript | None = None
        self._requested, self._span = "", (0, 0)
        self.model: CellsModel[TranscriptLine] = CellsModel(COLUMNS, self)
        self.list = LinesTable("Transcripts", self.model, self.model.widths, stretched=0, moved=self._open)
        self.search = search_field("Find a transcript…", "Find a transcript", self._narrow)
        self.facts = PlainLabel(role="hint", wrap=True)
        from annotator.actions.items import seminars

        self.pane = TextPane(session)
        self.side = side = TranscriptSide(
            correct=lambda words: self._act(seminars.correct, *self._span, words),
            leave_out=lambda: self._act(seminars.leave_out, *self._span),
            take_back=lambda: self._act(seminars.take_back, self._span[0]),
            rename=lambda old, new: self._act(seminars.rename, {old: new}),
            hide_names=lambda: self._act(seminars.pseudonyms),
        )
        self.text = self.pane.report
        self.text.setAccessibleName("Transcript")
        self._nothing = EmptyState(
            "folder", *NOTHING, actions=[("Import…", lambda: self.session.go("Import"))]
        )
        left = column_of(self.search, (self.list, 1), margins=(0, 0, 8, 0), spacing=6)
        middle = column_of(self.facts, (self.pane, 1), spacing=6)
        area = PlainArea("Passage, speakers and changes", self.side)
        self._parts = Splitter(
            "material-transcripts",
            parts=(left, middle, area),
            sizes=(190, 600, 280),
            stretch=(0, 1),
            least=(150, 280, 240),
        )
        self._body = Stack(self._parts, self._nothing)
        vertical((self._body, 1), on=self, margins=(0, 10, 0, 0))
        self.answer.float_over(self._body)
        self.text.marked_words.connect(self._weigh_selection)
        self.pane.find_bar.moved.connect(self._weigh_selection)
        self.pane.stepped.connect(self._choose_segment)
        self.acts = {
            "find": self.pane.seek,
            "next_evidence": partial(self.pane.steps.step, 1),
            "previous_evidence": partial(self.pane.steps.step, -1),
            "keep_drawn": side.save,
            "remove_drawn": side.turn,
        }

    def fill(self) -> None:
        from annotator.actions.items import seminars

        self.session.ask_later(self._show, seminars.lines)

    def focus_first(self) -> None:
        (self.text if self._opened else self.list).setFocus(Qt.FocusReason.OtherFocusReason)

    def _show(self, lines: "Sequence[TranscriptLine]") -> None:
        self._lines = lines
        self._body.setCurrentWidget(self._parts if lines else self._nothing)
        self._narrow()
        self._open(anew=True)

    def _narrow(self) -> None:
        rows = [line for line in self._lines if self.search.finds(f"{line.key} {line.title}")]
        self.model.show(rows)
        row = self.model.place_of(lambda line: line.source_id == self._requested)
        self.list.choose(row, first=True)

    def _open(self, *, anew: bool = False) -> None:
        line = self.model.at(self.list.currentIndex().row())
        if line is not None and (anew or line.source_id != self._requested):
            from annotator.actions.items import seminars

            self._requested = line.source_id
            self.session.ask_later(self._show_opened, seminars.opened, line.source_id)

    def _show_opened(self, opened: "OpenTranscript") -> None:
        before, self._opened = self._opened, opened
        if opened.source.id != self._requested or opened == before:
            return
        same = before is not None and before.source.id == opened.source.id
        self.side.show_transcript(opened, readonly=self.session.project.readonly)
        if not same or before is None or before.source.text != opened.source.text:
            text = opened.source.text
            self.pane.show_words(text, moments=moments(text, opened.transcript))
        transcript = opened.transcript
        rows = [(row, one) for row, one in enumerate(transcript.segments) if one.marks]
        doubtful = [(str(row), (one.first, one.last)) for row, one in rows if one.doubts]
        left_out = [(one.first, one.last) for _, one in rows if one.excluded]
        self.pane.show_evidence(doubtful, "", reveal=False)
        self.text.set_marks("other", left_out)
        ends = transcript.time_at(len(opened.source.text))
        facts = {
            f"until {ends}": ends,
            counted(len(set(transcript.speakers)), "speaker"): True,
            counted(len(transcript.segments), "line"): True,
            f"{len(doubtful):,} doubtful (dash-dotted)": doubtful,
            f"{len(left_out):,} left out (dotted)": left_out,
        }
        self.facts.setText(" · ".join(words_that_hold(facts)))
        if same:
            self.text.reveal(self._span[0], self._span[0])
        else:
            self._span = (0, 0)
        self.side.show_passage(None)

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
        change = self.session.do(act, self._opened.source.id, *given)
        lost = change.after.get("lost", ()) if change is not None else ()
        if lost:
            gone = counted(len(lost), "quotation is no longer", "quotations are no longer")
            message = f"{gone} in the transcript: “{lost[0][:80]}”"
            self.answer.show_message("warning", message + (" …" if len(lost) > 1 else ""), lasting=True)


class TranscriptSide(QWidget):
    """A passage with its speakers and changes; what is asked for here is carried out by the view beside it."""

    def __init__(
        self,
        correct: Callable[[str], object],
        leave_out: Callable[[], object],
        take_back: Callable[[], object],
        rename: Callable[[str, str], object],
        hide_names: Callable[[], object],
    ) -> None:
        super().__init__()
        self._correct, self._leave_out, self._take_back, self._name = correct, leave_out, take_back, rename
        self._opened: OpenTranscript | None = None
        self._stored, self._doubtful, self._excluded, self._readonly = "", False, False, True
        self.place, self.words = (
            PlainLabel(role="hint", wrap=True),
            GrowingEdit(2, 8, accessibleName="Words of the passage", textChanged=self._enable),
        )
        self.correct = KeyButton(
            "Correct",
            act="keep_drawn",
            press=self.save,
            hint="Save the words; unchanged words settle the doubt",
        )
        self.leave = KeyButton("Leave out", act="remove_drawn", press=self.turn)
        self.speaker, self.name = (
            ChoiceBox(self._tell_speaker, accessibleName="Speaker"),
            LineField(
                placeholderText="new name, or another’s to merge",
                accessibleName="New name of the speaker",
                textChanged=lambda _: self._enable(),
                returnPressed=self._rename,
            ),
        )
        self.rename, self.hide_names = (
            push_button("Rename", self._rename),
            push_button(
                "S1, S2 …",
                hide_names,
                toolTip="Replace the names of all speakers; who is who stays in this project",
            ),
        )
        self.known = PlainLabel(role="hint", wrap=True)
        self.acts = with_properties(QListWidget(), accessibleName="Changes, newest first", wordWrap=True)
        theme.scale(self.acts.setMinimumHeight, 130)
        self.none = answered_label("Nothing was changed yet.")
        passage, speakers = (with_properties(QFrame(), role="card") for _ in range(2))
        doing = wrapping(self.correct, self.leave, gap=6)
        vertical(
            PlainLabel("Passage", "subtitle"), self.place, self.words, doing, on=passage, spacing=6,
        )  # fmt: skip
        vertical(
            PlainLabel("Speakers", "subtitle"), self.speaker, self.known, self.name,
            horizontal(self.rename, self.hide_names, StretchSpace(1)), on=speakers, spacing=6,
        )  # fmt: skip
        vertical(
            passage, speakers, PlainLabel("Changes", "subtitle"), self.none, (self.acts, 1), StretchSpace(0),
            on=self, margins=(8, 0, 0, 0), spacing=8,
        )  # fmt: skip
        self.show_transcript(None, readonly=True)

    def show_transcript(self, opened: "OpenTranscript | None", *, readonly: bool) -> None:
        self._opened, self._readonly = opened, readonly
        names = dict.fromkeys(opened.transcript.speakers) if opened else {}
        offer(self.speaker, [(name, name) for name in names])
        self._tell_speaker()
        self.acts.clear()
        for act in opened.history[:200] if opened else ():
            undone = ", undone" if act.undone else ""
            words = f"{act.verb}{undone}\n{act.by or 'nobody named'}, {local(act.at):%Y-%m-%d %H:%M}"
            add_entry(self.acts, words, tip=f"Before: {act.before}\nAfter: {act.after}")
        self.none.setVisible(opened is not None and not self.acts.count())
        self.acts.setVisible(bool(self.acts.count()))

    def show_passage(self, span: Span | None) -> None:
        """Show the words of a passage, with time and speaker; empty if nothing is selected."""
        opened = self._opened
        rows = opened.transcript.within(*span) if opened and span else range(0)
        if opened is None or span is None or not rows:
            self._stored, self._doubtful, self._excluded = "", False, False
            self.place.setText("Select words, or step through the doubtful passages.")
        else:
            result = [opened.transcript.segments[row] for row in rows]
            self._stored = " ".join(opened.source.text[slice(*span)].split())
            doubts = dict.fromkeys(doubt for one in result for doubt in one.doubts)
            self._doubtful, self._excluded = bool(doubts), any(one.excluded for one in result)
            parts = [
                clock(result[0].start),
                opened.transcript.name(result[0]),
                *(DOUBTS[one] for one in doubts),
            ]
            self.place.setText(" · ".join(filter(None, parts)) or "Its time is not known.")
        self.words.setPlainText("" if self._excluded else self._stored)
        self._enable()

    def save(self) -> None:
        if self.correct.isEnabled():
            self._correct(self.words.toPlainText())

    def turn(self) -> None:
        if self.leave.isEnabled():
            (self._take_back if self._excluded else self._leave_out)()

    def _rename(self) -> None:
        if self.rename.isEnabled():
            self._name(str(self.speaker.currentData()), self.name.text())

    def _tell_speaker(self) -> None:
        name = self.speaker.currentData()
        known = self._opened.names.get(name, "") if self._opened else ""
        self.known.show_words(f"{name} is {known}; only this project knows." if known else "")
        self.name.clear()
        self._enable()

    def _enable(self) -> None:
        writable, text = bool(self._stored) and not self._readonly, " ".join(self.words.toPlainText().split())
        changed = bool(text) and text != self._stored
        self.words.setEnabled(writable and not self._excluded)
        self.correct.set_words("Correct" if changed or not self._doubtful else "Heard so")
        self.correct.setEnabled(
            writable and not self._excluded and (changed or (self._doubtful and bool(text)))
        )
        self.leave.set_words("Take back" if self._excluded else "Leave out")
        self.leave.setEnabled(writable)
        speakers = self.speaker.count() > 0 and not self._readonly
        self.speaker.setEnabled(self.speaker.count() > 0)
        self.name.setEnabled(speakers)
        self.hide_names.setEnabled(speakers)
        self.rename.setEnabled(speakers and self.name.text().strip() not in ("", self.speaker.currentData()))
