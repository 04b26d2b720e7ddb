"""The tray: returned work that waits for a decision, beside what is here."""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QListWidget

from annotator.actions.parcels import tray
from annotator.actions.parcels.tray import TraySheet
from annotator.domain.common import counted, natural
from annotator.domain.experts.assignment import (
    REFUSED,
    TRAYED,
    Arrival,
    ParcelOutcome,
    ReturnedPiece,
    Signed,
    Stage,
    TrayEntry,
    TrayState,
    numbered,
)
from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.documents import KINDS, Label
from annotator.gui import theme
from annotator.gui.review import people_choice
from annotator.gui.review.field_chips import UNTOLD, quotations
from annotator.gui.session.page import TabPart
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    Stack,
    StretchSpace,
    add_entry,
    check_box,
    column_of,
    horizontal,
    vertical,
    with_properties,
    wrap_lines,
)
from annotator.gui.widgets.chips import EmptyState, icon
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.gui.widgets.splitter import Splitter

_STAGES = list(Stage)
_READ_AS = str.maketrans("OIL", "011")

# Icon and state colour; the word is the outcome's own.
_LOOKS: dict[ParcelOutcome, tuple[str, str]] = {
    ParcelOutcome.NEW: ("plus", "agreed"),
    ParcelOutcome.NEWER: ("up", "agreed"),
    ParcelOutcome.DUPLICATE: ("minus", "missing"),
    ParcelOutcome.CONFLICT: ("cross", "disagree"),
    ParcelOutcome.LATE: ("clock", "unconfirmed"),
    ParcelOutcome.FOREIGN: ("question", "incomplete"),
    ParcelOutcome.DOUBTFUL: ("clock", "disagree"),
    ParcelOutcome.OTHER_KEY: ("lock", "disagree"),
    ParcelOutcome.DAMAGED: ("error", "disagree"),
}
GOES_IN = (ParcelOutcome.NEW, ParcelOutcome.NEWER)
_ORDER = tuple(ParcelOutcome)
# Outcome → its word once the import is done.
HAPPENED = {
    **dict.fromkeys(GOES_IN, "imported"),
    **dict.fromkeys(TRAYED, "waiting for you"),
    **dict.fromkeys(REFUSED, "refused"),
    ParcelOutcome.DUPLICATE: "here already",
}
# Outcomes that need attention.
ATTENTION = (*TRAYED, *REFUSED)


def picture(outcome: ParcelOutcome, size: int = 16) -> QIcon:
    name, state = _LOOKS[outcome]
    return icon(name, size, f"state-{state}")


def colour(outcome: ParcelOutcome) -> QColor:
    return theme.token(f"state-{_LOOKS[outcome][1]}")


def piece_words(piece: ReturnedPiece) -> str:
    """A piece in words: “Item 3 · rubric · revision 2”."""
    parts = (
        f"Item {piece.item_key}" if piece.item_key else "",
        piece.stage.value if piece.stage else "",
        f"{numbered(piece.stage)} {piece.revision}" if piece.revision else "",
    )
    return " · ".join(part for part in parts if part) or "The whole file"


def pieces_words(pieces: Sequence[ReturnedPiece]) -> str:
    """The outcomes of several pieces in one line: “13 pieces: 12 new, 1 conflicting”."""
    result = {piece.outcome for piece in pieces}
    number = counted(len(pieces), "piece")
    if len(result) == 1:
        return f"{number}, {'all ' if len(pieces) > 1 else ''}{pieces[0].outcome.value}"
    return f"{number}: {_counted(piece.outcome for piece in pieces)}"


def total_words(arrivals: Sequence[Arrival], *, done: bool = False) -> str:
    """The files' outcomes: “20 files: 17 new, 2 duplicate”; once `done`, “17 imported, 2 not needed”."""
    outcomes = _counted((arrival.outcome for arrival in arrivals), HAPPENED if done else {})
    return f"{counted(len(arrivals), 'file')}: {outcomes}"


