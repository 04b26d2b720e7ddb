"""Units behind a figure of validation: true values and what was said."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import CONSENSUS, EVERYBODY
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    columns,
    count,
    text,
)
from annotator.actions.sets import reviews, validation_ground
from annotator.actions.sets.validation_ground import NOT_ASKED, Ground, RatedUnit, ValidationRater
from annotator.actions.sets.validation_units import Key
from annotator.actions.validation import validation
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal

NOT_SAID = "–"


@dataclass(frozen=True, slots=True)
class HeldRater(FigureSource):
    """A rater (by key) compared with the truth within the group; empty values match everything.

    `true` and `said` name a cell of the confusion, `cause` why a judge has no value. With `beside`, another rater's
    key, only the units on which this rater is right and that one wrong.
    """

    query: ValidationQuery = field(default_factory=ValidationQuery)
    rater: str = ""
    true: str = ""
    said: str = ""
    cause: str = ""
    beside: str = ""


def held(
    query: ValidationQuery, rater: ValidationRater, group: str, words: str, **narrowed: str
) -> HeldRater:
    """What a rater's figure within a group is based on; `words` is what it is called."""
    return HeldRater(
        query.protocol, rater.id, group_by=query.by, group=group, words=words, query=query, rater=rater.key, **narrowed
    )  # fmt: skip


def units(project: Project, source: HeldRater) -> ResultSheet:
    """The units, item by item; each line leads to everybody's judgements of it.

    What the person asking is still to label blind is only counted.
    """
    query = source.query
    found = validation_ground.ground(
        project, query.protocol, query.set_name, query.part, query.against, query.judge, query.opening
    )
    try:
        rater = found.rater(source.rater)
        beside = found.rater(source.beside) if source.beside else None
    except KeyError:
        raise Refusal("That rater is no longer among those compared.", "Compute the figures again.") from None
    units = validation.groups(found, query.by).get(source.group)
    rows = found.rows(rater, found.chosen(units)) if units is not None else []
    every = list(_narrowed(found, rater, beside, source, rows))
    blind = reviews.still_blind(project, people.someone(project).id)
    rows = [row for row in every if found.places[row.key].item_id not in blind]
    people_ = rater.kind == validation_ground.PEOPLE
    heads = columns(
        ITEM_COLUMN, SYSTEM_COLUMN, ("unit", "Asked about"), ("weight", "Weight"), ("true", "True value"),
        ("given_by", "Given by", "Whose word counts as true here"), ("said", "Said"), ("said_by", "Said by"),
        *([("beside", beside.name)] if beside else ()),
    )  # fmt: skip
    lines = tuple(
        SheetLine(
            _cells(found, rater, beside, row), found.places[row.key].item_id, unit_id=row.key[1],
            response_id=row.key[0], source=_judgements(source, found, row.key),
        )
        for row in rows
    )  # fmt: skip
    several = " A unit stands here once for every true value." if len(found.truth) > 1 or people_ else ""
    items = len({found.places[row.key].item_id for row in rows})
    told = [f"{counted(len(rows), 'pair')} of values on {counted(items, 'item')}.{several}"]
    if withheld := len(every) - len(rows):
        told.append(
            f"{counted(withheld, 'more is', 'more are')} on items that you still have to label blind."
        )
    return ResultSheet("units", "Units", heads, lines, tuple(told))


def _narrowed(
    found: Ground,
    rater: ValidationRater,
    beside: ValidationRater | None,
    source: HeldRater,
    rows: Iterable[RatedUnit],
) -> Iterable[RatedUnit]:
    seen: set[Key] = set()
    for row in rows:
        if source.cause:
            # A gap is one, however many people say what is true there.
            if row.said is None and row.key not in seen and _cause(found, rater, row.key) == source.cause:
                seen.add(row.key)
                yield row
        elif beside is not None:
            other = found.version(beside).said.get(row.key)
            if row.said == row.true and other not in (None, row.true):
                yield row
        elif row.said is not None and source.true in ("", row.true) and source.said in ("", row.said):
            yield row


def _cause(found: Ground, rater: ValidationRater, key: Key) -> str:
    return found.version(rater).missing.get(key, NOT_ASKED)


def _cells(
    found: Ground, rater: ValidationRater, beside: ValidationRater | None, row: RatedUnit
) -> tuple[SheetCell, ...]:
    place = found.places[row.key]
    if row.said is None:
        said = SheetCell(NOT_SAID, None, _cause(found, rater, row.key).replace("_", " "), "missing")
    else:
        said = text(row.said, state="agreed" if row.said == row.true else "disagree")
    cells = (
        text(place.item_key), text(place.system), text(place.words, tip=place.words),
        count(place.weight, form="g"), text(row.true), text(_alias(found, row.source)), said,
        text(_alias(found, row.who) if row.who else rater.name),
    )  # fmt: skip
    return cells if beside is None else (*cells, text(found.version(beside).said.get(row.key, NOT_SAID)))


def _alias(found: Ground, who: str) -> str:
    return CONSENSUS if who == CONSENSUS else found.aliases.get(who, who)


def _judgements(source: HeldRater, found: Ground, key: Key) -> FigureSource:
    """Everybody's judgements of a unit, the rater's reply among them."""
    place = found.places[key]
    return FigureSource(
        source.protocol,
        EVERYBODY,
        item_id=place.item_id,
        response_id=place.response_id,
        unit_id=place.unit_id,
    )
