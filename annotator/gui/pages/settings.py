"""Settings: what the project uses and what it is called, and how the window looks."""

from typing import Any

from PySide6.QtWidgets import QButtonGroup, QRadioButton

from annotator.actions.project import people, profile
from annotator.domain.experts.assignment import Role
from annotator.domain.texts.canonical import Change
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
    push_button,
    vertical,
)
from annotator.gui.widgets.message_bar import MessageBar

SCHEMES: tuple[tuple[theme.Choice, str], ...] = (
    ("system", "Match system"),
    ("light", "Light"),
    ("dark", "Dark"),
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
        body = column_of(
            PlainLabel("What this benchmark uses", "subtitle"), about, self.form, foot, StretchSpace(1),
            margins=(20, 16, 20, 12), spacing=12,
        )  # fmt: skip
        area = PlainArea("Settings of the project", body)
        vertical(area, on=self, margins=0)
        self.answer.float_over(area, below=False)
        self.bind("submit", self._apply)

    def navigate(self, place: dict[str, Any]) -> None:
        if (used := self.session.ask(profile.profile)) is not None:
            self.form.show_profile(used)
        project = self.session.project
        allowed = people.someone(project).has(Role.COORDINATOR) and not (
            project.readonly or project.from_task
        )
        for part in (self.form, self.apply):
            part.setEnabled(allowed)
        self.reset.setVisible(project.is_sample and not project.readonly)

    def focus_first(self) -> None:
        if self.form.isEnabled():
            self.form.focus_first()
        else:
            super().focus_first()

    def on_change(self, change: Change) -> None:
        if change.kind != "import":
            self.navigate({})

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
            PlainLabel("Colours", "subtitle"), *self.schemes.values(),
            PlainLabel("Larger and smaller letters: View menu, or Ctrl with + and −.", "hint", wrap=True),
            StretchSpace(1), margins=(20, 16, 20, 12), spacing=8,
        )  # fmt: skip
        vertical(PlainArea("Display", body), on=self, margins=0)

    def focus_first(self) -> None:
        next(button for button in self.schemes.values() if button.isChecked()).setFocus()
