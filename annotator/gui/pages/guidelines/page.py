"""The Guidelines page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QWidget

from annotator.actions.authoring import criterion_weights, guidelines
from annotator.actions.authoring.guidelines import StaleAnswer
from annotator.actions.items import renderings
from annotator.actions.project import people
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.guideline import Guideline
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import State
from annotator.domain.kinds.weights import HOW
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.naming import named, title
from annotator.gui.desk.page import Page
from annotator.gui.pages.guidelines.rubrics_row import RubricsRow
from annotator.gui.pages.guidelines.writing import GuidelineEditor
from annotator.gui.review.moments import moment
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.bars.splitter import BESIDE_ONE, Splitter
from annotator.gui.widgets.basics import PlainLabel, column_of, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.lists.lines_table import LinesTable
from annotator.gui.widgets.lists.rows_tree import RowsTree, line
from annotator.gui.widgets.reading.link_question import ask_to_open
from annotator.gui.widgets.reading.report_view import ReportView

NO_LONGER_THAN = 160

LOOKS = {State.DRAFT: ("clock", "state-incomplete"), State.SEALED: ("lock", "state-unconfirmed")}
_, WHOSE, _, THEN, NOW = range(5)

# People: coordinators who sharpen a rule in the middle of the work, and must know whose answers are older than it.
STAGES = tuple(stage for stage in Stage if stage is not Stage.ADJUDICATION)
STAMPED = "Existing answers keep the version they were given under."


class GuidelinesPage(Page):
    """Stages on the left; current version beside the next one; older answers below."""

    NAME = "Guidelines"
    ICON = "note"
    HEARS = ("guideline", "setting", "artifact", "item", "import", "person", "parcel", "tray")

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.stage = Stage.RUBRIC
        self._stale: list[StaleAnswer] = []
        self.stages = RowsTree("Stages", ("Stage", "Version", "Older"), (100, 66, 52), 0)
        self.stages.currentItemChanged.connect(lambda *_: self._choose(self.stages.row()))
        self.reading, self.writing, self.answer = VersionsView(desk), GuidelineEditor(desk), MessageBar()
        self.older = CellsModel[StaleAnswer](columns({}), self)
        self.table = LinesTable(
            "Answers given under an older version", self.older, self.older.widths, stretched=WHOSE
        )
        self.table.activated.connect(lambda index: self._go(index.row()))
        self.weights = WeightsRow(desk)
        self.weights.allowed.connect(self._say_allowed)
        self.rubrics = RubricsRow(desk)
        self.rubrics.chosen.connect(self._say_chosen)
        self.publish = KeyButton("Publish", role="primary")
        self.publish.clicked.connect(self._publish)
        self.reading.taken_up.connect(self.writing.take_up)
        self.writing.edited.connect(self._offer)
        self._lay_out()
        self._bind()

    def _lay_out(self) -> None:
        self.texts = Splitter("guidelines/texts", parts=(self.reading, self.writing), sizes=(400, 440))
        parts = Splitter(
            "guidelines/answers",
            Qt.Orientation.Vertical,
            parts=(self.texts, self._answers()),
            sizes=(470, 150),
            stretch=(1,),
        )
        right = QWidget()
        inside = vertical((parts, 1), on=right, margins=(6, 0, 0, 0), spacing=4)
        self.answer.float_over(parts)
        inside.addLayout(self._foot())
        whole = Splitter("guidelines/whole", parts=(self.stages, right), sizes=(250, 860), stretch=(0, 1))
        whole.grow(self.stages, 250, BESIDE_ONE)
        head = wrapping(PlainLabel("Guidelines", "title"), self.rubrics, self.weights, gap=18)
        vertical(head, self.rubrics.drafting, (whole, 1), on=self, margins=(20, 14, 20, 10), spacing=6)

    def _answers(self) -> QWidget:
        self.about_older = PlainLabel("", "strong")
        self.up_to_date = PlainLabel("All answers were given under the current version.", "hint")
        self.list_or_not = stacked(self.table, self.up_to_date)
        part = column_of(self.about_older, (self.list_or_not, 1), margins=(0, 4, 0, 0), spacing=4)
        self.up_to_date.setAlignment(Qt.AlignmentFlag.AlignTop)
        return part

    def _foot(self) -> QHBoxLayout:
        self.said = PlainLabel("", "hint", wrap=True)
        return horizontal((self.said, 1), self.publish)

    def _bind(self) -> None:
        self.bind("submit", self._publish)
        self.bind("preview", self._turn)
        self.bind("next_item", lambda: self._step(1))
        self.bind("previous_item", lambda: self._step(-1))
        self.bind("next_open", self._next_stale)
        self.bind("other_pane", self._other_pane)

    @property
    def _writable(self) -> bool:
        person = self.desk.project.person
        return person is not None and person.has(Role.COORDINATOR) and not self.desk.project.readonly

    def arrive(self, place: dict[str, Any]) -> None:
        """Show everything as it now is; `stage` says which stage."""
        self.stage = Stage(place["stage"]) if place.get("stage") else self.stage
        if self.stage not in STAGES:
            self.stage = Stage.RUBRIC
        self._fill()
        self._show_stage()

    def leave(self) -> None:
        self.writing.keep()

    def focus_first(self) -> None:
        self.stages.setFocus()

    def on_change(self, change: Change) -> None:
        self._fill()
        if change.kind in ("guideline", "setting"):
            self._show_stage()

    def rebind(self) -> None:
        """Take over keys that were changed, also on the buttons."""
        super().rebind()
        self.publish.set_key(keys.shown("submit"))
        self.writing.rebind()

    def _fill(self) -> None:
        self._stale = self.desk.ask(guidelines.stale) or []
        older = Counter(answer.stage for answer in self._stale)
        with QSignalBlocker(self.stages):
            self.stages.clear()
            for stage in STAGES:
                newest = self.desk.ask(guidelines.current, stage)
                version = newest.version if newest else guidelines.SHIPPED
                self.stages.addTopLevelItem(line((title(stage), str(version), str(older[stage] or ""))))
            self.stages.choose(STAGES.index(self.stage))
        self._show_older()

    def _choose(self, row: int) -> None:
        if 0 <= row < len(STAGES) and STAGES[row] is not self.stage:
            self.stage = STAGES[row]
            self.answer.clear()
            self._show_stage()
            self._show_older()

    def _show_stage(self) -> None:
        written = self.desk.ask(guidelines.versions, self.stage) or []
        self.reading.show_stage(self.stage, written, writable=self._writable)
        self.writing.setVisible(self._writable)
        if self._writable:
            self.writing.show_stage(self.stage, self.desk.ask(guidelines.text_in_force, self.stage) or "")
        for row in (self.weights, self.rubrics):
            row.setVisible(self.stage is Stage.RUBRIC)
        self.rubrics.show_sets(writable=self._writable and not self.desk.project.from_task)
        self.weights.show_allowed(writable=self._writable and not self.desk.project.from_task)
        self.publish.setVisible(self._writable)
        self.publish.set_key(keys.shown("submit"))
        self._offer()

    def _offer(self) -> None:
        self.publish.set_words(f"Publish as version {self.reading.next_version}")
        draft = (
            "The draft is kept on this computer until you publish or discard it. "
            if self.writing.changed()
            else ""
        )
        self.said.setText(
            f"{draft}{STAMPED}" if self._writable else "Only a coordinator can publish another version."
        )

    def _show_older(self) -> None:
        names = {person.id: named(person.alias, person.name) for person in self.desk.ask(people.people) or []}
        found = [answer for answer in self._stale if answer.stage is self.stage]
        self.older.show(found, columns(names))
        self.about_older.setText(
            f"{counted(len(found), 'answer')} given under an older version" if found else "Answers"
        )
        self.list_or_not.setCurrentIndex(0 if found else 1)
        if found:
            self.table.selectRow(0)

    def _publish(self) -> None:
        if not self._writable:
            return
        text, version = self.writing.text(), self.reading.next_version
        if self.desk.do(guidelines.write, self.stage, text) is None:
            return
        self.writing.published(text)
        older = self.older.rowCount()
        todo = (
            f"{counted(older, 'answer')} given under older versions {'is' if older == 1 else 'are'} listed "
            "below."
            if older
            else ""
        )
        self.answer.show_message(
            "success", f"Version {version} of “{title(self.stage)}” is in force.", f"{STAMPED} {todo}".strip()
        )

    def _say_allowed(self, words: str) -> None:
        todo = "Rubrics are written and checked by them from now on."
        self.answer.show_message("success", f"Criteria may have these weights: {words}.", todo)

    def _say_chosen(self, words: str) -> None:
        todo = "What was said by other rubrics stays, and counts again when they are chosen again."
        self.answer.show_message("success", f"Reports are now judged by {words}.", todo)

    def _turn(self) -> None:
        if self._writable:
            self.writing.turn()

    def _step(self, by: int) -> None:
        self.stages.choose((STAGES.index(self.stage) + by) % len(STAGES))

    def _next_stale(self) -> None:
        """The next answer given under older versions, in the following stages when there is none left here."""
        row = self.table.currentIndex().row() + 1
        if self.table.hasFocus() and row < self.older.rowCount():
            self.table.selectRow(row)
            return
        places = [*range(STAGES.index(self.stage) + 1, len(STAGES)), *range(STAGES.index(self.stage) + 1)]
        stages = {answer.stage for answer in self._stale}
        goal = next((place for place in places if STAGES[place] in stages), None)
        if not self.table.hasFocus() and self.older.rowCount():
            self.table.setFocus()
        elif goal is not None:
            self.stages.choose(goal)
            self.table.setFocus()
        else:
            self.answer.show_message("success", "All answers were given under the current version.")

    def _go(self, row: int) -> None:
        answer = self.older.at(row)
        if answer is None:
            return
        if answer.stage is Stage.LABELLING:
            self.desk.go("Label", item_id=answer.item_id)
        else:
            self.desk.go("Author", item_id=answer.item_id, kind=answer.stage.value)

    def _other_pane(self) -> None:
        """From the stages to the words, from there to the answers, and round again."""
        here = QApplication.focusWidget() or self
        if self.stages is here:
            (self.writing.edit if self._writable else self.reading.text).setFocus()
        elif self.texts.isAncestorOf(here) and self.older.rowCount():
            self.table.setFocus()
        else:
            self.stages.setFocus()


def columns(names: Mapping[str, str]) -> Sequence[Column[StaleAnswer]]:
    """What is shown of each answer; `names` by the id of the person."""
    return (
        Column("Item", lambda answer: answer.item_key, 90),
        Column("Whose", lambda answer: names.get(answer.person_id, ""), 220),
        Column(
            "State",
            lambda answer: "submitted" if answer.state is State.SEALED else answer.state.value,
            130,
            look=lambda answer: LOOKS.get(answer.state),
        ),
        Column("Given under", lambda answer: _version(answer, answer.then, answer.form_then), 170),
        Column("Current version", lambda answer: _version(answer, answer.now, answer.form_now), 170),
    )


def _version(answer: StaleAnswer, text: str, form: str) -> str:
    return f"version {text}, form {form}" if answer.form_then != answer.form_now else f"version {text}"


class WeightsRow(QWidget):
    """A line for the allowed weights; only a coordinator can change it."""

    allowed = Signal(str)
    """The weights that are allowed from now on, in words."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.field, self.set = LineField(), QPushButton("Set")
        self.field.setMaximumWidth(NO_LONGER_THAN)
        self.field.setToolTip(HOW)
        caption = QLabel("Weights of &criteria:")
        caption.setBuddy(self.field)
        self.field.returnPressed.connect(self._allow)
        self.field.textChanged.connect(self._offer)
        self.set.clicked.connect(self._allow)
        horizontal(caption, self.field, self.set, on=self, margins=0, spacing=6)
        # A few numbers need no more room, however much there is.
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def show_allowed(self, *, writable: bool) -> None:
        self.field.setText(criterion_weights.allowed(self._desk.project).text)
        self.field.setReadOnly(not writable)
        self.set.setVisible(writable)
        self._offer()

    def _offer(self) -> None:
        now = criterion_weights.allowed(self._desk.project).text
        self.set.setEnabled(self.field.text().strip() != now)

    def _allow(self) -> None:
        if self.set.isEnabled() and not self.field.isReadOnly():
            if self._desk.do(criterion_weights.allow, self.field.text()) is None:
                return
            self.show_allowed(writable=True)
            self.allowed.emit(self.field.text())


