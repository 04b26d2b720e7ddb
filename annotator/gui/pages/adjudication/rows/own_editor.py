"""Editor for an adjudicator's own wording: the fields of the kind, or a choice of labels."""

from collections.abc import Collection

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QWidget

from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.unit import Unit
from annotator.domain.kinds.weights import Weights
from annotator.domain.material.item import Item
from annotator.gui import keys
from annotator.gui.forms import forms
from annotator.gui.forms.fields import ChoiceButtons
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.parts import below
from annotator.gui.review.verdicts import answers, faces
from annotator.gui.widgets.layouts import vertical


class LabelEditor(UnitEditor):
    """Editor of a label, of which only the value can be changed."""

    def __init__(self, protocol: str) -> None:
        self._protocol = protocol
        super().__init__(KINDS[Kind.LABELS])

    def build(self) -> None:
        """Value."""
        (field,) = self.words.fields
        shown = zip(answers(self._protocol), faces(self._protocol), strict=True)
        choice = ChoiceButtons(field.title, [(value, one.words, one.hint) for value, one in shown])
        self.row.addWidget(choice)
        self.add_field("value", choice)


class OwnEditor(QWidget):
    """Editor of one's own wording; Esc returns to the row."""

    typed = Signal(str, object)
    """Field, value: with every key."""
    paused = Signal(str, str)
    """Field, text: to be kept as a draft."""
    chosen = Signal(object)
    """Values by field: a choice, to be kept at once."""
    quote_wanted = Signal(int)
    """Which of its quotations is to be shown."""

    def __init__(self, kind: Kind, protocol: str, weights: Weights, item: Item, row: QWidget) -> None:
        """What may be chosen is said of a label by its `protocol`, of a criterion by the `weights` of the project; Esc
        puts the focus onto `row`.
        """
        super().__init__()
        self.editor = LabelEditor(protocol) if kind is Kind.LABELS else forms.editor(kind, weights)
        self._row = row
        self.editor.installEventFilter(self)
        self.editor.number.hide()
        # No frame of its own inside the row's, which has the focus in its place.
        self.editor.setProperty("role", "")
        self.editor.text.setPlaceholderText("Your own wording")
        self.editor.offer(item, ())
        for button in below(self.editor, QAbstractButton):
            # The keys that authors know mean something else here.
            button.setToolTip(button.toolTip().rsplit(" (", 1)[0])
        self.editor.typed.connect(lambda _, field, value: self.typed.emit(field, value))
        self.editor.paused.connect(lambda _, field, text: self.paused.emit(field, text))
        self.editor.chosen.connect(lambda _, field, value: self.chosen.emit({field: value}))
        self.editor.asked.connect(self._ask)
        vertical(self.editor, on=self, margins=0)

    def show_row(self, row: SheetRow, typing: Collection[str], *, locked: bool) -> None:
        """Show the own wording of a row; fields named in `typing` hold newer words and are left alone."""
        self._unit: Unit = row.made[0][0]
        self.editor.show_unit(self._unit, row.number, typing)
        self.editor.lock(locked)
        self.editor.chain()

    def put(self, field: str, value: object) -> None:
        """Show words that were typed before and are not ruled yet."""
        if field in self.editor.fields:
            self.editor.fields[field].show_value(value)

    def enter(self) -> None:
        """Take the focus: into the words, or into the value where the words are given."""
        self.editor.enter()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The focus is on a field or on the row, never on the editor between them."""
        if watched is self.editor and event.type() == QEvent.Type.FocusIn:
            self._row.setFocus(Qt.FocusReason.OtherFocusReason)
            return True
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Keep plain keys from the page: digits choose here, they do not rule."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and not event.modifiers() & keys.COMMANDS
        ):
            event.accept()
            return True
        return super().event(event)

    def _ask(self, _unit_id: str, ask: str) -> None:
        ask, _, place = ask.partition(" ")
        if ask == "show_quote":
            self.quote_wanted.emit(int(place))
        elif ask == "unquote":
            kept = self._unit.anchors[: int(place)] + self._unit.anchors[int(place) + 1 :]
            before, after = (self._unit.quoting(anchors) for anchors in (self._unit.anchors, kept))
            self.chosen.emit({field: value for field, value in after.items() if value != before[field]})
