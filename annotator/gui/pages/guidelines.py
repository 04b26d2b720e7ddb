"""The Guidelines page."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSettings, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from annotator.actions.authoring import settings
from annotator.actions.items import materials
from annotator.actions.judging import judge_runs
from annotator.actions.project import people, profile
from annotator.actions.studies import rubric_views
from annotator.domain.common import Change, counted
from annotator.domain.experts.assignment import Guideline, Role, Stage
from annotator.domain.kinds.artifact import HOW, State
from annotator.gui import keys, theme
from annotator.gui.pages.material.parts_view import DrawingBar
from annotator.gui.parts import go_round
from annotator.gui.review.field_chips import moment
from annotator.gui.review.sheets import CellsModel, Column
from annotator.gui.session.page import Page
from annotator.gui.session.session import Pane, ProjectSession, named, title
from annotator.gui.widgets.bars import KeyButton, wrapping
from annotator.gui.widgets.basics import (
    TABLES,
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    horizontal,
    later,
    path_button,
    push_button,
    save_file,
    vertical,
    with_properties,
)
from annotator.gui.widgets.columns import LinesTable, RowsTree, around
from annotator.gui.widgets.fields import ChoiceBox, LineField, TextBox, label_of, offer
from annotator.gui.widgets.message_bar import MessageBar
from annotator.gui.widgets.reading.find_bar import ask_to_open
from annotator.gui.widgets.reading.marked_text import marked
from annotator.gui.widgets.reading.report_view import ReportView, even_letters
from annotator.gui.widgets.splitter import BESIDE_ONE, Splitter

FILES = "Tables (*.csv);;JSON (*.json)"
OWN = "the experts' own rubrics"


class RubricsRow(Pane):
    """The choice of the set in force; only coordinators can change it; messages are shown in `answer`."""

    def __init__(self, session: ProjectSession, answer: MessageBar) -> None:
        super().__init__(session)
        self._answer = answer
        self.box = ChoiceBox(
            letters=22,
            toolTip="Reports are labelled, judged and scored by the chosen rubrics at once; scores change",
            activated=lambda _: self._use(),
        )
        self.more = with_properties(
            QPushButton("Add a set…"),
            checkable=True,
            role="quiet",
            toolTip="Have a model write a rubric set, or import one, to compare it with the experts' rubrics",
        )
        horizontal(label_of(self.box, "&Judge by:"), self.box, self.more, on=self, margins=0, spacing=6)
        self.drafting = SetDrafting(session)
        self.drafting.hide()
        self.drafting.came.connect(lambda: self.show_sets(writable=True))
        self.more.toggled.connect(self._open)

    def show_sets(self, *, writable: bool) -> None:
        sets = self.session.ask(rubric_views.named_sets) or {}
        offer(self.box, [(OWN, ""), *((f"{name} ({len(of):,})", name) for name, of in sets.items())])
        self.box.setCurrentIndex(max(0, self.box.findData(rubric_views.in_force(self.session.project))))
        self.box.setEnabled(writable)
        self.more.setVisible(writable)
        self.drafting.setVisible(writable and self.more.isChecked() and self.isVisible())

    def _open(self, shown: bool) -> None:
        if shown:
            self.drafting.fill()
        self.drafting.setVisible(shown)

    def _use(self) -> None:
        name = str(self.box.currentData())
        if name == rubric_views.in_force(self.session.project):
            return
        if self.session.do(rubric_views.use, name) is not None:
            todo = "What was said by other rubrics stays, and counts again when they are chosen again."
            words = f"“{name}”" if name else OWN
            self._answer.show_message("success", f"Reports are now judged by {words}.", todo)
        self.show_sets(writable=True)


class SetDrafting(Pane):
    """Which set a model writes, and the run that writes it; sets that people weight in a file."""

    came = Signal()
    """There is a new set, or a new version of one."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.what, self.bar = (
            ChoiceBox(self._offer, accessibleName="Rubric set to draft"),
            DrawingBar(session),
        )
        self.save, self.bring = (
            push_button(
                "Save this set…",
                self._choose_place,
                toolTip="Save the set that reports are judged by, so that people can weigh its criteria",
            ),
            path_button(
                "Import a set…",
                "A rubric set",
                self.import_file,
                TABLES,
                toolTip="A table with the columns item, criterion and weight; the file's name names the set",
            ),
        )
        self.bar.came.connect(self.came)
        files = horizontal(self.save, self.bring, StretchSpace(1), spacing=6)
        vertical(self.what, self.bar, files, self.bar.answer, on=self, margins=0, spacing=4)

    def fill(self) -> None:
        self._offers = [one for one in self.session.ask(judge_runs.drawings) or [] if one.rubric_set]
        offer(self.what, [(one.title, one.name) for one in self._offers])
        self._offer()

    def _offer(self) -> None:
        name = self.what.currentData()
        self.bar.offer(next((offer for offer in self._offers if offer.name == name), None), None)

    def _choose_place(self) -> None:
        name = rubric_views.in_force(self.session.project) or rubric_views.OWN
        save_file(
            self, "Save a rubric set", f"{name} weighed.csv", FILES, lambda path: self.write_file(name, path)
        )

    def write_file(self, name: str, path: Path) -> None:
        if (many := self.session.ask(rubric_views.write_set, name, path)) is not None:
            words = f"Saved {counted(many, 'criterion', 'criteria')} of “{name}” to {path.name}."
            self.bar.answer.show_message("success", words)

    def import_file(self, path: Path) -> None:
        change = self.session.do(rubric_views.keep_file, path.stem.replace(":", " "), path)
        if change is not None:
            self.came.emit()
            words = f"Kept “{change.after['name']}”: {counted(change.after['items'], 'item')}."
            self.bar.answer.show_message("success", words, "Choose it above to judge by it.")


