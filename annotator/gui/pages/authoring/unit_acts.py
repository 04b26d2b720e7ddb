"""Keyboard acts on the current unit: add below, retire, move, merge, split, choose, note, quote."""

from PySide6.QtCore import QObject, Signal

from annotator.actions.authoring import artifacts
from annotator.domain.kinds.artifact import Anchor, Artifact
from annotator.domain.kinds.documents import KINDS
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.authoring.form import UnitsForm
from annotator.gui.pages.authoring.saving import Saving, change_unit
from annotator.gui.widgets.reading.units import TextPositions


class UnitActs(QObject):
    """Acts on single units of the open artifact; without effect while it cannot be edited."""

    told = Signal(str)
    """What was done, where it is worth a word."""
    quote_wanted = Signal(object)
    """An Anchor to be shown in its source."""

    def __init__(self, desk: Desk, form: UnitsForm, saving: Saving, parent: QObject) -> None:
        super().__init__(parent)
        self._desk, self._form, self._saving = desk, form, saving
        form.asked.connect(self.do)

    def do(self, unit_id: str, ask: str) -> None:
        """Do what a unit's own buttons and keys ask for."""
        ask, _, place = ask.partition(" ")
        match ask:
            case "previous" | "next":
                self._form.step(-1 if ask == "previous" else 1)
            case "up" | "down":
                self.move(-1 if ask == "up" else 1, unit_id)
            case "retire":
                self.retire(unit_id)
            case "merge":
                self.merge(unit_id)
            case "split":
                self.split(unit_id)
            case "note":
                self.note(unit_id)
            case "unquote":
                self._unquote(unit_id, int(place))
            case "show_quote":
                self._show_quote(unit_id, int(place))

    def new(self) -> None:
        """A new unit below the one at the cursor, with the focus in it."""
        artifact = self._ready()
        if artifact is None or self._form.given:
            return
        current = self._form.current
        before = {unit.id for unit in artifact.document.units}
        after = current.unit_id if current else ""
        if self._desk.do(lambda project: artifacts.add_unit(project, artifact.id, after)) is None:
            return
        self._form.go(next((e.unit_id for e in self._form.editors if e.unit_id not in before), ""))

    def retire(self, unit_id: str = "") -> None:
        """Take a unit out; the focus goes to the one below, or else above."""
        artifact, unit_id = self._ready(), unit_id or self._current_id()
        if artifact is None or not unit_id or self._form.given:
            return
        number = [unit.id for unit in artifact.document.units].index(unit_id) + 1
        if after := self._form.neighbour(unit_id):
            self._form.go(after)
        else:
            self._form.setFocus()
        if self._desk.do(artifacts.remove_unit, artifact.id, unit_id) is not None:
            name = KINDS[artifact.kind].unit.capitalize()
            self.told.emit(f"{name} {number} is retired; {keys.shown('undo')} brings it back.")

    def move(self, by: int, unit_id: str = "") -> None:
        """Move a unit up (-1) or down (1); the focus stays where it is."""
        artifact, unit_id = self._ready(), unit_id or self._current_id()
        if artifact is None or not unit_id or self._form.given:
            return
        ids = [unit.id for unit in artifact.document.units]
        if 0 <= ids.index(unit_id) + by < len(ids):
            self._desk.do(artifacts.move_unit, artifact.id, unit_id, by)
            self._form.reveal(unit_id)

    def merge(self, unit_id: str = "") -> None:
        """Join a unit to the one above; the focus goes there."""
        artifact, unit_id = self._ready(), unit_id or self._current_id()
        if artifact is None or not unit_id or self._form.given:
            return
        before = [unit.id for unit in artifact.document.units]
        above = before[max(0, before.index(unit_id) - 1)]
        if self._desk.do(artifacts.merge_unit, artifact.id, unit_id) is not None:
            self._form.go(above)
            self.told.emit(f"Merged with the one above; {keys.shown('undo')} parts them.")

    def split(self, unit_id: str = "") -> None:
        """Make two of a unit at the cursor in its words; the focus goes to the second."""
        current, artifact = self._form.current, self._ready()
        if artifact is None or current is None or self._form.given:
            return
        words = current.text.textCursor()
        at = TextPositions(current.text.toPlainText()).from_qt(words.position())
        before = {unit.id for unit in artifact.document.units}
        if self._desk.do(artifacts.split_unit, artifact.id, unit_id or current.unit_id, at) is not None:
            self._form.go(next((one.unit_id for one in self._form.editors if one.unit_id not in before), ""))

    def share_rest(self) -> None:
        """Let the points without a share have equal parts of what the others leave."""
        artifact = self._ready()
        if artifact is not None and self._desk.do(artifacts.share_rest, artifact.id) is not None:
            self.told.emit(f"The rest is shared; {keys.shown('undo')} takes it back.")

    def choose(self, number: int) -> None:
        """Choose by number: the weight of a criterion, true or false, vital or okay, a rating."""
        current = self._form.current
        if current is not None and self._saving.editable:
            current.choose(number)

    def note(self, unit_id: str = "") -> None:
        if unit_id := unit_id or self._current_id():
            self._form.go(unit_id, "note")

    def quote(self, anchor: Anchor) -> bool:
        """Lean the unit at the cursor on one more quotation; whether there was such a unit."""
        artifact, unit_id = self._ready(), self._current_id()
        if artifact is None or not unit_id:
            return False
        unit = artifact.document.unit(unit_id)
        if anchor in unit.anchors:
            self.told.emit("These words are quoted here already.")
            return True
        return change_unit(self._desk, artifact.id, unit_id, unit.quoting((*unit.anchors, anchor)))

    def _unquote(self, unit_id: str, place: int) -> None:
        artifact = self._ready()
        if artifact is not None:
            unit = artifact.document.unit(unit_id)
            left = unit.anchors[:place] + unit.anchors[place + 1 :]
            change_unit(self._desk, artifact.id, unit_id, unit.quoting(left))

    def _show_quote(self, unit_id: str, place: int) -> None:
        if self._saving.artifact is not None:
            self.quote_wanted.emit(self._saving.artifact.document.unit(unit_id).anchors[place])

    def _current_id(self) -> str:
        current = self._form.current
        return current.unit_id if current else ""

    def _ready(self) -> Artifact | None:
        """The artifact with all that was typed in it, or None when it may not be edited or typing cannot be kept."""
        return self._saving.artifact if self._saving.editable and self._saving.keep() else None
