"""Which editor and which summary belong to which kind: the one table of the page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from annotator.domain.kinds.artifact import Document, Kind
from annotator.gui.forms.checklist import PointEditor, shares_told
from annotator.gui.forms.diagnostics import StatementEditor, balance_told
from annotator.gui.forms.evidence import ReferenceEditor
from annotator.gui.forms.insights import InsightEditor
from annotator.gui.forms.nuggets import NuggetEditor, importance_told
from annotator.gui.forms.plan import SubtaskEditor
from annotator.gui.forms.query import WordingEditor
from annotator.gui.forms.rubric import CriterionEditor, weights_told
from annotator.gui.forms.selection import DimensionEditor, mean_told
from annotator.gui.forms.unit_editor import UnitEditor


def _nothing(_: Document[Any]) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Editing:
    """How a kind is edited, and what is told of the whole beside the number of its units."""

    editor: type[UnitEditor]
    told: Callable[[Any], str] = _nothing


EDITING: dict[Kind, Editing] = {
    Kind.QUERY: Editing(WordingEditor),
    Kind.INSIGHTS: Editing(InsightEditor),
    Kind.PLAN: Editing(SubtaskEditor),
    Kind.EVIDENCE: Editing(ReferenceEditor),
    Kind.DIAGNOSTICS: Editing(StatementEditor, balance_told),
    Kind.RUBRIC: Editing(CriterionEditor, weights_told),
    Kind.CHECKLIST: Editing(PointEditor, shares_told),
    Kind.NUGGETS: Editing(NuggetEditor, importance_told),
    Kind.SELECTION: Editing(DimensionEditor, mean_told),
}
