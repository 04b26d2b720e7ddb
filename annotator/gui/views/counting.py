"""Queries on another thread; a refusal is returned as an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotator.actions.project.file import Project
from annotator.actions.results import result_items, results_behind
from annotator.actions.results.result_sheets import FigureSource, ResultSheet, ViewChoice
from annotator.actions.results.results_behind import JudgementBehind
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import CountedView, ResultView
from annotator.actions.validation import validation_behind
from annotator.actions.validation.validation_behind import HeldRater
from annotator.domain.texts.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Refused:
    """The reason why a view cannot be shown with these choices, and alternatives."""

    view: str
    refusal: Refusal
    choices: tuple[ViewChoice, ...]
    chosen: Mapping[str, str]


def shown(
    project: Project, among: tuple[ResultView, ...], name: str, chosen: Mapping[str, str], kept: Any
) -> CountedView | Refused:
    try:
        return result_views.show(project, name, chosen, kept, among)
    except Refusal as refusal:
        return refused(project, among, name, chosen, refusal)


def refused(
    project: Project, among: tuple[ResultView, ...], name: str, chosen: Mapping[str, str], refusal: Refusal
) -> Refused:
    """The refusal with what is offered all the same; nothing where that is refused, too."""
    try:
        return Refused(name, refusal, *result_views.offered(project, name, chosen, among))
    except Refusal:
        return Refused(name, refusal, (), {})


def items(project: Project, source: FigureSource) -> ResultSheet | Refusal:
    """The items behind a figure, or the units behind one of validation."""
    try:
        if isinstance(source, HeldRater):
            return validation_behind.units(project, source)
        return result_items.behind(project, source)
    except Refusal as refusal:
        return refusal


def judgements(project: Project, source: FigureSource) -> list[JudgementBehind] | Refusal:
    try:
        return results_behind.of_source(project, source)
    except Refusal as refusal:
        return refusal
