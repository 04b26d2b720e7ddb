"""Answers given under an older version, as Qt shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.authoring.guidelines import StaleAnswer
from annotator.domain.kinds.artifact import State
from annotator.gui import theme
from annotator.gui.tables.rows import Index, RowsModel, resetting
from annotator.gui.widgets.icons import icon

COLUMNS = ("Item", "Whose", "State", "Given under", "Current version")
ITEM, WHOSE, STATE, THEN, NOW = range(len(COLUMNS))
LOOKS = {State.DRAFT: ("clock", "state-incomplete"), State.SEALED: ("lock", "state-unconfirmed")}


class OlderAnswersModel(RowsModel[StaleAnswer]):
    """One row an answer."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, parent)
        self._names: Mapping[str, str] = {}

    def fill(self, answers: Sequence[StaleAnswer], names: Mapping[str, str]) -> None:
        """Show these answers; `names` by the id of the person."""
        with resetting(self):
            self._rows, self._names = list(answers), names

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell shows."""
        if not index.isValid():
            return None
        answer, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._words(answer, column)
        if column == STATE and answer.state in LOOKS:
            name, colour = LOOKS[answer.state]
            if role == Qt.ItemDataRole.DecorationRole:
                return icon(name, theme.current().px(15), colour)
            if role == Qt.ItemDataRole.ForegroundRole:
                return theme.token(colour)
        return None

    def _words(self, answer: StaleAnswer, column: int) -> str:
        if column == ITEM:
            return answer.item_key
        if column == WHOSE:
            return self._names.get(answer.person_id, "")
        if column == STATE:
            return "submitted" if answer.state is State.SEALED else answer.state.value
        text, form = (answer.then, answer.form_then) if column == THEN else (answer.now, answer.form_now)
        return f"version {text}, form {form}" if answer.form_then != answer.form_now else f"version {text}"
