"""Validation report: each judge and prompt compared with people, and people with one another."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from annotator.actions.judges import kept_keys
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.results.result_raters import CONSENSUS, EVERYBODY
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    JUDGE_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    percent,
    text,
)
from annotator.actions.sets import reviews, validation_figures, validation_ground, validation_sets
from annotator.actions.sets.validation_figures import (
    ALL,
    BY,
    TITLES,
    JudgeDifference,
    Key,
    RaterResult,
    brief_of,
    figure_cell,
    main_of,
    named,
    published,
    remark,
    scotts,
)
from annotator.actions.sets.validation_ground import NOT_ASKED, PEOPLE, Ground, RatedUnit, ValidationRater
from annotator.domain.common import Refusal, counted, grouped, refuse_other
from annotator.domain.judges.protocol import FIGURES, Level, Protocol, uncrossed
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.protocols import USUAL
from annotator.stats.intervals.coding import Chosen, Codes
from annotator.stats.validation.comparison import Named

# The consequence of comparing people in both directions.
BOTH_WAYS = {
    Level.NOMINAL: ", so precision and recall are equal",
    Level.ORDINAL: "",
    Level.INTERVAL: ", so the mean difference is 0",
}
# Notes on figures of values that are more than names.
ABOUT_LEVEL = {
    Level.ORDINAL: "ordered: κ, AC2 and α count how far apart two values are, ρ compares ranks.",
    Level.INTERVAL: "numbers: a difference is the rater's value less the true one, in units of the scale.",
}


@dataclass(frozen=True, slots=True)
class ValidationQuery:
    """The query of a validation: labels, raters compared, and the grouping by one of `BY`.

    `positive` is the positive value if there are more than two; `opening` is the id of a counted look at the test part.
    """

    protocol: str = USUAL
    set_name: str = ""
    part: str = ""
    against: tuple[str, ...] = ()
    judge: str = ""
    positive: str = ""
    by: str = ALL
    opening: str = ""


@dataclass(frozen=True, slots=True)
class RaterFigures:
    """A rater within a group: figures, number of units, and missing judgements by cause."""

    group: str
    rater: ValidationRater
    result: RaterResult
    units: int
    missing: dict[str, int]
    cost: Estimate | None

    @property
    def missing_rate(self) -> float | None:
        return sum(self.missing.values()) / self.units if self.units else None


@dataclass(frozen=True, slots=True)
class Contrast:
    first: ValidationRater
    second: ValidationRater
    gap: JudgeDifference


@dataclass(frozen=True, slots=True)
class Validation:
    """Judges compared with people; `against` names whose labels are true, `viewed` how often the test part was viewed.

    `limit` is the share of missing judgements above which a judge's figures are not publishable.
    """

    query: ValidationQuery
    protocol: Protocol
    positive: str
    against: str
    lines: tuple[RaterFigures, ...]
    contrasts: tuple[Contrast, ...]
    viewed: tuple[str, ...]
    notes: tuple[str, ...]
    limit: float = results.USUAL_DRAWING

    def of(self, name: str, group: str = ALL) -> RaterFigures:
        """The line of a rater by name, within a group; raises KeyError if there is none."""
        for line in self.lines:
            if (line.rater.name, line.group) == (name, group):
                return line
        raise KeyError(name)


def report(project: Project, query: ValidationQuery) -> Validation:
    """Every judge and prompt compared with people, and people with one another, on the same labels.

    Judges are compared with each other if there are no groups.
    """
    return of_ground(project, ground_of(project, query), query)


def ground_of(project: Project, query: ValidationQuery) -> Ground:
    refuse_other(query.by, BY, f"Figures cannot be broken down by “{query.by}”.")
    return validation_ground.ground(
        project, query.protocol, query.set_name, query.part, query.against, query.judge, query.opening
    )


def of_ground(
    project: Project,
    ground: Ground,
    query: ValidationQuery,
    included: Callable[[ValidationRater], bool] = lambda _: True,
) -> Validation:
    positive = validation_figures.positive_of(ground.protocol, query.positive)
    raters = [one for one in (*ground.judges(), *ground.humans()) if included(one)]
    costs = {
        one.id: validation_ground.cost_per_question(project, one, query.protocol)
        for one in raters
        if one.is_judge
    }
    lines = [
        line(ground, positive, group, rater, chosen, costs.get(rater.id))
        for group, units in groups(ground, query.by).items()
        for chosen in [ground.chosen(units)]
        for rater in raters
    ]
    return Validation(
        query, ground.protocol, positive, against_words(ground), tuple(lines),
        tuple(_contrasts(ground, positive)) if query.by == ALL else (),
        tuple(validation_sets.viewed(project, query.set_name)),
        (*_notes(ground, query, positive), *ground.repeats(project, raters), *_failed(project, raters)),
        results.limit(project),
    )  # fmt: skip


def _contrasts(ground: Ground, positive: str) -> list[Contrast]:
    pairs = {rater.key: ground.pairs(rater) for rater in ground.judges()}
    return [
        Contrast(
            one,
            other,
            validation_figures.gap(pairs[one.key], pairs[other.key], positive, ground.protocol.scale),
        )
        for one, other in combinations(ground.judges(), 2)
    ]


def against_words(ground: Ground) -> str:
    if CONSENSUS in ground.truth:
        return CONSENSUS
    return " and ".join(sorted(ground.aliases[person] for person in ground.truth))


def groups(ground: Ground, by: str) -> dict[str, Codes]:
    """Group → the numbers of its units with a true value, in the order in which groups are shown."""
    places = list(ground.places.values())
    members = grouped((BY[by](places[number]), number) for number in np.flatnonzero(ground.known).tolist())
    return {name: np.array(members[group], dtype=np.intp) for group, name in named(members).items()}


def line(
    ground: Ground, positive: str, group: str, rater: ValidationRater, chosen: Chosen,
    cost: Estimate | None = None,
) -> RaterFigures:  # fmt: skip
    pairs = ground.pairs(rater, chosen)
    result = validation_figures.figures(pairs, positive, ground.protocol.scale)
    result = result.over(len(np.unique(pairs.there().units)))
    if rater.id == PEOPLE and ground.both_ways:
        result = replace(result, plain=scotts(result.plain), weighted=scotts(result.weighted))
    return RaterFigures(group, rater, result, int(chosen.sum()), ground.missing(rater, chosen), cost)


def _failed(project: Project, raters: Iterable[ValidationRater]) -> Iterator[str]:
    failed = kept_keys.failed_tests(project)
    yield from dict.fromkeys(
        f"{rater.name} failed its test: {failed[rater.id]}" for rater in raters if rater.id in failed
    )


def _notes(ground: Ground, query: ValidationQuery, positive: str) -> list[str]:
    protocol, settled, many = ground.protocol, CONSENSUS in ground.truth, len(ground.people)
    level, why = protocol.scale.level, uncrossed(protocol.scale)
    negative = any(place.weight < 0 for place in ground.places.values())
    notes = (
        (
            len(ground.truth) > 1,
            "Each person's label of a unit counts as one true value, so a unit can occur several times.",
        ),
        (
            many > 1 and not settled,
            "Each person is compared with every other who counts as true, in both directions where both "
            f"count{BOTH_WAYS.get(level, '')}; κ of people is then Scott's π.",
        ),
        (
            many == 1 and not settled,
            "Only one person labelled: there is no human ceiling to compare judges with.",
        ),
        (settled, "The consensus was made of people's labels, which flatters the people beside it."),
        (
            not positive and level is Level.NOMINAL,
            f"{protocol.title} has more than two values: name a positive one for precision and recall.",
        ),
        (level in ABOUT_LEVEL, f"The values of {protocol.title} are {ABOUT_LEVEL.get(level)}"),
        (why, f"Confusion: {why}"),
        (
            negative,
            "By weight, a unit whose weight is negative counts as much as one of that weight above zero: a wrong "
            "verdict on it moves the score as far.",
        ),
        (
            not query.set_name,
            "All labels that were submitted count, but those of sets not yet locked and of test parts; no "
            "validation set was named.",
        ),
    )
    return [words for holds, words in notes if holds]


NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class HeldRater(FigureSource):
    """A rater (by key) compared with the truth within the group; empty values match everything.

    `true` and `predicted` select a cell of the confusion matrix, `cause` why a judge has no value. With `beside`,
    another rater's key, only the units on which this rater is right and that one wrong.
    """

    query: ValidationQuery = field(default_factory=ValidationQuery)
    rater: str = ""
    true: str = ""
    predicted: str = ""
    cause: str = ""
    beside: str = ""


def held(
    query: ValidationQuery, rater: ValidationRater, group: str, words: str, **narrowed: str
) -> HeldRater:
    """The source of a rater's figure within a group; `words` is its title."""
    return HeldRater(
        query.protocol, rater.id, group_by=query.by, group=group, words=words, query=query, rater=rater.key, **narrowed
    )  # fmt: skip


