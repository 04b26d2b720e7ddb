"""Settings: what the project uses, what its releases say of it, and how the window looks."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QPushButton, QRadioButton, QWidget

from annotator.actions.project import people, profile
from annotator.actions.releases import releases
from annotator.domain.common import Change, counted
from annotator.domain.experts.assignment import Role
from annotator.domain.experts.publication import LICENCES, NEEDED, PROPOSED, QUESTIONS, ReleaseMetadata
from annotator.gui import theme
from annotator.gui.forms.profile_form import ProfileForm
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import Fold
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

# A field shows at most this many lines before it scrolls.
LINES = 8
# The space shown above the field that is to be answered, in pixels.
ABOVE = 160
NO_LICENCE = "Not chosen"
# The fields for which a project can propose values.
CAN_PROPOSE = ("title", "version", "published", "languages", "citation", *PROPOSED)
# The fields of releases by part: those only people know, those with proposals, and optional ones.
PARTS: Mapping[str, Sequence[str]] = {
    "Description, licence and authors": QUESTIONS,
    "Title, version and how it was made": CAN_PROPOSE,
    "Homepage, tags and more": [
        name for name in ReleaseMetadata.model_fields if name not in (*QUESTIONS, *CAN_PROPOSE)
    ],
}
SCHEMES: tuple[tuple[theme.Choice, str], ...] = (
    ("system", "Match system"),
    ("light", "Light"),
    ("dark", "Dark"),
)


class MetadataForm(QObject):
    """A field for each question of ReleaseMetadata, in `folds`, with its proposal below it."""

    answered = Signal(object)
    """The names of questions whose answers have changed."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self.fields: dict[str, GrowingEdit | ChoiceBox] = {}
        self.offers: dict[str, QPushButton] = {}
        self._labels: dict[str, PlainLabel] = {}
        self._answers = ReleaseMetadata()
        self.use_all = push_button("Use all proposals", self._use_all)
        about = "What is only proposed is not released: use it, or write something else."
        self.proposed = column_of(horizontal((PlainLabel(about, "hint", wrap=True), 1), self.use_all))
        self.folds = [
            Fold(
                title,
                *([self.proposed] if names is CAN_PROPOSE else []),
                *map(self._row, names),
                spacing=14,
                apart=True,
            )
            for title, names in PARTS.items()
        ]
        self.show_proposals({})

    def _row(self, name: str) -> QWidget:
        field = ReleaseMetadata.model_fields[name]
        made = self.fields[name] = ChoiceBox() if name == "licence" else GrowingEdit(most=LINES)
        made.setAccessibleName(str(field.title))
        left = made.rested if isinstance(made, GrowingEdit) else made.activated
        left.connect(partial(self._leave, name))
        proposal = self._labels[name] = PlainLabel("", "hint", wrap=True)
        use = self.offers[name] = push_button(
            "Use it",
            lambda: self.answered.emit({name: self._proposals[name]}),
            "quiet",
            accessibleName=f"Use what is proposed: {field.title}",
        )
        return column_of(
            label_of(made, str(field.title)),
            PlainLabel(str(field.description), "hint", wrap=True),
            made,
            horizontal(use, (proposal, 1)),
            spacing=4,
        )

    def show_answers(self, answers: ReleaseMetadata) -> None:
        """Show the answers; text being typed stays."""
        before, self._answers = self._answers, answers
        for name, field in self.fields.items():
            words = answers.text(name)
            if isinstance(field, ChoiceBox):
                known = {"": NO_LICENCE} | {licence: licence for licence in (*LICENCES, words) if licence}
                offer(field, [(title, value) for value, title in known.items()])
                choose(field, words)
            elif field.toPlainText() in (before.text(name), ""):
                field.setPlainText(words)
        for fold, names in zip(self.folds, PARTS.values(), strict=True):
            shown = [answers.text(name) for name in ("licence", "title", "version") if name in names]
            given = sum(bool(getattr(answers, name)) for name in names)
            fold.say(" · ".join([*filter(None, shown), f"{given} of {len(names)} answered"]))

    def show_proposals(self, proposals: dict[str, str]) -> None:
        """Show each proposal below its question; it is not in the field until it is used."""
        self._proposals = proposals
        for name, label in self._labels.items():
            label.show_words(f"Proposed: {proposals[name]}" if name in proposals else "")
            self.offers[name].setVisible(name in proposals)
        self.use_all.setText(f"Use all {len(proposals)} proposals")
        self.proposed.setVisible(len(proposals) > 0)

    def leave(self) -> None:
        for name in self.fields:
            self._leave(name)

    def open_first(self) -> QWidget:
        """Open the parts with missing required answers, and focus the first such field."""
        missing = [name for name in NEEDED if not getattr(self._answers, name)] or NEEDED[:1]
        for fold, names in zip(self.folds, PARTS.values(), strict=True):
            if not set(names).isdisjoint(missing):
                fold.open()
        field = self.fields[missing[0]]
        field.setFocus()
        return field

    def _leave(self, name: str, *_: object) -> None:
        field = self.fields[name]
        words = str(field.currentData()) if isinstance(field, ChoiceBox) else field.toPlainText().strip()
        if words != self._answers.text(name):
            self.answered.emit({name: words})

    def _use_all(self) -> None:
        # Not on every platform does clicking a button take the focus, and so the answer, from a field.
        proposals = self._proposals
        self.leave()
        self.answered.emit(
            {name: words for name, words in proposals.items() if not getattr(self._answers, name)}
        )


