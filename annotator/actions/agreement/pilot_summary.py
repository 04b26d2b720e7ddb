"""The summary of a pilot: how far people agreed, how long they took, what they remarked, what changed since."""

from collections import defaultdict
from collections.abc import Iterator
from statistics import median

import orjson
from sqlalchemy import select

from annotator.actions.agreement import agreement_figures, agreement_words
from annotator.actions.agreement.agreement_inputs import frozen
from annotator.actions.authoring import guidelines
from annotator.actions.labelling import board
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT, REVISION

MINUTE = 60


def is_handed_out(project: Project) -> bool:
    """Whether any pilot item was handed out that the person working may be told of."""
    return any(line.purpose is Purpose.PILOT for line in board.board(project))


def summary(project: Project) -> str:
    """Markdown: the pilot items, agreement by stage, time by stage, remarks, and the guidelines written since.

    Refusal for anyone who does not coordinate, and where no pilot was handed out.
    """
    people.refuse_others(project, "can summarize a pilot")
    lines = [line for line in board.board(project) if line.purpose is Purpose.PILOT]
    if not lines:
        raise Refusal("No pilot was handed out.", "Hand out pilot items on Team, or with assign --pilot.")
    keys = {line.item_id: line.item_key for line in lines}
    everyone = {line.alias for line in lines}
    done = sum(line.handed_in for line in lines)
    by = counted(len(everyone), "person", "people")
    head = f"{counted(len(keys), 'item')} ({', '.join(keys.values())}) by {by}; "
    parts = [
        f"# Pilot of {project.title}",
        f"{head}{done:,} of {counted(len(lines), 'piece')} of work handed in.",
        *_section("Agreement", _agreement(project, set(keys))),
        *_section("Time", _time(lines)),
        *_section("Remarks", _remarks(project, keys)),
        *_section("Guidelines", _guidelines(project, {line.stage for line in lines})),
    ]
    return "\n\n".join(parts) + "\n"


def _section(heading: str, lines: Iterator[str]) -> list[str]:
    listed = "\n".join(f"- {line}" for line in lines)
    return [f"## {heading}", listed or "Nothing yet."]


def _agreement(project: Project, items: set[str]) -> Iterator[str]:
    found, names = frozen(project)
    of_pilot = [one for one in found if one.item_id in items]
    for row in agreement_figures.pooled(project, "stage", of_pilot, names) if of_pilot else ():
        figure = agreement_words.main(row)
        lacks, told = agreement_words.reason(figure), " ".join(agreement_words.said(figure).split())
        told = f"{agreement_words.title(figure)} {f'undefined: {lacks}' if lacks else told}"
        yield f"{row.stage.value}, {agreement_words.field(row)}: {told} (n = {row.n})"


def _time(lines: list[board.AssignmentStatus]) -> Iterator[str]:
    spent: defaultdict[Stage, list[float]] = defaultdict(list)
    for line in lines:
        if line.seconds:
            spent[line.stage].append(line.seconds / MINUTE)
    for stage, minutes in spent.items():
        yield (
            f"{stage.value}: median {median(minutes):.0f} minutes for an item, {min(minutes):.0f} to "
            f"{max(minutes):.0f}, {counted(len(minutes), 'document')}"
        )


def _remarks(project: Project, keys: dict[str, str]) -> Iterator[str]:
    """What people wrote beside units and on whole documents, in their newest revisions."""
    aliases = {person.id: person.alias for person in people.people(project)}
    newest = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
    question = select(ARTIFACT, REVISION.c.content).join(REVISION, newest)
    question = question.where(ARTIFACT.c.item_id.in_(keys), ARTIFACT.c.author_id != "")
    with project.store.read() as db:
        rows = db.execute(question.order_by(ARTIFACT.c.item_id, ARTIFACT.c.kind, ARTIFACT.c.author_id)).all()
    for row in rows:
        tree = orjson.loads(row.content)
        where = f"{aliases.get(row.author_id, '')}, item {keys[row.item_id]}, {Kind(row.kind).value}"
        notes = (tree.get("remark", ""), *(unit.get("note", "") for unit in tree["units"]))
        yield from (f"{where}: {' '.join(note.split())}" for note in notes if note.strip())


def _guidelines(project: Project, stages: set[Stage]) -> Iterator[str]:
    for stage in Stage:
        for one in guidelines.versions(project, stage) if stage in stages else ():
            yield f"{stage.value}, version {one.version}, {one.at:%Y-%m-%d}"
