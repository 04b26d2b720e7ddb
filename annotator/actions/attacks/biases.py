"""Biases visible in existing verdicts, and judges' agreement with themselves and with each other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from statistics import fmean, median, stdev
from typing import Any

from sqlalchemy import func, select

from annotator.actions.attacks import attack_figures, attacking
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    or_why,
    text,
)
from annotator.actions.sets import validation_figures, validation_ground
from annotator.actions.sets.validation_ground import Ground, ValidationRater
from annotator.actions.studies import pair_views
from annotator.domain.common import Refusal, counted, grouped
from annotator.domain.judges.protocol import WORDS, Level
from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.judging.attacks import TARGETS
from annotator.protocols import PROTOCOLS, USUAL
from annotator.stats.agreement import agreement, levels
from annotator.stats.agreement.agreement import cohen_kappa, krippendorff_alpha, percent_agreement
from annotator.stats.intervals.clustered import cluster_gap, cluster_mean
from annotator.stats.validation.duels import first_slot_rate, flip_rate
from annotator.storage.tables import RESPONSE


@dataclass(frozen=True, slots=True)
class Bias:
    judge_id: str
    judge: str
    about: str
    name: str
    figure: Estimate
    definition: str
    # The value that means no bias.
    none: float = 0.0


@dataclass(frozen=True, slots=True)
class _Row:
    """A unit judged by a judge and labelled by a person: its subject and the difference (`lean`; up, or to yes)."""

    item_id: str
    response_id: str
    system_id: str
    true: bool
    lean: float

    @property
    def errs(self) -> float:
        return abs(self.lean)


POSITION, LENGTH, FAMILY = "position", "length", "same family"
LEANS = "[judge says {positive}] − [person says {positive}], averaged"
LEANS_UP = "The judge's value − the person's, in units of the scale, averaged"
LEVEL_BIAS = "level"


@people.for_coordinators("can see judges' biases")
def report(project: Project, protocol: str = USUAL, judge: str = "") -> list[Bias]:
    """The biases of each judge, or of the one of that name, over all its trials; intervals over items.

    Undefined figures give the reason. Length and family biases use all labels that people submitted, except those that
    validation sets hold back.
    """
    only_judge = judges.named(project, judge).id if judge else ""
    result = [*_of_pairs(project), *_of_labels(project, protocol)]
    return [bias for bias in result if only_judge in ("", bias.judge_id)]


# Position.


def _of_pairs(project: Project) -> list[Bias]:
    result = []
    for protocol in pair_views.JUDGED:
        what = f" ({PROTOCOLS[protocol].title})" if len(pair_views.JUDGED) > 1 else ""
        for rater in result_raters.raters(project, protocol):
            if not result_raters.are_people(rater.id):
                result += _position(
                    rater,
                    [
                        pair
                        for trial in pair_views.trials(project, protocol, rater.id) or [1]
                        for pair in pair_views.pairs(project, protocol, rater.id, trial)
                        if pair.is_asked or trial == 1
                    ],
                    what,
                )
    return result


def _position(
    judge: result_raters.ResultRater, pairs: Sequence[pair_views.DuelPair], what: str
) -> list[Bias]:
    return [
        Bias(judge.id, judge.name, POSITION, f"Verdict changes with the order{what}", flip_rate(pairs),
             "Of the pairs judged in both orders, trial by trial, those whose verdict changes with the order"),
        Bias(judge.id, judge.name, POSITION, f"First one named{what}", first_slot_rate(pairs),
             "Of the verdicts that name a winner, in pairs judged in both orders, those for the report shown first; "
             "one half is no bias", 0.5),
    ]  # fmt: skip


# Length and family.


def _of_labels(project: Project, protocol: str) -> list[Bias]:
    try:
        result = validation_ground.ground(project, protocol)
    except Refusal as refusal:
        return _undefined(project, protocol, refusal.happened)
    lengths, own = (
        dict(project.query(select(RESPONSE.c.id, func.length(RESPONSE.c.text))).all()),
        {member.id: member.family for member in attacking.members(project)},
    )
    made = []
    every = [
        replace(result, versions=validation_figures.of_judges(project, result.protocol, "", trial))
        for trial in validation_figures.trials(project, result.protocol)
    ]
    for rater in result.judges():
        rows = [row for at_one in every for row in _rows(at_one, rater)]
        made += _level(result, rater, rows)
        made += _length(result, rater, rows, lengths)
        made += _family(result, rater, rows, own)
    return made


def _undefined(project: Project, protocol: str, why: str) -> list[Bias]:
    """Undefined figures of each judge without labels to compare with."""
    known = [
        rater for rater in result_raters.raters(project, protocol) if not result_raters.are_people(rater.id)
    ]
    none = Estimate(None, method="difference of two means", note=why)
    return [
        Bias(one.id, one.name, about, title, none, "Judges are compared with labels that people submitted")
        for one in known
        for about, title in ((LENGTH, "Leans to longer reports"), (FAMILY, "Leans to its own family"))
    ]


def _rows(ground: Ground, rater: ValidationRater) -> list[_Row]:
    if rater not in ground.judges():
        return []
    scale, positive = ground.protocol.scale, ground.protocol.values[0]
    rows = []
    for row in ground.rows(rater, ground.known):
        if row.verdict is not None:
            place, true = ground.places[row.key], row.true == positive
            lean: float = int(row.verdict == positive) - int(true)
            if scale.level is not Level.NOMINAL:
                lean = scale.number(row.verdict) - scale.number(row.true)
            rows.append(_Row(place.item_id, place.response_id, place.system_id, true, lean))
    return rows


def _length(
    ground: Ground, rater: ValidationRater, rows: Sequence[_Row], lengths: Mapping[str, int]
) -> list[Bias]:
    """Longer and shorter reports than the median on the same item, so that hard items weigh on both sides."""
    of_item = grouped((row.item_id, row.response_id) for row in rows)
    middle = {item: median(lengths[member] for member in {*members}) for item, members in of_item.items()}
    sides = [
        (row, lengths[row.response_id] > middle[row.item_id])
        for row in rows
        if lengths[row.response_id] != middle[row.item_id]
    ]
    positive, ordered = ground.protocol.values[0], ground.protocol.scale.level is not Level.NOMINAL
    longer = "over reports longer than the median one on their item less over shorter ones"
    unlike = "Mean distance from the person's value" if ordered else "Share of verdicts unlike the person's"
    names: tuple[tuple[str, Sequence[tuple[_Row, bool]], Callable[[_Row], float], str], ...] = (
        ("Leans to longer reports", sides, lambda row: row.lean, f"{_leans(ground)} {longer}"),
        ("Errs more on longer reports", sides, lambda row: row.errs, f"{unlike}, {longer}"),
        (f"“{positive}” where people "
        "disagree", [one for one in sides if not one[0].true], lambda row: row.errs,
         "At equal labels: share of units labelled negative by people that the judge marks positive, "
         f"{longer}"),
        (f"Not “{positive}” where people say so", [one for one in sides if one[0].true], lambda row: row.errs,
         "At equal labels: share of units labelled positive by people that the judge marks negative, "
         f"{longer}"),
    )  # fmt: skip
    return [
        Bias(rater.id, _called(ground, rater), LENGTH, name, _gap(chosen, of, _within(ground)), words)
        for name, chosen, of, words in (names[:2] if ordered else names)
    ]


def _leans(ground: Ground) -> str:
    if ground.protocol.scale.level is Level.NOMINAL:
        return LEANS.format(positive=ground.protocol.values[0])
    return LEANS_UP


def _level(ground: Ground, rater: ValidationRater, rows: Sequence[_Row]) -> list[Bias]:
    if ground.protocol.scale.level is Level.NOMINAL:
        return []
    lean = cluster_mean([row.lean for row in rows], [row.item_id for row in rows], _within(ground))
    return [Bias(rater.id, _called(ground, rater), LEVEL_BIAS, "Leans to higher values", lean, LEANS_UP)]


def _family(
    ground: Ground, rater: ValidationRater, rows: Sequence[_Row], known: Mapping[str, str]
) -> list[Bias]:
    own = known.get(rater.id, "")
    name = "Leans to its own family"
    words = (
        f"{_leans(ground)} over systems of the judge's own family"
        f"{f' ({own})' if own else ''} less over systems of other known families"
    )
    if not own:
        none = Estimate(None, method="difference of two means", note="the judge is of no known family")
        return [Bias(rater.id, _called(ground, rater), FAMILY, name, none, words)]
    sides = [(row, known[row.system_id] == own) for row in rows if known.get(row.system_id)]
    return [
        Bias(
            rater.id,
            _called(ground, rater),
            FAMILY,
            name,
            _gap(sides, lambda row: row.lean, _within(ground)),
            words,
        )
    ]


def _within(ground: Ground) -> tuple[float, float]:
    """The range of a lean: a verdict is the positive one or not, a level may be any number of steps away."""
    scale = ground.protocol.scale
    if scale.level is Level.NOMINAL:
        return CHANCE
    numbers = [scale.number(name) for name in scale.names]
    span = float(max(numbers) - min(numbers))
    return -span, span


def _gap(
    sides: Sequence[tuple[_Row, bool]], of: Callable[[_Row], float], within: tuple[float, float]
) -> Estimate:
    values, items = [of(row) for row, _ in sides], [row.item_id for row, _ in sides]
    return cluster_gap(values, [inside for _, inside in sides], items, within)


def _called(ground: Ground, rater: ValidationRater) -> str:
    """A judge's name, with the start of its prompt's hash if it judged with several."""
    several = sum(judge.id == rater.id for judge in ground.judges()) > 1
    return f"{rater.name} ({rater.prompt[:8] or 'no wording'})" if several else rater.name


ANY = ""
NO_BIAS = "spans no bias"


def choices(project: Project) -> tuple[ViewChoice, ...]:
    ordered = [name for name, protocol in PROTOCOLS.items() if protocol.scale.level is not Level.NOMINAL]
    protocols = tuple((PROTOCOLS[name].title, name) for name in dict.fromkeys((*TARGETS, *ordered)))
    names = tuple((judge.name, judge.name) for judge in judges.all_of(project))
    return ViewChoice("protocol", "What was judged", protocols), ViewChoice(
        "judge", "Judge", (("all judges", ANY), *names)
    )


def panel(project: Project, protocol: str = USUAL, judge: str = "") -> tuple[ResultSheet, ...]:
    """Attacks first, then biases in existing verdicts, then the model families; empty if nothing is known."""
    made = attack_figures.sheets(attack_figures.report(project, protocol, judge))
    seen = report(project, protocol, judge)
    if not made and not seen:
        return ()
    shown = (_seen(seen), _families(attacking.members(project)))
    return (*made[:1], *(sheet for sheet in shown if sheet.lines), *made[1:])


def _seen(biases: Sequence[Bias]) -> ResultSheet:
    heads = columns(
        JUDGE_COLUMN, ("bias", "Bias", "By what"), ("figure", "Figure"),
        ("value", "Value", "With its 95 % interval, clustered by item"),
        ("n", "n", "Verdicts, or pairs of them, of all trials"), ("no_bias", "No bias", "The value that means none"),
        ("verdict", "Verdict", "Whether the interval holds the value that means no bias"), ("about", "What it is"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(bias.judge), text(bias.about), text(bias.name), figure(bias.figure), count(bias.figure.n),
            count(bias.none, form="g"), text(verdict(bias), tip=bias.figure.note), text(bias.definition),
        ))
        for bias in biases
    )  # fmt: skip
    return ResultSheet(
        "biases",
        "Biases that show",
        heads,
        lines,
        (
            "Biases in judges' verdicts on original reports; all trials count, clustered by item. Length and "
            "family bias are measured relative to people's labels: a judge that agrees with people has none.",
        ),
    )


def verdict(bias: Bias) -> str:
    result = bias.figure
    if result.value is None:
        return f"not known: {result.note}"
    if result.low is None or result.high is None:
        return "no interval"
    if result.low <= bias.none <= result.high:
        # A rate of changes without cause is never below zero.
        return NO_BIAS if bias.about != POSITION or bias.none else "none was seen"
    return "above it" if result.low > bias.none else "below it"


def _families(members: Sequence[attacking.FamilyMember]) -> ResultSheet:
    heads = columns(
        ("name", "Name"), ("kind", "Kind"), ("model", "Model"),
        ("family", "Family", "The developer whose models are behind it"), ("known_from", "Known from"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(family.name), text("judge" if family.judge else "system"), text(family.model or "–"),
            text(family.family or "none known"), text("somebody here" if family.entered else "its name"),
        ))
        for family in members
    )  # fmt: skip
    return ResultSheet(
        "families", "Families", heads, lines, ("Correct it if it is wrong; the figures are updated.",)
    )


# Item, response, unit.
Unit = tuple[str, str, str]
ByTrial = Mapping[Unit, Mapping[int, str]]
OVER_RUNS = {"over_runs": "mean agreement over runs", "spread": "standard deviation over runs"}
# Figures that unordered values also have keep their names from there.
CALLED = {
    **{name: title for name, (title, _) in WORDS.items() if name != "alpha"}, "flips": "flip rate", **OVER_RUNS
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Consistency:
    """A judge against itself or another: what is compared with the number of units, and the figures by name.

    Against itself, over units judged at least twice: `flips` is the share of units on which not all trials agree,
    `agreement` the share of pairs of trials that do, averaged over units, `alpha` Krippendorff's α with the trials as
    raters; the other figures of ordered values are over every two trials of a unit. Against another judge, each by the
    aggregates of its trials, over the units that both judged: `over_runs` and `spread` are the mean and the standard
    deviation of their agreement over the trials that both have.
    """

    about: Mapping[str, Any]
    figures: Mapping[str, Estimate]

    def tree(self) -> dict[str, Any]:
        return {**self.about, **{name: asdict(figure) for name, figure in self.figures.items()}}

    def words(self) -> list[str]:
        how = "by both" if "other" in self.about else "more than once"
        named = sorted(self.figures, key=lambda name: name in OVER_RUNS)
        return [
            f"{counted(self.about['units'], 'unit')} judged {how}.",
            *(f"{CALLED.get(name, name)}: {or_why(self.figures[name])}" for name in named),
        ]


def within(project: Project, judge: str, protocol: str = USUAL) -> Consistency:
    """A judge's agreement with itself over its trials; an undefined figure gives the reason in its note."""
    scale = PROTOCOLS[protocol].scale
    verdicts = result_raters.by_unit(project, protocol, judges.named(project, judge).id)
    repeated = {unit: values for unit, values in sorted(verdicts.items()) if len(values) > 1}
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
    figures = {
        "flips": agreement.flip_rate(by_trial, items or None),
        "agreement": _pairwise([list(values.values()) for values in repeated.values()]),
        "alpha": alpha,
    }
    about = {"judge": judge, "protocol": protocol, "trials": len(trials), "units": len(repeated)}
    return Consistency(about, figures | more)


