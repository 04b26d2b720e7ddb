"""The pairs of frozen values behind a figure of agreement, with the words of their units."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isclose
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.agreement.agreement_figures import SELF, UNITS, FigureRow, Repeated, repeated
from annotator.actions.agreement.agreement_groups import Group, criteria
from annotator.actions.agreement.agreement_inputs import AgreementInput, refuse_others
from annotator.actions.agreement.agreement_report import VOTES, AgreementReport, inputs_of
from annotator.actions.assignments import adjudicators
from annotator.actions.authoring.comparing import VALUE, field_named
from annotator.actions.consensus import consensus, letters, ruling_rows
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Adjudication, AdjudicationState, Ruling
from annotator.domain.experts.agreement import Agreement
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.labels import UNSURE, Label
from annotator.domain.texts.counting import counted
from annotator.storage.tables import (
    ITEM,
    RESPONSE,
    REVISION,
    SYSTEM,
)

# Item → its key and question. Item, person and unit → the unit's words and its number in that person's list.
Items = Mapping[str, tuple[str, str]]
Units = dict[tuple[str, str, str], tuple[str, int]]


@dataclass(frozen=True, slots=True)
class RaterSide:
    """One rater's text and value; `who` is a person's id, or the occasion in words."""

    who: str
    words: str
    value: Any


@dataclass(frozen=True, slots=True)
class LineBehind:
    """Two sides aligned as the same unit; a side without words lacks it.

    `about` is the unit that a report was judged by, `report` its system. `same` is None where a value is missing.
    """

    item_id: str
    item_key: str
    question: str
    a: RaterSide
    b: RaterSide
    same: bool | None
    likeness: float | None = None
    about: str = ""
    report: str = ""


@dataclass(frozen=True, slots=True)
class LinesBehind:
    """The lines behind a row, and how many items are hidden from a person who may yet adjudicate them."""

    row: FigureRow
    lines: tuple[LineBehind, ...]
    held_back: int = 0


def behind(project: Project, report: AgreementReport, row: FigureRow) -> LinesBehind:
    """What a row was computed from, line by line, in the order of items. Refusal for anyone who does not coordinate.

    Held back is what would tell an adjudicator, before they have decided, who wrote what.
    """
    refuse_others(project)
    with project.store.read() as db:
        secret = _undecided(project, db, row)
        listed = select(ITEM.c.id, ITEM.c.key, ITEM.c.question)
        items = {each.id: (each.key, each.question) for each in db.execute(listed)}
        if row.by == SELF:
            lines = _of_repeats(db, items, _twice(project, row))
        elif row.by == VOTES:
            lines = _of_votes(db, items, row)
        else:
            lines = _of_records(db, items, report, row)
    kept = tuple(line for line in lines if line.item_id not in secret)
    return LinesBehind(row, kept, len({line.item_id for line in lines} & secret))


class _About:
    """The subject of labels."""

    def __init__(self, db: Connection, judged: Iterable[Group]) -> None:
        names = select(RESPONSE.c.id, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
        self._systems: dict[str, str] = {row.id: row.name for row in db.execute(names)}
        self._words = criteria(db, judged)

    def unit(self, item_id: str, unit_id: str) -> str:
        """The words of a unit that reports are judged by; its id where it was never written here."""
        return self._words.get((item_id, unit_id), unit_id)

    def system(self, response_id: str) -> str:
        return self._systems.get(response_id, response_id)


def _of_records(db: Connection, items: Items, report: AgreementReport, row: FigureRow) -> list[LineBehind]:
    found = inputs_of(report, row)
    wanted = {each.where.item_id for each in found}
    units = _units(db, [one for one in report.records if one.stage is row.stage and one.item_id in wanted])
    about = _About(db, {(each.where.item_id, each.judged_unit) for each in found if each.judged_unit})
    return [_of_input(each, items, units, about, row) for each in found]


def _of_input(each: AgreementInput, items: Items, units: Units, about: _About, row: FigureRow) -> LineBehind:
    where = each.where
    return LineBehind(
        where.item_id,
        *items[where.item_id],
        _side(where.a, units.get((where.item_id, where.a, each.unit_a)), each.value_a, row),
        _side(where.b, units.get((where.item_id, where.b, each.unit_b)), each.value_b, row),
        _same(each.value_a, each.value_b),
        each.likeness,
        about.unit(where.item_id, each.judged_unit) if each.judged_unit else "",
        about.system(each.response_id) if each.response_id else "",
    )


def _units(db: Connection, records: Iterable[Agreement]) -> Units:
    """The words of every unit of sealed lists; labels have none of their own."""
    found: Units = {}
    for record in records:
        if record.stage.kind is Kind.LABELS:
            continue
        for given in record.inputs:
            wanted = REVISION.c.artifact_id == given.artifact_id, REVISION.c.number == given.revision
            content = db.execute(select(REVISION.c.content).where(*wanted)).scalar_one()
            for number, unit in enumerate(orjson.loads(content)["units"], start=1):
                words = " — ".join(part for part in (unit.get("identifier", ""), unit["text"]) if part)
                found[record.item_id, given.person_id, unit["id"]] = words, number
    return found


def _side(person: str, unit: tuple[str, int] | None, value: Any, row: FigureRow) -> RaterSide:
    if row.field == UNITS:
        # Who wrote a unit at all is told by its words; its place in the list says more than a 1.
        return RaterSide(person, unit[0], unit[1]) if unit and value else RaterSide(person, "", None)
    return RaterSide(person, unit[0] if unit else "", value)


def _same(a: Any, b: Any) -> bool | None:
    if a in (None, UNSURE) or b in (None, UNSURE):
        return None
    if isinstance(a, float) and isinstance(b, float):
        return isclose(a, b, abs_tol=1e-9)
    return bool(a == b)


def _twice(project: Project, row: FigureRow) -> list[Repeated]:
    return next(
        again for (person, _, protocol), again in repeated(project).items() if (person, protocol) == row.group
    )


def _of_repeats(db: Connection, items: Items, again: list[Repeated]) -> list[LineBehind]:
    about = _About(db, {(one.item_id, one.unit_id) for one in again})
    return [
        LineBehind(
            one.item_id,
            *items[one.item_id],
            RaterSide("the first time", "", one.first),
            RaterSide("again", "", one.second),
            _same(one.first, one.second),
            about=about.unit(one.item_id, one.unit_id),
            report=about.system(one.response_id),
        )
        for one in again
    ]


def _of_votes(db: Connection, items: Items, row: FigureRow) -> list[LineBehind]:
    rulings = ruling_rows.all_rulings(db)
    voted = [
        (found, ruling, letter, unit)
        for found in ruling_rows.adjudications(db)
        if found.stage is row.stage and found.version
        for documents in [letters.documents(db, found)]
        for ruling in rulings.get(found.id, ())
        if ruling.first_vote
        for letter, unit in consensus.members(ruling, documents).items()
        if not isinstance(unit, Label) or field_named(VALUE, unit.protocol) == row.field
    ]
    about = _About(
        db, {(found.item_id, unit.unit_id) for found, _, _, unit in voted if isinstance(unit, Label)}
    )
    return [_of_vote(*each, items, about) for each in voted]


def _of_vote(
    found: Adjudication, ruling: Ruling, letter: str, unit: Unit, items: Items, about: _About
) -> LineBehind:
    value = letters.said(letters.kind_of(found), unit) or None
    label = unit if isinstance(unit, Label) else None
    return LineBehind(
        found.item_id,
        *items[found.item_id],
        RaterSide("first vote", "", ruling.first_vote),
        RaterSide(found.letters[letter], unit.text, value),
        _same(ruling.first_vote, value),
        about=about.unit(found.item_id, label.unit_id) if label else unit.text,
        report=about.system(label.response_id) if label else "",
    )


def _undecided(project: Project, db: Connection, row: FigureRow) -> set[str]:
    """The items of a row that the person working may adjudicate and has not finished with."""
    known = adjudicators.competence(project, db)
    opened = {each.item_id: each for each in ruling_rows.adjudications(db) if each.stage is row.stage}
    return {item_id for item_id in row.items if _open_to(known, item_id, opened.get(item_id))}


def _open_to(known: adjudicators.Competence, item_id: str, found: Adjudication | None) -> bool:
    if found is not None and found.state is AdjudicationState.CLOSED:
        return False
    return known.objection(item_id, found.adjudicator_id if found else "") is None


def held_back_words(found: LinesBehind) -> str:
    """Why lines are held back, in a sentence; empty when none are."""
    if not found.held_back:
        return ""
    be, it = ("is", "it") if found.held_back == 1 else ("are", "them")
    what = counted(found.held_back, "item")
    return (
        f"{what} {be} left out: you may adjudicate {it}, and must not know who wrote what before you decide."
    )


def value_words(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "not given"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
