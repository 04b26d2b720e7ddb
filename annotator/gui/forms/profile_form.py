"""What a project uses: one question with pictures, and check boxes for those who choose the parts themselves."""

from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialog,
    QFileDialog,
    QFrame,
    QGridLayout,
    QRadioButton,
    QWidget,
)

from annotator.actions.project import people, profile
from annotator.actions.project.profile import Profile, ProfileChoice
from annotator.domain.texts.refusal import Refusal
from annotator.gui import theme
from annotator.gui.widgets.bars import wrapping
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainArea,
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import Picture
from annotator.gui.widgets.fields import LineField
from annotator.gui.widgets.message_bar import MessageBar

SIZE = (1080, 560)
LONGEST_NAME = 200


class ProfileForm(QWidget):
    """`text` is what was chosen, as `profile.parsed` reads it."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._group = QButtonGroup(self)
        self.cards = {choice.name: _Card(choice, self._group) for choice in profile.CHOICES}
        self._grid = QGridLayout()
        self._columns = 0
        self._place(2)
        self.own = push_button("Choose the parts myself…", self._choose_parts, "quiet")
        self.boxes: dict[str, QCheckBox] = {}
        self._parts = QWidget()
        self._parts.hide()
        vertical(
            self._grid, horizontal(self.own, StretchSpace(1)), self._parts, on=self, margins=0, spacing=12
        )
        self._group.buttonToggled.connect(lambda *_: self._changed())
        self.cards[profile.USUAL].radio.setChecked(True)

    def _place(self, columns: int) -> None:
        if columns != self._columns:
            self._columns = columns
            for number, card in enumerate(self.cards.values()):
                self._grid.addWidget(card, number // columns, number % columns)

    def minimumSizeHint(self) -> QSize:
        """Room for one card beside none: where there is more, two stand side by side."""
        widest = max(card.minimumSizeHint().width() for card in self.cards.values())
        return QSize(widest, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place(2 if self.width() >= 2 * self.minimumSizeHint().width() + self._grid.spacing() else 1)

    @property
    def text(self) -> str:
        if self.boxes:
            return " ".join(name for name, box in self.boxes.items() if box.isChecked())
        return next((name for name, card in self.cards.items() if card.radio.isChecked()), "")

    def show_profile(self, used: Profile) -> None:
        """Show what a project uses already."""
        if used.text in self.cards:
            self.cards[used.text].radio.setChecked(True)
            return
        self._choose_parts()
        for name, box in self.boxes.items():
            box.setChecked(used.uses(name))

    def focus_first(self) -> None:
        chosen = next((card.radio for card in self.cards.values() if card.radio.isChecked()), None)
        (chosen or self.own).setFocus()

    def _choose_parts(self) -> None:
        """Offer every kind of document and protocol by group, those of the choice made so far ticked."""
        if self.boxes:
            return
        chosen = profile.parsed(self.text)
        column = vertical(on=self._parts, margins=0, spacing=6)
        for title, parts in profile.parts():
            for name, words in parts.items():
                box = self.boxes[name] = QCheckBox(words)
                box.setChecked(chosen.uses(name))
                box.toggled.connect(lambda _: self.changed.emit())
            row = QWidget()
            row.setLayout(wrapping(*(self.boxes[name] for name in parts), gap=14))
            column.addWidget(column_of(PlainLabel(title, "strong"), row, spacing=2))
        self._group.setExclusive(False)
        for card in self.cards.values():
            card.radio.setChecked(False)
        self._group.setExclusive(True)
        theme.apply_theme(self._parts)
        self._parts.show()
        self.own.hide()
        self._changed()

    def _changed(self) -> None:
        """A choice made after parts were takes their place."""
        if self.boxes and any(card.radio.isChecked() for card in self.cards.values()):
            self.boxes.clear()
            self._parts.hide()
            self._parts.deleteLater()
            self._parts = QWidget()
            if (layout := self.layout()) is not None:
                layout.addWidget(self._parts)
            self._parts.hide()
            self.own.show()
        for card in self.cards.values():
            theme.set_role(card, current=card.radio.isChecked())
        self.changed.emit()


class NewProjectDialog(QDialog):
    """One question, a name and a place; `path` is the project that was made."""

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
        self.create_button = push_button("Create", self._create, "primary")
        self.create_button.setDefault(True)
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
        self.where.setText(f".goldsmith in {self._folder.name}")
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
        """Make the project; where that is refused, the dialog says why and stays."""
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
    """A choice with its picture; a click anywhere chooses it."""

    def __init__(self, choice: ProfileChoice, group: QButtonGroup) -> None:
        super().__init__()
        with_properties(self, role="card", current=False)
        self.radio = QRadioButton(choice.title)
        self.radio.setAccessibleDescription(choice.about)
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