def units(project: Project, source: HeldRater) -> ResultSheet:
    """The units, item by item; each line leads to all judgements of it.

    Units that the person working is still to label blind are only counted.
    """
    query = source.query
    result = ground_of(project, query)
    try:
        rater = result.rater(source.rater)
        beside = result.rater(source.beside) if source.beside else None
    except KeyError:
        raise Refusal("That rater is no longer among those compared.", "Compute the figures again.") from None
    units = groups(result, query.by).get(source.group)
    rows = result.rows(rater, result.chosen(units)) if units is not None else []
    every = list(_narrowed(result, rater, beside, source, rows))
    blind = reviews.still_blind(project, people.someone(project).id)
    rows = [row for row in every if result.places[row.key].item_id not in blind]
    people_ = rater.kind == validation_ground.PEOPLE
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, ("unit", "Asked about"), ("weight", "Weight"), ("true", "True value"),
        ("given_by", "Given by", "Whose word counts as true here"), ("said", "Said"), ("said_by", "Said by"),
        *([("beside", beside.name)] if beside else ()),
    )  # fmt: skip
    lines = tuple(
        SheetLine(
            _cells(result, rater, beside, row), result.places[row.key].item_id, unit_id=row.key[1],
            response_id=row.key[0], source=_judgements(source, result, row.key),
        )
        for row in rows
    )  # fmt: skip
    several = " A unit stands here once for every true value." if len(result.truth) > 1 or people_ else ""
    items = len({result.places[row.key].item_id for row in rows})
    withheld = counted(len(every) - len(rows), "more is", "more are")
    notes = (
        f"{counted(len(rows), 'pair')} of values on {counted(items, 'item')}.{several}",
        *([f"{withheld} on items that you still have to label blind."] if len(every) > len(rows) else []),
    )
    return ResultSheet("units", "Units", heads, lines, notes)


