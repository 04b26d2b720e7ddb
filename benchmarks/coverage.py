"""How often each printed 95 % interval holds the true value, over simulated items that differ from one another.

    nice python -m benchmarks.coverage [--runs 1000] [--items 5 9 20 65] [--many 40000] [--quick]

Goal 1 (of issue A1): at least .93 of the runs that show an interval hold the true value; what lies below by chance, at
a p of .01 and more, is marked but no miss. Goal 2: where classes are
balanced, at least 95 % of runs show one from 9 items on. Coverage over .98 is marked, since such an interval is wider
than it need be. An interval without width is none. What shows none says why.

Ten units of one item share what the item adds to the logit of each probability, a normal deviate of .6. The true value
is that of 40 000 items, or known.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotator.actions.results import results
from annotator.domain.judges.protocol import Level, Scale as OrderedScale, Value, numbers
from annotator.domain.texts.estimate import CHANCE, SHARE, Estimate, without_width
from annotator.stats.agreement import levels
from annotator.stats.agreement.agreement import (
    cohen_kappa,
    flip_rate,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
)
from annotator.stats.agreement.levels import MEASURES, over_items, within_items
from annotator.stats.intervals.clustered import (
    cluster_gap,
    cluster_mean,
    clustered_wilson,
    geometric_mean,
    rates,
)
from annotator.stats.intervals.student import mean_interval, paired_means, wilson
from annotator.stats.validation.comparison import (
    RatedPairs,
    alt_test,
    beside,
    both_ways,
    cell_differences,
    kappa_difference,
)
from annotator.stats.validation.correction import SystemUnits, corrected_mean, standings, units_of
from annotator.stats.validation.duels import Duel, win_table
from benchmarks.measuring import parser, verdict

UNITS, APART, MANY = 10, 0.6, 40_000
# The correlation of x = item + unit with y = .7 x + .7 e.
R = 0.7 * (1 + APART**2) ** 0.5 / (0.49 * (1 + APART**2) + 0.49) ** 0.5
LEAST, MOST, SHOWN, FROM = 0.93, 0.98, 0.95, 9
Random = np.random.Generator
Figures = dict[str, Estimate]


@dataclass(frozen=True)
class Setting:
    """Figures of so many simulated items; `true` gives what is known of them, the rest is that of many items.

    Where nothing is rare it is `balanced`. `many` is how many items tell the truth.
    """

    name: str
    simulate: Callable[[Random, int], Figures]
    balanced: bool = False
    true: dict[str, float] | None = None
    many: int = MANY

    def truth(self, most: int) -> dict[str, float]:
        result = self.simulate(np.random.default_rng(1), min(self.many, most))
        of_many = {name: float(one.value) for name, one in result.items() if one.value is not None}
        return of_many | (self.true or {})


@dataclass(frozen=True)
class Row:
    """A line of the table: how often the interval held, of the runs that showed one, its mean width, and why not."""

    figure: str
    setting: str
    items: int
    held: float | None
    shown: float
    width: float | None
    why: str
    balanced: bool
    runs: int

    @property
    def missed(self) -> bool:
        """Whether fewer runs held than ought to, beyond chance."""
        showing = self.shown * self.runs
        return self.held is not None and self.held < LEAST - 2.33 * (LEAST * (1 - LEAST) / showing) ** 0.5

    @property
    def words(self) -> str:
        mark = "" if self.held is None or LEAST <= self.held <= MOST else " <" if self.held < LEAST else " >"
        held = "none" if self.held is None else f"{self.held:.3f}{mark}"
        width = "" if self.width is None else f"{self.width:.3f}"
        why = self.why if self.shown < SHOWN else ""
        return f"{self.figure:28} {self.setting:24} {self.items:3} {held:7} {self.shown:5.2f} {width:6} {why}".rstrip()


def covered(setting: Setting, true: dict[str, float], items: int, runs: int) -> Iterator[Row]:
    """A row for each figure of a setting, whose true values are these."""
    rng = np.random.default_rng([items, runs])
    held, shown, width = Counter[str](), Counter[str](), Counter[str]()
    why: dict[str, Counter[str]] = {name: Counter() for name in true}
    for _ in range(runs):
        for name, one in setting.simulate(rng, items).items():
            if one.low is None or one.high is None or without_width(one):
                why[name][one.note] += 1
                continue
            shown[name] += 1
            width[name] += one.high - one.low
            held[name] += one.low - 1e-9 <= true[name] <= one.high + 1e-9
    for name in true:
        there = shown[name]
        reason = why[name].most_common(1)[0][0] if why[name] else ""
        assert there == runs or reason, f"{name} has no interval and says not why"
        of = (held[name] / there, width[name] / there) if there else (None, None)
        yield Row(name, setting.name, items, of[0], there / runs, of[1], reason, setting.balanced, runs)


def chances(rng: Random, items: int, at: float | Sequence[float]) -> np.ndarray:
    """The probability of each unit (items · units), or of each of several things (things × items · units)."""
    logits = np.log(np.asarray(at) / (1 - np.asarray(at)))[..., None] + APART * rng.standard_normal(
        (*np.shape(at), items)
    )
    return np.repeat(1 / (1 + np.exp(-logits)), UNITS, axis=-1)


def overall(at: float) -> float:
    """The mean of `chances` over all items that there could be, by Gauss and Hermite's quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float(weights @ (1 / (1 + np.exp(-np.log(at / (1 - at)) - APART * nodes))) / weights.sum())


