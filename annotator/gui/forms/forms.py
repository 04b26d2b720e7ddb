"""The form of each kind: the standard one, or the kind's own."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel

from annotator.domain.common import shortened
from annotator.domain.kinds.artifact import (
    CHARACTERS_PER_WORD,
    USUAL,
    Finding,
    Kind,
    Unit,
    UnitField,
    Weights,
)
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.plan import WORDS
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.kinds.tasks import Family
from annotator.domain.material.item import Item
from annotator.domain.texts.identifier import work_named
from annotator.domain.texts.words import unspaced, word_count
from annotator.gui.forms import unit_editor
from annotator.gui.forms.fields import MarkMenu, PickList, TextLine, YearField
from annotator.gui.forms.unit_editor import StandardField, UnitEditor
from annotator.gui.theme import set_role
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, add_row, with_properties

SCHEMES = {"doi": "DOI", "arxiv": "arXiv", "isbn": "ISBN", "url": "Address"}


class ReferenceEditor(UnitEditor):
    def build(self) -> None:
        self.identifier = TextLine("Identifier", "DOI, arXiv id, ISBN or address")
        self.year, authors = YearField(), TextLine("Authors", "Authors")
        self.read_as = with_properties(QLabel(), role="hint")
        grid = QGridLayout()
        grid.setColumnStretch(0, 1)
        self.row.addLayout(grid, 1)
        grid.addWidget(self.identifier, 0, 0)
        grid.addWidget(self.read_as, 0, 1)
        grid.addWidget(authors, 1, 0)
        grid.addWidget(self.year, 1, 1)
        self.importance = unit_editor.made(self.words.fields[-1], keyed=True)
        grid.addWidget(self.importance, 2, 0, 1, 2)
        self.add_field("identifier", self.identifier)
        self.add_field("authors", authors)
        self.add_field("year", self.year)
        self.add_field("importance", self.importance)
        self.identifier.stirred.connect(self.refresh)

    def show_unit(self, unit: Unit, number: int, typing: Collection[str] = ()) -> None:
        """Show a reference; an unfinished year typed for another one is cleared."""
        if unit.id != self.unit_id:
            self.year.clear()
        super().show_unit(unit, number, typing)

    def refresh(self) -> None:
        result = work_named(self.identifier.text())
        self.read_as.setText(f"✓ {SCHEMES[result.scheme]}" if result else "")
        self.read_as.setToolTip(f"Read as {result}" if result else "")

    def unfit(self) -> list[Finding]:
        if not self.year.unfit():
            return []
        message = f"“{self.year.text()}” is not a year."
        return [Finding("error", "year", self.unit_id, "year", message, "Write four digits, such as 2021.")]


def on_field(kind: Kind, field: str, words: str) -> str:
    """The guideline's text on one field, as Markdown: its opening, then the field's section."""
    opening, sections = _parts(words)
    part = sections.get(field)
    return f"{opening}\n\n## {KINDS[kind].called(field)}\n\n{part}" if part else whole(kind, words)


def whole(kind: Kind, words: str) -> str:
    """The guideline's whole text on a kind, as Markdown with the fields' display names."""
    opening, sections = _parts(words)
    return "\n\n".join(
        [opening, *[f"## {_called(kind, field)}\n\n{part}" for field, part in sections.items()]]
    )


def _called(kind: Kind, section: str) -> str:
    """The title of a section: a field's display name, any other heading unchanged."""
    known = {*KINDS[kind].document.UNIT.model_fields, *KINDS[kind].document.model_fields}
    return KINDS[kind].called(section) if section in known else section


@lru_cache(maxsize=32)
def _parts(words: str) -> tuple[str, dict[str, str]]:
    opening, *sections = f"\n{words}".split("\n## ")
    named = (section.partition("\n") for section in sections)
    return opening.strip(), {name.strip(): body.strip() for name, _, body in named}


