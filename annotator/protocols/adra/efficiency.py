"""ADRA efficiency: the cost of a report (§3.4); the front shows which systems are worth it (§5.3).

No judge is needed: an unknown figure of a response stays unknown and is never zero.
"""

from collections.abc import Callable
from math import inf
from operator import attrgetter

from annotator.domain.judges.protocol import Metric, Protocol, RatedResponse
from annotator.domain.material.item import Response
from annotator.domain.texts.estimate import Estimate

NAME = "adra.efficiency"

DEPARTURES = (
    "The paper counts a report's tokens with a tokenizer it does not name; here they are what the system or the "
    "import said, and unknown otherwise.",
    "A system of which a cost is not known is left out of that front and named, as the paper leaves out the one it ran "
    "by hand (appendix K.3).",
)

# Section 3.4: time, tokens and money of one report.


def tokens_per_s(response: Response) -> float | None:
    """Tokens of the report per second; None if either is unknown or it took no time."""
    if response.tokens is None or not response.latency_s:
        return None
    return response.tokens / response.latency_s


Reading = Callable[[Response], float | None]


def _metric(
    name: str, title: str, unit: str, reading: Reading, definition: str, *, higher_is_better: bool = False
) -> Metric:
    def of(scored: RatedResponse, _: bool) -> Estimate:
        """The reading of one response; None, never 0, if it is unknown."""
        response = scored.material.response
        known = reading(response)
        value = None if known is None else float(known)
        floor, note = value, "not known for this response" if value is None else ""
        if name == "cost" and value is None and response.cost_part_usd is not None:
            floor = response.cost_part_usd
            note = f"at least US$ {floor:,.4g}: the rest has no price"
        return Estimate(value, n=int(value is not None), floor=floor, ceiling=value, method=title, note=note)

    return Metric(name, title, definition, of, higher_is_better, unit, within=(0.0, inf), cost=True)


METRICS = (
    _metric(
        "latency",
        "Latency",
        "s",
        attrgetter("latency_s"),
        "Seconds from the question to the finished report (ADRA §3.4). Undefined when it was not recorded.",
    ),
    _metric(
        "tokens",
        "Report tokens",
        "tokens",
        attrgetter("tokens"),
        "The length of the final report in tokens (ADRA §3.4); less is better at equal score (§5.3). The count is the "
        "one that came with the response. Undefined when none came.",
    ),
    _metric(
        "tokens_per_s",
        "Tokens per second",
        "tokens/s",
        tokens_per_s,
        "`report tokens / latency` (ADRA §3.4). Undefined when either is not known, or the latency is zero.",
        higher_is_better=True,
    ),
    _metric(
        "run_tokens",
        "Run tokens",
        "tokens",
        attrgetter("run_tokens"),
        "The tokens of all calls that made the report, questions and replies, of which the length of the report "
        "(ADRA §3.4) is a part. The count is the one that came with the response. Undefined when none came.",
    ),
    _metric(
        "cost",
        "Cost",
        "US$",
        attrgetter("cost_usd"),
        "US dollars spent on one report (ADRA appendix K.3). Undefined when it was not recorded; where some calls have "
        "no price, the known part is told.",
    ),
)

EFFICIENCY = Protocol(
    name=NAME,
    title="What a report took",
    citation="ADRA, §3.4, §5.3 and appendix K.3",
    needs=(),
    metrics=METRICS,
    departures=DEPARTURES,
)
