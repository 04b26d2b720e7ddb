"""Which of a judge's verdicts are reviewed, and in what order."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from annotator.actions.labelling import second_looks
from annotator.actions.project.file import Project
from annotator.actions.sets.validation_units import Key, UnitPlace
from annotator.domain.texts.canonical import sha256


class ReviewOrder(StrEnum):
    """The order in which verdicts are reviewed."""

    UNCERTAINTY = "uncertainty"
    WEIGHT = "weight"
    RANDOM = "random"
    ERRORS = "errors"
    """Of the responses drawn to look at errors, report by report what asks for the kind of one."""


def due(project: Project, protocol: str, order: ReviewOrder) -> Callable[[Key, str], bool]:
    """Whether a verdict on a unit is to be reviewed: every one, or errors in the drawn responses."""
    if order is not ReviewOrder.ERRORS:
        return lambda _key, _value: True
    sample = second_looks.sample(project)
    drawn = set(sample.responses if sample else ())

    def asks(key: Key, value: str) -> bool:
        found = second_looks.after(protocol, value) if key[0] in drawn else None
        return found is not None and found.whole

    return asks


def ordered(
    places: Mapping[Key, UnitPlace],
    keys: Sequence[Key],
    uncertainties: Sequence[float],
    weights: Sequence[float],
    order: ReviewOrder,
    person_id: str,
) -> Sequence[Key]:
    """In the order wanted, and at random, each person's own, where that leaves any; errors stand report by report."""
    if order is ReviewOrder.ERRORS:
        return sorted(keys, key={key: number for number, key in enumerate(places)}.__getitem__)
    import numpy as np

    chance = np.array([int(sha256("/".join((person_id, *key)))[:13], 16) for key in keys])
    ranks = [-np.array(uncertainties), -np.array(weights)]
    sorting = {ReviewOrder.UNCERTAINTY: ranks[::-1], ReviewOrder.WEIGHT: ranks, ReviewOrder.RANDOM: []}
    return [keys[at] for at in np.lexsort([chance, *sorting[order]]).tolist()] if keys else []
