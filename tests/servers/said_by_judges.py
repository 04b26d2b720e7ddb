"""What judges and people say of the small project, written straight into it."""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import insert

from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.domain.texts.canonical import derived_id, now
from annotator.storage.tables import JUDGEMENT
from tests.projects.small_projects import small_project

COVERAGE = "researcherbench.coverage"
WORDS = {"y": "yes", "n": "no"}


def two_judges(folder: Path) -> Project:
    """The small project with the judges “a” and “b”, who have said nothing."""
    project = small_project(folder)
    for name in ("a", "b"):
        judges.add(project, name, base_url="http://127.0.0.1:1/v1", model="m")
    return project


def places(project: Project, system: str = "Alpha") -> list[tuple[str, str, str]]:
    """(item, response, unit) of every criterion of a system's reports, in their order."""
    order = judge_cases.RunRequest("baseline", systems=(system,))
    return [(case.item.id, case.response.id, case.unit.id) for case in judge_cases.cases(project, order)]


def say(project: Project, judge: str, values: str, *, trial: int = 1, **more: str) -> None:
    """What a judge says of the criteria of Alpha's reports, one sign each: y, n, another value, or - for nothing."""
    rows = []
    for place, value in zip(places(project), values, strict=True):
        item, response, unit = place
        row = {
            "id": derived_id(judge, trial, response, unit), "protocol": COVERAGE, "item_id": item,
            "response_id": response, "unit_id": unit, "rater_kind": "judge",
            "rater_id": judges.named(project, judge).id, "trial": trial, "at": now(), "sha256": "h",
            "value": None if value == "-" else WORDS.get(value, value), "status": "invalid" if value == "-" else "ok",
            **more,
        }  # fmt: skip
        rows.append(row)
    with project.store.write() as db:
        db.execute(insert(JUDGEMENT), rows)


def label(project: Project, values: str) -> None:
    """What whoever works says of the same criteria, and “yes” of all others."""
    wanted = dict(zip(places(project), values, strict=True))
    said: Mapping[tuple[str, str, str], str] = {
        place: wanted.get(place, "y") for system in ("Alpha", "Beta") for place in places(project, system)
    }
    for (_, response, unit), value in said.items():
        labels.set_label(project, response, unit, WORDS.get(value, "unsure"))


def submit(project: Project) -> None:
    for item in items.ids(project):
        label_sealing.submit(project, item)
