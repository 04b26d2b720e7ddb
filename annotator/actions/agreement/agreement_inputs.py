"""Inputs of agreement: the exact values of each pair of units, from frozen records alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select

from annotator.actions.assignments import agreements
from annotator.actions.authoring.comparing import ITEM_SCORE, about, field_named
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.agreement import Agreement, PairAgreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.kinds.labels import ABOUT
from annotator.domain.texts.refusal import Refusal, RoleNeeded
from annotator.storage.tables import ITEM, PERSON

# The field that says who wrote a unit at all: 1 and 1 where it is matched, 1 and 0 where only one has it.
WRITTEN = "written"
CSV_NAME, JSON_NAME = "agreement-inputs.csv", "agreement.json"


@dataclass(frozen=True, slots=True)
class AgreementScope:
    """The scope of an agreement: raters, stage, the ISO week of freezing, guideline versions."""

    item_id: str
    stage: Stage
    week: str
    a: str
    b: str
    guideline_a: str
    guideline_b: str


@dataclass(frozen=True, slots=True)
class AgreementInput:
    """Two raters' values of one field of a pair of units; for labels with report and unit."""

    where: AgreementScope
    field: str
    unit_a: str
    unit_b: str
    value_a: Any
    value_b: Any
    likeness: float | None = None
    response_id: str = ""
    judged_unit: str = ""

    def seen_by(self, person_id: str) -> "AgreementInput":
        """The same with that rater first."""
        if self.where.b != person_id:
            return self
        where = replace(
            self.where,
            a=self.where.b,
            b=self.where.a,
            guideline_a=self.where.guideline_b,
            guideline_b=self.where.guideline_a,
        )
        return replace(
            self,
            where=where,
            unit_a=self.unit_b,
            unit_b=self.unit_a,
            value_a=self.value_b,
            value_b=self.value_a,
        )


@dataclass(frozen=True, slots=True)
class Names:
    """Names to show: items by key and in order, people by alias."""

    items: Mapping[str, str]
    people: Mapping[str, str]

    def of_person(self, person_id: str) -> str:
        """A person's alias; the id itself of someone whom the project does not know."""
        return self.people.get(person_id, person_id)


def refuse_others(project: Project) -> None:
    """Refusal for anyone who does not coordinate: figures tell annotators and adjudicators how others answered."""
    if not people.someone(project).has(Role.COORDINATOR):
        raise RoleNeeded(
            "Agreement is shown to a coordinator only.",
            "Ask a coordinator, or work as a coordinator of this project.",
            Role.COORDINATOR,
        )


def frozen(project: Project) -> tuple[list[Agreement], Names]:
    """The frozen agreements in the order of items and stages, those of retired items left out, and the names."""
    refuse_others(project)
    listed = select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        items = {
            row.id: row.key for row in db.execute(listed.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id))
        }
        aliases = {row.id: row.alias for row in db.execute(select(PERSON.c.id, PERSON.c.alias))}
        found = [agreement for agreement in agreements.all_frozen(project, db) if agreement.item_id in items]
    places, stages = {item_id: place for place, item_id in enumerate(items)}, list(Stage)
    found.sort(key=lambda agreement: (places[agreement.item_id], stages.index(agreement.stage)))
    return found, Names(items, aliases)


def flat(agreement: Agreement) -> Iterator[AgreementInput]:
    """Every input of a frozen agreement: who wrote which unit, and the values of each pair, field by field."""
    for pair in agreement.pairs:
        where = where_of(agreement, pair)
        for match in pair.matched:
            yield AgreementInput(where, WRITTEN, match.a, match.b, 1, 1, match.likeness)
        yield from (AgreementInput(where, WRITTEN, unit, "", 1, 0) for unit in pair.only_a)
        yield from (AgreementInput(where, WRITTEN, "", unit, 0, 1) for unit in pair.only_b)
        yield from _values(where, pair)
        scores = {found.name: found.value for found in pair.figures}
        if f"{ITEM_SCORE}_a" in scores:
            yield AgreementInput(
                where, ITEM_SCORE, "", "", scores[f"{ITEM_SCORE}_a"], scores[f"{ITEM_SCORE}_b"]
            )


def where_of(agreement: Agreement, pair: PairAgreement) -> AgreementScope:
    year, week, _ = agreement.frozen_at.isocalendar()
    guidelines = {given.person_id: given.guideline for given in agreement.inputs}
    return AgreementScope(
        agreement.item_id,
        agreement.stage,
        f"{year}-W{week:02}",
        pair.a,
        pair.b,
        guidelines[pair.a],
        guidelines[pair.b],
    )


def _values(where: AgreementScope, pair: PairAgreement) -> Iterator[AgreementInput]:
    for name, values in pair.values.items():
        if name in ABOUT:
            continue
        protocols = pair.values.get("protocol", (("", ""),) * len(values))
        for match, (a, b), (report, unit), (protocol, _) in zip(
            pair.matched, values, about(pair), protocols, strict=True
        ):
            field = field_named(name, protocol)
            yield AgreementInput(where, field, match.a, match.b, a, b, response_id=report, judged_unit=unit)


def inputs(project: Project) -> list[dict[str, Any]]:
    """The exact inputs of every figure as flat records, people by alias, each with its item's key.

    Of field “written”, 1 says that the rater has the unit; None is a value that was not given.
    """
    found, names = frozen(project)
    return [_record(each, names) for agreement in found for each in flat(agreement)]


def _record(each: AgreementInput, names: Names) -> dict[str, Any]:
    where = each.where
    return {
        "item": names.items[where.item_id],
        "stage": where.stage.value,
        "rater_a": names.of_person(where.a),
        "rater_b": names.of_person(where.b),
        "field": each.field,
        "unit_a": each.unit_a,
        "unit_b": each.unit_b,
        "value_a": each.value_a,
        "value_b": each.value_b,
        "likeness": each.likeness,
        "guideline_a": where.guideline_a,
        "guideline_b": where.guideline_b,
        "response_id": each.response_id,
        "judged_unit": each.judged_unit,
    }


def write_inputs(project: Project, folder: Path) -> tuple[str, ...]:
    """Write the inputs as a table and the frozen records as JSON, people by alias; the names of the files.

    Refusal while nothing is frozen, and when the folder holds anything but an unchanged former writing.
    """
    from annotator.exchange import folders
    from annotator.exchange.release import tables_csv

    found, names = frozen(project)
    if not found:
        raise Refusal(
            "No agreement has been frozen yet.", "It is frozen once everyone assigned has submitted."
        )
    rows = [_record(each, names) for agreement in found for each in flat(agreement)]
    tree = {"agreements": [_aliased(agreement, names) for agreement in found]}
    files = folders.with_sums({CSV_NAME: tables_csv.csv(rows), JSON_NAME: folders.pretty(tree)})
    folders.write(folder, files)
    return tuple(sorted(files))


def _aliased(agreement: Agreement, names: Names) -> dict[str, Any]:
    """A frozen record as JSON, with its item's key and with aliases for people."""
    tree: dict[str, Any] = agreement.model_dump(mode="json")
    for given in tree["inputs"]:
        given["person_id"] = names.of_person(given["person_id"])
    for pair in tree["pairs"]:
        pair["a"], pair["b"] = names.of_person(pair["a"]), names.of_person(pair["b"])
    return {"item": names.items[agreement.item_id], **tree}
