"""Link from judges to extracts that wait for a person's confirmation."""

from annotator.actions.items import drawn_parts
from annotator.domain.texts.counting import counted
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.icons import put

ACT = "drawn_waiting"


class DrawnWaiting(KeyButton):
    """A button with the number of waiting extracts; hidden when there are none."""

    def __init__(self, desk: Desk) -> None:
        super().__init__("", keys.sequences(ACT)[0], "quiet")
        self._desk = desk
        self._waiting: dict[str, int] = {}
        put(self, "question", color="state-unconfirmed")
        self.clicked.connect(self.go)
        self.hide()

    def fill(self) -> None:
        """Count again."""
        self._desk.ask_later(self._found, drawn_parts.waiting)

    def go(self) -> None:
        """Show what waits, of the kind of which most does."""
        if self._waiting:
            most = max(self._waiting, key=lambda kind: self._waiting[kind])
            self._desk.go("Material", part="Extracts", waiting=most)

    def rebind(self) -> None:
        """Print the key as it now is."""
        self.set_key(keys.sequences(ACT)[0])

    def _found(self, waiting: dict[str, int]) -> None:
        self._waiting = waiting
        many = sum(waiting.values())
        said = ", ".join(f"{kind} {count:,}" for kind, count in sorted(waiting.items()))
        self.set_words(f"{counted(many, 'extract')} to confirm")
        self.set_hint(f"Extracted by a judge or imported, not yet reviewed: {said}")
        self.setVisible(many > 0)
