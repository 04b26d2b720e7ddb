"""Reports as dealt to a rater: their units, their order, and the blind names."""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.items.items import SOURCES_ONLY
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.item import CONTINUATION, by_set
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS, TO_SUBMIT, USUAL, assigned_protocols
from annotator.storage.tables import (
    ARTIFACT,
    ASSIGNMENT,
    EXTRACT,
    RESPONSE,
    REVISION,
    VALIDATION_SET,
)

if TYPE_CHECKING:
    from annotator.domain.judges.protocol import Case


# The reports that people label: none of an item that systems do not answer.
LABELLED = select(RESPONSE.c.item_id, RESPONSE.c.id).where(
    RESPONSE.c.mode != CONTINUATION, RESPONSE.c.item_id.not_in(SOURCES_ONLY)
)


def labelled_by(protocol: str) -> Kind:
    """The kind of artifact whose units are labelled under a protocol; Refusal where units are not an artifact's."""
    kind = PROTOCOLS[protocol].unit_kind
    if kind is None:
        raise Refusal(
            f"{PROTOCOLS[protocol].title} is not labelled unit by unit.",
            "Choose another protocol to label by.",
        )
    return kind


def labelled_kinds() -> list[Kind]:
    return sorted({protocol.unit_kind for protocol in PROTOCOLS.values() if protocol.unit_kind is not None})


def judged_units(db: Connection, kind: Kind, items: Iterable[str] | None = None) -> dict[str, dict[str, str]]:
    return {
        item_id: {unit["id"]: unit["text"] for unit in orjson.loads(row.content)["units"]}
        for item_id, row in annotating.judged_rows(db, kind, items).items()
    }


def written_units(db: Connection, item_id: str) -> dict[str, str]:
    """The ids and newest words of all units that an item's reports were ever judged by, whoever wrote them."""
    contents = [
        *db.execute(
            select(EXTRACT.c.content).where(
                EXTRACT.c.item_id == item_id,
                EXTRACT.c.kind == Kind.RUBRIC.value,
                EXTRACT.c.origin.startswith(by_set("")),
            )
        ).scalars(),
        *db.execute(
            select(REVISION.c.content)
            .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
            .where(ARTIFACT.c.item_id == item_id, ARTIFACT.c.kind.in_(labelled_kinds()))
            .order_by(REVISION.c.number)
        ).scalars(),
    ]
    return {unit["id"]: unit["text"] for content in contents for unit in orjson.loads(content)["units"]}


def reports(db: Connection, items: Iterable[str] | None = None) -> defaultdict[str, list[str]]:
    """Item by item, the ids of its reports; none of an item that systems do not answer."""
    question = LABELLED if items is None else LABELLED.where(RESPONSE.c.item_id.in_(items))
    result: defaultdict[str, list[str]] = defaultdict(list)
    for item_id, response_id in db.execute(question):
        result[item_id].append(response_id)
    return result


def protocols_by_item(db: Connection, person_id: str) -> dict[str, tuple[str, ...]]:
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.protocols).where(
        ASSIGNMENT.c.person_id == person_id,
        ASSIGNMENT.c.stage == Stage.LABELLING.value,
        ASSIGNMENT.c.trial == 1,
    )
    return {item_id: assigned_protocols(protocols) for item_id, protocols in db.execute(question)}


def is_handed_out(db: Connection, person_id: str, protocol: str) -> bool:
    """Whether a person labels by a protocol what was handed out to them, and submits it."""
    return protocol in TO_SUBMIT or any(protocol in one for one in protocols_by_item(db, person_id).values())


def reports_for(
    db: Connection, person_id: str, items: Iterable[str] | None = None, protocol: str = USUAL
) -> defaultdict[str, list[str]]:
    """Item by item, the ids of the reports that a person is to label: of a validation set those that were drawn."""
    result, sampled = reports(db, items), narrowed(db, person_id, protocol)
    for item_id in result.keys() & sampled.keys():
        result[item_id] = [response_id for response_id in result[item_id] if response_id in sampled[item_id]]
    return result


