"""Work handed out for tests of the coordinator's page."""

from datetime import datetime

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from tests.projects import pairs_project as pairs


def handed_out(project: Project, *, due: datetime | None = None, stages=(Stage.RUBRIC,)) -> None:
    """Ada and Ben have the first two items, Cleo adjudicates them."""
    who = {name: pairs.person(project, name).id for name in pairs.ROLES}
    plan = AssignmentPlan(
        stages, 2, (who["Ada"], who["Ben"]), (who["Cleo"],), tuple(items.ids(project)[:2]), due
    )
    assignments.assign(project, plan)


def rows(page) -> list[tuple[str, str, str]]:
    return [(line.item_key, line.stage.value, line.alias) for line in page.board.model.rows]
