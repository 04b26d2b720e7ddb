"""To which project a package belongs that somebody opened by itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.actions.project.file import ORIGIN, settings_of
from annotator.exchange.parcels import packages


@dataclass(frozen=True, slots=True)
class Belonging:
    """Where returned work belongs: a project that is known here (None when none is), and whether one sent it."""

    name: str
    project: Path | None = None
    title: str = ""
    sent_from_here: bool = False


def of_task(among: Sequence[Path], project_id: str, person_id: str) -> Path | None:
    """The first of these projects that was made from a task of that project for that person."""
    for path in among:
        origin = settings_of(path).get(ORIGIN) or {}
        if (origin.get("project"), origin.get("person")) == (project_id, person_id):
            return path
    return None


def of_work(path: Path, among: Sequence[Path]) -> Belonging:
    """Which of these projects returned work goes to, or else which it was sent from; Refusal when it is damaged."""
    package = packages.read_package(path, packages.WORK)
    facts = package.manifest
    for known in among:
        settings = settings_of(known)
        if settings.get("id") == facts.project_id:
            return Belonging(package.name, known, str(settings.get("title") or known.stem))
    home = of_task(among, facts.project_id, facts.person_id)
    return Belonging(package.name, home, sent_from_here=home is not None)
