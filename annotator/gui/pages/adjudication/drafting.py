"""Drafts of typed rulings: stored within a second, ruled when the field is left or after a while."""

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject

from annotator.actions.adjudication import ruling
from annotator.actions.adjudication.adjudication_sheets import SheetRow
from annotator.domain.experts.adjudication import OWN
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.later import later

RULING_EVERY_MS = 20_000


class RulingDraft(QObject):
    """Typed text that is not ruled yet, by row and field."""

    def __init__(self, desk: Desk, do: Callable[..., bool], parent: QObject) -> None:
        """`do` does a verb as the page's own act and says whether it was done."""
        super().__init__(parent)
        self._desk, self._do = desk, do
        self._rows: Mapping[str, SheetRow] = {}
        self.typed: dict[str, dict[str, Any]] = {}
        self._timer = later(self, self.keep, RULING_EVERY_MS)

    def follow(self, rows: Mapping[str, SheetRow]) -> None:
        """The rows as they now are; what was typed into one that is gone has nowhere to go."""
        self._rows = rows
        self.typed = {ruling_id: fields for ruling_id, fields in self.typed.items() if ruling_id in rows}

    def type(self, ruling_id: str, field: str, value: Any) -> None:
        """A key was pressed in a field."""
        self.typed.setdefault(ruling_id, {})[field] = value
        if not self._timer.isActive():
            self._timer.start()

    def draft(self, ruling_id: str, field: str, text: str) -> None:
        """Typing paused: the text goes into the file at once."""
        if field in self.typed.get(ruling_id, {}):
            self._do(ruling.save_draft, ruling_id, field, text)

    def keep(self) -> bool:
        """Rule what was typed; whether everything is kept now."""
        self._timer.stop()
        taken, self.typed = self.typed, {}
        for ruling_id, fields in taken.items():
            if ruling_id in self._rows and not self._keep_row(self._rows[ruling_id], fields):
                self.typed[ruling_id] = fields | self.typed.get(ruling_id, {})
        if self.typed:
            self._timer.start()
        return not self.typed

    def _keep_row(self, row: SheetRow, fields: dict[str, Any]) -> bool:
        ruling_id, there = row.ruling.id, self._there(row)
        new = {name: value for name, value in fields.items() if there.get(name) != value}
        for name in fields.keys() - new.keys():
            self._desk.do(ruling.forget_draft, ruling_id, name)
        said = {name: value for name, value in new.items() if name in ruling.EXPLAINED}
        worded = {name: value for name, value in new.items() if name not in ruling.EXPLAINED}
        done = not said or self._do(lambda project: ruling.explain(project, ruling_id, **said))
        if worded:
            done = self._do(lambda project: ruling.write_own(project, ruling_id, **worded)) and done
        return done

    def _there(self, row: SheetRow) -> dict[str, Any]:
        there: dict[str, Any] = {name: getattr(row.ruling, name) for name in ruling.EXPLAINED}
        if row.ruling.take == OWN and row.made:
            there |= dict(row.made[0][0])
        return there