def between(project: Project, judge: str, other: str, protocol: str = USUAL) -> Consistency:
    """The agreement of two judges, such as one asked unit by unit and the same asked several together."""
    scale = PROTOCOLS[protocol].scale
    verdicts = [
        result_raters.by_unit(project, protocol, judges.named(project, name).id) for name in (judge, other)
    ]
    first, second = (
        {unit: value for unit, of in result.items() if (value := scale.agreed([*of.values()])) is not None}
        for result in verdicts
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
    over_runs, spread = _over_runs(*verdicts)
    same = percent_agreement(zip(a, b, strict=True), items or None)
    about = {"judge": judge, "other": other, "protocol": protocol, "units": len(shared)}
    return Consistency(about, {"agreement": same, "over_runs": over_runs, "spread": spread, **more})


def consistency(project: Project, protocol: str = USUAL) -> tuple[ResultSheet, ...]:
    """Every two judges that judged the same units under a protocol, run by run."""
    verdicts = {
        judge.name: result_raters.by_unit(project, protocol, judge.id) for judge in judges.all_of(project)
    }
    heads = columns(
        ("judge", "Judge"), ("other", "Other judge"),
        ("agreement", "Same verdict", "Share of units on which both say the same in a run, averaged over runs"),
        ("spread", "Standard deviation", "Of that share, over runs"),
        ("runs", "Runs"), ("units", "Units", "Judged by both; of a pair of reports each order that was asked"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(a), text(b), figure(over_runs), figure(spread), count(over_runs.n),
            count(len(verdicts[a].keys() & verdicts[b].keys())),
        ))
        for a, b in combinations(verdicts, 2)
        for over_runs, spread in [_over_runs(verdicts[a], verdicts[b])]
        if over_runs.n
    )  # fmt: skip
    return (ResultSheet("between", "Judges beside each other", heads, lines),) if lines else ()


def _over_runs(one: ByTrial, other: ByTrial) -> tuple[Estimate, Estimate]:
    """The mean of two judges' agreement over the trials that both have, and its standard deviation."""
    by_trial = grouped(
        (trial, one[unit][trial] == other[unit][trial])
        for unit in one.keys() & other.keys()
        for trial in one[unit].keys() & other[unit].keys()
    )
    shares = [fmean(alike) for _, alike in sorted(by_trial.items())]
    n, method = len(shares), "agreement of both judges in each run, over runs"
    few = "" if n else "no run has both"
    mean = Estimate(fmean(shares) if shares else None, n=n, method=method, note=few)
    few = few or ("one run has no spread" if n == 1 else "")
    return mean, Estimate(
        stdev(shares) if n > 1 else None, n=n, method=f"standard deviation, {method}", note=few
    )


def _pairwise(repeated: list[list[str]]) -> Estimate:
    method = "share of pairs of trials with the same verdict, averaged over units"
    shares = [
        sum(a == b for a, b in pairs) / len(pairs)
        for pairs in (list(combinations(values, 2)) for values in repeated)
    ]
    if not shares:
        return Estimate(None, method=method, note="no unit was judged twice")
    return Estimate(sum(shares) / len(shares), n=len(shares), method=method)
