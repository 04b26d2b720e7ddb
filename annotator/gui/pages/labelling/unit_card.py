"""One unit in the list: its text and state, and its controls while it is current; also the acts below the list."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QTabBar, QToolButton, QWidget

from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.label_rows import UNSURE, USUAL
from annotator.actions.labelling.label_sealing import TAXONOMIES
from annotator.actions.labelling.labels import LabelSheet, UnitGroup
from annotator.domain.common import counted
from annotator.domain.judges.protocol import CaseLayout
from annotator.domain.kinds.artifact import Unit
from annotator.gui import keys
from annotator.gui.pages.labelling.bench import LabellingModel
from annotator.gui.review.people_choice import ACTS, USUAL_ACTS, KindRow
from annotator.gui.review.verdict_words import (
    REWORDED,
    ZERO,
    UnitLabel,
    answers,
    face,
    faces,
    is_flagged,
    label_value,
    places,
)
from annotator.gui.session.page import way_to
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import ActsBar, Command, FlowRow, KeyButton
from annotator.gui.widgets.basics import (
    ElidedLabel,
    KeylessArea,
    PlainLabel,
    RoleFrame,
    StretchSpace,
    direction_of,
    horizontal,
    show_tabs,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Chip, Chips, Picture, WorkCard
from annotator.gui.widgets.fields import GrowingEdit
from annotator.gui.widgets.reading.marked_text import QuoteButton


class VerdictButtons(QWidget):
    def __init__(self, bench: LabellingModel, allowed: Collection[str], why: str, locked: str) -> None:
        """`allowed` values can be given; `why` explains the others; `locked` says why none can, if so."""
        super().__init__()
        protocol = bench.protocol
        self.buttons: list[KeyButton] = []
        row = FlowRow(self)
        acts = {place: act for act, place in places(protocol).items()}
        for place, (value, look) in enumerate(zip(answers(protocol), faces(protocol), strict=True)):
            button = with_properties(
                KeyButton(
                    look.words,
                    act=acts.get(place, ""),
                    hint=look.hint,
                    press=lambda _=False, place=place: bench.chosen.emit(place),
                ),
                checkable=True,
                focusPolicy=Qt.FocusPolicy.NoFocus,
            )
            # Not focusable, so that a stray Space sets no label; the digits do the same.
            chips.put(button, look.icon, color=f"state-{look.state}")
            lock(button, locked or ("" if value in allowed else why))
            self.buttons.append(button)
            row.addWidget(button)

    def show_place(self, place: int) -> None:
        """Check the label of an index only; -1 unchecks all."""
        for number, button in enumerate(self.buttons):
            button.setChecked(number == place)


class UnitDetails(QWidget):
    """The controls of one unit; `show_label` shows the state."""

    def __init__(
        self,
        bench: LabellingModel,
        holder: QWidget,
        unit_of: Callable[[], str],
        allowed: tuple[str, ...],
        locked: str,
        why: str = "",
        *,
        flat: bool = False,
    ) -> None:
        """`allowed` values can be given; `why` explains the others; `locked` says why none can, if so.

        Esc in the note returns to the `holder`; `unit_of` gives the note's unit. `flat` controls are on one line.
        """
        super().__init__()
        self._bench, self._protocol, self._locked = bench, bench.protocol, locked
        self.outdated, self.origin = PlainLabel("", "hint", wrap=True), PlainLabel("", "hint", wrap=True)
        self.verdicts = VerdictButtons(bench, allowed, why, locked)
        self.kind_rows = list(self._kind_rows())
        # On one line the hint would take the note's room.
        self._quotes = not flat
        evidence, notes = self._evidence(), self._notes()
        controls = (horizontal if flat else vertical)(
            self.verdicts, *self.kind_rows, evidence, (notes, int(flat)), spacing=6
        )
        vertical(self.outdated, self.origin, controls, on=self, margins=(0, 2, 0, 0), spacing=6)
        self.setTabOrder(self.show_evidence, self.clear_evidence)
        self.setTabOrder(self.clear_evidence, self.note)
        self.setTabOrder(self.note, self.flag)
        # Text belongs to the unit it was typed at, even if another is current by now.
        self.note.edited.connect(lambda words: bench.note(unit_of(), words))
        self.note.left.connect(holder.setFocus)

    def _kind_rows(self) -> Iterator[KindRow]:
        """A row for each taxonomy asked about beside the label; otherwise one, for the kind that the value asks for."""
        known = [
            taxonomy for taxonomy in TAXONOMIES.values() if taxonomy.of == self._protocol and taxonomy.beside
        ]
        many = [len(taxonomy.values) for taxonomy in known] or [USUAL_ACTS]
        for start, count in zip(accumulate(many, initial=0), many, strict=False):
            row = KindRow(readonly=self._locked == LOCKED, acts=ACTS[start : start + count])
            row.given.connect(lambda place, start=start: self._bench.kind_given.emit(start + place))
            yield row

    @property
    def kinds(self) -> KindRow:
        return self.kind_rows[0]

    def _evidence(self) -> QHBoxLayout:
        self.show_evidence = QuoteButton("quiet", "Press to show its place.")
        self.show_evidence.clicked.connect(self._bench.evidence_wanted)
        self.clear_evidence = chips.tool_button(
            "Remove the evidence",
            "close",
            lambda: self._bench.mark(self._bench.current_id, "", None, None),
            14,
            text="Clear",
            accessibleName="Clear the evidence",
        )
        lock(self.clear_evidence, self._locked)
        read = presentation_of(self._protocol).read
        self._no_evidence = PlainLabel(
            f"No evidence yet: select words in the {read}, then {keys.shown('evidence')}", "hint", wrap=True
        )
        return horizontal(
            self.show_evidence, self.clear_evidence, (self._no_evidence, 1), StretchSpace(0), spacing=2
        )

    def _notes(self) -> QHBoxLayout:
        self.note = GrowingEdit(
            least=1,
            most=8,
            placeholderText=f"Note ({keys.shown('note')})",
            accessibleName=f"Note on this {presentation_of(self._protocol).one}",
            readOnly=bool(self._locked),
        )
        self.flag = chips.tool_button(
            "Flag for a second look ({flag})", "flag", self._bench.flag, checkable=True
        )
        lock(self.flag, self._locked)
        return horizontal((self.note, 1), (self.flag, 0, Qt.AlignmentFlag.AlignTop), spacing=4)

    def show_label(self, unit_label: UnitLabel) -> None:
        """Show the label, and its kind if that is asked."""
        label, taxonomy = unit_label.label, unit_label.taxonomy
        value, known = label_value(label), answers(self._protocol)
        self.verdicts.show_place(known.index(value) if value in known else -1)
        suggested = taxonomy.suggested(label.value or "", label.flags) if taxonomy and label else ""
        self.kinds.show_kind(taxonomy, unit_label.kind, suggested)
        for number, row in enumerate(self.kind_rows[1:]):
            if number < len(unit_label.more):
                row.show_kind(*unit_label.more[number], "")
            else:
                row.show_kind(None, "", "")
        self._show_outdated(unit_label.outdated)
        self.origin.show_words(f"{unit_label.origin[:1].upper()}{unit_label.origin[1:]}")
        quote = label.quote if label else ""
        self.show_evidence.show_quote(quote)
        for widget in (self.show_evidence, self.clear_evidence):
            widget.setVisible(bool(quote))
        self._no_evidence.setVisible(not quote and self._quotes)
        self.flag.setChecked(is_flagged(label))
        note = label.note if label else ""
        if note != self.note.toPlainText():
            self.note.setPlainText(note)

    def _show_outdated(self, value: str) -> None:
        self.outdated.setVisible(bool(value))
        before = f"Reworded since you said “{face(value, self._protocol).words}”"
        again = "that no longer counts. Reopen your labels to label it again."
        self.outdated.setText(
            f"{before}: {again}" if self._locked else f"{before}. Read it again and label it."
        )


# What can accompany a label: field, icon and word.
BESIDE = (("quote", "quote", "evidence"), ("note", "note", "note"), ("flags", "flag", "flagged"))
# A claim's context is shown up to this many characters; the report has the rest.
CONTEXT = 600
# A context that adds at most this many characters, such as reference marks, is not shown.
MARKS = 24


class UnitCard(WorkCard):
    def __init__(self, bench: LabellingModel, unit: Unit, group: UnitGroup, number: int, locked: str) -> None:
        """`number` is the unit's among all; its possible values are those of its group."""
        super().__init__(unit.id)
        self._bench, self._protocol = bench, bench.protocol
        self.unit, self._group, self._locked = unit, group, locked
        presentation, total = presentation_of(bench.protocol), len(bench.units)
        self._asked = unit.text or presentation.ask
        self._place = f"{presentation.one.capitalize()} {number:,} of {total:,}"
        self._shown = UnitLabel()
        self.details: UnitDetails | None = None
        self.chip, self.words = (
            Chips(wrap=False),
            PlainLabel(self._asked, wrap=True, layoutDirection=direction_of(self._asked)),
        )
        self._number, self._beside = horizontal(spacing=6), horizontal(spacing=6)
        if total > 1:
            self._number.addWidget(PlainLabel(f"{number}", "hint"))
        head = horizontal(self._number, StretchSpace(1), self._beside, self.chip, spacing=6)
        self._column = vertical(head, self.words, on=self, margins=(8, 7, 8, 8), spacing=4)
        # The question about a pair is shown above the card.
        self.words.setVisible(bool(self.unit.text))
        self.show_label(self._shown)

    # Widgets that most cards lack are built when first needed: every widget costs time at each restyling.

    @cached_property
    def weight(self) -> PlainLabel:
        self._number.addWidget(made := PlainLabel("", "hint"))
        return made

    @cached_property
    def kind(self) -> PlainLabel:
        self._beside.addWidget(made := PlainLabel("", "hint"))
        return made

    @cached_property
    def _icons(self) -> list[Picture]:
        made = [
            with_properties(Picture(name, "text-muted", 14), toolTip=words.capitalize())
            for _, name, words in BESIDE
        ]
        for place, picture in enumerate(made):
            self._beside.insertWidget(place, picture)
        return made

    @cached_property
    def context(self) -> PlainLabel:
        """The report's text around a claim, between the claim and the controls."""
        made = with_properties(
            PlainLabel("", "hint", wrap=True),
            toolTip="The report's words around the claim",
            layoutDirection=direction_of(self._context()),
        )
        self._column.insertWidget(2, made)
        return made

    def _context(self) -> str:
        words = " ".join(str(getattr(self.unit, "context", "")).split())
        if self.unit.text in words and len(words) < len(self.unit.text) + MARKS:
            return ""
        short = words if len(words) <= CONTEXT else f"{words[:CONTEXT].rstrip()}…"
        return f"“{short}”" if short else ""

    def show_label(self, unit_label: UnitLabel) -> None:
        self._shown, label = unit_label, unit_label.label
        shown = REWORDED if unit_label.outdated else face(label_value(label), self._protocol)
        self.chip.show_chips([Chip(shown.words, shown.icon, shown.state)])
        self._say(
            "kind",
            unit_label.taxonomy.words(unit_label.kind) if unit_label.taxonomy and unit_label.kind else "",
        )
        # Other flags than the person's own are set by the page, and shown with it.
        there = [bool(label and getattr(label, field)) for field, *_ in BESIDE[:-1]] + [is_flagged(label)]
        if any(there) or "_icons" in vars(self):
            for picture, visible in zip(self._icons, there, strict=True):
                picture.setVisible(visible)
        self.setAccessibleName(f"{self._place}, {shown.words}: {self._asked}")
        if self.details is not None:
            self.details.show_label(unit_label)

    def _say(self, hint: str, words: str) -> None:
        if words or hint in vars(self):
            shown: PlainLabel = getattr(self, hint)
            shown.show_words(words)

    def show_weight(self, shown: bool) -> None:
        """Show the unit's weight; raters see it only on demand."""
        weight = getattr(self.unit, "weight", None)
        self._say("weight", f"weight {weight}" if shown and weight is not None else "")

    def set_current(self, current: bool) -> None:
        if current and self.details is None:
            self.details = UnitDetails(
                self._bench,
                self,
                lambda: self.unit.id,
                (*self._group.values, UNSURE),
                self._locked,
                self._group.why,
                flat=not self.unit.text,
            )
            self.details.show_label(self._shown)
            self._column.addWidget(self.details)
        if self.details is not None:
            self.details.setVisible(current)
        self._say("context", self._context() if current else "")
        super().set_current(current)


