"""The description of a document kind: its names, fields, comparison and release table."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from math import isclose
from typing import Any, Literal

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.checks import Context
from annotator.domain.kinds.finding import Finding
from annotator.domain.kinds.weights import Weights

# Fields that every unit has beside its words.
EVERY = {"anchor": "Quotation", "note": "Note"}


class AlignmentRule(StrEnum):
    """What tells which units of two documents belong together."""

    WORDS = "words"
    """How alike their words are."""
    KEY = "key"
    """The same words: they were given."""
    ID = "id"
    WORK = "work"
    """The work that they name, by its identifier or title."""


def same(a: Any, b: Any) -> bool:
    """Whether two values count as one: shares that people type and shares that a program divides differ in a bit."""
    return isclose(a, b, abs_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else bool(a == b)


@dataclass(frozen=True, slots=True)
class UnitField:
    """A field of a unit beside its words: its name and, for a choice, its values.

    Each of the `options` is a value, its words, and what it means where the words do not say it; `several` may hold at
    once. On the form they are buttons, or a list in which `asks` stands where nothing is chosen; without options a
    number is a share of 1, and anything else a line of text, of at most so many characters where it stands `above` the
    words. What is `shown` stands beside the words wherever the unit is read.

    A difference in what is `counted` makes two units differ, and `same` says when there is none. Agreement is measured
    on a field with a `level`, which says what its values are to one another; `correlated` adds r, and `always_ac1` AC1
    even where no value is rare. What is `optional` is neither measured nor voted on where nobody says it.
    """

    name: str
    title: str
    options: tuple[tuple[Any, str, str], ...] = ()
    asks: str = ""
    shown: bool = True
    counted: bool = True
    same: Callable[[Any, Any], bool] = same
    level: Literal["", "nominal", "ordinal", "interval"] = ""
    correlated: bool = False
    several: bool = False
    above: int = 0
    always_ac1: bool = False
    optional: bool = False


@dataclass(frozen=True, slots=True)
class KindSpec:
    """The description of a kind of document.

    `title` names it, `unit` and `units` what it is made of, and `text` what the words of a unit are. `what` explains it
    to a newcomer, `prompt` says what to write in an empty field, `hints` stand below the first unit and below others,
    and `told`, of a document and the bar of the selection, beside the number of units. `elsewhere` says what experts
    of other benchmarks came to, which is shown to who asks for it and asked of nobody. `whole` are the fields of the
    document itself, below its units. `fields` are in the order of the form; `says` is the one that says something,
    where it is not the words. `table` is the name of its table in a release.

    Two documents are `aligned`, which gives the figures of `overlap`; what is `kept` is frozen beside the values that
    are measured. An adjudicator also decides on the order where the kind is `ordered`, which is measured where it is
    `order_measured`, and does not word what is `given`. The mean of the field `scored` is a document's own score,
    and a unit may have the field `instead` in place of words.
    Units are `made_of` those of another kind: the field with their ids, and that kind.
    `weighed` is the same under the weights that a project allows.
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
    hints: tuple[str, str] | None = None
    told: Callable[[Any, float], str] = lambda *_: ""
    elsewhere: str = ""
    whole: tuple[UnitField, ...] = ()
    text: str = "text"
    says: str = "text"
    aligned: AlignmentRule = AlignmentRule.WORDS
    overlap: tuple[str, ...] = ("match_f1",)
    ordered: bool = False
    order_measured: bool = False
    given: frozenset[str] = frozenset()
    kept: tuple[str, ...] = ()
    scored: str = ""
    instead: str = ""
    made_of: tuple[str, Kind] | None = None
    weighed: Callable[["KindSpec", Weights], "KindSpec"] = lambda spec, _: spec

    def under(self, weights: Weights) -> "KindSpec":
        return self.weighed(self, weights)

    @property
    def kind(self) -> Kind:
        return self.document.KIND

    @property
    def voted(self) -> UnitField | None:
        """The field that a first vote is about: the first to be chosen, or what says something in place of words."""
        return next(
            (
                field
                for field in self.fields
                if (field.options and not field.optional) or field.name == self.says
            ),
            None,
        )

    @property
    def shown(self) -> tuple[UnitField, ...]:
        """The fields that stand beside the words of a unit."""
        return tuple(field for field in self.fields if field.shown)

    @property
    def counted_fields(self) -> dict[str, UnitField]:
        """The fields that, in addition to the words, make two units differ; notes, quotations and flags never do."""
        return {field.name: field for field in self.fields if field.counted}

    def called(self, field: str) -> str:
        """What a field is called on the page; the words are called as the unit."""
        own = {each.name: each.title for each in self.fields}
        return own.get(field) or EVERY.get(field) or self.unit.capitalize()

    def counted(self, number: int) -> str:
        """“1 criterion”, “12 criteria”."""
        return f"{number} {self.unit if number == 1 else self.units}"