def _narrowed(
    ground: Ground,
    rater: ValidationRater,
    beside: ValidationRater | None,
    source: HeldRater,
    rows: Iterable[RatedUnit],
) -> Iterable[RatedUnit]:
    seen: set[Key] = set()
    for row in rows:
        if source.cause:
            # A missing value is listed once, however many people have a true value there.
            if row.verdict is None and row.key not in seen and _cause(ground, rater, row.key) == source.cause:
                seen.add(row.key)
                yield row
        elif beside is not None:
            if row.verdict == row.true and ground.version(beside).verdicts.get(row.key) not in (
                None,
                row.true,
            ):
                yield row
        elif (
            row.verdict is not None
            and source.true in ("", row.true)
            and source.predicted in ("", row.verdict)
        ):
            yield row


def _cause(ground: Ground, rater: ValidationRater, key: Key) -> str:
    return ground.version(rater).missing.get(key, NOT_ASKED)


def _cells(
    ground: Ground, rater: ValidationRater, beside: ValidationRater | None, row: RatedUnit
) -> tuple[SheetCell, ...]:
    place = ground.places[row.key]
    if row.verdict is None:
        cell = SheetCell(NO_VALUE, None, _cause(ground, rater, row.key).replace("_", " "), "missing")
    else:
        cell = text(row.verdict, state="agreed" if row.verdict == row.true else "disagree")
    cells = (
        text(place.item_key), text(place.system), text(place.words, tip=place.words),
        count(place.weight, form="g"), text(row.true), text(_alias(ground, row.source)), cell,
        text(_alias(ground, row.who) if row.who else rater.name),
    )  # fmt: skip
    return cells if beside is None else (*cells, text(ground.version(beside).verdicts.get(row.key, NO_VALUE)))


