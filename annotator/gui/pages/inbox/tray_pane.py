"""The tray: returned work that waits for a decision, beside what is here."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from annotator.actions.parcels import tray
from annotator.actions.parcels.tray import TraySheet
from annotator.domain.experts.parcel import TRAYED, TrayState
from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.texts.ordering import natural
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.inbox import outcomes
from annotator.gui.pages.inbox.outcomes import shown
from annotator.gui.review import side_by_side
from annotator.gui.review.revision_text import UNTOLD, quotations
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    stacked,
    tooltip,
    vertical,
    wrap_lines,
)
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.reading.report_view import ReportView

# What came, and what is here, in words; empty where there is nothing.
Row = tuple[str, str]


class TrayPane(QWidget):
    """Entries on the left; the chosen one's units beside those that are here on the right."""

    decided = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._sheets: list[TraySheet] = []
        self._shown: TraySheet | None = None
        self.list = QListWidget()
        self.list.setAccessibleName("Entries in the tray")
        wrap_lines(self.list)
        self.list.currentRowChanged.connect(self._show)
        self.every = QCheckBox("Also show decided entries")
        self.every.toggled.connect(lambda _: self.fill())
        self.nothing = EmptyState("check", "The tray is empty")
        left = column_of((self.list, 1))
        self.parts = Splitter("tray", parts=(left, self._sheet()), sizes=(300, 800), stretch=(0, 1))
        self.parts.grow(left, 300)
        self.body = stacked(self.nothing, self.parts)
        vertical((self.body, 1), self.every, on=self, margins=(0, 10, 0, 0))
        self.rebind()
        theme.watch(self, self._dress)

    def _sheet(self) -> QWidget:
        self.title, self.question = PlainLabel(role="subtitle", wrap=True), PlainLabel(role="hint", wrap=True)
        self.why = PlainLabel(wrap=True)
        self.units = ReportView()
        self.units.setAccessibleName("Incoming and existing work side by side")
        self.all_units = QCheckBox("Also show identical units")
        self.all_units.toggled.connect(lambda _: self._show_units())
        self.accept, self.aside = KeyButton("Accept", role="primary"), KeyButton("Set aside")
        self.accept.clicked.connect(self.take)
        self.aside.clicked.connect(self.set_aside)
        foot = horizontal(self.all_units, StretchSpace(1), self.aside, self.accept)
        return column_of(self.title, self.question, self.why, (self.units, 1), foot, margins=(8, 0, 0, 0))

    def rebind(self) -> None:
        """Print the keys as they now are on the buttons."""
        self.accept.set_key(keys.shown("accept_work"))
        self.aside.set_key(keys.shown("set_work_aside"))

    def focus_first(self) -> None:
        (self.list if self._sheets else self.every).setFocus()

    def fill(self) -> int:
        """Read the tray again, staying at the entry that was shown; how many wait."""
        kept, row = (self._shown.entry.id if self._shown else ""), max(0, self.list.currentRow())
        everything = None if self.every.isChecked() else TrayState.WAITING
        self._sheets = sorted(self._desk.ask(tray.sheets, everything) or [], key=_place)
        if not self._sheets:
            self._shown = None
        with QSignalBlocker(self.list):
            self.list.clear()
            for sheet in self._sheets:
                self.list.addItem(_line(sheet))
        places = [place for place, sheet in enumerate(self._sheets) if sheet.entry.id == kept]
        self.list.setCurrentRow(places[0] if places else min(row, len(self._sheets) - 1))
        self.body.setCurrentIndex(1 if self._sheets else 0)
        self.nothing.show_words(
            "The tray is empty",
            "Returned work that conflicts with existing work, arrives after the consensus, or was not "
            "assigned is kept in this tray until you decide. Nothing is lost or overwritten.",
        )
        return sum(sheet.entry.state is TrayState.WAITING for sheet in self._sheets)

    def _show(self, row: int) -> None:
        if not 0 <= row < len(self._sheets):
            self._shown = None
            return
        found = self._desk.ask(tray.sheet, self._sheets[row])
        self._shown = sheet = found or self._sheets[row]
        entry = sheet.entry
        self.title.setText(" · ".join(part for part in (_subject(sheet), _person(sheet)) if part))
        self.question.setText(sheet.question)
        self.question.setVisible(bool(sheet.question))
        why = outcomes.why_waiting(entry, known_item=bool(sheet.item_key))
        self.why.setText(f"{why} {sheet.consequence}".strip())
        locked = self._desk.project.readonly
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
        chosen = everything if self.all_units.isChecked() else differing
        self.units.show_html(table(sheet, chosen))

    def take(self) -> None:
        self._decide(self.accept, tray.accept)

    def set_aside(self) -> None:
        """Decide against the shown piece; it stays in the file."""
        self._decide(self.aside, tray.set_aside)

    def _decide(self, button: KeyButton, verb: object) -> None:
        sheet = self._shown
        if sheet is None or button.isHidden() or not button.isEnabled() or not callable(verb):
            return
        if self._desk.do(verb, sheet.entry.id) is not None:
            self._shown = None
            self.decided.emit()
            self.focus_first()

    def _dress(self) -> None:
        self.fill()
        self._show_units()


