"""Estimates: a value with its interval, its n, and the reason if it is undefined."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date
from math import isclose, isfinite, log
from typing import Any, Protocol

from annotator.domain.common import counted
from annotator.domain.texts.words import term_counts

# With fewer items than FEWEST there is no interval: percentiles and quantiles of so few are not reliable. Below FEW
# an interval is usually too narrow (Cameron, Gelbach & Miller 2008, on few clusters), and is called rough.
FEWEST, FEW = 5, 10
ROUGH = "the interval is rough"
# The words in place of an interval whose ends are equal, and the caveat about it.
NO_SPREAD, NO_WIDTH = "no spread", "the interval has no width; that is no certainty"
_ROUNDING = 1e-12
# Plurals of counted things whose singular is not the plural without its s.
ONE = {"matches": "match", "independent matches": "independent match"}
# Counts of citations grow: counts further apart in time get a note.
APART_DAYS = 30
# The bounds of shares, and of figures measured from chance at 0: κ, correlations.
SHARE, CHANCE = (0.0, 1.0), (-1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Basis:
    """The measuring base of a figure that differs from report to report.

    Points and the pages they come from, or the first and last day of counts made elsewhere.
    """

    points: int = 0
    read: int = 0
    pages: int = 0
    days: tuple[date, date] | None = None

    def __add__(self, other: "Basis") -> "Basis":
        days = [day for of in (self.days, other.days) if of is not None for day in of]
        return Basis(
            self.points + other.points,
            self.read + other.read,
            self.pages + other.pages,
            (min(days), max(days)) if days else None,
        )

    def words(self) -> str:
        """“20 points, 7 of 12 pages read”; “counted from 2026-01-02 to 2026-01-31”."""
        if self.days is None:
            pages = f", {self.read:,} of {self.pages:,} pages read" if self.pages else ""
            return f"{counted(self.points, 'point')}{pages}"
        first, last = self.days
        dates = f"counted on {first}" if first == last else f"counted from {first} to {last}"
        far = (last - first).days > APART_DAYS
        return f"{dates}; counts are more than {APART_DAYS} days apart" if far else dates


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its provenance. `value` is None if undefined; `note` then says why.

    `low` and `high` bound the 95 % interval; `floor` and `ceiling` the range that missing judgements could move the
    value to. `n` counts the averaged things, `missing` the missing judgements. A `basis` is shown with the value
    everywhere. `within` is its range if that differs from its metric's.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    missing: int = 0
    floor: float | None = None
    ceiling: float | None = None
    method: str = ""
    note: str = ""
    basis: Basis | None = None
    within: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        for name in ("value", "low", "high", "floor", "ceiling"):
            if getattr(self, name) == 0:
                object.__setattr__(self, name, unsigned(getattr(self, name)))

    @property
    def complete(self) -> bool:
        return self.missing == 0

    def remarked(self, *notes: str) -> "Estimate":
        return replace(self, note="; ".join(note for note in (self.note, *notes) if note))

    def based(self, basis: Basis | None) -> "Estimate":
        return replace(self, basis=basis).remarked(basis.words()) if basis else self


def bases(estimates: Iterable[Estimate]) -> Basis | None:
    """The combined basis of several figures; None if none of them has one."""
    known = [estimate.basis for estimate in estimates if estimate.basis is not None]
    return sum(known, Basis()) if known else None


def unsigned(value: Any) -> Any:
    """The value, but zero without a sign: no file should say −0.0."""
    return value + 0.0 if isinstance(value, float) else value


class Bounded(Protocol):
    """Anything with an interval: an estimate, a figure of an agreement or of a card."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def note(self) -> str: ...


def decimal(value: float, places: int = 3) -> str:
    """A number with so many decimal places and a true minus, but none before a zero."""
    return f"{round(value, places) + 0.0:,.{places}f}".replace("-", "−")


def without_width(bounded: Bounded) -> bool:
    """Whether an interval has no width, since the items behind it do not differ."""
    if bounded.low is None or bounded.high is None:
        return False
    return isclose(bounded.low, bounded.high, rel_tol=_ROUNDING, abs_tol=_ROUNDING)


def interval(bounded: Bounded, say: Callable[[float], str] = decimal) -> str:
    """An interval as written everywhere, “[0.312, 0.415]”, followed by “rough” if it is; empty without one.

    One without width is “no spread”.
    """
    if bounded.low is None or bounded.high is None:
        return ""
    if without_width(bounded):
        return NO_SPREAD
    return f"[{say(bounded.low)}, {say(bounded.high)}]{' rough' if ROUGH in bounded.note else ''}"


def enough(count: int) -> bool:
    """Whether `count` independent things give an interval."""
    return count >= FEWEST


def few(count: int, what: str = "items") -> str:
    """The caveat on an interval over `count` independent things; empty if they are enough."""
    if count >= FEW:
        return ""
    named = f"{count} {ONE.get(what, what.removesuffix('s')) if count == 1 else what}"
    if enough(count):
        return f"{named} only: {ROUGH}"
    return f"{named} {'is' if count == 1 else 'are'} too few for an interval, which takes {FEWEST}"


def of_items(text: str, thing: str = "item") -> str:
    """A method or a note as people read it: clusters are named by what they are in a project."""
    return text.replace("cluster", thing)


def settled(
    estimate: Estimate, count: int, what: str = "items", within: tuple[float, float] | None = None
) -> Estimate:
    """A figure whose interval is over `count` independent things, under the one rule for all intervals.

    Over fewer than FEWEST there is no interval but a reason, over fewer than FEW it is called rough; that of a figure
    which lies `within` two bounds is cut there and says so. A value outside the bounds stays inside its interval.
    """
    if estimate.value is None:
        return estimate
    if not enough(count):
        return replace(estimate, low=None, high=None).remarked(few(count, what))
    estimate = estimate.remarked(few(count, what))
    return estimate if within is None else cut(estimate, within)


def cut(estimate: Estimate, within: tuple[float, float]) -> Estimate:
    """A figure whose interval ends at the figure's bounds, with a note if it was cut."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = (
        min(max(estimate.low, within[0]), estimate.value),
        max(min(estimate.high, within[1]), estimate.value),
    )
    if (low, high) == (estimate.low, estimate.high):
        return estimate
    ends = " and ".join(f"{end:g}" for end in within if isfinite(end))
    return replace(estimate, low=low, high=high).remarked(
        f"the interval is cut at {ends}: the figure lies within"
    )


# As in most search engines: how soon a repeated word stops counting, and how much a long text is penalised.
SATURATION, LENGTH = 1.2, 0.75


class TextRanking:
    """A search index of texts, built once and queried often."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._holding: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._lengths: list[int] = []
        for place, text in enumerate(texts):
            counts = term_counts(text)
            self._lengths.append(counts.total())
            for term, count in counts.items():
                self._holding[term].append((place, count))
        self._usual = sum(self._lengths) / len(self._lengths) if self._lengths else 0.0

    def ranked(self, query: str) -> list[int]:
        """The positions of the texts that share a word with the query, the best first, of equals the earlier."""
        scores: dict[int, float] = defaultdict(float)
        for term in term_counts(query):
            held = self._holding.get(term, ())
            rarity = log(1 + (len(self._lengths) - len(held) + 0.5) / (len(held) + 0.5))
            for place, count in held:
                longer = 1 - LENGTH + LENGTH * self._lengths[place] / self._usual
                scores[place] += rarity * count * (SATURATION + 1) / (count + SATURATION * longer)
        return sorted(scores, key=lambda place: (-scores[place], place))
