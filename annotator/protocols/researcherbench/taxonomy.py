"""What goes wrong in reports, and how often: labels on uncovered criteria and on claims without support.

ResearcherBench, appendix E.6: the kinds of error, E.6.1; their mean number per response, E.6.2, Table 6; response
modes, appendix F.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotator.domain.judges.judgement import NO
from annotator.domain.judges.taxonomy import CitationError, Taxonomy
from annotator.domain.material.item import QUESTION_TYPES
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.researcherbench.verification import PAGE, PAGE_CUT

SUBTOTAL = "subtotal"

DEPARTURES = (
    "Every response looked at counts, also one without any error; the paper's means are per response too.",
    "A claim whose page could not be read is offered as an invalid attribution, one that its page denies as an "
    "unsupported answer; people decide.",
    "An uncovered criterion or unsupported claim that nobody has labelled makes the figures incomplete: it is counted "
    "in the subtotal, and bounds what each label can come to. A response mode may be left out.",
)


@dataclass(frozen=True, slots=True)
class Looked:
    """One response that people looked at: its question's type, and the label of each unit that asks for one.

    `labels` holds every unit whose verdict asks for a label, None where nobody has given one.
    """

    response_id: str
    question_type: str
    labels: Mapping[str, str | None]


def due(taxonomy: Taxonomy, verdicts: Mapping[str, str]) -> list[str]:
    """The units whose verdict asks for a label, in the order of the verdicts."""
    return [unit_id for unit_id, value in verdicts.items() if value in taxonomy.after]


def suggested(value: str, flags: str) -> str | None:
    """The label offered for a claim: by the state of its page, or by its verdict; None when neither tells."""
    if any(flag.startswith(PAGE) and flag != PAGE_CUT for flag in flags.split()):
        return CitationError.INVALID_ATTRIBUTION
    return CitationError.UNSUPPORTED_ANSWER if value == NO else None


def mean_counts(looked: Sequence[Looked], taxonomy: Taxonomy) -> dict[str, dict[str, Estimate]]:
    """For each question type, the mean number of each label per response, and their subtotal (Table 6).

    Types come in the paper's order, then others by name. `n` counts responses, `missing` the units without a label,
    which leave the means of labels undefined where each must have one; floor and ceiling bound them. ValueError on
    a label that is none of the taxonomy's.
    """
    groups: dict[str, list[Looked]] = {}
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


def _means(group: Sequence[Looked], taxonomy: Taxonomy) -> dict[str, Estimate]:
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
