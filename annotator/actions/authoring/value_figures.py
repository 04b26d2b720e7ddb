"""Figures computed from pairs of values, by the level of their field, with the remarks they need."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from annotator.domain.judges.scale import Level
from annotator.domain.kinds.labels import UNSURE
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, settled

Pairs = Sequence[tuple[Any, Any]]
Named = list[tuple[str, Estimate]]
# A unit of one rater: (item, person, unit).
Node = tuple[str, str, str]
# Steps that differ by less differ by rounding alone.
EVEN = 1e-9
# Said beside an interval that knows nothing of what pairs belong to.
AS_IF_APART = "the interval takes pairs of one item as independent, and may be too narrow"


# How α weighs a difference.
METRIC: Mapping[Level, Literal["nominal", "ordinal", "interval"]] = {
    Level.NOMINAL: "nominal", Level.ORDINAL: "ordinal", Level.INTERVAL: "interval",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field on which two raters' units are compared. `always_ac1`: not only under skewed prevalence."""

    name: str
    level: Level
    categories: tuple[Hashable, ...] | None = None
    always_ac1: bool = False
    correlated: bool = False


@dataclass(frozen=True, slots=True)
class JoinedValue:
    """Two raters' values of the same unit: two places and two values.

    Joined values of one cluster hang together; without a cluster each unit stands for itself.
    """

    a: Node
    b: Node
    value_a: Any
    value_b: Any
    cluster: str = ""


def of_pairs(field: ComparedField, pairs: Pairs, clusters: Sequence[str] | None = None) -> Named:
    """The figures of a field's pairs of values, by name; None and “unsure” are missing, and unsure ones counted.

    `clusters` names what each pair belongs to: intervals of κ and AC1 draw clusters again, not pairs.
    """
    known = [(_said(a), _said(b)) for a, b in pairs]
    if field.level is Level.RANK:
        found = [("tau", _tau(known))]
    elif field.level is Level.INTERVAL:
        found = [("pearson", _pearson(known, clusters))]
    else:
        found = _categorical(field, known, clusters)
    unsure = sum((a, b).count(UNSURE) for a, b in pairs)
    return [(name, noted(estimate, _of_unsure(unsure))) for name, estimate in found]


def alpha(field: ComparedField, joined: Iterable[JoinedValue]) -> Estimate:
    """Krippendorff's α over any number of raters, with an interval over clusters.

    Matches are made pair by pair of raters: what A, B and C wrote is one unit where matches link it. Links that
    lead to two units of one rater contradict each other: such units are left out and counted in the note.
    """
    from annotator.stats.agreement.alpha import krippendorff_alpha

    units, torn = _units(list(joined))
    raters = sorted({person for _, said in units for person in said})
    clusters = [cluster for cluster, _ in units]
    found = krippendorff_alpha(
        [[said.get(person) for _, said in units] for person in raters],
        METRIC[field.level],
        field.categories,
        clusters=clusters if any(clusters) else None,
    )
    return noted(found, f"{counted(torn, 'unit')} left out: matches contradict each other" if torn else "")


def noted(estimate: Estimate, *notes: str) -> Estimate:
    """The estimate with more said in its note."""
    return replace(estimate, note="; ".join(note for note in (estimate.note, *notes) if note))


def _distances(categories: Sequence[Hashable]) -> Literal["linear"] | list[list[float]]:
    """How far values are apart: by their places, or by their numbers where these lie unevenly."""
    try:
        numbers = [float(str(category)) for category in categories]
    except ValueError:
        return "linear"
    steps = [b - a for a, b in pairwise(numbers)]
    if max(steps, default=0) - min(steps, default=0) < EVEN:
        return "linear"
    return [[abs(a - b) for b in numbers] for a in numbers]


def _categorical(field: ComparedField, pairs: Pairs, clusters: Sequence[str] | None) -> Named:
    from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
    from annotator.stats.agreement.chance import gwet_ac1
    from annotator.stats.agreement.verdicts import KAPPA_PARADOX, prevalence, prevalence_skewed

    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    ordinal = field.level is Level.ORDINAL
    weights = _distances(field.categories or ()) if ordinal else "none"
    kappa = cohen_kappa(a, b, weights, field.categories, clusters)
    found = [
        ("agreement", percent_agreement(pairs, len(set(clusters)) if clusters else None)),
        ("kappa", kappa),
    ]
    skewed = prevalence_skewed(prevalence([a, b], field.categories).values())
    if skewed or field.always_ac1:
        ac1 = gwet_ac1([a, b], categories=field.categories, clusters=clusters)
        found.append(("ac1", noted(ac1, KAPPA_PARADOX if skewed else "")))
    if field.correlated:
        found.append(("pearson", _pearson(pairs, clusters)))
    return found


def _pearson(pairs: Pairs, clusters: Sequence[str] | None) -> Estimate:
    """r, whose interval, drawn over pairs, needs enough of what they belong to, and says what it leaves out."""
    from annotator.stats.agreement.correlation import pearson

    found = pearson([a for a, _ in pairs], [b for _, b in pairs])
    if not clusters or found.low is None:
        return found
    apart = len({of for of, both in zip(clusters, pairs, strict=True) if None not in both})
    found = settled(found, apart, within=(-1.0, 1.0))
    return found if found.low is None else noted(found, AS_IF_APART)


def _tau(pairs: Pairs) -> Estimate:
    from annotator.stats.agreement.correlation import kendall_tau_b

    return kendall_tau_b([a for a, _ in pairs], [b for _, b in pairs])


def _said(value: Any) -> Any:
    return None if value == UNSURE else value


def _of_unsure(count: int) -> str:
    return f"{count} judgement{'s' if count > 1 else ''} of “unsure”, counted as missing" if count else ""


def _units(joined: Sequence[JoinedValue]) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """Each unit's cluster and values by person, and how many units have two values of one rater."""
    leader: dict[Node, Node] = {}
    values: dict[Node, Any] = {}
    cluster: dict[Node, str] = {}
    for link in joined:
        values[link.a], values[link.b] = _said(link.value_a), _said(link.value_b)
        cluster[link.a] = cluster[link.b] = link.cluster
        first, second = sorted((_lead(leader, link.a), _lead(leader, link.b)))
        leader[second] = first
    groups: defaultdict[Node, list[Node]] = defaultdict(list)
    for node in sorted(values):
        groups[_lead(leader, node)].append(node)
    units = [
        (cluster[lead], {person: values[item, person, unit] for item, person, unit in nodes})
        for lead, nodes in groups.items()
        if len({person for _, person, _ in nodes}) == len(nodes)
    ]
    return units, len(groups) - len(units)


def _lead(leader: dict[Node, Node], node: Node) -> Node:
    while (above := leader.setdefault(node, node)) != node:
        node = above
    return node
