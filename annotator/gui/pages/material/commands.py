"""Which command of the command line each run of this page is: the window and a terminal do the very same."""

from pathlib import Path

from annotator.actions.material.responding import MANNERS
from annotator.actions.runs.judge_cases import Order


def respond(file: Path, order: Order, judge: str = "") -> list[str]:
    """Have reports written; without a judge the system's writer of last time goes on."""
    how = MANNERS[order.protocol]
    words = ["respond", str(file), "--system", order.systems[0], "--mode", how.mode.replace(" ", "-")]
    words += ["--judge", judge] if judge else []
    words += ["--plan"] if how.planned else []
    words += ["--trials", str(order.trials), "--concurrency", str(order.concurrency)]
    return words + _scope(order)


def draw(file: Path, order: Order) -> list[str]:
    """Draw parts from reports, or insights from sources."""
    words = ["judge", "extract", str(file), "--judge", order.judge, "--extraction", order.protocol]
    words += ["--concurrency", str(order.concurrency)]
    for system in order.systems:
        words += ["--system", system]
    return words + _scope(order)


def fetch(file: Path, *, allow_private: bool, reader: str, refresh: bool) -> list[str]:
    """Fetch the cited pages that are lacking, or with `refresh` all of them."""
    words = ["sources", "fetch", str(file)]
    words += ["--allow-private"] if allow_private else []
    words += ["--reader", reader] if reader else []
    return words + (["--refresh"] if refresh else [])


def take_in(file: Path, folder: Path) -> list[str]:
    """Take cited pages from a folder."""
    return ["sources", "import", str(file), str(folder)]


def _scope(order: Order) -> list[str]:
    words = []
    for key in order.items:
        words += ["--item", key]
    return words + (["--budget", str(order.budget_usd)] if order.budget_usd else [])
