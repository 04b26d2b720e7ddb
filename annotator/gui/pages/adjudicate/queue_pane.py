"""What waits to be adjudicated, on the left: found by item, narrowed by state, the most contested first."""

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QLineEdit,
    QListView,
    QPushButton,
    QToolButton,
    QVBoxLayout,
)

from annotator.actions.adjudicating import Waiting
from annotator.gui.models.adjudication_queue import (
    LINE_ROLE,
    NOWHERE,
    AdjudicationQueue,
    Place,
    Show,
    confirmable,
)
from annotator.gui.pages.adjudicate.queue_delegate import QueueDelegate
from annotator.gui.widgets.plain import PlainLabel


class QueuePane(QFrame):
    """Search, filters, the list itself, and what can be confirmed in one go."""

    chosen = Signal(object)
    """The line a person went to."""
    unanimous_wanted = Signal()

    def __init__(self, queue: AdjudicationQueue) -> None:
        super().__init__()
        self.queue = queue
        self._open: Place = NOWHERE
        self._show = Show.CONFLICTS
        self._build()

    def _build(self) -> None:
        self.setProperty("role", "side")
        self.list = QListView()
        self.search = QLineEdit(placeholderText="Find an item…", clearButtonEnabled=True)
        self.search.setAccessibleName("Find an item by its words, key or stage")
        self.search.textChanged.connect(lambda _: self._narrow())
        self.search.returnPressed.connect(lambda: self.list.setFocus(Qt.FocusReason.TabFocusReason))
        self.list.setModel(self.queue)
        self.list.setItemDelegate(QueueDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName("Items to adjudicate")
        self.list.clicked.connect(self._choose)
        self.list.activated.connect(self._choose)
        self.left = PlainLabel("", "hint", wrap=True)
        self.unanimous = QPushButton()
        self.unanimous.clicked.connect(self.unanimous_wanted)
        column = QVBoxLayout(self)
        column.setContentsMargins(6, 10, 6, 8)
        column.setSpacing(6)
        column.addWidget(self.search)
        column.addLayout(self._filters())
        column.addWidget(self.list, 1)
        column.addWidget(self.left)
        column.addWidget(self.unanimous)

    def _filters(self) -> QGridLayout:
        self._buttons: dict[Show, QToolButton] = {}
        group = QButtonGroup(self)
        self._grid = QGridLayout()
        self._grid.setSpacing(2)
        for show in Show:
            button = QToolButton(self)
            button.setText(show.value)
            button.setCheckable(True)
            button.setChecked(show is self._show)
            button.clicked.connect(lambda _=False, show=show: self.show_only(show))
            group.addButton(button)
            self._buttons[show] = button
        self._lay_filters()
        return self._grid

    def _lay_filters(self) -> None:
        """In one line, or in more where the list is narrow."""
        wide = sum(button.sizeHint().width() + 2 for button in self._buttons.values())
        widest = 2 * max(button.sizeHint().width() for button in self._buttons.values()) + 2
        columns = 4 if wide <= self.width() - 12 else 2 if widest <= self.width() - 12 else 1
        for place, button in enumerate(self._buttons.values()):
            self._grid.addWidget(button, place // columns, place % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay the filters anew."""
        super().resizeEvent(event)
        self._lay_filters()

    def show_only(self, show: Show) -> None:
        """Narrow the list to lines in a state."""
        self._show = show
        self._buttons[show].setChecked(True)
        self._narrow()

    def show_open(self, place: Place) -> None:
        """Mark the line that is open, and bring it into view."""
        self._open = place
        if self.queue.row_of(place) < 0:
            self._narrow()
        self._mark()

    def fill(self, lines: list[Waiting]) -> None:
        """Take over the queue as it now is."""
        self.queue.fill(lines)
        self._narrow()
        self.recount()

    def recount(self) -> None:
        """Say how much is left, on the filters and below the list."""
        for show, button in self._buttons.items():
            count = self.queue.counted(show)
            button.setText(f"{show.value} {count}" if count else show.value)
            button.setAccessibleName(f"{show.value}, {count}")
        self._lay_filters()
        conflicts = self.queue.counted(Show.CONFLICTS)
        drawn = sum(line.spot_check and not line.closed for line in self.queue.lines)
        words = "1 conflict is left" if conflicts == 1 else f"{conflicts} conflicts are left"
        looks = f" · {drawn} drawn to be looked at" if drawn else ""
        self.left.setText(f"{words if conflicts else 'No conflict is left'}{looks}")
        agreed = sum(confirmable(line) for line in self.queue.lines)
        self.unanimous.setText(f"Confirm {agreed} unanimous item{'s' if agreed != 1 else ''}…")
        self.unanimous.setVisible(agreed > 0)

    def seek(self) -> None:
        """Put the caret into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _narrow(self) -> None:
        self.queue.narrow(self._show, self.search.text(), self._open)
        self._mark()

    def _mark(self) -> None:
        index = self.queue.index(self.queue.row_of(self._open))
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)

    def _choose(self, index: QModelIndex) -> None:
        line = index.data(LINE_ROLE)
        if isinstance(line, Waiting):
            self.chosen.emit(line)
