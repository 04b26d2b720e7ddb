"""Submission panel: every remark, linked to its field."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
)

from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.finding import Finding
from annotator.domain.kinds.spec import KindSpec
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import vertical
from annotator.gui.widgets.fields.typed import LineField

ROWS_SHOWN = 6


class SubmitPanel(QFrame):
    """Errors and warnings; warnings can be overridden with a reason."""

    jumped = Signal(str, str)
    """Unit id and field of an entry that was chosen."""
    overridden = Signal(str)
    """Submit in spite of the warnings, for this reason."""
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "message")
        self.title, self.entries = QLabel(), QListWidget()
        self.title.setProperty("role", "strong")
        self.title.setWordWrap(True)
        self.entries.setAccessibleName("Missing fields and remarks")
        self.entries.setWordWrap(True)
        self.entries.itemActivated.connect(self._jump)
        self.entries.itemClicked.connect(self._jump)
        self.reason = LineField()
        self.reason.setAccessibleName("Reason for submitting it unchanged")
        self.reason.setPlaceholderText("Why may it stay unchanged?")
        self.reason.textChanged.connect(self._judge_reason)
        self.reason.returnPressed.connect(self._override)
        self.anyway, self.close_button = QPushButton("Submit anyway"), QPushButton("Close (Esc)")
        self.anyway.clicked.connect(self._override)
        self.close_button.setProperty("role", "quiet")
        self.close_button.clicked.connect(self.close_panel)
        self._lay_out()
        self.hide()

    def _lay_out(self) -> None:
        top, bottom = QHBoxLayout(), QHBoxLayout()
        top.addWidget(self.title, 1)
        top.addWidget(self.close_button)
        bottom.addWidget(self.reason, 1)
        bottom.addWidget(self.anyway)
        vertical(top, self.entries, bottom, on=self, margins=(10, 8, 10, 8))

    def show_findings(self, findings: Sequence[Finding], units: Sequence[Unit], words: KindSpec) -> None:
        """List remarks, errors first, each with the number of its unit."""
        errors = sum(finding.level == "error" for finding in findings)
        self.title.setText(_title(words, errors, len(findings) - errors))
        chosen = self.entries.currentRow()
        self.entries.clear()
        for finding in findings:
            self.entries.addItem(_entry(finding, units, words))
        self.entries.setCurrentRow(max(0, min(chosen, len(findings) - 1)))
        self.entries.setVisible(bool(findings))
        rows = min(ROWS_SHOWN, self.entries.count())
        row = max(self.entries.sizeHintForRow(0), self.fontMetrics().height() * 2)
        self.entries.setFixedHeight(row * rows + 2 * self.entries.frameWidth() + 2)
        for part in (self.reason, self.anyway):
            part.setVisible(bool(findings) and not errors)
        self._judge_reason()

    def enter(self) -> None:
        """Take the focus: at the first entry."""
        self.show()
        self.entries.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_panel(self) -> None:
        self.hide()
        self.closed.emit()

    def _jump(self, entry: QListWidgetItem) -> None:
        unit_id, field = entry.data(Qt.ItemDataRole.UserRole)
        self.jumped.emit(unit_id, field)

    def _judge_reason(self) -> None:
        self.anyway.setEnabled(bool(self.reason.text().strip()))

    def _override(self) -> None:
        if reason := self.reason.text().strip():
            self.reason.clear()
            self.overridden.emit(reason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes the list; Enter on an entry goes to its field."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_panel()
        else:
            super().keyPressEvent(event)


def _title(words: KindSpec, errors: int, warnings: int) -> str:
    name = words.title.lower()
    if errors:
        rest = f" and {warnings} to check" if warnings else ""
        return f"The {name} cannot be submitted yet: {errors} to fix{rest}. Enter goes to the field."
    if warnings:
        left = "1 remark is left: fix it, or give a reason below why it may stay."
        return (
            left
            if warnings == 1
            else f"{warnings} remarks are left: fix them, or give a reason below why they may stay."
        )
    return f"Nothing is left to fix: the {name} can be submitted."


def _entry(finding: Finding, units: Sequence[Unit], words: KindSpec) -> QListWidgetItem:
    entry = QListWidgetItem(icons.icon(finding.level), finding.words(words.unit, units))
    entry.setData(Qt.ItemDataRole.UserRole, (finding.unit_id, finding.field))
    return entry
