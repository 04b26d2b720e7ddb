"""The form of an artifact (its units in a list that keeps each in place while others change), saving, and unit acts."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QObject, QPoint, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QFormLayout, QFrame, QTabBar, QVBoxLayout, QWidget

from annotator.actions.authoring import artifacts
from annotator.domain.common import Refusal, grouped, new_id
from annotator.domain.kinds.artifact import (
    Anchor,
    Artifact,
    Document,
    Finding,
    Kind,
    KindSpec,
    State,
    Unit,
)
from annotator.domain.kinds.documents import DOCUMENTS, KINDS, WRITTEN
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.forms import unit_editor
from annotator.gui.forms.fields import Speller, TextField
from annotator.gui.forms.unit_editor import FieldsFrame, FindingLines, UnitEditor
from annotator.gui.parts import application
from annotator.gui.session.page import TypedFields
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import PlainArea, StretchSpace, column_of, with_properties
from annotator.gui.widgets.chips import icon
from annotator.gui.widgets.fields import label_of
from annotator.gui.widgets.reading.marked_text import TextPositions


def as_typed(document: Document[Any], typed: Mapping[str, Mapping[str, Any]]) -> Document[Any]:
    """The document with its unsaved field values, by unit id; nothing is validated."""
    if not typed:
        return document
    units = tuple(unit.model_copy(update=dict(typed.get(unit.id, {}))) for unit in document.units)
    return document.model_copy(update={"units": units, **typed.get("", {})})


def fresh(kind: Kind, rated_as: QuestionType | None = None) -> Document[Any]:
    """A new artifact's document: one empty unit, or for a selection the dimensions of its question type."""
    document = DOCUMENTS[kind]
    if kind is Kind.SELECTION:
        rated = rated_as.dimensions if rated_as else ()
        return document(units=tuple(document.UNIT(text=dimension.name) for dimension in rated))
    return document(units=(document.UNIT(),))


def copied(document: Document[Any]) -> Document[Any]:
    """A copy of a document with new unit ids, for someone who starts from another person's artifact."""
    units: tuple[Unit, ...] = tuple(unit.model_copy(update={"id": new_id()}) for unit in document.units)
    return document.model_copy(update={"units": units})


@dataclass(frozen=True, slots=True)
class WorkStatus:
    word: str
    icon: str
    colour: str
    units: int


NONE = WorkStatus("not begun", "", "", 0)
_OF_STATE = {
    State.DRAFT: ("draft", "author", "state-incomplete"),
    State.SEALED: ("submitted", "lock", "state-agreed"),
    State.CONSENSUS: ("consensus", "check", "state-agreed"),
}


def standing_of(artifact: Artifact) -> WorkStatus:
    """The status of an artifact; one without an author in the project was imported."""
    if not artifact.author_id and artifact.state is not State.CONSENSUS:
        return WorkStatus("imported", "import", "state-missing", len(artifact.document.units))
    return WorkStatus(*_OF_STATE[artifact.state], len(artifact.document.units))


