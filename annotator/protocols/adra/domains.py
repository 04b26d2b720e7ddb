"""What ADRA says of domains: a mean for each, with its 95 % margin (appendix K.2, Table 10)."""

from collections import defaultdict
from collections.abc import Mapping

from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import Bounds, mean_of_scores


def by_domain(
    scores: Mapping[str, Estimate], domain_of: Mapping[str, str], within: Bounds | None = None
) -> dict[str, Estimate]:
    """The mean score of each domain's items with Student's t interval, the best domain first, undefined ones last.

    What scores lie `within`, the intervals do too.

    `scores` and `domain_of` are by item; items without a domain stand under the empty name. The paper does not say
    how it made its margins.
    """
    members: dict[str, list[Estimate]] = defaultdict(list)
    for item, score in scores.items():
        members[domain_of.get(item, "")].append(score)
    found = {domain: mean_of_scores(own, within=within) for domain, own in members.items()}
    return dict(sorted(found.items(), key=lambda entry: _place(*entry)))


def _place(domain: str, mean: Estimate) -> tuple[bool, float, str]:
    return mean.value is None, -(mean.value or 0.0), domain
