"""Which versions of the program the tasks ask for, said where they are written."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QWidget

from annotator.actions.project import program_pins
from annotator.domain.experts import program_pin
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.fields.typed import LineField
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel

NO_LONGER_THAN = 200
ANY = "Any version may be used."
PINNED = "Another version only shows the task and {}. To lift this, clear the line and write the tasks again."


class ProgramRow(QWidget):
    """A line for the versions that tasks ask for, and the installers that they name."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk, self._shown = desk, ""
        self.field, self.set = LineField(placeholderText="any version"), QPushButton("Set")
        self.field.setMaximumWidth(NO_LONGER_THAN)
        self.field.setToolTip(program_pin.EXAMPLE)
        self.this, self.choose = QPushButton(), QPushButton("Name installers…")
        self.this.setText(f"This one: {program_pin.offered()}")
        self.this.setToolTip("Ask for this version of Goldsmith")
        self.choose.setToolTip("Installers, or a file of SHA-256 sums: tasks tell their names and sums")
        caption = QLabel("Tasks ask for &Goldsmith:")
        caption.setBuddy(self.field)
        self.about = PlainLabel(role="hint", wrap=True)
        self.field.returnPressed.connect(self._set)
        self.field.textChanged.connect(self._offer)
        self.set.clicked.connect(self._set)
        self.this.clicked.connect(lambda: self._pin(program_pin.offered()))
        self.choose.clicked.connect(self._choose)
        row = wrapping(caption, self.field, self.set, self.this, self.choose, gap=6)
        vertical(row, self.about, on=self, margins=0, spacing=4)

    def fill(self) -> None:
        """Show what is asked for now; what somebody is typing stays."""
        pin = program_pins.pinned(self._desk.project)
        if self.field.text() == self._shown:
            self.field.setText(pin.versions)
            self._shown = pin.versions
        self.field.setReadOnly(self._desk.project.readonly)
        named = counted(len(pin.installers), "installer") if pin.installers else "the version"
        self.about.setText(PINNED.format(f"names {named}") if pin.versions else ANY)
        self.about.setToolTip("\n".join(pin.installers))
        self._offer()

    def _offer(self) -> None:
        pin, writable = program_pins.pinned(self._desk.project), not self._desk.project.readonly
        self.set.setEnabled(writable and self.field.text().strip() != pin.versions)
        self.this.setEnabled(writable and pin.versions != program_pin.offered())
        self.choose.setEnabled(writable and bool(pin.versions))

    def _set(self) -> None:
        if self.set.isEnabled():
            self._pin(self.field.text())

    def _pin(self, versions: str) -> None:
        if self._desk.do(program_pins.pin, versions) is not None:
            self._shown = self.field.text()
            self.fill()

    def _choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(self, "Installers, or a file of their SHA-256 sums")
        if names:
            self.name([Path(name) for name in names])

    def name(self, paths: list[Path]) -> None:
        """Name these installers in the tasks, hashed on another thread."""
        self.about.setText("Reading the installers…")
        self._desk.do_later(self._named, lambda *_: None, program_pins.sums, paths)

    def _named(self, sums: dict[str, str] | None) -> None:
        if sums is not None:
            self._desk.do(program_pins.pin, program_pins.pinned(self._desk.project).versions, sums)
        self.fill()