class SubtaskEditor(UnitEditor):
    def build(self) -> None:
        self.count = PlainLabel("0 words", "chip")
        self.row.addWidget(self.count, 0, Qt.AlignmentFlag.AlignVCenter)
        self.text.stirred.connect(self.refresh)

    def refresh(self) -> None:
        """Count the words and show whether there are too few or too many."""
        text = self.text.value()
        count, (least, most), noun = word_count(text), WORDS, "word"
        if unspaced(text):
            most, noun = most * CHARACTERS_PER_WORD, "character"
        fits = least <= count <= most
        verdict = "" if not count else " ✓" if fits else ": too few" if count < least else ": too many"
        self.count.setText(f"{count} {noun}{'s' * (count != 1)}{verdict}")
        self.count.setToolTip(f"The guideline asks for {least} to {most} {noun}s.")
        set_role(self.count, state="agreed" if fits else "unconfirmed" if count else "")


INSIGHT, INSIGHT_CHARACTERS = "insight_id", 60


class CriterionEditor(UnitEditor):
    def build(self) -> None:
        """The list of key insights is built only once the item has any: it is the slowest widget to build and style."""
        self._insight: PickList | None = None
        super().build()

    def made(self, field: UnitField, *, keyed: bool) -> StandardField | None:
        return None if field.name == INSIGHT else super().made(field, keyed=keyed)

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """Offer the key insights; if there are none, the list is not shown."""
        if made_of and self._insight is None:
            self._insight = self._made_insight()
        if self._insight is not None:
            self._insight.offer(
                [(unit_id, shortened(words, INSIGHT_CHARACTERS)) for unit_id, words in made_of]
            )
            self._insight.show_value(getattr(self.unit, INSIGHT, ""))
            self._insight.setVisible(bool(made_of))

    def _made_insight(self) -> PickList:
        """The list of key insights, placed beside the weight."""
        made = PickList("Key insight", "No key insight", no_value="")
        self.row.insertWidget(self.row.count() - 1, made, 1)
        self.add_field(INSIGHT, made)
        made.lock(bool(self.locked))
        self.chain()
        return made


REASON = "The reason for this rating, in a sentence"


class DimensionEditor(UnitEditor):
    """A dimension: its meaning, the rating beside the meaning of each point, and the reason."""

    NOTE, NOTE_PROMPT = "Reason", REASON

    def build(self) -> None:
        self._type: QuestionType | None = None
        self.meaning = PlainLabel("", "hint", wrap=True)
        self._places["text"].addWidget(self.meaning)
        super().build()

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        self._type = rated_as

    def show_unit(self, unit: Unit, number: int, typing: Sequence[str] = ()) -> None:  # type: ignore[override]
        self._note()
        super().show_unit(unit, number, typing)
        if self._note_row:
            self._note_row.show()
        result = self._type.dimension(unit.text) if self._type else None
        points = (
            [f"{point}  {words}" for point, words in sorted(result.anchors.items(), reverse=True)]
            if result
            else []
        )
        self.meaning.show_words("\n".join([result.definition, *points]) if result else "")


class TaskEditor(UnitEditor):
    """A task; choosing a family also sets its phase."""

    def build(self) -> None:
        """Place phase and family above, difficulty and the menu of inspirations below."""
        self.inspirations = MarkMenu("Inspirations", "No inspiration")
        super().build()
        add_row(self._places["more"], self.fields["difficulty"], self.inspirations, StretchSpace(1))

    def made(self, field: UnitField, *, keyed: bool) -> StandardField | None:
        if field.name == "inspirations":
            return self.inspirations
        made = super().made(field, keyed=keyed)
        if isinstance(made, PickList):
            made.chosen.connect(self._file)
        return made

    def offer(
        self, item: Item, made_of: Sequence[tuple[str, str]], rated_as: QuestionType | None = None
    ) -> None:
        """Offer the inspirations; if there are none, the menu is not shown."""
        self.inspirations.offer(made_of)
        self.inspirations.setVisible(bool(made_of))

    def _file(self, family: Any) -> None:
        phase = Family(family).phase if family else None
        if phase and self.fields["phase"].value() != phase:
            self.chosen.emit(self.unit_id, "phase", phase)


OWN: dict[Kind, type[UnitEditor]] = {
    Kind.PLAN: SubtaskEditor,
    Kind.EVIDENCE: ReferenceEditor,
    Kind.RUBRIC: CriterionEditor,
    Kind.SELECTION: DimensionEditor,
    Kind.TASKS: TaskEditor,
}


def editor(kind: Kind, weights: Weights = USUAL) -> UnitEditor:
    """A new editor for units of a kind, in a project that allows these weights."""
    return OWN.get(kind, UnitEditor)(KINDS[kind].under(weights))
