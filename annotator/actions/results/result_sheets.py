"""Result sheets: tables of cells in words, each with the source of its figure."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from annotator.domain.common import counted
from annotator.domain.texts.estimate import Estimate, decimal, interval, of_items

Worth = float | str | None
UNDEFINED = "–"
_DIGITS, _LONGEST = re.compile(r"\d+"), 12
_NO_KEY = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class FigureSource:
    """The source of a figure: a metric, or judgements by rater and subject; empty values match everything."""

    protocol: str
    rater_id: str
    metric: str = ""
    system_id: str = ""
    group_by: str = "all"
    group: str = "all"
    item_id: str = ""
    response_id: str = ""
    unit_id: str = ""
    # The mode whose responses count, if it is not the one that counts in the results.
    mode: str = ""
    # The title when it is opened; empty for the words of the cell or its line.
    words: str = ""


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell: its words, its sort key (None sorts last), and its tooltip.

    `state` names a state of the work if the cell shows one: agreed, disagree, incomplete, missing, unfit for figures
    that are not publishable, or flat for figures that distinguish nothing. `picture` names the picture that shows it
    best.
    """

    words: str
    worth: Worth = None
    tip: str = ""
    state: str = ""
    source: FigureSource | None = None
    metric: str = ""
    picture: str = ""
    # The value for machines; None stands for the words.
    value: Worth = None
    estimate: Estimate | None = None
    # For a figure, its standard deviation over runs, if a table has it.
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class SheetLine:
    """A row of cells and its subject; `more` holds details, each part under a heading."""

    cells: tuple[SheetCell, ...]
    item_id: str = ""
    unit_id: str = ""
    kind: str = ""
    response_id: str = ""
    more: tuple[tuple[str, str], ...] = ()
    source: FigureSource | None = None
    picture: str = ""


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column under a key that stays when words change; `tip` explains its figures, `beside` holds for all of them."""

    key: str
    title: str
    tip: str = ""
    unit: str = ""
    beside: str = ""

    @property
    def head(self) -> str:
        titled = f"{self.title} ({self.unit})" if self.unit else self.title
        return f"{titled}, {self.beside}" if self.beside else titled


# The subjects of most tables.
ITEM_COLUMN, QUESTION_COLUMN = SheetColumn("item", "Item"), SheetColumn("question", "Question")
SYSTEM_COLUMN, JUDGE_COLUMN = SheetColumn("system", "System"), SheetColumn("judge", "Judge")
P_COLUMN = SheetColumn(
    "p", "p", "How often chance alone gives a correlation so far from 0: two-sided, by Student's t"
)
RUN_COLUMN = SheetColumn("run", "Run", "Which run of the system on the item")


@dataclass(frozen=True, slots=True)
class ResultSheet:
    """A table under a key and a title; `notes` are sentences about all of it, of which the first `answers` ones answer
    the question asked; `departures` are the view's own differences from the paper, besides its metric's.
    """

    key: str
    title: str
    columns: tuple[SheetColumn, ...]
    lines: tuple[SheetLine, ...]
    notes: tuple[str, ...] = ()
    pictures: tuple["SheetPicture", ...] = ()
    departures: tuple[str, ...] = ()
    answers: int = 0
    # The metrics of its figures, besides those of its cells.
    metrics: tuple[str, ...] = ()
    # The table for machines, with a line for each figure; None if it is the same.
    long: "ResultSheet | None" = None
    # The `ResultRater` of its judgements, until the remarks on that rater are among the sheet's notes.
    rater: Any = None

    @property
    def keys(self) -> list[str]:
        return [column.key for column in self.columns]


@dataclass(frozen=True, slots=True)
class SheetPicture:
    name: str
    title: str
    draw: Callable[[Any], Any]


def picture(name: str, title: str, draw: Callable[..., Any], *shown: object, **how: object) -> SheetPicture:
    """A picture made by a function that takes the title first, then the data."""
    return SheetPicture(name, title, partial(draw, title, *shown, **how))


@dataclass(frozen=True, slots=True)
class ViewChoice:
    """A choice that a view offers: name, title, and values with their titles.

    The default is the `usual` value, or the first one; `tip` explains the choice. With `only_if` it is offered only if
    the choice of that name, which precedes it, has one of those values. An `open` choice also accepts other values than
    those offered.
    """

    name: str
    words: str
    values: tuple[tuple[str, str], ...]
    only_if: tuple[str, tuple[str, ...]] | None = None
    tip: str = ""
    usual: str = ""
    open: bool = False


def no_choices(_: object) -> tuple[ViewChoice, ...]:
    return ()


def columns(*declared: SheetColumn | tuple[str, ...]) -> tuple[SheetColumn, ...]:
    """Columns; those not built yet are given by key, title and, if that is not enough, an explanation."""
    return tuple(one if isinstance(one, SheetColumn) else SheetColumn(*one) for one in declared)


def key_of(*names: str) -> str:
    """The key for a name here, such as a system's column: words in lower case, joined by underscores."""
    return _NO_KEY.sub("_", "_".join(names).casefold()).strip("_")


