"""Biases visible in existing verdicts: order of a pair, length of reports, model families."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from sqlalchemy import func, select

from annotator.actions.attacks import attack_figures, families
from annotator.actions.attacks.attack_figures import AttackReport
from annotator.actions.attacks.families import FamilyMember
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
    text,
)
from annotator.actions.sets import validation_ground, validation_values
from annotator.actions.sets.validation_ground import Ground, ValidationRater
from annotator.actions.studies import duels
from annotator.domain.judges.pairs import FIRST, TIE, PairOutcome
from annotator.domain.judges.scale import Level
from annotator.domain.texts.estimate import CHANCE, Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.judging.attacks import TARGETS
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import RESPONSE


@dataclass(frozen=True, slots=True)
class Bias:
    """A bias of a judge: its name, its figure, and its definition."""

    judge_id: str
    judge: str
    about: str
    name: str
    figure: Estimate
    definition: str
    none: float = 0.0
    """The value that means no bias."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A unit of a judge's with a label of a person's: how far it leans to yes, or up, how far it errs, and on what."""

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


def report(project: Project, protocol: str = USUAL, judge: str = "") -> list[Bias]:
    """What shows of each judge, or of the one of that name, over all its trials; intervals over items.

    What cannot be told says why.

    Length and family are compared with all labels that people submitted, but those that validation sets hold back.
    """
    people.refuse_others(project, "can see judges' biases")
    wanted = judges.named(project, judge).id if judge else ""
    found = [*_of_pairs(project), *_of_labels(project, protocol)]
    return [bias for bias in found if wanted in ("", bias.judge_id)]


# Position.


def _of_pairs(project: Project) -> list[Bias]:
    found = []
    for protocol in duels.JUDGED:
        what = f" ({PROTOCOLS[protocol].title})" if len(duels.JUDGED) > 1 else ""
        for rater in result_raters.raters(project, protocol):
            if not result_raters.are_people(rater.id):
                found += _position(
                    rater,
                    [
                        pair
                        for trial in duels.trials(project, protocol, rater.id) or [1]
                        for pair in duels.pairs(project, protocol, rater.id, trial)
                        if pair.asked or trial == 1
                    ],
                    what,
                )
    return found


def _position(judge: result_raters.ResultRater, pairs: Sequence[duels.DuelPair], what: str) -> list[Bias]:
    from annotator.stats.intervals.cluster_means import clustered_wilson

    both = [pair for pair in pairs if pair.outcome is not PairOutcome.ERROR]
    flips = clustered_wilson(
        [
            None if pair.outcome is PairOutcome.ERROR else pair.outcome is PairOutcome.INCONSISTENT
            for pair in pairs
        ],
        [pair.item_id for pair in pairs],
    )
    decided = [
        (value == FIRST, pair.item_id)
        for pair in both
        for value in (pair.a_first, pair.b_first)
        if value != TIE
    ]
    slot = clustered_wilson([first for first, _ in decided], [item for _, item in decided])
    return [
        Bias(judge.id, judge.name, POSITION, f"Verdict changes with the order{what}", flips,
             "Of the pairs judged in both orders, trial by trial, those whose verdict changes with the order"),
        Bias(judge.id, judge.name, POSITION, f"First one named{what}", slot,
             "Of the verdicts that name a winner, in pairs judged in both orders, those for the report shown first; "
             "one half is no bias", 0.5),
    ]  # fmt: skip


# Length and family.


def _of_labels(project: Project, protocol: str) -> list[Bias]:
    try:
        found = validation_ground.ground(project, protocol)
    except Refusal as refusal:
        return _undefined(project, protocol, refusal.happened)
    lengths, own = _lengths(project), {one.id: one.family for one in families.members(project)}
    made = []
    every = _at_every_trial(project, found)
    for rater in found.judges():
        rows = [row for at_one in every for row in _rows(at_one, rater)]
        made += _level(found, rater, rows)
        made += _length(found, rater, rows, lengths)
        made += _family(found, rater, rows, own)
    return made


def _undefined(project: Project, protocol: str, why: str) -> list[Bias]:
    """That nothing can be told without labels, judge by judge."""
    known = [one for one in result_raters.raters(project, protocol) if not result_raters.are_people(one.id)]
    none = Estimate(None, method="difference of two means", note=why)
    return [
        Bias(one.id, one.name, about, title, none, "Judges are compared with labels that people submitted")
        for one in known
        for about, title in ((LENGTH, "Leans to longer reports"), (FAMILY, "Leans to its own family"))
    ]


