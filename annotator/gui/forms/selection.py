"""Form for ratings: each dimension with what it means, what its points stand for, and the reason."""

from collections.abc import Sequence

from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.material.item import Item
from annotator.gui.forms.unit_editor import UnitEditor
from annotator.gui.widgets.basics import PlainLabel

REASON = "The reason for this rating, in a sentence"


class DimensionEditor(UnitEditor):
    """A dimension: what it means, the rating beside what each point stands for, and why."""

    NOTE, NOTE_PROMPT = "Reason", REASON

    def build(self) -> None:
        self._type: QuestionType | None = None
        self.meaning = PlainLabel("", "hint", wrap=True)
        self._places["text"].addWidget(self.meaning)
        super().build()

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """The type of the item's question, which says what its dimensions mean."""
        self._type = rated_as

    def show_unit(self, unit: Unit, number: int, typing: Sequence[str] = ()) -> None:  # type: ignore[override]
        """The reason has its place from the beginning."""
        self._note()
        super().show_unit(unit, number, typing)
        if self._note_row:
            self._note_row.show()
        found = self._type.dimension(unit.text) if self._type else None
        points = (
            [f"{point}  {words}" for point, words in sorted(found.anchors.items(), reverse=True)]
            if found
            else []
        )
        self.meaning.setText("\n".join([found.definition, *points]) if found else "")
        self.meaning.setVisible(bool(found))
