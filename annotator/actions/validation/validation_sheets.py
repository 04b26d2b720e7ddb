"""Validation as tables and pictures: figures plain and weighted, confusions, missing verdicts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from annotator.actions.results import publishing, result_pictures
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
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
from annotator.actions.sets.validation_figures import (
    TITLES,
    Named,
    brief_of,
    main_of,
    published,
    remark,
    told,
)
from annotator.actions.sets.validation_ground import PEOPLE, ValidationRater
from annotator.actions.sets.validation_units import ALL
from annotator.actions.validation.validation import Contrast, RaterFigures, Validation
from annotator.actions.validation.validation_behind import HeldRater, held
from annotator.domain.judges.level_figures import FIGURES, uncrossed
from annotator.domain.texts.estimate import Estimate

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


def sheets(found: Validation) -> tuple[ResultSheet, ...]:
    """The tables of a validation."""
    if not found.lines:
        return ()
    made = [_figures(found), _figures(found, weighted=True)]
    made += [_contrasts(found)] if found.contrasts else []
    made += [_confusion(found), _missing(found)]
    return tuple(sheet for sheet in made if sheet.lines)


def _group(found: Validation) -> tuple[SheetColumn, ...]:
    return () if found.query.by == ALL else (SheetColumn("group", "Group"),)


def _titled(name: str) -> SheetColumn:
    return SheetColumn(name, *TITLES[name])


def _figures(found: Validation, *, weighted: bool = False) -> ResultSheet:
    names = [name for name in TITLES if any(name in _side(line, weighted) for line in found.lines)]
    group = _group(found)
    heads = columns(*group, RATER, PROMPT, ("who", "Who"), *map(_titled, names), PAIRS, UNITS, MISSING, COST)
    lines = []
    for line in found.lines:
        cells = (
            *(text(line.group) for _ in group), *_who(line.rater), text(KINDS.get(line.rater.kind, line.rater.kind)),
            *(_figure(found, name, line, weighted=weighted) for name in names),
            _n(line), count(line.units), _lost(line), _cost(line),
        )  # fmt: skip
        whole = held(found.query, line.rater, line.group, f"{_called(line)}: units")
        lines.append(SheetLine(cells, source=whole))
    named = ("weighted", "By weight") if weighted else ("judges", "Judges beside people")
    pictures = _of_figures(found, weighted)
    return ResultSheet(*named, heads, tuple(lines), _told(found), pictures)


def _figure(found: Validation, name: str, line: RaterFigures, *, weighted: bool = False) -> SheetCell:
    estimate = _side(line, weighted).get(name)
    if estimate is None:
        return text("–")
    cell = told(estimate)
    tip = f"{_called(line)}: {TITLES[name][0]} {cell.words}"
    rate = line.missing_rate or 0.0
    unfit = rate > found.limit
    last = f"\nnot publishable: {percent(rate, 1)} of the judgements are missing" if unfit else ""
    return replace(
        cell, tip=f"{tip}\n{cell.tip}{last}", state="unfit" if unfit else cell.state, picture=name,
        source=_behind(found, name, line),
    )  # fmt: skip


def _behind(found: Validation, name: str, line: RaterFigures) -> HeldRater:
    """The units of a figure: of precision what was called positive, of recall what is, of specificity what is not."""
    values, positive = found.shape.values, found.positive
    narrowed = {}
    if positive and name == "precision":
        narrowed = {"said": positive}
    elif positive and name == "recall":
        narrowed = {"true": positive}
    elif positive and name == "specificity" and len(values) == 2:
        narrowed = {"true": next(value for value in values if value != positive)}
    return held(found.query, line.rater, line.group, f"{_called(line)}: {TITLES[name][0]}", **narrowed)


def _called(line: RaterFigures) -> str:
    return line.rater.name if line.group == ALL else f"{line.rater.name}, {line.group}"


def _who(rater: ValidationRater) -> tuple[SheetCell, SheetCell]:
    return text(rater.name), text(rater.prompt[:HASH_SHOWN], tip=rater.prompt)


def _n(line: RaterFigures) -> SheetCell:
    return count(sum(line.told.confusion.values()), form=",.0f")


def _lost(line: RaterFigures) -> SheetCell:
    return count(sum(line.missing.values()), tip=_causes(line.missing)) if line.rater.is_judge else text("–")


def _causes(missing: Mapping[str, int]) -> str:
    return ", ".join(f"{cause.replace('_', ' ')}: {many:,}" for cause, many in missing.items())


def _cost(line: RaterFigures) -> SheetCell:
    return figure(line.cost, DOLLARS) if line.cost is not None else text("–")


def _told(found: Validation) -> tuple[str, ...]:
    query = found.query
    labels = f"“{query.set_name}”, {query.part or 'dev'} part" if query.set_name else "all submitted labels"
    positive = f", “{found.positive}” being positive" if found.positive else ""
    said = [
        f"{found.shape.title}: compared with {found.against} on {labels}{positive}. Intervals are over items."
    ]
    said += found.viewed
    for kind in dict.fromkeys(line.rater.kind for line in found.lines):
        said += publishing.floor_told(kind, [found.shape.name])
    return (*said, *found.notes, published(found.shape))


def _confusion(found: Validation) -> ResultSheet:
    group = _group(found)
    heads = columns(
        *group, RATER, PROMPT, ("true", "True value", f"By {found.against}"), ("said", "Said"), ("units", "Units"),
        ("weight", "Weight", "Sum of weights"),
    )  # fmt: skip
    values = () if uncrossed(found.shape.scale) else found.shape.values
    lines = tuple(
        SheetLine((*(text(line.group) for _ in group), *_confused(found, line, true, said)),
             picture=f"confusion/{line.group}")
        for line in found.lines for true in values for said in values
    )  # fmt: skip
    about = (f"Compared with {found.against}. Open a count to list its units.",)
    return ResultSheet("confusion", "Confusion", heads, lines, about, _of_confusion(found))


def _confused(found: Validation, line: RaterFigures, true: str, said: str) -> tuple[SheetCell, ...]:
    counts = line.told.confusion
    many = counts.get((true, said), 0)
    whole = sum(number for (each, _), number in counts.items() if each == true)
    words = f"{_called(line)}: true value “{true}”, said “{said}”"
    source = held(found.query, line.rater, line.group, words, true=true, said=said) if many else None
    cells = (
        *_who(line.rater), text(true), text(said, state="agreed" if true == said else "disagree"),
        count(many, form=",.0f"),
        count(line.told.confusion_weighted.get((true, said), 0), form=",g"),
    )  # fmt: skip
    tip = f"{words}\n{many:,.0f} of {whole:,.0f} with that true value, of {sum(counts.values()):,.0f} in all"
    return tuple(replace(cell, source=source, tip=cell.tip or tip) for cell in cells)


def _missing(found: Validation) -> ResultSheet:
    group = _group(found)
    heads = columns(
        *group, JUDGE_COLUMN, PROMPT, ("cause", "Cause"), ("units", "Units"),
        ("share", "Share", "Of the units with a true value"), ("of", "Of", "Units with a true value"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            *(text(line.group) for _ in group), *_who(line.rater), text(cause.replace("_", " ")), count(many),
            count(many / line.units, form=".3f"), count(line.units),
        ), source=held(found.query, line.rater, line.group, f"{_called(line)}: {cause.replace('_', ' ')}", cause=cause))
        for line in found.lines for cause, many in line.missing.items()
    )  # fmt: skip
    return ResultSheet("missing", "Missing by cause", heads, lines)


def _contrasts(found: Validation) -> ResultSheet:
    heads = columns(
        *PAIR, ("figure", "Figure"), ("difference", "First − second", "On the units that have a value of both"),
        VERDICT,
        ("only_first_right", "Only first right", "Units"), ("only_second_right", "Only second right", "Units"),
    )  # fmt: skip
    lines = tuple(line for one in found.contrasts for line in _contrast(found, one))
    about = ("The interval of a difference is over items.",)
    return ResultSheet("contrasts", "Two judges", heads, lines, about, _of_contrasts(found))


def _contrast(found: Validation, one: Contrast) -> Iterable[SheetLine]:
    first, second, only_right = one.first, one.second, one.gap.only_right
    every = held(found.query, first, ALL, f"{first.name} and {second.name}: units")
    only = (
        held(found.query, first, ALL, f"Only {first.name} right, not {second.name}", beside=second.key),
        held(found.query, second, ALL, f"Only {second.name} right, not {first.name}", beside=first.key),
    )
    counts = [
        replace(count(many), source=source if many else None)
        for many, source in zip(only_right, only, strict=True)
    ]
    for name, gap in one.gap.plain.items():
        verdict = one.gap.verdict(name)
        yield SheetLine((
            *_who(first), *_who(second), text(TITLES[name][0], tip=TITLES[name][1]), told(gap),
            text(verdict, tip=verdict), *counts,
        ), source=every, picture=f"gap/{name}")  # fmt: skip


def brief(found: Validation) -> tuple[ResultSheet, ...]:
    """What fits a terminal: the main figures, and of every two judges the one that is told most by."""
    if not found.lines:
        return ()
    main = main_of(found.shape.scale)
    names = [name for name in brief_of(found.shape.scale) if name in found.lines[0].told.plain]
    group = _group(found)
    heads = columns(*group, RATER, PROMPT, *map(_titled, names), UNITS, MISSING, COST)
    lines = tuple(
        SheetLine((
            *(text(line.group) for _ in group), *_who(line.rater),
            *(_figure(found, name, line) for name in names), count(line.units), _lost(line),
            _cost(line),
        ))
        for line in found.lines
    )  # fmt: skip
    between = tuple(
        SheetLine((
            *_who(one.first), *_who(one.second), told(one.gap.plain[main]), text(one.gap.verdict(main)),
        ))
        for one in found.contrasts
    )  # fmt: skip
    called = TITLES[main][0].removeprefix("Cohen's ")
    apart = columns(*PAIR, ("difference", f"Difference of {called}", TITLES[main][1]), VERDICT)
    pairs = ResultSheet("contrasts", "Two judges", apart, between)
    whole = ResultSheet("judges", "Judges beside people", heads, lines, _told(found))
    return tuple(sheet for sheet in (whole, pairs) if sheet.lines)


AXIS = "95 % interval over items; the band is people with one another"
FIRST = (*(names[0] for names in FIGURES.values()), "accuracy")
# Hash signs that tell two wordings of one judge apart.
SIGNS = 4


def _names(found: Validation) -> dict[str, str]:
    """Each rater by key: its name, with the first signs of its prompt where one judge judged by several."""
    raters = {line.rater.key: line.rater for line in found.lines}
    many = [rater.name for rater in raters.values()]
    return {key: _named(rater, many.count(rater.name) > 1) for key, rater in raters.items()}


def _named(rater: ValidationRater, several: bool) -> str:
    return f"{rater.name} ({rater.prompt[:SIGNS]})" if several and rater.prompt else rater.name


def _side(line: RaterFigures, weighted: bool) -> Named:
    return line.told.weighted if weighted else line.told.plain


def _of_figures(found: Validation, weighted: bool) -> tuple[SheetPicture, ...]:
    """A picture for each figure that anyone has, κ and accuracy first."""
    present = [name for name in TITLES if any(name in _side(line, weighted) for line in found.lines)]
    ordered = sorted(present, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return tuple(_of_figure(found, name, weighted) for name in ordered)


def _of_figure(found: Validation, name: str, weighted: bool) -> SheetPicture:
    called, sections = _names(found), []
    for group, lines in _by_group(found.lines):
        rated = [
            _rated(called[line.rater.key], _side(line, weighted)[name], line.rater)
            for line in lines
            if name in _side(line, weighted)
        ]
        human = next((_side(line, weighted).get(name) for line in lines if line.rater.id == PEOPLE), None)
        sections.append(result_pictures.Section(group, _ordered(rated), human))
    words = f"{TITLES[name][0]}, by weight" if weighted else TITLES[name][0]
    apart = "" if found.query.by == ALL else f", by {found.query.by}"
    title = f"{words}: judges and people compared with {found.against}{apart}"
    return SheetPicture(
        name, f"{words}{apart}", partial(result_pictures.beside, title, sections, f"{words}: {AXIS}")
    )


def _rated(called: str, found: Estimate, rater: ValidationRater) -> result_pictures.PlottedRater:
    return result_pictures.PlottedRater(called, found, rater.is_judge, remark(found))


def _by_group(lines: Iterable[RaterFigures]) -> Iterator[tuple[str, list[RaterFigures]]]:
    """The lines of each group, in the order of the groups."""
    found: dict[str, list[RaterFigures]] = {}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    yield from found.items()


def _ordered(rated: list[result_pictures.PlottedRater]) -> list[result_pictures.PlottedRater]:
    judged = [one for one in rated if one.judge]
    judged.sort(key=lambda one: (one.estimate.value is None, -(one.estimate.value or 0.0), one.name))
    return [*judged, *(one for one in rated if not one.judge)]


def _of_contrasts(found: Validation) -> tuple[SheetPicture, ...]:
    """The differences of every two judges, figure by figure."""
    called, made = _names(found), []
    for name in found.contrasts[0].gap.plain:
        rows = [
            (f"{called[one.first.key]} − {called[one.second.key]}", one.gap.plain[name])
            for one in found.contrasts
        ]
        title = f"{TITLES[name][0]}: the first judge less the second"
        axis = f"Difference of {TITLES[name][0]}, 95 % interval over items; across 0 neither is shown to be better"
        draw = partial(result_pictures.differences, title, rows, axis)
        made.append(SheetPicture(f"gap/{name}", f"Difference of {TITLES[name][0]}", draw))
    return tuple(made)


def _of_confusion(found: Validation) -> tuple[SheetPicture, ...]:
    """The matrices of all raters side by side, group by group."""
    called = _names(found)
    made = []
    for group, lines in _by_group(found.lines):
        matrices = [(called[line.rater.key], line.told.confusion) for line in lines]
        apart = "" if group == ALL else f", {group}"
        title = f"Confusion{apart}: {found.against} down, what was said across"
        made.append(
            SheetPicture(
                f"confusion/{group}", f"Confusion{apart}",
                partial(result_pictures.confusions, title, matrices, found.shape.values),
            )
        )  # fmt: skip
    return tuple(made)
