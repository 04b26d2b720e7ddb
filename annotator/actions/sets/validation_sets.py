"""Validation sets: sampling, blind assignment, locking, and counting looks at the test part."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from random import Random
from typing import Any

import orjson
from sqlalchemy import Connection, func, insert, select, update

from annotator.actions.assignments import assignments
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import submits
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.sets import validation_figures
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    counted,
    grouped,
    new_id,
    now,
    required,
    sha256,
)
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.validation import Content, Draw, FirstLabel, Opening, Sampled, Split
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ITEM, OPENING, VALIDATION_SET

# Question type, system, length quartile.
Stratum = tuple[str, str, int]

NAME = "validation set"
LONGEST_NAME = 120
# At most this many people without labels are named one by one.
NAMED = 12


@dataclass(frozen=True, slots=True)
class SetRequest:
    """A request for a set: `size` responses, or as many as an interval of `width` needs. For paired protocols it is
    `size` pairs, and a few more may come with the last response.

    `share` is the expected agreement, 0.5 if unknown, and `likeness` the assumed correlation of units of one item (ρ).
    `raters` of the people label each item. With `apart` it is handed out as assignments, like protocols whose labels
    are always submitted: it goes into tasks and counts once submitted.
    """

    name: str
    people: tuple[str, ...]
    protocol: str = USUAL
    width: float = 0.1
    share: float = 0.5
    likeness: float = 0.1
    size: int | None = None
    test_share: float = 0.5
    raters: int = 2
    seed: int = 1
    apart: bool = False


@dataclass(frozen=True, slots=True)
class ValidationSet:
    """A set with its content; `first_labels` is empty until it is locked, `openings` counts looks at its test part."""

    id: str
    name: str
    protocol: str
    content: Content
    at: datetime
    locked_at: datetime | None
    first_labels: tuple[FirstLabel, ...]
    labels_sha256: str
    openings: int

    def responses(self, split: Split | None = None) -> set[str]:
        return {
            response.response_id for response in self.content.responses if split in (None, response.split)
        }


@dataclass(frozen=True, slots=True)
class SetPreview:
    content: Content
    units: int
    sentences: tuple[str, ...]


@people.for_coordinators("can draw validation sets")
def preview(project: Project, request: SetRequest) -> SetPreview:
    """Sample a set without storing it; if made next, only its labellers may differ."""
    _refuse_senseless(project, request)
    protocol = label_cases.protocol_of(project, request.protocol)
    result = required(
        candidates(validation_figures.places(project, protocol).values()),
        "No response can be labelled yet.",
        "Import responses, and complete the gold they are judged by.",
    )
    size = _size(result, request)
    chosen = sample(result, size.responses, request.seed)
    by_width = request.size is None
    draw = Draw(
        seed=request.seed, test_share=request.test_share, raters=request.raters,
        share=request.share, likeness=request.likeness,
        width=request.width if by_width else None, effect=size.effect if by_width else None,
        units=size.units if by_width else None,
    )  # fmt: skip
    sampled = tuple(split(chosen, request.test_share, request.seed))
    items = sorted({one.item_id for one in sampled})
    content = Content(draw=draw, responses=sampled, dealt=dict.fromkeys(items, request.people))
    units = sum(candidate.units for candidate in chosen)
    notes = _notes(request, result, size, content, units) + _informed(project, request)
    return SetPreview(content, units, tuple(notes))


def make(project: Project, request: SetRequest) -> Change:
    """Sample a set, and deal its items to people; if handed out as assignments, people see only its responses.

    Anyone already asked for the labels of an item still labels all of its responses.
    """
    set_preview = preview(project, request)
    with project.store.write() as db:
        if db.execute(
            select(VALIDATION_SET.c.id).where(VALIDATION_SET.c.name == request.name.strip())
        ).first():
            raise Refusal(f"There is a set “{request.name.strip()}” already.", "Choose another name.")
        content = set_preview.content
        if request.apart or submits(request.protocol):
            content = _dealt(project, db, request, content)
        text = canonical_json(content.model_dump(mode="json")).decode()
        row: dict[str, Any] = {
            "id": new_id(), "name": request.name.strip(), "protocol": request.protocol, "by": project.by, "at": now(),
            "content": text, "sha256": sha256(text),
        }  # fmt: skip
        db.execute(insert(VALIDATION_SET), row)
        after = {"name": row["name"], "responses": len(content.responses), "sha256": row["sha256"]}
        return record(project, db, Change(NAME, row["id"], "draw", None, after))


def sets(project: Project) -> list[ValidationSet]:
    opened = select(OPENING.c.set_id, func.count()).group_by(OPENING.c.set_id)
    with project.store.read() as db:
        counts: dict[str, int] = dict(db.execute(opened).all())
        rows = db.execute(select(VALIDATION_SET).order_by(VALIDATION_SET.c.at, VALIDATION_SET.c.name)).all()
    return [_set_of(row, counts.get(row.id, 0)) for row in rows]


def named(project: Project, name: str) -> ValidationSet:
    """The set of that name or id; the Refusal lists the known ones."""
    existing = sets(project)
    for one in existing:
        if name in (one.name, one.id):
            return one
    names = ", ".join(one.name for one in existing) or "none yet"
    raise Refusal(f"There is no validation set “{name}”.", f"There are: {names}.")


def lacking(project: Project, validation_set: ValidationSet) -> list[str]:
    """What remains to be done before a set can be locked, person by person; empty if nothing."""
    protocol = label_cases.protocol_of(project, validation_set.protocol)
    response_ids = validation_set.responses()
    places = validation_figures.places(project, protocol, validation_set.content.dealt).values()
    units = grouped((place.item_id, place) for place in places if place.response_id in response_ids)
    aliases = {person.id: person.alias for person in people.people(project)}
    with project.store.read() as db:
        labels, finished = (
            _labels(db, protocol, validation_set),
            _labels(db, protocol, validation_set, submitted=True),
        )
        lines = []
        for item_id, whose in _raters(db, validation_set).items():
            for person in whose:
                own = units.get(item_id, ())
                missing = sum((place.key, person) not in labels for place in own)
                if missing or any((place.key, person) not in finished for place in own):
                    lines.append((item_id, person, missing))
        keys = dict(db.execute(select(ITEM.c.id, ITEM.c.key)).all())
    return [
        f"{aliases[person]}, item {keys[item_id]}: "
        + (f"{counted(missing, 'label')} missing" if missing else "labelled, not submitted")
        for item_id, person, missing in lines
    ]


@people.for_coordinators("can lock validation sets")
def lock(project: Project, name: str) -> Change:
    """Store people's labels of a set as its first labels, which stay the metric; raises Refusal if some are missing."""
    result = named(project, name)
    if result.locked_at is not None:
        raise Refusal("The labels of this set are locked already.", "Nothing was changed.")
    if missing := lacking(project, result):
        raise Refusal(
            "Labels of this set are missing, and no judge is shown before they are complete.",
            "Have these submitted first.",
            (*missing[:NAMED], *([f"… and {len(missing) - NAMED:,} more"] if len(missing) > NAMED else [])),
        )
    protocol = label_cases.protocol_of(project, result.protocol)
    with project.store.write() as db:
        values = _labels(db, protocol, result)
        labels = [
            FirstLabel(response_id=key[0], unit_id=key[1], person_id=person, value=values[key, person])
            for key, person in sorted(values)
        ]
        text = canonical_json([label.model_dump(mode="json") for label in labels]).decode()
        row = {"labels": text, "labels_sha256": sha256(text), "locked_at": now()}
        db.execute(update(VALIDATION_SET).where(VALIDATION_SET.c.id == result.id), row)
        after = {"labels": len(labels), "sha256": row["labels_sha256"]}
        return record(project, db, Change(NAME, result.id, "lock labels", None, after))


