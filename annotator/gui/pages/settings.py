"""Settings: what the project uses, what its releases say of it, and how the window looks."""

from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QRadioButton, QWidget

from annotator.actions.project import people, profile
from annotator.actions.releases import releases
from annotator.domain.experts.assignment import Role
from annotator.domain.experts.publication import LICENCES, NEEDED, PROPOSED, QUESTIONS, ReleaseMetadata
from annotator.domain.texts.canonical import Change
from annotator.domain.texts.words import counted
from annotator.gui import theme
from annotator.gui.forms.profile_form import ProfileForm
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    later,
    push_button,
    vertical,
)
from annotator.gui.widgets.fields import ChoiceBox, GrowingEdit, choose, label_of, offer
from annotator.gui.widgets.message_bar import MessageBar

# So many lines of a field are seen before it scrolls.
LINES = 8
# So much is seen above the field that is to be answered.
ABOVE = 160
NO_LICENCE = "Not chosen"
SCHEMES: tuple[tuple[theme.Choice, str], ...] = (
    ("system", "Match system"),
    ("light", "Light"),
    ("dark", "Dark"),
)


class MetadataForm(QWidget):
    """A field for each question of ReleaseMetadata, with what is proposed below it; the proposals are used at once."""

    answered = Signal(object)
    """Questions, by their names, have other answers than before."""

    def __init__(self) -> None:
        super().__init__()
        self.fields: dict[str, GrowingEdit | ChoiceBox] = {}
        self.offers: dict[str, QPushButton] = {}
        self._proposals: dict[str, str] = {}
        self._labels: dict[str, PlainLabel] = {}
        self._answers = ReleaseMetadata()
        self.use_all = push_button("Use all proposals", self._use_all)
        others = (name for name in ReleaseMetadata.model_fields if name not in NEEDED)
        proposed = horizontal(
            PlainLabel("Proposed from the project", "subtitle"), StretchSpace(1), self.use_all
        )
        about = PlainLabel(
            "What is only proposed is not released: use it, or write something else.", "hint", wrap=True
        )
        vertical(
            *map(self._row, QUESTIONS), proposed, about, *map(self._row, PROPOSED),
            PlainLabel("Optional", "subtitle"), *map(self._row, others),
            on=self, margins=0, spacing=14,
        )  # fmt: skip

    def _row(self, name: str) -> QWidget:
        field = ReleaseMetadata.model_fields[name]
        made = self.fields[name] = ChoiceBox() if name == "licence" else GrowingEdit(most=LINES)
        made.setAccessibleName(str(field.title))
        if isinstance(made, GrowingEdit):
            made.rested.connect(partial(self._leave, name))
        else:
            made.activated.connect(partial(self._leave, name))
        title = label_of(made, str(field.title))
        proposal = self._labels[name] = PlainLabel("", "hint", wrap=True)
        use = self.offers[name] = push_button("Use it", partial(self._use, name), "quiet")
        use.setAccessibleName(f"Use what is proposed: {field.title}")
        self.show_proposals({})
        return column_of(
            title,
            PlainLabel(str(field.description), "hint", wrap=True),
            made,
            horizontal(use, (proposal, 1)),
            spacing=4,
        )

    def show_answers(self, answers: ReleaseMetadata) -> None:
        """Show the answers; what is being typed stays."""
        before, self._answers = self._answers, answers
        for name, field in self.fields.items():
            words = answers.text(name)
            if isinstance(field, ChoiceBox):
                known = {"": NO_LICENCE} | {licence: licence for licence in (*LICENCES, words) if licence}
                offer(field, [(title, value) for value, title in known.items()])
                choose(field, words)
            elif field.toPlainText() in (before.text(name), ""):
                field.setPlainText(words)

    def show_proposals(self, proposals: dict[str, str]) -> None:
        """Show what is proposed below its question; a field holds nothing of it before it is used."""
        self._proposals = proposals
        for name, label in self._labels.items():
            label.show_words(f"Proposed: {proposals[name]}" if name in proposals else "")
            self.offers[name].setVisible(name in proposals)
        self.use_all.setText(f"Use all {len(proposals)} proposals")
        self.use_all.setVisible(len(proposals) > 0)

    def leave(self) -> None:
        for name in self.fields:
            self._leave(name)

    @property
    def first_open(self) -> QWidget:
        """The field of the first question that has no answer."""
        unanswered = (name for name in NEEDED if not getattr(self._answers, name))
        return self.fields[next(unanswered, NEEDED[0])]

    def _leave(self, name: str, *_: object) -> None:
        field = self.fields[name]
        words = str(field.currentData()) if isinstance(field, ChoiceBox) else field.toPlainText().strip()
        if words != self._answers.text(name):
            self.answered.emit({name: words})

    def _use(self, name: str) -> None:
        self.answered.emit({name: self._proposals[name]})

    def _use_all(self) -> None:
        # Not every platform takes the focus, and with it the answer, from a field when a button is clicked.
        proposals = self._proposals
        self.leave()
        self.answered.emit(
            {name: words for name, words in proposals.items() if not getattr(self._answers, name)}
        )