def of_items(items: int) -> np.ndarray:
    """The item of each unit."""
    return np.repeat(np.arange(items, dtype=np.intp), UNITS)


def groups(items: int) -> np.ndarray | None:
    """The item of each unit; None where the truth alone is asked for, which no interval is to delay."""
    return of_items(items) if items < 500 else None


def truth_and(rng: Random, items: int, prevalence: float, *accuracies: float) -> list[np.ndarray]:
    """True values of units, and what raters say who are right so often."""
    true = rng.random(items * UNITS) < chances(rng, items, prevalence)
    right = [rng.random(len(true)) < chances(rng, items, one) for one in accuracies]
    return [true, *(np.where(one, true, ~true) for one in right)]


# Means over items.


def means(draw: Callable[[Random, tuple[int, ...]], np.ndarray]) -> Callable[[Random, int], Figures]:
    def simulate(rng: Random, items: int) -> Figures:
        one, other = draw(rng, (items,)), draw(rng, (items,))
        paired = paired_means(
            *({str(i): Estimate(v) for i, v in enumerate(of.tolist())} for of in (one, other)), SHARE
        )
        return {
            "mean over items": mean_interval(one.tolist(), within=SHARE),
            "paired difference of means": paired.mean,
        }

    return simulate


def counts(rng: Random, items: int) -> Figures:
    return {"mean of counts": mean_interval(rng.poisson(12, items).tolist(), within=(0.0, np.inf))}


# Shares of units.


def shares(at: float) -> Callable[[Random, int], Figures]:
    def simulate(rng: Random, items: int) -> Figures:
        holds = (rng.random(items * UNITS) < chances(rng, items, at)).astype(float)
        again = (rng.random(items * UNITS) < chances(rng, items, at)).astype(float)
        inside = rng.random(items * UNITS) < 0.4
        of = of_items(items)
        return {
            "share of units": clustered_wilson(holds, of),
            "flip rate": flip_rate([holds, again], of),
            "mean of units": cluster_mean(holds - again, of, CHANCE),
            "gap between groups": cluster_gap(holds, inside, of, SHARE),
        }

    return simulate


def wins(rng: Random, items: int) -> Figures:
    """Systems of which the first wins .7 of its duels."""
    result = []
    for item, chance in enumerate(chances(rng, items, 0.7)[::UNITS]):
        for other in "bcd":
            first = "first" if rng.random() < chance else "second"
            result.append(
                Duel(f"{item}", "a", other, first, "second" if first == "first" else "first", f"{item}")
            )
    return {"win rate": next(one.win_rate for one in win_table(result) if one.system == "a")}


def single(rng: Random, items: int) -> Figures:
    """Units that hang together by nothing."""
    x = rng.standard_normal(items)
    y = 0.6 * x + 0.8 * rng.standard_normal(items)
    result = {f"{title}, of pairs": of(x, y) for of, _, title in MEASURES.values()}
    return result | {"share, of units apart": wilson(int((rng.random(items) < 0.9).sum()), items)}


# Raters.


