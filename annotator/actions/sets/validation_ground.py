"""Ground of a validation: its units, their true values, and what every rater said."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotator.actions.judging import judge_costs
from annotator.actions.labelling import label_cases, wordings
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.keeping import kept
from annotator.actions.results import result_raters
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import validation_sets, validation_units, validation_values
from annotator.actions.sets.validation_figures import TruthPairs, there
from annotator.actions.sets.validation_sets import ValidationSet
from annotator.actions.sets.validation_units import Key, UnitPlace
from annotator.actions.sets.validation_values import JudgeVersion, Own
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.validation import Split
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.stats.intervals.coding import Chosen, Codes, left_out, objects

PEOPLE = "people"
WHOLE = "whole"
NOT_ASKED = "not asked"
PERSON = "person"


@dataclass(frozen=True, slots=True)
class ValidationRater:
    """A rater compared with the truth: a judge under one prompt, a person, or people with one another.

    `kind` is that of the judge, “person” or “people”; `prompt` the hash of the wording, empty for people.
    """

    id: str
    name: str
    kind: str
    prompt: str = ""

    @property
    def is_judge(self) -> bool:
        """Whether it is a judge, the baseline among them."""
        return self.kind not in (PERSON, PEOPLE)

    @property
    def key(self) -> str:
        return f"{self.id}@{self.prompt}" if self.prompt else self.id


@dataclass(frozen=True, slots=True)
class RatedUnit:
    """A unit with what counts as true, by the word of `source`, and what was said, by `who` where people are held
    against one another; None where a judge has no value.
    """

    key: Key
    who: str
    source: str
    true: str
    said: str | None


@dataclass(frozen=True)
class Ground:
    """The data behind validation figures. `truth` holds true values by source: people or consensus.

    `people` are all who labelled, by id, and `aliases` their names for the outside.
    """

    shape: Protocol
    places: Mapping[Key, UnitPlace]
    people: Mapping[str, Own]
    aliases: Mapping[str, str]
    truth: Mapping[str, Own]
    versions: Sequence[JudgeVersion]

    def judges(self) -> list[ValidationRater]:
        return [rater_of(version) for version in self.versions]

    def humans(self) -> list[ValidationRater]:
        """All people together where some can be compared with others, then each of them."""
        each = [
            ValidationRater(person, self.aliases[person], PERSON)
            for person in sorted(self.people, key=self.aliases.__getitem__)
            if any(source != person for source in self.truth)
        ]
        return [TOGETHER, *each] if each else []

    def pairs(self, rater: ValidationRater, chosen: Chosen | None = None) -> TruthPairs:
        """What a rater said of the chosen units, or of all, beside what counts as true; nobody is compared with
        themselves.
        """
        if rater.key not in self._pairs:
            self._pairs[rater.key] = self._paired(rater)
        whole = self._pairs[rater.key]
        return whole if chosen is None else whole.among(chosen)

    def pairs_with(self, rater: ValidationRater, person: str) -> TruthPairs:
        """What a rater said beside the labels of one person, whoever counts as true."""
        return self._paired(rater, (person,))

    def _paired(self, rater: ValidationRater, sources: Iterable[str] = ()) -> TruthPairs:
        """Row by row in the order of the units, then of who said it, then of whose word is true."""
        nothing = objects(())
        blocks = [(nothing.astype(np.intp), nothing, nothing)]
        for who in [rater.key] if rater.is_judge else self._persons(rater):
            said, asked = self.column(who)
            for by in sources or self.truth:
                true, _ = self.column(by)
                # A person is asked for what is dealt to them; a judge for everything.
                at = np.flatnonzero(there(true) & (asked | rater.is_judge) & (by != who))
                blocks.append((at, true[at], said[at]))
        units, truth, spoken = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        order = np.argsort(units, kind="stable")
        units, (weights, items) = units[order], self._about
        return TruthPairs(truth[order], spoken[order], weights[units], items[units], units)

    def column(self, who: str) -> tuple[NDArray[Any], Chosen]:
        """What a judge, by its key, or a source said of each unit, in the order of `places`; and where they were asked.

        None where nothing was said.
        """
        if who not in self._columns:
            # Someone of whose labels none is left has said nothing: they are there, and empty.
            named: dict[str, Mapping[Key, str | None]] = {**self.people, **self.truth}
            own = named[who] if who in named else self._version(who).said
            values = objects([own.get(key, NOT_ASKED) for key in self.places])
            asked = np.asarray(values != NOT_ASKED)
            values[~asked] = None
            self._columns[who] = values, asked
        return self._columns[who]

    def repeats(self, project: Project, raters: Iterable[ValidationRater]) -> Iterator[str]:
        """What is to be known of those among these who were asked several times."""
        for judge_id in dict.fromkeys(one.id for one in raters if one.is_judge and self.version(one).trials):
            if (again := result_raters.repeats(project, self.shape.name, judge_id)) is not None:
                yield again.words

    def rows(self, rater: ValidationRater, chosen: Chosen) -> list[RatedUnit]:
        """The same row by row, with whose word stands on either side."""
        if rater.is_judge:
            said: dict[str, Mapping[Key, str | None]] = {"": self.version(rater).said}
        else:
            said = {person: self.people[person] for person in self._persons(rater)}
        return [
            RatedUnit(key, who, source, true, own.get(key))
            for key in self.keys(chosen)
            for who, own in said.items()
            if rater.is_judge or key in own
            for source, values in self.truth.items()
            if source != who and (true := values.get(key)) is not None
        ]

    def chosen(self, units: Codes) -> Chosen:
        at = np.zeros(len(self.places), dtype=bool)
        at[units] = True
        return at

    def keys(self, chosen: Chosen) -> Iterable[Key]:
        """The chosen units; what it takes goes by how many they are, not by how many there are."""
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
    def _pairs(self) -> dict[str, TruthPairs]:
        return {}

    @cached_property
    def _columns(self) -> dict[str, tuple[NDArray[Any], Chosen]]:
        return {}

    @cached_property
    def _about(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """How heavy each unit is, whatever its sign, and the number of its item."""
        numbers, weights, items = dict[str, int](), list[float](), list[int]()
        for one in self.places.values():
            weights.append(abs(one.weight))
            items.append(numbers.setdefault(one.item_id, len(numbers)))
        return np.array(weights), np.array(items, dtype=np.intp)

    def rater(self, key: str) -> ValidationRater:
        """Someone who is compared with the truth, by what they are known by; KeyError when there is none."""
        return {one.key: one for one in (*self.judges(), *self.humans())}[key]

    def missing(self, rater: ValidationRater, chosen: Chosen) -> dict[str, int]:
        """Why a judge has no value on units that have a true one: cause → how many, the most frequent first."""
        if not rater.is_judge:
            return {}
        lacking = self.keys(chosen & self.known & ~self.column(rater.key)[1])
        causes = (self.version(rater).missing.get(key, NOT_ASKED) for key in lacking)
        return dict(Counter(causes).most_common())

    def version(self, rater: ValidationRater) -> JudgeVersion:
        return self._version(rater.key)

    def _version(self, key: str) -> JudgeVersion:
        return next(one for one in self.versions if rater_of(one).key == key)

    def _persons(self, rater: ValidationRater) -> list[str]:
        return sorted(self.people) if rater.id == PEOPLE else [rater.id]


TOGETHER = ValidationRater(PEOPLE, PEOPLE, PEOPLE)


def rater_of(version: JudgeVersion) -> ValidationRater:
    """A judge as a rater; judges of the same name under two wordings are broken down by `prompt`."""
    judge = version.judge
    return ValidationRater(judge.id, judge.name, JudgeKind(judge.kind).value, version.prompt_sha256)


@kept
def ground(
    project: Project, protocol: str, set_name: str = "", part: str = "", against: Sequence[str] = (),
    judge: str = "", opening: str = "",
) -> Ground:  # fmt: skip
    """What figures are computed from: of a set its first labels, otherwise what people have submitted.

    `against` names those who count as true, by alias or id, or “consensus”; all people when empty. `part` is “dev”,
    “test” or “whole”; whatever holds the test part needs an `opening` that was counted. Refusal while the labels of a
    set are not locked, and where nothing counts as true. Without a set, what sets hold back is left out.
    """
    people.refuse_others(project, "can compare judges with people")
    shape = label_cases.shape_of(project, protocol)
    places: Mapping[Key, UnitPlace] = validation_units.places(project, shape)
    if set_name:
        places, said = _of_set(project, places, set_name, protocol, part, opening)
    else:
        held = validation_sets.held_back(project, protocol)
        if held:
            places = {key: place for key, place in places.items() if key[0] not in held}
        with project.store.read() as db:
            said = validation_values.of_people(db, shape, submitted=True)
    said = {person: _among(places, own) for person, own in said.items()}
    said = {person: own for person, own in said.items() if own}
    aliases = {person.id: person.alias for person in people.people(project)}
    truth = _truth(project, shape, said, against)
    versions = [one for one in validation_values.of_judges(project, shape, judge) if _within(one, places)]
    return Ground(shape, places, said, aliases, truth, versions)


def _among(places: Mapping[Key, UnitPlace], own: Own) -> Own:
    """What was said of these units; mostly that is all."""
    return own if own.keys() <= places.keys() else {key: own[key] for key in own if key in places}


def _of_set(
    project: Project, places: Mapping[Key, UnitPlace], name: str, protocol: str, part: str, opening: str
) -> tuple[dict[Key, UnitPlace], dict[str, Own]]:
    found = validation_sets.named(project, name)
    if found.protocol != protocol:
        raise Refusal(f"“{name}” is a set of {found.protocol}.", "Name that protocol, or another set.")
    validation_sets.refuse_unlocked(found)
    split = _split(part)
    counted = {one.id for one in validation_sets.openings(project, found.id)}
    if split is not Split.DEV and opening not in counted:
        raise Refusal(
            f"The test part of “{name}” must be opened explicitly: each view is counted.",
            "Open it, or use the dev part.",
        )
    wanted = found.responses(split)
    chosen = {key: place for key, place in places.items() if key[0] in wanted}
    older = _older(project, chosen, found)
    said: dict[str, Own] = {}
    for one in found.first_labels:
        if (one.response_id, one.unit_id) not in older:
            said.setdefault(one.person_id, {})[one.response_id, one.unit_id] = one.value
    return chosen, said


def _older(project: Project, places: Mapping[Key, UnitPlace], found: ValidationSet) -> set[Key]:
    """The units that were reworded since the labels of a set were locked: those labels say nothing of them."""
    kind, at = label_cases.shape_of(project, found.protocol).unit_kind, found.locked_at
    if at is None:
        return set()
    said = {key: (place.item_id, place.unit_id, at) for key, place in places.items()}
    with project.store.read() as db:
        gone = wordings.overtaken(db, kind, set(said.values()))
    return {key for key, one in said.items() if one in gone}


def _split(part: str) -> Split | None:
    """The part of that name, the dev part by default; None for the whole set."""
    if part == WHOLE:
        return None
    if part and part not in list(Split):
        raise Refusal(f"A set has no part “{part}”.", f"Use one of dev, test, {WHOLE}.")
    return Split(part) if part else Split.DEV


def _truth(
    project: Project, shape: Protocol, said: Mapping[str, Own], against: Sequence[str]
) -> dict[str, Own]:
    if list(against) == [CONSENSUS]:
        settled = validation_values.of_consensus(project, shape)
        if not settled:
            raise Refusal("No labels have been adjudicated yet.", "Adjudicate them, or name people.")
        return {CONSENSUS: settled}
    if CONSENSUS in against:
        raise Refusal(
            "The consensus cannot be combined with other raters.", "Compare judges with it, or with people."
        )
    wanted = [people.known(project, one).id for one in against] or sorted(said)
    if not any(said.get(person) for person in wanted):
        raise Refusal(
            "Nobody has submitted labels to compare a judge with.",
            "Have reports labelled, and the labels submitted on the Label page or with “goldsmith labels submit”.",
        )
    return {person: said[person] for person in wanted if person in said}


def _within(version: JudgeVersion, places: Mapping[Key, UnitPlace]) -> bool:
    return any(key in places for found in (version.said, version.missing) for key in found)


@kept
def cost_per_question(project: Project, rater: ValidationRater, protocol: str) -> Estimate:
    """What a question costs by a judge, in US dollars; the baseline makes no call, and costs nothing."""
    if rater.kind == JudgeKind.BASELINE.value:
        return Estimate(0.0, method="mean cost of a question, US dollars", note="no call is made")
    found = judge_costs.costs(project, "question", judge=rater.name)
    return mean_cost([None if one.unpriced else one.cost_usd for one in found if one.protocol == protocol])


def mean_cost(costs: Sequence[float | None]) -> Estimate:
    """The mean of the costs that are known, in US dollars; `missing` counts the others, which are not 0."""
    known = [cost for cost in costs if cost is not None]
    missing = len(costs) - len(known)
    method = "mean cost of a question, US dollars"
    notes = left_out(missing, len(costs), "the cost is not known")
    if not known:
        reason = "no cost is known"
        return Estimate(None, missing=missing, method=method, note="; ".join([reason, *notes]))
    return Estimate(
        fsum(known) / len(known), n=len(known), missing=missing, method=method, note="; ".join(notes)
    )
