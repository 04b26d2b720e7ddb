"""Qt model of a plan: items down, stages across, aliases in the cells."""

from collections.abc import Iterable, Mapping, Sequence

from annotator.actions.assignments.planning import PlannedStage
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.texts.ordering import natural
from annotator.gui.tables.cells import Column

AGAIN = "Repeat"
# An item's key, and who is on each of its stages.
ItemPlan = tuple[str, Mapping[str, PlannedStage]]


def item_plans(lines: Iterable[PlannedStage]) -> list[ItemPlan]:
    """The lines of a plan item by item, in their order."""
    found: dict[str, tuple[str, dict[str, PlannedStage]]] = {}
    for line in lines:
        found.setdefault(line.item_id, (line.item_key, {}))[1][_stage(line)] = line
    return list(found.values())


def columns(
    lines: Iterable[PlannedStage], aliases: Mapping[str, str], wanted: int
) -> Sequence[Column[ItemPlan]]:
    """The stages of these lines; a cell with fewer than the `wanted` people carries a mark and says so."""
    there = set(map(_stage, lines))
    stages = [name for name in (*(stage.value for stage in Stage), AGAIN) if name in there]
    return (
        Column("Item", lambda plan: plan[0], tip=lambda _: ""),
        *(_column(name, aliases, wanted) for name in stages),
    )


def _column(name: str, aliases: Mapping[str, str], wanted: int) -> Column[ItemPlan]:
    def people(ids: Iterable[str]) -> str:
        return ", ".join(sorted((aliases.get(person, "?") for person in ids), key=natural))

    def words(plan: ItemPlan) -> str:
        line = plan[1].get(name)
        if line is None:
            return "–"
        return f"{people(line.people)} and nobody else" if _short(line, wanted) else people(line.people)

    def tip(plan: ItemPlan) -> str:
        line = plan[1].get(name)
        if line is None:
            return ""
        pilot = "A pilot item, assigned to everyone. " if line.purpose is Purpose.PILOT else ""
        return f"{pilot}{f'New: {people(line.new)}.' if line.new else 'All of them have it already.'}"

    def look(plan: ItemPlan) -> tuple[str, str] | None:
        line = plan[1].get(name)
        if line is not None and _short(line, wanted):
            return "warning", "state-disagree"
        return ("", "text-muted") if line is not None and not line.new else None

    return Column(name.capitalize(), words, tip=tip, look=look)


def _short(line: PlannedStage, wanted: int) -> bool:
    shared = line.trial == 1 and line.stage is not Stage.ADJUDICATION
    return shared and len(line.people) < wanted


def _stage(line: PlannedStage) -> str:
    return AGAIN if line.trial > 1 else line.stage.value
