"""Verdicts to rule on or review: the list, and the card that shows a case."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from html import escape
from itertools import chain, repeat

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from annotator.actions.sets.reviews import CaseKey, CaseList, CaseOutlook, VerdictCase
from annotator.actions.sets.validation_ground import ReadingSide, VerdictReading
from annotator.domain.judges.judge import Fault, InformedRuling, Review
from annotator.gui import keys, theme
from annotator.gui.pages.labelling.unit_card import PAGES
from annotator.gui.review.field_chips import KeyChips
from annotator.gui.review.people_choice import OF_VERDICT, KindRow
from annotator.gui.review.queues import QueueFilter, QueueModel
from annotator.gui.review.sheets import resetting
from annotator.gui.review.source_pane import ReadingPane, Span, TextPane
from annotator.gui.review.verdict_words import face, flag_words
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import (
    ElidedLabel,
    KeylessArea,
    PlainLabel,
    RoleFrame,
    StretchSpace,
    column_of,
    direction_of,
    horizontal,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.reading import report_view
from annotator.gui.widgets.reading.marked_text import QuoteButton

# The kinds of mark for the quotes of either side.
JUDGE, PERSON = "judge", "evidence"


class CaseFilter(QueueFilter):
    OPEN = "Open"
    DONE = "Done"
    ALL = "All"

    def admits(self, value: str) -> bool:
        return self is CaseFilter.ALL or bool(value) == (self is CaseFilter.DONE)


@dataclass(frozen=True, slots=True)
class CaseVoice:
    """One side: the rater's name and value, the kind of mark of its quote, and what was given beside the value."""

    who: str
    value: str
    mark: str
    side: ReadingSide


def voices_of(case: VerdictCase, sides: Mapping[str, ReadingSide]) -> list[CaseVoice]:
    """The judge of a case and, to rule on, the person; `sides` by rater. A person's flags are left out."""
    nothing = ReadingSide()
    voices = [CaseVoice(case.judge, case.judge_value, JUDGE, sides.get(case.judge_id, nothing))]
    if case.person_id:
        side = replace(sides.get(case.person_id, nothing), flags="")
        voices.append(CaseVoice(case.alias, case.label_value, PERSON, side))
    return voices


NO_CASES = CaseOutlook(CaseList({}, (), (), ().__getitem__), judged=False, held_back=0)