def _alias(ground: Ground, who: str) -> str:
    return CONSENSUS if who == CONSENSUS else ground.aliases.get(who, who)


def _judgements(source: HeldRater, ground: Ground, key: Key) -> FigureSource:
    place = ground.places[key]
    return FigureSource(
        source.protocol,
        EVERYBODY,
        item_id=place.item_id,
        response_id=place.response_id,
        unit_id=place.unit_id,
    )


DOLLARS = "USD"
KINDS = {"endpoint": "judge", "derived": "vote of judges"}
HASH_SHOWN = 8
PROMPT = SheetColumn("prompt", "Prompt", "First characters of its hash")
COST = SheetColumn("cost", "Cost per question", "Mean, US dollars")
UNITS = SheetColumn("units", "Units", "Units with a true value")
MISSING = SheetColumn("missing", "Missing", "Of these, units that a judge has no value on")
RATER, VERDICT = SheetColumn("rater", "Rater"), SheetColumn("verdict", "Verdict")
PAIRS = SheetColumn(
    "pairs",
    "Pairs",
    "Pairs of values that the figures are counted over: a unit with two people's labels gives two",
)
PAIR = columns(
    ("first", "First"), replace(PROMPT, key="first_prompt"), ("second", "Second"), replace(PROMPT, key="second_prompt")
)  # fmt: skip


def sheets(validation: Validation) -> tuple[ResultSheet, ...]:
    if not validation.lines:
        return ()
    made = [_figures(validation), _figures(validation, weighted=True)]
    made += [_validation_sheets_contrasts(validation)] if validation.contrasts else []
    made += [_confusion(validation), _missing(validation)]
    return tuple(sheet for sheet in made if sheet.lines)


def _group(validation: Validation) -> tuple[SheetColumn, ...]:
    return () if validation.query.by == ALL else (SheetColumn("group", "Group"),)


def _titled(name: str) -> SheetColumn:
    return SheetColumn(name, *TITLES[name])


def _figures(validation: Validation, *, weighted: bool = False) -> ResultSheet:
    names = [name for name in TITLES if any(name in _side(line, weighted) for line in validation.lines)]
    group = _group(validation)
    heads = columns(*group, RATER, PROMPT, ("who", "Who"), *map(_titled, names), PAIRS, UNITS, MISSING, COST)
    lines = [
        SheetLine((
            *(text(line.group) for _ in group), *_who(line.rater), text(KINDS.get(line.rater.kind, line.rater.kind)),
            *(_figure(validation, name, line, weighted=weighted) for name in names),
            count(sum(line.result.confusion.values()), form=",.0f"), count(line.units), _lost(line), _cost(line),
        ), source=held(validation.query, line.rater, line.group, f"{_called(line)}: units"))
        for line in validation.lines
    ]  # fmt: skip
    named = ("weighted", "By weight") if weighted else ("judges", "Judges beside people")
    return ResultSheet(*named, heads, tuple(lines), _notes_of(validation), _of_figures(validation, weighted))