# State of an unreadable page → words.
PAGES = {
    "paywall": "behind a paywall",
    "forbidden": "access refused",
    "dead": "not there",
    "not_text": "no text",
    "too_long": "too long",
    "absent": "its text is not in this project",
}


class UnitCards(KeylessArea):
    def __init__(self, bench: LabellingModel) -> None:
        super().__init__("Units")
        self._bench = bench
        self.rows: dict[str, UnitCard] = {}
        self.at_hand = ""
        """The unit whose controls are shown."""
        self.resized.connect(self._bring_into_view_soon)

    @property
    def current(self) -> UnitCard | None:
        return self.rows.get(self.at_hand)

    @property
    def details(self) -> UnitDetails | None:
        return self.current.details if self.current else None

    @property
    def holder(self) -> QWidget:
        return self.current or self

    def show_sheet(self, locked: str, *, weights: bool) -> None:
        self.at_hand, self.rows = "", {}
        inside = QWidget()
        column = vertical(on=inside, margins=(0, 0, 3, 8), spacing=6)
        for group in self._bench.sheet.groups if self._bench.sheet else ():
            if group.given.get("address"):
                column.addWidget(ElidedLabel(heading(group), "hint"))
            for unit in group.units:
                why = locked or why_locked(self._bench.sheet, unit.id)
                card = UnitCard(self._bench, unit, group, len(self.rows) + 1, why)
                card.pressed.connect(self._bench.move_to)
                self.rows[unit.id] = card
                self.show_label(unit.id)
                card.show_weight(weights)
                column.addWidget(card)
        column.addStretch(1)
        self.setWidget(inside)

    def show_current(self, unit_id: str) -> None:
        if self.current is not None:
            self.current.set_current(False)
        self.at_hand = unit_id
        self.rows[unit_id].set_current(True)
        self._bring_into_view_soon()

    def show_label(self, unit_id: str) -> None:
        self.rows[unit_id].show_label(self._bench.label_of(unit_id))

    def show_weights(self, shown: bool) -> None:
        for row in self.rows.values():
            row.show_weight(shown)

    def _bring_into_view_soon(self) -> None:
        """Scroll once the layout has given the cards their new heights."""
        QTimer.singleShot(0, self, self._bring_into_view)

    def _bring_into_view(self) -> None:
        if self.current is not None:
            self.ensureWidgetVisible(self.current, 0, 40)


