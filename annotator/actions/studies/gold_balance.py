"""How the gold itself is made: how many statements are true, and how long its plans are (ADRA, appendix H.1)."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores
from annotator.actions.results.response_scores import ItemName
from annotator.actions.results.result_sheets import (
    Choice,
    Line,
    Sheet,
    columns,
    count,
    figure,
    in_words,
    missing,
    text,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Diagnostics
from annotator.domain.kinds.plan import Plan
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.adra.balance import Balance, balance, mean_plan_length


@dataclass(frozen=True, slots=True)
class Report:
    """The settled diagnostics and plans by item, the share of true statements, and the mean length of plans."""

    items: Mapping[str, ItemName]
    statements: Mapping[str, int]
    subtasks: Mapping[str, int]
    balance: Balance
    plan_length: Estimate


def choices(_project: Project) -> tuple[Choice, ...]:
    """There is nothing to choose."""
    return ()


def report(project: Project) -> Report:
    """Of items in use, the artifacts that reports are judged by."""
    items = response_scores.items_named(project)
    with project.store.read() as db:
        found = {
            kind: {
                row.item_id: artifact_of(row).document
                for row in annotating.judged_rows(db, kind, list(items)).values()
            }
            for kind in (Kind.DIAGNOSTICS, Kind.PLAN)
        }
    diagnostics = {i: one for i, one in found[Kind.DIAGNOSTICS].items() if isinstance(one, Diagnostics)}
    plans = {i: one for i, one in found[Kind.PLAN].items() if isinstance(one, Plan)}
    return Report(
        {i: name for i, name in items.items() if i in diagnostics or i in plans},
        {i: len(one.units) for i, one in diagnostics.items()},
        {i: len(one.units) for i, one in plans.items()},
        balance(diagnostics),
        mean_plan_length(plans),
    )


def sheets(found: Report) -> tuple[Sheet, ...]:
    """A row for each item with gold statements or a gold plan."""
    if not found.items:
        return ()
    heads = columns(
        "Item", "Question", ("Statements", "Of the settled diagnostics"), ("True", "Share of true statements"),
        ("Sub-tasks", "Of the settled plan"),
    )  # fmt: skip
    lines = []
    for item_id, name in found.items.items():
        own = found.balance.of_item.get(item_id)
        cells = (
            text(name.key), text(name.question, tip=name.question), count(found.statements.get(item_id)),
            figure(own) if own else missing("No diagnostics"), count(found.subtasks.get(item_id)),
        )  # fmt: skip
        lines.append(Line(cells, item_id=item_id, kind=Kind.DIAGNOSTICS.value))
    overall, length = found.balance.overall, found.plan_length
    told = (
        f"True statements, over all: {in_words(overall)} of {overall.n:,} (the paper's: 0.647 of 3,400).",
        f"Mean plan length: {in_words(length)} over {length.n:,} items (the paper's: 9.01).",
    )
    return (Sheet("Gold", heads, tuple(lines), told),)
