"""Ground of a validation: its units, their true values, and every rater's verdicts."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import or_, select

from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.authoring.comparing import aligned
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import forecasts
from annotator.actions.labelling import label_cases, label_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, cached
from annotator.actions.results import result_raters
from annotator.actions.sets import reviews, validation_figures, validation_sets
from annotator.actions.sets.validation_figures import JudgeVersion, Key, Own, TruthPairs, UnitPlace, there
from annotator.domain.common import Refusal, canonical_json, grouped, nested, required, sha256
from annotator.domain.experts.assignment import Role, stage_of
from annotator.domain.judges.judge import JudgeKind, RaterKind
from annotator.domain.judges.protocol import Case, Protocol
from annotator.domain.judges.validation import Split
from annotator.domain.kinds.artifact import Artifact, Document, Kind
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.stats.intervals.coding import Chosen, Codes, left_out, objects
from annotator.storage.tables import ITEM

PEOPLE = "people"
WHOLE = "whole"
NOT_ASKED = "not asked"
PERSON = "person"


@dataclass(frozen=True, slots=True)
class ValidationRater:
    """A rater compared with the truth: a judge under one prompt, a person, or people with one another.

    `kind` is the judge's, “person” or “people”; `prompt` is the hash of the wording, empty for people.
    """

    id: str
    name: str
    kind: str
    prompt: str = ""

    @property
    def is_judge(self) -> bool:
        return self.kind not in (PERSON, PEOPLE)

    @property
    def key(self) -> str:
        return f"{self.id}@{self.prompt}" if self.prompt else self.id


@dataclass(frozen=True, slots=True)
class RatedUnit:
    """A unit with its true value, given by `source`, and the verdict, given by `who` if people are compared with one
    another; None if a judge has no value.
    """

    key: Key
    who: str
    source: str
    true: str
    verdict: str | None


@dataclass(frozen=True)
class Ground:
    """The data behind validation figures. `truth` holds true values by source: people or consensus.

    `people` holds the labels of all who labelled, by id, and `aliases` their public names.
    """

    protocol: Protocol
    places: Mapping[Key, UnitPlace]
    people: Mapping[str, Own]
    aliases: Mapping[str, str]
    truth: Mapping[str, Own]
    versions: Sequence[JudgeVersion]

    def judges(self) -> list[ValidationRater]:
        return [rater_of(version) for version in self.versions]

    def humans(self) -> list[ValidationRater]:
        """All people together if any can be compared with others, then each of them."""
        each = [
            ValidationRater(person, self.aliases[person], PERSON)
            for person in sorted(self.people, key=self.aliases.__getitem__)
            if any(source != person for source in self.truth)
        ]
        return [TOGETHER, *each] if each else []

    def pairs(self, rater: ValidationRater, chosen: Chosen | None = None) -> TruthPairs:
        """A rater's verdicts on the chosen units, or all, beside true values; nobody is compared with themselves."""
        whole = self._pairs(rater)
        return whole if chosen is None else whole.among(chosen)

    def pairs_with(self, rater: ValidationRater, person: str) -> TruthPairs:
        """A rater's verdicts beside one person's labels, whichever values are true."""
        return self._paired(rater, (person,))

    def _paired(self, rater: ValidationRater, sources: Iterable[str] = ()) -> TruthPairs:
        """Rows in the order of units, then of raters, then of sources of true values."""
        nothing = objects(())
        blocks = [(nothing.astype(np.intp), nothing, nothing)]
        for who in [rater.key] if rater.is_judge else self._persons(rater):
            labels, assigned = self.column(who)
            for by in sources or self.truth:
                true, _ = self.column(by)
                # A person is asked only for the items dealt to them; a judge for everything.
                at = np.flatnonzero(there(true) & (assigned | rater.is_judge) & (by != who))
                blocks.append((at, true[at], labels[at]))
        units, truth, verdicts = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        order = np.argsort(units, kind="stable")
        units, (weights, items) = units[order], self._about
        return TruthPairs(truth[order], verdicts[order], items[units], weights[units], units)

    def _column(self, who: str) -> tuple[NDArray[Any], Chosen]:
        # Someone none of whose labels are left is present, with an empty column.
        named: dict[str, Mapping[Key, str | None]] = {**self.people, **self.truth}
        own = named[who] if who in named else self._by_key[who].verdicts
        values = objects([own.get(key, NOT_ASKED) for key in self.places])
        assigned = np.asarray(values != NOT_ASKED)
        values[~assigned] = None
        return values, assigned

    @cached_property
    def column(self) -> Callable[[str], tuple[NDArray[Any], Chosen]]:
        """The verdicts of a judge, by its key, or of a source on each unit, in the order of `places`, and where they
        were asked.

        None if there is no verdict.
        """
        return cache(self._column)

    def repeats(self, project: Project, raters: Iterable[ValidationRater]) -> Iterator[str]:
        """The remarks on those of these judges that were asked several times."""
        for judge_id in dict.fromkeys(
            rater.id for rater in raters if rater.is_judge and self.version(rater).trials
        ):
            if (again := result_raters.repeats(project, self.protocol.name, judge_id)) is not None:
                yield again.words

    def rows(self, rater: ValidationRater, chosen: Chosen) -> list[RatedUnit]:
        """The same row by row, with the raters on either side."""
        if rater.is_judge:
            labels: dict[str, Mapping[Key, str | None]] = {"": self.version(rater).verdicts}
        else:
            labels = {person: self.people[person] for person in self._persons(rater)}
        return [
            RatedUnit(key, who, source, true, own.get(key))
            for key in self.keys(chosen)
            for who, own in labels.items()
            if rater.is_judge or key in own
            for source, values in self.truth.items()
            if source != who and (true := values.get(key)) is not None
        ]

    def chosen(self, units: Codes) -> Chosen:
        at = np.zeros(len(self.places), dtype=bool)
        at[units] = True
        return at

    def keys(self, chosen: Chosen) -> Iterable[Key]:
        """The chosen units; its cost depends on their number, not on that of all units."""
        return [self._keys[number] for number in np.flatnonzero(chosen).tolist()]

    @cached_property
    def _keys(self) -> tuple[Key, ...]:
        return tuple(self.places)

    @cached_property
    def known(self) -> Chosen:
        none = np.zeros(len(self.places), dtype=bool)
        return reduce(np.logical_or, (there(self.column(source)[0]) for source in self.truth), none)

    @property
    def both_ways(self) -> bool:
        """Whether each person is compared with every other in both directions."""
        return len(self.truth) > 1 and self.people.keys() == self.truth.keys()

    @cached_property
    def _pairs(self) -> Callable[[ValidationRater], TruthPairs]:
        return cache(self._paired)

    @cached_property
    def _about(self) -> tuple[NDArray[Any], NDArray[Any]]:
        numbers, weights, items = dict[str, int](), list[float](), list[int]()
        for place in self.places.values():
            weights.append(abs(place.weight))
            items.append(numbers.setdefault(place.item_id, len(numbers)))
        return np.array(weights), np.array(items, dtype=np.intp)

    def rater(self, key: str) -> ValidationRater:
        """A rater who is compared with the truth, by key; raises KeyError if there is none."""
        return {one.key: one for one in (*self.judges(), *self.humans())}[key]

    def missing(self, rater: ValidationRater, chosen: Chosen) -> dict[str, int]:
        """Why a judge has no value on units with a true one: cause → number, the most frequent first."""
        if not rater.is_judge:
            return {}
        lacking = self.keys(chosen & self.known & ~self.column(rater.key)[1])
        return dict(Counter(self.version(rater).missing.get(key, NOT_ASKED) for key in lacking).most_common())

    def version(self, rater: ValidationRater) -> JudgeVersion:
        return self._by_key[rater.key]

    @cached_property
    def _by_key(self) -> dict[str, JudgeVersion]:
        return {rater_of(version).key: version for version in self.versions}

    def _persons(self, rater: ValidationRater) -> list[str]:
        return sorted(self.people) if rater.id == PEOPLE else [rater.id]


