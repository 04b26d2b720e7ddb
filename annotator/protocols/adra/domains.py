"""What ADRA says of domains: a mean for each, with its 95 % margin (appendix K.2, Table 10)."""

from collections import defaultdict
from collections.abc import Mapping

from annotator.domain.estimate import Estimate
from annotator.stats.student import mean_of_scores


def by_domain(scores: Mapping[str, Estimate], domain_of: Mapping[str, str]) -> dict[str, Estimate]:
    """The mean score of each domain's items with Student's t interval, the best domain first, undefined ones last.

    `scores` and `domain_of` are by item; items without a domain stand under the empty name. The paper does not say
    how it made its margins.
    """
    members: dict[str, list[Estimate]] = defaultdict(list)
    for item, score in scores.items():
        members[domain_of.get(item, "")].append(score)
    found = {domain: mean_of_scores(own) for domain, own in members.items()}
    return dict(sorted(found.items(), key=lambda entry: _place(*entry)))


def _place(domain: str, mean: Estimate) -> tuple[bool, float, str]:
    return mean.value is None, -(mean.value or 0.0), domain


def margin(mean: Estimate) -> float | None:
    """Half the width of the interval, which Table 10 prints beside the mean; None without an interval."""
    return None if mean.value is None or mean.high is None else mean.high - mean.value