def _at_every_trial(project: Project, found: Ground) -> list[Ground]:
    """The same labels beside what judges said at each trial."""
    return [
        replace(found, versions=validation_values.of_judges(project, found.shape, "", trial))
        for trial in validation_values.trials(project, found.shape)
    ]


def _rows(found: Ground, rater: ValidationRater) -> list[_Row]:
    if rater not in found.judges():
        return []
    scale, positive = found.shape.scale, found.shape.values[0]
    rows = []
    for row in found.rows(rater, found.known):
        if row.said is not None:
            place, true = found.places[row.key], row.true == positive
            lean: float = int(row.said == positive) - int(true)
            if scale.level is not Level.NOMINAL:
                lean = scale.number(row.said) - scale.number(row.true)
            rows.append(_Row(place.item_id, place.response_id, place.system_id, true, lean))
    return rows


def _lengths(project: Project) -> dict[str, int]:
    with project.store.read() as db:
        return dict(db.execute(select(RESPONSE.c.id, func.length(RESPONSE.c.text))).all())


def _length(
    found: Ground, rater: ValidationRater, rows: Sequence[_Row], lengths: Mapping[str, int]
) -> list[Bias]:
    """Longer and shorter than the median report on the same item, so that hard items weigh on both sides."""
    of_item: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        of_item[row.item_id].add(row.response_id)
    middle = {item: median(lengths[one] for one in members) for item, members in of_item.items()}
    told = [
        (row, lengths[row.response_id] > middle[row.item_id])
        for row in rows
        if lengths[row.response_id] != middle[row.item_id]
    ]
    positive, ordered = found.shape.values[0], found.shape.scale.level is not Level.NOMINAL
    longer = "over reports longer than the median one on their item less over shorter ones"
    unlike = "Mean distance from the person's value" if ordered else "Share of verdicts unlike the person's"
    names: tuple[tuple[str, Sequence[tuple[_Row, bool]], Callable[[_Row], float], str], ...] = (
        ("Leans to longer reports", told, lambda row: row.lean, f"{_leans(found)} {longer}"),
        ("Errs more on longer reports", told, lambda row: row.errs, f"{unlike}, {longer}"),
        (f"“{positive}” where people "
        "disagree", [one for one in told if not one[0].true], lambda row: row.errs,
         "At equal labels: share of units labelled negative by people that the judge marks positive, "
         f"{longer}"),
        (f"Not “{positive}” where people say so", [one for one in told if one[0].true], lambda row: row.errs,
         "At equal labels: share of units labelled positive by people that the judge marks negative, "
         f"{longer}"),
    )  # fmt: skip
    return [
        Bias(rater.id, _called(found, rater), LENGTH, name, _gap(chosen, of, _within(found)), words)
        for name, chosen, of, words in (names[:2] if ordered else names)
    ]


def _leans(found: Ground) -> str:
    if found.shape.scale.level is Level.NOMINAL:
        return LEANS.format(positive=found.shape.values[0])
    return LEANS_UP


def _level(found: Ground, rater: ValidationRater, rows: Sequence[_Row]) -> list[Bias]:
    """How much higher or lower than people a judge sets ordered values."""
    from annotator.stats.intervals.cluster_means import cluster_mean

    if found.shape.scale.level is Level.NOMINAL:
        return []
    lean = cluster_mean([row.lean for row in rows], [row.item_id for row in rows], _within(found))
    return [Bias(rater.id, _called(found, rater), LEVEL_BIAS, "Leans to higher values", lean, LEANS_UP)]


def _family(
    found: Ground, rater: ValidationRater, rows: Sequence[_Row], known: Mapping[str, str]
) -> list[Bias]:
    own = known.get(rater.id, "")
    name = "Leans to its own family"
    words = (
        f"{_leans(found)} over systems of the judge's own family"
        f"{f' ({own})' if own else ''} less over systems of other known families"
    )
    if not own:
        none = Estimate(None, method="difference of two means", note="the judge is of no known family")
        return [Bias(rater.id, _called(found, rater), FAMILY, name, none, words)]
    told = [(row, known[row.system_id] == own) for row in rows if known.get(row.system_id)]
    return [
        Bias(
            rater.id,
            _called(found, rater),
            FAMILY,
            name,
            _gap(told, lambda row: row.lean, _within(found)),
            words,
        )
    ]