TOGETHER = ValidationRater(PEOPLE, PEOPLE, PEOPLE)


def rater_of(version: JudgeVersion) -> ValidationRater:
    """A judge as a rater; judges of the same name under two wordings are distinguished by `prompt`."""
    judge = version.judge
    return ValidationRater(judge.id, judge.name, JudgeKind(judge.kind).value, version.prompt_sha256)


@cached
@people.for_coordinators("can compare judges with people")
def ground(
    project: Project, protocol: str, set_name: str = "", part: str = "", against: Sequence[str] = (),
    judge: str = "", opening: str = "",
) -> Ground:  # fmt: skip
    """The data of figures: for a set its first labels, otherwise people's submitted labels.

    `against` names the people whose labels are true, by alias or id, or “consensus”; all people if empty. `part` is
    “dev”, “test” or “whole”; any part with test responses needs a counted `opening`. Raises Refusal if the labels of a
    set are not locked, and if there are no true values. Without a set, responses held back by sets are left out.
    """
    definition = label_cases.protocol_of(project, protocol)
    places: Mapping[Key, UnitPlace] = validation_figures.places(project, definition)
    if set_name:
        places, labels = _of_set(project, places, set_name, protocol, part, opening)
    else:
        held = validation_sets.held_back(project, protocol)
        if held:
            places = {key: place for key, place in places.items() if key[0] not in held}
        with project.store.read() as db:
            labels = validation_figures.of_people(db, definition, submitted=True)
    labels = {person: _among(places, own) for person, own in labels.items()}
    labels = {person: own for person, own in labels.items() if own}
    aliases = {person.id: person.alias for person in people.people(project)}
    versions = [
        of_judge
        for of_judge in validation_figures.of_judges(project, definition, judge)
        if any(key in places for result in (of_judge.verdicts, of_judge.missing) for key in result)
    ]
    return Ground(definition, places, labels, aliases, _truth(project, definition, labels, against), versions)