VIEWS = ("Write", "Preview", "What changes")
WRITE, PREVIEW, CHANGES = range(3)
PAUSE_MS = 500
HINT = (
    "Markdown. A heading named after a field, such as “## text” or “## note”, is shown beside that field "
    "while it is edited."
)


class GuidelineEditor(Pane):
    """The editor of a guideline's next version, stored on this computer until published; nobody else sees it before."""

    edited = Signal()

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._stage, self._in_force = Stage.RUBRIC, ""
        self.edit, self.look = TextBox(), with_properties(ReportView(), accessibleName="Preview")
        with_properties(
            self.edit, accessibleName="The next version", tabChangesFocus=True, font=even_letters()
        )
        self._pause = later(self, self.keep, PAUSE_MS)
        self.edit.textChanged.connect(self._typed)
        self.body = Stack(self.edit, self.look)
        self.discard = push_button("Discard the draft", self._discard, "quiet")
        vertical(
            self._head(),
            (self.body, 1),
            PlainLabel(HINT, "hint", wrap=True),
            on=self,
            margins=(6, 0, 0, 0),
            spacing=6,
        )
        theme.watch(self, self._restyle)

    def _head(self) -> QHBoxLayout:
        self._group = QButtonGroup(self)
        row = horizontal(PlainLabel("Next version", "strong"), 10, spacing=0)
        for place, words in enumerate(VIEWS):
            button = with_properties(QToolButton(), text=words)
            keys.tell(button, "toolTip", f"{words} ({{preview}} shows the next)")
            with_properties(button, checkable=True, role="segment", position=("first", "", "last")[place])
            self._group.addButton(button, place)
            row.addWidget(button)
        self._group.button(WRITE).setChecked(True)
        self._group.idClicked.connect(self.show_view)
        row.addStretch(1)
        row.addWidget(self.discard)
        return row

    def show_stage(self, stage: Stage, in_force: str) -> None:
        self.keep()
        self._stage, self._in_force = stage, in_force
        self._put(str(QSettings().value(self._key(), in_force)))
        self.show_view(WRITE)

    def take_up(self, text: str) -> None:
        self._put(text)
        self.keep()
        self.show_view(WRITE)
        self.edit.setFocus()

    def text(self) -> str:
        return self.edit.toPlainText()

    def changed(self) -> bool:
        return self.text() != self._in_force

    def keep(self) -> None:
        self._pause.stop()
        if self.changed() and self.text():
            QSettings().setValue(self._key(), self.text())
        else:
            QSettings().remove(self._key())

    def published(self, text: str) -> None:
        self._in_force = text
        self.keep()
        self.edited.emit()

    def turn(self) -> None:
        self.show_view((self._group.checkedId() + 1) % len(VIEWS))

    def show_view(self, view: int) -> None:
        self._group.button(view).setChecked(True)
        self.body.setCurrentWidget(self.edit if view == WRITE else self.look)
        if view == PREVIEW:
            _show_words(self.session, self.look, self.text())
        elif view == CHANGES:
            both = marked(self._in_force, self.text()).replace("\n", "<br>")
            self.look.show_html(both if self.changed() else "<i>Nothing has changed yet.</i>")

    def _put(self, text: str) -> None:
        with QSignalBlocker(self.edit):
            self.edit.setPlainText(text)
        self._tell()

    def _typed(self) -> None:
        self._pause.start()
        self._tell()

    def _tell(self) -> None:
        self.discard.setVisible(self.changed())
        self.edited.emit()

    def _discard(self) -> None:
        """Return to the version in force; the editor's own undo brings the draft back."""
        cursor = self.edit.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(self._in_force)
        self.show_view(WRITE)
        self.edit.setFocus()

    def _restyle(self) -> None:
        self.edit.setFont(even_letters())
        if self._group.checkedId() == CHANGES:
            self.show_view(CHANGES)

    def _key(self) -> str:
        return f"guidelines/{self.session.project.get('id', '')}/{self._stage.value}"


