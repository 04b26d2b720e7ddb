"""Comparison of two documents of a kind: alignment of units, fields compared, figures."""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from math import fsum
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from annotator.domain.common import counted, grouped
from annotator.domain.experts.adjudication import DocumentComparison, Figure, Match, PairAgreement, figure
from annotator.domain.judges.protocol import FIGURES, Level, Scale
from annotator.domain.kinds.artifact import AlignmentRule, Document, Kind, Unit
from annotator.domain.kinds.documents import KINDS, UNSURE
from annotator.domain.texts.difference import same_words
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, TAXONOMIES

if TYPE_CHECKING:
    from annotator.stats.matching.matching import Alignment

Pairs = Sequence[tuple[Any, Any]]
Named = list[tuple[str, Estimate]]
# A unit of one rater: (item, person, unit).
Node = tuple[str, str, str]
# Steps that differ by less differ only by rounding.
EVEN = 1e-9


# Figures that depend on which rater comes first: over pairs of several raters, each pair counts in both orders.
CORRELATIONS = ("pearson", "spearman")
# The number of pairs from which each is defined.
TURNED = {
    "kappa": 1, "kappa_quadratic": 1, "kappa_linear": 1, "mean_difference": 1, "lower_limit": 2, "upper_limit": 2,
    **dict.fromkeys(CORRELATIONS, 3),
}  # fmt: skip
EITHER_WAY = "each pair of values counts both ways round"


