"""What is asked on another thread; a refusal comes back as an answer, for the place where it belongs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotator.actions.project.file import Project
from annotator.actions.results import result_items, results_behind
from annotator.actions.results.result_sheets import Choice, Sheet, Source
from annotator.actions.results.results_behind import Behind
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import Shown, View
from annotator.actions.validation import validation_behind
from annotator.actions.validation.validation_behind import Held
from annotator.domain.texts.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a view cannot be shown by these choices, with what can be chosen in their place."""

    view: str
    refusal: Refusal
    choices: tuple[Choice, ...]
    chosen: Mapping[str, str]


def shown(
    project: Project, among: tuple[View, ...], name: str, chosen: Mapping[str, str], kept: Any
) -> Shown | Refused:
    """A view with its choices."""
    try:
        return result_views.show(project, name, chosen, kept, among)
    except Refusal as refusal:
        return refused(project, among, name, chosen, refusal)


def refused(
    project: Project, among: tuple[View, ...], name: str, chosen: Mapping[str, str], refusal: Refusal
) -> Refused:
    """The refusal with what is offered all the same; nothing where that is refused, too."""
    try:
        return Refused(name, refusal, *result_views.offered(project, name, chosen, among))
    except Refusal:
        return Refused(name, refusal, (), {})


def items(project: Project, source: Source) -> Sheet | Refusal:
    """The items behind a figure, or the units behind one of validation."""
    try:
        if isinstance(source, Held):
            return validation_behind.units(project, source)
        return result_items.behind(project, source)
    except Refusal as refusal:
        return refusal


def judgements(project: Project, source: Source) -> list[Behind] | Refusal:
    """The judgements behind a line."""
    try:
        return results_behind.of_source(project, source)
    except Refusal as refusal:
        return refusal