LOOKS = {State.DRAFT: ("clock", "state-incomplete"), State.SEALED: ("lock", "state-unconfirmed")}
_, WHOSE, _, THEN, NOW = range(5)

# People: coordinators who sharpen a rule in the middle of the work, and must know whose answers are older than it.
STAMPED = "Existing answers keep the version they were given under."


class GuidelinesPage(Page):
    """The Guidelines page: stages on the left; current version beside the next one; older answers below."""

    NAME = "Guidelines"
    HEARS = ("guideline", "setting", "artifact", "item", "import", "person", "parcel", "tray")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.stage = Stage.RUBRIC
        self._stages: Sequence[Stage] = ()
        self._stale: list[settings.StaleAnswer] = []
        self.stages = RowsTree(
            "Stages",
            ("Stage", "Version", "Older"),
            (100, 66, 52),
            0,
            moved=self._choose,
        )
        self.writing, self.answer = GuidelineEditor(session), MessageBar()
        self.reading = VersionsView(session, self.writing.take_up)
        self.older = CellsModel[settings.StaleAnswer](columns({}), self)
        self.table = LinesTable(
            "Answers given under an older version",
            self.older,
            self.older.widths,
            stretched=WHOSE,
            opened=lambda index: self._go(index.row()),
        )
        self.weights, self.rubrics = WeightsRow(session, self.answer), RubricsRow(session, self.answer)
        self.publish = KeyButton("Publish", act="submit", role="primary", press=self._publish)
        self.writing.edited.connect(self._offer)
        self._lay_out()
        self.bind_all(
            {
                "submit": self._publish,
                "preview": self._turn,
                "next_item": lambda: self._step(1),
                "previous_item": lambda: self._step(-1),
                "next_open": self._next_stale,
                "other_pane": self._other_pane,
            }
        )
        self.focus_on = self.stages

    def _lay_out(self) -> None:
        self.texts = Splitter("guidelines/texts", parts=(self.reading, self.writing), sizes=(400, 440))
        parts = Splitter(
            "guidelines/answers",
            Qt.Orientation.Vertical,
            parts=(self.texts, self._answers()),
            sizes=(470, 150),
            stretch=(1,),
        )
        self.note = PlainLabel("", "hint", wrap=True)
        foot = horizontal((self.note, 1), self.publish)
        right = column_of((parts, 1), foot, margins=(6, 0, 0, 0), spacing=4)
        self.answer.float_over(parts)
        whole = Splitter("guidelines/whole", parts=(self.stages, right), sizes=(250, 860), stretch=(0, 1))
        whole.grow(self.stages, 250, BESIDE_ONE)
        head = wrapping(PlainLabel("Guidelines", "title"), self.rubrics, self.weights, gap=18)
        vertical(head, self.rubrics.drafting, (whole, 1), on=self, margins=(20, 14, 20, 10), spacing=6)

    def _answers(self) -> QWidget:
        self.about_older = PlainLabel("", "strong")
        self.up_to_date = PlainLabel("All answers were given under the current version.", "hint")
        self.list_or_not = Stack(self.table, self.up_to_date)
        part = column_of(self.about_older, (self.list_or_not, 1), margins=(0, 4, 0, 0), spacing=4)
        self.up_to_date.setAlignment(Qt.AlignmentFlag.AlignTop)
        return part

    @property
    def _writable(self) -> bool:
        person = self.session.project.person
        return person is not None and person.has(Role.COORDINATOR) and not self.session.project.readonly

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current state; `stage` selects a stage."""
        self.stage = Stage(place["stage"]) if place.get("stage") else self.stage
        self._fill()
        self._show_stage()

    def leave(self) -> None:
        self.writing.keep()

    def on_change(self, change: Change) -> None:
        self._fill()
        if change.kind in ("guideline", "setting"):
            self._show_stage()

    def _fill(self) -> None:
        self._stale = self.session.ask(settings.stale) or []
        self._stages = self.session.ask(profile.stages) or [Stage.RUBRIC]
        self.stage = self.stage if self.stage in self._stages else self._stages[0]
        older = Counter(answer.stage for answer in self._stale)
        newest = {stage: self.session.ask(settings.current, stage) for stage in self._stages}
        lines = [
            (title(stage), str(written.version if written else settings.SHIPPED), str(older[stage] or ""))
            for stage, written in newest.items()
        ]
        self.stages.show_lines(lines, self._stages.index(self.stage))
        self._show_older()

    def _choose(self) -> None:
        stage = self.stages.line_of(self._stages)
        if stage is not None and stage is not self.stage:
            self.stage = stage
            self.answer.clear()
            self._show_stage()
            self._show_older()

    def _show_stage(self) -> None:
        written = self.session.ask(settings.versions, self.stage) or []
        self.reading.show_stage(self.stage, written, writable=self._writable)
        self.writing.setVisible(self._writable)
        if self._writable:
            self.writing.show_stage(self.stage, self.session.ask(settings.text_in_force, self.stage) or "")
        for row in (self.weights, self.rubrics):
            row.setVisible(self.stage is Stage.RUBRIC)
        self.rubrics.show_sets(writable=self._writable and not self.session.project.from_task)
        self.weights.show_allowed(writable=self._writable and not self.session.project.from_task)
        self.publish.setVisible(self._writable)
        self._offer()

    def _offer(self) -> None:
        self.publish.set_words(f"Publish as version {self.reading.next_version}")
        draft = (
            "The draft is kept on this computer until you publish or discard it. "
            if self.writing.changed()
            else ""
        )
        self.note.setText(
            f"{draft}{STAMPED}" if self._writable else "Only a coordinator can publish another version."
        )

    def _show_older(self) -> None:
        names = {
            person.id: named(person.alias, person.name) for person in self.session.ask(people.people) or []
        }
        result = [answer for answer in self._stale if answer.stage is self.stage]
        self.older.show(result, columns(names))
        self.about_older.setText(
            f"{counted(len(result), 'answer')} given under an older version" if result else "Answers"
        )
        self.list_or_not.setCurrentIndex(0 if result else 1)
        if result:
            self.table.selectRow(0)

    def _publish(self) -> None:
        if not self._writable:
            return
        text, version = self.writing.text(), self.reading.next_version
        if self.session.do(settings.write, self.stage, text) is None:
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

    def _turn(self) -> None:
        if self._writable:
            self.writing.turn()

    def _step(self, by: int) -> None:
        self.stages.choose((self._stages.index(self.stage) + by) % len(self._stages))

    def _next_stale(self) -> None:
        """Go to the next answer given under older versions, in the following stages if there is none left here."""
        row = self.table.currentIndex().row() + 1
        if self.table.hasFocus() and row < self.older.rowCount():
            self.table.selectRow(row)
            return
        places = around(self._stages.index(self.stage), len(self._stages))
        stages = {answer.stage for answer in self._stale}
        goal = next((place for place in places if self._stages[place] in stages), None)
        if not self.table.hasFocus() and self.older.rowCount():
            self.table.setFocus()
        elif goal is not None:
            self.stages.choose(goal)
            self.table.setFocus()
        else:
            self.answer.show_message("success", "All answers were given under the current version.")

    def _go(self, row: int) -> None:
        if (answer := self.older.at(row)) is not None:
            self.session.go_to_work(answer.item_id, answer.stage)

    def _other_pane(self) -> None:
        """Cycle the focus: stages, text, answers."""
        words = self.writing.edit if self._writable else self.reading.text
        panes = [(self.stages, self.stages.setFocus), (self.texts, words.setFocus)]
        go_round([*panes, *([(self.table, self.table.setFocus)] if self.older.rowCount() else [])])


def columns(names: Mapping[str, str]) -> Sequence[Column[settings.StaleAnswer]]:
    """The columns for answers; `names` are the people's names by id."""
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


