"""Groups of agreement figures: which groups a figure belongs to, and their names."""

from collections.abc import Callable, Iterable

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.agreement.agreement_inputs import AgreementScope, Names
from annotator.actions.labelling import dealing
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.ordering import natural
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT, REVISION

BY = ("stage", "pair", "person", "criterion", "item", "week", "guideline")
# The ids of what is grouped by: none for a stage, two people's for a pair, the item's and the unit's for a criterion.
Group = tuple[str, ...]


def refuse_unknown(by: str) -> None:
    """Refusal for what agreement cannot be grouped by."""
    if by not in BY:
        raise Refusal(f"Agreement cannot be grouped by “{by}”.", f"Choose one of {', '.join(BY)}.")


def groups_of(by: str, where: AgreementScope, judged_unit: str = "") -> tuple[Group, ...]:
    """The groups that something belongs to: two of persons, none of criteria where no unit was judged."""
    match by:
        case "pair":
            return ((where.a, where.b),)
        case "person":
            return (where.a,), (where.b,)
        case "criterion":
            return ((where.item_id, judged_unit),) if judged_unit else ()
        case "item":
            return ((where.item_id,),)
        case "week":
            return ((where.week,),)
        case "guideline":
            return (tuple(sorted({where.guideline_a, where.guideline_b}, key=natural)),)
    return ((),)


def naming(project: Project, by: str, names: Names, groups: Iterable[Group]) -> Callable[[Stage, Group], str]:
    """What says in words what a group of a stage is."""
    texts: dict[Group, str] = {}
    if by == "criterion":
        with project.store.read() as db:
            texts = criteria(db, groups)

    def called(stage: Stage, group: Group) -> str:
        match by:
            case "stage":
                return stage.value
            case "pair" | "person":
                return " and ".join(sorted(map(names.of_person, group), key=natural))
            case "criterion":
                return texts.get(group, group[1])
            case "item":
                return names.items[group[0]]
        return " and ".join(group)

    return called


def criteria(db: Connection, wanted: Iterable[Group]) -> dict[Group, str]:
    """(item, unit) → its words as they stand now, or last stood where the unit has gone since; no figure hangs on them.

    A unit that was labelled goes when its list is adjudicated: what was said of it is frozen, its words are not.
    """
    sought = set(wanted)
    items = {item for item, _ in sought}
    kinds = dealing.labelled_kinds()
    found: dict[Group, str] = {
        (item, unit): words
        for kind in kinds
        for item, units in dealing.judged_units(db, kind, items).items()
        for unit, words in units.items()
    }
    if gone := {item for item, unit in sought - found.keys()}:
        former = (
            select(ARTIFACT.c.item_id, REVISION.c.content)
            .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
            .where(ARTIFACT.c.item_id.in_(gone), ARTIFACT.c.kind.in_([kind.value for kind in kinds]))
            .order_by(ARTIFACT.c.id, REVISION.c.number)
        )
        there: dict[Group, str] = {
            (row.item_id, unit["id"]): unit["text"]
            for row in db.execute(former)
            for unit in orjson.loads(row.content)["units"]
        }
        found = there | found
    return {group: found[group] for group in sought & found.keys()}