@people.for_coordinators("can open the test part of a set")
def open_test(project: Project, name: str, judges: Sequence[str]) -> Opening:
    """Count a look at the test part of a set, with these judges; raises Refusal if its labels are not locked."""
    result = named(project, name)
    refuse_unlocked(result)
    opening = Opening(
        id=new_id(), set_id=result.id, judges=orjson.dumps(sorted(judges)).decode(),
        labels_sha256=result.labels_sha256, by=project.by, at=now(),
    )  # fmt: skip
    with project.store.write() as db:
        db.execute(insert(OPENING).values(**opening.model_dump()))
        after = {"opening": result.openings + 1, "judges": sorted(judges)}
        record(project, db, Change(NAME, result.id, "open the test part", None, after))
    return opening


def openings(project: Project, set_id: str) -> list[Opening]:
    question = select(OPENING).where(OPENING.c.set_id == set_id).order_by(OPENING.c.at, OPENING.c.id)
    return [Opening(**row) for row in project.query(question).mappings()]


def looks(project: Project, name: str, part: str) -> int:
    """The number of views of a set's test part, including this one; 0 if figures are not of it."""
    return named(project, name).openings if name and part not in ("", Split.DEV) else 0


def viewed(project: Project, name: str) -> list[str]:
    return [f"The test part was viewed {counted(named(project, name).openings, 'time')}."] if name else []


