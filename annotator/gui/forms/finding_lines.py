"""Remarks of the guideline below a field: an icon and words."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from annotator.domain.kinds.finding import Finding
from annotator.gui import theme
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import horizontal, vertical

SPOKEN = {"error": "To fix", "warning": "To check"}
ICON_SIZE = 14


class FindingLines(QWidget):
    """One line for each remark; without height when there is none."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[Finding, ...] = ()
        self._lines: list[_FindingLine] = []
        self._column = vertical(on=self, margins=(0, 2, 0, 0), spacing=2)
        self.hide()
        theme.watch(self, self._dress)

    def show_findings(self, findings: Sequence[Finding]) -> None:
        """Show these remarks and no others."""
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

    def _dress(self) -> None:
        shown, self._shown = self._shown, ()
        self.show_findings(shown)


class _FindingLine(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._icon, self._words = QLabel(), QLabel()
        self._words.setTextFormat(Qt.TextFormat.PlainText)
        self._words.setWordWrap(True)
        self._words.setProperty("role", "finding")
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        icon = self._icon, 0, Qt.AlignmentFlag.AlignTop
        horizontal(icon, (self._words, 1), on=self, margins=0, spacing=6)

    def show_finding(self, finding: Finding) -> None:
        """Show one remark."""
        size = theme.current().px(ICON_SIZE)
        self._icon.setPixmap(
            icons.pixmap(finding.level, size, f"level-{finding.level}", self.devicePixelRatio())
        )
        self._icon.setToolTip(SPOKEN[finding.level])
        self._words.setText(f"{finding.message} {finding.advice}")
        self._words.setAccessibleName(f"{SPOKEN[finding.level]}: {finding.message} {finding.advice}")