def heading(group: UnitGroup) -> str:
    """A page's address without its scheme, and why it could not be read."""
    address = group.given["address"].split("://", 1)[-1]
    state = str(group.given.get("page_state", ""))
    return f"{address} — {PAGES.get(state, state)}" if state else address


LOCKED = "This file is read-only; labels cannot be changed."
SEALED = "Your labels of this item are submitted; reopen them to change any."


def why_locked(sheet: LabelSheet | None, unit_id: str = "") -> str:
    """Why a unit's label cannot be changed now; empty if it can."""
    if sheet is None or sheet.sealed:
        return SEALED if sheet else ""
    given = sheet.given.get(unit_id, "")
    return f"This label was {given}: it is finished, and counts." if given else ""


def lock(widget: QWidget, why: str) -> None:
    """Disable a control and say why; an empty reason leaves it as it is."""
    if not why:
        return
    widget.setEnabled(False)
    if isinstance(widget, KeyButton):
        widget.set_hint(why)
    else:
        widget.setToolTip(why)


LEFT = (
    Command(ZERO, "Rest", "down"),
    Command("evidence", "Evidence", "quote", "Mark the words selected in the report as evidence"),
    Command("note", "Note", "note", "Write a note"),
    Command("flag", "Flag", "flag", "Flag it for a second look"),
)
RIGHT = (Command("next_open", "Next open"), Command("submit", "Done", role="primary"))
ENDS_REPORT = "Finish this report and go to the next"
ENDS_ALONE = "Submit these labels, so that they count, and go to the next"
ENDS_ITEM = "Submit your labels of this item; they are locked until you reopen them"


