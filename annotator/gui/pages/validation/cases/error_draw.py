"""The draw of reports whose errors experts name: how many of each system, and its seed."""

from PySide6.QtWidgets import QSpinBox, QWidget

from annotator.actions.labelling import second_looks
from annotator.actions.project import people
from annotator.actions.studies import error_counts
from annotator.domain.experts.person import Role
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.flow_row import FlowRow
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button

# As many as the paper draws.
USUAL = 10


class ErrorDraw(QWidget):
    """What was drawn; coordinators draw anew."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.told = PlainLabel("", "hint")
        self.many, self.seed = QSpinBox(minimum=1, maximum=10_000), QSpinBox(minimum=0, maximum=10_000_000)
        self.many.setPrefix("reports of each system: ")
        self.seed.setPrefix("seed ")
        self.many.setAccessibleName("Reports of each system")
        self.seed.setAccessibleName("Seed of the draw")
        self.button = push_button("Draw", self._draw)
        row = FlowRow(self, gap=8)
        for widget in (self.told, self.many, self.seed, self.button):
            row.addWidget(widget)

    def fill(self) -> None:
        """Show what is drawn now."""
        found = self._desk.ask(second_looks.sample)
        self.told.setText(
            f"{counted(len(found.responses), 'report')} drawn." if found else "Nothing drawn yet."
        )
        if not self.many.hasFocus() and not self.seed.hasFocus():
            self.many.setValue(found.per_system if found else USUAL)
            self.seed.setValue(found.seed if found else 1)
        project = self._desk.project
        may = not project.readonly and people.someone(project).has(Role.COORDINATOR)
        for widget in (self.many, self.seed, self.button):
            widget.setVisible(may)

    def _draw(self) -> None:
        self._desk.do(error_counts.draw, self.many.value(), self.seed.value())
        self.fill()
