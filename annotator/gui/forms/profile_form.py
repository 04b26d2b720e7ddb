"""What a project uses: cards with pictures to choose from, and check boxes for choosing the parts yourself."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFileDialog,
    QFrame,
    QGridLayout,
    QRadioButton,
    QWidget,
)

from annotator.actions.project import people, profile
from annotator.actions.project.profile import Profile, ProfileChoice
from annotator.domain.common import Refusal
from annotator.gui import theme
from annotator.gui.widgets.bars import Fold
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    PlainLabel,
    Refitting,
    StretchSpace,
    check_only,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Picture
from annotator.gui.widgets.columns import TickList
from annotator.gui.widgets.fields import LineField
from annotator.gui.widgets.message_bar import MessageBar

SIZE = (1080, 560)
LONGEST_NAME = 200
# The minimum width of a list of parts, and the maximum number of parts in view at once.
LEAST_PARTS, MOST_PARTS = 300, 8


class ProfileForm(Refitting, QWidget):
    """Cards and check boxes for what a project uses; `text` is the choice in the form that `profile.parsed` reads."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        self.cards = {choice.name: _Card(choice, self._group) for choice in profile.CHOICES}
        self._grid = QGridLayout()
        self._columns = 0
        self._place(2)
        self.parts = {title: TickList(title, 1, MOST_PARTS) for title, _ in profile.parts()}
        groups = QGridLayout()
        for place, (title, parts) in enumerate(profile.parts()):
            ticks = self.parts[title]
            ticks.offer(parts)
            ticks.ticked_anew.connect(self._choose_own)
            theme.scale(ticks.setMinimumWidth, LEAST_PARTS)
            group = column_of(PlainLabel(title, "strong"), ticks, StretchSpace(1), spacing=2)
            groups.addWidget(group, place // 2, place % 2)
        self.own = Fold("Choose the parts myself", groups)
        vertical(self._grid, self.own, on=self, margins=0, spacing=12)
        self._group.buttonToggled.connect(lambda *_: self._changed())
        self.cards[profile.USUAL].radio.setChecked(True)

    def _place(self, columns: int) -> None:
        if columns != self._columns:
            self._columns = columns
            for number, card in enumerate(self.cards.values()):
                self._grid.addWidget(card, number // columns, number % columns)

    def minimumSizeHint(self) -> QSize:
        """Room for one card per line; if there is more, two are side by side."""
        widest = max(card.minimumSizeHint().width() for card in self.cards.values())
        return QSize(widest, super().minimumSizeHint().height())

    def refit(self) -> None:
        self._place(2 if self.width() >= 2 * self.minimumSizeHint().width() + self._grid.spacing() else 1)

    @property
    def text(self) -> str:
        chosen = next((name for name, card in self.cards.items() if card.radio.isChecked()), None)
        return " ".join(self._ticked()) if chosen is None else chosen

    def _ticked(self) -> Iterator[str]:
        for ticks in self.parts.values():
            yield from ticks.ticked()

    def tick(self, used: Profile) -> None:
        for ticks in self.parts.values():
            ticks.tick(list(filter(used.uses, ticks.values())))

    def show_profile(self, used: Profile) -> None:
        if used.text in self.cards:
            self.cards[used.text].radio.setChecked(True)
            return
        self.tick(used)
        self._choose_own()

    def focus_first(self) -> None:
        chosen = next((card.radio for card in self.cards.values() if card.radio.isChecked()), None)
        (chosen or self.own.button).setFocus()

    def _choose_own(self) -> None:
        """Use the ticked parts instead of a card."""
        check_only(self._group, None)
        self._changed()

    def _changed(self) -> None:
        """Tick the parts of the chosen card."""
        for name, card in self.cards.items():
            if card.radio.isChecked():
                self.tick(profile.parsed(name))
            theme.set_role(card, current=card.radio.isChecked())
        self.changed.emit()


class NewProjectDialog(QDialog):
    """Asks for a new project's profile, name and location; `path` is the created project."""

    def __init__(self, parent: QWidget | None, folder: Path) -> None:
        super().__init__(parent)
        self.setWindowTitle("New project")
        self.resize(*SIZE)
        self.path: Path | None = None
        self._folder = folder
        self.uses = ProfileForm()
        self.name = LineField(text="project", accessibleName="Name of the project", maxLength=LONGEST_NAME)
        self.where = ElidedLabel(role="hint")
        self.change = push_button("Change…", self._change)
        self.create_button = push_button("Create", self._create, "primary", default=True)
        self.messages = MessageBar()
        about = "What does this benchmark use? Everything else stays out of sight; you can add it later in Settings."
        body = column_of(
            PlainLabel("New project", "headline"),
            PlainLabel(about, "hint", wrap=True),
            self.uses,
            StretchSpace(1),
            margins=(28, 20, 28, 8),
            spacing=12,
        )
        foot = horizontal(
            PlainLabel("Name"), (self.name, 1), (self.where, 1), self.change, self.create_button,
            margins=(28, 8, 28, 20), spacing=10,
        )  # fmt: skip
        vertical(self.messages, (PlainArea("Choices", body), 1), foot, on=self, margins=0, spacing=0)
        self._show_folder()
        theme.apply_theme(self)
        self.name.selectAll()
        self.name.setFocus()

    def _show_folder(self) -> None:
        self.where.setText(f".goldsmith in {self._folder}")
        self.where.setToolTip(str(self._folder))

    def _change(self) -> None:
        suggested = self._folder / f"{self.name.text().strip() or 'project'}.goldsmith"
        name, _ = QFileDialog.getSaveFileName(
            self, "New project", str(suggested), "Goldsmith projects (*.goldsmith)"
        )
        if name:
            self._folder = Path(name).parent
            self.name.setText(Path(name).name.removesuffix(".goldsmith"))
            self._show_folder()

    def _create(self) -> None:
        """Create the project; if that is refused, show why and stay open."""
        if not (name := self.name.text().strip()):
            self.messages.show_message("warning", "The project has no name yet.", "Type one below.")
            return
        try:
            with closing(people.new_project(self._folder / f"{name}.goldsmith", uses=self.uses.text)) as made:
                self.path = made.path
        except Refusal as refusal:
            self.messages.show_message("warning", refusal.happened, refusal.todo)
            return
        self.accept()


class _Card(QFrame):
    """A choice with its picture; a click anywhere on it selects it."""

    def __init__(self, choice: ProfileChoice, group: QButtonGroup) -> None:
        super().__init__()
        with_properties(self, role="card", current=False)
        self.radio = with_properties(QRadioButton(choice.title), accessibleDescription=choice.about)
        font = self.radio.font()
        font.setBold(True)
        self.radio.setFont(font)
        group.addButton(self.radio)
        words = column_of(self.radio, PlainLabel(choice.about, "hint", wrap=True), StretchSpace(1), spacing=4)
        horizontal(
            Picture(choice.icon, "accent", 40), (words, 1), on=self, margins=(16, 14, 16, 14), spacing=14
        )

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.radio.setChecked(True)
        self.radio.setFocus()
        super().mouseReleaseEvent(event)
