"""The Items page: find an item, see its progress, open it."""

from functools import cached_property
from typing import Any

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import (
    QLabel,
    QWidget,
)

from annotator.actions.items import items
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.gui import keys, theme
from annotator.gui.desk.desk import ANY, Desk
from annotator.gui.desk.page import Page
from annotator.gui.pages.items.item_form import ItemForm
from annotator.gui.pages.items.items_model import ItemsModel
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.later import later
from annotator.gui.widgets.lists.lines_table import LinesTable

# People: coordinators and annotators who come to pick up work. What annoys them elsewhere: lists that hide
# which items are theirs to do, filters that need a mouse, and having to open an item to see what it is.
SETTLE_MS = 60
# Under the heading and the filters.
FORM_PLACE = 2
KEY_WIDTH, WIDEST_KEY = 56, 170
KEY, STATE = 0, 4
LEAST_FILTER = 88
RETIRED = "retired"
ACTS = (
    Command("edit_item", "Edit", hint="Change the question, its type, subject and origin"),
    Command(
        "retire_item",
        "Retire",
        "trash",
        "Set the item aside: it leaves all scores, nothing of it is lost, and it can be brought back",
    ),
    Command(
        "apply_selection",
        "Apply selection",
        hint="Retire every item that was rated below the bar; they leave all scores",
    ),
)


