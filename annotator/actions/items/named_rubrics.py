"""Named rubric sets: other rubrics for the same items, kept beside the experts' own, and which of them is in force."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import select

from annotator.actions.authoring import annotating, criterion_weights
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import extracts
from annotator.actions.items.extracts import NewExtract, keep_row
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.extract import SET, by_set
from annotator.domain.texts.change import Change, derived_id, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import EXTRACT, ITEM

LONGEST = 60
OWN = "settled"


def sets(project: Project) -> dict[str, dict[str, Rubric]]:
    """The named sets: name → item's key → rubric."""
    question = (
        select(EXTRACT, ITEM.c.key)
        .join(ITEM, ITEM.c.id == EXTRACT.c.item_id)
        .where(EXTRACT.c.origin.like(f"{SET}%"), ITEM.c.retired.is_(False))
        .order_by(EXTRACT.c.origin, ITEM.c.position, ITEM.c.key)
    )
    found: dict[str, dict[str, Rubric]] = {}
    with project.store.read() as db:
        for row in db.execute(question).mappings():
            document = extracts.read(row).document
            if isinstance(document, Rubric):
                found.setdefault(row["origin"].removeprefix(SET), {})[row["key"]] = document
    return found


def settled(project: Project) -> dict[str, Rubric]:
    """The experts' rubrics that reports are judged by while no set is in force, by item's key."""
    with project.store.read() as db:
        keys = dict(db.execute(select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))).all())
        rows = annotating.judged_rows(db, Kind.RUBRIC, list(keys), own=True)
    documents = {keys[item_id]: artifact_of(row).document for item_id, row in rows.items()}
    return {key: one for key, one in documents.items() if isinstance(one, Rubric) and one.units}


def in_force(project: Project) -> str:
    """The set that reports are judged by now; empty for the experts' own rubrics."""
    return str(project.get(annotating.RUBRIC_SET, ""))


def use(project: Project, name: str) -> Change:
    """Have reports judged, labelled and scored by a named set from now on; by the experts' own for an empty name.

    Whatever was said by other rubrics stays, and counts again once they are in force again.
    """
    people.refuse_others(project, "can choose by which rubrics reports are judged")
    name = "" if name == OWN else name
    if name and name not in (there := sets(project)):
        raise Refusal(f"There is no rubric set “{name}”.", f"There are: {', '.join([OWN, *there])}.")
    before = in_force(project)
    with project.store.write() as db:
        project.set(annotating.RUBRIC_SET, name)
        verb = "choose the rubrics to judge by"
        return record(project, db, Change("setting", annotating.RUBRIC_SET, verb, before, name))


def keep(project: Project, name: str, rubrics: Mapping[str, Rubric]) -> Change:
    """Keep rubrics by item's key as a named set; those of an item take the place of its former ones.

    Of the criteria only words and weights are kept. Refusal for an unknown item, or a weight that is not allowed.
    """
    people.refuse_others(project, "can keep a rubric set")
    name = name.strip()
    if not name or len(name) > LONGEST or name == OWN or ":" in name:
        raise Refusal(f"“{name[:LONGEST]}” cannot name a rubric set.", "Give a short name without a colon.")
    with project.store.write() as db:
        ids = {key: item_id for key, item_id in db.execute(select(ITEM.c.key, ITEM.c.id))}
        if unknown := sorted(set(rubrics) - set(ids)):
            raise Refusal(f"There is no item {unknown[0]}.", "Nothing was kept.")
        for key, rubric in rubrics.items():
            apart = _apart(name, key, rubric)
            if odd := apart.fault() or criterion_weights.outside(project, apart):
                raise Refusal(f"The rubric of item {key} does not fit. {odd}", "Nothing was kept.")
            keep_row(db, NewExtract(ids[key], "", Kind.RUBRIC, apart, by_set(name)), project.by)
        after = {"name": name, "items": len(rubrics)}
        return record(project, db, Change("rubric set", new_id(), "keep a rubric set", None, after))


def _apart(name: str, key: str, rubric: Rubric) -> Rubric:
    """The same criteria under ids of their own, which stay as long as their words do."""
    times = Counter[str]()
    units = []
    for unit in rubric.units:
        times[unit.text] += 1
        own = derived_id("criterion", name, key, unit.text, times[unit.text])
        units.append(type(unit)(id=own, text=unit.text, weight=unit.weight))
    return Rubric(units=tuple(units))
