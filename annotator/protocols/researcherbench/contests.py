"""What comes of comparing systems in pairs: who wins, how often the order decides, and how far length does.

ResearcherBench, appendix E.7: both orders of each pair, E.7.1; the table of wins, E.7.3, Table 7; length, E.7.5. The
paper gives no intervals. Wilson's take what is counted as independent; comparisons that share a report, and the two
verdicts of a pair, are not quite.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from annotator.domain.texts.estimate import Estimate

FIRST, SECOND, TIE = "first", "second", "tie"


class Outcome(StrEnum):
    """What both orders together say of a response against another."""

    WIN = "win"
    LOSS = "loss"
    TIE = "tie"
    INCONSISTENT = "inconsistent"
    ERROR = "error"


def outcome(shown_first: str | None, shown_second: str | None) -> Outcome:
    """What a response's verdicts make: of the order in which it is shown first, and of that in which it is second.

    The same verdict in both orders is the outcome; another one is inconsistent; a verdict that did not come (None)
    makes an error. ValueError for anything but first, second, tie.
    """
    one, two = _as_seen(shown_first, FIRST), _as_seen(shown_second, SECOND)
    if one is None or two is None:
        return Outcome.ERROR
    return one if one is two else Outcome.INCONSISTENT


def may_win(shown_first: str | None, shown_second: str | None) -> bool:
    """Whether a response has won, or still can once what is missing has come."""
    seen = {_as_seen(shown_first, FIRST), _as_seen(shown_second, SECOND)}
    return seen <= {Outcome.WIN, None}


def _as_seen(value: str | None, own: str) -> Outcome | None:
    """One order's verdict as the response sees it that stood in the place named."""
    if value not in (FIRST, SECOND, TIE, None):
        raise ValueError(f"a comparison's verdict is first, second or tie, not {value!r}")
    if value is None or value == TIE:
        return Outcome.TIE if value else None
    return Outcome.WIN if value == own else Outcome.LOSS


@dataclass(frozen=True, slots=True)
class Contest:
    """Two systems on one item: the verdict with `a` shown first, and the one with `b` shown first; None is missing."""

    item_id: str
    a: str
    b: str
    a_first: str | None
    b_first: str | None

    @property
    def outcome(self) -> Outcome:
        """What it is to `a`."""
        return outcome(self.a_first, self.b_first)

    @property
    def mirrored(self) -> "Contest":
        """The same contest as `b` sees it."""
        return Contest(self.item_id, self.b, self.a, self.b_first, self.a_first)


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of the table: how a system's comparisons ended. Table 7 has no column for the inconsistent."""

    system: str
    win: int
    tie: int
    loss: int
    inconsistent: int
    error: int

    @property
    def win_rate(self) -> Estimate:
        """Wins / comparisons judged in both orders, with Wilson's interval (Table 7)."""
        from annotator.stats.intervals.intervals import wilson

        rate = wilson(self.win, self.win + self.tie + self.loss + self.inconsistent)
        note = rate.note if rate.n else "no comparison was judged in both orders"
        if self.error:
            note = "; ".join(filter(None, [note, f"{self.error} comparisons are missing"]))
        return replace(rate, missing=self.error, note=note)


def win_table(contests: Sequence[Contest]) -> list[Standing]:
    """The standing of every system, the highest win rate first, of equal ones by name.

    ValueError when a system meets itself, or two systems meet twice on an item.
    """
    _distinct(contests)
    counts: dict[str, Counter[Outcome]] = {}
    for contest in contests:
        for side in (contest, contest.mirrored):
            counts.setdefault(side.a, Counter())[side.outcome] += 1
    rows = [
        Standing(
            system,
            count[Outcome.WIN],
            count[Outcome.TIE],
            count[Outcome.LOSS],
            count[Outcome.INCONSISTENT],
            count[Outcome.ERROR],
        )
        for system, count in counts.items()
    ]
    return sorted(rows, key=lambda row: (-_height(row), row.system))


def _height(row: Standing) -> float:
    """What a row is sorted by: its win rate, below all others where it has none."""
    rate = row.win_rate.value
    return -1.0 if rate is None else rate


def _distinct(contests: Sequence[Contest]) -> None:
    met = {(contest.item_id, frozenset((contest.a, contest.b))) for contest in contests}
    if len(met) < len(contests) or any(contest.a == contest.b for contest in contests):
        raise ValueError("every pair of different systems meets once on an item")


# Position.


def flip_rate(contests: Sequence[Contest]) -> Estimate:
    """Position bias: of the pairs judged in both orders, the share whose verdict changes with the order (Wilson)."""
    judged, missing = _judged(contests)
    flips = sum(contest.outcome is Outcome.INCONSISTENT for contest in judged)
    return _rate(
        flips, len(judged), missing, "pairs whose verdict changes with the order / pairs judged in both"
    )


def first_slot_rate(contests: Sequence[Contest]) -> Estimate:
    """Of the verdicts that name a winner, the share that names the report shown first (Wilson); 1/2 is no bias.

    Only pairs judged in both orders count, so that each report stood first as often as second.
    """
    judged, missing = _judged(contests)
    verdicts = [verdict for contest in judged for verdict in (contest.a_first, contest.b_first)]
    decided = [verdict for verdict in verdicts if verdict != TIE]
    return _rate(
        decided.count(FIRST), len(decided), missing, "verdicts for the first shown / verdicts for either"
    )


def _judged(contests: Sequence[Contest]) -> tuple[list[Contest], int]:
    """The contests judged in both orders, and how many were not."""
    judged = [contest for contest in contests if contest.outcome is not Outcome.ERROR]
    return judged, len(contests) - len(judged)


def _rate(part: int, whole: int, missing: int, method: str) -> Estimate:
    from annotator.stats.intervals.intervals import wilson

    rate = wilson(part, whole)
    notes = [rate.note, f"{missing} pairs left out: a verdict is missing" if missing else ""]
    return replace(
        rate, missing=missing, method=f"{method}; {rate.method}", note="; ".join(filter(None, notes))
    )


# Length.


@dataclass(frozen=True, slots=True)
class LengthBias:
    """How the win rates of systems go with the mean length of their reports, over systems."""

    pearson: Estimate
    spearman: Estimate
    r_squared: Estimate


def length_bias(lengths: Mapping[str, float], win_rates: Mapping[str, float | None]) -> LengthBias:
    """Pearson's r, Spearman's ρ and R² of mean report length and win rate over systems (appendix E.7.5).

    A system without a win rate is left out. The interval of R² is that of r, squared. ValueError when a system
    has no length.
    """
    from annotator.stats.agreement.correlation import pearson, spearman

    if lacking := win_rates.keys() - lengths.keys():
        raise ValueError(f"no length is known of {', '.join(sorted(lacking))}")
    systems = sorted(win_rates)
    x, y = [lengths[system] for system in systems], [win_rates[system] for system in systems]
    r = pearson(x, y)
    return LengthBias(r, spearman(x, y), _squared(r))


def _squared(r: Estimate) -> Estimate:
    """R² of a straight line: the square of Pearson's r."""
    method = "R², the square of Pearson's r"
    if r.value is None:
        return replace(r, method=method)
    if r.low is None or r.high is None:
        return replace(r, value=r.value**2, method=method)
    ends = sorted((r.low**2, r.high**2))
    return replace(
        r, value=r.value**2, low=0.0 if r.low < 0 < r.high else ends[0], high=ends[1], method=method
    )
