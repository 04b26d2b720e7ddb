"""Rubric sets as files: criteria with their weights in CSV or JSON, for people to weigh, and to be kept again.

ResearcherBench (Table 10) compares the experts' weights with those that people gave to criteria of a model.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from annotator import files
from annotator.actions.items import named_rubrics
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.studies import rubric_sets
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.reading import read_json
from annotator.exchange.table_files import read_table

COLUMNS = ITEM, CRITERION, WEIGHT = "item", "criterion", "weight"
SHAPE = (
    "Give a table with the columns item, criterion and weight, or JSON: item key → list of {text, weight}."
)


def write(project: Project, name: str, path: Path) -> int:
    """Write a set, as JSON where the file is named so, else as CSV; how many criteria. Refusal for an unknown set."""
    from annotator.exchange.formats.label_files import guarded
    from annotator.exchange.release.tables_csv import csv

    people.refuse_others(project, "can save a rubric set")
    there = rubric_sets.sets(project)
    if name not in there:
        raise Refusal(f"There is no rubric set “{name}”.", f"There are: {', '.join(there)}.")
    tree = {
        key: [{"text": unit.text, "weight": unit.weight} for unit in rubric.units]
        for key, rubric in there[name].items()
    }
    rows = [
        {ITEM: guarded(key), CRITERION: guarded(unit["text"]), WEIGHT: unit["weight"]}
        for key, units in tree.items()
        for unit in units
    ]
    as_json = path.suffix.lower() == ".json"
    files.save(path, json.dumps(tree, ensure_ascii=False, indent=2).encode() if as_json else csv(rows))
    return len(rows)


def keep(project: Project, name: str, path: Path) -> Change:
    """Keep what a file says as a named set; Refusal where it says no rubrics."""
    return named_rubrics.keep(project, name, read(path))


def read(path: Path) -> dict[str, Rubric]:
    """The rubrics of a file, by item's key."""
    try:
        tree = read_json(path) if path.suffix.lower() == ".json" else None
        units_of = tree if isinstance(tree, dict) else _table(path)
        found = {str(key): Rubric.model_validate({"units": units}) for key, units in units_of.items()}
    except (ValueError, ValidationError) as error:
        words = str(error).splitlines()[0]
        raise Refusal(f"“{path.name}” cannot be read as rubrics: {words}.", SHAPE) from None
    if not any(rubric.units for rubric in found.values()):
        raise Refusal(f"“{path.name}” holds no criterion.", SHAPE)
    return found


def _table(path: Path) -> Mapping[str, list[dict[str, str | float]]]:
    from annotator.exchange.formats.label_files import unguarded

    found: dict[str, list[dict[str, str | float]]] = {}
    for row in read_table(path, COLUMNS).rows:
        try:
            weight = float(row[WEIGHT])
        except ValueError:
            raise ValueError(f"“{row[WEIGHT]}” is no weight") from None
        found.setdefault(unguarded(row[ITEM]), []).append(
            {"text": unguarded(row[CRITERION]), "weight": weight}
        )
    return found
