"""How a setting of a project is put back to what it was."""

from typing import Any

from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal


def restore(project: Project, _db: Connection, name: str, present: Any, goal: Any) -> None:
    """Give a setting its other value, unless somebody has chosen a third one since."""
    if project.get(name, present) != present:
        raise Refusal("That setting was changed since.", "Set it as you want it to be.")
    project.set(name, goal)