def _figure(validation: Validation, name: str, line: RaterFigures, *, weighted: bool = False) -> SheetCell:
    estimate = _side(line, weighted).get(name)
    if estimate is None:
        return text("–")
    cell = figure_cell(estimate)
    tip = f"{_called(line)}: {TITLES[name][0]} {cell.words}"
    rate = line.missing_rate or 0.0
    unfit = rate > validation.limit
    last = f"\nnot publishable: {percent(rate, 1)} of the judgements are missing" if unfit else ""
    return replace(
        cell, tip=f"{tip}\n{cell.tip}{last}", state="unfit" if unfit else cell.state, picture=name,
        source=_behind(validation, name, line),
    )  # fmt: skip


def _behind(validation: Validation, name: str, line: RaterFigures) -> HeldRater:
    """The units of a figure; for precision those called positive, for recall positives, for specificity negatives."""
    values, positive = validation.protocol.values, validation.positive
    narrowed = {}
    if positive and name == "precision":
        narrowed = {"predicted": positive}
    elif positive and name == "recall":
        narrowed = {"true": positive}
    elif positive and name == "specificity" and len(values) == 2:
        narrowed = {"true": next(value for value in values if value != positive)}
    return held(validation.query, line.rater, line.group, f"{_called(line)}: {TITLES[name][0]}", **narrowed)


def _called(line: RaterFigures) -> str:
    return line.rater.name if line.group == ALL else f"{line.rater.name}, {line.group}"


def _who(rater: ValidationRater) -> tuple[SheetCell, SheetCell]:
    return text(rater.name), text(rater.prompt[:HASH_SHOWN], tip=rater.prompt)


def _lost(line: RaterFigures) -> SheetCell:
    causes = ", ".join(f"{cause.replace('_', ' ')}: {many:,}" for cause, many in line.missing.items())
    return count(sum(line.missing.values()), tip=causes) if line.rater.is_judge else text("–")


def _cost(line: RaterFigures) -> SheetCell:
    return figure(line.cost, DOLLARS) if line.cost is not None else text("–")


def _notes_of(validation: Validation) -> tuple[str, ...]:
    query = validation.query
    labels = f"“{query.set_name}”, {query.part or 'dev'} part" if query.set_name else "all submitted labels"
    positive = f", “{validation.positive}” being positive" if validation.positive else ""
    kinds = dict.fromkeys(line.rater.kind for line in validation.lines)
    return (
        f"{validation.protocol.title}: compared with {validation.against} on {labels}{positive}. Intervals are over "
        "items.",
        *validation.viewed,
        *(note for kind in kinds for note in results.floor_notes(kind, [validation.protocol.name])),
        *validation.notes,
        published(validation.protocol),
    )


def _confusion(validation: Validation) -> ResultSheet:
    group = _group(validation)
    heads = columns(
        *group, RATER, PROMPT, ("true", "True value", f"By {validation.against}"), ("said", "Said"), ("units", "Units"),
        ("weight", "Weight", "Sum of weights"),
    )  # fmt: skip
    values = () if uncrossed(validation.protocol.scale) else validation.protocol.values
    lines = tuple(
        SheetLine((*(text(line.group) for _ in group), *_confused(validation, line, true, predicted)),
             picture=f"confusion/{line.group}")
        for line in validation.lines for true in values for predicted in values
    )  # fmt: skip
    return ResultSheet(
        "confusion",
        "Confusion",
        heads,
        lines,
        (f"Compared with {validation.against}. Open a count to list its units.",),
        _of_confusion(validation),
    )


def _confused(validation: Validation, line: RaterFigures, true: str, predicted: str) -> tuple[SheetCell, ...]:
    counts = line.result.confusion
    many = counts.get((true, predicted), 0)
    whole = sum(number for (each, _), number in counts.items() if each == true)
    words = f"{_called(line)}: true value “{true}”, said “{predicted}”"
    source = (
        held(validation.query, line.rater, line.group, words, true=true, predicted=predicted)
        if many
        else None
    )
    cells = (
        *_who(line.rater), text(true), text(predicted, state="agreed" if true == predicted else "disagree"),
        count(many, form=",.0f"),
        count(line.result.confusion_weighted.get((true, predicted), 0), form=",g"),
    )  # fmt: skip
    tip = f"{words}\n{many:,.0f} of {whole:,.0f} with that true value, of {sum(counts.values()):,.0f} in all"
    return tuple(replace(cell, source=source, tip=cell.tip or tip) for cell in cells)


