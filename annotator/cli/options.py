"""Options shared by commands that ask models."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from annotator.cli.saying import opened

Judge = Annotated[str, typer.Option("--judge", help="The judge's name")]
OfJudge = Annotated[str, typer.Option("--judge", help="Only this judge")]
Protocol = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="What is judged; by default what a judge or people judged here, or what there is gold for",
        show_default=False,
    ),
]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only this system; repeatable")]
Items = Annotated[list[str] | None, typer.Option("--item", help="Only this item, by key; repeatable")]
KeyEnv = Annotated[str, typer.Option(help="Environment variable that holds the endpoint's key")]
Concurrency = Annotated[int, typer.Option(min=1, max=512, help="Concurrent calls")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Timeout of one call, in seconds")]
Budget = Annotated[
    float | None, typer.Option(min=0, help="Budget in US dollars; every reply gets a token cap")
]
RequestsPerMinute = Annotated[
    float | None, typer.Option("--rpm", min=0.1, help="Rate limit: calls per minute")
]
TokensPerMinute = Annotated[float | None, typer.Option("--tpm", min=1, help="Rate limit: tokens per minute")]
InputPrice = Annotated[
    float | None, typer.Option(min=0, help="US dollars per million tokens in; by default as listed")
]
OutputPrice = Annotated[float | None, typer.Option(min=0, help="US dollars per million tokens out")]
CachedPrice = Annotated[float | None, typer.Option(min=0, help="US dollars per million cached tokens in")]
Together = Annotated[
    int,
    typer.Option(
        min=0,
        max=100,
        help="Units per call, shuffled; 0 as the judge is set, any other number is a separate judge",
    ),
]
Card = Annotated[
    Path | None,
    typer.Option(help="Validity card: no call is made unless the judge matches it", show_default=False),
]
Trials = Annotated[int, typer.Option(min=1, max=100, help="Trials per unit")]
Batch = Annotated[
    bool,
    typer.Option("--batch", help="Use the provider's batch API: answers within a day, usually at half price"),
]


class NamingLayouts(TyperCommand):
    """A command whose help names benchmarks' layouts, which are loaded when the help is shown."""

    def format_help(self, *where: Any) -> None:
        """Put the names into the places that the help has for them."""
        from annotator.exchange.formats.layouts import LAYOUTS, of_labels

        names = {
            "layouts": " or ".join(LAYOUTS),
            "layouts_listed": ", ".join(LAYOUTS),
            "label_layouts": " or ".join(of_labels()),
            "label_files": " or ".join(f"{title}'s ({one.example} …)" for title, one in of_labels().values()),
        }
        for one in self.params:
            if isinstance(one, TyperOption | TyperArgument) and one.help:
                one.help = one.help.format(**names)
        super().format_help(*where)


def protocol_of(file: Path, named: str, set_name: str = "") -> str:
    """The protocol that is named, else that of the validation set, else the one that the project goes by."""
    if named:
        return named
    from annotator.actions.labelling import label_offers

    with opened(file, readonly=True) as project:
        if set_name:
            from annotator.actions.sets import validation_sets

            return validation_sets.named(project, set_name).protocol
        return label_offers.usual(project)


def reach(systems: list[str] | None, items: list[str] | None) -> dict[str, Any]:
    """Whose reports on what an order is about; of no names, all."""
    return {"systems": tuple(systems or ()), "items": tuple(items or ())}


def how(
    concurrency: int, timeout: float, budget: float | None, rpm: float | None, tpm: float | None
) -> dict[str, Any]:
    """How an order is run, beside what it is."""
    return {
        "concurrency": concurrency,
        "timeout_s": timeout,
        "budget_usd": budget,
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
    }
