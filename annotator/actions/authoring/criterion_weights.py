"""Which weights the criteria of a project may have: what its coordinator allows, 1 to 3 as long as nobody says more."""

from collections.abc import Iterable, Mapping
from typing import Any

import orjson
from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.rubric import Criterion, Rubric, counted_weights, not_allowed
from annotator.domain.kinds.weights import MOST, Weights, read
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT, REVISION

SETTING = "weights"


def allowed(project: Project) -> Weights:
    return read(str(project.get(SETTING, "")))


def allow(project: Project, text: str) -> Change:
    """Allow other weights from now on, as a range or a list; an empty text stands for 1 to 3.

    Refusal where a rubric of the project has a weight that would no longer be allowed.
    """
    people.refuse_others(project, "can decide which weights criteria may have")
    if project.from_task:
        raise Refusal("Which weights criteria may have came with the task.", "Ask who sent you the task.")
    weights = read(text)
    with project.store.write() as db:
        if left := [weight for weight in in_use(db) if weight not in weights.values]:
            raise Refusal(
                f"There are criteria of weight {', '.join(map(str, left))}.",
                "Allow these weights as well, or change those criteria first; nothing was changed.",
            )
        before = str(project.get(SETTING, ""))
        take(project, text)
        after = str(project.get(SETTING, ""))
        return record(project, db, Change("setting", SETTING, "set the weights of criteria", before, after))


def take(project: Project, text: str) -> None:
    """Allow what came with a task or a release, or was decided; Refusal where the text says no weights."""
    weights = read(text)
    if weights != allowed(project):
        project.set(SETTING, "" if weights.usual else weights.text)


def after_import(project: Project, text: str) -> Weights:
    """What is allowed once a release came in that allows the weights of a text: its own, where the project says nothing
    yet and has no criteria of other weights.
    """
    own, theirs = allowed(project), read(text)
    with project.store.read() as db:
        fits = set(in_use(db)) <= set(theirs.values)
    return theirs if own.usual and fits else own


def refuse_other(project: Project, kind: Kind, given: Mapping[str, Any]) -> None:
    """Refusal where what is to be written of a criterion has a weight that the project does not allow."""
    weights = allowed(project)
    if kind is Kind.RUBRIC and "weight" in given and given["weight"] not in weights.values:
        raise Refusal(f"The weight does not fit: this project allows {weights.text}.", "Nothing was changed.")


def in_use(db: Connection) -> list[int | float]:
    """The weights that criteria of the project's rubrics have now, the lowest first."""
    newest = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
    question = select(REVISION.c.content).join(ARTIFACT, newest).where(ARTIFACT.c.kind == Kind.RUBRIC.value)
    rubrics = [Rubric.model_validate(orjson.loads(text)) for text in db.execute(question).scalars()]
    return sorted(weight for weight, many in counted_weights(rubrics).items() if many)


def fault(project: Project, document: Document[Any]) -> str:
    """Why a document may not be submitted: its own fault, or a weight that the project does not allow."""
    return document.fault() or outside(project, document)


def outside(project: Project, document: Document[Any]) -> str:
    """The first criterion of a rubric whose weight is not allowed here, in words; empty where there is none."""
    weights = allowed(project)
    odd = not_allowed(document, weights) if isinstance(document, Rubric) else []
    return f"{has_weight(odd[0], weights)}." if odd else ""


def has_weight(criterion: Criterion, weights: Weights) -> str:
    """In words that a criterion's weight is not one of those."""
    return f"“{criterion.text[:80]}” has weight {criterion.weight}; this project allows {weights.text}"


def beside(weights: Weights, rubrics: Iterable[Rubric]) -> str:
    """The weights of these rubrics beside those that are allowed, as a range where they are one; empty if too many."""
    wanted = sorted({*weights.values, *counted_weights(rubrics)})
    low, high = wanted[0], wanted[-1]
    whole = all(isinstance(weight, int) for weight in wanted) and high - low < MOST
    wanted = list(range(int(low), int(high) + 1)) if whole else wanted
    return Weights(tuple(wanted)).text if len(wanted) <= MOST else ""
