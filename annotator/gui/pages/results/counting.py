"""What the page asks on another thread; a refusal comes back as an answer, for the place where it belongs."""

from collections.abc import Mapping
from typing import Any

from annotator.actions import result_items, result_views, results_behind
from annotator.actions.project import Project
from annotator.actions.result_sheets import Sheet, Source
from annotator.actions.result_views import Shown
from annotator.actions.results_behind import Behind
from annotator.domain.refusal import Refusal


def shown(project: Project, name: str, chosen: Mapping[str, str], kept: Any) -> Shown | Refusal:
    """A view with its choices."""
    try:
        return result_views.show(project, name, chosen, kept)
    except Refusal as refusal:
        return refusal


def items(project: Project, source: Source) -> Sheet | Refusal:
    """The items behind a figure."""
    try:
        return result_items.behind(project, source)
    except Refusal as refusal:
        return refusal


def judgements(project: Project, source: Source) -> list[Behind] | Refusal:
    """The judgements behind a line."""
    try:
        return results_behind.of_source(project, source)
    except Refusal as refusal:
        return refusal