def held_back(project: Project, protocol: str) -> set[str]:
    """The responses on which no judge is shown unless their set is named: of sets not yet locked, and of test parts."""
    own = [one for one in sets(project) if one.protocol == protocol]
    return set[str]().union(*(one.responses(None if one.locked_at is None else Split.TEST) for one in own))


def refuse_unlocked(validation_set: ValidationSet) -> None:
    """Raise Refusal if people's labels of a set may still change."""
    if validation_set.locked_at is None:
        raise Refusal(
            f"The labels of “{validation_set.name}” are not locked; until then no judge is shown.",
            "Have its labels submitted, then lock them.",
        )


def _refuse_senseless(project: Project, request: SetRequest) -> None:
    wrong = {
        "A set needs a name.": not request.name.strip(),
        f"A name has at most {LONGEST_NAME} letters.": len(request.name.strip()) > LONGEST_NAME,
        "A set must be labelled by at least two people.": len(set(request.people)) < 2 or request.raters < 2,
        "An item cannot be labelled by more people than are in the set.": request.raters
        > len(set(request.people)),
        "One of the annotators is not active in this project.": not set(request.people)
        <= {person.id for person in people.people(project) if person.active},
        "The width of a share's interval must be between 0 and 1.": not 0 < request.width < 1,
        "A share must be between 0 and 1.": not all(
            0 <= share <= 1 for share in (request.share, request.likeness, request.test_share)
        ),
        "A set must contain at least one response.": request.size is not None and request.size < 1,
    }
    for words, holds in wrong.items():
        if holds:
            raise Refusal(words, "Correct that; nothing was drawn.")


@dataclass(frozen=True, slots=True)
class Candidate:
    response_id: str
    item_id: str
    stratum: Stratum
    units: int


@dataclass(frozen=True, slots=True)
class SampleSize:
    responses: int
    units: int
    effect: float
    reached: bool


def candidates(places: Iterable[validation_figures.UnitPlace]) -> list[Candidate]:
    by_response = grouped((place.response_id, place) for place in places)
    return [
        Candidate(
            response_id, own[0].item_id, (own[0].question_type, own[0].system_id, own[0].quartile), len(own)
        )
        for response_id, own in by_response.items()
    ]


def size_for(candidates: Sequence[Candidate], width: float, share: float, likeness: float) -> SampleSize:
    """The fewest responses, spread over the items, for which the 95 % Wilson interval of a share is `width` wide.

    Units of one item are correlated by `likeness` (ρ), so that each counts 1 / deff (Kish 1965). Raises ValueError as
    `wilson_size` and `kish_effect` do; there must be a response.
    """
    from annotator.stats.intervals.student import kish_effect, wilson_size

    each = sum(candidate.units for candidate in candidates) / len(candidates)
    held = sorted(Counter(candidate.item_id for candidate in candidates).values(), reverse=True)
    for responses in range(1, len(candidates) + 1):
        effect = kish_effect([each * size for size in _spread(held, responses)], likeness)
        needed = wilson_size(width, share, effect)
        if responses * each >= needed:
            return SampleSize(responses, needed, effect, reached=True)
    return SampleSize(len(candidates), needed, effect, reached=False)


def _spread(held: Sequence[int], responses: int) -> list[int]:
    """The number of responses of each item if taken in turn from all that have one left."""
    turns = (place for turn in range(max(held)) for place, size in enumerate(held) if size > turn)
    return list(Counter(islice(turns, responses)).values())


