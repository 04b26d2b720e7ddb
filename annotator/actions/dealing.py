"""How reports are dealt to a rater: which units they are judged by, in what order they come, and under what name."""

from collections import defaultdict
from collections.abc import Iterable

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions import annotating
from annotator.domain.artifact import Kind
from annotator.domain.canonical import sha256
from annotator.domain.protocol import Case
from annotator.domain.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ResponseRow, table

RESPONSE = table(ResponseRow)


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
    """The kinds of artifact whose units are labelled under some protocol."""
    return sorted({shape.unit_kind for shape in PROTOCOLS.values() if shape.unit_kind is not None})


def judged_units(db: Connection, kind: Kind, items: Iterable[str] | None = None) -> dict[str, dict[str, str]]:
    """Item by item, the ids and words of the units that its reports are judged by."""
    return {
        item_id: {unit["id"]: unit["text"] for unit in orjson.loads(row.content)["units"]}
        for item_id, row in annotating.judged_rows(db, kind, items).items()
    }


def reports(db: Connection, items: Iterable[str] | None = None) -> defaultdict[str, list[str]]:
    """Item by item, the ids of its reports."""
    question = select(RESPONSE.c.item_id, RESPONSE.c.id)
    if items is not None:
        question = question.where(RESPONSE.c.item_id.in_(items))
    found: defaultdict[str, list[str]] = defaultdict(list)
    for item_id, response_id in db.execute(question):
        found[item_id].append(response_id)
    return found


def dealt(reports: Iterable[str], person_id: str) -> list[tuple[str, str]]:
    """An item's reports in an order of this person's own, named “Report A”, “Report B” …

    The order hangs on the person and the reports alone, so a report that comes later does not reshuffle the rest.
    """
    order = sorted(reports, key=lambda response_id: sha256(f"{person_id}/{response_id}"))
    return [(f"Report {_letter(place)}", response_id) for place, response_id in enumerate(order)]


def together(one: str, other: str) -> str:
    """What two reports of an item are called: “Reports A and B”."""
    return f"Reports {one.removeprefix('Report ')} and {other.removeprefix('Report ')}"


def shuffled(pairs: Iterable[Case], person_id: str) -> list[Case]:
    """Pairs in an order of this person's own; of one asked both ways, the dealt way long before the other."""
    return sorted(
        pairs,
        key=lambda case: (
            not comes_first(person_id, case),
            sha256("/".join([person_id, case.protocol, *sorted(_both(case))])),
        ),
    )


def comes_first(person_id: str, case: Case) -> bool:
    """Whether this is the way round in which a person is asked about a pair: chance, but the same whenever asked."""
    first, second = sorted(_both(case))
    toss = int(sha256("/".join([person_id, case.protocol, first, second, "toss"]))[:8], 16) % 2
    return (case.response.id == first) == (toss == 0)


def _both(case: Case) -> tuple[str, str]:
    return case.response.id, case.unit.id


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"{place + 1}"
