"""Artifacts: documents of units, the smallest parts that are agreed on or judged."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cache, lru_cache
from itertools import combinations
from math import isclose
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PlainSerializer,
    SerializeAsAny,
    Strict,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from annotator.domain.common import Refusal, Text, canonical_json, new_id, sha256
from annotator.domain.kinds.kind import Kind as Kind, Stage as Stage, State as State, stage_of as stage_of
from annotator.domain.kinds.question_types import BAR
from annotator.domain.texts.words import latin, likeness, terms, unspaced, word_count


class Anchor(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True):
    """A quotation and where it stands: characters of a source's or a report's text, half-open [start, end).

    `text_sha256` is the hash of the whole text, so that an anchor into a text that has changed is noticed.
    """

    quote: Text = Field(min_length=1, max_length=20_000)
    source_id: str = ""
    start: int = Field(default=-1, ge=-1)
    end: int = Field(default=-1, ge=-1)
    page: int | None = Field(default=None, ge=1)
    text_sha256: str = ""
    said: Text = Field(
        default="",
        max_length=12,
        exclude_if=operator.not_,
        description="When it was said in a recording, as 1:02:03; left out where that is not known",
    )

    @classmethod
    def at(cls, text: str, start: int, end: int, source_id: str = "", said: str = "") -> "Anchor":
        """The anchor of text[start:end]; ValidationError if that is empty or too long."""
        quote, own = text[start:end], _hash_of(text)
        return cls(quote=quote, source_id=source_id, start=start, end=end, text_sha256=own, said=said)

    @property
    def place(self) -> str:
        """The page or the moment, to follow the quotation; empty if neither is known."""
        return f" — p. {self.page}" if self.page else f" — {self.said}" if self.said else ""


# Cached, since hundreds of anchors may lie in one report.
_hash_of = lru_cache(maxsize=8)(sha256)


@dataclass(frozen=True, slots=True)
class DraftSource:
    """The model's draft that a unit came from: its extract, judge and model."""

    draft: Text
    judge: Text
    model: Text

    @property
    def name(self) -> str:
        """The model; the judge's name if no model was asked."""
        return self.model or self.judge


class Unit(BaseModel, frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True):
    """The common fields of units: an id that never changes, the words, a private note, and supporting quotations."""

    id: str = Field(default_factory=new_id, min_length=1, max_length=80)
    text: Text = Field(default="", max_length=20_000)
    note: Text = Field(default="", max_length=20_000)
    anchor: Anchor | None = None
    # Left out if empty: a unit with at most one quotation is stored as it always was.
    more_anchors: tuple[Anchor, ...] = Field(default=(), max_length=99, exclude_if=operator.not_)

    @property
    def anchors(self) -> tuple[Anchor, ...]:
        return (self.anchor, *self.more_anchors) if self.anchor else ()

    def quoting(self, anchors: Sequence[Anchor]) -> dict[str, Any]:
        """The unit's fields, as JSON, for these supporting quotations."""
        trees = [anchor.model_dump(mode="json") for anchor in anchors]
        return {"anchor": trees[0] if trees else None, "more_anchors": trees[1:]}


def blind(unit: Unit) -> Unit:
    """The unit as a rater sees it: its words, without weight and note."""
    return Unit(id=unit.id, text=unit.text)


# Ids of the cells of a matrix: at most 80 characters, always the same for the same units.
_LONGEST_SIDE = 39


def cell_id(row: str, column: str) -> str:
    return f"{side_of_cell(row)}~{side_of_cell(column)}"


def side_of_cell(unit_id: str) -> str:
    """The name of a unit within the ids of cells."""
    plain = len(unit_id) <= _LONGEST_SIDE and "~" not in unit_id
    return unit_id if plain else sha256(unit_id)[:_LONGEST_SIDE]


U = TypeVar("U", bound=Unit)


