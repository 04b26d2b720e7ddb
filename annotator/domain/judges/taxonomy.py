"""What a second look is: labels people give to verdicts already reached, and how many of each a response gets."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.judges.scale import Value
from annotator.domain.material.item import QUESTION_TYPES
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.frozen_record import FrozenRecord

SUBTOTAL = "subtotal"


class ErrorSample(FrozenRecord):
    """Responses drawn at random, so many of each system, whose verdicts people look at again."""

    seed: int
    per_system: int
    responses: tuple[str, ...]


class DrawnPairs(FrozenRecord):
    """Pairs of responses drawn at random to be compared."""

    seed: int
    pairs: tuple[tuple[str, str], ...]


def _nothing(_value: str, _flags: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Labels for the units on which a protocol came to one of some verdicts, such as the kinds of an error.

    `name` stands where a protocol's name stands in a label; `of` names the protocol whose verdicts are looked at
    again, `after` the verdicts that ask for a label. `head` stands before its `kinds`, of which there may be four;
    `suggested` says which of them a verdict tells by its value and flags, empty when it tells none. `whole` tells
    whether each of those verdicts must get one, `printed` where the paper prints how many there are, `departures` what
    is counted otherwise here. What is asked `beside` a verdict is no kind of it, and several may be asked of one.
    """

    name: str
    title: str
    of: str
    after: tuple[str, ...]
    head: str
    kinds: tuple[Value, ...]
    whole: bool = True
    printed: str = ""
    departures: tuple[str, ...] = ()
    suggested: Callable[[str, str], str] = _nothing
    beside: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """The kinds as they are stored, in the order of their keys."""
        return tuple(kind.name for kind in self.kinds)

    def words(self, kind: str) -> str:
        """What a kind is called; one that is not known, as in a file of a later version, as it is stored."""
        return next((one.words for one in self.kinds if one.name == kind), kind)


@dataclass(frozen=True, slots=True)
class LabelledResponse:
    """One response that people looked at: its question's type, and the label of each unit that asks for one.

    `labels` holds every unit whose verdict asks for a label, None where nobody has given one.
    """

    response_id: str
    question_type: str
    labels: Mapping[str, str | None]


def due(taxonomy: Taxonomy, verdicts: Mapping[str, str]) -> list[str]:
    """The units whose verdict asks for a label, in the order of the verdicts."""
    return [unit_id for unit_id, value in verdicts.items() if value in taxonomy.after]


def mean_counts(looked: Sequence[LabelledResponse], taxonomy: Taxonomy) -> dict[str, dict[str, Estimate]]:
    """For each question type, the mean number of each label per response, and their subtotal.

    Types come in the order in which they are offered, then others by name. `n` counts responses, `missing` the units
    without a label, which leave the means of labels undefined where each must have one; floor and ceiling bound them.
    ValueError on a label that is none of the taxonomy's.
    """
    groups: dict[str, list[LabelledResponse]] = {}
    for one in looked:
        groups.setdefault(one.question_type, []).append(one)
    return {kind: _means(groups[kind], taxonomy) for kind in _ordered(groups)}


def _ordered(kinds: Iterable[str]) -> list[str]:
    return sorted(
        kinds,
        key=lambda kind: (
            QUESTION_TYPES.index(kind) if kind in QUESTION_TYPES else len(QUESTION_TYPES),
            kind,
        ),
    )


def _means(group: Sequence[LabelledResponse], taxonomy: Taxonomy) -> dict[str, Estimate]:
    counts = Counter(label for one in group for label in one.labels.values())
    if odd := set(counts) - {*taxonomy.values, None}:
        raise ValueError(f"{odd.pop()!r} is no label of {taxonomy.name}")
    n, missing = len(group), counts[None] if taxonomy.whole else 0
    means = {label: _mean(counts[label], missing, n) for label in taxonomy.values}
    if taxonomy.whole:
        means[SUBTOTAL] = _mean(sum(counts.values()), 0, n)
    return means


def _mean(count: int, missing: int, n: int) -> Estimate:
    """The mean number per response; units without a label may or may not be of this kind."""
    return Estimate(
        None if missing else count / n,
        n=n,
        missing=missing,
        floor=count / n,
        ceiling=(count + missing) / n,
        method="mean number per response",
        note=f"{missing} units have no label" if missing else "",
    )
