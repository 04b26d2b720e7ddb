"""Assignments of the person working: stages and due dates, as pages show them."""

from collections.abc import Collection
from datetime import datetime

from annotator.actions.assignments import assignments
from annotator.domain.experts.assignment import Stage
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.due import due_words

# The stages in which documents are written.
AUTHORING = tuple(stage for stage in Stage if stage not in (Stage.LABELLING, Stage.ADJUDICATION))


def due_of_items(desk: Desk, stages: Collection[Stage]) -> dict[str, str]:
    """Item by item, by when the person's work of these stages is due, in words; the first date of what is open."""
    first: dict[str, datetime] = {}
    me = desk.project.by
    for one in (desk.ask(assignments.of_person, me) or []) if me else []:
        if one.stage in stages and one.due and one.submitted_at is None and one.trial == 1:
            first[one.item_id] = min(one.due, first.get(one.item_id, one.due))
    return {item_id: due_words(due) for item_id, due in first.items()}