class Document(BaseModel, Generic[U], frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True):
    """An artifact's content: a list of units of one class, and little else.

    A kind is one subclass. `UNIT` is the class of its units, its type parameter: one set of actions edits all kinds.
    """

    KIND: ClassVar[Kind]
    UNIT: ClassVar[type[Unit]]
    units: tuple[U, ...] = ()
    remark: Text = Field(default="", max_length=20_000, description="A note on the whole artifact")

    def __init_subclass__(cls, kind: Kind | None = None, **how: Any) -> None:
        super().__init_subclass__(**how)
        if kind is not None:
            cls.KIND = kind
        base: Any = cls.__base__
        if units := base.__pydantic_generic_metadata__["args"]:
            (cls.UNIT,) = units

    def unit(self, unit_id: str) -> U:
        for unit in self.units:
            if unit.id == unit_id:
                return unit
        raise KeyError(unit_id)

    def with_units(self, units: tuple[U, ...]) -> Self:
        """The same document with other units of its class, each of which was validated on creation."""
        return self.model_copy(update={"units": units})

    def fault(self) -> str:
        """Why the document as a whole cannot be submitted, in one sentence; empty if it can."""
        return ""

    def tree(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def sha256(self) -> str:
        return sha256(canonical_json(self.tree()))


class Revision(BaseModel, frozen=True, defer_build=True):
    """One state of an artifact. `chain` hashes the content together with the chain of the revision before."""

    id: str
    artifact_id: str
    number: int
    content: dict[str, Any]
    sha256: str
    chain: str
    sealed: bool
    by: str
    at: datetime
    verb: str


def as_it_is(document: Any, handler: ValidatorFunctionWrapHandler) -> Any:
    """A typed document itself: validating it again as Document[Any] would lose its class."""
    return document if isinstance(document, Document) else handler(document)


class Artifact(BaseModel, frozen=True, defer_build=True):
    """An artifact as plain data, outside the database: its author, its kind, and its newest document."""

    id: str
    item_id: str
    kind: Kind
    author_id: str
    state: State
    revision: int
    document: Annotated[SerializeAsAny[Document[Any]], WrapValidator(as_it_is)]
    sealed_at: datetime | None = None


def chain(previous: str, content_sha256: str) -> str:
    """The link of a revision: the hash of the previous link and this content's hash."""
    return sha256(f"{previous}\n{content_sha256}")


@dataclass(frozen=True, slots=True)
class Finding:
    """An error must be fixed before submitting; a warning may be overridden with a reason.

    `unit_id` is empty if the whole document is meant. `field` names the field under which it is shown, by default the
    text of a unit or the list of units.
    """

    level: Literal["error", "warning"]
    rule: str
    unit_id: str
    field: str
    message: str
    advice: str

    def words(self, name: str, units: Sequence[Unit]) -> str:
        """The message with its place before it: the unit's number, after the name of a unit."""
        number = next((n for n, unit in enumerate(units, start=1) if unit.id == self.unit_id), 0)
        place = f"{name.capitalize()} {number}" if number else "Whole document"
        return f"{place}: {self.message} {self.advice}"


def hinders(findings: Sequence[Finding], reason: str) -> bool:
    """Whether a document may not be submitted: nothing overrides an error, and only a reason a warning."""
    return any(finding.level == "error" for finding in findings) or (bool(findings) and not reason)


def error(rule: str, message: str, advice: str, unit_id: str = "", field: str = "") -> Finding:
    return Finding("error", rule, unit_id, field or _usual(unit_id), message, advice)


def warning(rule: str, message: str, advice: str, unit_id: str = "", field: str = "") -> Finding:
    return Finding("warning", rule, unit_id, field or _usual(unit_id), message, advice)


def _usual(unit_id: str) -> str:
    return "text" if unit_id else "units"


# From -10 to 10, as public rubrics have them.
MOST = 21
FURTHEST = 1000
HOW = "Give a range such as “1 to 3”, “-3 to 3” or “0 to 1 by 0.25”, or a list such as “-5, 1, 3”."
_NUMBER = r"([+-]?\d+(?:\.\d+)?)"
_RANGE = re.compile(rf"{_NUMBER}\s*(?:to|\.\.\.?|–)\s*{_NUMBER}(?:\s*by\s*{_NUMBER})?", re.IGNORECASE)
_LIST = re.compile(rf"{_NUMBER}(?:\s*[,;]\s*{_NUMBER})*")


def _whole(number: float) -> int | float:
    return int(number) if number == int(number) else number


# How much a criterion counts; a negative weight is for things that a report must not do.
Weight = Annotated[
    float,
    Strict(),
    Field(ge=-FURTHEST, le=FURTHEST, allow_inf_nan=False),
    AfterValidator(_whole),
    PlainSerializer(_whole, when_used="always"),
]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights that a project allows, the lowest first."""

    values: tuple[int | float, ...] = (1, 2, 3)

    @property
    def usual(self) -> bool:
        return self == USUAL

    @property
    def options(self) -> tuple[tuple[int | float, str, str], ...]:
        """The choices in a form: the weight, its words, and its meaning."""
        if self.usual:
            return (1, "Nice to have", ""), (2, "Supporting", ""), (3, "Core", "")
        return tuple((weight, "", f"Weight {weight}") for weight in self.values)

    @property
    def text(self) -> str:
        """The weights as typed; `read` parses them back."""
        low, *_, high = *self.values, self.values[-1]
        steps = {_exact(b) - _exact(a) for a, b in zip(self.values, self.values[1:], strict=False)}
        if len(self.values) < 3 or len(steps) > 1:
            return ", ".join(str(weight) for weight in self.values)
        (step,) = steps
        return f"{low} to {high}" if step == 1 else f"{low} to {high} by {step.normalize():f}"

    def of_three(self, importance: int) -> int | float:
        """The weight for nice to have (1), supporting (2) or core (3): low, middle, high above 0."""
        above = [weight for weight in self.values if weight > 0] or list(self.values)
        return above[(importance - 1) * (len(above) - 1) // 2]


USUAL = Weights()


def read(text: str) -> Weights:
    """The weights of a range or a list; the default ones if the text is empty.

    Refusal with the valid forms if it is neither, or if a range does not come out even, or holds too many.
    """
    plain = text.replace("\N{MINUS SIGN}", "-").strip()
    if not plain:
        return USUAL
    if result := _RANGE.fullmatch(plain):
        low, high, step = (Decimal(number) for number in (result[1], result[2], result[3] or "1"))
        if step <= 0 or high <= low or (high - low) % step:
            raise Refusal(f"“{text}” is no range of weights.", HOW)
        numbers = [low + place * step for place in range(min(int((high - low) / step), MOST) + 1)]
    elif _LIST.fullmatch(plain):
        numbers = sorted({Decimal(number) for number in re.findall(_NUMBER, plain)})
    else:
        raise Refusal(f"“{text}” does not say which weights are allowed.", HOW)
    if not 2 <= len(numbers) <= MOST:
        raise Refusal(f"A project allows 2 to {MOST} weights.", HOW)
    if max(abs(number) for number in numbers) > FURTHEST:
        raise Refusal(f"Weights lie between -{FURTHEST} and {FURTHEST}.", HOW)
    if max(numbers) <= 0:
        raise Refusal("No weight is above 0, so no report could reach anything.", HOW)
    return Weights(tuple(_whole(float(number)) for number in numbers))


def _exact(number: int | float) -> Decimal:
    return Decimal(str(number))


# Of the 6 513 pairs of criteria inside the public rubrics of ResearcherBench, one in a hundred shares a third of its
# terms; two pairs share one half, and both say a thing twice.
ALIKE = 0.5
# Short texts share half their terms easily: below four shared terms they must share nearly all.
ALIKE_TERMS = 4
ALIKE_SHORT = 0.8
ECHO = 0.7
_FUNCTION_WORDS = "the of and to with for that how by are is as from its on or"
_ENGLISH = frozenset(_FUNCTION_WORDS.split())
_WORD = re.compile(r"[A-Za-z]+")
_QUESTION = re.compile(r"[?？؟]\s*$")
_HAN_OR_KANA = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
# A Chinese or Japanese text takes between one and two characters per English word.
CHARACTERS_PER_WORD = 2


@dataclass(frozen=True, slots=True)
class Context:
    """Context for checks beside the document; English checks are silent unless `english`.

    `exemplar` tells whether the item has one.
    """

    question: str = ""
    source_text: str = ""
    english: bool = True
    weights: Weights = USUAL
    bar: float = BAR
    exemplar: bool = False


def english(language: str, texts: Iterable[str]) -> bool:
    """Whether texts declared to be in `language` (BCP 47) may be held to English rules.

    A forgotten language setting must not nag: a text of eight words or more must hold English function words.
    """
    text = " ".join(texts)
    if not language.lower().startswith("en") or not latin(text):
        return False
    words = _WORD.findall(text.lower())
    return len(words) < 8 or sum(word in _ENGLISH for word in words) >= 0.08 * len(words)


@cache
def phrases(*alternatives: str) -> re.Pattern[str]:
    """A pattern of the alternatives as whole words, in any case; compiled on first use."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


def marked(
    rule: str, pattern: re.Pattern[str], units: Sequence[Unit], message: str, advice: str
) -> Iterator[Finding]:
    """A warning for each unit that matches the pattern; `{found}` in `message` is replaced by the match."""
    for unit in units:
        if result := pattern.search(unit.text):
            yield warning(rule, message.replace("{found}", result.group().strip()), advice, unit.id)


def questions(units: Sequence[Unit], advice: str) -> Iterator[Finding]:
    yield from marked("question", _QUESTION, units, "This is a question.", advice)


def near_duplicates(units: Sequence[Unit], noun: str, bar: float = ALIKE) -> Iterator[Finding]:
    """A warning on each unit that is similar to an earlier one: from a similarity of `bar` on."""
    numbered = [(number, unit, terms(unit.text)) for number, unit in enumerate(units, start=1)]
    warned = set()
    for (first, a, terms_a), (_, b, terms_b) in combinations(numbered, 2):
        if b.id in warned or not _alike(a.text, b.text, terms_a, terms_b, bar):
            continue
        warned.add(b.id)
        yield warning(
            "near-duplicate",
            f"This is very similar to {noun} {first}.",
            "Merge the two, or make the difference clear.",
            b.id,
        )


def _alike(a: str, b: str, terms_a: frozenset[str], terms_b: frozenset[str], bar: float) -> bool:
    bar = bar if len(terms_a & terms_b) >= ALIKE_TERMS else ALIKE_SHORT
    return likeness(terms_a, terms_b) >= bar or a.strip() == b.strip()


def echoes(units: Sequence[Unit], question: str) -> Iterator[Finding]:
    """A warning on each unit that says little more than the question."""
    question_terms = terms(question)
    for unit in units:
        if likeness(terms(unit.text), question_terms) >= ECHO:
            yield warning(
                "echo", "This repeats the question.", "State what the answer must contain.", unit.id
            )


def word_band(unit: Unit, least: int, most: int, norm: str = "the guideline asks for") -> Iterator[Finding]:
    """A warning if the text is shorter or longer than the band, which is wider if words are not spaced.

    Thai, Lao, Burmese and Khmer are let through: their words cannot be counted without a dictionary.
    """
    counted = "words"
    if unspaced(unit.text):
        if not _HAN_OR_KANA.search(unit.text):
            return
        most, counted = most * CHARACTERS_PER_WORD, "characters"
    count = word_count(unit.text)
    if not least <= count <= most:
        advice = "Write a little more." if count < least else "Shorten it, or split it."
        yield warning("length", f"{count} {counted}; {norm} {least} to {most}.", advice, unit.id)


def count_band(units: Sequence[Unit], least: int, most: int, noun: str) -> Iterator[Finding]:
    """A warning if there are fewer or more units than the guideline asks for."""
    if not least <= len(units) <= most:
        yield warning(
            "count",
            f"{len(units):,} {noun}; the guideline asks for {least} to {most}.",
            "Add what is missing." if len(units) < least else "Merge or drop the least important.",
        )


# Fields that every unit has beside its words.
EVERY = {"anchor": "Quotation", "note": "Note"}


class AlignmentRule(StrEnum):
    """How the units of two documents are matched."""

    WORDS = "words"
    """By the similarity of their words."""
    KEY = "key"
    """By equal words, which were given."""
    ID = "id"
    WORK = "work"
    """By the work that they name, through its identifier or title."""


def same(a: Any, b: Any) -> bool:
    """Whether two values count as equal: typed shares and computed ones may differ in a bit."""
    return isclose(a, b, abs_tol=1e-9) if isinstance(a, float) and isinstance(b, float) else bool(a == b)


@dataclass(frozen=True, slots=True)
class UnitField:
    """A field of a unit beside its words: its name and, for a choice, its values.

    Each of the `options` is a value, its words, and its meaning if the words do not say it; `several` may hold at
    once. On the form they are buttons, or a list that shows `asks` if nothing is chosen; without options a number is
    a share of 1, and anything else a line of text, of at most so many characters if it is `above` the words. A
    `shown` field appears with the words wherever the unit is read.

    A difference in a `counted` field makes two units differ, and `same` compares its values. Agreement is measured on
    a field with a `level`, its level of measurement; `correlated` adds r, and `always_ac1` AC1 even if no value is
    rare. An `optional` field is neither measured nor voted on if it is empty everywhere.
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

    `title` names it, `unit` and `units` are its units, and `text` is the name of a unit's words. `what` explains it
    to a newcomer, `prompt` says what to write in an empty field, `hints` are shown below the first unit and below
    others, and `summary`, of a document and the bar of the selection, beside the number of units. `whole` are the
    fields of the document itself, below its units. `fields` are in the order of the form; `says` is the field with
    the statement, if that is not the words. `table` is the name of its table in a release.

    Two documents are `aligned`, which gives the figures of `overlap`; `frozen_fields` are frozen beside the measured
    values. An adjudicator also decides on the order if the kind is `ordered`, which is measured if it is
    `order_measured`, and does not word `given` fields. The mean of the field `scored` is a document's own score, and
    a unit may have the field `instead` in place of words. Units are `made_of` those of another kind: the field with
    their ids, and that kind. `weighed` returns the same under the weights that a project allows.
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
    summary: Callable[[Any, float], str] = lambda *_: ""
    whole: tuple[UnitField, ...] = ()
    text: str = "text"
    says: str = "text"
    aligned: AlignmentRule = AlignmentRule.WORDS
    overlap: tuple[str, ...] = ("match_f1",)
    ordered: bool = False
    order_measured: bool = False
    given: frozenset[str] = frozenset()
    frozen_fields: tuple[str, ...] = ()
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
        """The field of a first vote: the first to be chosen, or the statement in place of words."""
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
        return tuple(field for field in self.fields if field.shown)

    @property
    def counted_fields(self) -> dict[str, UnitField]:
        """The fields that, in addition to the words, make two units differ; notes, quotations and flags never do."""
        return {field.name: field for field in self.fields if field.counted}

    def called(self, field: str) -> str:
        """The name of a field on the page; the words are named like the unit."""
        own = {each.name: each.title for each in self.fields}
        return own.get(field) or EVERY.get(field) or self.unit.capitalize()

    def counted(self, number: int) -> str:
        return f"{number} {self.unit if number == 1 else self.units}"