def raters(prevalence: float, accuracy: float) -> Callable[[Random, int], Figures]:
    def simulate(rng: Random, items: int) -> Figures:
        true, judge, person, third = truth_and(rng, items, prevalence, accuracy, accuracy, accuracy)
        of, names = of_items(items), [False, True]
        weights = np.tile([1.0, 2.0], len(true) // 2)
        both = both_ways(true, judge, True, weights, of)
        result = {**both[0], **{f"{name}, weighted": both[1][name] for name in ("accuracy", "kappa")}}
        result |= {
            "percent agreement": percent_agreement(zip(judge, person, strict=True), of),
            "κ of two": cohen_kappa(judge, person, clusters=of),
            "AC1 of three": gwet_ac1([judge, person, third], categories=names, clusters=of),
            "α of three": krippendorff_alpha([judge, person, third], clusters=of),
        }
        gaps = cell_differences(true, judge, person, True, clusters=of)
        result |= {f"difference of {name}": gaps[name] for name in ("accuracy", "specificity", "kappa")}
        result["difference of κ, paired"] = kappa_difference(true, judge, person, clusters=of)
        with_people, people = (
            RatedPairs(np.array(truth), np.array(said), np.array(whose), np.ones(len(whose)))
            for truth, said, whose in (([*person, *third], [*judge, *judge], [*of, *of]), (person, third, of))
        )
        result["difference of κ, stand in"] = beside(with_people, people, "kappa", names, True).difference
        return result

    return simulate


def replaced(rng: Random, items: int) -> Figures:
    _, judge, *people = truth_and(rng, items, 0.5, 0.9, 0.8, 0.8, 0.8)
    result = alt_test(dict(enumerate(people)), judge, clusters=of_items(items))
    return {"advantage of a judge": result.advantage}


GRADES = OrderedScale(Level.ORDINAL, tuple(Value(one, one) for one in ("poor", "fair", "good")))
POINTS = numbers(0, 10)


def ordered(scale: OrderedScale, spread: float) -> Callable[[Random, int], Figures]:
    """Two raters' values of a latent size that items share a part of."""
    top = len(scale.names) - 1

    def simulate(rng: Random, items: int) -> Figures:
        latent = np.repeat(rng.normal(0, APART, items), UNITS) + rng.normal(0, 1, items * UNITS)
        said = [latent + rng.normal(0, spread, len(latent)) for _ in range(2)]
        codes = [np.clip(np.rint(top / 2 + top / 4 * one), 0, top).astype(int) for one in said]
        a, b = ([scale.names[code] for code in one] for one in codes)
        return levels.figures(scale, a, b, groups(items))

    return simulate


def correlated(rng: Random, items: int) -> Figures:
    shared, of = np.repeat(rng.normal(0, APART, items), UNITS), of_items(items)
    x = shared + rng.standard_normal(len(of))
    y = 0.7 * x + 0.7 * rng.standard_normal(len(of))
    few = slice(None, None, 2)
    result = {f"{title}, of units": over_items(name, x, y, of) for name, (_, _, title) in MEASURES.items()}
    return result | {"ρ within items": within_items(x[few], y[few], of[few].astype(str))}


# What is made of several figures.


def corrected(at: float) -> Callable[[Random, int], Figures]:
    def simulate(rng: Random, items: int) -> Figures:
        """Three systems, of which half of the units are labelled in every item."""
        systems: dict[Any, SystemUnits] = {}
        of = of_items(items)
        for name, mean in (("a", at), ("b", at), ("c", at - 0.1)):
            true, judge = truth_and(rng, items, mean, 0.85)
            labels = np.where(np.arange(len(of)) % 2 == 0, true.astype(float), np.nan)
            systems[name] = SystemUnits(labels, judge.astype(float), of, within=SHARE)
        one = systems["a"]
        alone = corrected_mean(units_of(one.labels, one.verdicts, None, of), within=SHARE)
        board = standings(systems)
        # A rank is whole: from 3 to 3 is all of 2.5 to 3.5.
        third = board.ranks["c"]
        if third.low is not None and third.high is not None:
            third = replace(third, low=third.low - 0.5, high=third.high + 0.5)
        gap = next(pair for pair in board.pairs if {pair.first, pair.second} == {"a", "c"})
        sign = 1 if gap.first == "a" else -1
        ends = sorted(sign * end for end in (gap.difference.low, gap.difference.high) if end is not None)
        value = None if gap.difference.value is None else sign * gap.difference.value
        bounds = ends if ends else (None, None)
        return {
            "corrected mean": alone.corrected,
            "the judge's mean": alone.raw,
            "people's mean": alone.labelled,
            "corrected difference": Estimate(value, *bounds, note=gap.difference.note),
            "rank of the third": third,
        }

    return simulate


def of_systems(at: float) -> dict[str, float]:
    """What is true of the systems of `corrected`."""
    mean, right = overall(at), overall(0.85)
    said = mean * right + (1 - mean) * (1 - right)
    known = {
        "corrected mean": mean,
        "people's mean": mean,
        "the judge's mean": said,
        "rank of the third": 3.0,
    }
    return known | {"corrected difference": mean - overall(at - 0.1)}


def pooled(rng: Random, items: int) -> Figures:
    """A rate over all units of reports of unequal length, and the geometric mean of three means."""
    size = rng.integers(2, 20, items)
    hit = rng.binomial(size, chances(rng, items, 0.8)[::UNITS])
    without = 1 - np.eye(items)
    value = float(hit.sum() / size.sum())
    rate = results.with_interval(Estimate(value), rates(hit, size, without), items, SHARE, "")
    scores = rng.beta(6, 3, (3, items))
    left = (scores.sum(axis=1, keepdims=True) - scores) / (items - 1)
    made = float(geometric_mean(scores.mean(axis=1)))
    return {
        "pooled rate": rate,
        "composite": results.with_interval(Estimate(made), geometric_mean(left), items, SHARE, ""),
    }


def beta(mean: float, of: float) -> Callable[[Random, tuple[int, ...]], np.ndarray]:
    return lambda rng, size: rng.beta(of * mean, of * (1 - mean), size)


def yes(at: float) -> Callable[[Random, tuple[int, ...]], np.ndarray]:
    return lambda rng, size: (rng.random(size) < at).astype(float)


# Where all is known, many items need not tell.
KNOWN = 9
NONE = {"paired difference of means": 0.0}
# Of raters who are right as often.
ALIKE = {
    f"difference of {of}": 0.0 for of in ("accuracy", "specificity", "kappa", "κ, paired", "κ, stand in")
}
SETTINGS = (
    Setting("symmetric, .5", means(beta(0.5, 10)), True, {"mean over items": 0.5, **NONE}, KNOWN),
    Setting("skewed, .87", means(beta(0.87, 4)), True, {"mean over items": 0.87, **NONE}, KNOWN),
    Setting("0 or 1, .5", means(yes(0.5)), False, {"mean over items": 0.5, **NONE}, KNOWN),
    Setting("0 or 1, .9", means(yes(0.9)), False, {"mean over items": 0.9, **NONE}, KNOWN),
    Setting("Poisson, 12", counts, True, {"mean of counts": 12.0}, KNOWN),
    *(Setting(f"share {at:g}", shares(at), at == 0.5) for at in (0.5, 0.9, 0.98, 0.998)),
    Setting("of .7", wins, True, many=4_000),
    Setting(
        "of .6", single, False,
        {"Pearson's r, of pairs": 0.6, "Spearman's ρ, of pairs": 6 / np.pi * np.arcsin(0.3),
         "Kendall's τ-b, of pairs": 2 / np.pi * np.arcsin(0.6), "share, of units apart": 0.9}, KNOWN,
    ),
    *(
        Setting(f"prevalence {at:g}, right {right:g}", raters(at, right), at == 0.5, ALIKE, many=20_000)
        for at, right in ((0.5, 0.8), (0.5, 0.9), (0.9, 0.9), (0.98, 0.9), (0.9, 0.98))
    ),
    Setting("three people", replaced, True, many=4_000),
    Setting("three grades", ordered(GRADES, 0.7), True, many=4_000),
    Setting("0 to 10", ordered(POINTS, 0.5), True, many=4_000),
    Setting("0 to 10, alike", ordered(POINTS, 0.15), True, many=4_000),
    # Of normal deviates ρ and τ follow from r, and the mean of ρ over five of them (Moran 1948).
    Setting(
        "of .76", correlated, True,
        {"Pearson's r, of units": R, "Spearman's ρ, of units": 6 / np.pi * np.arcsin(R / 2),
         "Kendall's τ-b, of units": 2 / np.pi * np.arcsin(R),
         "ρ within items": (np.arcsin(0.5**0.5) + 3 * np.arcsin(0.5**1.5)) / np.pi}, KNOWN,
    ),
    *(Setting(f"mean {at:g}", corrected(at), at == 0.6, of_systems(at), KNOWN) for at in (0.6, 0.95)),
    Setting("reports", pooled, True, many=2_000),
)  # fmt: skip


def table(
    runs: int, items: Sequence[int], settings: Sequence[Setting] = SETTINGS, most: int = MANY
) -> Iterator[Row]:
    """All rows; no more than `most` items tell the truth."""
    for setting in settings:
        true = setting.truth(most)
        for many in items:
            yield from covered(setting, true, many, runs)


def main() -> int:
    """The table; exit code 1 when a goal is missed."""
    sizes = {"runs": (1_000, 2), "items": ((5, 9, 20, 65), (9,)), "many": (MANY, 200)}
    options = parser(__doc__, **sizes).parse_args()
    print(f"{'figure':28} {'setting':24} {'n':>3} {'held':7} {'shown':5} {'width':6} why none")
    rows = []
    for row in table(options.runs, options.items, most=options.many):
        print(row.words, flush=True)
        rows.append(row)
    held = not any(row.missed for row in rows)
    shown = all(row.shown >= SHOWN for row in rows if row.balanced and row.items >= FROM)
    least = min(row.held for row in rows if row.held is not None)
    print(f"{len(rows):,} figures, the least coverage {least:.3f}")
    return verdict(options, {"goal 1": held, "goal 2": shown})


if __name__ == "__main__":
    sys.exit(main())
