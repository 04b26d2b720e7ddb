"""List with a search field and filters."""

from typing import Generic

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView

from annotator.gui.widgets.basics import PlainLabel, vertical
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.filter_row import Filter, FilterRow


class SoughtList(QFrame, Generic[Filter]):
    """The listener decides which lines match."""

    narrowed = Signal()
    """Other words are sought, or another filter holds."""
    entered = Signal(QModelIndex)
    """A line was gone to."""

    def __init__(
        self,
        filters: type[Filter],
        held: Filter,
        *,
        finds: str,
        lists: str,
        view: QAbstractItemView | None = None,
    ) -> None:
        """`finds` and `lists` are what the search and the list are called by those who hear them.

        A list lays out all its lines at once: where there may be very many, another `view` shows them.
        """
        super().__init__()
        self.setProperty("role", "side")
        self.list = view if view is not None else QListView(uniformItemSizes=True)
        self.search = LineField(placeholderText="Find an item…", clearButtonEnabled=True)
        self.search.setAccessibleName(finds)
        self.search.textChanged.connect(self.narrowed)
        self.search.returnPressed.connect(lambda: self.list.setFocus(Qt.FocusReason.TabFocusReason))
        self.filters = FilterRow(filters, held)
        self.filters.chosen.connect(self.narrowed)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(lists)
        self.list.clicked.connect(self.entered)
        self.list.activated.connect(self.entered)
        self.left = PlainLabel("", "hint", wrap=True)
        self.column = vertical(
            self.search, self.filters, (self.list, 1), self.left, on=self, margins=(6, 10, 6, 8), spacing=6
        )

    def show_only(self, one: Filter) -> None:
        self.filters.hold(one)

    def mark(self, index: QModelIndex) -> None:
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)

    def seek(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()