class Saving(TypedFields):
    """The open artifact, and typed text by unit and field that is not yet a revision."""

    def __init__(self, session: ProjectSession, parent: QObject) -> None:
        super().__init__(session, parent)
        self.artifact: Artifact | None = None
        self.editable = False

    def follow(self, artifact: Artifact | None, *, editable: bool) -> None:
        """Save into this artifact from now on; text typed into another must be stored before."""
        if artifact is None or self.artifact is None or artifact.id != self.artifact.id:
            self.typed.clear()
            self._timer.stop()
        self.artifact, self.editable = artifact, editable

    def draft(self, unit_id: str, field: str, text: str) -> None:
        if self.artifact is not None and field in self.typed.get(unit_id, {}):
            self._session.do(artifacts.save_draft, self.artifact.id, unit_id, field, text)

    def put(self, unit_id: str, **fields: Any) -> None:
        """Save a choice as a revision of its own at once, after what was typed before it."""
        if self.keep():
            self.typed[unit_id] = fields
            self.keep()

    def _keep_fields(self, unit_id: str, fields: dict[str, Any]) -> bool:
        if self.artifact is None:
            return True
        document = self.artifact.document
        try:
            subject: Unit | Document[Any] = document.unit(unit_id) if unit_id else document
        except KeyError:
            return self._keep_of_missing(self.artifact, unit_id, fields)
        new = {name: value for name, value in fields.items() if getattr(subject, name) != value}
        for field in fields.keys() - new.keys():
            self._session.do(artifacts.forget_draft, self.artifact.id, unit_id, field)
        if not new:
            return True
        if unit_id:
            change = self._session.do(artifacts.change_unit, self.artifact.id, unit_id, **new)
        else:
            change = self._session.do(artifacts.change_whole, self.artifact.id, **new)
        return change is not None

    def _keep_of_missing(self, artifact: Artifact, unit_id: str, fields: dict[str, Any]) -> bool:
        """Put typed text whose unit was deleted elsewhere into a new unit at the end."""
        words = {name: value for name, value in fields.items() if isinstance(value, str) and value.strip()}
        if not words:
            return True
        if self._session.do(lambda project: artifacts.add_unit(project, artifact.id, **words)) is None:
            return False
        for field in fields:
            self._session.do(artifacts.forget_draft, artifact.id, unit_id, field)
        unit = KINDS[artifact.kind].unit
        happened = f"The {unit} that you were writing in was taken out elsewhere."
        self._session.refused.emit(
            Refusal(happened, f"Nothing was lost: your words stand in a new {unit}, the last.")
        )
        return True


MARGIN_WHEN_SCROLLED = 24
# The space between two units, where a line shows the drop position of a dragged one.
GAP = 6
NOWHERE = ("", "")


