"""Project setting: pairs of reports in both orders or in one."""

from PySide6.QtWidgets import QCheckBox, QWidget

from annotator.actions.labelling import label_cases
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.message_bar import MessageBar
from annotator.gui.widgets.layouts import vertical
from annotator.gui.widgets.plain import PlainLabel

WORDS = (
    "Each person gives twice as many verdicts; in return you can measure whether they favour the report "
    "shown first, and the win rate is free of that bias. The setting applies to everyone immediately; "
    "existing verdicts stay, and the other order is still to be labelled."
)


class PairOrders(QWidget):
    """A check box for each kind of pair question, and a sentence on cost and benefit."""

    def __init__(self, desk: Desk, answer: MessageBar) -> None:
        super().__init__()
        self._desk, self._answer = desk, answer
        self.boxes: dict[str, QCheckBox] = {}
        column = vertical(on=self, margins=0, spacing=6)
        for name, title in label_cases.paired():
            box = self.boxes[name] = QCheckBox(f"{title}: every pair in both orders")
            box.setAccessibleDescription(WORDS)
            box.clicked.connect(lambda wished, name=name: self._ask(name, wished))
            column.addWidget(box)
        column.addWidget(PlainLabel(WORDS, "hint", wrap=True))

    def fill(self) -> None:
        """Show what is chosen now; tells nobody."""
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