def _among(places: Mapping[Key, UnitPlace], own: Own) -> Own:
    """The verdicts on these units; mostly that is all of them."""
    return own if own.keys() <= places.keys() else {key: own[key] for key in own if key in places}


def _of_set(
    project: Project, places: Mapping[Key, UnitPlace], name: str, protocol: str, part: str, opening: str
) -> tuple[dict[Key, UnitPlace], dict[str, Own]]:
    result = validation_sets.named(project, name)
    if result.protocol != protocol:
        raise Refusal(f"“{name}” is a set of {result.protocol}.", "Name that protocol, or another set.")
    validation_sets.refuse_unlocked(result)
    split = _split(part)
    counted = {one.id for one in validation_sets.openings(project, result.id)}
    if split is not Split.DEV and opening not in counted:
        raise Refusal(
            f"The test part of “{name}” must be opened explicitly: each view is counted.",
            "Open it, or use the dev part.",
        )
    response_ids = result.responses(split)
    chosen = {key: place for key, place in places.items() if key[0] in response_ids}
    older = _older(project, chosen, result)
    return chosen, nested(
        (first.person_id, (first.response_id, first.unit_id), first.value)
        for first in result.first_labels
        if (first.response_id, first.unit_id) not in older
    )


def _older(
    project: Project, places: Mapping[Key, UnitPlace], validation_set: validation_sets.ValidationSet
) -> set[Key]:
    """The units reworded since the labels of a set were locked: those labels no longer apply to them."""
    kind, at = label_cases.protocol_of(project, validation_set.protocol).unit_kind, validation_set.locked_at
    if at is None:
        return set()
    labelled = {key: (place.item_id, place.unit_id, at) for key, place in places.items()}
    with project.store.read() as db:
        gone = label_rows.overtaken(db, kind, set(labelled.values()))
    return {key for key, one in labelled.items() if one in gone}


def _split(part: str) -> Split | None:
    """The part of that name, the dev part by default; None for the whole set."""
    if part == WHOLE:
        return None
    if part and part not in list(Split):
        raise Refusal(f"A set has no part “{part}”.", f"Use one of dev, test, {WHOLE}.")
    return Split(part) if part else Split.DEV


def _truth(
    project: Project, protocol: Protocol, labels: Mapping[str, Own], against: Sequence[str]
) -> dict[str, Own]:
    if list(against) == [result_raters.CONSENSUS]:
        settled = required(
            validation_figures.of_consensus(project, protocol),
            "No labels have been adjudicated yet.",
            "Adjudicate them, or name people.",
        )
        return {result_raters.CONSENSUS: settled}
    if result_raters.CONSENSUS in against:
        raise Refusal(
            "The consensus cannot be combined with other raters.", "Compare judges with it, or with people."
        )
    person_ids = [people.known(project, one).id for one in against] or sorted(labels)
    if not any(labels.get(person) for person in person_ids):
        raise Refusal(
            "Nobody has submitted labels to compare a judge with.",
            "Have reports labelled, and the labels submitted on the Label page. Run: goldsmith labels submit FILE",
        )
    return {person: labels[person] for person in person_ids if person in labels}


