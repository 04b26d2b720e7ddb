"""The project that a package belongs to when it is opened on its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from annotator.actions.project.file import ORIGIN, settings_of
from annotator.exchange.parcels import packages


@dataclass(frozen=True, slots=True)
class ParcelOwner:
    """The project that returned work belongs to (None if unknown), and whether it was sent by one."""

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


def of_work(path: Path, among: Sequence[Path]) -> ParcelOwner:
    """Which of these projects returned work goes to, or else which it was sent from; Refusal when it is damaged."""
    package = packages.read_package(path, packages.WORK)
    facts = package.manifest
    for known in among:
        settings = settings_of(known)
        if settings.get("id") == facts.project_id:
            return ParcelOwner(package.name, known, str(settings.get("title") or known.stem))
    home = of_task(among, facts.project_id, facts.person_id)
    return ParcelOwner(package.name, home, sent_from_here=home is not None)