class VerdictCases(QueueModel):
    """All cases in order; rows are those that match filter and search."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all = NO_CASES.lines
        self._rulings: list[str] = []
        self._answered: dict[int, VerdictCase] = {}
        self._places: Mapping[int, int] | None = None
        self.faces: Mapping[str, tuple[str, str, str]] = {}
        """Answer → its words, icon and state."""

    def _made(self, number: int) -> VerdictCase:
        case: VerdictCase = self._answered.get(number) or self._all[number]
        return case

    def number(self, key: CaseKey) -> int | None:
        return self._all.numbers.get(key)

    def case(self, key: CaseKey) -> VerdictCase | None:
        number = self.number(key)
        return None if number is None else self._made(number)

    def counted(self, show: CaseFilter) -> int:
        every, still_open = len(self._all), self._rulings.count("")
        return {CaseFilter.ALL: every, CaseFilter.OPEN: still_open, CaseFilter.DONE: every - still_open}[show]

    def fill(self, cases: CaseList) -> None:
        """Take over new cases; `narrow` decides which are shown."""
        with resetting(self):
            self._all, self._answered, self._rulings = cases, {}, list(cases.rulings)
            self._rows, self._places = range(len(cases)), None

    def narrow(self, show: CaseFilter, words: str, keep: CaseKey) -> None:
        query = words.casefold().split()
        if show is CaseFilter.ALL and not query and self._places is None:
            return
        with resetting(self):
            if show is CaseFilter.ALL and not query:
                self._rows, self._places = range(len(self._all)), None
            else:
                self._rows = [*self._admitted(show, query, self.number(keep))]
                self._places = {number: row for row, number in enumerate(self._rows)}

    def _admitted(self, show: CaseFilter, query: Sequence[str], keep: int | None) -> Iterator[int]:
        matches = cache(lambda text: all(word in text for word in query))
        texts: Iterable[str] = self._all.texts if query else repeat("", len(self._all))
        for number, (value, text) in enumerate(zip(self._rulings, texts, strict=True)):
            if number == keep or (show.admits(value) and matches(text)):
                yield number

    def say(self, key: CaseKey, value: str, reason: str, note: str, kind: str = "") -> None:
        """Record the answer to a case; it keeps its place until the list is narrowed again."""
        number = self.number(key)
        assert number is not None
        case = self._made(number)
        self._answered[number] = case._replace(ruling=value, reason=reason, note=note, kind=kind)
        self._rulings[number] = value
        index = self.place(key)
        if index.isValid():
            self.dataChanged.emit(index, index)

    def row_of(self, key: CaseKey) -> int:
        number = self.number(key)
        if number is None:
            return -1
        return number if self._places is None else self._places.get(number, -1)

    def first(self) -> CaseKey:
        return self._made(0).key if len(self._all) else ()

    def neighbour(self, key: CaseKey, step: int) -> VerdictCase | None:
        """The next case shown (1) or the previous one (-1); None at the ends."""
        here = self.row_of(key)
        row = max(here, -1 if step > 0 else 0) + step
        return self._made(self._rows[row]) if 0 <= row < len(self._rows) else None

    def next_open(self, key: CaseKey) -> CaseKey | None:
        """The next open case, shown or not, wrapping around; None if all are done."""
        here = self.number(key)
        at = 0 if here is None else here + 1
        around = chain(range(at, len(self._all)), range(at))
        number = next((number for number in around if not self._rulings[number]), None)
        return None if number is None else self._made(number).key

    def line_at(self, row: int) -> VerdictCase:
        return self._made(self._rows[row])

    def words(self, line: VerdictCase) -> str:
        return f"{line.place.item_key}  {line.words}"

    def spoken(self, line: VerdictCase) -> str:
        answer = self.faces[line.ruling][0] if line.ruling in self.faces else "open"
        return f"Item {line.place.item_key}, {answer}: {line.words}"


FAULTS: tuple[tuple[str, Fault, str], ...] = (
    ("fault_missed", Fault.MISSED, "missed it"),
    ("fault_invented", Fault.INVENTED, "made it up"),
    ("fault_quote", Fault.QUOTE, "quote is no evidence"),
    ("fault_criterion", Fault.CRITERION, "misread the criterion"),
    ("fault_strict", Fault.STRICT, "too strict"),
    ("fault_lenient", Fault.LENIENT, "too lenient"),
    ("fault_other", Fault.OTHER, "other"),
)
# The acts of the key table whose keys answer, in the order of the answers.
ACTS = ("say_first", "say_second", "say_third")
# In reviews, “unsure” has its usual key.
REVIEW_ACTS = (*ACTS[:2], "unsure")
# Held down, these keys answer one case, not one after the other.
ONCE = (*ACTS, *REVIEW_ACTS, *OF_VERDICT, *(act for act, _, _ in FAULTS))


@dataclass(frozen=True, slots=True)
class VerdictAnswer:
    value: str
    words: str
    icon: str
    state: str
    asks: bool = False
    hint: str = ""


RULINGS = (
    VerdictAnswer(InformedRuling.JUDGE_WRONG, "Judge wrong", "judges", "disagree", True, "The person's label is right"),
    VerdictAnswer(
        InformedRuling.PERSON_WRONG, "Person wrong", "annotator", "unconfirmed", False,
        "The judge's verdict is right",
    ),
    VerdictAnswer(
        InformedRuling.UNCLEAR, "Criterion unclear", "question", "incomplete", False,
        "Both can be right: the criterion needs rewording",
    ),
)  # fmt: skip
REVIEWS = (
    VerdictAnswer(Review.AGREE, "Agree", "check", "agreed", False, "The verdict is right"),
    VerdictAnswer(Review.DISAGREE, "Disagree", "cross", "disagree", True, "The verdict is wrong"),
    VerdictAnswer(Review.UNSURE, "Unsure", "question", "unconfirmed", False, "Cannot tell"),
)


# The mark for what both quote, and for a claim's place in the report.
BOTH = "other"


class CaseReadingPane(ReadingPane):
    """The texts of a case; `beside` is the cited page or the report shown second; quotes are marked."""

    def __init__(self, session: ProjectSession, name: str) -> None:
        super().__init__(session, f"{name}/texts", KeylessArea("The question"))
        self._shown: VerdictReading | None = None
        self._voices: Sequence[CaseVoice] = ()
        self._fresh = False
        self._places: dict[str, tuple[TextPane, Span]] = {}
        """The place of each quote, by its kind of mark."""
        for pane in (self.first, self.beside):
            pane.report.loaded.connect(self._loaded)
        self.legend = with_properties(QLabel(), textFormat=Qt.TextFormat.RichText, wordWrap=True)
        vertical(self.area, (self.texts, 1), self.legend, on=self, margins=(4, 6, 4, 0), spacing=6)
        theme.watch(self, self._say_legend)

    def show_reading(self, reading: VerdictReading | None, voices: Sequence[CaseVoice]) -> None:
        """Show a case with each side's quotes; a text that is already shown keeps its scroll position."""
        before, self._shown, self._voices = self._shown, reading, voices
        if reading is None:
            self.first.show_words("")
            self.beside.hide()
            self.legend.clear()
            return
        self.show_question(reading.question)
        self._fresh = True
        pair, page = reading.other is not None, bool(reading.address or reading.page)
        self.beside.setVisible(pair or page)
        self.first.entitle("First report" if pair else "Report" if page else "")
        self.first.report.setAccessibleName(f"A report on item {reading.item_key}")
        if before is None or before.report != reading.report:
            self.first.show_report(reading.report)
        if pair:
            self.beside.entitle("Second report")
            self.beside.show_report(reading.other or "")
        elif page and (before is None or (before.address, before.page) != (reading.address, reading.page)):
            self._show_page(reading)
        self.mark(reveal=True)

    def _show_page(self, reading: VerdictReading) -> None:
        why = PAGES.get(reading.page_state, reading.page_state)
        unread = f"This page could not be read: {why}. {reading.page_cause}".strip() if why else ""
        what = f"Cited page: {reading.address}" if reading.address else "Sources"
        self.beside.entitle(what)
        self.beside.report.setAccessibleName(what)
        self.beside.show_words(reading.page, unread)

    def mark(self, *, reveal: bool) -> None:
        result = self._shown
        if result is None:
            return
        self._places = {
            voice.mark: place
            for voice in self._voices
            if (place := self.standing(voice.side.quote, voice.side.quote_start)) is not None
        }
        context = self.first.place(result.context, result.context_start) if result.context else None
        for pane in (self.first, self.beside):
            pane.report.clear_marks()
            for kind, (where, span) in self._places.items():
                pane.mark(kind, span if where is pane else None, reveal=False)
        if (shared := self._shared()) is not None:
            shared[0].report.mark(*shared[1], BOTH)
        if context is not None:
            self.first.report.mark(*context, BOTH)
        self._say_legend()
        for pane, span in list(self._places.values())[::-1] if reveal else ():
            pane.report.reveal(*span)
        if reveal and context is not None:
            self.first.report.reveal(*context)

    def show_quote(self, number: int) -> bool:
        """Scroll to a side's quote; whether it was found."""
        place = self._places.get((JUDGE, PERSON)[number])
        if place is not None:
            place[0].report.reveal(*place[1])
        return place is not None

    def is_quoted(self, voice: CaseVoice) -> bool | None:
        """Whether a side's quote is in the texts; None if it has no quote."""
        return voice.mark in self._places if voice.side.quote else None

    def _shared(self) -> tuple[TextPane, Span] | None:
        spans = list(self._places.values())
        if len(spans) < 2 or spans[0][0] is not spans[1][0] or self._claims:
            return None
        start, end = max(span[1][0] for span in spans), min(span[1][1] for span in spans)
        return (spans[0][0], (start, end)) if start < end else None

    @property
    def _claims(self) -> bool:
        return bool(self._shown and self._shown.context)

    def _loaded(self) -> None:
        """Mark a text once it is loaded; scroll only the first time, not after a change of colours."""
        self.mark(reveal=self._fresh)
        self._fresh = False

    def _say_legend(self) -> None:
        if self._shown is None:
            return
        words = [(voice.mark, voice.who) for voice in self._voices if self.is_quoted(voice)]
        both = "the claim" if self._claims else "both" if self._shared() is not None else ""
        words += [(BOTH, both)] if both else []
        swatches = "\u2003".join(swatch(kind, name) for kind, name in words)
        nothing = "Nobody quoted a passage of this text."
        self.legend.setText(f"Marked: {swatches}" if words else nothing)
        self.legend.setAccessibleName(f"Marked: {', '.join(name for _, name in words)}" if words else nothing)

    def turn(self, screens: int) -> None:
        (self.beside if self._claims else self.first).turn(screens)

    def seek(self) -> None:
        (self.beside if self._claims else self.first).seek()


