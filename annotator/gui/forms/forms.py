"""Which form a kind is written in: the standard one, but for those that have their own."""

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.gui.forms.evidence import ReferenceEditor
from annotator.gui.forms.plan import SubtaskEditor
from annotator.gui.forms.rubric import CriterionEditor
from annotator.gui.forms.unit_editor import UnitEditor

OWN: dict[Kind, type[UnitEditor]] = {
    Kind.PLAN: SubtaskEditor,
    Kind.EVIDENCE: ReferenceEditor,
    Kind.RUBRIC: CriterionEditor,
}


def editor(kind: Kind) -> UnitEditor:
    """A new editor of a unit of the kind."""
    return OWN.get(kind, UnitEditor)(KINDS[kind])
