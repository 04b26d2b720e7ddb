"""The Items page: find an item, see its progress, open it."""

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QPushButton

from annotator.actions.authoring import settings
from annotator.actions.items import items
from annotator.actions.material import model_drafts
from annotator.actions.material.model_drafts import Proposal
from annotator.actions.project import profile
from annotator.domain.common import Change, counted
from annotator.domain.kinds.kind import ItemRole, Kind
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.material.extract import WriterAid
from annotator.domain.material.item import Item
from annotator.gui import keys, theme
from annotator.gui.review.run_panel import DraftAsking
from annotator.gui.review.sheets import CellsModel, Column, resetting
from annotator.gui.session.page import Page
from annotator.gui.session.session import ANY, Pane, ProjectSession
from annotator.gui.widgets.bars import ActsBar, Command, KeyButton, wrapping
from annotator.gui.widgets.basics import (
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    horizontal,
    later,
    push_button,
    tooltip,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.fields import ChoiceBox, GrowingEdit, LineField, offer, search_field, when_changed

BLOCK = 64
# The number of rows loaded at once; the rest of a very long list is loaded while it is already shown.
FIRST = 10_000
# Milliseconds of pause in typing before the rest of a long list is loaded.
PAUSE_MS = 150
# Lines kept in memory; more than any screen shows.
CACHED_ROWS = 4096
STATE_ICONS = {"new": "new", "in progress": "author", "submitted": "lock", "settled": "check"}


def _type(line: items.ItemLine) -> str:
    """The question type, or for other items the role."""
    return line.question_type or ("" if line.role is ItemRole.QUESTION else line.role.value)


COLUMNS: Sequence[Column[items.ItemLine]] = (
    Column("Key", lambda line: line.key, 56, firm=True),
    Column("Question", lambda line: line.question, 400, tip=lambda line: line.question[:1000]),
    Column("Type", _type, 150),
    Column("Subject", lambda line: line.subject, 190),
    Column(
        "State",
        lambda line: line.state,
        118,
        look=lambda line: (STATE_ICONS[line.state], "text"),
        firm=True,
        side=16,
    ),
    Column("Reports", lambda line: str(line.responses or ""), 80, number=True),
    Column("Labelled", lambda line: str(line.labelled or ""), 88, number=True),
)


class ItemsModel(CellsModel[items.ItemLine]):
    """The items by their numbers; a line is read with its neighbours when it is first shown."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(COLUMNS, session)
        self._session = session
        self._narrowed = items.Filter()
        self._rows: Any = array("q")
        self._lines: dict[int, items.ItemLine] = {}
        self._rest = later(self, self._fetch_rest, PAUSE_MS)

    def narrow(self, narrowed: items.Filter) -> None:
        with resetting(self):
            self._narrowed = narrowed
            self._rows = self._session.ask(items.numbers, narrowed, FIRST) or array("q")
            self._lines.clear()
        self._rest.stop()
        if len(self._rows) == FIRST:
            self._rest.start()

    def _fetch_rest(self) -> None:
        narrowed = self._narrowed
        self._session.ask_later(lambda numbers: self._complete(narrowed, numbers), items.numbers, narrowed)

    def _complete(self, narrowed: items.Filter, numbers: "array[int]") -> None:
        """Append the rest of the rows, unless the filter has changed."""
        if narrowed is not self._narrowed or len(numbers) <= FIRST:
            return
        if numbers[:FIRST] != self._rows:
            self.narrow(narrowed)
            return
        self.beginInsertRows(QModelIndex(), FIRST, len(numbers) - 1)
        self._rows = numbers
        self.endInsertRows()

    def refresh(self) -> None:
        self._lines.clear()
        self.tell_all()

    def id_at(self, row: int) -> str:
        return self.line(row).id

    def row_of(self, item_id: str) -> int:
        number = self._session.ask(items.number, item_id) if item_id else 0
        return self._rows.index(number) if number and number in self._rows else -1

    def at(self, row: int) -> items.ItemLine | None:
        return self.line(row) if 0 <= row < len(self._rows) else None

    def line(self, row: int) -> items.ItemLine:
        if row not in self._lines:
            if len(self._lines) > CACHED_ROWS:
                self._lines.clear()
            start = row - row % BLOCK
            block = self._rows[start : start + BLOCK]
            self._lines |= enumerate(self._session.ask(items.lines_at, block) or [], start=start)
        return self._lines[row]


class TypeProposal(Pane):
    """A waiting proposal, or the request for one; nothing is set before the form is saved."""

    def __init__(self, session: ProjectSession, used: Callable[[str, str], object]) -> None:
        """`used` fills a type and a subject into the form."""
        super().__init__(session)
        self._used = used
        self._item: Item | None = None
        self._waiting: Proposal | None = None
        self.taken = ""
        """The id of the draft that the form was filled from."""
        self.more = with_properties(
            QPushButton("Ask a model…"),
            role="quiet",
            toolTip="Have a model propose a type and a subject, with a reason",
            checkable=True,
        )
        self.more.toggled.connect(lambda _: self.wake())
        self.asking = DraftAsking(session)
        self.asking.came.connect(self.wake)
        self.words = PlainLabel("", wrap=True)
        self.use, self.dismiss = (
            push_button(
                "Use",
                self._use,
                toolTip="Put the type and the subject into the form; they are set when you save",
            ),
            push_button("Dismiss", self._dismiss),
        )
        acts = horizontal(self.more, self.use, self.dismiss, StretchSpace(1))
        vertical(self.words, acts, self.asking, self.asking.answer, on=self, margins=0, spacing=4)

    def show_item(self, item: Item | None) -> None:
        """Switch to an item; for a new one nothing can be asked yet."""
        self._item, self.taken = item, ""
        self.more.setChecked(False)
        self.asking.answer.clear()
        self.wake()

    def wake(self) -> None:
        offered = self._item is not None and not self.session.project.readonly
        self.setVisible(offered)
        if self._item is None or not offered:
            return
        self._waiting = self.session.ask(model_drafts.unconfirmed_classes, self._item.id)
        there = self._waiting is not None
        for part in (self.words, self.use, self.dismiss):
            part.setVisible(there)
        self.more.setVisible(not there)
        self.asking.setVisible(self.more.isChecked() and not there)
        if self._waiting is not None:
            proposed_type, name = model_drafts.proposed_class(self._waiting), self._waiting.source.name
            self.words.setText(
                f"{name} proposes {proposed_type.question_type}, {proposed_type.subject}: {proposed_type.text}"
            )
        else:
            self.asking.show_item(self._item, WriterAid.CLASSIFICATION, lacks="", waiting=False)

    def ask(self) -> None:
        """Open the request, or send it if it is open; if a proposal waits, focus it."""
        if self._waiting is not None:
            self.use.setFocus()
        elif self.more.isChecked():
            self.asking.start()
        else:
            self.more.setChecked(True)
            self.asking.begin.setFocus()

    def _use(self) -> None:
        if self._waiting is not None:
            proposed_type, self.taken = model_drafts.proposed_class(self._waiting), self._waiting.id
            self._used(proposed_type.question_type, proposed_type.subject)

    def _dismiss(self) -> None:
        if self._waiting is not None and self.session.do(model_drafts.refuse, self._waiting.id) is not None:
            self.taken = ""
            self.wake()


LANGUAGES = {
    "English": "en",
    "中文": "zh",
    "العربية": "ar",
    "Deutsch": "de",
    "Español": "es",
    "Français": "fr",
    "日本語": "ja",
    "한국어": "ko",
    "עברית": "he",
    "Português": "pt",
    "Русский": "ru",
}


class ItemForm(Pane):
    """An item being added or changed: question, type, subject, language, and where it comes from."""

    done = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, "card")
        self._item_id = ""
        self.question = GrowingEdit(accessibleName="Question", placeholderText="What the systems are asked")
        self.type = ChoiceBox(editable=True)
        self.type.setLineEdit(LineField())
        self.type.currentTextChanged.connect(self._define)
        self.definition = PlainLabel("", "hint", wrap=True)
        self._types: tuple[QuestionType, ...] = ()
        self.proposal = TypeProposal(session, self._file)
        self.subject, self.language = LineField(), ChoiceBox()
        for name, tag in LANGUAGES.items():
            self.language.addItem(name, tag)
        self.origin = LineField()
        self.contributor = LineField(accessibleName="Contributor", toolTip="An alias, not a name")
        self.collected = LineField(accessibleName="Collected on", placeholderText="YYYY-MM-DD")
        self._lines = {
            "subject": self.subject,
            "origin": self.origin,
            "contributor": self.contributor,
            "collected": self.collected,
        }
        form = QFormLayout()
        for words, shown in (
            ("Question", self.question),
            ("Type", vertical(self.type, self.definition, self.proposal, spacing=2)),
            ("Subject", self.subject),
            ("Language", self.language),
            ("Origin", self.origin),
        ):
            form.addRow(words, shown)
        form.addRow(
            "Contributor", horizontal((self.contributor, 1), QLabel("Collected on"), (self.collected, 1))
        )
        self.save = KeyButton("Add", act="submit", role="primary", press=self._add)
        cancel = push_button("Cancel", self.done)
        vertical(form, horizontal(StretchSpace(1), cancel, self.save), on=self)

    def begin(self, item_id: str = "") -> None:
        self._item_id = item_id
        self._types = self.session.ask(settings.types) or ()
        self.type.clear()
        self.type.addItem("")
        for one in self._types:
            self.type.addItem(one.name)
            self.type.setItemData(self.type.count() - 1, tooltip(one.definition), Qt.ItemDataRole.ToolTipRole)
        item = self.session.ask(items.read, item_id) if item_id else None
        self.question.setPlainText(item.question if item else "")
        # A question settled from a query is changed by settling it again.
        self.question.setReadOnly(bool(item and item.working_title))
        self.question.setToolTip(
            f"Working title: {item.working_title}" if item and item.working_title else ""
        )
        self.type.setCurrentText(item.question_type if item else "")
        if item and self.language.findData(item.language) < 0:
            self.language.addItem(item.language, item.language)
        self.language.setCurrentIndex(max(0, self.language.findData(item.language if item else "en")))
        for name, field in self._lines.items():
            field.setText(getattr(item, name) if item else "")
        self.proposal.show_item(item)
        self.save.set_words("Save" if item_id else "Add")
        (self.type if self.question.isReadOnly() else self.question).setFocus()

    def _define(self, name: str) -> None:
        """Show the definition of the chosen type, or that the project does not define it."""
        result = next((one.definition for one in self._types if one.name == name.strip()), "")
        unknown = (
            f"The project does not define this type. It has: {', '.join(one.name for one in self._types)}."
        )
        self.definition.setText(result or (unknown if name.strip() else ""))

    def _file(self, name: str, subject: str) -> None:
        """Fill in a type and a subject; they are set when the form is saved."""
        self.type.setCurrentText(name)
        self.subject.setText(subject)
        self.save.setFocus()

    def _add(self) -> None:
        fields = {
            "question": self.question.toPlainText().strip(),
            "question_type": self.type.currentText().strip(),
            **{name: field.text().strip() for name, field in self._lines.items()},
            "language": self.language.currentData(),
        }
        if draft := self.proposal.taken:
            made = self.session.do(model_drafts.confirm_class, draft, fields)
        elif self._item_id:
            made = self.session.do(items.change_all, {self._item_id: fields})
        else:
            made = self.session.do(items.add, fields["question"], more=fields)
        if made is not None:
            self.done.emit()


# People: coordinators and annotators who come to pick up work. What annoys them elsewhere: lists that hide
# which items are theirs to do, filters that need a mouse, and having to open an item to see what it is.
SETTLE_MS = 60
# Below the heading and the filters.
FORM_PLACE = 2
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
    NAME = "Items"
    HEARS = (ANY,)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._model = ItemsModel(session)
        self._missing_id, self._begins = "", False
        self._build()
        self._model.rowsInserted.connect(self._grown)
        self._later = later(self, self._narrow, SETTLE_MS)
        acts = {
            "new_item": self.add.click,
            "edit_item": self._edit,
            "retire_item": self._retire,
            "apply_selection": self._apply,
        }
        self.bind_all(acts)
        self.bind("ask_draft", self._classify)
        self.bar.asked.connect(lambda act: acts[act]())
        self.bind("next_open", self._next_open)
        self.bind("find", self.search.seek)

    def _build(self) -> None:
        self.search = search_field(
            "Search questions, subjects, keys…", "Search items", lambda: self._later.start()
        )
        self.search.returnPressed.connect(self._into_list)
        self.type, self.subject, self.state = combos = [
            ChoiceBox(letters=16, accessibleName=name) for name in ("Question type", "Subject", "State")
        ]
        for combo in combos:
            theme.scale(combo.setMinimumWidth, LEAST_FILTER)
        when_changed(self._narrow, *combos)
        self.count = with_properties(QLabel(), role="hint")
        self.add = push_button("Add item…", lambda: self._show_form(True))
        keys.tell(self.add, "toolTip", "Add an item ({new_item})")
        self.bring = push_button("Import…", lambda: self.session.go("Import"))
        # While there are no items, both are offered in place of the list.
        self.head = column_of(horizontal(StretchSpace(1), self.bring, self.add))
        filters = wrapping(self.search, self.type, self.subject, self.state, self.count)
        self.table = LinesTable(
            "Items",
            self._model,
            self._model.widths,
            stretched=1,
            opened=lambda index: self._work(index.row()),
        )
        self.nothing = EmptyState(
            "items",
            "No items yet",
            "An item is a question or task that systems answer. Import a benchmark, or write the first one yourself.",
        )
        first = self.nothing.add_action("Import…", lambda: self.session.go("Import"), primary=True)
        self.first = self.nothing.add_action("Add item…", lambda: self._show_form(True))
        self.no_match = EmptyState("search", "No matches", "Remove a word or a filter to see more.")
        self.no_match.add_action("Show all", self._clear)
        self.body = Stack(self.table, self.nothing, self.no_match)
        self._column = vertical(self.head, filters, (self.body, 1), margins=(20, 16, 20, 12), spacing=10)
        self.author = KeyButton("Open", "Return", "primary", press=lambda: self._work(self._row()))
        self.label = push_button("Label its reports", self._label)
        self.bar = ActsBar(ACTS)
        curated = not self.session.project.from_task
        for act in ("edit_item", "retire_item"):
            self.bar.offer(act, there=curated)
        for button in (self.label, self.author):
            self.bar.row.addWidget(button)
        vertical((self._column, 1), self.bar, on=self, margins=0, spacing=0)
        for writing in (self.add, self.bring, first, self.first):
            writing.setEnabled(not self.session.project.readonly)
            # Someone who works on a task gets further items with the next one.
            writing.setVisible(not self.session.project.from_task)

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current list, or begin a new item."""
        self._fill_choices()
        self._narrow()
        self._begins = bool(place.get("new"))

    def focus_first(self) -> None:
        """Focus the list, the button that adds to an empty one, or the form of a new item."""
        if self._begins:
            self._begins = False
            self.add.click()
            return
        (self.table, self.first, self.search)[self.body.currentIndex()].setFocus()

    def on_change(self, change: Change) -> None:
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
        self.head.setVisible(total > 0)
        empty = self.nothing if total == 0 else self.no_match
        self.body.setCurrentWidget(self.table if shown else empty)
        for button in (self.author, self.label):
            button.setEnabled(shown > 0 and not self._retired)
        self.bar.set_words("retire_item", "Bring back" if self._retired else "Retire")
        for act in ("edit_item", "retire_item", "apply_selection"):
            self.bar.enable(
                act, not self.session.project.readonly and (shown > 0 or act == "apply_selection")
            )
        if shown:
            row = self._model.row_of(chosen)
            self._missing_id = chosen if row < 0 else ""
            self.table.selectRow(max(0, row))

    @property
    def _retired(self) -> bool:
        return bool(self.state.currentData() == RETIRED)

    def _say_how_many(self) -> int:
        if self._retired:
            self.count.setText(counted(self._model.rowCount(), "retired item"))
            return self._model.rowCount() or 1
        total, shown = self.session.ask(items.count) or 0, self._model.rowCount()
        self.count.setText(f"{shown:,} of {total:,}" if shown != total else counted(total, "item"))
        return total

    def _grown(self) -> None:
        """Restore the selection, which may be in the rows just loaded."""
        self._say_how_many()
        row = self._model.row_of(self._missing_id)
        if row >= 0 and self._row() <= 0:
            self.table.selectRow(row)

    def _fill_choices(self) -> None:
        rated = Kind.SELECTION in profile.profile(self.session.project).kinds
        self.bar.offer("apply_selection", there=rated and not self.session.project.from_task)
        types, subjects = self.session.ask(items.choices) or ([], [])
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
            self.session.go("Author", item_id=self._model.id_at(row))

    def _label(self) -> None:
        if self._row() >= 0:
            self.session.go("Label", item_id=self._model.id_at(self._row()))

    def _next_open(self) -> None:
        """Go to the next item that is not submitted or settled, wrapping around."""
        self.table.choose_next(lambda row: self._model.line(row).state in ("new", "in progress"))

    def _edit(self) -> None:
        if self._row() >= 0 and self.bar.buttons["edit_item"].isEnabled():
            self._show_form(True, self._model.id_at(self._row()))

    def _classify(self) -> None:
        """Open the form for a model's proposal of the item's type; if it is open, ask for the proposal."""
        if not self.form.isVisible():
            self._edit()
        if self.form.isVisible():
            self.form.proposal.ask()

    def _retire(self) -> None:
        """Retire the item, or bring it back; then select the next one."""
        row = self._row()
        if row < 0 or not self.bar.buttons["retire_item"].isEnabled():
            return
        key, item_id, back = self._model.line(row).key, self._model.id_at(row), self._retired
        if self.session.do(items.change_all, {item_id: {"retired": not back}}) is not None:
            self.bar.say(
                f"Item {key} is {'in use again' if back else 'retired'}. {keys.shown('undo')} undoes it."
            )
            self.table.selectRow(min(row, self._model.rowCount() - 1))

    def _apply(self) -> None:
        from annotator.actions.studies import question_views

        if (change := self.session.do(question_views.apply)) is not None:
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
        """The form for a new item between the filters and the list, built when first needed."""
        form = ItemForm(self.session)
        form.done.connect(lambda: self._show_form(False))
        self.bind("submit", form.save.click)
        self._column.insertWidget(FORM_PLACE, form)
        return form

    def _show_form(self, shown: bool, item_id: str = "") -> None:
        self.form.setVisible(shown)
        self.form.setEnabled(shown)
        if shown:
            self.form.begin(item_id)
        else:
            self.table.setFocus()