def _version(answer: settings.StaleAnswer, text: str, form: str) -> str:
    return f"version {text}, form {form}" if answer.form_then != answer.form_now else f"version {text}"


class WeightsRow(Pane):
    """A line for the allowed weights; only coordinators can change it; messages are shown in `answer`."""

    def __init__(self, session: ProjectSession, answer: MessageBar) -> None:
        super().__init__(session)
        self._answer = answer
        self.field, self.set = (
            LineField(
                maximumWidth=160,
                toolTip=HOW,
                returnPressed=self._allow,
                textChanged=lambda _: self._offer(),
            ),
            push_button("Set", self._allow),
        )
        horizontal(
            label_of(self.field, "Weights of &criteria:"), self.field, self.set, on=self, margins=0, spacing=6
        )
        # A few numbers need no more space, however much there is.
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)

    def show_allowed(self, *, writable: bool) -> None:
        self.field.setText(settings.allowed(self.session.project).text)
        self.field.setReadOnly(not writable)
        self.set.setVisible(writable)
        self._offer()

    def _offer(self) -> None:
        self.set.setEnabled(self.field.text().strip() != settings.allowed(self.session.project).text)

    def _allow(self) -> None:
        may = self.set.isEnabled() and not self.field.isReadOnly()
        if may and self.session.do(settings.allow, self.field.text()) is not None:
            self.show_allowed(writable=True)
            todo = "Rubrics are written and checked by them from now on."
            self._answer.show_message(
                "success", f"Criteria may have these weights: {self.field.text()}.", todo
            )