def swatch(kind: str, name: str) -> str:
    colour, _ = report_view.MARKS[kind]
    ground, ink = theme.token(colour).name(), theme.token("on-mark").name()
    style = f"background-color:{ground};color:{ink};text-decoration:underline"
    return f"<span style='{style}'>&nbsp;{escape(name)}&nbsp;</span>"


class VoiceBox(RoleFrame):
    """One side of a case."""

    def __init__(self) -> None:
        super().__init__("card")
        self.who, self.value = ElidedLabel("", "strong"), Chips(wrap=False)
        self.why, self.flags = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.quote = QuoteButton("quiet", "Press to show its place.")
        self.quote.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        vertical(
            horizontal((self.who, 1), self.value),
            self.why,
            self.quote,
            self.flags,
            on=self,
            margins=(10, 8, 10, 8),
            spacing=4,
        )

    def show_voice(self, voice: CaseVoice, protocol: str, *, stands: bool | None) -> None:
        """Show a side; `stands` says whether its quote is in the texts, None if it has no quote."""
        look, side = face(voice.value, protocol), voice.side
        self.who.setText(voice.who)
        self.value.show_chips([Chip(look.words, look.icon, look.state)])
        self.why.show_words(side.why)
        self.why.setLayoutDirection(direction_of(side.why))
        self.quote.show_quote(side.quote)
        self.quote.setVisible(bool(side.quote))
        remarks = [flag_words(flag) for flag in side.flags.split() if flag != "quote_missing"]
        remarks += ["These words are not in the text"] if stands is False else []
        remarks += ["No reason or passage given"] if not (side.why or side.quote) else []
        self.flags.show_words(" · ".join(remarks))
        self.setAccessibleName(f"{voice.who} says {look.words}. {side.why}".strip())


