"""The form of each kind: the standard one, or the kind's own."""

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.weights import USUAL, Weights
from annotator.gui.forms.evidence import ReferenceEditor
from annotator.gui.forms.plan import SubtaskEditor
from annotator.gui.forms.rubric import CriterionEditor
from annotator.gui.forms.selection import DimensionEditor
from annotator.gui.forms.tasks import TaskEditor
from annotator.gui.forms.unit_editor import UnitEditor

OWN: dict[Kind, type[UnitEditor]] = {
    Kind.PLAN: SubtaskEditor,
    Kind.EVIDENCE: ReferenceEditor,
    Kind.RUBRIC: CriterionEditor,
    Kind.SELECTION: DimensionEditor,
    Kind.TASKS: TaskEditor,
}


def editor(kind: Kind, weights: Weights = USUAL) -> UnitEditor:
    """A new editor of a unit of the kind, in a project that allows these weights."""
    return OWN.get(kind, UnitEditor)(KINDS[kind].under(weights))