class VersionsView(Pane):
    """Shows the newest version unless another is selected; `take_up` takes a version's text for further editing."""

    def __init__(self, session: ProjectSession, take_up: Callable[[str], object]) -> None:
        super().__init__(session)
        self._texts: list[str] = []
        self._writable = False
        self.next_version = 1
        """The number that a version published now would get."""
        self.title = PlainLabel("", "strong")
        self.versions = ChoiceBox(
            letters=12, accessibleName="Version to read", currentIndexChanged=self._show
        )
        self.take_up = push_button(
            "Edit from this version",
            lambda: take_up(self._texts[self.versions.currentIndex()]),
            "quiet",
        )
        self.text = with_properties(ReportView(), accessibleName="Guideline")
        self.text.link_clicked.connect(lambda url: ask_to_open(self, url))
        vertical(
            horizontal(self.title, (self.versions, 1), self.take_up, spacing=8),
            (self.text, 1),
            on=self,
            margins=(0, 0, 6, 0),
            spacing=6,
        )

    def show_stage(self, stage: Stage, written: Sequence[Guideline], *, writable: bool) -> None:
        names = {person.id: person.name for person in self.session.ask(people.people) or []}
        shipped = settings.shipped(stage)
        self._texts = [*(each.text for each in reversed(written)), shipped]
        self._writable = writable
        self.next_version = (written[-1].version if written else settings.SHIPPED) + 1
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
        _show_words(self.session, self.text, self._texts[place])


def _show_words(session: ProjectSession, view: ReportView, words: str) -> None:
    """Show Markdown, or plain text if it cannot be rendered safely."""
    rendered = session.ask(materials.html, words)
    if rendered is not None and rendered.plain:
        view.show_plain(words)
    elif rendered is not None:
        view.show_html(rendered.html)
