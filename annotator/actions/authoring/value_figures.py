"""Figures computed from pairs of values, by the level of their field, with the remarks they need."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from annotator.domain.judges.level_figures import FIGURES
from annotator.domain.judges.scale import Level, Scale
from annotator.domain.kinds.labels import UNSURE
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate

Pairs = Sequence[tuple[Any, Any]]
Named = list[tuple[str, Estimate]]
# A unit of one rater: (item, person, unit).
Node = tuple[str, str, str]
# Steps that differ by less differ by rounding alone.
EVEN = 1e-9


# Figures that hang on who stands first: over pairs of several raters, each pair counts both ways round.
CORRELATIONS = ("pearson", "spearman")
# By how many pairs each is defined.
TURNED = {
    "kappa": 1, "kappa_quadratic": 1, "kappa_linear": 1, "mean_difference": 1, "lower_limit": 2, "upper_limit": 2,
    **dict.fromkeys(CORRELATIONS, 3),
}  # fmt: skip
EITHER_WAY = "each pair of values counts both ways round"


# How α weighs a difference.
METRIC: Mapping[Level, Literal["nominal", "ordinal", "interval"]] = {
    Level.NOMINAL: "nominal", Level.ORDINAL: "ordinal", Level.INTERVAL: "interval",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field that two raters' units are compared on. `always_ac1`: not only where the prevalence is skewed.

    With a `scale` its categories are those of a protocol.
    """

    name: str
    level: Level
    categories: tuple[Hashable, ...] | None = None
    always_ac1: bool = False
    correlated: bool = False
    scale: Scale | None = None

    def known(self, value: Any) -> Any:
        """The value, or None where it is missing: “unsure”, and whatever a scale does not have."""
        off = self.scale is not None and value not in (self.categories or ())
        return None if value == UNSURE or off else value


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


def of_pairs(
    field: ComparedField,
    pairs: Pairs,
    clusters: Sequence[str] | None = None,
    *,
    several: bool = False,
    directed: bool = False,
) -> Named:
    """The figures of a field's pairs of values, by name; None and “unsure” are missing, and unsure ones counted.

    `clusters` names what each pair belongs to: intervals are over clusters, not over pairs. `several`: the
    pairs are of more than two raters, and which of two stands first says nothing unless they are `directed`, such as
    one person's beside all others'.
    """
    known = [(field.known(a), field.known(b)) for a, b in pairs]
    found = _figures(field, known, clusters, several)
    if several and not directed:
        twice = [*(clusters or range(len(known)))] * 2
        both = dict(_figures(field, [*known, *((b, a) for a, b in known)], twice, several))
        found = [(name, _either_way(name, one, both.get(name, one))) for name, one in found]
    unsure = sum((a, b).count(UNSURE) for a, b in pairs)
    lost = sum(both.count(None) for both in known) - sum(both.count(None) for both in pairs)
    strange = lost - unsure
    return [(name, noted(estimate, _of_unsure(unsure), _of_strange(strange))) for name, estimate in found]


def _figures(field: ComparedField, known: Pairs, clusters: Sequence[Hashable] | None, several: bool) -> Named:
    if field.scale is not None and field.level is not Level.NOMINAL:
        return _of_scale(field.scale, known, clusters, several)
    if field.level is Level.RANK:
        return [("tau", _tau(known))]
    if field.level is Level.INTERVAL:
        return [("pearson", _pearson(known, clusters))]
    return _categorical(field, known, clusters)


def _either_way(name: str, once: Estimate, twice: Estimate) -> Estimate:
    """A figure for which it matters who stands first, over pairs that count both ways round; any other as it is."""
    if name not in TURNED or once.n < TURNED[name]:
        return once
    same = (once.value is None) == (twice.value is None)
    found = replace(twice, n=once.n, missing=once.missing, note=once.note if same else twice.note)
    if found.value is None:
        return found
    # κ of two raters who share their margins is Scott's π (1955).
    return noted(replace(found, method=found.method.replace("Cohen's κ", "Scott's π")), EITHER_WAY)