def narrowed(db: Connection, person_id: str, protocol: str = USUAL) -> dict[str, set[str]]:
    """The items of which a person labels some reports only, for validation sets, with those reports.

    Of pairs every report is there, for each may be drawn beside any.
    """
    result: defaultdict[str, set[str]] = defaultdict(set)
    if PROTOCOLS[protocol].paired:
        return {}
    validation_sets = select(VALIDATION_SET.c.content).where(VALIDATION_SET.c.protocol == protocol)
    contents = [orjson.loads(text) for text in db.execute(validation_sets).scalars()]
    raters = labelling(db, person_id, protocol) if contents else {}
    for content in contents:
        dealt = content.get("dealt", {})
        items = {item for item, people in content.get("narrowed", {}).items() if person_id in people}
        items |= {
            item for item in raters.keys() & dealt.keys() if replaces(person_id, dealt[item], raters[item])
        }
        for one in content.get("responses", ()) if items else ():
            if one["item_id"] in items:
                result[one["item_id"]].add(one["response_id"])
    return dict(result)


def labelling(db: Connection, person_id: str = "", protocol: str = USUAL) -> dict[str, set[str]]:
    """Item by item, who is asked to label it; of the items that a person is asked to label, where one is named."""
    labels = (ASSIGNMENT.c.stage == Stage.LABELLING.value, ASSIGNMENT.c.trial == 1)
    question = select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id, ASSIGNMENT.c.protocols).where(*labels)
    if person_id:
        mine = select(ASSIGNMENT.c.item_id).where(*labels, ASSIGNMENT.c.person_id == person_id)
        question = question.where(ASSIGNMENT.c.item_id.in_(mine))
    result: defaultdict[str, set[str]] = defaultdict(set)
    for item_id, person, protocols in db.execute(question):
        if protocol in assigned_protocols(protocols):
            result[item_id].add(person)
    return dict(result)


def replaces(person_id: str, dealt: Iterable[str], raters: AbstractSet[str]) -> bool:
    """Whether someone who is asked to label an item now took it over from one to whom a set dealt it."""
    dealt = set(dealt)
    return person_id in raters - dealt and not dealt <= raters


def dealt(reports: Iterable[str], person_id: str) -> list[tuple[str, str]]:
    """An item's reports in an order of this person's own, named “Report A”, “Report B” …

    The order hangs on the person and the reports alone, so a report that comes later does not reshuffle the rest.
    """
    order = sorted(reports, key=lambda response_id: sha256(f"{person_id}/{response_id}"))
    return [(f"Report {_letter(place)}", response_id) for place, response_id in enumerate(order)]


def together(one: str, other: str) -> str:
    """What two reports of an item are called: “Reports A and B”."""
    return f"Reports {one.removeprefix('Report ')} and {other.removeprefix('Report ')}"


def shuffled(pairs: "Iterable[Case]", person_id: str) -> "list[Case]":
    """Pairs in an order of this person's own; of one asked both ways, the dealt way long before the other."""
    return sorted(
        pairs,
        key=lambda case: (
            not comes_first(person_id, case),
            sha256("/".join([person_id, case.protocol, *sorted(_both(case))])),
        ),
    )


def comes_first(person_id: str, case: "Case") -> bool:
    """Whether this is the way round in which a person is asked about a pair: chance, but the same whenever asked."""
    return shown_first(person_id, case.protocol, *_both(case)) == case.response.id


def shown_first(person_id: str, protocol: str, *pair: str) -> str:
    """Which report of a pair a person is shown first, where one order is asked."""
    first, second = sorted(pair)
    toss = int(sha256("/".join([person_id, protocol, first, second, "toss"]))[:8], 16) % 2
    return second if toss else first


def _both(case: "Case") -> tuple[str, str]:
    return case.response.id, case.unit.id


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"{place + 1}"
