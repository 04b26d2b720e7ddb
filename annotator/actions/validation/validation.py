"""Validation report: each judge and prompt compared with people, and people with one another."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotator.actions.judges import endpoint_memory
from annotator.actions.project.file import Project
from annotator.actions.results import publishing
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import validation_figures, validation_ground, validation_sets
from annotator.actions.sets.validation_figures import JudgeDifference, RaterResult, scotts
from annotator.actions.sets.validation_ground import PEOPLE, Ground, ValidationRater
from annotator.actions.sets.validation_units import ALL as ALL
from annotator.actions.sets.validation_units import BY as BY
from annotator.actions.sets.validation_units import Group, named
from annotator.domain.judges.level_figures import uncrossed
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.scale import Level
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from annotator.stats.intervals.coding import Chosen, Codes

# What follows from comparing people in both directions.
BOTH_WAYS = {
    Level.NOMINAL: ", so precision and recall are equal",
    Level.ORDINAL: "",
    Level.INTERVAL: ", so the mean difference is 0",
}
# What is said of figures of values that are not just names.
ABOUT_LEVEL = {
    Level.ORDINAL: "ordered: κ, AC2 and α count how far apart two values are, ρ compares ranks.",
    Level.INTERVAL: "numbers: a difference is the rater's value less the true one, in units of the scale.",
}


@dataclass(frozen=True, slots=True)
class ValidationQuery:
    """The query of a validation: labels, raters compared, and the grouping by one of `BY`.

    `positive` names the positive value where there are more than two; `opening` is the id of a counted look at the
    test part.
    """

    protocol: str = USUAL
    set_name: str = ""
    part: str = ""
    against: tuple[str, ...] = ()
    judge: str = ""
    positive: str = ""
    by: str = ALL
    opening: str = ""


@dataclass(frozen=True, slots=True)
class RaterFigures:
    """A rater within a group: figures, number of units, and missing judgements by cause."""

    group: str
    rater: ValidationRater
    told: RaterResult
    units: int
    missing: dict[str, int]
    cost: Estimate | None

    @property
    def missing_rate(self) -> float | None:
        """The share of the units with a true value that a judge has none on."""
        return sum(self.missing.values()) / self.units if self.units else None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two judges on the same units."""

    first: ValidationRater
    second: ValidationRater
    gap: JudgeDifference


@dataclass(frozen=True, slots=True)
class Validation:
    """Judges compared with people; `against` says whose labels are true, `viewed` how often the test part was.

    `limit` is the share of missing judgements above which a judge's figures are not publishable.
    """

    query: ValidationQuery
    shape: Protocol
    positive: str
    against: str
    lines: tuple[RaterFigures, ...]
    contrasts: tuple[Contrast, ...]
    viewed: tuple[str, ...]
    notes: tuple[str, ...]
    limit: float = publishing.USUAL

    def of(self, name: str, group: str = ALL) -> RaterFigures:
        """The line of a rater by name, within a group; KeyError when there is none."""
        for line in self.lines:
            if (line.rater.name, line.group) == (name, group):
                return line
        raise KeyError(name)


def report(project: Project, query: ValidationQuery) -> Validation:
    """Every judge and wording compared with people, and people against one another, on the same labels.

    Judges are compared two by two where no groups are asked for.
    """
    return of_ground(project, ground_of(project, query), query)


def ground_of(project: Project, query: ValidationQuery) -> Ground:
    if query.by not in BY:
        raise Refusal(f"Figures cannot be broken down by “{query.by}”.", f"Use one of {', '.join(BY)}.")
    return validation_ground.ground(
        project, query.protocol, query.set_name, query.part, query.against, query.judge, query.opening
    )