class ProjectPage(Page):
    """The Project page: the settings, a line each, which opens the form.

    People: a coordinator who meets a document this benchmark did not use, and one before a release who fills in what is
    missing. What annoys them: forty fields to scroll through until the one they came for.
    """

    NAME = "Project"
    HEARS = ("setting", "import", "person")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.answer = MessageBar()
        self.form = ProfileForm()
        self.apply = push_button("Use these", self._apply, "primary")
        self.reset = push_button("Reset the sample…", self._ask_to_reset)
        self.uses = Fold(
            "What this benchmark uses",
            PlainLabel(
                "Everything else stays out of sight. What the project holds already stays in use.",
                "hint",
                wrap=True,
            ),
            self.form,
            horizontal(StretchSpace(1), self.apply),
            spacing=12,
            apart=True,
        )
        self.metadata, self._part = MetadataForm(self), ""
        self.metadata.answered.connect(self._answer)
        self.open_questions = PlainLabel("", "hint", wrap=True)
        lines = QGridLayout()
        lines.setColumnStretch(1, 1)
        lines.addWidget(self.open_questions, 2, 0, 1, 2)
        for row, fold in zip(range(0, 12, 3), (self.uses, *self.metadata.folds), strict=True):
            fold.button.setProperty("strong", True)
            lines.addWidget(fold.button, row, 0, Qt.AlignmentFlag.AlignLeft)
            lines.addWidget(fold.note, row, 1)
            lines.addWidget(fold, row + 1, 0, 1, 2)
        self._area = PlainArea(
            "Settings of the project",
            column_of(
                lines, horizontal(self.reset, StretchSpace(1)), StretchSpace(1),
                margins=(20, 16, 20, 12), spacing=12,
            ),
        )  # fmt: skip
        vertical(self._area, on=self, margins=0)
        self.answer.float_over(self._area, below=False)
        self.bind("submit", lambda: self.uses.press(self._apply))

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the current settings.

        The part “uses” opens what the project uses, “questions” what its releases do not say yet.
        """
        self._part = place.get("part", "")
        if (used := self.session.ask(profile.profile)) is not None:
            self.form.show_profile(used)
            titles = (choice.title for choice in profile.CHOICES if choice.name == used.text)
            self.uses.say(next(titles, "My own choice"))
        project = self.session.project
        allowed = people.someone(project).has(Role.COORDINATOR) and not (
            project.readonly or project.from_task
        )
        for fold in (self.uses, *self.metadata.folds):
            fold.body.setEnabled(allowed)
        self._show_answers()
        self.reset.setVisible(project.is_sample and not project.readonly)

    def focus_first(self) -> None:
        self.uses.button.setFocus()
        if self._part == "uses":
            self.uses.open()
            self.form.focus_first()
        elif self._part == "questions":
            field = self.metadata.open_first()
            later(self, lambda: self._area.ensureWidgetVisible(field, 0, ABOVE), 0).start()

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
        words = (
            f"{counted(len(unanswered), 'question')} to answer before a release."
            if unanswered
            else "All that a release asks is answered."
        )
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
    """The Display page: the choice of colours; sizes are changed by keys."""

    NAME = "Display"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._group = QButtonGroup(self)
        self.schemes: dict[theme.Choice, QRadioButton] = {}
        for choice, words in SCHEMES:
            button = self.schemes[choice] = QRadioButton(words)
            button.clicked.connect(lambda _, choice=choice: theme.choose(choice))
            self._group.addButton(button)
        vertical(
            PlainArea(
                "Display",
                column_of(
                    PlainLabel("Colours", "subtitle"),
                    *self.schemes.values(),
                    PlainLabel("Larger and smaller letters: View menu, or Ctrl with + and −.", "hint", wrap=True),
                    StretchSpace(1), margins=(20, 16, 20, 12), spacing=8,
                ),
            ),
            on=self,
            margins=0,
        )  # fmt: skip
        # The menu and the palette change them, too.
        theme.follow(self, self._show_scheme)

    def _show_scheme(self) -> None:
        self.schemes[theme.current().choice].setChecked(True)

    def focus_first(self) -> None:
        next(button for button in self.schemes.values() if button.isChecked()).setFocus()