def text(words: str, tip: str = "", state: str = "") -> SheetCell:
    """A cell that is sorted by its words, with numbers in them by size."""
    key = _DIGITS.sub(lambda match: match[0].zfill(_LONGEST), words.casefold())
    return SheetCell(words, key, tip, state, value=words)


def count(number: float | None, tip: str = "", form: str = ",") -> SheetCell:
    words = UNDEFINED if number is None else format(number, form).replace("-", "−")
    return SheetCell(words, number, tip, value=number)


def share(value: float | None, places: int = 1, absent: str = "") -> SheetCell:
    """A cell with a share in percent; `absent` explains a missing one."""
    if value is None:
        return missing(absent) if absent else SheetCell(UNDEFINED)
    return SheetCell(percent(value, places), value, value=value)


def chance(p: float | None) -> SheetCell:
    """A cell with a p value; a very small one is not written out."""
    small = p is not None and p < 0.001
    return replace(count(p, form=".3f"), words="< 0.001") if small else count(p, form=".3f")


def missing(why: str) -> SheetCell:
    return SheetCell(UNDEFINED, None, why, "missing")


def figure(estimate: Estimate, unit: str = "") -> SheetCell:
    """A figure with its interval; its tip says where it comes from."""
    state = "incomplete" if estimate.missing else "" if estimate.value is not None else "missing"
    tip = "\n".join(explained(estimate, unit))
    return SheetCell(
        in_words(estimate, unit), estimate.value, tip, state, value=estimate.value, estimate=estimate
    )


def number(value: float, unit: str = "") -> str:
    """A value in words: three decimal places, fewer for large values."""
    size = abs(value)
    digits = decimal(value, 3 if size < 10 else 2 if size < 100 else 1 if size < 1000 else 0)
    return f"{digits} {unit}" if unit else digits


def percent(share: float, places: int = 0) -> str:
    return f"{decimal(100 * share, places)} %"


def in_words(estimate: Estimate, unit: str = "") -> str:
    """A figure with its interval, how much of it is missing, and its basis."""
    value = UNDEFINED if estimate.value is None else number(estimate.value, unit)
    basis = estimate.basis.words() if estimate.basis else ""
    return "  ".join(part for part in (value, interval(estimate, number), gaps(estimate), basis) if part)


def gaps(estimate: Estimate) -> str:
    """“2 missing; with them 0.250 to 0.750”: the number of missing judgements, and the range they leave."""
    return f"{estimate.missing:,} missing{_range(estimate)}" if estimate.missing else ""


def or_why(estimate: Estimate, beside: str = "") -> str:
    """A figure in words, followed by `beside`; if undefined, the reason."""
    return (
        f"{in_words(estimate)}{beside}"
        if estimate.value is not None
        else f"undefined ({of_items(estimate.note)})"
    )


def explained(estimate: Estimate, unit: str = "") -> list[str]:
    """Where a figure comes from: n, method, missing judgements and the range they leave, and why it is undefined."""
    parts = [f"n = {estimate.n:,}", estimate.method]
    if estimate.missing:
        parts.append(f"{counted(estimate.missing, 'judgement')} missing{_range(estimate, unit)}")
    return [of_items(part) for part in (*parts, estimate.note) if part]


def _range(estimate: Estimate, unit: str = "") -> str:
    if estimate.floor is None or estimate.ceiling is None:
        return ""
    return f"; with them {number(estimate.floor, unit)} to {number(estimate.ceiling, unit)}"