class ProjectPage(Page):
    """People: a coordinator who meets a document this benchmark did not use, or wants less to look at."""

    NAME = "Project"
    ICON = "settings"
    HEARS = ("setting", "import", "person")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.answer = MessageBar()
        self.form = ProfileForm()
        self.apply = push_button("Use these", self._apply, "primary")
        self.reset = push_button("Reset the sample…", self._ask_to_reset)
        about = PlainLabel(
            "Everything else stays out of sight. What the project holds already stays in use.",
            "hint",
            wrap=True,
        )
        foot = horizontal(self.reset, StretchSpace(1), self.apply)
        self.metadata, self._questions = MetadataForm(), False
        self.metadata.answered.connect(self._answer)
        self.open_questions = PlainLabel("", "hint", wrap=True)
        body = column_of(
            PlainLabel("What this benchmark uses", "subtitle"), about, self.form, foot,
            PlainLabel("What its releases say of it", "subtitle"), self.open_questions, self.metadata, StretchSpace(1),
            margins=(20, 16, 20, 12), spacing=12,
        )  # fmt: skip
        self._area = PlainArea("Settings of the project", body)
        vertical(self._area, on=self, margins=0)
        self.answer.float_over(self._area, below=False)
        self.bind("submit", self._apply)

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the settings as they are; with the part “questions” the keyboard goes to what is to be answered."""
        self._questions = place.get("part") == "questions"
        if (used := self.session.ask(profile.profile)) is not None:
            self.form.show_profile(used)
        project = self.session.project
        allowed = people.someone(project).has(Role.COORDINATOR) and not (
            project.readonly or project.from_task
        )
        for part in (self.form, self.apply, self.metadata):
            part.setEnabled(allowed)
        self._show_answers()
        self.reset.setVisible(project.is_sample and not project.readonly)

    def focus_first(self) -> None:
        if self.form.isEnabled() and self._questions:
            self.metadata.first_open.setFocus()
            later(self, lambda: self._area.ensureWidgetVisible(self.metadata.first_open, 0, ABOVE), 0).start()
        elif self.form.isEnabled():
            self.form.focus_first()
        else:
            super().focus_first()

    def on_change(self, change: Change) -> None:
        if change.kind != "import":
            self.navigate({})

    def leave(self) -> None:
        self.metadata.leave()

    def _show_answers(self) -> None:
        if (answers := self.session.ask(releases.metadata)) is not None:
            self.metadata.show_answers(answers)
        self.session.ask_newest(self.metadata.show_proposals, releases.proposals)
        unanswered = self.session.ask(releases.open_questions) or []
        words = f"{counted(len(unanswered), 'question')} to answer." if unanswered else "All is answered."
        self.open_questions.setText(f"{words} Each answer is saved when you leave its field.")

    def _answer(self, values: dict[str, str]) -> None:
        self.session.do(releases.describe, values)
        self._show_answers()

    def _apply(self) -> None:
        if self.apply.isEnabled() and self.session.do(profile.choose, self.form.text) is not None:
            self.answer.show_message("success", "Set what this project uses.", "Undo takes it back.")

    def _ask_to_reset(self) -> None:
        todo = "The sample is restored to its original state. Your version is kept in a file beside it."
        self.answer.show_message("warning", "Reset the sample?", todo)
        self.answer.set_action("Reset the sample", self.session.reset_wanted.emit)


class DisplayPage(Page):
    """Colours; sizes have their keys."""

    NAME = "Display"
    ICON = "eye"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._group = QButtonGroup(self)
        self.schemes: dict[theme.Choice, QRadioButton] = {}
        for choice, words in SCHEMES:
            button = self.schemes[choice] = QRadioButton(words)
            button.setChecked(theme.current().choice == choice)
            button.clicked.connect(lambda _, choice=choice: theme.choose(choice))
            self._group.addButton(button)
        body = column_of(
            PlainLabel("Colours", "subtitle"),
            *self.schemes.values(),
            PlainLabel("Larger and smaller letters: View menu, or Ctrl with + and −.", "hint", wrap=True),
            StretchSpace(1), margins=(20, 16, 20, 12), spacing=8,
        )  # fmt: skip
        vertical(PlainArea("Display", body), on=self, margins=0)

    def focus_first(self) -> None:
        next(button for button in self.schemes.values() if button.isChecked()).setFocus()
