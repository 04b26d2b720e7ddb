"""Tables of labels for the small project, and what becomes of them."""

import csv
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.imports import label_files
from annotator.actions.imports.label_files import LabelImportOptions, LabelImportPreview
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import JUDGEMENT
from tests.projects.small_projects import CRITERIA, small_project
from tests.storage import sql

FIRST, SECOND, THIRD = (text for text, _ in CRITERIA)
ANN = "R2"
TOLD = LabelImportOptions({"Ann": ANN})


def project_of_two(folder: Path) -> Project:
    """Two items with three criteria, Alpha's and Beta's reports on both, a coordinator and R2."""
    project = small_project(folder)
    people.add_person(project, "Ann Other")
    return project


def written(folder: Path, *rows: dict[str, Any], name: str = "labels.csv") -> Path:
    """A table of labels; what a row does not say is Ann's yes to the first criterion of Alpha's report on item 1."""
    usual = {"item": "1", "system": "Alpha", "unit": FIRST, "rater": "Ann", "value": "yes"}
    full = [usual | row for row in rows]
    names = list(dict.fromkeys(name for row in full for name in row))
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(full)
    return folder / name


def every(value: str = "yes", **more: str) -> list[dict[str, Any]]:
    return [
        {"item": item, "system": system, "unit": unit, "value": value, **more}
        for item in "12"
        for system in ("Alpha", "Beta")
        for unit in (FIRST, SECOND, THIRD)
    ]


def take(project: Project, path: Path, options: LabelImportOptions = TOLD) -> LabelImportPreview:
    return label_files.run(project, [path], options)[1]


def look(project: Project, path: Path, options: LabelImportOptions = TOLD) -> LabelImportPreview:
    return label_files.preview(project, [path], options)


def refused(project: Project, path: Path, options: LabelImportOptions = TOLD) -> str:
    """Why nothing was imported; nothing was."""
    before = project.path.read_bytes()
    with pytest.raises(Refusal, match="Nothing was imported") as caught:
        label_files.run(project, [path], options)
    assert project.path.read_bytes() == before
    return caught.value.happened


def stored(project: Project) -> list[dict[str, Any]]:
    with project.store.read() as db:
        return [dict(row) for row in db.execute(select(JUDGEMENT).order_by(JUDGEMENT.c.id)).mappings()]


def ann(project: Project) -> None:
    project.work_as(people.known(project, ANN))


def me(project: Project) -> None:
    project.work_as(people.known(project, "R1"))


def report_of(project: Project, system: str = "Alpha") -> str:
    question = "SELECT r.id FROM response r JOIN system s ON s.id = r.system_id WHERE s.name = ? ORDER BY r.item_id = ?"
    return str(sql.first(project, question, [system, items.ids(project)[1]])[0])


def unit_of(project: Project, response_id: str, words: str = FIRST) -> str:
    sheet = labels.sheet(project, response_id)
    return next(unit.id for unit in sheet.units if unit.text == words)


def ann_says(project: Project, value: str, **more: Any) -> str:
    """Ann labels the first criterion of Alpha's report on item 1 herself; the unit's id."""
    ann(project)
    response_id = report_of(project)
    unit_id = unit_of(project, response_id)
    labels.set_label(project, response_id, unit_id, value)
    if more:
        labels.set_note(project, response_id, unit_id, more["note"])
    me(project)
    return unit_id