def urgency(arrival: Arrival) -> tuple[bool, tuple[tuple[int, str], ...]]:
    """The sort key of files: those that need attention first, then by name with numbers by value."""
    noticed = any(piece.outcome in ATTENTION for piece in arrival.pieces) or arrival.outcome in ATTENTION
    return not noticed, natural(arrival.file)


def goes_in(arrivals: Iterable[Arrival]) -> int:
    """The number of pieces imported into the project."""
    return sum(piece.outcome in GOES_IN for arrival in arrivals for piece in arrival.pieces)


def goes_to_tray(arrivals: Iterable[Arrival]) -> int:
    """The number of pieces that wait for a decision."""
    return sum(piece.outcome in TRAYED for arrival in arrivals for piece in arrival.pieces)


def key_words(arrival: Arrival) -> str:
    """What to do about a file's signature, in words."""
    question = f"“{arrival.words}”: ask {arrival.person_name} whether"
    cases = {
        Signed.FIRST: f"{question} their Send page shows these six words",
        Signed.OTHER: f"{question} they have a new key",
    }
    older = "An older Goldsmith wrote it; anyone who saw the task could have"
    return cases.get(arrival.signed, older) if arrival.signed else older


def why_waiting(entry: TrayEntry, *, known_item: bool) -> str:
    """Why a piece waits, and what accepting it would do."""
    if entry.stage is Stage.ADJUDICATION and known_item:
        return "This adjudication was made elsewhere and could not be imported; nothing here was changed."
    return WHY.get(entry.reason) or (UNASSIGNED if known_item else ELSEWHERE)


WHY = {
    ParcelOutcome.CONFLICT: "A different text arrived for a revision that already exists; one of the two was changed "
    "by hand or in a second copy. Accepting adds the new text as the newest revision; the existing one stays in the "
    "history.",
    ParcelOutcome.LATE: "It arrived after the consensus was closed. Accepting adds it to its author's work; the "
    "consensus, the frozen agreement and every release stay unchanged.",
    ParcelOutcome.DOUBTFUL: "Its submission date lies in the future, or it reports an impossible number of hours. "
    "Accepting adds it as its author's newest revision, dated now and without those hours.",
}
ELSEWHERE = (
    "It belongs to another project, and its content was not read from the file. Import the file in that project, and "
    "set this entry aside."
)
UNASSIGNED = (
    "This stage of the item was not assigned to this person, or they adjudicate it. Accepting adds it as their work "
    "anyway."
)


def _counted(outcomes: Iterable[ParcelOutcome], called: Mapping[ParcelOutcome, str] | None = None) -> str:
    counts = Counter(
        (called or {}).get(outcome, outcome.value) for outcome in sorted(outcomes, key=_ORDER.index)
    )
    return ", ".join(f"{count} {words}" for words, count in counts.items())


def shown(name: str) -> str:
    """A name on one line, with characters that reorder or hide letters written out as ⟨U+202E⟩."""
    return " ".join("".join(_visible(letter) for letter in name).split())


def _visible(letter: str) -> str:
    hides = unicodedata.category(letter) in ("Cf", "Cc") and letter not in "\u200c\u200d\n\t"
    return f"⟨U+{ord(letter):04X}⟩" if hides else letter


def in_order(piece: ReturnedPiece) -> tuple[tuple[tuple[int, str], ...], int, int]:
    """The sort key of pieces: items with numbers by value, then stages in their order, then revisions."""
    stage = _STAGES.index(piece.stage) if piece.stage else -1
    return natural(piece.item_key), stage, piece.revision


def plain_code(text: str) -> str:
    """A receipt code normalised for comparison: upper case, without spaces, O as 0, I and L as 1."""
    return "".join(filter(str.isalnum, text.upper())).translate(_READ_AS)


# A unit in the returned file and the one here, in words; empty if there is none.
Row = tuple[str, str]


