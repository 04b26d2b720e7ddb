"""Partners: who answers the same stage of the same item, and whether that pair can be completed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from annotator.actions.labelling.board import AssignmentStatus
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.texts.ordering import natural
from annotator.gui.desk.naming import named


@dataclass(frozen=True, slots=True)
class Partners:
    """The others on the stage of an item. `alone`: there are none, though elsewhere two people do this stage.

    `incomplete`: they are alone, or some have handed in while others have not.
    """

    others: tuple[AssignmentStatus, ...]
    alone: bool
    incomplete: bool

    @property
    def explained(self) -> str:
        """The same in sentences."""
        if self.alone:
            return (
                "Nobody else is assigned to this stage of this item, so there is no pair and no agreement "
                "figure."
            )
        said = [f"{named(each.alias, each.person)}: {each.state}" for each in self.others]
        return "\n".join([*said, *(["One has handed in, another has not."] if self.incomplete else [])])


def partners(lines: Sequence[AssignmentStatus]) -> dict[str, Partners]:
    """Assignment by assignment, who else is on it; adjudications and repeats are nobody's pair."""
    groups: defaultdict[tuple[str, Stage], list[AssignmentStatus]] = defaultdict(list)
    for line in lines:
        if line.trial == 1 and line.stage is not Stage.ADJUDICATION:
            groups[line.item_id, line.stage].append(line)
    shared = {stage for (_, stage), group in groups.items() if len(group) > 1 and not _pilot(group)}
    found = {}
    for (_, stage), group in groups.items():
        alone = len(group) == 1 and stage in shared
        handed_in = {line.handed_in for line in group}
        group.sort(key=lambda line: natural(line.alias))
        for line in group:
            others = tuple(each for each in group if each is not line)
            found[line.assignment_id] = Partners(others, alone, alone or len(handed_in) > 1)
    return found


def _pilot(group: Sequence[AssignmentStatus]) -> bool:
    return any(line.purpose is Purpose.PILOT for line in group)
