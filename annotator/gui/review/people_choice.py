"""Choice of people of one role from a list with check boxes."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from annotator.domain.experts.person import Person
from annotator.gui import theme
from annotator.gui.desk.naming import named
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, tooltip, vertical

ID = Qt.ItemDataRole.UserRole
FEWEST, MOST = 2, 6


class PeopleChoice(QWidget):
    """People of a role; ticks are kept when the list is refreshed."""

    changed = Signal()

    def __init__(self, title: str, nobody: str) -> None:
        super().__init__()
        self._known = set[str]()
        self.count = PlainLabel("", "hint")
        self.empty = PlainLabel(nobody, "hint", wrap=True)
        self.list = QListWidget()
        self.list.setAccessibleName(f"{title}; Space ticks one")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemChanged.connect(lambda _: self._tell())
        head = horizontal(PlainLabel(title, "strong"), self.count, StretchSpace(1), spacing=2)
        self._buttons = []
        for words, state in (("All", Qt.CheckState.Checked), ("None", Qt.CheckState.Unchecked)):
            button = push_button(words, lambda _=False, state=state: self._tick_all(state), "quiet")
            button.setAccessibleName(f"{words}: {title}")
            self._buttons.append(button)
            head.addWidget(button)
        vertical(head, self.list, self.empty, StretchSpace(1), on=self, margins=0, spacing=2)

    def fill(self, everybody: Sequence[Person], ticked: frozenset[str]) -> None:
        """Offer these people; those not offered before are ticked when they are in `ticked`."""
        kept = set(self.chosen())
        with QSignalBlocker(self.list):
            self.list.clear()
            for person in everybody:
                line = QListWidgetItem(named(person.alias, person.name))
                line.setData(ID, person.id)
                line.setToolTip(tooltip(named(person.alias, person.name)))
                on = person.id in (kept if person.id in self._known else ticked)
                line.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
                self.list.addItem(line)
            self._known = {person.id for person in everybody}
        for part in (self.list, *self._buttons, self.count):
            part.setVisible(bool(everybody))
        self.empty.setVisible(not everybody)
        rows = min(MOST, max(FEWEST, self.list.count()))
        row = self.list.sizeHintForRow(0) if self.list.count() else theme.current().px(26)
        self.list.setFixedHeight(rows * row + 2 * self.list.frameWidth() + theme.current().px(4))
        self._count()

    def chosen(self) -> tuple[str, ...]:
        lines = (self.list.item(row) for row in range(self.list.count()))
        return tuple(line.data(ID) for line in lines if line.checkState() == Qt.CheckState.Checked)

    def _tick_all(self, state: Qt.CheckState) -> None:
        with QSignalBlocker(self.list):
            for row in range(self.list.count()):
                self.list.item(row).setCheckState(state)
        self._tell()

    def _tell(self) -> None:
        self._count()
        self.changed.emit()

    def _count(self) -> None:
        self.count.setText(f"{len(self.chosen()):,} of {self.list.count()}")

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(200), super().sizeHint().height())
