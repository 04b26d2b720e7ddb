"""What a kind of document says about itself: its words, its fields, what the guideline objects to, its table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.checks import Context
from annotator.domain.kinds.finding import Finding

# Fields that every unit has beside its words.
EVERY = {"anchor": "Quotation", "note": "Note"}


@dataclass(frozen=True, slots=True)
class UnitField:
    """A field of a unit beside its words: what it is called and, where it is a choice, what may be chosen.

    Each of the `options` is a value, its words, and what it means where the words do not say it. What is `shown`
    stands beside the words wherever the unit is read.
    """

    name: str
    title: str
    options: tuple[tuple[Any, str, str], ...] = ()
    shown: bool = True


@dataclass(frozen=True, slots=True)
class KindSpec:
    """All that must be known of a kind of document.

    `title` names it, `unit` and `units` what it is made of, and `text` what the words of a unit are; `what` explains
    it to a newcomer, and `prompt` says what to write in an empty field. `fields` are shown in this order. `says` is
    the field that says something, where it is not the words. `table` is the name of its table in a release.
    """

    document: type[Document[Any]]
    title: str
    unit: str
    units: str
    what: str
    prompt: str
    table: str
    fields: tuple[UnitField, ...] = ()
    lint: Callable[[Any, Context], Iterable[Finding]] = lambda *_: ()
    text: str = "text"
    says: str = "text"

    @property
    def kind(self) -> Kind:
        """The kind that this is of."""
        return self.document.KIND

    @property
    def voted(self) -> UnitField | None:
        """The field that a first vote is about: the first to be chosen, or what says something in place of words."""
        return next((field for field in self.fields if field.options or field.name == self.says), None)

    @property
    def shown(self) -> tuple[UnitField, ...]:
        """The fields that stand beside the words of a unit."""
        return tuple(field for field in self.fields if field.shown)

    def called(self, field: str) -> str:
        """What a field is called on the page; the words are called as the unit."""
        own = {each.name: each.title for each in self.fields}
        return own.get(field) or EVERY.get(field) or self.unit.capitalize()

    def counted(self, number: int) -> str:
        """“1 criterion”, “12 criteria”."""
        return f"{number} {self.unit if number == 1 else self.units}"
