"""How far from a sentence sources may stand that judges and people are asked about with it: one sentence, or more."""

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal

SETTING = "claim_window"
USUAL, WIDEST = 1, 5


def width(project: Project) -> int:
    return int(project.get(SETTING, USUAL))


def widen(project: Project, sentences: int) -> Change:
    """Ask about sources so many sentences away from now on; what was said of others stays."""
    people.refuse_others(project, "can decide how far away sources may stand")
    if not USUAL <= sentences <= WIDEST:
        raise Refusal(f"The window is {USUAL} to {WIDEST} sentences wide.", "Give a number between these.")
    before = width(project)
    with project.store.write() as db:
        project.set(SETTING, sentences)
        return record(project, db, Change("setting", SETTING, "set the window of sources", before, sentences))
