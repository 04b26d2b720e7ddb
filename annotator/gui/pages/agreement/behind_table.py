"""The pairs of frozen values behind a figure of agreement, line by line."""

from typing import Any

from PySide6.QtCore import QObject, Qt

from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_behind import Behind, Found, value_words
from annotator.actions.agreement.agreement_figures import UNITS
from annotator.actions.agreement.agreement_report import Report
from annotator.gui import theme
from annotator.gui.tables.rows import Index, RowsModel, resetting
from annotator.gui.widgets.icons import icon
from annotator.gui.widgets.plain import tooltip

HEADS = {
    "item": "Item",
    "report": "Report of",
    "about": "Judged by",
    "who_a": "Rater",
    "words_a": "wrote",
    "value_a": "said",
    "who_b": "Rater",
    "words_b": "wrote",
    "value_b": "said",
    "likeness": "Likeness",
    "same": "",
}
# Whether both said the same: word and icon. A value that is missing is no disagreement.
SAME = {True: ("same", "check", "state-agreed"), False: ("differs", "cross", "state-disagree")}
MATCHED = {True: ("matched", "check", "state-agreed"), False: ("only one", "cross", "state-disagree")}
MISSING = ("missing", "minus", "state-missing")


class AgreementBehindModel(RowsModel[Behind]):
    """The lines behind a row; columns of which no line has anything are left out."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent=parent)
        self._report: Report | None = None
        self._found: Found | None = None

    def show(self, report: Report, found: Found, differing: bool = False) -> None:
        """Show the lines behind a row, or those alone where the two sides differ."""
        with resetting(self):
            self._report, self._found = report, found
            self._rows = [line for line in found.lines if line.same is False or not differing]
            self.columns = [name for name in HEADS if any(self._has(line, name) for line in found.lines)]

    @property
    def units(self) -> bool:
        """Whether it is compared who wrote which units at all."""
        return self._found is not None and self._found.row.field == UNITS

    def _has(self, line: Behind, name: str) -> bool:
        match name:
            case "report" | "about":
                return bool(getattr(line, name))
            case "likeness":
                return line.likeness is not None
            case "words_a" | "words_b":
                return bool(line.a.words if name == "words_a" else line.b.words)
        return True

    def who(self, who: str) -> str:
        """How a side is called in the list: a person's alias, or which time it was."""
        return self._report.alias(who) if self._report else who

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        """The columns' titles."""
        if role != Qt.ItemDataRole.DisplayRole or orientation != Qt.Orientation.Horizontal:
            return None
        if not 0 <= section < len(self.columns):
            return None
        name = self.columns[section]
        if name.startswith("value") and self._found is not None:
            return "No." if self.units else words.field(self._found.row)
        return HEADS[name]

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """A cell's words; whether both said the same with its icon."""
        if not index.isValid():
            return None
        line, name = self._rows[index.row()], self.columns[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return self._cell(line, name)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tooltip(line.question if name == "item" else self._cell(line, name))
        if role == Qt.ItemDataRole.DecorationRole and name == "same":
            _, picture, colour = self.verdict(line)
            return icon(picture, theme.current().px(16), colour)
        return None

    def _cell(self, line: Behind, name: str) -> str:
        side = line.a if name.endswith("_a") else line.b
        match name.partition("_")[0]:
            case "item":
                return line.item_key
            case "report" | "about":
                return " ".join(str(getattr(line, name)).split())
            case "who":
                return self.who(side.who)
            case "words":
                return " ".join(side.words.split()) or "–"
            case "value":
                return "–" if self.units and side.value is None else value_words(side.value)
            case "likeness":
                return "" if line.likeness is None else f"{line.likeness:.2f}"
        return self.verdict(line)[0]

    def verdict(self, line: Behind) -> tuple[str, str, str]:
        """Whether both sides say the same: in a word, with its icon and its colour."""
        if self.units:
            return MATCHED[line.a.value is not None and line.b.value is not None]
        return MISSING if line.same is None else SAME[line.same]
