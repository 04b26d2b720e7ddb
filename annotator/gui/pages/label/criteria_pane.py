"""The criteria beside the report: each with its state, the one at hand with its controls."""

from PySide6.QtCore import QPoint, QSettings, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QVBoxLayout, QWidget

from annotator.gui.pages.label.bench import Bench
from annotator.gui.pages.label.criterion_details import CriterionDetails
from annotator.gui.pages.label.criterion_row import CriterionRow
from annotator.gui.pages.label.locking import SEALED
from annotator.gui.pages.label.open_list import OpenList
from annotator.gui.widgets import icons
from annotator.gui.widgets.keyless_area import KeylessArea
from annotator.gui.widgets.plain import PlainLabel

WEIGHTS = "label/weights"


class CriteriaPane(QWidget):
    """Shows what the bench holds and hands on what is done to it."""

    said = Signal(int)
    evidence_wanted = Signal()
    evidence_cleared = Signal()
    recent_wanted = Signal()

    def __init__(self, bench: Bench, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__()
        self._bench, self._locked = bench, locked
        self.rows: dict[str, CriterionRow] = {}
        self._current = ""
        self._build()
        bench.leaving.connect(self.flush)
        bench.opened.connect(self._show_sheet)
        bench.moved.connect(self._show_current)
        bench.told.connect(self._show_label)

    def _build(self) -> None:
        self.count = PlainLabel("", "hint")
        self.recent, self.options = QToolButton(), QToolButton()
        icons.put(self.recent, "restore")
        self.recent.setText("Recent")
        self.recent.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.recent.setToolTip("The last ten labels you gave, to go back to")
        self.recent.clicked.connect(self.recent_wanted)
        icons.put(self.options, "settings")
        self.options.setToolTip("Options")
        self.options.setAccessibleName("Options of the list")
        self.menu = self._menu()
        self.options.clicked.connect(lambda: self.menu.popup(below(self.options)))
        head = QHBoxLayout()
        head.addWidget(PlainLabel("Criteria", "subtitle"))
        head.addWidget(self.count)
        head.addStretch(1)
        head.addWidget(self.recent)
        head.addWidget(self.options)
        self.open_list = OpenList()
        self.open_list.chosen.connect(self._bench.move_to)
        self.area = KeylessArea("Criteria")
        self.area.resized.connect(self._bring_into_view_soon)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 10, 6, 0)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.open_list)
        column.addWidget(self.area, 1)

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        self.weights = QAction("Show weights", self)
        self.weights.setCheckable(True)
        self.weights.setChecked(QSettings().value(WEIGHTS, False, bool) is True)
        self.weights.setToolTip("Weights are hidden at first, so that they do not sway the label")
        self.weights.toggled.connect(self._toggle_weights)
        menu.addAction(self.weights)
        return menu

    @property
    def row(self) -> CriterionRow | None:
        """The criterion at hand."""
        return self.rows.get(self._current)

    @property
    def details(self) -> CriterionDetails | None:
        """The controls of the criterion at hand."""
        return self.row.details if self.row else None

    def take_focus(self) -> None:
        """Put the keyboard on the criterion at hand."""
        (self.row or self.area).setFocus(Qt.FocusReason.OtherFocusReason)

    def enter_note(self) -> None:
        """Put the caret into the note of the criterion at hand."""
        if self.details is not None:
            self.details.note.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def flush(self) -> None:
        """Have a note that is being typed kept now."""
        if self.details is not None:
            self.details.note.tell()

    def list_open(self) -> None:
        """Say which criteria are still open."""
        self.open_list.show_open(self._bench.units, self._bench.open_units)

    def _show_sheet(self) -> None:
        sheet = self._bench.sheet
        self._current = ""
        self.open_list.hide()
        self.rows = {}
        locked = self._locked or (SEALED if sheet and sheet.sealed else "")
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 3, 8)
        column.setSpacing(6)
        for number, unit in enumerate(self._bench.units, start=1):
            values = sheet.values if sheet else ()
            row = CriterionRow(number, len(self._bench.units), unit, values, locked)
            row.show_label(self._bench.label(unit.id))
            row.show_weight(self.weights.isChecked())
            row.pressed.connect(self._bench.move_to)
            row.details_made.connect(self._listen_to)
            self.rows[unit.id] = row
            column.addWidget(row)
        column.addStretch(1)
        self.area.setWidget(inside)
        self._show_count()

    def _listen_to(self, unit_id: str) -> None:
        row = self.rows[unit_id]
        details = row.details
        if details is None:
            return
        details.said.connect(self.said)
        details.evidence_wanted.connect(self.evidence_wanted)
        details.evidence_cleared.connect(self.evidence_cleared)
        details.flag_wanted.connect(self._bench.flag)
        details.noted.connect(lambda words: self._bench.note(unit_id, words))
        details.left.connect(row.setFocus)

    def _show_current(self, unit_id: str) -> None:
        self.flush()
        if self.row is not None:
            self.row.set_current(False)
        self._current = unit_id
        self.rows[unit_id].set_current(True)
        self.take_focus()
        self._bring_into_view_soon()

    def _bring_into_view_soon(self) -> None:
        """The cards have their new heights only once the layout has been done."""
        QTimer.singleShot(0, self, self._bring_into_view)

    def _bring_into_view(self) -> None:
        if self.row is not None:
            self.area.ensureWidgetVisible(self.row, 0, 40)

    def _show_label(self, unit_id: str) -> None:
        self.rows[unit_id].show_label(self._bench.label(unit_id))
        self._show_count()
        if self.open_list.isVisible():
            self.list_open()

    def _show_count(self) -> None:
        units = len(self._bench.units)
        self.count.setText(f"{units - len(self._bench.open_units)} of {units}")

    def _toggle_weights(self, shown: bool) -> None:
        QSettings().setValue(WEIGHTS, shown)
        for row in self.rows.values():
            row.show_weight(shown)


def below(button: QToolButton) -> QPoint:
    """Where a menu of a button comes up."""
    return button.mapToGlobal(button.rect().bottomLeft())