class VersionsView(QWidget):
    """The newest version unless another is chosen."""

    taken_up = Signal(str)
    """The words of a version, to be written on from."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._texts: list[str] = []
        self._writable = False
        self.next_version = 1
        """The number that a version published now would get."""
        self.title, self.versions = PlainLabel("", "strong"), ChoiceBox()
        self.versions.setAccessibleName("Version to read")
        self.versions.keep_short(12)
        self.versions.currentIndexChanged.connect(self._show)
        self.take_up = push_button(
            "Edit from this version",
            lambda: self.taken_up.emit(self._texts[self.versions.currentIndex()]),
            "quiet",
        )
        self.text = ReportView()
        self.text.setAccessibleName("Guideline")
        self.text.link_clicked.connect(lambda url: ask_to_open(self, url))
        vertical(
            horizontal(self.title, (self.versions, 1), self.take_up, spacing=8),
            (self.text, 1),
            on=self,
            margins=(0, 0, 6, 0),
            spacing=6,
        )

    def show_stage(self, stage: Stage, written: Sequence[Guideline], *, writable: bool) -> None:
        """Show a stage's newest version, and offer those before it."""
        names = {person.id: person.name for person in self._desk.ask(people.people) or []}
        shipped = guidelines.shipped(stage)
        self._texts = [*(each.text for each in reversed(written)), shipped]
        self._writable = writable
        self.next_version = (written[-1].version if written else guidelines.SHIPPED) + 1
        with QSignalBlocker(self.versions):
            self.versions.clear()
            for each in reversed(written):
                by = f" · {names[each.by]}" if each.by in names else ""
                self.versions.addItem(f"Version {each.version} · {moment(each.at)}{by}")
            self.versions.addItem("Version 1 · as shipped" if shipped else "Version 1 · no text")
            self.versions.setCurrentIndex(0)
        self._show()

    def _show(self) -> None:
        place = self.versions.currentIndex()
        self.title.setText("In force" if place == 0 else "Was in force")
        self.take_up.setVisible(self._writable and place > 0)
        rendered = self._desk.ask(renderings.html, self._texts[place])
        if rendered is None:
            return
        if rendered.plain:
            self.text.show_plain(self._texts[place])
        else:
            self.text.show_html(rendered.html)
