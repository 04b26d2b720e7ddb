"""Editor of a unit: its text, fields, quotations, note, and the guideline's findings."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import pairwise

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from annotator.domain.kinds.artifact import Anchor, Finding, Kind, KindSpec, Unit, UnitField
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.forms.fields import (
    ChoiceButtons,
    MarkMenu,
    PickList,
    ShareField,
    Speller,
    SpellMarks,
    TextField,
    TextLine,
    ToggleButtons,
)
from annotator.gui.parts import below
from annotator.gui.widgets import chips
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    StretchSpace,
    add_row,
    horizontal,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Picture
from annotator.gui.widgets.fields import label_of
from annotator.gui.widgets.reading.marked_text import QuoteButton

SPOKEN = {"error": "To fix", "warning": "To check"}


class FindingLines(QWidget):
    """One line for each finding; without height if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Finding, ...] = ()
        self._lines: list[_FindingLine] = []
        self._column = vertical(on=self, margins=(0, 2, 0, 0), spacing=2)
        self.hide()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        if tuple(findings) == self._shown:
            return
        self._shown = tuple(findings)
        while len(self._lines) > len(findings):
            spare = self._lines.pop()
            spare.hide()
            spare.deleteLater()
        while len(self._lines) < len(findings):
            self._lines.append(_FindingLine())
            self._column.addWidget(self._lines[-1])
        for line, finding in zip(self._lines, findings, strict=True):
            line.show_finding(finding)
        self.setVisible(bool(findings))


