"""Collecting papers from arXiv into a folder: whatever comes is kept, and nothing is asked twice."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from annotator.actions.project.bulk import Progress
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints.collecting import (
    GAP_S,
    Collected,
    CollectionQuery,
    Collector,
    checked_categories,
    polite_fetcher,
)
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.eprints.rules import Rules
from annotator.exchange.pages.manners import OneTurn


def query(categories: Sequence[str], first: str, last: str, *, titles: bool = False) -> CollectionQuery:
    """What is asked for; Refusal for days that are none or in the wrong order."""
    try:
        begin, end = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        raise Refusal("These are no days.", "Write them as 2025-04-08.") from None
    if end < begin:
        raise Refusal("The last day lies before the first.", "Exchange them.")
    return CollectionQuery(checked_categories(categories), begin, end, titles)


async def collect(folder: Path, wanted: CollectionQuery, rules: Rules, tell: Progress) -> Collected:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(
            f"“{folder.name}” cannot be made: {error.strerror}.", "Choose another folder."
        ) from None
    async with polite_fetcher(OneTurn(at_once=1, pause_s=GAP_S)) as fetcher:
        return await Collector(Collection.at(folder), fetcher, tell).collect(wanted, rules)


def words(found: Collected) -> list[str]:
    return [
        f"{found.candidates:,} listed, {found.fitting:,} within the rules, {found.eprints:,} with an e-print; "
        f"{counted(found.asked, 'request')} sent.",
        *(f"Missing: {one}" for one in found.missing),
    ]