def _missing(validation: Validation) -> ResultSheet:
    group = _group(validation)
    heads = columns(
        *group, JUDGE_COLUMN, PROMPT, ("cause", "Cause"), ("units", "Units"),
        ("share", "Share", "Of the units with a true value"), ("of", "Of", "Units with a true value"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            *(text(line.group) for _ in group), *_who(line.rater), text(cause.replace("_", " ")), count(many),
            count(many / line.units, form=".3f"), count(line.units),
        ), source=held(validation.query, line.rater, line.group, f"{_called(line)}: {cause.replace('_', ' ')}",
        cause=cause))
        for line in validation.lines for cause, many in line.missing.items()
    )  # fmt: skip
    return ResultSheet("missing", "Missing by cause", heads, lines)


def _validation_sheets_contrasts(validation: Validation) -> ResultSheet:
    heads = columns(
        *PAIR, ("figure", "Figure"), ("difference", "First − second", "On the units that have a value of both"),
        VERDICT,
        ("only_first_right", "Only first right", "Units"), ("only_second_right", "Only second right", "Units"),
    )  # fmt: skip
    return ResultSheet(
        "contrasts",
        "Two judges",
        heads,
        tuple(line for contrast in validation.contrasts for line in _contrast(validation, contrast)),
        ("The interval of a difference is over items.",),
        _of_contrasts(validation),
    )


def _contrast(validation: Validation, contrast: Contrast) -> Iterable[SheetLine]:
    first, second, only_right = contrast.first, contrast.second, contrast.gap.only_right
    every = held(validation.query, first, ALL, f"{first.name} and {second.name}: units")
    only = (
        held(validation.query, first, ALL, f"Only {first.name} right, not {second.name}", beside=second.key),
        held(validation.query, second, ALL, f"Only {second.name} right, not {first.name}", beside=first.key),
    )
    counts = [
        replace(count(many), source=source if many else None)
        for many, source in zip(only_right, only, strict=True)
    ]
    for name, gap in contrast.gap.plain.items():
        verdict = contrast.gap.verdict(name)
        yield SheetLine((
            *_who(first), *_who(second), text(TITLES[name][0], tip=TITLES[name][1]), figure_cell(gap),
            text(verdict, tip=verdict), *counts,
        ), source=every, picture=f"gap/{name}")  # fmt: skip


def brief(validation: Validation) -> tuple[ResultSheet, ...]:
    """A short form for a terminal: the main figures, and the main difference of every two judges."""
    if not validation.lines:
        return ()
    main = main_of(validation.protocol.scale)
    names = [name for name in brief_of(validation.protocol.scale) if name in validation.lines[0].result.plain]
    group = _group(validation)
    heads = columns(*group, RATER, PROMPT, *map(_titled, names), UNITS, MISSING, COST)
    lines = tuple(
        SheetLine((
            *(text(line.group) for _ in group), *_who(line.rater),
            *(_figure(validation, name, line) for name in names), count(line.units), _lost(line),
            _cost(line),
        ))
        for line in validation.lines
    )  # fmt: skip
    between = tuple(
        SheetLine((
            *_who(contrast.first), *_who(contrast.second), figure_cell(contrast.gap.plain[main]),
            text(contrast.gap.verdict(main)),
        ))
        for contrast in validation.contrasts
    )  # fmt: skip
    called = TITLES[main][0].removeprefix("Cohen's ")
    apart = columns(*PAIR, ("difference", f"Difference of {called}", TITLES[main][1]), VERDICT)
    pairs = ResultSheet("contrasts", "Two judges", apart, between)
    whole = ResultSheet("judges", "Judges beside people", heads, lines, _notes_of(validation))
    return tuple(sheet for sheet in (whole, pairs) if sheet.lines)


