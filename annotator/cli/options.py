"""What commands on models are told: options that several of them share, in the same words everywhere."""

from pathlib import Path
from typing import Annotated, Any

import typer

Judge = Annotated[str, typer.Option("--judge", help="The judge's name")]
OfJudge = Annotated[str, typer.Option("--judge", help="Only those of this judge")]
Protocol = Annotated[str, typer.Option(help="What is judged")]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only this system; may be given again")]
Items = Annotated[
    list[str] | None, typer.Option("--item", help="Only the item with this key; may be given again")
]
KeyEnv = Annotated[str, typer.Option(help="Environment variable that holds the endpoint's key")]
Concurrency = Annotated[int, typer.Option(min=1, max=512, help="Calls under way at once")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that one call may take")]
Budget = Annotated[
    float | None, typer.Option(min=0, help="US dollars this may cost; every reply gets a token cap")
]
RequestsPerMinute = Annotated[float | None, typer.Option("--rpm", min=0.1, help="Most calls in a minute")]
TokensPerMinute = Annotated[float | None, typer.Option("--tpm", min=1, help="Most tokens in a minute")]
Together = Annotated[
    int,
    typer.Option(
        min=1, max=100, help="Units asked in one call, shuffled; more than one makes a judge of its own"
    ),
]
Card = Annotated[
    Path | None,
    typer.Option(help="A judge's validity card: no call is made unless it is that judge", show_default=False),
]
Trials = Annotated[int, typer.Option(min=1, max=100, help="How often each unit is asked")]
Batch = Annotated[
    bool, typer.Option("--batch", help="By the provider's batches: within a day, mostly at half price")
]


def reach(systems: list[str] | None, items: list[str] | None) -> dict[str, Any]:
    """Whose reports on what an order is about; of no names, all."""
    return {"systems": tuple(systems or ()), "items": tuple(items or ())}


def how(
    concurrency: int, timeout: float, budget: float | None, rpm: float | None, tpm: float | None
) -> dict[str, Any]:
    """How an order is carried out, beside what it is."""
    return {
        "concurrency": concurrency,
        "timeout_s": timeout,
        "budget_usd": budget,
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
    }