def sample(candidates: Iterable[Candidate], responses: int, seed: int) -> list[Candidate]:
    """This many responses at random: each stratum gives its share, and items give in turn; the same for the same seed.

    The rest after whole shares comes from the largest remainders (Hamilton), if equal from the items that have given
    least.
    """
    chance = Random(seed)
    ordered = sorted(candidates, key=lambda one: (one.stratum, one.response_id))
    waiting = grouped((candidate.stratum, candidate) for candidate in ordered)
    whole = sum(map(len, waiting.values()))
    # In whole numbers, so that equal remainders are equal.
    parts = {stratum: divmod(responses * len(own), whole) for stratum, own in waiting.items()}
    for own in waiting.values():
        chance.shuffle(own)
    used: Counter[str] = Counter()
    chosen: list[Candidate] = []

    def take(stratum: Stratum) -> None:
        one = min(waiting[stratum], key=lambda one: used[one.item_id])
        waiting[stratum].remove(one)
        used[one.item_id] += 1
        chosen.append(one)

    for stratum, (share, _) in parts.items():
        for _ in range(share):
            take(stratum)
    order = list(parts)
    chance.shuffle(order)
    for _ in range(responses - len(chosen)):
        stratum = min(order, key=lambda one: (-parts[one][1], min(used[c.item_id] for c in waiting[one])))
        order.remove(stratum)
        take(stratum)
    return sorted(chosen, key=lambda one: (one.item_id, one.response_id))


def split(chosen: Sequence[Candidate], test_share: float, seed: int) -> list[Sampled]:
    """The responses with their part: whole items go to one part, evenly over question types, at random."""
    types = {candidate.item_id: candidate.stratum[0] for candidate in chosen}
    items = sorted(types)
    Random(f"{seed}/split").shuffle(items)
    items.sort(key=types.__getitem__)
    tested = {
        item
        for place, item in enumerate(items)
        if round(test_share * (place + 1), 9) // 1 > round(test_share * place, 9) // 1
    }
    return [
        Sampled(
            response_id=candidate.response_id,
            item_id=candidate.item_id,
            question_type=candidate.stratum[0],
            system_id=candidate.stratum[1],
            quartile=candidate.stratum[2],
            split=Split.TEST if candidate.item_id in tested else Split.DEV,
        )
        for candidate in chosen
    ]


def _size(candidates: Sequence[Candidate], request: SetRequest) -> SampleSize:
    if request.size is None:
        return size_for(candidates, request.width, request.share, request.likeness)
    counts = {
        candidate: candidate.units if PROTOCOLS[request.protocol].paired else 1 for candidate in candidates
    }
    responses = bisect_left(
        range(len(candidates)),
        request.size,
        key=lambda most: sum(counts[candidate] for candidate in sample(candidates, most, request.seed)),
    )
    return SampleSize(responses, 0, 1.0, reached=request.size <= sum(counts.values()))


def _notes(
    request: SetRequest, candidates: Sequence[Candidate], size: SampleSize, content: Content, units: int
) -> list[str]:
    tested = [response for response in content.responses if response.split is Split.TEST]
    items = {response.item_id for response in content.responses}
    unit = "pair" if PROTOCOLS[request.protocol].paired else "unit"
    wide = (
        f"A 95 % interval {request.width:g} wide about {request.share:g} takes {counted(size.units, unit)} of the "
        f"whole set at a design effect of {size.effect:.2f} (intra-item correlation {request.likeness:g})."
    )
    return [
        f"{counted(len(content.responses), 'response')} of {counted(len(items), 'item')} with "
        f"{counted(units, unit)}, drawn from {counted(len(candidates), 'response')} with seed {request.seed}; "
        f"{counted(len(tested), 'response')} of {counted(len({one.item_id for one in tested}), 'item')} "
        "in the test part.",
        *([wide] if request.size is None else []),
        *([] if size.reached else ["There are not enough responses for that: all of them are included."]),
    ]


def _informed(project: Project, request: SetRequest) -> list[str]:
    """A note on the people who may read elsewhere what judges say, as their labels may not be blind."""
    both = [
        person.alias
        for person in people.people(project)
        if person.id in request.people and person.has(Role.COORDINATOR)
    ]
    if not both:
        return []
    coordinate = "coordinates" if len(both) == 1 else "coordinate"
    return [
        f"{', '.join(both)} {coordinate} as well, and could read on Results and Judges what judges say: "
        "choose people who only label, or avoid both pages until the set is locked."
    ]