# The metric by which α weighs a difference.
METRIC: Mapping[Level, Literal["nominal", "ordinal", "interval"]] = {
    Level.NOMINAL: "nominal", Level.ORDINAL: "ordinal", Level.INTERVAL: "interval",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ComparedField:
    """A field on which two raters' units are compared. `always_ac1`: also if the prevalence is not skewed.

    With a `scale`, its categories are those of a protocol.
    """

    name: str
    level: Level
    categories: tuple[Hashable, ...] | None = None
    always_ac1: bool = False
    correlated: bool = False
    scale: Scale | None = None

    def known(self, value: Any) -> Any:
        """The value, or None if it counts as missing: “unsure”, or not on the scale."""
        off = self.scale is not None and value not in (self.categories or ())
        return None if value == UNSURE or off else value


@dataclass(frozen=True, slots=True)
class JoinedValue:
    """Two raters' values of the same unit, with the two units.

    Joined values of one cluster are dependent; without a cluster, each unit is its own.
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
    """The figures of a field's pairs of values, by name; None and “unsure” are missing, and unsure ones are counted.

    `clusters` names the cluster of each pair: intervals are over clusters, not pairs. `several`: the pairs come from
    more than two raters, so their order means nothing unless they are `directed`, such as one person against all
    others.
    """
    known = [(field.known(a), field.known(b)) for a, b in pairs]
    result = _figures(field, known, clusters, several)
    if several and not directed:
        twice = [*(clusters or range(len(known)))] * 2
        both = dict(_figures(field, [*known, *((b, a) for a, b in known)], twice, several))
        result = [(name, _either_way(name, one, both.get(name, one))) for name, one in result]
    unsure = sum((a, b).count(UNSURE) for a, b in pairs)
    lost = sum(both.count(None) for both in known) - sum(both.count(None) for both in pairs)
    strange = lost - unsure
    remarks = (
        f"{unsure} judgement{'s' if unsure > 1 else ''} of “unsure”, counted as missing" if unsure else "",
        f"{counted(strange, 'judgement')} not on the scale, counted as missing" if strange else "",
    )
    return [(name, estimate.remarked(*remarks)) for name, estimate in result]


def _figures(field: ComparedField, known: Pairs, clusters: Sequence[Hashable] | None, several: bool) -> Named:
    if field.scale is not None and field.level is not Level.NOMINAL:
        return _of_scale(field.scale, known, clusters, several)
    if field.level is Level.RANK:
        from annotator.stats.agreement.levels import kendall_tau_b

        return [("tau", kendall_tau_b([a for a, _ in known], [b for _, b in known]))]
    if field.level is Level.INTERVAL:
        return [("pearson", _pearson(known, clusters))]
    return _categorical(field, known, clusters)


def _either_way(name: str, once: Estimate, twice: Estimate) -> Estimate:
    """The figure over pairs counted in both orders if it depends on their order; otherwise the figure as it is."""
    if name not in TURNED or once.n < TURNED[name]:
        return once
    same = (once.value is None) == (twice.value is None)
    result = replace(twice, n=once.n, missing=once.missing, note=once.note if same else twice.note)
    if result.value is None:
        return result
    # κ of two raters who share their margins is Scott's π (1955).
    return replace(result, method=result.method.replace("Cohen's κ", "Scott's π")).remarked(EITHER_WAY)


def alpha(field: ComparedField, joined: Iterable[JoinedValue]) -> Estimate:
    """Krippendorff's α over any number of raters, with an interval over clusters.

    Matches link units of pairs of raters; all units linked by matches are one unit of A, B and C. If links lead to two
    units of one rater, they contradict each other: such units are left out and counted in the note.
    """
    from annotator.stats.agreement import levels
    from annotator.stats.agreement.agreement import krippendorff_alpha

    units, torn = _units(field, list(joined))
    raters = sorted({person for _, ratings in units for person in ratings})
    clusters = [cluster for cluster, _ in units]
    by_rater = [[ratings.get(person) for _, ratings in units] for person in raters]
    within = clusters if any(clusters) else None
    if field.scale is not None and field.level is not Level.NOMINAL:
        result = levels.alpha_of(field.scale, by_rater, within)
    else:
        result = krippendorff_alpha(by_rater, METRIC[field.level], field.categories, clusters=within)
    return result.remarked(f"{counted(torn, 'unit')} left out: matches contradict each other" if torn else "")


def _distances(categories: Sequence[Hashable]) -> Literal["linear"] | list[list[float]]:
    """The distances for weighted κ: by position, or by the categories' numbers if these are unevenly spaced."""
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
    result = levels.figures(scale, a, b, clusters, form="1,1" if several else "2,1")
    if "agreement" in FIGURES[scale.level]:
        result["agreement"] = percent_agreement(pairs, clusters or None)
    return list(result.items())


def _categorical(field: ComparedField, pairs: Pairs, clusters: Sequence[Hashable] | None) -> Named:
    from annotator.stats.agreement.agreement import (
        KAPPA_PARADOX,
        ac1_of_pairs,
        cohen_kappa,
        percent_agreement,
        prevalence,
        prevalence_skewed,
    )

    a, b = [first for first, _ in pairs], [second for _, second in pairs]
    weights = _distances(field.categories or ()) if field.level is Level.ORDINAL else "none"
    result = [
        ("agreement", percent_agreement(pairs, clusters or None)),
        ("kappa", cohen_kappa(a, b, weights, field.categories, clusters)),
    ]
    skewed = prevalence_skewed(prevalence([a, b], field.categories).values())
    if skewed or field.always_ac1:
        ac1 = ac1_of_pairs(a, b, field.categories, clusters)
        result.append(("ac1", ac1.remarked(KAPPA_PARADOX if skewed else "")))
    if field.correlated:
        result.append(("pearson", _pearson(pairs, clusters)))
    return result


def _pearson(pairs: Pairs, clusters: Sequence[Hashable] | None) -> Estimate:
    from annotator.stats.agreement.levels import over_items

    return over_items("pearson", [a for a, _ in pairs], [b for _, b in pairs], clusters or None)


def _units(
    field: ComparedField, joined: Sequence[JoinedValue]
) -> tuple[list[tuple[str, dict[str, Any]]], int]:
    """The cluster and values by person of each unit, and the number left out for two values of one rater."""
    leader: dict[Node, Node] = {}
    values: dict[Node, Any] = {}
    cluster: dict[Node, str] = {}
    for link in joined:
        values[link.a], values[link.b] = field.known(link.value_a), field.known(link.value_b)
        cluster[link.a] = cluster[link.b] = link.cluster
        first, second = sorted((_lead(leader, link.a), _lead(leader, link.b)))
        leader[second] = first
    groups = grouped((_lead(leader, node), node) for node in sorted(values))
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


Units = Sequence[Any]
Values = dict[str, tuple[tuple[Any, Any], ...]]
POSITION, ITEM_SCORE = "position", "item_score"
VALUE = KINDS[Kind.LABELS].says
MATCH_F1, JACCARD = "match_f1", "jaccard"


def aligned(kind: Kind, a: Units, b: Units) -> "Alignment":
    """Align the units of two documents of a kind with the fixed matcher."""
    from annotator.stats.matching.matching import ReferencedWork, align, align_by_key, align_references

    match KINDS[kind].aligned:
        case AlignmentRule.WORDS:
            return align([unit.text for unit in a], [unit.text for unit in b])
        case AlignmentRule.WORK:
            works = [[ReferencedWork(unit.identifier, unit.text) for unit in units] for units in (a, b)]
            return align_references(*works)
        case AlignmentRule.KEY:
            return align_by_key([unit.text.strip() for unit in a], [unit.text.strip() for unit in b])
        case AlignmentRule.ID:
            return align_by_key([unit.id for unit in a], [unit.id for unit in b])


def measured(kind: Kind) -> list[ComparedField]:
    spec = KINDS[kind]
    fields = [
        ComparedField(
            each.name,
            Level(each.level),
            tuple(value for value, *_ in each.options) or None,
            each.always_ac1,
            each.correlated,
        )
        for each in spec.fields
        if each.level
    ]
    return [*fields, ComparedField(POSITION, Level.RANK)] if spec.order_measured else fields


def by_words(kind: Kind | None) -> bool:
    """Whether the units of a kind are matched by their words, not by a key, an id or a reference."""
    return kind is not None and KINDS[kind].aligned is AlignmentRule.WORDS


def matcher() -> str:
    from annotator.stats.matching.matching import MATCHER

    return MATCHER


def counts_equal(kind: Kind, a: Unit, b: Unit) -> bool:
    """Whether two units are equal in all that counts: their words and the kind's counted fields."""
    return same_words(a.text, b.text) and all(
        field.same(getattr(a, name), getattr(b, name)) for name, field in KINDS[kind].counted_fields.items()
    )


def compare(
    kind: Kind, a: Document[Any], b: Document[Any], pairs: Iterable[tuple[str, str]] | None = None
) -> DocumentComparison:
    """Compare two documents of a kind, matched by the fixed matcher or as given by `pairs` of unit ids.

    `values` has, by field, the two values of each matched pair, in the order of `matched`.
    """
    spec = KINDS[kind]
    a, b = _compared(kind, a), _compared(kind, b)
    alignment = aligned(kind, a.units, b.units) if pairs is None else _as_paired(a.units, b.units, pairs)
    matched_units = [(a.units[i], b.units[j]) for i, j, _ in alignment.pairs]
    values = _values(kind, matched_units, [(i + 1, j + 1) for i, j, _ in alignment.pairs])
    return DocumentComparison(
        matched=tuple(
            Match(a=a.units[i].id, b=b.units[j].id, likeness=alike) for i, j, alike in alignment.pairs
        ),
        only_a=tuple(a.units[i].id for i in alignment.only_a),
        only_b=tuple(b.units[j].id for j in alignment.only_b),
        values=values,
        figures=(
            *_overlap(spec.overlap, alignment, len(a.units), len(b.units)),
            *_of_values(kind, values, alignment),
            *(_item_scores(spec.scored, a.units, b.units) if spec.scored else ()),
        ),
    )


def _compared(kind: Kind, document: Document[Any]) -> Document[Any]:
    """The document without labels of error taxonomies, which are not compared; other kinds unchanged."""
    if kind is not Kind.LABELS:
        return document
    return document.model_copy(
        update={"units": tuple(unit for unit in document.units if unit.protocol not in TAXONOMIES)}
    )


def compare_raters(
    kind: Kind,
    documents: Mapping[str, Document[Any]],
    a: str,
    b: str,
    pairs: Iterable[tuple[str, str]] | None = None,
) -> PairAgreement:
    """The comparison of two raters' documents, as records store it; `documents` by rater, `pairs` as in `compare`."""
    return PairAgreement(a=a, b=b, **dict(compare(kind, documents[a], documents[b], pairs)))


def over_all(kind: Kind, item_id: str, pairs: Sequence[PairAgreement]) -> tuple[Figure, ...]:
    """Figures over all raters of an item: α of each measured field, and the mean overlap of the pairs."""
    result = [
        figure(f"{field.name}_alpha", alpha(field, _joined(item_id, field, pairs)))
        for field in fields_of(kind, [pair.values for pair in pairs])
        if field.level is not Level.RANK
    ]
    return (*(_mean(name, pairs) for name in KINDS[kind].overlap), *result)


def fields_of(kind: Kind, values: Iterable[Mapping[str, Pairs]]) -> list[ComparedField]:
    """The fields on which agreement on these values of a kind is measured; each ordinal protocol is a field."""
    listed = list(values)
    present = {name for values in listed for name in values}
    left = {field.name for field in KINDS[kind].fields if field.optional} - present
    return [each for field in measured(kind) if field.name not in left for each in by_scale(field, listed)]


def by_scale(field: ComparedField, listed: Sequence[Mapping[str, Pairs]]) -> list[ComparedField]:
    """A field with its categories: for a label, the values of its protocols plus any others in use.

    For a choice among numbers, such as a weight, the categories are those in use if any is not a usual one. Protocols
    that have a field of their own are listed under their name.
    """
    if field.level is Level.ORDINAL and field.categories is not None:
        return [replace(field, categories=_in_order(field, listed))]
    if field.categories is not None or field.level is not Level.NOMINAL:
        return [field]
    used = sorted({name for each in listed for both in each.get("protocol", ()) for name in both})
    ordered = [name for name in used if field_named(field.name, name) != field.name]
    of_each = [
        ComparedField(name, scale.level, scale.names, scale.level is Level.NOMINAL, scale=scale)
        for name, scale in ((name, PROTOCOLS[name].scale) for name in ordered)
    ]
    if ordered and ordered == used:
        return of_each
    known = [v for name in used if name in PROTOCOLS and name not in ordered for v in PROTOCOLS[name].values]
    in_use = {v for each in listed for place in own_pairs(field, each) for v in each[source_of(field)][place]}
    categories = tuple(dict.fromkeys([*known, *sorted(in_use - {UNSURE, None})]))
    return [replace(field, categories=categories), *of_each]


def field_named(field: str, protocol: str) -> str:
    """The field under which a value is compared: its protocol if ordinal or not submitted, else the given one."""
    known = protocol in PROTOCOLS and not (
        PROTOCOLS[protocol].submitted and PROTOCOLS[protocol].scale.level is Level.NOMINAL
    )
    return protocol if known else field


def own_pairs(field: ComparedField, values: Mapping[str, Pairs]) -> list[int]:
    """The indices of the pairs of values that belong to a field: for a label's field, those of its protocols."""
    name = source_of(field)
    if name != VALUE or "protocol" not in values:
        return list(range(len(values.get(name, ()))))
    protocols = enumerate(protocol for protocol, _ in values["protocol"])
    return [place for place, protocol in protocols if field_named(name, protocol) == field.name]


def source_of(field: ComparedField) -> str:
    return field.name if field.scale is None else VALUE


def _in_order(field: ComparedField, values: Iterable[Mapping[str, Pairs]]) -> tuple[Any, ...] | None:
    known, in_use = (
        field.categories or (),
        {v for each in values for both in each.get(field.name, ()) for v in both},
    )
    if in_use - {UNSURE, None} <= set(known):
        return field.categories
    return tuple(sorted(in_use - {UNSURE, None}, key=float))


def about(pair: PairAgreement) -> list[tuple[str, str]]:
    """The judged report and unit of each match; empty strings if there are none."""
    if "response_id" not in pair.values:
        return [("", "")] * len(pair.matched)
    reports, units = pair.values["response_id"], pair.values["unit_id"]
    return [(report, unit) for (report, _), (unit, _) in zip(reports, units, strict=True)]


def _as_paired(a: Units, b: Units, pairs: Iterable[tuple[str, str]]) -> "Alignment":
    from annotator.stats.matching.matching import Alignment, likeness

    place_a = {unit.id: place for place, unit in enumerate(a)}
    place_b = {unit.id: place for place, unit in enumerate(b)}
    placed = sorted((place_a[first], place_b[second]) for first, second in pairs)
    return Alignment(
        tuple((i, j, likeness(a[i].text, b[j].text)) for i, j in placed),
        tuple(sorted(set(range(len(a))) - {i for i, _ in placed})),
        tuple(sorted(set(range(len(b))) - {j for _, j in placed})),
    )


def _values(kind: Kind, matched_units: list[tuple[Any, Any]], positions: list[tuple[int, int]]) -> Values:
    spec = KINDS[kind]
    names = [*(field.name for field in spec.fields if field.level), *spec.frozen_fields]
    trees = [
        tuple(unit.model_dump(mode="json", include=set(names)) for unit in both) for both in matched_units
    ]
    absent = {field.name for field in spec.fields if field.optional}.difference(*chain.from_iterable(trees))
    values: Values = {
        name: tuple((a.get(name), b.get(name)) for a, b in trees) for name in names if name not in absent
    }
    if spec.order_measured:
        values[POSITION] = tuple(positions)
    return values


def _overlap(names: Iterable[str], alignment: "Alignment", n_a: int, n_b: int) -> list[Figure]:
    from annotator.stats.matching.matching import jaccard, match_f1

    measures = {MATCH_F1: match_f1, JACCARD: jaccard}
    return [figure(name, measures[name](alignment, n_a, n_b)) for name in names]


def _of_values(kind: Kind, values: Values, alignment: "Alignment") -> list[Figure]:
    alone = len(alignment.only_a), len(alignment.only_b)
    lopsided = (
        f"{counted(alone[0], 'unit')} only A has, {alone[1]} only B"
        if any(alone) and not KINDS[kind].overlap
        else ""
    )
    # Labels on one report are dependent; the units of lists have no clusters.
    clusters = [report for report, _ in values["response_id"]] if "response_id" in values else None
    result = []
    for field in fields_of(kind, [values]):
        own = own_pairs(field, values)
        pairs = [values[source_of(field)][place] for place in own]
        within = None if clusters is None else [clusters[place] for place in own]
        for name, estimate in of_pairs(field, pairs, within):
            result.append(
                figure(
                    "order_tau" if field.name == POSITION else f"{field.name}_{name}",
                    estimate.remarked(lopsided),
                )
            )
    return result


def _item_scores(field: str, a: Units, b: Units) -> list[Figure]:
    return [
        figure(f"{ITEM_SCORE}_{letter}", _item_score([getattr(unit, field) for unit in units]))
        for letter, units in (("a", a), ("b", b))
    ]


def _item_score(ratings: list[int | None]) -> Estimate:
    given = [rating for rating in ratings if rating is not None]
    method, absent = "mean over dimensions", len(ratings) - len(given)
    note = f"{absent:,} of {len(ratings):,} dimensions not rated" if absent else ""
    return Estimate(fmean(given) if given else None, n=len(given), missing=absent, method=method, note=note)


def _joined(item_id: str, field: ComparedField, pairs: Iterable[PairAgreement]) -> Iterator[JoinedValue]:
    for pair in pairs:
        reports = about(pair)
        for place in own_pairs(field, pair.values):
            match, (value_a, value_b) = pair.matched[place], pair.values[source_of(field)][place]
            a, b = (item_id, pair.a, match.a), (item_id, pair.b, match.b)
            yield JoinedValue(a, b, value_a, value_b, cluster=reports[place][0])


def _mean(name: str, pairs: Sequence[PairAgreement]) -> Figure:
    values = [result.value for pair in pairs for result in pair.figures if result.name == name]
    known = [value for value in values if value is not None]
    method = f"mean over {len(known):,} pairs of raters"
    return Figure(name=name, value=fsum(known) / len(known) if known else None, n=len(known), method=method)
