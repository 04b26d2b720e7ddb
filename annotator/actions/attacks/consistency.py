"""Consistency: a judge with itself over trials, and two judges with each other on the same units."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from statistics import fmean, stdev
from typing import Any

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import by_unit
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetLine,
    columns,
    count,
    figure,
    or_why,
    text,
)
from annotator.domain.judges.level_figures import WORDS
from annotator.domain.judges.scale import Level
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL

# Item, response, unit.
Unit = tuple[str, str, str]
ByTrial = Mapping[Unit, Mapping[int, str]]
# Figures that values without an order have too keep the names they have there.
CALLED = {name: title for name, (title, _) in WORDS.items() if name != "alpha"}


@dataclass(frozen=True, slots=True)
class SelfConsistency:
    """A judge against itself: how often its verdict changed on units judged at least twice.

    `flips` is the share of units on which not all trials agree, `agreement` the share of pairs of trials that do,
    averaged over units, `alpha` Krippendorff's α with the trials as raters. `more` are the other figures of ordered
    values, over every two trials of a unit.
    """

    judge: str
    protocol: str
    trials: int
    units: int
    flips: Estimate
    agreement: Estimate
    alpha: Estimate
    more: Mapping[str, Estimate] = field(default_factory=dict)

    def tree(self) -> dict[str, Any]:
        return _tree(self)

    def words(self) -> list[str]:
        figures = {"flip rate": self.flips, "agreement": self.agreement, "alpha": self.alpha, **self.more}
        return [f"{counted(self.units, 'unit')} judged more than once.", *_lines(figures)]


@dataclass(frozen=True, slots=True)
class JudgeConsistency:
    """Two judges against each other, each by what its trials come to, over the units that both judged.

    `more` are the figures that fit the protocol's values; `over_runs` and `spread` are the mean and the standard
    deviation of their agreement over the trials that both have.
    """

    judge: str
    other: str
    protocol: str
    units: int
    agreement: Estimate
    more: Mapping[str, Estimate]
    over_runs: Estimate
    spread: Estimate

    def tree(self) -> dict[str, Any]:
        return _tree(self)

    def words(self) -> list[str]:
        return [
            f"{counted(self.units, 'unit')} judged by both.",
            *_lines({"agreement": self.agreement, **self.more}),
            *_lines(
                {"mean agreement over runs": self.over_runs, "standard deviation over runs": self.spread}
            ),
        ]


@dataclass(frozen=True, slots=True)
class JudgeRuns:
    """Two judges' agreement in each run that both have: how many units, its mean and its standard deviation."""

    judge: str
    other: str
    protocol: str
    units: int
    over_runs: Estimate
    spread: Estimate


def _tree(found: SelfConsistency | JudgeConsistency) -> dict[str, Any]:
    """The figures side by side, whether every protocol has them or only some."""
    tree = asdict(found)
    more: dict[str, Any] = tree.pop("more")
    return {**tree, **more}


def within(project: Project, judge: str, protocol: str = USUAL) -> SelfConsistency:
    """A judge's agreement with itself over its trials; what is undefined says why in its note."""
    from annotator.stats.agreement import levels
    from annotator.stats.agreement.alpha import krippendorff_alpha
    from annotator.stats.agreement.repeats import flip_rate

    scale = PROTOCOLS[protocol].scale
    said = by_unit(project, protocol, judges.named(project, judge).id)
    repeated = {unit: values for unit, values in sorted(said.items()) if len(values) > 1}
    trials = sorted({trial for values in repeated.values() for trial in values})
    by_trial = [[values.get(trial) for values in repeated.values()] for trial in trials]
    items = [unit[0] for unit in repeated]
    more: dict[str, Estimate] = {}
    if scale.level is Level.NOMINAL:
        alpha = krippendorff_alpha(by_trial, clusters=items or None)
    else:
        alpha = levels.alpha_of(scale, by_trial, items or None)
        pairs = [
            (unit[0], *pair)
            for unit, values in repeated.items()
            for pair in combinations(list(values.values()), 2)
        ]
        where, first, second = ([pair[part] for pair in pairs] for part in range(3))
        more = levels.figures(scale, first, second, where or None, form="1,1")
        more = {name: figure for name, figure in more.items() if name != "alpha"}
    return SelfConsistency(
        judge=judge,
        protocol=protocol,
        trials=len(trials),
        units=len(repeated),
        flips=flip_rate(by_trial, items or None),
        agreement=_pairwise([list(values.values()) for values in repeated.values()]),
        alpha=alpha,
        more=more,
    )


