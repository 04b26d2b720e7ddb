"""Saving: a draft within a second, a revision when the field is left or after a while."""

from typing import Any

from PySide6.QtCore import QObject

from annotator.actions.authoring import artifacts
from annotator.actions.project import drafts
from annotator.domain.kinds.artifact import Artifact
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.refusal import Refusal
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.authoring.drafting import changed
from annotator.gui.widgets.later import later

REVISION_EVERY_MS = 20_000


class Saving(QObject):
    """The open artifact, and typed text that is no revision yet."""

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._desk = desk
        self.artifact: Artifact | None = None
        self.editable = False
        self.typed: dict[str, dict[str, Any]] = {}
        """Unit id → field → what stands in it."""
        self._timer = later(self, self.keep, REVISION_EVERY_MS)

    def follow(self, artifact: Artifact | None, *, editable: bool) -> None:
        """From now on save into this artifact; what was typed into another must have been kept before."""
        if artifact is None or self.artifact is None or artifact.id != self.artifact.id:
            self.typed.clear()
            self._timer.stop()
        self.artifact, self.editable = artifact, editable

    def type(self, unit_id: str, field: str, value: Any) -> None:
        self.typed.setdefault(unit_id, {})[field] = value
        if not self._timer.isActive():
            self._timer.start()

    def draft(self, unit_id: str, field: str, text: str) -> None:
        """Typing paused: the text goes into the file at once."""
        if self.artifact is not None and field in self.typed.get(unit_id, {}):
            self._desk.do(drafts.save, self.artifact.id, unit_id, field, text)

    def put(self, unit_id: str, **fields: Any) -> None:
        """A choice was made: it becomes a revision of its own at once, after what was typed before it."""
        if self.keep():
            self.typed[unit_id] = fields
            self.keep()

    def keep(self) -> bool:
        """Turn all that was typed into revisions; whether everything is kept now."""
        self._timer.stop()
        taken, self.typed = self.typed, {}
        for unit_id, fields in taken.items():
            if not self._keep_unit(unit_id, fields):
                self.typed[unit_id] = fields | self.typed.get(unit_id, {})
        if self.typed:
            self._timer.start()
        return not self.typed

    def _keep_unit(self, unit_id: str, fields: dict[str, Any]) -> bool:
        if self.artifact is None:
            return True
        if unit_id and unit_id not in {unit.id for unit in self.artifact.document.units}:
            return self._keep_of_missing(self.artifact, unit_id, fields)
        document = self.artifact.document
        new = changed(document.unit(unit_id) if unit_id else document, fields)
        for field in fields.keys() - new.keys():
            self._desk.do(drafts.forget, self.artifact.id, unit_id, field)
        return not new or change_unit(self._desk, self.artifact.id, unit_id, new)

    def _keep_of_missing(self, artifact: Artifact, unit_id: str, fields: dict[str, Any]) -> bool:
        """The unit was taken out elsewhere while it was written in: its words stand in a new one at the end."""
        words = {name: value for name, value in fields.items() if isinstance(value, str) and value.strip()}
        if not words:
            return True
        if self._desk.do(lambda project: artifacts.add_unit(project, artifact.id, **words)) is None:
            return False
        for field in fields:
            self._desk.do(drafts.forget, artifact.id, unit_id, field)
        unit = KINDS[artifact.kind].unit
        happened = f"The {unit} that you were writing in was taken out elsewhere."
        self._desk.refused.emit(
            Refusal(happened, f"Nothing was lost: your words stand in a new {unit}, the last.")
        )
        return True


def change_unit(desk: Desk, artifact_id: str, unit_id: str, fields: dict[str, Any]) -> bool:
    """Make fields of a unit, or without an id of the document itself, a revision; whether that could be done."""
    done = desk.do(
        lambda project: (
            artifacts.change_unit(project, artifact_id, unit_id, **fields)
            if unit_id
            else artifacts.change_whole(project, artifact_id, **fields)
        )
    )
    return done is not None
