"""ADRA efficiency: the cost of a report (§3.4); the front shows which systems are worth it (§5.3).

No judge is needed: an unknown figure of a response stays unknown and is never zero.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf

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


def latency(response: Response) -> float | None:
    """Seconds from the question to the report."""
    return response.latency_s


def tokens(response: Response) -> float | None:
    return None if response.tokens is None else float(response.tokens)


def tokens_per_s(response: Response) -> float | None:
    """Tokens of the report per second; None if either is unknown or it took no time."""
    if response.tokens is None or not response.latency_s:
        return None
    return response.tokens / response.latency_s


def run_tokens(response: Response) -> float | None:
    """The tokens of all calls that made the report."""
    return None if response.run_tokens is None else float(response.run_tokens)


def cost(response: Response) -> float | None:
    return response.cost_usd


Reading = Callable[[Response], float | None]


def score(reading: Reading, method: str, response: Response) -> Estimate:
    """The reading of one response; None, never 0, if it is unknown."""
    value = reading(response)
    note = "not known for this response" if value is None else ""
    return Estimate(value, n=int(value is not None), floor=value, ceiling=value, method=method, note=note)


def _metric(
    name: str, title: str, unit: str, reading: Reading, definition: str, *, higher_is_better: bool = False
) -> Metric:
    def of(scored: RatedResponse, _: bool) -> Estimate:
        response = scored.material.response
        result, part = score(reading, title, response), response.cost_part_usd
        if reading is not cost or result.value is not None or part is None:
            return result
        return replace(result, floor=part, note=f"at least US$ {part:,.4g}: the rest has no price")

    return Metric(name, title, definition, of, higher_is_better, unit, within=(0.0, inf), cost=True)


METRICS = (
    _metric(
        "latency",
        "Latency",
        "s",
        latency,
        "Seconds from the question to the finished report (ADRA §3.4). Undefined when it was not recorded.",
    ),
    _metric(
        "tokens",
        "Report tokens",
        "tokens",
        tokens,
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
        run_tokens,
        "The tokens of all calls that made the report, questions and replies, of which the length of the report "
        "(ADRA §3.4) is a part. The count is the one that came with the response. Undefined when none came.",
    ),
    _metric(
        "cost",
        "Cost",
        "US$",
        cost,
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
