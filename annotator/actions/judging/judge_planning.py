"""Summary of an order while it is entered: whether it can run, and how large it is."""

from dataclasses import dataclass

from sqlalchemy import select

from annotator.actions.items import roles
from annotator.actions.judges import endpoint_memory, judges
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import EXTRACTIONS
from annotator.storage.tables import ITEM

_DASHES = ("–", "-", "..")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A summary of an order: its size in `words`, or why it cannot be run (`refused`)."""

    order: RunRequest
    words: str
    total: int = 0
    to_do: int = 0
    refused: bool = False


def look(project: Project, order: RunRequest) -> RunSummary:
    """What an order comes to; a refusal is told in words, since the order is not finished yet."""
    try:
        if order.judge:
            endpoint_memory.refuse_failed(project, judges.named(project, order.judge))
        if order.protocol in EXTRACTIONS:
            drawn = extracting.plan(project, order)
            return RunSummary(order, _drawn_words(drawn), drawn.total, drawn.to_do)
        found = judge_runs.plan(project, order)
        said = f"{found.words()} {roles.left_out(project).not_counted}".strip()
        return RunSummary(order, said, found.total, found.to_do)
    except Refusal as refusal:
        return RunSummary(order, f"{refusal.happened} {refusal.todo}".strip(), refused=True)


def keys_of(project: Project, words: str) -> tuple[str, ...]:
    """The keys that a person wrote: “1, 4, 7–9”; a stretch goes by the project's order. Nothing written means all.

    Refusal names the first that there is not.
    """
    question = select(ITEM.c.key).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        known = list(db.execute(question.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).scalars())
    chosen: dict[str, None] = {}
    for word in words.replace("，", ",").replace("、", ",").replace(";", ",").split(","):
        if word.strip():
            chosen |= dict.fromkeys(_stretch(word.strip(), known))
    return tuple(chosen)


def _stretch(word: str, known: list[str]) -> list[str]:
    if word in known:
        return [word]
    for dash in _DASHES:
        first, found, last = (part.strip() for part in word.partition(dash))
        if found and first in known and last in known and known.index(first) <= known.index(last):
            return known[known.index(first) : known.index(last) + 1]
    raise Refusal(f"There is no item “{word}”.", "Use keys from the Items page, such as 1, 4, 7–9.")


def _drawn_words(plan: extracting.ExtractionPlan) -> str:
    things = counted(plan.total, plan.things.removesuffix("s"))
    if not plan.total:
        return f"There are no {plan.things} to extract from yet."
    if not plan.to_do:
        return f"“{plan.judge}” has processed all {things}."
    return f"{plan.to_do:,} of {things} are not processed yet."