SIDES = 2
# In a lower window, in design pixels, the verdict needs the space of what is read or set once.
ROOMY = 680


def is_roomy(widget: QWidget) -> bool:
    return widget.window().height() >= theme.current().px(ROOMY)


class CaseCard(QWidget):
    def __init__(self, answers: Sequence[VerdictAnswer], locked: str) -> None:
        """`locked` says why nothing can be changed; empty if it can."""
        super().__init__()
        self._locked = locked
        self._answers = {answer.value: answer for answer in answers}
        with_properties(self, focusPolicy=Qt.FocusPolicy.StrongFocus, role="side")
        self.where, self.state = ElidedLabel("", "hint"), Chips(wrap=False)
        self.beside, self.unit = PlainLabel("", "hint", wrap=True), PlainLabel("", "subtitle", wrap=True)
        self.boxes = [VoiceBox() for _ in range(SIDES)]
        # Until a case is shown there is no voice to show.
        for part in (self.state, *self.boxes):
            part.hide()
        self.kinds = KindRow(readonly=bool(locked), acts=OF_VERDICT)
        self.reasons = KeyChips("Why is the judge wrong?", FAULTS)
        self.note = GrowingEdit(
            least=1,
            most=5,
            accessibleName="Note",
            readOnly=bool(locked),
            left=lambda: self.setFocus(Qt.FocusReason.OtherFocusReason),
        )
        self._noted: CaseKey = ()
        keys.tell(self.note, "placeholderText", "A note, stored with your answer ({note})")
        inside = column_of(
            self.beside, self.unit, *self.boxes, StretchSpace(1), margins=(0, 0, 4, 0), spacing=8
        )
        self.area = KeylessArea("The verdict", inside)
        # The parts with a key each are always fully visible; what they are about scrolls.
        self.area.setMinimumHeight(24)
        vertical(
            horizontal((self.where, 1), self.state),
            (self.area, 1),
            self.kinds,
            self.reasons,
            self.note,
            on=self,
            margins=(12, 10, 10, 8),
            spacing=8,
        )

    def show_case(
        self, case: VerdictCase, reading: VerdictReading | None, voices: Sequence[CaseVoice], where: str,
        texts: CaseReadingPane,
    ) -> None:  # fmt: skip
        self.where.setText(where)
        words = (reading.unit if reading is not None else "") or case.words
        self.unit.setText(words)
        self.unit.setLayoutDirection(direction_of(words))
        given = "\n".join(reading.given) if reading is not None else ""
        self.beside.show_words(given)
        self.beside.setLayoutDirection(direction_of(given))
        for number, box in enumerate(self.boxes):
            box.setVisible(number < len(voices))
            if number < len(voices):
                box.show_voice(voices[number], case.protocol, stands=texts.is_quoted(voices[number]))
        self.area.verticalScrollBar().setValue(0)

    def show_ruling(self, case: VerdictCase, reason: str, note: str) -> None:
        """Show the person's answer to the case."""
        answer = self._answers.get(case.ruling)
        look = Chip(answer.words, answer.icon, answer.state) if answer else Chip("Open", "new")
        self.state.show_chips([look])
        self.state.show()
        held = next((fault for _, fault, _ in FAULTS if fault.value == reason), None)
        idle = bool(self._locked) or (answer is not None and not answer.asks)
        self.reasons.show_value(held, required=False, locked=idle)
        rejected = answer is not None and answer.value == Review.DISAGREE.value
        taxonomy = None if rejected else case.taxonomy
        self.kinds.show_kind(
            taxonomy, case.kind, taxonomy.suggested(case.judge_value, case.flags) if taxonomy else ""
        )
        typing = self.note.hasFocus() and case.key == self._noted
        self._noted = case.key
        if note != self.note.toPlainText() and not typing:
            self.note.setPlainText(note)

    def enter_note(self) -> None:
        self.note.setFocus(Qt.FocusReason.ShortcutFocusReason)