class TrayPane(TabPart):
    """The Tray tab: entries on the left; the selected one's units beside those that are here on the right."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.waiting = 0
        """The number of entries that wait for a decision."""
        self.acts = {"accept_work": self.take, "set_work_aside": self.set_aside}
        self._sheets: list[TraySheet] = []
        self._shown: TraySheet | None = None
        self.list = with_properties(QListWidget(), accessibleName="Entries in the tray")
        wrap_lines(self.list)
        self.list.currentRowChanged.connect(self._show)
        self.every = check_box("Also show decided entries", self.fill)
        self.nothing = EmptyState(
            "check",
            "Nothing needs attention",
            "Returned work that conflicts with existing work, arrives after the consensus, or was not "
            "assigned is kept here until you decide. Nothing is lost or overwritten.",
        )
        left = column_of((self.list, 1))
        self.title, self.question = PlainLabel(role="subtitle", wrap=True), PlainLabel(role="hint", wrap=True)
        self.why = PlainLabel(wrap=True)
        self.units = with_properties(ReportView(), accessibleName="Incoming and existing work side by side")
        self.all_units = check_box("Also show identical units", self._show_units)
        self.accept = KeyButton("Accept", act="accept_work", role="primary", press=self.take)
        self.aside = KeyButton("Set aside", act="set_work_aside", press=self.set_aside)
        foot = horizontal(self.all_units, StretchSpace(1), self.aside, self.accept)
        self.parts = Splitter(
            "tray",
            parts=(
                left,
                column_of(self.title, self.question, self.why, (self.units, 1), foot, margins=(8, 0, 0, 0)),
            ),
            sizes=(300, 800),
            stretch=(0, 1),
        )
        self.parts.grow(left, 300)
        self.body = Stack(self.nothing, self.parts)
        vertical((self.body, 1), self.every, on=self, margins=(0, 10, 0, 0))
        theme.watch(self, self._restyle)

    def focus_first(self) -> None:
        (self.list if self._sheets else self.every).setFocus()

    def fill(self) -> None:
        """Query the tray again, keeping the selected entry."""
        entry_id, row = (self._shown.entry.id if self._shown else ""), max(0, self.list.currentRow())
        everything = None if self.every.isChecked() else TrayState.WAITING
        self._sheets = sorted(self.session.ask(tray.sheets, everything) or [], key=_place)
        if not self._sheets:
            self._shown = None
        with QSignalBlocker(self.list):
            self.list.clear()
            for sheet in self._sheets:
                line = add_entry(self.list, _entry_words(sheet), tip=_entry_words(sheet))
                line.setIcon(picture(sheet.entry.reason, theme.current().px(18)))
        places = [place for place, sheet in enumerate(self._sheets) if sheet.entry.id == entry_id]
        self.list.setCurrentRow(places[0] if places else min(row, len(self._sheets) - 1))
        self.body.setCurrentIndex(1 if self._sheets else 0)
        self.waiting = sum(sheet.entry.state is TrayState.WAITING for sheet in self._sheets)

    def _show(self, row: int) -> None:
        if not 0 <= row < len(self._sheets):
            self._shown = None
            return
        self._shown = sheet = self.session.ask(tray.sheet, self._sheets[row]) or self._sheets[row]
        entry = sheet.entry
        self.title.setText(" · ".join(part for part in (_subject(sheet), _person(sheet)) if part))
        self.question.show_words(sheet.question)
        why = why_waiting(entry, known_item=bool(sheet.item_key))
        self.why.setText(f"{why} {sheet.consequence}".strip())
        locked = self.session.project.readonly
        self.accept.setVisible(sheet.may_be_accepted)
        self.accept.setEnabled(not locked)
        self.aside.setVisible(entry.state is TrayState.WAITING)
        self.aside.setEnabled(not locked)
        self._show_units()

    def _show_units(self) -> None:
        sheet = self._shown
        if sheet is None:
            return
        everything = rows(sheet)
        differing = [row for row in everything if row[0] != row[1]]
        self.all_units.setVisible(len(differing) < len(everything))
        if sheet.withheld or sheet.came is None:
            facts = "\n".join(f"{words}: {shown(value)}" for words, value in sheet.facts.items())
            self.units.show_plain(sheet.withheld or facts or "Its content cannot be shown.")
            return
        self.units.show_html(table(sheet, everything if self.all_units.isChecked() else differing))

    def take(self) -> None:
        self._decide(self.accept, tray.accept)

    def set_aside(self) -> None:
        """Reject the selected piece; it stays in the file."""
        self._decide(self.aside, tray.set_aside)

    def _decide(self, button: KeyButton, verb: object) -> None:
        sheet = self._shown
        if sheet is None or button.isHidden() or not button.isEnabled() or not callable(verb):
            return
        if self.session.do(verb, sheet.entry.id) is not None:
            self.focus_first()

    def _restyle(self) -> None:
        self.fill()
        self._show_units()


def _entry_words(sheet: TraySheet) -> str:
    entry = sheet.entry
    state = "" if entry.state is TrayState.WAITING else f" · {entry.state.value}"
    parts = (f"{entry.reason.value}{state}", _subject(sheet), _person(sheet))
    return "\n".join(part for part in parts if part)


def _subject(sheet: TraySheet) -> str:
    entry = sheet.entry
    if entry.stage is None:
        return "A file of another project"
    item = f"Item {sheet.item_key}" if sheet.item_key else "An item of another project"
    return f"{item} · {entry.stage.value} · {numbered(entry.stage)} {entry.revision}"


def _person(sheet: TraySheet) -> str:
    return shown(sheet.person) or ("an unknown person" if sheet.entry.stage else "")


def _place(sheet: TraySheet) -> tuple[int, tuple[tuple[int, str], ...], str, int]:
    entry = sheet.entry
    return TRAYED.index(entry.reason), natural(sheet.item_key), sheet.person, entry.revision


def rows(sheet: TraySheet) -> list[Row]:
    """The units of both documents in words, matching ones in one row; remarks come last."""
    result = [(_words(sheet, came), _words(sheet, here)) for came, here in sheet.rows]
    remarks = [
        f"Remark: {document.remark}" if document and document.remark else ""
        for document in (sheet.came, sheet.here)
    ]
    return [*result, (remarks[0], remarks[1])] if any(remarks) else result


def table(sheet: TraySheet, rows: list[Row]) -> str:
    """Rows as an HTML table with a sign before each; a paragraph if there are none."""
    if not rows:
        return "<p>No differences.</p>"
    counts = numbered(sheet.entry.stage)
    nothing = "no work by this person yet" if counts == "revision" else "no consensus yet"
    heads = (
        f"In the returned file, {counts} {sheet.entry.revision}",
        f"Here, {counts} {sheet.here_revision}" if sheet.here_revision else f"Here: {nothing}",
    )
    return people_choice.table(heads, rows)


def _words(sheet: TraySheet, unit: Unit | None) -> str:
    if unit is None or sheet.came is None:
        return ""
    if isinstance(unit, Label):
        return _label(sheet, unit)
    values = unit.model_dump(mode="json", exclude=set(UNTOLD))
    kind = sheet.came.KIND
    fields = [
        f"{KINDS[kind].called(name)}: {value}" for name, value in values.items() if value not in (None, "")
    ]
    return "\n".join([unit.text or "(empty)", *fields, *quotations(unit)])


def _label(sheet: TraySheet, label: Label) -> str:
    heading = sheet.headings.get(label.unit_id, "A criterion that is no longer there")
    parts = [f"Report {sheet.reports.get(label.response_id, '?')} · {heading}", f"Label: {label.value}"]
    parts += [f"Evidence: “{label.quote}”"] if label.quote else []
    return "\n".join(parts + ([f"Note: {label.note}"] if label.note else []))