class _FindingLine(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._icon, self._words = Picture(size=14), QLabel()
        with_properties(self._words, textFormat=Qt.TextFormat.PlainText, wordWrap=True, role="finding")
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        horizontal(
            (self._icon, 0, Qt.AlignmentFlag.AlignTop), (self._words, 1), on=self, margins=0, spacing=6
        )

    def show_finding(self, finding: Finding) -> None:
        self._icon.show_icon(finding.level, f"level-{finding.level}")
        self._icon.setToolTip(SPOKEN[finding.level])
        self._words.setText(f"{finding.message} {finding.advice}")
        self._words.setAccessibleName(f"{SPOKEN[finding.level]}: {finding.message} {finding.advice}")


# The keys that choose from a unit's first choice, wherever the focus is in the unit.
CHOOSING = ("weight_1", "weight_2", "weight_3")
# More buttons would not fit side by side in a small window.
BUTTONS = 11
# The first options are chosen by digits, the others with the arrows.
DIGITS = 9

StandardField = ChoiceButtons | MarkMenu | PickList | ShareField | TextLine


def made(field: UnitField, *, keyed: bool) -> StandardField:
    """The widget of a field; buttons of a `keyed` field have keys of the page, others are chosen by digits."""
    if field.asks:
        pick = PickList(field.title, field.asks, letters=20)
        pick.offer([(value, words) for value, words, _ in field.options])
        return pick
    if len(field.options) > BUTTONS:
        # In a list, a typed number selects its entry.
        pick = PickList(field.title, "")
        pick.offer([(value, words or str(value)) for value, words, _ in field.options])
        return pick
    if field.options:
        buttons = [_button(place, keyed, *option) for place, option in enumerate(field.options)]
        return (ToggleButtons if field.several else ChoiceButtons)(field.title, buttons)
    return ShareField() if field.level == "interval" else TextLine(field.title, field.title)


def _button(place: int, keyed: bool, value: object, words: str, hint: str) -> tuple[object, str, str]:
    """A button's value, label and tooltip; a number precedes its words."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    label = f"{value} {words}".strip() if number else words
    meaning = hint or f"{words[:1].upper()}{words[1:]}" or label
    key = f"{{{CHOOSING[place]}}}" if keyed and place < len(CHOOSING) else f"press {place + 1}"
    return value, label, f"{meaning} ({key})" if place < DIGITS else meaning


# Name of the request, act of the key table, icon, title.
ACTS = (
    ("note", "note", "note", "Note"),
    ("up", "unit_up", "up", "Move up"),
    ("down", "unit_down", "down", "Move down"),
    ("merge", "merge_unit", "link", "Merge with the one above"),
    ("split", "split_unit", "minus", "Split at the cursor"),
    ("delete", "retire_unit", "remove", "Delete"),
)

ICON_SIZE = 16

Field = TextField | StandardField
NOTE_PROMPT = "A note for yourself and the adjudicator; it never counts as disagreement."
# Space for the number and the menu below it, so that nothing moves when the menu appears.
LEFT, LEAST_HEIGHT = 28, 52


class AnchorChip(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.button = QuoteButton("chip", "Press to show it in the source.")
        self.remove = chips.tool_button("Remove the quotation", "close", size=14, role="tool")
        horizontal(self.button, self.remove, StretchSpace(1), on=self, margins=0, spacing=2)


class AnchorChips(QWidget):
    """A unit's quotations, one below the other, by index from 0."""

    opened = Signal(int)
    removed = Signal(int)
    grown = Signal()
    """There are more chips than before: Tab has additional stops."""

    def __init__(self) -> None:
        super().__init__()
        self.chips: list[AnchorChip] = []
        self._anchors: tuple[Anchor, ...] = ()
        self._locked = False
        self._column = vertical(on=self, margins=0, spacing=2)
        self.hide()

    def show_anchors(self, anchors: Sequence[Anchor]) -> None:
        if tuple(anchors) == self._anchors:
            return
        self._anchors = tuple(anchors)
        fresh = range(len(self.chips), len(anchors))
        for place in fresh:
            self._add(place)
        for chip, anchor in zip(self.chips, anchors, strict=False):
            chip.button.show_quote(anchor.quote, anchor.place)
        for place, chip in enumerate(self.chips):
            chip.setVisible(place < len(anchors))
        self.setVisible(bool(anchors))
        if fresh:
            self.grown.emit()

    def lock(self, locked: bool) -> None:
        self._locked = locked
        for chip in self.chips:
            chip.remove.setVisible(not locked)

    def _add(self, place: int) -> None:
        chip = AnchorChip()
        chip.button.clicked.connect(partial(self.opened.emit, place))
        chip.remove.clicked.connect(partial(self.removed.emit, place))
        chip.remove.setVisible(not self._locked)
        self.chips.append(chip)
        self._column.addWidget(chip)


class FieldsFrame(RoleFrame):
    """Fields of a unit, or of a document if the unit's id is empty."""

    typed = Signal(str, str, object)
    """Unit id, field, value: emitted at every key."""
    paused = Signal(str, str, str)
    """Unit id, field, text: to be stored as a draft."""
    chosen = Signal(str, str, object)
    """Unit id, field, value: a choice, which makes a revision at once."""

    def __init__(self, words: KindSpec) -> None:
        super().__init__("unit")
        self.words = words
        self.unit_id = ""
        self.fields: dict[str, Field] = {}
        self._speller: Speller | None = None

    def add_field(self, name: str, field: Field) -> None:
        """Add a field; its signals are emitted with this name."""
        self.fields[name] = field
        if isinstance(field, ChoiceButtons | MarkMenu | PickList):
            field.chosen.connect(lambda value: self.chosen.emit(self.unit_id, name, value))
        else:
            field.stirred.connect(lambda: self.typed.emit(self.unit_id, name, field.value()))
        if isinstance(field, TextField | TextLine):
            field.edited.connect(lambda text: self.paused.emit(self.unit_id, name, text))
            field.finished.connect(lambda: self.go_on_from(name))
        if isinstance(field, TextField):
            field.goes_on = True
            if self._speller:
                SpellMarks(field, self._speller)

    def spell(self, speller: Speller) -> None:
        """Check spelling in the text fields, including those added later."""
        self._speller = speller
        for field in self.fields.values():
            if isinstance(field, TextField):
                SpellMarks(field, speller)

    def go_on_from(self, name: str) -> None:
        """Focus the next field after Enter."""
        self.fields[name].focusNextChild()

    def field_of(self, widget: QWidget | None) -> str:
        """The name of the field that contains a widget; empty if none does."""
        for name, field in self.fields.items():
            if widget is not None and (widget is field or field.isAncestorOf(widget)):
                return name
        return ""


class UnitEditor(FieldsFrame):
    """The editor of one unit: its text, and the fields listed for its kind; a kind may have a subclass of its own."""

    NOTE, NOTE_PROMPT = "Note", NOTE_PROMPT
    asked = Signal(str, str)
    """Unit id and request: an act's name; unquote, show_quote and place with a number."""

    def __init__(self, words: KindSpec) -> None:
        super().__init__(words)
        self.given = bool(words.given)
        """Whether the units are given beforehand: neither written nor moved nor retired."""
        self.listed = True
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.number, self.row = UnitNumber(), QHBoxLayout()
        self.name = PlainLabel(role="strong", wrap=True) if self.given else None
        self.hint = PlainLabel(role="hint") if words.hints else None
        self.text = TextField(words.unit.capitalize(), words.prompt)
        # Widgets that most units lack are built when first needed, so that an item with twenty units opens at once.
        self._chips: AnchorChips | None = None
        self._menu: UnitMenu | None = None
        self._note_row: NoteRow | None = None
        self._drafted: PlainLabel | None = None
        self._remarks: dict[str, FindingLines] = {}
        self._places = {name: QVBoxLayout() for name in ("text", "more", "", "chip", "note", "drafted")}
        self.unit: Unit | None = None
        self.locked: bool | None = None
        self.row.setSpacing(8)
        self._column = column = vertical(self.text, self._places["text"], self.row, spacing=4)
        if self.name:
            self.text.hide()
            self._places["text"].addWidget(self.name)
        for name in ("more", "", "chip", "note", "drafted"):
            column.addLayout(self._places[name])
        px = theme.current().px
        self.number.setFixedWidth(px(LEFT))
        self.number.setContentsMargins(0, px(6), 0, 0)
        self.number.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._left = vertical(self.number, spacing=2)
        self._left.setAlignment(Qt.AlignmentFlag.AlignTop)
        whole = horizontal(self._left, (column, 1), on=self, margins=(4, 8, 8, 8), spacing=4)
        whole.addStrut(px(LEAST_HEIGHT))
        self.add_field("text", self.text)
        self.build()
        if self.hint:
            self.row.addWidget(self.hint)
        self.row.addStretch()

    def build(self) -> None:
        """Add the kind's own fields in the row below the text."""
        keyed = not self.given
        for field in self.words.fields:
            widget = self.made(field, keyed=keyed)
            if widget is None:
                continue
            keyed = keyed and not isinstance(widget, ChoiceButtons)
            if isinstance(widget, ShareField):
                self.row.addWidget(label_of(widget, field.title))
            if field.above and isinstance(widget, TextLine):
                widget.setMaxLength(field.above)
                self._column.insertWidget(0, widget)
            elif field.several:
                # Beside others it would be wider than a small window.
                add_row(self._places["more"], widget, StretchSpace(1))
            else:
                self.row.addWidget(widget, int(isinstance(widget, TextLine)))
            self.add_field(field.name, widget)
            if field.above:
                # Put it first, so that Tab goes from top to bottom.
                self.fields = {field.name: widget, **self.fields}

    def made(self, field: UnitField, *, keyed: bool) -> StandardField | None:
        """The widget of a field; None if the kind builds it later."""
        return made(field, keyed=keyed)

    def show_unit(self, unit: Unit, number: int, typing: Collection[str] = ()) -> None:
        """Show a unit; fields named in `typing` hold newer input and are left alone."""
        other = unit.id != self.unit_id
        self.unit, self.unit_id = unit, unit.id
        self.number.setText(str(number))
        self.number.setAccessibleName(f"{self.words.unit.capitalize()} {number}")
        if self.name:
            self.name.show_words(unit.text)
        if self.hint and self.words.hints:
            self.hint.setText(self.words.hints[number > 1])
        if unit.note:
            self._note()
        for name, field in self.fields.items():
            if other or name not in typing:
                field.show_value(getattr(unit, name))
        if self._note_row and (other or unit.note):
            self._note_row.setVisible(bool(unit.note))
        if unit.anchor and self._chips is None:
            self._chips = self._add_chips()
        if self._chips:
            self._chips.show_anchors(unit.anchors)
        self.refresh()

    def refresh(self) -> None:
        """Update what a kind derives from its fields, such as a word count."""

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """Set what can be chosen from: the item, the (id, words) of a unit's parts, the item's question type."""

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show the findings under their fields; an empty text that has the focus gets none."""
        writing = self.text.hasFocus() and not self.text.value()
        self._show_remarks("text", [f for f in findings if f.field == "text" and not writing])
        self._show_remarks("", [f for f in findings if f.field != "text"])

    def _show_remarks(self, place: str, findings: Sequence[Finding]) -> None:
        if findings and place not in self._remarks:
            self._remarks[place] = FindingLines()
            self._places[place].addWidget(self._remarks[place])
        if place in self._remarks:
            self._remarks[place].show_findings(findings)

    def go_on_from(self, name: str) -> None:
        """Begin the next unit on Enter, if units are listed and each consists of one text and choices."""
        several = self.words.kind is Kind.QUERY or any(
            isinstance(field, TextLine) for field in self.fields.values()
        )
        if name == "text" and self.listed and not several:
            self.asked.emit(self.unit_id, "below")
        else:
            super().go_on_from(name)

    @property
    def may_wait(self) -> bool:
        """Whether findings can wait until someone works here: nothing is written, or the text was given."""
        return self.given or not self.text.value().strip()

    def unfit(self) -> list[Finding]:
        return []

    def show_drafted(self, words: str) -> None:
        """Show that the unit was taken from a model's draft; empty words show nothing."""
        if self._drafted is None and words:
            self._drafted = PlainLabel(role="hint", wrap=True)
            self._places["drafted"].addWidget(self._drafted)
        if self._drafted is not None:
            self._drafted.show_words(words)

    def lock(self, locked: bool) -> None:
        self.locked = locked
        for name, field in self.fields.items():
            field.lock(locked or (self.given and name == "text"))
        self.number.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, locked or self.given)
        if self._chips:
            self._chips.lock(locked)
        self._show_menu()

    def mark_current(self, current: bool) -> None:
        """Show whether this is the unit that keys act on, and with it the unit's buttons."""
        if self.property("current") is not current:
            theme.set_role(self, current=current)
            self._show_menu()

    def _show_menu(self) -> None:
        visible = self.property("current") is True and not self.locked
        if visible and self._menu is None:
            self._menu = UnitMenu(self.words, given=self.given)
            self._menu.asked.connect(lambda ask: self.asked.emit(self.unit_id, ask))
            self._menu.setFixedWidth(theme.current().px(LEFT))
            self._left.addWidget(self._menu)
        if self._menu:
            self._menu.setVisible(visible)

    def _note(self) -> TextField:
        note = self.fields.get("note")
        if not isinstance(note, TextField):
            note = TextField(self.NOTE, self.NOTE_PROMPT)
            self.add_field("note", note)
            note.lock(bool(self.locked))
            self._note_row = NoteRow(note)
            self._places["note"].addWidget(self._note_row)
            self.chain()
        return note

    def _add_chips(self) -> AnchorChips:
        chips = AnchorChips()
        chips.opened.connect(lambda place: self.asked.emit(self.unit_id, f"show_quote {place}"))
        chips.removed.connect(lambda place: self.asked.emit(self.unit_id, f"unquote {place}"))
        chips.grown.connect(self.chain)
        chips.lock(bool(self.locked))
        self._places["chip"].addWidget(chips)
        return chips

    def stops(self) -> list[QWidget]:
        stops: list[QWidget] = []
        for name, field in self.fields.items():
            if name != "note":
                stops += below(field, QAbstractButton) if isinstance(field, ChoiceButtons) else [field]
        stops += below(self._chips, QAbstractButton) if self._chips else []
        return [*stops, self.fields["note"]] if "note" in self.fields else stops

    def chain(self) -> None:
        for before, after in pairwise(self.stops()):
            QWidget.setTabOrder(before, after)

    def enter(self, field: str = "text") -> None:
        if field == "note":
            self._note()
            if self._note_row:
                self._note_row.show()
        if field == "text" and self.given:
            field = self.words.says
        self.fields.get(field, self.text).enter()

    def choose(self, number: int) -> None:
        choice = next((field for field in self.fields.values() if isinstance(field, ChoiceButtons)), None)
        if choice is not None and choice.isEnabled():
            choice.choose(number)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc moves the focus from a field to the unit; there Enter goes back in, and arrows go from unit to unit."""
        asks = {Qt.Key.Key_Up: "previous", Qt.Key.Key_Down: "next"}
        if event.key() == Qt.Key.Key_Escape and not self.hasFocus():
            self.setFocus(Qt.FocusReason.OtherFocusReason)
        elif self.hasFocus() and event.key() in keys.ENTER and keys.plain(event):
            self.enter()
        elif self.hasFocus() and event.key() in asks and keys.plain(event):
            self.asked.emit(self.unit_id, asks[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)


class UnitNumber(PlainLabel):
    """A unit's number, which is also the handle for dragging the unit."""

    dragged = Signal(QPoint, bool)
    """The mouse position on the screen, and whether the mouse was released there."""

    def __init__(self) -> None:
        super().__init__(role="unit-number")
        keys.tell(self, "toolTip", "Drag it to move the unit ({unit_up}, {unit_down})")
        self.setCursor(Qt.CursorShape.OpenHandCursor)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.dragged.emit(event.globalPosition().toPoint(), False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.dragged.emit(event.globalPosition().toPoint(), True)


class NoteRow(QWidget):
    def __init__(self, note: QWidget) -> None:
        super().__init__()
        self._icon = with_properties(
            Picture("note", "text-muted", ICON_SIZE), toolTip="Note: for yourself and the adjudicator"
        )
        horizontal((self._icon, 0, Qt.AlignmentFlag.AlignTop), (note, 1), on=self, margins=0, spacing=6)
        theme.follow(self, self._restyle)

    def _restyle(self) -> None:
        self._icon.setContentsMargins(0, theme.current().px(ICON_SIZE) // 2, 0, 0)


class UnitMenu(QToolButton):
    asked = Signal(str)

    def __init__(self, words: KindSpec, *, given: bool) -> None:
        super().__init__()
        self._acts = ACTS[: 1 if given else None]
        with_properties(
            self,
            text="⋯",
            role="tool",
            toolTip=f"Actions for this {words.unit}",
            accessibleName=f"Menu of this {words.unit}",
            focusPolicy=Qt.FocusPolicy.NoFocus,
        )
        self.clicked.connect(self._open)

    def _open(self) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for ask, act, picture, name in self._acts:
            entry = menu.addAction(chips.icon(picture), f"{name}\t{keys.shown(act)}")
            entry.triggered.connect(lambda _=False, ask=ask: self.asked.emit(ask))
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