@cached
def cost_per_question(project: Project, rater: ValidationRater, protocol: str) -> Estimate:
    """A judge's cost per question in US dollars; the baseline makes no call, and costs nothing."""
    if rater.kind == JudgeKind.BASELINE.value:
        return Estimate(0.0, method="mean cost of a question, US dollars", note="no call is made")
    result = forecasts.costs(project, "question", judge=rater.name)
    return mean_cost(
        [None if cost.unpriced else cost.cost_usd for cost in result if cost.protocol == protocol]
    )


def mean_cost(costs: Sequence[float | None]) -> Estimate:
    """The mean of the known costs, in US dollars; `missing` counts the others, which are not 0."""
    known = [cost for cost in costs if cost is not None]
    missing = len(costs) - len(known)
    notes = [] if known else ["no cost is known"]
    notes += left_out(missing, len(costs), "the cost is not known")
    return Estimate(
        fsum(known) / len(known) if known else None, n=len(known), missing=missing,
        method="mean cost of a question, US dollars", note="; ".join(notes),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReadingSide:
    """What a rater gave beside a value: reason, passage, and its position in the report if known."""

    why: str = ""
    quote: str = ""
    quote_start: int | None = None
    flags: str = ""


@dataclass(frozen=True, slots=True)
class VerdictReading:
    """A case to read, never with the name of a system.

    `other` is the report shown second of a pair. For a claim, `address` is the cited page with its text in `page`, or
    `page_state` and `page_cause` say why it could not be read; `context` and `context_start` give the claim's position
    in the report. `given` are the words shown beside the unit, such as a sub-task of the system's plan; `sides` what
    its raters gave beside their values.
    """

    item_key: str
    question: str
    unit: str
    report: str
    other: str | None = None
    address: str = ""
    page: str = ""
    page_state: str = ""
    page_cause: str = ""
    context: str = ""
    context_start: int | None = None
    given: tuple[str, ...] = ()
    sides: Mapping[str, ReadingSide] = field(default_factory=dict)


def reading(
    project: Project, protocol: str, place: UnitPlace, raters: Collection[str] = ()
) -> VerdictReading:
    """The case of a verdict on a unit, and what these raters gave beside their values.

    Raises Refusal for anyone who still has to label its item blind.
    """
    reviews.refuse_blind(project, place.item_id)
    definition = label_cases.protocol_of(project, protocol)
    material = materials.of_response(project, materials.for_judging(definition), place.response_id)
    for case in definition.cases(material) if material is not None else ():
        if any(unit.id == place.unit_id for unit in case.units):
            given = sides(project, protocol, raters, {place.key})
            return _reading(place, case, {rater: side for (rater, _), side in given.items()})
    raise Refusal("The judged unit is no longer in this project.", "Read the list again.")


def sides(
    project: Project, protocol: str, raters: Collection[str], keys: Collection[Key] = ()
) -> dict[tuple[str, Key], ReadingSide]:
    """What these raters gave beside their values: (rater, unit) → side, for all units or some; for a judge, at the
    first trial whose value counts.

    People's only for coordinators, and nothing on items that the person asking still has to label blind.
    """
    person, j = people.someone(project), label_rows.counted_rows().c
    question = select(
        j.rater_id, j.response_id, j.unit_id, j.rationale, j.note, j.quote, j.quote_start, j.flags, j.value, j.status
    ).order_by(j.trial).where(
        j.protocol == protocol, or_(j.trial == 1, j.rater_kind == RaterKind.JUDGE.value), j.rater_id.in_(raters),
        j.item_id.not_in(reviews.still_blind(project, person.id)),
    )  # fmt: skip
    if not person.has(Role.COORDINATOR):
        question = question.where(j.rater_kind == RaterKind.JUDGE.value)
    if keys:
        responses, units = zip(*keys, strict=True)
        question = question.where(j.response_id.in_(set(responses)), j.unit_id.in_(set(units)))
    with project.store.read() as db:
        rows = db.execute(question).all()
    of = grouped(
        ((row.rater_id, (row.response_id, row.unit_id)), row)
        for row in rows
        if not keys or (row.response_id, row.unit_id) in keys
    )
    aggregated = {key: label_rows.come_to(PROTOCOLS[protocol].scale, each)[1] for key, each in of.items()}
    return {
        key: ReadingSide(row.rationale or row.note, row.quote, row.quote_start, row.flags)
        for key, row in aggregated.items()
    }


def _reading(place: UnitPlace, case: Case, given: Mapping[str, ReadingSide]) -> VerdictReading:
    unit = next(one for one in case.units if one.id == place.unit_id)
    page = {name: str(case.given.get(name, "")) for name in label_cases.PAGE_FIELDS}
    # Claims are located in the report; a criterion may be anchored in a source, which was not judged.
    anchor = unit.anchor if unit.anchor is not None and not unit.anchor.source_id else None
    return VerdictReading(
        place.item_key, case.item.question, unit.text if case.other is None else "",
        label_cases.text_of(case), case.other.text if case.other is not None else None, **page,
        context=anchor.quote if anchor is not None else str(getattr(unit, "context", "")),
        context_start=anchor.start if anchor is not None and anchor.start >= 0 else None,
        given=tuple(label_cases.beside(case)), sides=given,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SettledItem:
    """An item whose gold was labelled: the number of units changed now, or why nothing was changed."""

    item_key: str
    labelled: int
    changed: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class OfferedMarks:
    """A judge's values for units of a document whose author has left that `field` empty, by unit id."""

    judge: str
    field: str
    values: Mapping[str, str]

    def left(self, document: Document[Any]) -> dict[str, dict[str, str]]:
        """The values that the document, which may have changed since, still lacks: by unit, its field."""
        known = (unit for unit in document.units if unit.id in self.values)
        return {one.id: {self.field: self.values[one.id]} for one in known if not getattr(one, self.field)}


def settled_by() -> list[str]:
    return [name for name, protocol in PROTOCOLS.items() if protocol.settles]


def offered(project: Project, artifact: Artifact) -> OfferedMarks | None:
    """The labels of the judge that ran last for units of a document that its author may change.

    None for a person who still has to label the item blind, and before all independent authors have submitted: their
    agreement is to be their own. The baseline is excluded.
    """
    protocol = next(
        (PROTOCOLS[name] for name in settled_by() if PROTOCOLS[name].unit_kind is artifact.kind), None
    )
    if protocol is None or artifacts.objection(project, artifact) or _blind(project, artifact):
        return None
    with project.store.read() as db:
        gold = annotating.judged_artifact(db, artifact.item_id, artifact.kind)
    units, own = gold.document.units if gold else (), artifact.document.units
    named = {units[j].id: own[i].id for i, j, _ in aligned(artifact.kind, own, units).pairs}
    offers = (
        OfferedMarks(
            judge.name,
            protocol.settles,
            {named[u]: v for _, _, u, v in result_raters.spoken(project, protocol, judge.id) if u in named},
        )
        for judge in result_raters.raters(project, protocol.name)
        if judge.kind and not judge.floor
    )
    return next((offer for offer in offers if offer.left(artifact.document)), None)


def _blind(project: Project, artifact: Artifact) -> bool:
    item_id, kind, stage = artifact.item_id, artifact.kind, stage_of(artifact.kind)
    with project.store.read() as db:
        alone = len(assignments.expected_raters(db, item_id, stage)) < 2 or reviewing.is_reviewed(
            db, item_id, kind
        )
        compared = alone or assignments.of_stage(db, item_id, stage) is not None
    return not compared or item_id in reviews.still_blind(project, people.someone(project).id)


@people.for_coordinators("can make labels the gold's own")
def take_over(project: Project, protocol: str, rater: str = result_raters.CONSENSUS) -> list[SettledItem]:
    """Copy a rater's labels into the gold's units, in one transaction: of the consensus, a person, or a judge.

    Unlabelled units keep their value. An adjudicated document, or one that is a person's own, is not changed but
    reported. Raises Refusal if the rater has no labels.
    """
    definition = label_cases.protocol_of(project, protocol)
    if not definition.settles or definition.unit_kind is None:
        raise Refusal(
            f"{definition.title}: these labels are no field of the gold.",
            f"Use one of {', '.join(settled_by())}.",
        )
    values_of: dict[str, str] = {}
    for _, _, unit_id, value in result_raters.spoken(project, definition, _rater(project, rater)):
        if values_of.setdefault(unit_id, value) != value:
            raise Refusal(
                "A unit was labelled in two ways.", "Adjudicate the labels, and take the consensus."
            )
    if not values_of:
        raise Refusal(
            f"{definition.title}: {rater} has said nothing that counts.",
            "Nothing was changed; name another rater.",
        )
    with project.store.write():
        return _taken(project, definition.unit_kind, definition.settles, values_of)


def _rater(project: Project, name: str) -> str:
    if name == result_raters.CONSENSUS:
        return result_raters.CONSENSUS
    known = {judge.name: judge.id for judge in judges.all_of(project)}
    return known.get(name) or f"{result_raters.PERSON_KEY}{people.known(project, name).id}"


def _taken(project: Project, kind: Kind, field: str, values_of: dict[str, str]) -> list[SettledItem]:
    result, ordered = list[SettledItem](), select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        keys = dict(db.execute(ordered.order_by(ITEM.c.position, ITEM.c.key)).all())
        rows = annotating.judged_rows(db, kind)
    for item_id in [key for key in keys if key in rows]:
        artifact = artifacts.artifact_of(rows[item_id])
        own = [unit for unit in artifact.document.units if unit.id in values_of]
        other = {
            unit.id: {field: values_of[unit.id]} for unit in own if getattr(unit, field) != values_of[unit.id]
        }
        why = _put(project, artifact.id, other, f"take over {field}") if other else ""
        if own:
            result.append(SettledItem(keys[item_id], len(own), 0 if why else len(other), why))
    return result


def _put(project: Project, artifact_id: str, given: dict[str, dict[str, str]], verb: str) -> str:
    """Store a further sealed revision; return why there is none, otherwise an empty text."""
    try:
        assignments.reopen(project, artifact_id)
    except Refusal as refusal:
        return str(refusal)
    artifacts.change_units(project, artifact_id, given, verb)
    assignments.seal(project, artifact_id)
    return ""


@dataclass(frozen=True, slots=True)
class SetLook:
    """Locked labels of a set with the judges' verdicts on its test part; equal looks show the same.

    `judges` are their names, and `verdicts_sha256` is over every verdict under every wording; `opening` is the id of
    the look if it was counted.
    """

    set_id: str
    name: str
    labels_sha256: str
    judges: tuple[str, ...]
    verdicts_sha256: str
    openings: int
    opening: str = ""


class ClosedTestPart(Refusal):
    """No counted look covers what would be shown now of the test part of a set: `seen`."""

    def __init__(self, seen: SetLook) -> None:
        super().__init__(f"The test part of “{seen.name}” was not opened.", "Open it first.")
        self.seen = seen


def covers(counted: SetLook, now: SetLook) -> bool:
    """Whether the look counted before shows all that would be shown now."""
    return (counted.set_id, counted.labels_sha256, counted.verdicts_sha256) == (
        now.set_id,
        now.labels_sha256,
        now.verdicts_sha256,
    )


def is_closed(set_name: str, part: str) -> bool:
    """Whether a part of a set must be opened explicitly."""
    return bool(set_name) and part not in ("", Split.DEV.value)


def seen(project: Project, set_name: str) -> SetLook:
    """What a look at the test part of a set would show now; raises Refusal if its labels are not locked."""
    result = validation_sets.named(project, set_name)
    validation_sets.refuse_unlocked(result)
    test = result.responses(Split.TEST)
    versions = validation_figures.of_judges(project, label_cases.protocol_of(project, result.protocol))
    rows = sorted(
        (rater_of(one).key, *key, value)
        for one in versions
        for each in (one.verdicts, one.missing)
        for key, value in each.items()
        if key[0] in test
    )
    keys = {row[0] for row in rows}
    return SetLook(
        result.id,
        result.name,
        result.labels_sha256,
        tuple(sorted({version.judge.name for version in versions if rater_of(version).key in keys})),
        sha256(canonical_json(rows).decode()),
        result.openings,
    )  # fmt: skip
