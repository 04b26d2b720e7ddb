"""Composition of the gold: share of true statements, length of plans (ADRA, appendix H.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotator.actions.authoring import annotating, question_types
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores
from annotator.actions.results.response_scores import ItemName
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    QUESTION_COLUMN,
    ResultSheet,
    SheetLine,
    columns,
    count,
    figure,
    in_words,
    missing,
    share,
    text,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.diagnostics import Diagnostics, Statement
from annotator.domain.kinds.plan import Plan
from annotator.domain.texts.estimate import Estimate
from annotator.stats.intervals.student import mean_interval


@dataclass(frozen=True, slots=True)
class Balance:
    """The share of true statements, item by item and over all statements together."""

    of_item: Mapping[str, Estimate]
    overall: Estimate


@dataclass(frozen=True, slots=True)
class GoldBalanceReport:
    """Settled diagnostics and plans by item, share of true statements, mean length of plans."""

    questions: Mapping[str, ItemName]
    items: Mapping[str, ItemName]
    statements: Mapping[str, int]
    subtasks: Mapping[str, int]
    balance: Balance
    plan_length: Estimate
    definitions: Mapping[str, str] = field(default_factory=dict)


def report(project: Project) -> GoldBalanceReport:
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
    return GoldBalanceReport(
        items,
        {i: name for i, name in items.items() if i in diagnostics or i in plans},
        {i: len(one.units) for i, one in diagnostics.items()},
        {i: len(one.units) for i, one in plans.items()},
        balance(diagnostics),
        mean_plan_length(plans),
        {one.name: one.definition for one in question_types.types(project)},
    )


def sheets(found: GoldBalanceReport) -> tuple[ResultSheet, ...]:
    """A row for each item with gold statements or a gold plan; then how many items are of each type and subject."""
    if not found.items and not found.questions:
        return ()
    types = _filed(found.questions, "question_type", "Question type", found.definitions)
    subjects = _filed(found.questions, "subject", "Subject", {})
    return (*((_gold(found),) if found.items else ()), types, subjects)


def _filed(
    questions: Mapping[str, ItemName], by: str, title: str, definitions: Mapping[str, str]
) -> ResultSheet:
    """How many questions there are of each kind, the most first, with the first of each as an example.

    Kinds that are defined stand with what they are, those without a question too where any of them has one.
    """
    groups: dict[str, list[ItemName]] = {}
    for one in questions.values():
        groups.setdefault(str(getattr(one, by)), []).append(one)
    if groups.keys() & definitions.keys():
        groups |= {name: [] for name in definitions if name not in groups}
    heads = columns(
        (by, title),
        *([("definition", "Definition")] if definitions else []),
        ("questions", "Questions"),
        ("share", "Share", "Of all questions"),
        ("example", "Example"),
    )
    lines = [
        SheetLine((
            text(group or "(none)"),
            *([text(what, tip=what)] if definitions else []),
            count(len(of)), share(len(of) / len(questions)), text(example, tip=example),
        ))
        for group, of in sorted(groups.items(), key=lambda entry: (-len(entry[1]), entry[0]))
        for what, example in [(definitions.get(group, ""), of[0].question if of else "")]
    ]  # fmt: skip
    return ResultSheet(f"{by}s", f"{title}s", heads, tuple(lines))


def _gold(found: GoldBalanceReport) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, QUESTION_COLUMN, ("statements", "Statements", "Of the settled diagnostics"),
        ("true", "True", "Share of true statements"), ("subtasks", "Sub-tasks", "Of the settled plan"),
    )  # fmt: skip
    lines = []
    for item_id, name in found.items.items():
        own = found.balance.of_item.get(item_id)
        cells = (
            text(name.key), text(name.question, tip=name.question), count(found.statements.get(item_id)),
            figure(own) if own else missing("No diagnostics"), count(found.subtasks.get(item_id)),
        )  # fmt: skip
        lines.append(SheetLine(cells, item_id=item_id, kind=Kind.DIAGNOSTICS.value))
    overall, length = found.balance.overall, found.plan_length
    told = (
        f"True statements, over all: {in_words(overall)} of {overall.n:,} (the paper's: 0.647 of 3,400).",
        f"Mean plan length: {in_words(length)} over {length.n:,} items (the paper's: 9.01).",
    )
    return ResultSheet("gold", "Gold", heads, tuple(lines), told)


def balance(diagnostics: Mapping[str, Diagnostics]) -> Balance:
    """The share of true statements of each item, and of all statements pooled (2 200 of 3 400 in the paper).

    Statements whose label is not decided count as missing: the share is that of the others, its range theirs.
    """
    everything = [unit for document in diagnostics.values() for unit in document.units]
    return Balance(
        {item: _share(document.units) for item, document in diagnostics.items()}, _share(everything)
    )


def _share(units: Sequence[Statement]) -> Estimate:
    method = "true / statements with a label"
    true, n = sum(unit.label is True for unit in units), sum(unit.label is not None for unit in units)
    missing = len(units) - n
    floor, ceiling = (true / len(units), (true + missing) / len(units)) if units else (None, None)
    note = "" if n else "no statement has a label"
    return Estimate(
        true / n if n else None,
        n=n,
        missing=missing,
        floor=floor,
        ceiling=ceiling,
        method=method,
        note=note or (f"{missing:,} of {len(units):,} statements have no label" if missing else ""),
    )


def mean_plan_length(plans: Mapping[str, Plan]) -> Estimate:
    """The mean number of sub-tasks (9.01 in the paper) with Student's t interval over items."""
    return mean_interval([float(len(plan.units)) for plan in plans.values()])
