"""Which form a kind is written in: the standard one, but for those that have their own."""

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.weights import USUAL, Weights
from annotator.gui.forms.evidence import ReferenceEditor
from annotator.gui.forms.plan import SubtaskEditor
from annotator.gui.forms.rubric import CriterionEditor
from annotator.gui.forms.unit_editor import UnitEditor

OWN: dict[Kind, type[UnitEditor]] = {
    Kind.PLAN: SubtaskEditor,
    Kind.EVIDENCE: ReferenceEditor,
    Kind.RUBRIC: CriterionEditor,
}


def editor(kind: Kind, weights: Weights = USUAL) -> UnitEditor:
    """A new editor of a unit of the kind, in a project that allows these weights."""
    return OWN.get(kind, UnitEditor)(KINDS[kind].under(weights))