class UnitsForm(PlainArea):
    """The editors of all units of an artifact; its signals start with the unit's id."""

    typed = Signal(str, str, object)
    chosen = Signal(str, str, object)
    asked = Signal(str, str)
    entered = Signal(str)
    """The focus entered a field of that name, or (empty) a unit itself."""
    left = Signal()
    """The focus left a field."""

    def __init__(self, draft: Callable[[str, str, str], None], speller: Speller) -> None:
        """`draft` stores what is being typed: unit id, field, text."""
        super().__init__("Units")
        self._draft, self._speller = draft, speller
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._units, self._below, self._whole = QVBoxLayout(), QVBoxLayout(), FindingLines()
        self._units.setSpacing(8)
        inner = column_of(*(self._units, self._below, self._whole, StretchSpace(1)), margins=8, spacing=8)
        self.setWidget(inner)
        self._gap = with_properties(QFrame(inner), role="gap")
        self._gap.hide()
        self.editors: list[UnitEditor] = []
        self._spare: list[UnitEditor] = []
        self._make: Callable[[], UnitEditor] | None = None
        self._waiting: dict[Callable[[], UnitEditor], list[UnitEditor]] = {}
        self._offered: tuple[Item, Sequence[tuple[str, str]], QuestionType | None] | None = None
        self.whole: WholeEditor | None = None
        # Editor → what it shows, unless someone has typed or chosen in it since.
        self._shown: dict[UnitEditor, tuple[Unit, int, frozenset[str]]] = {}
        self._current_id = ""
        self._place = NOWHERE
        self._showing = False
        # The units that someone typed in, chose in or left; the empty id is the whole document, once submitting was
        # tried.
        self._touched: set[str] = set()
        for sign in (self.typed, self.chosen):
            sign.connect(lambda unit_id, *_: self._touched.add(unit_id))
        application().focusChanged.connect(self._focus_moved)

    def take_on(self, make: Callable[[], UnitEditor]) -> None:
        """Use editors built by `make` from now on; those of another kind are kept until theirs is shown again."""
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
        """Show the fields of the document itself below the units; hide those of another kind."""
        words = KINDS[document.KIND]
        if self.whole is None:
            self.whole = WholeEditor(words)
            self.whole.spell(self._speller)
            self.whole.typed.connect(self.typed)
            self.whole.paused.connect(self._draft)
            self.whole.chosen.connect(self.chosen)
            self._below.addWidget(self.whole)
        shown = self.whole.words is words
        self.whole.setVisible(shown)
        if shown:
            self.whole.show_document(document, typing, locked=locked)

    def show_document(
        self, document: Document[Any], typed: Mapping[str, Mapping[str, Any]], *, locked: bool
    ) -> None:
        """Show a document in place; fields with newer input (`typed`) keep it, and focus and scroll position stay."""
        before, inner = self.editors, self.widget()
        moved = [editor.unit_id for editor in before] != [unit.id for unit in document.units]
        lost = self._focused_place() if moved else -1
        self._showing = True
        if inner is not None and not before:
            # Many new widgets are styled and laid out faster while hidden.
            inner.hide()
        self.editors = self._arranged(document.units) if moved else before
        for place, (editor, unit) in enumerate(zip(self.editors, document.units, strict=True)):
            if self._units.indexOf(editor) != place:
                self._units.removeWidget(editor)
                self._units.insertWidget(place, editor)
                editor.show()
            state = unit, place + 1, frozenset(typed.get(unit.id, ()))
            if self._shown.get(editor) != state:
                editor.show_unit(*state)
                self._shown[editor] = state
            if editor.locked != locked:
                editor.lock(locked)
        if self.whole is not None or KINDS[document.KIND].whole:
            self._show_whole(document, typed.get("", ()), locked=locked)
        if inner is not None:
            inner.show()
        if moved:
            for above, below in pairwise(self.editors):
                QWidget.setTabOrder(above.stops()[-1], below.stops()[0])
                below.chain()
            self.updateGeometry()
        if self.current is None:
            self._mark(self.editors[0].unit_id if self.editors else "")
        if lost >= 0 and self.editors and self._focused_place() < 0:
            self.go(self.editors[min(lost, len(self.editors) - 1)].unit_id)
        self._showing = False

    def _arranged(self, units: Sequence[Unit]) -> list[UnitEditor]:
        """An editor for each unit: the one that shows it, a spare one, or a new one."""
        known = {editor.unit_id: editor for editor in self.editors}
        unit_ids = {unit.id for unit in units}
        for editor in self.editors:
            if editor.unit_id not in unit_ids:
                self._units.removeWidget(editor)
                editor.hide()
                self._spare.append(editor)
        return [known.get(unit.id) or self._another() for unit in units]

    def _another(self) -> UnitEditor:
        if self._spare:
            return self._spare.pop()
        assert self._make is not None
        editor = self._make()
        editor.spell(self._speller)
        editor.typed.connect(self.typed)
        editor.paused.connect(self._draft)
        editor.chosen.connect(self.chosen)
        editor.asked.connect(self.asked)
        editor.number.dragged.connect(partial(self._drag, editor))
        for sign in (editor.typed, editor.chosen):
            sign.connect(lambda *_: self._shown.pop(editor, None))
        if self._offered:
            editor.offer(*self._offered)
        return editor

    def _drag(self, editor: UnitEditor, at: QPoint, dropped: bool) -> None:
        """Show where a dragged unit would be dropped; once it is dropped, ask for it to be moved there."""
        others = [each for each in self.editors if each is not editor]
        y = self._gap.mapFromGlobal(at).y() + self._gap.y()
        place = sum(y > each.geometry().center().y() for each in others)
        self._gap.setVisible(not dropped and bool(others))
        if dropped:
            self.asked.emit(editor.unit_id, f"place {place}")
        elif others:
            top = others[place].y() - GAP if place < len(others) else others[-1].geometry().bottom() + 2
            self._gap.setGeometry(editor.x(), top, editor.width(), GAP // 2)
            self._gap.raise_()
            self.ensureVisible(0, y, 0, MARGIN_WHEN_SCROLLED)

    def show_drafted(self, words: Mapping[str, str]) -> None:
        """Mark the units, by id, that were taken from a model's draft; clear the mark of all others."""
        for editor in self.editors:
            editor.show_drafted(words.get(editor.unit_id, ""))

    def due(self, findings: Sequence[Finding]) -> list[Finding]:
        """The findings to show now: none on an empty unit that nobody has touched."""
        silent = {editor.unit_id for editor in self.editors if editor.may_wait} - self._touched
        silent |= set() if "" in self._touched or len(silent) < len(self.editors) else {""}
        return [finding for finding in findings if finding.unit_id not in silent]

    def complain(self) -> None:
        """Show every finding from now on, because submitting was tried."""
        self._touched |= {"", *(editor.unit_id for editor in self.editors)}

    def begin(self) -> None:
        """Reset the touched units for another document."""
        self._touched.clear()

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show each finding under its field, or under the last unit if it is about the whole document."""
        of_unit = grouped((finding.unit_id, finding) for finding in self.due(findings))
        for editor in self.editors:
            editor.show_findings(of_unit.get(editor.unit_id, ()))
        self._whole.show_findings(of_unit.get("", ()))

    def unfit(self) -> list[Finding]:
        return [finding for editor in self.editors for finding in editor.unfit()]

    @property
    def current(self) -> UnitEditor | None:
        """The unit that has the focus, or had it last."""
        for editor in self.editors:
            if editor.unit_id == self._current_id:
                return editor
        return None

    @property
    def given(self) -> bool:
        return any(editor.given for editor in self.editors)

    def go(self, unit_id: str, field: str = "text") -> None:
        for editor in self.editors:
            if editor.unit_id == unit_id:
                self._mark(unit_id)
                editor.enter(field)
        self.reveal(unit_id)

    def step(self, by: int) -> None:
        """Focus the unit `by` places below the current one, within the list."""
        current = self.current
        if current is not None:
            place = max(0, min(len(self.editors) - 1, self.editors.index(current) + by))
            self._mark(self.editors[place].unit_id)
            self.editors[place].setFocus()
            self._reveal(self.editors[place])

    def place_of(self, unit_id: str) -> int:
        return [editor.unit_id for editor in self.editors].index(unit_id)

    def neighbour(self, unit_id: str) -> str:
        """The id of the unit below, otherwise of the one above; empty if there is no other."""
        ids, place = [editor.unit_id for editor in self.editors], self.place_of(unit_id)
        rest = ids[place + 1 :] or ids[:place][::-1]
        return rest[0] if rest else ""

    def reveal(self, unit_id: str) -> None:
        """Scroll to a unit once it is laid out in its new place."""
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
        place = ("", self.whole.field_of(now)) if self.whole is not None else NOWHERE
        for editor in self.editors:
            if now is not None and (editor is now or editor.isAncestorOf(now)):
                place = editor.unit_id, editor.field_of(now)
        if place == self._place:
            return
        before, self._place = self._place, place
        if before[1]:
            self._touched.add(before[0])
            if self._showing:
                # Saving would show the document again while it is being shown.
                QTimer.singleShot(0, self, self.left.emit)
            else:
                self.left.emit()
        if place[0]:
            self._mark(place[0])
            self.entered.emit(place[1])


class WholeEditor(FieldsFrame):
    """The fields of a document itself; its signals have an empty unit id."""

    def __init__(self, words: KindSpec) -> None:
        super().__init__(words)
        form = QFormLayout(self)
        for field in words.whole:
            made = unit_editor.made(field, keyed=False) if field.options else TextField(field.title)
            self.add_field(field.name, made)
            form.addRow(label_of(made, field.title), made)

    def show_document(self, document: Document[object], typing: Collection[str], *, locked: bool) -> None:  # type: ignore[type-var]
        """Show a document's fields; those named in `typing` hold newer input and are left alone."""
        for name, field in self.fields.items():
            if name not in typing:
                field.show_value(getattr(document, name))
            field.lock(locked)


class KindTabs(QTabBar):
    """One tab per kind; each coloured mark also has a word."""

    picked = Signal(object)
    """A Kind was selected by the person."""

    def __init__(self) -> None:
        super().__init__()
        with_properties(self, accessibleName="Kinds of document", expanding=False, drawBase=False)
        self._standings: Mapping[Kind, WorkStatus] | None = None
        for kind in WRITTEN:
            self.addTab(KINDS[kind].title)
        self.currentChanged.connect(self._tell)

    @property
    def kind(self) -> Kind:
        return WRITTEN[self.currentIndex()]

    def show_kind(self, kind: Kind) -> None:
        with QSignalBlocker(self):
            self.setCurrentIndex(WRITTEN.index(kind))

    def offer(self, kinds: Collection[Kind]) -> None:
        with QSignalBlocker(self):
            for place, kind in enumerate(WRITTEN):
                self.setTabVisible(place, kind in kinds)

    def step(self, by: int) -> None:
        places = [place for place in range(len(WRITTEN)) if self.isTabVisible(place)]
        if self.currentIndex() in places:
            self.setCurrentIndex(places[(places.index(self.currentIndex()) + by) % len(places)])

    def show_standings(self, artifacts: Sequence[Artifact]) -> None:
        """Mark every tab with the status of its kind's first artifact, the person's own if there is one."""
        standings = {artifact.kind: standing_of(artifact) for artifact in reversed(artifacts)}
        if standings != self._standings:
            self._standings = standings
            self.repaint_icons()

    def repaint_icons(self) -> None:
        standings, size = self._standings or {}, theme.current().px(16)
        self.setIconSize(QSize(size, size))
        for place, kind in enumerate(WRITTEN):
            words, standing = KINDS[kind], standings.get(kind, NONE)
            self.setTabText(place, f"{words.title}  {standing.units}" if standing.units else words.title)
            self.setTabIcon(place, icon(standing.icon, size, standing.colour) if standing.icon else QIcon())
            tip = f"{words.title}: {standing.word}"
            tip += f", {words.counted(standing.units)}" if standing.units else ""
            self.setTabToolTip(place, f"{tip}.\n{words.what}")
            self.setAccessibleTabName(place, tip)

    def _tell(self, place: int) -> None:
        if place >= 0:
            self.picked.emit(WRITTEN[place])


class UnitActs(QObject):
    """Acts on single units of the open artifact; without effect while it cannot be edited."""

    quote_wanted = Signal(object)
    """An Anchor to be shown in its source."""

    def __init__(
        self,
        session: ProjectSession,
        form: UnitsForm,
        saving: Saving,
        say: Callable[[str], object],
        parent: QObject,
    ) -> None:
        """`say` shows a short message about what was done."""
        super().__init__(parent)
        self._session, self._form, self._saving, self._say = session, form, saving, say
        form.asked.connect(self.do)

    def do(self, unit_id: str, ask: str) -> None:
        ask, _, place = ask.partition(" ")
        acts: dict[str, Callable[[], object]] = {
            "previous": partial(self._form.step, -1),
            "next": partial(self._form.step, 1),
            "up": partial(self.move, -1, unit_id),
            "down": partial(self.move, 1, unit_id),
            "delete": partial(self.delete, unit_id),
            "below": partial(self.below, unit_id),
            "place": lambda: self.move(int(place) - self._form.place_of(unit_id), unit_id),
            "merge": partial(self.merge, unit_id),
            "split": partial(self.split, unit_id),
            "note": partial(self.note, unit_id),
            "unquote": partial(self._unquote, unit_id, place),
            "show_quote": partial(self._show_quote, unit_id, place),
        }
        acts[ask]()

    def new(self) -> None:
        """Add a unit below the current one and focus it."""
        artifact = self._ready()
        if artifact is None or self._form.given:
            return
        current = self._form.current
        before = {unit.id for unit in artifact.document.units}
        after = current.unit_id if current else ""
        if self._session.do(lambda project: artifacts.add_unit(project, artifact.id, after)) is None:
            return
        self._form.go(next((e.unit_id for e in self._form.editors if e.unit_id not in before), ""))

    def below(self, unit_id: str) -> None:
        """Go to the unit below if it is empty, otherwise add one; do nothing if the current unit is empty."""
        place = self._form.place_of(unit_id)
        here, *after = (editor.text.value().strip() for editor in self._form.editors[place : place + 2])
        if after == [""]:
            self._form.go(self._form.editors[place + 1].unit_id)
        elif here:
            self.new()

    def delete(self, unit_id: str = "") -> None:
        """Delete a unit; the focus goes to the one below, otherwise above."""
        artifact, unit_id = self._ready(), unit_id or self._current_id()
        if artifact is None or not unit_id or self._form.given:
            return
        number = self._form.place_of(unit_id) + 1
        if after := self._form.neighbour(unit_id):
            self._form.go(after)
        else:
            self._form.setFocus()
        if self._session.do(artifacts.remove_unit, artifact.id, unit_id) is not None:
            name = KINDS[artifact.kind].unit.capitalize()
            self._say(f"{name} {number} is deleted; {keys.shown('undo')} brings it back.")

    def move(self, by: int, unit_id: str = "") -> None:
        """Move a unit up (negative) or down; the focus stays."""
        artifact, unit_id = self._ready(), unit_id or self._current_id()
        if artifact is None or not unit_id or self._form.given:
            return
        if by and 0 <= self._form.place_of(unit_id) + by < len(artifact.document.units):
            self._session.do(artifacts.move_unit, artifact.id, unit_id, by)
            self._form.reveal(unit_id)

    def merge(self, unit_id: str = "") -> None:
        """Merge a unit into the one above; the focus goes there."""
        artifact, unit_id = self._ready(), unit_id or self._current_id()
        if artifact is None or not unit_id or self._form.given:
            return
        before = [unit.id for unit in artifact.document.units]
        above = before[max(0, before.index(unit_id) - 1)]
        if self._session.do(artifacts.merge_unit, artifact.id, unit_id) is not None:
            self._form.go(above)
            self._say(f"Merged with the one above; {keys.shown('undo')} parts them.")

    def split(self, unit_id: str = "") -> None:
        """Split a unit at the cursor in its text; the focus goes to the second part."""
        current, artifact = self._form.current, self._ready()
        if artifact is None or current is None or self._form.given:
            return
        at = TextPositions(current.text.toPlainText()).from_qt(current.text.textCursor().position())
        before = {unit.id for unit in artifact.document.units}
        if self._session.do(artifacts.split_unit, artifact.id, unit_id or current.unit_id, at) is not None:
            self._form.go(
                next((editor.unit_id for editor in self._form.editors if editor.unit_id not in before), "")
            )

    def share_rest(self) -> None:
        """Share the remaining percentage equally among the points without a share."""
        artifact = self._ready()
        if artifact is not None and self._session.do(artifacts.share_rest, artifact.id) is not None:
            self._say(f"The rest is shared; {keys.shown('undo')} takes it back.")

    def choose(self, number: int) -> None:
        """Choose an option by number: a criterion's weight, true or false, vital or okay, a rating."""
        current = self._form.current
        if current is not None and self._saving.editable:
            current.choose(number)

    def note(self, unit_id: str = "") -> None:
        if unit_id := unit_id or self._current_id():
            self._form.go(unit_id, "note")

    def quote(self, anchor: Anchor) -> bool:
        """Add a quotation to the current unit; whether there is one."""
        artifact, unit_id = self._ready(), self._current_id()
        if artifact is None or not unit_id:
            return False
        unit = artifact.document.unit(unit_id)
        if anchor in unit.anchors:
            self._say("These words are quoted here already.")
            return True
        fields = unit.quoting((*unit.anchors, anchor))
        return self._session.do(artifacts.change_unit, artifact.id, unit_id, **fields) is not None

    def _show_quote(self, unit_id: str, place: str) -> None:
        if self._saving.artifact is not None:
            self.quote_wanted.emit(self._saving.artifact.document.unit(unit_id).anchors[int(place)])

    def _unquote(self, unit_id: str, place: str) -> None:
        artifact = self._ready()
        if artifact is not None:
            unit = artifact.document.unit(unit_id)
            left = unit.anchors[: int(place)] + unit.anchors[int(place) + 1 :]
            self._session.do(artifacts.change_unit, artifact.id, unit_id, **unit.quoting(left))

    def _current_id(self) -> str:
        current = self._form.current
        return current.unit_id if current else ""

    def _ready(self) -> Artifact | None:
        """The artifact after saving what was typed, or None if it cannot be edited or the typing cannot be saved."""
        return self._saving.artifact if self._saving.editable and self._saving.keep() else None
