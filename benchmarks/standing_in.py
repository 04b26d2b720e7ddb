"""How often the program says Yes to a judge: exactly at the margin, at the best of ten there, and to a better one.

    nice python -m benchmarks.standing_in [--runs 1000] [--items 5 9 20 65] [--people 2 3] [--quick]

A judge at the margin, whose true agreement with people is theirs less δ, is to get Yes in at most 2.5 % of projects
(and 1 % of simulation); so is the best of ten such judges. One that says yes to everything never gets it, where nearly
all units are so. What is left of the rule's strength is shown by a judge .10 above the margin, beside the share of
projects in which its interval alone, of one judge, would allow Yes.

Ten units of one item share what it adds to the logits of truth and of errors. The judge's error rate that makes its
true difference is computed by Gauss and Hermite's quadrature.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotator.actions.sets.validation_figures import JudgeVersion, Key, UnitPlace
from annotator.actions.sets.validation_ground import Ground
from annotator.actions.validation import stand_in
from annotator.actions.validation.stand_in import DELTA, StandInQuery, StandInVerdict
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.protocols import PROTOCOLS, USUAL
from benchmarks.measuring import parser, verdict

UNITS, APART, PEOPLE_ERR = 10, 0.6, 0.15
MOST, LEAST_SHARE, LARGE = 0.035, 0.8, 65
Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """Judges of a true difference to people, at a prevalence; with no difference they say yes to everything."""

    name: str
    prevalence: float
    above: float | None
    judges: int = 1
    people: tuple[int, ...] = (2, 3)


CASES = (
    Case("at the margin", 0.5, 0.0),
    Case("at the margin, prevalence .8", 0.8, 0.0),
    Case("best of ten at the margin", 0.5, 0.0, 10),
    Case("always yes, prevalence .95", 0.95, None),
    Case("always yes, prevalence .99", 0.99, None),
    Case(".10 above the margin", 0.5, 0.1),
)


def spread(share: float, deviates: np.ndarray) -> np.ndarray:
    """The probability at each item, whose logit differs from that of `share` by a normal deviate of APART."""
    return np.asarray(1 / (1 + np.exp(-(np.log(share / (1 - share)) + APART * deviates))))


def labels(rng: Random, items: int, prevalence: float, errors: Sequence[float]) -> list[np.ndarray]:
    """What raters of these error rates say of ten units each of so many items, True for yes."""

    easy, hard = rng.standard_normal((2, items, 1))
    truth = rng.random((items, UNITS)) < spread(prevalence, easy)
    return [truth ^ (rng.random((items, UNITS)) < spread(error, hard)) for error in errors]


def kappa(prevalence: float, one: float, other: float) -> float:
    """Cohen's κ of two raters of these error rates over all items there could be."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    shares = weights / weights.sum()
    yes, first, second = (shares @ spread(at, nodes) for at in (prevalence, one, other))
    both = shares @ (spread(one, nodes) * spread(other, nodes))
    says = [yes * (1 - wrong) + (1 - yes) * wrong for wrong in (first, second)]
    by_chance = says[0] * says[1] + (1 - says[0]) * (1 - says[1])
    return float((1 - first - second + 2 * both - by_chance) / (1 - by_chance))


def error_at(case: Case) -> float:
    """The judge's error rate at which κ with people is theirs less δ, plus what it is `above` the margin."""
    wanted = kappa(case.prevalence, PEOPLE_ERR, PEOPLE_ERR) - DELTA + (case.above or 0.0)
    low, high = 0.001, 0.49
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if kappa(case.prevalence, PEOPLE_ERR, middle) > wanted else (low, middle)
    return (low + high) / 2


def project(people: Sequence[np.ndarray], judges: Sequence[np.ndarray]) -> Ground:
    """The ground of a validation on which these were said."""
    items = len(people[0])
    places = {
        (f"r{item}", f"u{unit}"): UnitPlace(
            f"i{item}", f"i{item}", "", "s", "S", f"r{item}", 1, f"u{unit}", "", 1.0
        )
        for item in range(items)
        for unit in range(UNITS)
    }

    def own(said: np.ndarray) -> dict[Key, str]:
        return dict(zip(places, np.where(said.ravel(), "yes", "no").tolist(), strict=True))

    said = {f"p{n}": own(one) for n, one in enumerate(people)}
    versions = [
        JudgeVersion(Judge(id=f"j{n}", name=f"j{n}", kind=JudgeKind.ENDPOINT), "", own(one))
        for n, one in enumerate(judges)
    ]
    return Ground(PROTOCOLS[USUAL], places, said, {one: one for one in said}, said, versions)


@dataclass(frozen=True)
class Row:
    """The share of projects with some Yes, and of those with some interval that alone would allow it."""

    case: Case
    people: int
    items: int
    yes: float
    alone: float

    @property
    def holds(self) -> bool:
        """Whether Yes is as rare, or where it should be said as frequent, as was wanted."""
        if self.case.above is None:
            return self.yes == 0
        if self.case.above == 0:
            return self.yes <= MOST
        return self.items < LARGE or self.yes >= LEAST_SHARE

    def __str__(self) -> str:
        return (
            f"{self.case.name:32} {self.people:>2} people {self.items:>3} items   Yes {self.yes:.3f}   interval alone "
            f"{self.alone:.3f}{'' if self.holds else '   beyond the goal'}"
        )


def rows(
    runs: int, items: Sequence[int], people: Sequence[int], cases: Sequence[Case] = CASES
) -> Iterator[Row]:
    for case in cases:
        rng = np.random.default_rng(20_260_701)
        error = None if case.above is None else error_at(case)
        for many in (number for number in case.people if number in people):
            for size in items:
                yield measured(rng, case, error, many, size, runs)


def measured(rng: Random, case: Case, error: float | None, people: int, items: int, runs: int) -> Row:
    yes = alone = 0
    for _ in range(runs):
        wrong = [PEOPLE_ERR] * people + [0.5 if error is None else error] * case.judges
        said = labels(rng, items, case.prevalence, wrong)
        judges = said[people:] if error is not None else [np.ones_like(said[0])]
        answers = stand_in.decided(project(said[:people], judges), StandInQuery()).answers
        yes += any(answer.verdict is StandInVerdict.YES for answer in answers)
        alone += any(
            answer.difference.low is not None and answer.difference.low >= -DELTA for answer in answers
        )
    return Row(case, people, items, yes / runs, alone / runs)


def main() -> int:
    """The table; exit code 1 where Yes is said too often, or hardly ever where it should be."""
    options = parser(
        __doc__, runs=(1_000, 3), items=((5, 9, 20, 65), (20,)), people=((2, 3), (2,))
    ).parse_args()
    result = []
    for row in rows(options.runs, options.items, options.people):
        print(row, flush=True)
        result.append(row)
    rare = all(row.holds for row in result if not row.case.above)
    return verdict(options, {"rare": rare, "strong": all(row.holds for row in result if row.case.above)})


if __name__ == "__main__":
    sys.exit(main())
