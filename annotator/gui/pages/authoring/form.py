"""Editor of an artifact: its units in a list that keeps each in place while others change."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QFormLayout, QFrame, QLabel, QVBoxLayout, QWidget

from annotator.domain.kinds.artifact import Document, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.finding import Finding
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.kinds.spec import KindSpec, UnitField
from annotator.domain.material.item import Item
from annotator.gui.forms import standard
from annotator.gui.forms.fields import ChoiceButtons, PickList
from annotator.gui.forms.finding_lines import FindingLines
from annotator.gui.forms.standard import StandardField
from annotator.gui.forms.text_field import TextField
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.widgets.basics import StretchSpace, column_of
from annotator.gui.widgets.plain_area import PlainArea

MARGIN_WHEN_SCROLLED = 24
NOWHERE = ("", "")


class UnitsForm(PlainArea):
    """The editors of all units of an artifact; its signals start with the unit's id."""

    typed = Signal(str, str, object)
    chosen = Signal(str, str, object)
    asked = Signal(str, str)
    entered = Signal(str)
    """The focus came into a field of that name, or (empty) onto a unit."""
    left = Signal()
    """The focus left a field."""

    def __init__(self, draft: Callable[[str, str, str], None]) -> None:
        """`draft` keeps what is being typed: unit id, field, text."""
        super().__init__("Units")
        self._draft = draft
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._units, self._below, self._whole = QVBoxLayout(), QVBoxLayout(), FindingLines()
        self._units.setSpacing(8)
        parts = self._units, self._below, self._whole, StretchSpace(1)
        self.setWidget(column_of(*parts, margins=8, spacing=8))
        self.editors: list[UnitEditor] = []
        self._spare: list[UnitEditor] = []
        self._make: Callable[[], UnitEditor] | None = None
        self._waiting: dict[Callable[[], UnitEditor], list[UnitEditor]] = {}
        self._offered: tuple[Item, Sequence[tuple[str, str]], QuestionType | None] | None = None
        self.whole: WholeEditor | None = None
        # By editor what it shows, unless someone has written or chosen in it since.
        self._shown: dict[UnitEditor, tuple[Unit, int, frozenset[str], bool]] = {}
        self._current_id = ""
        self._place = NOWHERE
        self._showing = False
        # The units that someone wrote in, chose in or left; the empty id is the whole, once it was to be submitted.
        self._touched: set[str] = set()
        for sign in (self.typed, self.chosen):
            sign.connect(lambda unit_id, *_: self._touched.add(unit_id))
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_moved)

    def minimumSizeHint(self) -> QSize:
        """Wide enough that no field is cut: units are scrolled down, never across."""
        inner = self.widget()
        width = inner.minimumSizeHint().width() if inner else 0
        return QSize(width + self.verticalScrollBar().sizeHint().width(), super().minimumSizeHint().height())

    def take_on(self, make: Callable[[], UnitEditor]) -> None:
        """From now on units are edited in what `make` gives; editors of another kind wait until theirs is back."""
        if make is self._make:
            return
        if self._make is not None:
            for editor in self.editors:
                self._units.removeWidget(editor)
                editor.hide()
            self._waiting[self._make] = [*self.editors, *self._spare]
        self._make = make
        self.editors, self._spare = [], self._waiting.pop(make, [])

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        self._offered = (item, made_of, rated_as)
        for editor in (*self.editors, *self._spare):
            editor.offer(*self._offered)

    def _show_whole(self, document: Document[Any], typing: Collection[str], *, locked: bool) -> None:
        """Below the units, the fields of the document itself where its kind has any."""
        words = KINDS[document.KIND]
        if words.whole and self.whole is None:
            self.whole = WholeEditor(words)
            self.whole.typed.connect(self.typed)
            self.whole.paused.connect(self._draft)
            self.whole.chosen.connect(self.chosen)
            self._below.addWidget(self.whole)
        if self.whole is not None:
            shown = self.whole.words is words
            self.whole.setVisible(shown)
            if shown:
                self.whole.show_document(document, typing, locked=locked)

    def show_document(
        self, document: Document[Any], typed: Mapping[str, Mapping[str, Any]], *, locked: bool
    ) -> None:
        """Show a document in place; fields with newer words (`typed`) keep them, focus and scroll stay."""
        before, inner = self.editors, self.widget()
        moved = [editor.unit_id for editor in before] != [unit.id for unit in document.units]
        lost = self._focused_place() if moved else -1
        self._showing = True
        if inner is not None and not before:
            # Many new widgets are styled and laid out faster while nobody sees them.
            inner.hide()
        self.editors = self._arranged(document.units) if moved else before
        for place, (editor, unit) in enumerate(zip(self.editors, document.units, strict=True)):
            self._put(place, editor)
            wanted = unit, place + 1, frozenset(typed.get(unit.id, ())), locked
            if self._shown.get(editor) != wanted:
                editor.show_unit(*wanted[:3])
                editor.lock(locked)
                self._shown[editor] = wanted
        self._show_whole(document, typed.get("", ()), locked=locked)
        if inner is not None:
            inner.show()
        if moved:
            self._set_tab_order()
            self.updateGeometry()
        if self.current is None:
            self._mark(self.editors[0].unit_id if self.editors else "")
        if lost >= 0 and self.editors and self._focused_place() < 0:
            self.go(self.editors[min(lost, len(self.editors) - 1)].unit_id)
        self._showing = False

    def _arranged(self, units: Sequence[Unit]) -> list[UnitEditor]:
        """An editor for each unit: the one that shows it already, one that is spare, or a new one."""
        known = {editor.unit_id: editor for editor in self.editors}
        wanted = {unit.id for unit in units}
        for editor in self.editors:
            if editor.unit_id not in wanted:
                self._units.removeWidget(editor)
                editor.hide()
                self._spare.append(editor)
        return [known.get(unit.id) or self._another() for unit in units]

    def _another(self) -> UnitEditor:
        if self._spare:
            return self._spare.pop()
        assert self._make is not None
        editor = self._make()
        editor.typed.connect(self.typed)
        editor.paused.connect(self._draft)
        editor.chosen.connect(self.chosen)
        editor.asked.connect(self.asked)
        for sign in (editor.typed, editor.chosen):
            sign.connect(lambda *_: self._shown.pop(editor, None))
        if self._offered:
            editor.offer(*self._offered)
        return editor

    def _put(self, place: int, editor: UnitEditor) -> None:
        standing = self._units.itemAt(place)
        if standing is None or standing.widget() is not editor:
            self._units.removeWidget(editor)
            self._units.insertWidget(place, editor)
            editor.show()

    def _set_tab_order(self) -> None:
        for above, below in pairwise(self.editors):
            QWidget.setTabOrder(above.stops()[-1], below.stops()[0])
            below.chain()

    def show_drafted(self, words: Mapping[str, str]) -> None:
        """Say of units, by id, that they were taken from a model's draft; of all others nothing."""
        for editor in self.editors:
            editor.show_drafted(words.get(editor.unit_id, ""))

    def due(self, findings: Sequence[Finding]) -> list[Finding]:
        """The remarks to be made by now: of an empty unit that nobody has touched there are none."""
        silent = {one.unit_id for one in self.editors if one.may_wait} - self._touched
        silent |= set() if "" in self._touched or len(silent) < len(self.editors) else {""}
        return [finding for finding in findings if finding.unit_id not in silent]

    def complain(self) -> None:
        """It is to be submitted: from now on every remark is due."""
        self._touched |= {"", *(editor.unit_id for editor in self.editors)}

    def begin(self) -> None:
        """Another document is come to: nothing of it is touched."""
        self._touched.clear()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Put every remark where it belongs: under a field, or under the last unit when it is on the whole."""
        of_unit: dict[str, list[Finding]] = defaultdict(list)
        for finding in self.due(findings):
            of_unit[finding.unit_id].append(finding)
        for editor in self.editors:
            editor.show_findings(of_unit[editor.unit_id])
        self._whole.show_findings(of_unit[""])

    def unfit(self) -> list[Finding]:
        return [finding for editor in self.editors for finding in editor.unfit()]

    @property
    def current(self) -> UnitEditor | None:
        """The unit at the cursor: where the focus is, or was last."""
        return next((editor for editor in self.editors if editor.unit_id == self._current_id), None)

    @property
    def given(self) -> bool:
        """Whether the units are given: neither added nor moved nor retired."""
        return any(editor.given for editor in self.editors)

    def go(self, unit_id: str, field: str = "text") -> None:
        """Put the focus into a field of a unit and bring it into view."""
        for editor in self.editors:
            if editor.unit_id == unit_id:
                self._mark(unit_id)
                editor.enter(field)
        self.reveal(unit_id)

    def step(self, by: int) -> None:
        """Put the focus onto the unit `by` places below the current one, as far as there are any."""
        current = self.current
        if current is not None:
            place = max(0, min(len(self.editors) - 1, self.editors.index(current) + by))
            self._mark(self.editors[place].unit_id)
            self.editors[place].setFocus()
            self._reveal(self.editors[place])

    def neighbour(self, unit_id: str) -> str:
        """The id of the unit below, or else above; empty when it stands alone."""
        ids = [editor.unit_id for editor in self.editors]
        place = ids.index(unit_id)
        rest = ids[place + 1 :] or ids[:place][::-1]
        return rest[0] if rest else ""

    def reveal(self, unit_id: str) -> None:
        """Bring a unit into view once its new place is known."""
        for editor in self.editors:
            if editor.unit_id == unit_id:
                QTimer.singleShot(0, editor, partial(self._reveal, editor))

    def _reveal(self, editor: UnitEditor) -> None:
        self.ensureWidgetVisible(editor, 0, MARGIN_WHEN_SCROLLED)

    def _mark(self, unit_id: str) -> None:
        self._current_id = unit_id
        for editor in self.editors:
            editor.mark_current(editor.unit_id == unit_id)

    def _focused_place(self) -> int:
        focused = QApplication.focusWidget()
        inside = (
            [editor is focused or editor.isAncestorOf(focused) for editor in self.editors] if focused else []
        )
        return inside.index(True) if True in inside else -1

    def _focus_moved(self, _: QWidget | None, now: QWidget | None) -> None:
        place = self._place_of(now)
        if place == self._place:
            return
        before, self._place = self._place, place
        if before[1]:
            self._touched.add(before[0])
            if self._showing:
                # Saving would show the document again, in the middle of being shown.
                QTimer.singleShot(0, self, self.left.emit)
            else:
                self.left.emit()
        if place[0]:
            self._mark(place[0])
            self.entered.emit(place[1])

    def _place_of(self, widget: QWidget | None) -> tuple[str, str]:
        for editor in self.editors:
            if widget is not None and (widget is editor or editor.isAncestorOf(widget)):
                return editor.unit_id, editor.field_of(widget)
        return ("", self.whole.field_of(widget)) if self.whole is not None else NOWHERE


class WholeEditor(QFrame):
    """The fields of a kind's document itself; its signals are those of a unit without an id."""

    typed = Signal(str, str, object)
    paused = Signal(str, str, str)
    chosen = Signal(str, str, object)

    def __init__(self, words: KindSpec) -> None:
        super().__init__()
        self.words = words
        self.setProperty("role", "unit")
        self.fields: dict[str, TextField | StandardField] = {}
        form = QFormLayout(self)
        for field in words.whole:
            made = standard.made(field, keyed=False) if field.options else TextField(field.title)
            self._add(field, made)
            caption = QLabel(field.title)
            caption.setBuddy(made)
            form.addRow(caption, made)

    def _add(self, field: UnitField, made: TextField | StandardField) -> None:
        self.fields[field.name] = made
        if isinstance(made, ChoiceButtons | PickList):
            made.chosen.connect(lambda value: self.chosen.emit("", field.name, value))
        elif isinstance(made, TextField):
            made.stirred.connect(lambda: self.typed.emit("", field.name, made.value()))
            made.edited.connect(lambda text: self.paused.emit("", field.name, text))

    def show_document(self, document: Document[object], typing: Collection[str], *, locked: bool) -> None:  # type: ignore[type-var]
        """Show what a document says; fields named in `typing` hold newer words and are left alone."""
        for name, field in self.fields.items():
            if name not in typing:
                field.show_value(getattr(document, name))
            field.lock(locked)

    def field_of(self, widget: QWidget | None) -> str:
        """The name of the field that a widget is or lies in; empty when it is none."""
        inside = (
            name
            for name, field in self.fields.items()
            if widget and (widget is field or field.isAncestorOf(widget))
        )
        return next(inside, "")
