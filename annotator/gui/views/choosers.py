"""Choices of a view: lists, another project's file, and the publishability limit."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QWidget

from annotator.actions.results.result_sheets import ViewChoice
from annotator.gui import theme
from annotator.gui.widgets.bars.flow_row import FlowRow, grow_by_width
from annotator.gui.widgets.basics import push_button, tooltip
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.labelled import together
from annotator.gui.widgets.fields.number_box import AmountBox

WIDEST, LETTERS = 190, 8
# Names of papers' tables are told apart by their ends.
WIDE_FROM, WIDER = 40, 340
UNADJUDICATED = (
    "What several people wrote of an item scores before it is adjudicated, by the document that scored first, else by "
    "that of the first alias. Without it, such items are left out."
)


class Choosers(QWidget):
    """A list for each choice; `chosen` announces another value."""

    chosen = Signal()
    limit_set = Signal(float)
    file_wanted = Signal()
    unadjudicated_set = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.of = ""
        """The view whose choices these are; another may be being counted by now."""
        self.lists: dict[str, QComboBox] = {}
        self._parts: dict[str, QWidget] = {}
        self._kinds: tuple[tuple[str, str], ...] = ()
        self._row = FlowRow(self, gap=12)
        grow_by_width(self)
        self.limit = AmountBox(decimals=1, minimum=0.0, maximum=100.0, singleStep=1.0, suffix=" % missing")
        self.limit.setKeyboardTracking(False)
        self.limit.setAccessibleName("Largest share of missing judgements for a publishable figure")
        self.limit.valueChanged.connect(lambda value: self.limit_set.emit(value / 100))
        about = "Figures with more missing judgements than this are marked."
        self._limit = together("Publishable up to", self.limit, about)
        self.file = push_button("Beside another project…", self.file_wanted)
        self.file.setToolTip(tooltip("Compare with the settled rubrics of another project file."))
        self.unadjudicated = QCheckBox("Count unadjudicated gold")
        self.unadjudicated.setToolTip(tooltip(UNADJUDICATED))
        self.unadjudicated.clicked.connect(self.unadjudicated_set)
        for part in (self._limit, self.unadjudicated, self.file):
            self._row.addWidget(part)
            part.hide()

    def offer(self, choices: Sequence[ViewChoice], chosen: Mapping[str, str], of: str = "") -> None:
        """Offer the choices of a view, with those made; tells nobody."""
        self.of = of
        kinds = tuple((choice.name, choice.words) for choice in choices)
        if kinds != self._kinds:
            self._build(choices)
            self._kinds = kinds
        for choice in choices:
            combo = self.lists[choice.name]
            offer(combo, choice.values)
            with QSignalBlocker(combo):
                combo.setCurrentIndex(max(0, combo.findData(chosen.get(choice.name))))
            combo.setToolTip(tooltip(choice.tip or combo.currentText()))
            self._parts[choice.name].setVisible(len(choice.values) > 1)
        self.updateGeometry()

    def _build(self, choices: Sequence[ViewChoice]) -> None:
        for part in self._parts.values():
            self._row.removeWidget(part)
            part.hide()
            part.deleteLater()
        self.lists, self._parts = {}, {}
        for place, choice in enumerate(choices):
            combo = ChoiceBox()
            combo.setAccessibleName(choice.words)
            combo.setMinimumContentsLength(LETTERS)
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            longest = max((len(words) for words, _ in choice.values), default=0)
            theme.scale(combo.setMaximumWidth, WIDER if longest > WIDE_FROM else WIDEST)
            combo.currentIndexChanged.connect(lambda _: self.chosen.emit())
            self.lists[choice.name] = combo
            self._parts[choice.name] = together(choice.words, combo, choice.tip)
            self._row.insert(place, self._parts[choice.name])

    def values(self) -> dict[str, str]:
        return {name: str(combo.currentData() or "") for name, combo in self.lists.items()}

    def choose(self, name: str, value: str) -> None:
        """Choose a value of one list, where it is offered."""
        place = self.lists[name].findData(value)
        if place >= 0:
            self.lists[name].setCurrentIndex(place)

    def show_limit(self, share: float | None, *, allowed: bool) -> None:
        """Show what is publishable; None hides it. Tells nobody."""
        self._limit.setVisible(share is not None)
        self.limit.setEnabled(allowed)
        with QSignalBlocker(self.limit):
            self.limit.setValue(100 * (share or 0.0))

    def show_unadjudicated(self, counts: bool | None, *, allowed: bool) -> None:
        """Show whether unadjudicated gold counts; None hides it. Tells nobody."""
        self.unadjudicated.setVisible(counts is not None)
        self.unadjudicated.setEnabled(allowed)
        self.unadjudicated.setChecked(bool(counts))

    def show_file(self, offered: bool, name: str) -> None:
        self.file.setVisible(offered)
        self.file.setText(
            f"Stop comparing with {name}".replace("&", "&&") if name else "Beside another project…"
        )
