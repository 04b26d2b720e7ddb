"""Project setting: pairs of reports in both orders or in one."""

from PySide6.QtWidgets import QCheckBox, QPushButton, QSpinBox, QWidget

from annotator.actions.labelling import label_cases
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.flow_row import wrapping
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.layouts import column_of, vertical
from annotator.gui.widgets.plain import PlainLabel

WORDS = (
    "Each person gives twice as many verdicts; in return you can measure whether they favour the report "
    "shown first, and the win rate is free of that bias. The setting applies to everyone immediately; "
    "existing verdicts stay, and the other order is still to be labelled."
)


class PairOrders(QWidget):
    """For each kind of pair question a check box and how many pairs are drawn; and a sentence on cost and benefit."""

    def __init__(self, desk: Desk, answer: MessageBar) -> None:
        super().__init__()
        self._desk, self._answer = desk, answer
        self.boxes: dict[str, QCheckBox] = {}
        self.draws: dict[str, tuple[QSpinBox, QSpinBox, QPushButton]] = {}
        column = vertical(on=self, margins=0, spacing=6)
        for name, title in label_cases.paired():
            box = self.boxes[name] = QCheckBox(f"{title}: in both orders")
            box.setAccessibleDescription(WORDS)
            box.clicked.connect(lambda wished, name=name: self._ask(name, wished))
            column.addWidget(box)
            if label_cases.can_draw(name):
                column.addWidget(self._draw_row(name, title))
        column.addWidget(PlainLabel(WORDS, "hint", wrap=True))

    def _draw_row(self, name: str, title: str) -> QWidget:
        many, seed, button = QSpinBox(maximum=1_000_000), QSpinBox(maximum=10_000_000), QPushButton("Draw")
        many.setSpecialValueText("all pairs are asked")
        many.setSuffix(" pairs, drawn at random")
        seed.setPrefix("seed ")
        seed.setValue(1)
        many.setAccessibleName(f"{title}: pairs to draw")
        seed.setAccessibleName(f"{title}: seed of the draw")
        button.clicked.connect(lambda: self._draw(name, many.value(), seed.value()))
        self.draws[name] = many, seed, button
        return column_of(wrapping(many, seed, button, gap=6), margins=(22, 0, 0, 0))

    def _draw(self, name: str, many: int, seed: int) -> None:
        if self._desk.do(label_cases.draw_pairs, name, many, seed) is not None:
            pairs = len(label_cases.drawn(self._desk.project, name).get("pairs", ()))
            said = (
                f"{counted(pairs, 'pair')} drawn; only these are asked." if many else "All pairs are asked."
            )
            self._answer.show_message("success", said, f"{keys.shown('undo')} undoes it.")
        self.fill()

    def fill(self) -> None:
        """Show what is chosen now; tells nobody."""
        for name, (many, seed, button) in self.draws.items():
            found = label_cases.drawn(self._desk.project, name)
            many.setValue(len(found.get("pairs", ())))
            seed.setValue(found.get("seed", 1))
            button.setEnabled(not self._desk.project.readonly)
        for name, box in self.boxes.items():
            box.setChecked(bool(self._desk.ask(label_cases.both_orders, name)))
            box.setEnabled(not self._desk.project.readonly)

    def _ask(self, name: str, wished: bool) -> None:
        if self._desk.do(label_cases.ask_both_orders, name, wished) is not None:
            said = "in both orders" if wished else "in one order"
            title = dict(label_cases.paired())[name]
            self._answer.show_message(
                "success", f"{title}: pairs are now asked {said}.", f"{keys.shown('undo')} undoes it."
            )
        self.fill()