def _within(found: Ground) -> tuple[float, float]:
    """Between what a lean lies: a verdict is the positive one or is not, a level may be any step away."""
    scale = found.shape.scale
    if scale.level is Level.NOMINAL:
        return CHANCE
    numbers = [scale.number(name) for name in scale.names]
    span = float(max(numbers) - min(numbers))
    return -span, span


def _gap(
    told: Sequence[tuple[_Row, bool]], of: Callable[[_Row], float], within: tuple[float, float]
) -> Estimate:
    from annotator.stats.intervals.cluster_means import cluster_gap

    values, items = [of(row) for row, _ in told], [row.item_id for row, _ in told]
    return cluster_gap(values, [inside for _, inside in told], items, within)


def _called(found: Ground, rater: ValidationRater) -> str:
    """A judge's name; with the first signs of its wording where it judged by several."""
    several = sum(one.id == rater.id for one in found.judges()) > 1
    return f"{rater.name} ({rater.prompt[:8] or 'no wording'})" if several else rater.name


ANY = ""
NO_BIAS = "spans no bias"


@dataclass(frozen=True, slots=True)
class Panel:
    """All biases of the judges."""

    attacks: AttackReport
    seen: Sequence[Bias]
    families: Sequence[FamilyMember]


def choices(project: Project) -> tuple[ViewChoice, ...]:
    ordered = [name for name, shape in PROTOCOLS.items() if shape.scale.level is not Level.NOMINAL]
    shapes = tuple((PROTOCOLS[name].title, name) for name in dict.fromkeys((*TARGETS, *ordered)))
    names = tuple((one.name, one.name) for one in judges.all_of(project))
    return ViewChoice("protocol", "What was judged", shapes), ViewChoice(
        "judge", "Judge", (("all judges", ANY), *names)
    )


def panel(project: Project, protocol: str = USUAL, judge: str = "") -> Panel:
    """The panel of every judge, or of the one of that name."""
    return Panel(
        attack_figures.report(project, protocol, judge),
        report(project, protocol, judge),
        families.members(project),
    )


def sheets(found: Panel) -> tuple[ResultSheet, ...]:
    """Attacks first, then biases that show anyway, then who is taken for whose family; none where nothing is known."""
    made = attack_figures.sheets(found.attacks)
    if not made and not found.seen:
        return ()
    return (*made[:1], *(sheet for sheet in (_seen(found.seen), _families(found)) if sheet.lines), *made[1:])


def _seen(found: Sequence[Bias]) -> ResultSheet:
    heads = columns(
        JUDGE_COLUMN, ("bias", "Bias", "By what"), ("figure", "Figure"),
        ("value", "Value", "With its 95 % interval, clustered by item"),
        ("n", "n", "Verdicts, or pairs of them, of all trials"), ("no_bias", "No bias", "The value that means none"),
        ("verdict", "Verdict", "Whether the interval holds the value that means no bias"), ("about", "What it is"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.judge), text(one.about), text(one.name), figure(one.figure), count(one.figure.n),
            count(one.none, form="g"), text(verdict(one), tip=one.figure.note), text(one.definition),
        ))
        for one in found
    )  # fmt: skip
    told = (
        "Biases in judges' verdicts on original reports; all trials count, clustered by item. Length and "
        "family bias are measured relative to people's labels: a judge that agrees with people has none.",
    )
    return ResultSheet("biases", "Biases that show", heads, lines, told)


def verdict(one: Bias) -> str:
    """In words, whether the figure tells of a bias."""
    found = one.figure
    if found.value is None:
        return f"not known: {found.note}"
    if found.low is None or found.high is None:
        return "no interval"
    if found.low <= one.none <= found.high:
        # A rate that changes of its own accord is never below nothing.
        return NO_BIAS if one.about != POSITION or one.none else "none was seen"
    return "above it" if found.low > one.none else "below it"


def _families(found: Panel) -> ResultSheet:
    heads = columns(
        ("name", "Name"), ("kind", "Kind"), ("model", "Model"),
        ("family", "Family", "The developer whose models are behind it"), ("known_from", "Known from"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.name), text("judge" if one.judge else "system"), text(one.model or "–"),
            text(one.family or "none known"), text("somebody here" if one.said else "its name"),
        ))
        for one in found.families
    )  # fmt: skip
    return ResultSheet(
        "families", "Families", heads, lines, ("Correct it if it is wrong; the figures are updated.",)
    )
