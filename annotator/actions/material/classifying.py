"""Type and subject of an item as a model drafted them, set once a person has confirmed them.

ResearcherBench (§3.1) has a model classify the questions collected, and people review what it said.
"""

from collections.abc import Mapping
from types import MappingProxyType

from annotator.actions.authoring import draft_provenance
from annotator.actions.items import items
from annotator.actions.material import drafting_by_model
from annotator.actions.material.drafting_by_model import GONE, Proposal
from annotator.actions.project.file import Project
from annotator.domain.material.extract import ExtractState
from annotator.domain.material.writer_aid import ItemClassification, ProposedType, WriterAid
from annotator.domain.texts.change import Change


def waiting(project: Project, item_id: str) -> Proposal | None:
    """The draft for an item that the person working has not dealt with."""
    return next(iter(drafting_by_model.proposals(project, item_id, WriterAid.CLASSIFICATION)), None)


def proposed(proposal: Proposal) -> ProposedType:
    """What a draft proposes; Refusal where it is of another kind."""
    if not isinstance(proposal.document, ItemClassification):
        raise GONE
    return proposal.document.units[0]


def confirm(project: Project, extract_id: str, fields: Mapping[str, str] = MappingProxyType({})) -> Change:
    """Give an item the type and the subject of a draft, or what `fields` say instead; the draft is done with.

    The history names the model. Refusal for anyone who may not change items, and for a draft that was dealt with.
    """
    with project.store.write() as db:
        proposal = drafting_by_model.mine(project, db, extract_id)
        drawn = proposed(proposal)
        if proposal.id not in {one.id for one in drafting_by_model.proposals(project, proposal.item_id)}:
            raise GONE
        # What a person takes back first is the item's new values.
        drafting_by_model.settle(project, extract_id, ExtractState.CONFIRMED, "confirm draft")
        values = {"question_type": drawn.question_type, "subject": drawn.subject, **fields}
        return items.change_all(project, {proposal.item_id: values}, draft_provenance.verb(proposal.source))