def _line(sheet: TraySheet) -> QListWidgetItem:
    entry = sheet.entry
    state = "" if entry.state is TrayState.WAITING else f" · {entry.state.value}"
    parts = (f"{entry.reason.value}{state}", _subject(sheet), _person(sheet))
    words = "\n".join(part for part in parts if part)
    line = QListWidgetItem(outcomes.picture(entry.reason, theme.current().px(18)), words)
    line.setToolTip(tooltip(words))
    return line


def _subject(sheet: TraySheet) -> str:
    entry = sheet.entry
    if entry.stage is None:
        return "A file of another project"
    item = f"Item {sheet.item_key}" if sheet.item_key else "An item of another project"
    return f"{item} · {entry.stage.value} · revision {entry.revision}"


def _person(sheet: TraySheet) -> str:
    return shown(sheet.person) or ("an unknown person" if sheet.entry.stage else "")


def _place(sheet: TraySheet) -> tuple[int, tuple[tuple[int, str], ...], str, int]:
    entry = sheet.entry
    return TRAYED.index(entry.reason), natural(sheet.item_key), sheet.person, entry.revision


def rows(sheet: TraySheet) -> list[Row]:
    """The units of both documents in words, those that belong together in one row; remarks come last."""
    found = [(_words(sheet, came), _words(sheet, here)) for came, here in sheet.rows]
    remarks = [f"Remark: {one.remark}" if one and one.remark else "" for one in (sheet.came, sheet.here)]
    return [*found, (remarks[0], remarks[1])] if any(remarks) else found


def table(sheet: TraySheet, found: list[Row]) -> str:
    """Rows as a table with a sign before each; a paragraph when there are none."""
    if not found:
        return "<p>No differences.</p>"
    heads = (
        f"In the returned file, revision {sheet.entry.revision}",
        f"Here, revision {sheet.here_revision}"
        if sheet.here_revision
        else "Here: no work by this person yet",
    )
    return side_by_side.table(heads, found)


def _words(sheet: TraySheet, unit: Unit | None) -> str:
    if unit is None or sheet.came is None:
        return ""
    if isinstance(unit, Label):
        return _label(sheet, unit)
    values = unit.model_dump(mode="json", exclude=set(UNTOLD))
    kind = sheet.came.KIND
    told = [
        f"{KINDS[kind].called(name)}: {value}" for name, value in values.items() if value not in (None, "")
    ]
    return "\n".join([unit.text or "(empty)", *told, *quotations(unit)])


def _label(sheet: TraySheet, label: Label) -> str:
    heading = sheet.headings.get(label.unit_id, "A criterion that is no longer there")
    parts = [f"Report {sheet.reports.get(label.response_id, '?')} · {heading}", f"Label: {label.value}"]
    parts += [f"Evidence: “{label.quote}”"] if label.quote else []
    return "\n".join(parts + ([f"Note: {label.note}"] if label.note else []))
