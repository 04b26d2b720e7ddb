"""Progress of a person's documents on an item, and where to resume."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotator.actions.authoring import annotating
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.documents import WRITTEN

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class WorkStatus:
    """A status in a word, with icon, colour and number of units."""

    word: str
    icon: str
    colour: str
    units: int


NONE = WorkStatus("not begun", "", "", 0)
_OF_STATE = {
    State.DRAFT: ("draft", "author", "state-incomplete"),
    State.SEALED: ("sealed", "lock", "state-agreed"),
    State.CONSENSUS: ("consensus", "check", "state-agreed"),
}


def standing_of(artifact: Artifact) -> WorkStatus:
    """How far an artifact is; what nobody of the project wrote was imported."""
    if not artifact.author_id and artifact.state is not State.CONSENSUS:
        return WorkStatus("imported", "import", "state-missing", len(artifact.document.units))
    return WorkStatus(*_OF_STATE[artifact.state], len(artifact.document.units))


def standings(artifacts: Sequence[Artifact]) -> dict[Kind, WorkStatus]:
    """How far each kind is: the first artifact of each counts, which is the person's own if there is one."""
    return {artifact.kind: standing_of(artifact) for artifact in reversed(artifacts)}


def next_open(project: Project, item_id: str, kind: Kind) -> tuple[str, Kind] | None:
    """Where the person's work goes on after a kind of an item is done: item and kind, or None when nowhere.

    Another begun kind of the same item comes first, then the next item that is not submitted: the same kind
    there, or a begun one where that is submitted already.
    """
    drafts = _kinds(project, item_id, State.DRAFT)
    for other in _after(WRITTEN, kind):
        if other in drafts:
            return item_id, other
    states = ("in progress", "new")
    waiting = {found for state in states for found in items.ids(project, items.Filter(state=state))}
    goal = next((found for found in _after(items.ids(project), item_id) if found in waiting), "")
    if not goal:
        return None
    begun = _kinds(project, goal, State.DRAFT)
    submitted = kind in _kinds(project, goal, State.SEALED)
    return goal, min(begun, key=WRITTEN.index) if submitted and begun else kind


def _kinds(project: Project, item_id: str, state: State) -> set[Kind]:
    """The kinds written here of which the person has an artifact in that state."""
    found = annotating.artifacts_of(project, item_id)
    mine = {
        artifact.kind for artifact in found if artifact.author_id == project.by and artifact.state is state
    }
    return mine & set(WRITTEN)


def _after(sequence: Sequence[T], present: T) -> Iterator[T]:
    """What follows the present one, going round to just before it."""
    place = sequence.index(present)
    yield from sequence[place + 1 :]
    yield from sequence[:place]