def alpha(field: ComparedField, joined: Iterable[JoinedValue]) -> Estimate:
    """Krippendorff's α over any number of raters, with an interval over clusters.

    Matches are made pair by pair of raters: what A, B and C wrote is one unit where matches link it. Links that
    lead to two units of one rater contradict each other: such units are left out and counted in the note.
    """
    from annotator.stats.agreement import levels
    from annotator.stats.agreement.alpha import krippendorff_alpha

    units, torn = _units(field, list(joined))
    raters = sorted({person for _, said in units for person in said})
    clusters = [cluster for cluster, _ in units]
    said_by = [[said.get(person) for _, said in units] for person in raters]
    within = clusters if any(clusters) else None
    if field.scale is not None and field.level is not Level.NOMINAL:
        found = levels.alpha_of(field.scale, said_by, within)
    else:
        found = krippendorff_alpha(said_by, METRIC[field.level], field.categories, clusters=within)
    return noted(found, f"{counted(torn, 'unit')} left out: matches contradict each other" if torn else "")


def noted(estimate: Estimate, *notes: str) -> Estimate:
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


def _of_scale(scale: Scale, pairs: Pairs, clusters: Sequence[Hashable] | None, several: bool) -> Named:
    from annotator.stats.agreement import levels
    from annotator.stats.agreement.agreement import percent_agreement

    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    found = levels.figures(scale, a, b, clusters, form="1,1" if several else "2,1")
    if "agreement" in FIGURES[scale.level]:
        found["agreement"] = percent_agreement(pairs, clusters or None)
    return list(found.items())


def _categorical(field: ComparedField, pairs: Pairs, clusters: Sequence[Hashable] | None) -> Named:
    from annotator.stats.agreement.agreement import cohen_kappa, percent_agreement
    from annotator.stats.agreement.chance import ac1_of_pairs
    from annotator.stats.agreement.verdicts import KAPPA_PARADOX, prevalence, prevalence_skewed

    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    ordinal = field.level is Level.ORDINAL
    weights = _distances(field.categories or ()) if ordinal else "none"
    kappa = cohen_kappa(a, b, weights, field.categories, clusters)
    found = [
        ("agreement", percent_agreement(pairs, clusters or None)),
        ("kappa", kappa),
    ]
    skewed = prevalence_skewed(prevalence([a, b], field.categories).values())
    if skewed or field.always_ac1:
        ac1 = ac1_of_pairs(a, b, field.categories, clusters)
        found.append(("ac1", noted(ac1, KAPPA_PARADOX if skewed else "")))
    if field.correlated:
        found.append(("pearson", _pearson(pairs, clusters)))
    return found


def _pearson(pairs: Pairs, clusters: Sequence[Hashable] | None) -> Estimate:
    from annotator.stats.agreement.clustered_correlation import over_items

    return over_items("pearson", [a for a, _ in pairs], [b for _, b in pairs], clusters or None)


def _tau(pairs: Pairs) -> Estimate:
    from annotator.stats.agreement.correlation import kendall_tau_b

    return kendall_tau_b([a for a, _ in pairs], [b for _, b in pairs])


def _of_unsure(count: int) -> str:
    return f"{count} judgement{'s' if count > 1 else ''} of “unsure”, counted as missing" if count else ""


def _of_strange(count: int) -> str:
    return f"{counted(count, 'judgement')} not on the scale, counted as missing" if count else ""


def _units(
    field: ComparedField, joined: Sequence[JoinedValue]
) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """Each unit's cluster and values by person, and how many units have two values of one rater."""
    leader: dict[Node, Node] = {}
    values: dict[Node, Any] = {}
    cluster: dict[Node, str] = {}
    for link in joined:
        values[link.a], values[link.b] = field.known(link.value_a), field.known(link.value_b)
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
