"""Check of a validity card against the project's judges: differences, and what to do."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from annotator.actions.judges import judges
from annotator.actions.judging import card_checks
from annotator.actions.judging.card_checks import CardComparison
from annotator.actions.project.file import Project
from annotator.actions.validation import cards
from annotator.domain.judges.validity_card import Difference, ValidityCard
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.desk import dropping
from annotator.gui.desk.desk import Desk
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.basics import PlainLabel, push_button, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox, offer
from annotator.gui.widgets.fields.typed import LineField

FILES = "Cards (*.json *.html);;All files (*)"
ABOUT = (
    "Does a card still describe a judge of this project? Choose or drop its file. The project is not changed."
)
MOST_LIKE = "the most similar judge"
COLUMNS: tuple[Column[Difference], ...] = (
    Column("Difference", lambda one: one.part, 120, tip=lambda one: one.todo),
    Column("On the card", lambda one: one.on_card, 116, tip=lambda one: one.on_card),
    Column("Now", lambda one: one.now, 110, tip=lambda one: one.now),
)


@dataclass(frozen=True, slots=True)
class CheckedCard:
    """A card from a file with the result of its check, or why it cannot be checked."""

    card: ValidityCard | None = None
    check: CardComparison | None = None
    refusal: Refusal | None = None


def read(project: Project, path: Path, judge: str) -> CheckedCard:
    """The card of a file beside a judge of that name, or the one most like it."""
    card = None
    try:
        card = cards.read(path)
        return CheckedCard(card, card_checks.check(project, card, judge))
    except Refusal as refusal:
        return CheckedCard(card, refusal=refusal)


class CardCheck(QWidget):
    """The chosen file and its result, above the judges bound to cards."""

    turned = Signal()
    wanted = Signal(object, str)
    """A card that is to be read, and its file's name."""
    told = Signal(str, str)
    """What was done, and what follows from it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._asked, self.stopped = desk, 0, False
        self._path: Path | None = None
        self.found = CheckedCard()
        self.setAcceptDrops(True)
        self.choose = QPushButton("Choose a card…")
        self.look = QPushButton("Read it")
        self.judge = ChoiceBox()
        self.judge.setAccessibleName("Judge compared with the card")
        self.file, self.verdict = PlainLabel("", wrap=True), PlainLabel("", "strong", wrap=True)
        self.todo, self.remarks = PlainLabel("", "hint", wrap=True), PlainLabel("", "hint", wrap=True)
        self.model = CellsModel[Difference](COLUMNS, self)
        self.table = CellsTable("Differences from the card", self.model, stretched=2)
        self.table.setWordWrap(True)
        self.table.row_height = 46
        self.define = _Define()
        self.bound = QListWidget()
        self.bound.setAccessibleName("Judges that are bound to a card")
        self.bound.setWordWrap(True)
        self.bound.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.release = QPushButton("Release it")
        self._lay_out()
        self._listen()
        self._show()

    def _lay_out(self) -> None:
        choosing, against = QHBoxLayout(), QHBoxLayout()
        choosing.addWidget(self.choose)
        choosing.addWidget(self.look)
        choosing.addStretch(1)
        self._against = PlainLabel("Compared with")
        self._against.setBuddy(self.judge)
        against.addWidget(self._against)
        against.addWidget(self.judge, 1)
        self._bound = PlainLabel("Bound to their cards", "strong", wrap=True)
        column = vertical(
            PlainLabel("Check a card", "subtitle"),
            PlainLabel(ABOUT, "hint", wrap=True),
            choosing,
            self.file,
            against,
            on=self,
            spacing=8,
        )
        for widget in (self.verdict, self.table, self.todo, self.remarks, self.define):
            column.addWidget(widget)
        column.addStretch(1)
        column.addWidget(self._bound)
        column.addWidget(self.bound)
        column.addWidget(self.release, 0, Qt.AlignmentFlag.AlignLeft)
        theme.watch(self, self._dress)
        self._dress()

    def _dress(self) -> None:
        theme.scale(self.bound.setMaximumHeight, 84)
        theme.scale(self.table.setMaximumHeight, 190)

    def _listen(self) -> None:
        self.choose.clicked.connect(self.choose_file)
        self.look.clicked.connect(self._read)
        self.judge.currentIndexChanged.connect(lambda _: self._hold())
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._tell_todo())
        self.define.wanted.connect(self._define)
        self.release.clicked.connect(self._release)

    def fill(self) -> None:
        """Hold the card up again: a judge may be another since."""
        names = [one.name for one in self._desk.ask(judges.all_of) or ()]
        offer(self.judge, [(MOST_LIKE, ""), *((name, name) for name in names)])
        self._fill_bound()
        self._hold()

    def choose_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "A card", "", FILES)
        if name:
            self.look_at(Path(name))

    def look_at(self, path: Path) -> None:
        self._path = path
        self.judge.setCurrentIndex(0)
        self._hold()

    def bind(self) -> None:
        """Let the judge run only as the card says, from now on."""
        check = self.found.check
        if check is None or not check.holds:
            return
        if self._desk.do(card_checks.bind, check.card, check.judge) is not None:
            self.told.emit(
                f"\u2068{check.judge}\u2069 is bound to its card.",
                "A run by another model, prompt or setting is refused before a call is made.",
            )
            self._fill_bound()

    def stop(self) -> None:
        self.stopped = True

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if _cards(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        self.look_at(_cards(event)[0])

    def _hold(self) -> None:
        if self._path is None:
            return
        self._asked += 1
        asked = self._asked

        def show(found: CheckedCard) -> None:
            if asked == self._asked and not self.stopped:
                self.found = found
                self._show()

        self._desk.ask_later(show, read, self._path, str(self.judge.currentData() or ""))

    def _show(self) -> None:
        found, card = self.found, self.found.card
        check = found.check
        self.file.setText(_about(card, self._path) if card else self._path.name if self._path else "")
        self.file.setVisible(self._path is not None)
        self.look.setVisible(card is not None)
        for widget in (self._against, self.judge):
            widget.setVisible(card is not None)
        words = check.words() if check else []
        self.verdict.setText(words[0] if words else str(found.refusal or ""))
        self.verdict.setVisible(bool(self.verdict.text()))
        self.model.show(check.differences if check else ())
        self.table.setVisible(self.model.rowCount() > 0)
        if self.model.rowCount():
            self.table.selectRow(0)
        self._tell_todo()
        self.remarks.setText("\n".join(check.remarks) if check else "")
        self.remarks.setVisible(bool(self.remarks.text()))
        alone = check is not None and not check.judge
        self.define.setVisible(alone)
        if check is not None and alone:
            self.define.offer(check.card)
        self.turned.emit()

    def _tell_todo(self) -> None:
        one = self.model.at(self.table.currentIndex().row())
        self.todo.setText(one.todo if one else "")
        self.todo.setVisible(one is not None and self.model.rowCount() > 0)

    def _read(self) -> None:
        if self.found.card is not None and self._path is not None:
            self.wanted.emit(self.found.card, self._path.name)

    def _define(self, name: str, address: str, variable: str) -> None:
        card = self.found.card
        if card is not None and self._desk.do(card_checks.define, card, address, name, variable) is not None:
            self.told.emit(f"\u2068{name}\u2069 is defined.", "Add its key, if needed, on the Judges page.")
            self.fill()

    def _fill_bound(self) -> None:
        names = {one.id: one.name for one in self._desk.ask(judges.all_of) or ()}
        self.bound.clear()
        for one in self._desk.ask(card_checks.bound) or ():
            entry = QListWidgetItem(
                f"\u2068{names.get(one.judge_id, one.name)}\u2069, {one.protocol}\n"
                f"card of {one.made_at:%Y-%m-%d}, {one.sha256[:8]}"
            )
            entry.setData(Qt.ItemDataRole.UserRole, one)
            self.bound.addItem(entry)
        there = self.bound.count() > 0
        for widget in (self._bound, self.bound, self.release):
            widget.setVisible(there)
        if there:
            self.bound.setCurrentRow(0)

    def _release(self) -> None:
        entry = self.bound.currentItem()
        one = entry.data(Qt.ItemDataRole.UserRole) if entry is not None else None
        if one is not None and self._desk.do(card_checks.release, one.judge_id, one.protocol) is not None:
            self._fill_bound()


class _Define(QGroupBox):
    """Fields that a card lacks for its judge: name, address, and place of the key."""

    wanted = Signal(str, str, str)

    def __init__(self) -> None:
        super().__init__("Define this judge here")
        self.about = PlainLabel("", "hint", wrap=True)
        self.name = LineField(maxLength=120)
        self.address = LineField(placeholderText="http://127.0.0.1:8000/v1", maxLength=2000)
        self.variable = LineField(placeholderText="e.g. OPENAI_API_KEY", maxLength=200)
        self.add = push_button("Define it", self._ask)
        form = QFormLayout()
        for words, field in (
            ("Name", self.name),
            ("Endpoint", self.address),
            ("Key's variable", self.variable),
        ):
            field.setAccessibleName(words)
            form.addRow(words, field)
        vertical(self.about, form, (self.add, 0, Qt.AlignmentFlag.AlignLeft), on=self)
        self.address.returnPressed.connect(self._ask)

    def offer(self, card: ValidityCard) -> None:
        """Offer to define the judge of a card."""
        self.about.setText(card_checks.to_define(card))
        if not self.name.text():
            self.name.setText(card.name)
        asks = card.judge.kind == "endpoint"
        for widget in (self.name, self.address, self.variable, self.add):
            widget.setEnabled(asks)

    def _ask(self) -> None:
        self.wanted.emit(self.name.text().strip(), self.address.text().strip(), self.variable.text().strip())


def _cards(event: QDropEvent) -> list[Path]:
    return [path for path in dropping.files(event) if path.suffix.lower() in cards.ENDINGS]


def _about(card: ValidityCard, path: Path | None) -> str:
    name = path.name if path else ""
    return f"\u2068{name}\u2069: \u2068{card.name}\u2069, made on {card.made_at:%Y-%m-%d}, hash {card.sha256[:8]}"
