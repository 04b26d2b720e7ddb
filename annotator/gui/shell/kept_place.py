"""The last place in each project, stored with the window's settings and not in the file."""

import json
from typing import Any

from PySide6.QtCore import QSettings

from annotator.actions.project.file import Project

Place = tuple[str, dict[str, Any]]


def keep(project: Project, page: str, place: dict[str, str]) -> None:
    """Remember the page and the place on it."""
    QSettings().setValue(_key(project), json.dumps([page, place]))


def kept(project: Project) -> Place | None:
    """The page and the place that were left last; None before the first time."""
    try:
        page, place = json.loads(str(QSettings().value(_key(project), "")))
    except ValueError:
        return None
    return str(page), dict(place)


def _key(project: Project) -> str:
    return f"places/{project.get('id')}/{project.by}"