def between(project: Project, judge: str, other: str, protocol: str = USUAL) -> JudgeConsistency:
    """The agreement of two judges, such as one asked unit by unit and the same asked several together."""
    from annotator.stats.agreement import levels
    from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
    from annotator.stats.agreement.alpha import krippendorff_alpha

    scale = PROTOCOLS[protocol].scale
    said = [by_unit(project, protocol, judges.named(project, name).id) for name in (judge, other)]
    first, second = (
        {unit: value for unit, of in found.items() if (value := scale.agreed([*of.values()])) is not None}
        for found in said
    )
    shared = sorted(first.keys() & second.keys())
    a, b = [first[unit] for unit in shared], [second[unit] for unit in shared]
    items = [unit[0] for unit in shared] or None
    if scale.level is Level.NOMINAL:
        more = {
            "kappa": cohen_kappa(a, b, clusters=items),
            "alpha": krippendorff_alpha([a, b], clusters=items),
        }
    else:
        more = levels.figures(scale, a, b, items)
    return JudgeConsistency(
        judge=judge,
        other=other,
        protocol=protocol,
        units=len(shared),
        agreement=percent_agreement(zip(a, b, strict=True), items or None),
        more=more,
        over_runs=(runs := _over_runs(*said))[0],
        spread=runs[1],
    )


def report(project: Project, protocol: str = USUAL) -> tuple[JudgeRuns, ...]:
    """Every two judges that judged the same units under a protocol, run by run."""
    said = {judge.name: by_unit(project, protocol, judge.id) for judge in judges.all_of(project)}
    pairs = (
        JudgeRuns(a, b, protocol, len(said[a].keys() & said[b].keys()), *_over_runs(said[a], said[b]))
        for a, b in combinations(said, 2)
    )
    return tuple(one for one in pairs if one.over_runs.n)


def sheets(found: tuple[JudgeRuns, ...]) -> tuple[ResultSheet, ...]:
    heads = columns(
        ("judge", "Judge"), ("other", "Other judge"),
        ("agreement", "Same verdict", "Share of units on which both say the same in a run, averaged over runs"),
        ("spread", "Standard deviation", "Of that share, over runs"),
        ("runs", "Runs"), ("units", "Units", "Judged by both; of a pair of reports each order that was asked"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.judge), text(one.other), figure(one.over_runs), figure(one.spread), count(one.over_runs.n),
            count(one.units),
        ))
        for one in found
    )  # fmt: skip
    return (ResultSheet("between", "Judges beside each other", heads, lines),) if lines else ()


def _over_runs(one: ByTrial, other: ByTrial) -> tuple[Estimate, Estimate]:
    """The mean of two judges' agreement over the trials that both have, and its standard deviation."""
    by_trial: dict[int, list[bool]] = defaultdict(list)
    for unit in one.keys() & other.keys():
        for trial in one[unit].keys() & other[unit].keys():
            by_trial[trial].append(one[unit][trial] == other[unit][trial])
    shares = [fmean(alike) for _, alike in sorted(by_trial.items())]
    n, method = len(shares), "agreement of both judges in each run, over runs"
    few = "" if n else "no run has both"
    mean = Estimate(fmean(shares) if shares else None, n=n, method=method, note=few)
    few = few or ("one run has no spread" if n == 1 else "")
    return mean, Estimate(
        stdev(shares) if n > 1 else None, n=n, method=f"standard deviation, {method}", note=few
    )


def _lines(figures: Mapping[str, Estimate]) -> list[str]:
    return [f"{CALLED.get(name, name)}: {or_why(figure)}" for name, figure in figures.items()]


def _pairwise(repeated: list[list[str]]) -> Estimate:
    method = "share of pairs of trials with the same verdict, averaged over units"
    shares = [
        sum(a == b for a, b in pairs) / len(pairs)
        for pairs in (list(combinations(values, 2)) for values in repeated)
    ]
    if not shares:
        return Estimate(None, method=method, note="no unit was judged twice")
    return Estimate(sum(shares) / len(shares), n=len(shares), method=method)