def _dealt(project: Project, db: Connection, request: SetRequest, content: Content) -> Content:
    items = tuple(content.dealt)
    assigned = label_cases.labelling(db, protocol=request.protocol)
    before = {item_id: assigned.get(item_id, set()) for item_id in items}
    narrowed_before = {
        person: label_cases.narrowed(db, person, request.protocol) for person in request.people
    }
    if any(len(before[item_id]) < request.raters for item_id in items):
        stages = (Stage.LABELLING,)
        named = (request.protocol,)
        plan = AssignmentPlan(
            stages, request.raters, request.people, items=items, seed=request.seed, protocols=named
        )
        assignments.assign(project, plan)
    assigned = label_cases.labelling(db, protocol=request.protocol)
    dealt = {item_id: tuple(sorted(assigned[item_id])) for item_id in items}
    narrowed = {
        item_id: tuple(
            person
            for person in whose
            if person not in before[item_id] or item_id in narrowed_before.get(person, ())
        )
        for item_id, whose in dealt.items()
    }
    return content.model_copy(
        update={"dealt": dealt, "narrowed": {i: who for i, who in narrowed.items() if who}}
    )


def _set_of(row: Any, opened: int) -> ValidationSet:
    labels = orjson.loads(row.labels) if row.labels else ()
    return ValidationSet(
        row.id, row.name, row.protocol, Content.model_validate_json(row.content), row.at, row.locked_at,
        tuple(FirstLabel.model_construct(**label) for label in labels), row.labels_sha256, opened,
    )  # fmt: skip


def _raters(db: Connection, validation_set: ValidationSet) -> dict[str, tuple[str, ...]]:
    """The labellers of each item of a set now: those it was dealt to, and those who took it over from one of them."""
    dealt = validation_set.content.dealt
    assigned = label_cases.labelling(db, protocol=validation_set.protocol)
    if not submits(validation_set.protocol) and not dealt.keys() <= assigned.keys():
        return dealt
    return {
        item_id: tuple(
            person
            for person in sorted(assigned.get(item_id, ()))
            if person in whose or label_cases.replaces(person, whose, assigned[item_id])
        )
        for item_id, whose in dealt.items()
    }


def _labels(
    db: Connection, protocol: Protocol, validation_set: ValidationSet, *, submitted: bool = False
) -> dict[tuple[validation_figures.Key, str], str | None]:
    """The present labels of a set's people on the units of its responses, None if they are unsure."""
    item_of = {response.response_id: response.item_id for response in validation_set.content.responses}
    raters = _raters(db, validation_set)
    return {
        (key, person): value
        for person, own in validation_figures.of_people(
            db, protocol, list(validation_set.content.dealt), submitted=submitted
        ).items()
        for key, value in own.items()
        if key[0] in item_of and person in raters[item_of[key[0]]]
    }


@dataclass(frozen=True, slots=True)
class SetStatus:
    """A set with its title, its labellers and their items, and what each still has to do.

    `types` counts its responses by question type; `openings` are the looks at its test part, the first one first.
    """

    set: ValidationSet
    title: str
    raters: dict[str, int]
    types: dict[str, int]
    lacking: tuple[str, ...]
    openings: tuple[Opening, ...]

    @property
    def locked(self) -> bool:
        """Whether its labels are the metric from now on."""
        return self.set.locked_at is not None


@people.for_coordinators("can see validation sets")
def standings(project: Project) -> list[SetStatus]:
    aliases = {person.id: person.alias for person in people.people(project)}
    return [_status(project, one, aliases) for one in reversed(sets(project))]


def _status(project: Project, validation_set: ValidationSet, aliases: dict[str, str]) -> SetStatus:
    raters = Counter(aliases[person] for whose in validation_set.content.dealt.values() for person in whose)
    types = Counter(response.question_type or "no type" for response in validation_set.content.responses)
    missing = () if validation_set.locked_at is not None else tuple(lacking(project, validation_set))
    return SetStatus(
        validation_set, judge_runs.title(validation_set.protocol), dict(sorted(raters.items())),
        dict(types.most_common()), missing,
        tuple(openings(project, validation_set.id)),
    )  # fmt: skip
