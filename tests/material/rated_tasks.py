"""An English and a Chinese task with a checklist, rated reports of two systems, and continuations of a third."""

from pathlib import Path

from sqlalchemy import update

from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.project.file import Project
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.material.item import CONTINUATION
from annotator.storage.tables import RESPONSE
from tests.projects.small_projects import add_report, project_with, seal, submit_labels

NAME = "arena.checklist"
POINTS = Checklist(units=tuple(CheckPoint(text=f"Point {one}?", share=one) for one in (0.5, 0.3, 0.2)))
# Ratings of the three points: of Alpha in both languages, of Beta in English alone.
RATED = {("Alpha", "en"): (8, 6, 1), ("Alpha", "zh"): (5, 5, 0), ("Beta", "en"): (2, 0, 10)}
TEXT = "It is so (https://example.org/a), and so (https://example.org/b); again https://example.org/a."


def rated_tasks(folder: Path) -> Project:
    """The project, with one person's ratings, and what a third system wrote after the first half of each task."""
    made = project_with(folder, 0)
    for language in ("en", "zh"):
        item_id = items.add(
            made, f"What is asked in {language}, and why is it asked?", language=language
        ).subject
        seal(made, item_id, POINTS)
        for system in ("Alpha", "Beta"):
            if (system, language) not in RATED:
                continue
            response_id = add_report(made, item_id, system, TEXT)
            with made.store.write() as db:
                db.execute(update(RESPONSE).where(RESPONSE.c.id == response_id).values(tokens=1000))
            sheet = labels.sheet(made, response_id, NAME)
            units = [unit.id for group in sheet.groups for unit in group.units]
            for unit, rating in zip(units, RATED[system, language], strict=True):
                labels.set_label(made, response_id, unit, str(rating), protocol=NAME)
        add_report(made, item_id, "Alpha again", "Nobody knows.", CONTINUATION)
    submit_labels(made)
    return made
