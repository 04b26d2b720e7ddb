"""The units beside the text, as cards or as a matrix, with controls on the current one."""

from collections.abc import Mapping

from PySide6.QtCore import QPoint, QSettings, Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from annotator.actions.labelling.label_cases import presentation_of
from annotator.actions.labelling.second_looks import TAXONOMIES
from annotator.domain.judges.presentation import CaseLayout
from annotator.gui import theme
from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.units.cards import UnitCards
from annotator.gui.pages.labelling.units.matrix import MatrixView
from annotator.gui.pages.labelling.units.open_list import OpenList
from annotator.gui.pages.labelling.units.unit_card import UnitCard
from annotator.gui.pages.labelling.units.unit_details import UnitDetails
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import StretchSpace, horizontal, stacked, vertical
from annotator.gui.widgets.elided_label import ElidedLabel

WEIGHTS, WAITS = "label/weights", "label/waits"
# The head of a pane that is narrower than this, at 100 %, has no room for the word beside an icon.
WORDED = 240


class UnitsPane(QWidget):
    """Shows the bench's units and passes on actions."""

    said = Signal(int)
    kind_given = Signal(int)
    evidence_wanted = Signal()
    evidence_cleared = Signal()
    recent_wanted = Signal()
    waits = Signal(bool)
    """Whether an error is to stay at hand until its kind is said."""

    def __init__(self, bench: LabellingBench, locked: str) -> None:
        """`locked` says why nothing can ever be changed here, if so."""
        super().__init__()
        self._bench, self._locked = bench, locked
        self.cards, self.matrix = UnitCards(bench), MatrixView(bench)
        self._build()
        for body in (self.cards, self.matrix):
            body.made.connect(self._listen_to)
        bench.leaving.connect(self.flush)
        bench.opened.connect(self._show_sheet)
        bench.moved.connect(self._show_current)
        bench.told.connect(self._show_label)

    def _build(self) -> None:
        self.title, self.count = ElidedLabel("", "subtitle"), ElidedLabel("", "hint")
        # A question may be long, and what stands beside it keeps its words.
        for label in (self.title, self.count):
            label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.recent, self.options = QToolButton(), QToolButton()
        icons.put(self.recent, "restore")
        self.recent.setText("Recent")
        self.recent.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.recent.setToolTip("Your last ten labels")
        self.recent.clicked.connect(self.recent_wanted)
        icons.put(self.options, "settings")
        self.options.setToolTip("Options")
        self.options.setAccessibleName("Options of the list")
        self.menu = self._menu()
        self.options.clicked.connect(lambda: self.menu.popup(below(self.options)))
        self.head = horizontal(self.title, self.count, StretchSpace(1), self.recent, self.options)
        self.open_list = OpenList()
        self.open_list.chosen.connect(self._bench.move_to)
        self.bodies = stacked(self.cards, self.matrix)
        vertical(self.head, self.open_list, (self.bodies, 1), on=self, margins=(4, 10, 6, 0), spacing=8)
        self.take_up()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Where it is narrow the icon of the last labels does without its word."""
        super().resizeEvent(event)
        wide = self.width() >= theme.current().px(WORDED)
        icon, both = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        self.recent.setToolButtonStyle(both if wide else icon)

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        self.weights, self.waiting = (
            QAction("Show weights", self),
            QAction("Stay until the kind is given", self),
        )
        self.weights.setToolTip("Weights are hidden by default, so that they do not influence the label")
        self.waiting.setToolTip("The unit stays selected until you give the kind of error")
        for action, name, slot in (
            (self.weights, WEIGHTS, self.cards.show_weights),
            (self.waiting, WAITS, self.waits.emit),
        ):
            action.setCheckable(True)
            action.setChecked(QSettings().value(name, False, bool) is True)
            action.toggled.connect(lambda on, name=name: QSettings().setValue(name, on))
            action.toggled.connect(slot)
            menu.addAction(action)
        return menu

    @property
    def body(self) -> UnitCards | MatrixView:
        return (
            self.matrix if presentation_of(self._bench.protocol).layout is CaseLayout.MATRIX else self.cards
        )

    @property
    def rows(self) -> Mapping[str, UnitCard]:
        return self.cards.rows

    @property
    def row(self) -> UnitCard | None:
        return self.cards.current

    @property
    def details(self) -> UnitDetails | None:
        return self.body.details

    def take_up(self) -> None:
        """Another protocol is in hand: its units are shown as cards, or in a matrix."""
        for body in (self.cards, self.matrix):
            # What is not shown asks for no room.
            shown = QSizePolicy.Policy.Expanding if body is self.body else QSizePolicy.Policy.Ignored
            body.setSizePolicy(shown, shown)
        self.bodies.setCurrentWidget(self.body)

    def take_focus(self) -> None:
        self.body.holder.setFocus(Qt.FocusReason.OtherFocusReason)

    def enter_note(self) -> None:
        """Put the caret into the note of the current unit."""
        if self.details is not None:
            self.details.note.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def flush(self) -> None:
        if self.details is not None:
            self.details.note.tell()

    def list_open(self) -> None:
        self.open_list.show_open(
            self._bench.units, self._bench.open_units, presentation_of(self._bench.protocol)
        )

    def _show_sheet(self) -> None:
        protocol = self._bench.protocol
        self.open_list.hide()
        self.title.setText(presentation_of(protocol).title)
        self.weights.setVisible(any(hasattr(unit, "weight") for unit in self._bench.units))
        self.waiting.setVisible(any(one.of == protocol and one.whole for one in TAXONOMIES.values()))
        self.options.setVisible(self.weights.isVisible() or self.waiting.isVisible())
        self.body.show_sheet(self._locked, weights=self.weights.isChecked())
        self._show_count()

    def _listen_to(self, details: UnitDetails, holder: QWidget) -> None:
        details.said.connect(self.said)
        details.kind_given.connect(self.kind_given)
        details.evidence_wanted.connect(self.evidence_wanted)
        details.evidence_cleared.connect(self.evidence_cleared)
        details.flag_wanted.connect(self._bench.flag)
        body = self.body
        unit_id = holder.unit.id if isinstance(holder, UnitCard) else ""
        # What was typed belongs to the unit it was typed at, also when another is at hand by now.
        details.noted.connect(lambda words: self._bench.note(unit_id or body.at_hand, words))
        details.left.connect(holder.setFocus)

    def _show_current(self, unit_id: str) -> None:
        self.flush()
        self.body.show_current(unit_id)
        self.take_focus()

    def _show_label(self, unit_id: str) -> None:
        self.body.show_label(unit_id)
        self._show_count()
        if self.open_list.isVisible():
            self.list_open()

    def _show_count(self) -> None:
        units = len(self._bench.units)
        self.count.setText(f"{units - len(self._bench.open_units)} of {units}" if units > 1 else "")


def below(button: QToolButton) -> QPoint:
    return button.mapToGlobal(button.rect().bottomLeft())