AXIS = "95 % interval over items; the band is people with one another"
FIRST = (*(names[0] for names in FIGURES.values()), "accuracy")
# The number of characters of a hash that tell two prompts of one judge apart.
SIGNS = 4


def _names(validation: Validation) -> dict[str, str]:
    """Rater key → name, with the start of its prompt's hash if a judge judged by several prompts."""
    raters = {line.rater.key: line.rater for line in validation.lines}
    many = [rater.name for rater in raters.values()]
    return {key: _named(rater, many.count(rater.name) > 1) for key, rater in raters.items()}


def _named(rater: ValidationRater, several: bool) -> str:
    return f"{rater.name} ({rater.prompt[:SIGNS]})" if several and rater.prompt else rater.name


def _side(line: RaterFigures, weighted: bool) -> Named:
    return line.result.weighted if weighted else line.result.plain


def _of_figures(validation: Validation, weighted: bool) -> tuple[SheetPicture, ...]:
    present = [name for name in TITLES if any(name in _side(line, weighted) for line in validation.lines)]
    ordered = sorted(present, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return tuple(_of_figure(validation, name, weighted) for name in ordered)


def _of_figure(validation: Validation, name: str, weighted: bool) -> SheetPicture:
    called, sections = _names(validation), []
    for group, lines in _by_group(validation.lines):
        rated = [
            pictures.PlottedRater(called[line.rater.key], estimate, line.rater.is_judge, remark(estimate))
            for line in lines
            if (estimate := _side(line, weighted).get(name))
        ]
        human = next((_side(line, weighted).get(name) for line in lines if line.rater.id == PEOPLE), None)
        sections.append(pictures.Section(group, _ordered(rated), human))
    words = f"{TITLES[name][0]}, by weight" if weighted else TITLES[name][0]
    apart = "" if validation.query.by == ALL else f", by {validation.query.by}"
    title = f"{words}: judges and people compared with {validation.against}{apart}"
    return SheetPicture(
        name, f"{words}{apart}", partial(pictures.beside, title, sections, f"{words}: {AXIS}")
    )


def _by_group(lines: Iterable[RaterFigures]) -> Iterable[tuple[str, list[RaterFigures]]]:
    return grouped((line.group, line) for line in lines).items()


def _ordered(rated: list[pictures.PlottedRater]) -> list[pictures.PlottedRater]:
    judged = [rater for rater in rated if rater.judge]
    judged.sort(key=lambda rater: (rater.estimate.value is None, -(rater.estimate.value or 0.0), rater.name))
    return [*judged, *(one for one in rated if not one.judge)]


def _of_contrasts(validation: Validation) -> tuple[SheetPicture, ...]:
    """The differences of every two judges, figure by figure."""
    called = _names(validation)
    return tuple(
        SheetPicture(
            f"gap/{name}", f"Difference of {TITLES[name][0]}",
            partial(
                pictures.differences, f"{TITLES[name][0]}: the first judge less the second",
                [
                    (f"{called[contrast.first.key]} − {called[contrast.second.key]}", contrast.gap.plain[name])
                    for contrast in validation.contrasts
                ],
                f"Difference of {TITLES[name][0]}, 95 % interval over items; across 0 neither is shown to be better",
            ),
        )
        for name in validation.contrasts[0].gap.plain
    )  # fmt: skip


def _of_confusion(validation: Validation) -> tuple[SheetPicture, ...]:
    """The confusion matrices of all raters side by side, group by group."""
    called = _names(validation)
    return tuple(
        SheetPicture(
            f"confusion/{group}", f"Confusion{apart}",
            partial(
                pictures.confusions, f"Confusion{apart}: {validation.against} down, what was said across",
                [(called[line.rater.key], line.result.confusion) for line in lines], validation.protocol.values,
            ),
        )
        for group, lines in _by_group(validation.lines) for apart in ["" if group == ALL else f", {group}"]
    )  # fmt: skip