def of_ground(
    project: Project,
    found: Ground,
    query: ValidationQuery,
    wanted: Callable[[ValidationRater], bool] = lambda _: True,
) -> Validation:
    """The validation of these labels, of those raters alone that are wanted."""
    positive = validation_figures.positive_of(found.shape, query.positive)
    raters = [one for one in (*found.judges(), *found.humans()) if wanted(one)]
    costs = {
        one.id: validation_ground.cost_per_question(project, one, query.protocol)
        for one in raters
        if one.is_judge
    }
    lines = [
        line(found, positive, group, rater, chosen, costs.get(rater.id))
        for group, units in groups(found, query.by).items()
        for chosen in [found.chosen(units)]
        for rater in raters
    ]
    return Validation(
        query, found.shape, positive, against_words(found), tuple(lines),
        tuple(_contrasts(found, positive)) if query.by == ALL else (),
        tuple(validation_sets.viewed(project, query.set_name)),
        (*_notes(found, query, positive), *found.repeats(project, raters), *_failed(project, raters)),
        publishing.limit(project),
    )  # fmt: skip


def _contrasts(found: Ground, positive: str) -> list[Contrast]:
    """Every two judges on the units that have a value of both."""
    pairs = {rater.key: found.pairs(rater) for rater in found.judges()}
    return [
        Contrast(
            one,
            other,
            validation_figures.gap(pairs[one.key], pairs[other.key], positive, found.shape.scale),
        )
        for one, other in combinations(found.judges(), 2)
    ]


def against_words(found: Ground) -> str:
    if CONSENSUS in found.truth:
        return CONSENSUS
    return " and ".join(sorted(found.aliases[person] for person in found.truth))


def groups(found: Ground, by: str) -> dict[str, Codes]:
    """The numbers of the units with a true value by group, in the order in which groups are shown."""
    members: dict[Group, list[int]] = defaultdict(list)
    places = list(found.places.values())
    for number in np.flatnonzero(found.known).tolist():
        members[BY[by](places[number])].append(number)
    return {name: np.array(members[group], dtype=np.intp) for group, name in named(members).items()}


def line(
    found: Ground, positive: str, group: str, rater: ValidationRater, chosen: Chosen,
    cost: Estimate | None = None,
) -> RaterFigures:  # fmt: skip
    """A rater's line within a group, whose units are the chosen ones."""
    pairs = found.pairs(rater, chosen)
    told = validation_figures.figures(pairs, positive, found.shape.scale)
    told = told.over(len(np.unique(pairs.there().units)))
    if rater.id == PEOPLE and found.both_ways:
        told = replace(told, plain=scotts(told.plain), weighted=scotts(told.weighted))
    return RaterFigures(group, rater, told, int(chosen.sum()), found.missing(rater, chosen), cost)


def _failed(project: Project, raters: Iterable[ValidationRater]) -> Iterator[str]:
    failed = endpoint_memory.failed_tests(project)
    yield from dict.fromkeys(
        f"{one.name} failed its test: {failed[one.id]}" for one in raters if one.id in failed
    )


def _notes(found: Ground, query: ValidationQuery, positive: str) -> list[str]:
    notes = []
    if len(found.truth) > 1:
        notes.append(
            "Each person's label of a unit counts as one true value, so a unit can occur several times."
        )
    if len(found.people) > 1 and CONSENSUS not in found.truth:
        notes.append(
            "Each person is compared with every other who counts as true, in both directions where both "
            f"count{BOTH_WAYS[found.shape.scale.level]}; κ of people is then Scott's π."
        )
    if len(found.people) == 1 and CONSENSUS not in found.truth:
        notes.append("Only one person labelled: there is no human ceiling to compare judges with.")
    if CONSENSUS in found.truth:
        notes.append("The consensus was made of people's labels, which flatters the people beside it.")
    if not positive and found.shape.scale.level is Level.NOMINAL:
        notes.append(
            f"{found.shape.title} has more than two values: name a positive one for precision and recall."
        )
    if said := ABOUT_LEVEL.get(found.shape.scale.level):
        notes.append(f"The values of {found.shape.title} are {said}")
    if why := uncrossed(found.shape.scale):
        notes.append(f"Confusion: {why}")
    if any(place.weight < 0 for place in found.places.values()):
        notes.append(
            "By weight, a unit whose weight is negative counts as much as one of that weight above zero: a wrong "
            "verdict on it moves the score as far."
        )
    if not query.set_name:
        notes.append(
            "All labels that were submitted count, but those of sets not yet locked and of test parts; no validation "
            "set was named."
        )
    return notes
