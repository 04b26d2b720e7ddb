"""Whether a judge may stand in for people: each judge and prompt beside people, and people beside one another."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotator.actions.project.file import Project
from annotator.actions.results import publishing
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import validation_figures, validation_ground, validation_sets
from annotator.actions.sets.validation_figures import Gap, Told
from annotator.actions.sets.validation_ground import Ground, Rater
from annotator.actions.sets.validation_units import ALL as ALL
from annotator.actions.sets.validation_units import BY as BY
from annotator.actions.sets.validation_units import Group, named
from annotator.domain.judges.protocol import Protocol
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from annotator.stats.intervals.coding import Chosen, Codes
from annotator.stats.intervals.multiplicity import holm
from annotator.stats.intervals.resampling import RESAMPLES


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be validated: on which labels, whom against whom, told apart by one of `BY`.

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
    resamples: int = RESAMPLES


@dataclass(frozen=True, slots=True)
class Line:
    """A rater within a group: its figures, over how many units, and what of a judge is missing, by cause."""

    group: str
    rater: Rater
    told: Told
    units: int
    missing: dict[str, int]
    cost: Estimate | None

    @property
    def missing_rate(self) -> float | None:
        """The share of the units with a true value that a judge has none on."""
        return sum(self.missing.values()) / self.units if self.units else None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two judges on the same units; `p` is McNemar's mid-p, raised for how many are compared (Holm)."""

    first: Rater
    second: Rater
    gap: Gap
    p: float | None


@dataclass(frozen=True, slots=True)
class Validation:
    """Judges beside people; `against` says in words who counts as true, and `openings` how often the test was seen.

    `limit` is the share of missing judgements above which a judge's figures are not publishable.
    """

    wish: Wish
    shape: Protocol
    positive: str
    against: str
    lines: tuple[Line, ...]
    contrasts: tuple[Contrast, ...]
    openings: int
    notes: tuple[str, ...]
    limit: float = publishing.USUAL

    def of(self, name: str, group: str = ALL) -> Line:
        """The line of a rater by name, within a group; KeyError when there is none."""
        for line in self.lines:
            if (line.rater.name, line.group) == (name, group):
                return line
        raise KeyError(name)


def report(project: Project, wish: Wish) -> Validation:
    """Every judge and wording held against people, and people against one another, on the same labels.

    Judges are compared two by two where no groups are asked for.
    """
    return of_ground(project, ground_of(project, wish), wish)


def ground_of(project: Project, wish: Wish) -> Ground:
    """What a validation stands on."""
    if wish.by not in BY:
        raise Refusal(f"Figures cannot be broken down by “{wish.by}”.", f"Use one of {', '.join(BY)}.")
    return validation_ground.ground(
        project, wish.protocol, wish.set_name, wish.part, wish.against, wish.judge, wish.opening
    )


def of_ground(
    project: Project, found: Ground, wish: Wish, wanted: Callable[[Rater], bool] = lambda _: True
) -> Validation:
    """The validation of these labels, of those raters alone that are wanted."""
    positive = validation_figures.positive_of(found.shape, wish.positive)
    raters = [one for one in (*found.judges(), *found.humans()) if wanted(one)]
    costs = {
        one.id: validation_ground.cost_per_question(project, one, wish.protocol)
        for one in raters
        if one.is_judge
    }
    lines = [
        line(found, wish, positive, group, rater, chosen, costs.get(rater.id))
        for group, units in groups(found, wish.by).items()
        for chosen in [found.chosen(units)]
        for rater in raters
    ]
    openings = validation_sets.named(project, wish.set_name).openings if wish.set_name else 0
    return Validation(
        wish, found.shape, positive, against_words(found), tuple(lines),
        tuple(_contrasts(found, positive, wish.resamples)) if wish.by == ALL else (),
        openings, tuple(_notes(found, wish, positive)), publishing.limit(project),
    )  # fmt: skip


def _contrasts(found: Ground, positive: str, resamples: int = RESAMPLES) -> list[Contrast]:
    """Every two judges on the units that have a value of both."""
    pairs = {rater.key: found.pairs(rater) for rater in found.judges()}
    gaps = [
        (one, other, validation_figures.gap(pairs[one.key], pairs[other.key], positive, resamples))
        for one, other in combinations(found.judges(), 2)
    ]
    raised = holm([gap.mcnemar.mid.value for _, _, gap in gaps])
    return [Contrast(one, other, gap, p) for (one, other, gap), p in zip(gaps, raised, strict=True)]


def against_words(found: Ground) -> str:
    """Who counts as true, in words."""
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
    found: Ground, wish: Wish, positive: str, group: str, rater: Rater, chosen: Chosen,
    cost: Estimate | None = None,
) -> Line:  # fmt: skip
    """A rater's line within a group, whose units are the chosen ones."""
    pairs = found.pairs(rater, chosen)
    told = validation_figures.figures(pairs, positive, found.shape.values, wish.resamples)
    told = told.over(len(np.unique(pairs.there().units)))
    return Line(group, rater, told, int(chosen.sum()), found.missing(rater, chosen), cost)


def _notes(found: Ground, wish: Wish, positive: str) -> list[str]:
    notes = []
    several = len(found.truth) > 1
    if several:
        notes.append(
            "Each person's label of a unit counts as one true value, so a unit can occur several times."
        )
    if len(found.people) > 1 and CONSENSUS not in found.truth:
        notes.append(
            "Each person is compared with every other who counts as true, in both directions where both "
            "count, so precision and recall are equal."
        )
    if len(found.people) == 1 and CONSENSUS not in found.truth:
        notes.append("Only one person labelled: there is no human ceiling to compare judges with.")
    if CONSENSUS in found.truth:
        notes.append("The consensus was made of people's labels, which flatters the people beside it.")
    if not positive:
        notes.append(
            f"{found.shape.title} has more than two values: name a positive one for precision and recall."
        )
    if any(place.weight < 0 for place in found.places.values()):
        notes.append(
            "By weight, a unit whose weight is negative counts as much as one of that weight above zero: a wrong "
            "verdict on it moves the score as far."
        )
    if not wish.set_name:
        notes.append(
            "All labels that were submitted count, but those of sets not yet locked and of test parts; no validation "
            "set was named."
        )
    return notes