class LabellingActionBar(ActsBar):
    # A focused button would take over from the list, and Space would press it.
    FOCUS = Qt.FocusPolicy.NoFocus

    def __init__(self, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__(LEFT, RIGHT)
        self._locked = locked
        for command in LEFT:
            lock(self.buttons[command.act], locked)
        self.show_protocol(USUAL)

    def show_protocol(self, protocol: str) -> None:
        self._protocol = protocol
        self.offer("evidence", there=presentation_of(protocol).layout is not CaseLayout.MATRIX)
        self.show_rest("")

    def show_rest(self, value: str) -> None:
        """Offer one answer for all open units beside the current one, or none."""
        if value:
            words = face(value, self._protocol).words
            self.buttons[ZERO].set_words(f"Rest {words[:1].lower()}{words[1:]}")
        self.offer(ZERO, there=bool(value) and not self._locked)

    def show_progress(self, labelled: int, units: int, left: int) -> None:
        one = presentation_of(self._protocol).line
        here = f"{labelled:,} of {units:,} · " if units > 1 or one == "report" else ""
        self.say(f"{here}{f'{counted(left, one)} left' if left else f'no {one} left'}")

    def show_standing(self, *, locked: str, sealed: bool, last: bool, alone: bool) -> None:
        """Enable the acts available now: once the labels are submitted only “Next”, at an item's end “Submit”.

        `locked` says why the current label cannot be changed, if so; `alone`, that each report is submitted by itself.
        """
        for command in LEFT if not self._locked else ():
            self.enable(command.act, not locked, locked)
        self.buttons["submit"].set_hint(
            ENDS_ITEM if last and not sealed else ENDS_ALONE if alone else ENDS_REPORT
        )
        self.set_words("submit", "Next" if sealed else "Submit" if last or alone else "Done")


class ProtocolTabs(RoleFrame):
    picked = Signal(str)
    """A protocol was selected by the person."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__("side")
        self.tabs = with_properties(
            QTabBar(), accessibleName="Kinds of questions", expanding=False, drawBase=False
        )
        self.gap, self.mend = ElidedLabel("", "hint"), QToolButton()
        self.mend.clicked.connect(lambda _=False: session.go(self._way[0], **self._way[1]))
        self._way: tuple[str, Mapping[str, str]] = ("", {})
        self._names: list[str] = []
        horizontal(self.tabs, (self.gap, 1), self.mend, on=self, margins=(8, 4, 8, 0), spacing=10)
        self.tabs.currentChanged.connect(self._tell)
        self.show_gaps((), "", {})
        self.hide()

    def offer(self, protocols: Sequence[str], chosen: str) -> None:
        """Show these protocols, one of them selected; emits nothing."""
        place = protocols.index(chosen)
        if list(protocols) != self._names:
            self._names = list(protocols)
            show_tabs(self.tabs, [(one.tab, one.about) for one in map(presentation_of, protocols)], place)
        with QSignalBlocker(self.tabs):
            self.tabs.setCurrentIndex(place)
        # The selected tab is bold, and therefore wider.
        self.tabs.updateGeometry()
        self.setVisible(len(self._names) > 1)

    def step(self, by: int) -> None:
        if self._names:
            self.tabs.setCurrentIndex((self.tabs.currentIndex() + by) % len(self._names))

    def show_gaps(self, gaps: Sequence[str], page: str, place: Mapping[str, str]) -> None:
        """Show what cannot be asked although the rest can, with a link to where it is fixed."""
        self._way = (page, place)
        self.gap.setText(" ".join(gaps))
        self.mend.setText(way_to(page))
        self.mend.setVisible(bool(gaps))

    def _tell(self, place: int) -> None:
        if 0 <= place < len(self._names):
            self.picked.emit(self._names[place])
