"""Papers collected from arXiv as content to import: built from a folder, by rules, without asking anybody."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

from annotator.actions.project.bulk import Progress
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints import building
from annotator.exchange.eprints.rules import Rules
from annotator.exchange.formats import layouts
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.table_files import read_table

__all__ = ["Rules", "read", "with_authors"]


def read(paths: Sequence[Path], rules: Rules, tell: Progress) -> tuple[Bundle, list[Problem]]:
    """The papers of one folder that the rules keep, with what became of the others."""
    if len(paths) != 1 or not paths[0].is_dir():
        raise Refusal("Collected papers come from one folder.", "Choose the folder that was collected.")
    funnel = building.build(paths[0], rules, tell)
    made = layouts.of_papers().of_papers
    assert made is not None
    bundle, problems = made(funnel.kept)
    keys = {item.id: item.key for item in bundle.items}
    shown = {keys[one.item_id]: one.text for one in bundle.responses if one.mode == EXEMPLAR}
    told = {name: value for name, value in asdict(rules).items() if isinstance(value, int)}
    bundle.funnel = replace(funnel, exemplars=shown, rules=told)
    return bundle, problems


def with_authors(rules: Rules, path: Path, least_h: int) -> Rules:
    """Rules that also ask for an author's h-index, by a table with the columns author and h."""
    rows = read_table(path, ("author", "h")).rows
    known = {row["author"].casefold(): int(row["h"]) for row in rows if row.get("h", "").isdecimal()}
    return replace(rules, least_h=least_h, h_indices=known)