class ItemsPage(Page):
    """The list of items with its filters."""

    NAME = "Items"
    ICON = "items"
    HEARS = (ANY,)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._model = ItemsModel(desk)
        self._sought = ""
        self._build()
        self._model.rowsInserted.connect(self._grown)
        self._later = later(self, self._narrow, SETTLE_MS)
        acts = {
            "new_item": self.add.click,
            "edit_item": self._edit,
            "retire_item": self._retire,
            "apply_selection": self._apply,
        }
        for act, do in acts.items():
            self.bind(act, do)
        self.bind("ask_draft", self._classify)
        self.bar.asked.connect(lambda act: acts[act]())
        self.bind("next_open", self._next_open)
        self.bind("find", self.search.setFocus)

    def _build(self) -> None:
        title = PlainLabel("Items", "title")
        self.search = LineField(placeholderText="Search questions, subjects, keys…", clearButtonEnabled=True)
        self.search.setAccessibleName("Search items")
        self.search.textChanged.connect(lambda: self._later.start())
        self.search.returnPressed.connect(self._into_list)
        self.type, self.subject, self.state = ChoiceBox(), ChoiceBox(), ChoiceBox()
        for combo, name in ((self.type, "Question type"), (self.subject, "Subject"), (self.state, "State")):
            combo.setAccessibleName(name)
            combo.keep_short(16)
            theme.scale(combo.setMinimumWidth, LEAST_FILTER)
            combo.currentIndexChanged.connect(lambda _: self._narrow())
        self.count = QLabel()
        self.count.setProperty("role", "hint")
        self.add = push_button("Add item…", lambda: self._show_form(True))
        keys.tell(self.add, "toolTip", "Add an item ({new_item})")
        self.material = push_button("Reports and sources…", lambda: self.desk.go("Material"))
        self.material.setToolTip("Reports, extracts and cited pages")
        self.bring = push_button("Import…", lambda: self.desk.go("Import"))
        head = horizontal(title, StretchSpace(1), self.material, self.bring, self.add)
        filters = wrapping(self.search, self.type, self.subject, self.state, self.count)
        self._column = vertical(head, filters, (self._body(), 1), margins=(20, 16, 20, 12), spacing=10)
        vertical((self._column, 1), self._foot(), on=self, margins=0, spacing=0)
        self.material.setVisible(not self.desk.project.from_task)
        for writing in (self.add, self.bring):
            writing.setEnabled(not self.desk.project.readonly)
            # Anyone who works on a task gets further items by the next one.
            writing.setVisible(not self.desk.project.from_task)

    def _body(self) -> QWidget:
        self.table = LinesTable("Items", self._model, (KEY_WIDTH, 400, 150, 190, 118, 80, 88), stretched=1)
        self.table.firm = (KEY, STATE)
        self.table.activated.connect(lambda index: self._work(index.row()))
        self.nothing = EmptyState(
            "items",
            "No items yet",
            "An item is a question or task that systems answer. Import a benchmark, or write the first one yourself.",
        )
        self.nothing.add_action("Import…", lambda: self.desk.go("Import"), primary=True)
        self.nothing.add_action("Add item…", lambda: self._show_form(True))
        self.no_match = EmptyState("search", "No matches", "Remove a word or a filter to see more.")
        self.no_match.add_action("Show all", self._clear)
        self.body = stacked(self.table, self.nothing, self.no_match)
        return self.body

    def _foot(self) -> QWidget:
        self.author = push_button("Write or read its gold  ↵", lambda: self._work(self._row()), "primary")
        self.label = push_button("Label its reports", self._label)
        self.bar = ActsBar(ACTS)
        curated = not self.desk.project.from_task
        for act in ("edit_item", "retire_item", "apply_selection"):
            self.bar.offer(act, there=curated)
        for button in (self.label, self.author):
            self.bar.row.addWidget(button)
        return self.bar

    def rebind(self) -> None:
        super().rebind()
        self.bar.show_keys()

    def arrive(self, place: dict[str, Any]) -> None:
        """Show the list as it now is; `search` puts the caret into the search field."""
        self._fill_choices()
        self._narrow()
        if place.get("search"):
            self.search.setFocus()
            self.search.selectAll()

    def focus_first(self) -> None:
        """Work begins in the list, at the button that adds to an empty one, or in the search field if asked for."""
        if not self.search.hasFocus():
            (self.table if self.body.currentWidget() is self.table else self.add).setFocus()

    def on_change(self, change: Change) -> None:
        """Items and what was done to them show at once."""
        if change.kind in ("item", "import"):
            self._fill_choices()
            self._narrow()
        else:
            self._model.refresh()

    def _narrow(self) -> None:
        chosen = self._model.id_at(self._row()) if self._row() >= 0 else ""
        narrowed = items.Filter(
            words=self.search.text(),
            question_type=self.type.currentData() or "",
            subject=self.subject.currentData() or "",
            state="" if self._retired else self.state.currentData() or "",
            retired=self._retired,
        )
        self._model.narrow(narrowed)
        total, shown = self._say_how_many(), self._model.rowCount()
        empty = self.nothing if total == 0 else self.no_match
        self.body.setCurrentWidget(self.table if shown else empty)
        for button in (self.author, self.label):
            button.setEnabled(shown > 0 and not self._retired)
        self.bar.set_words("retire_item", "Bring back" if self._retired else "Retire")
        for act in ("edit_item", "retire_item", "apply_selection"):
            self.bar.enable(act, not self.desk.project.readonly and (shown > 0 or act == "apply_selection"))
        if shown:
            row = self._model.row_of(chosen)
            self._sought = chosen if row < 0 else ""
            self.table.selectRow(max(0, row))
            self._fit_keys(shown)

    @property
    def _retired(self) -> bool:
        """Whether the retired items are listed in place of those in use."""
        return bool(self.state.currentData() == RETIRED)

    def _say_how_many(self) -> int:
        if self._retired:
            self.count.setText(counted(self._model.rowCount(), "retired item"))
            return self._model.rowCount() or 1
        total, shown = self.desk.ask(items.count) or 0, self._model.rowCount()
        self.count.setText(f"{shown:,} of {total:,}" if shown != total else counted(total, "item"))
        return total

    def _grown(self) -> None:
        """The rest of a long list has come: what was chosen before may be in it."""
        self._say_how_many()
        row = self._model.row_of(self._sought)
        if row >= 0 and self._row() <= 0:
            self.table.selectRow(row)

    def _fit_keys(self, shown: int) -> None:
        """Make room for the keys of the first screenful; numbers need little, words more."""
        metrics = self.table.fontMetrics()
        widest = max(metrics.horizontalAdvance(self._model.line(row).key) for row in range(min(shown, 40)))
        room = min(WIDEST_KEY, max(KEY_WIDTH, round(widest / theme.current().zoom * 100) + 28))
        if room != self.table.widths[0]:
            self.table.widths[0] = room
            self.table.fit()

    def _fill_choices(self) -> None:
        types, subjects = self.desk.ask(items.choices) or ([], [])
        for combo, first, values in (
            (self.type, "All types", types),
            (self.subject, "All subjects", subjects),
            (self.state, "All states", [*items.STATES, RETIRED]),
        ):
            offer(combo, [(first, ""), *((value, value) for value in values)])

    def _row(self) -> int:
        index: QModelIndex = self.table.currentIndex()
        return index.row() if index.isValid() else -1

    def _work(self, row: int) -> None:
        if row >= 0:
            self.desk.go("Author", item_id=self._model.id_at(row))

    def _label(self) -> None:
        if self._row() >= 0:
            self.desk.go("Label", item_id=self._model.id_at(self._row()))

    def _next_open(self) -> None:
        """The next item below that is not submitted or settled, from the top again after the last."""
        rows = self._model.rowCount()
        for step in range(1, rows + 1):
            row = (self._row() + step) % rows
            if self._model.line(row).state in ("new", "in progress"):
                self.table.selectRow(row)
                return

    def _edit(self) -> None:
        if self._row() >= 0 and self.bar.buttons["edit_item"].isEnabled():
            self._show_form(True, self._model.id_at(self._row()))

    def _classify(self) -> None:
        """Open the item for a model's proposal of its type; once open, ask for it."""
        if not self.form.isVisible():
            self._edit()
        if self.form.isVisible():
            self.form.proposal.ask()

    def _retire(self) -> None:
        """Retire the item, or bring it back; the one below is chosen then."""
        row = self._row()
        if row < 0 or not self.bar.buttons["retire_item"].isEnabled():
            return
        key, item_id, back = self._model.line(row).key, self._model.id_at(row), self._retired
        if self.desk.do(items.change_all, {item_id: {"retired": not back}}) is not None:
            self.bar.say(
                f"Item {key} is {'in use again' if back else 'retired'}. {keys.shown('undo')} undoes it."
            )
            self.table.selectRow(min(row, self._model.rowCount() - 1))

    def _apply(self) -> None:
        from annotator.actions.studies import selection_ratings

        change = self.desk.do(selection_ratings.apply)
        if change is not None:
            many = counted(len(items.changed_by(change)), "item")
            self.bar.say(f"{many} retired: rated below the bar. {keys.shown('undo')} undoes it.")

    def _into_list(self) -> None:
        self._later.stop()
        self._narrow()
        self.table.setFocus()

    def _clear(self) -> None:
        self.search.clear()
        for combo in (self.type, self.subject, self.state):
            combo.setCurrentIndex(0)
        self._narrow()

    @cached_property
    def form(self) -> ItemForm:
        """The form for a new item between the filters and the list, made when it is first wanted."""
        form = ItemForm(self.desk)
        form.done.connect(lambda: self._show_form(False))
        self._column.insertWidget(FORM_PLACE, form)
        return form

    def _show_form(self, shown: bool, item_id: str = "") -> None:
        self.form.setVisible(shown)
        if shown:
            self.form.begin(item_id)
        else:
            self.table.setFocus()
