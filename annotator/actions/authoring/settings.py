"""Settings of the expert work: allowed weights of criteria, the window of sources, versions of the guidelines."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from pydantic import ValidationError
from sqlalchemy import Connection, bindparam, func, insert, select

from annotator import places
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting, record
from annotator.domain.common import Change, Refusal, derived_id, now, sha256
from annotator.domain.experts.assignment import FORM, Guideline, Role, Stage, stage_of
from annotator.domain.kinds import question_types
from annotator.domain.kinds.artifact import MOST, Document, Kind, State, Weights, read
from annotator.domain.kinds.rubric import Criterion, Rubric, counted_weights, not_allowed
from annotator.domain.stored import GuidelineFields
from annotator.storage.connection import PreparedStatement
from annotator.storage.tables import ARTIFACT, GUIDELINE, ITEM, REVISION

SETTING = "weights"


def allowed(project: Project) -> Weights:
    return read(str(project.get(SETTING, "")))


@people.for_coordinators("can decide which weights criteria may have")
def allow(project: Project, text: str) -> Change:
    """Allow other weights from now on, given as a range or a list; an empty text means 1 to 3.

    Raises Refusal if a rubric of the project has a weight that would no longer be allowed.
    """
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
    """Allow weights from a task or a release, or newly set ones; raises Refusal if the text names no weights."""
    weights = read(text)
    if weights != allowed(project):
        project.set(SETTING, "" if weights.usual else weights.text)


def after_import(project: Project, text: str) -> Weights:
    """The weights allowed after importing a release that allows those of `text`: the release's if the project has the
    usual weights and no criteria outside the release's; otherwise the project's own.
    """
    own, theirs = allowed(project), read(text)
    with project.store.read() as db:
        fits = set(in_use(db)) <= set(theirs.values)
    return theirs if own.usual and fits else own


def refuse_weight(project: Project, kind: Kind, given: Mapping[str, Any]) -> None:
    """Raise Refusal if the fields to be written of a criterion have a weight that the project does not allow."""
    weights = allowed(project)
    if kind is Kind.RUBRIC and "weight" in given and given["weight"] not in weights.values:
        raise Refusal(f"The weight does not fit: this project allows {weights.text}.", "Nothing was changed.")


def in_use(db: Connection) -> list[int | float]:
    newest = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
    question = select(REVISION.c.content).join(ARTIFACT, newest).where(ARTIFACT.c.kind == Kind.RUBRIC.value)
    rubrics = [Rubric.model_validate(orjson.loads(text)) for text in db.execute(question).scalars()]
    return sorted(weight for weight, many in counted_weights(rubrics).items() if many)


def fault(project: Project, document: Document[Any]) -> str:
    """Why a document may not be submitted: its own fault or a weight that is not allowed; empty if it may."""
    return document.fault() or outside(project, document)


def outside(project: Project, document: Document[Any]) -> str:
    """The first criterion of a rubric whose weight is not allowed here, in words; empty if there is none."""
    weights = allowed(project)
    odd = not_allowed(document, weights) if isinstance(document, Rubric) else []
    return f"{has_weight(odd[0], weights)}." if odd else ""


def has_weight(criterion: Criterion, weights: Weights) -> str:
    """A clause saying that a criterion's weight is not among those allowed."""
    return f"“{criterion.text[:80]}” has weight {criterion.weight}; this project allows {weights.text}"


def beside(weights: Weights, rubrics: Iterable[Rubric]) -> str:
    """The allowed weights and those of these rubrics, as text, a range if they form one; empty if too many."""
    combined = sorted({*weights.values, *counted_weights(rubrics)})
    low, high = combined[0], combined[-1]
    whole = all(isinstance(weight, int) for weight in combined) and high - low < MOST
    combined = list(range(int(low), int(high) + 1)) if whole else combined
    return Weights(tuple(combined)).text if len(combined) <= MOST else ""


WINDOW_SETTING = "claim_window"
USUAL, WIDEST = 1, 5


def width(project: Project) -> int:
    return int(project.get(WINDOW_SETTING, USUAL))


@people.for_coordinators("can decide how far away sources may stand")
def widen(project: Project, sentences: int) -> Change:
    """Set how many sentences away a source may stand from now on; earlier answers about sources stay."""
    if not USUAL <= sentences <= WIDEST:
        raise Refusal(f"The window is {USUAL} to {WIDEST} sentences wide.", "Give a number between these.")
    return change_setting(project, WINDOW_SETTING, "set the window of sources", width(project), sentences)


# The guideline that the program ships is version 1 of every stage; a coordinator's first is version 2.
SHIPPED = 1
# Runs at every save.
_NEWEST = PreparedStatement(
    select(func.max(GUIDELINE.c.version)).where(GUIDELINE.c.stage == bindparam("of_stage"))
)


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    item_id: str
    item_key: str
    stage: Stage
    person_id: str
    artifact_id: str
    state: State
    then: str
    now: str
    form_then: str
    form_now: str


def current(project: Project, stage: Stage) -> Guideline | None:
    """The newest version of a stage's guideline; None while the shipped text is in force."""
    return next(reversed(versions(project, stage)), None)


def versions(project: Project, stage: Stage) -> list[Guideline]:
    """The versions written for a stage, oldest first, without the shipped text."""
    question = select(GUIDELINE).where(GUIDELINE.c.stage == stage.value).order_by(GUIDELINE.c.version)
    return [Guideline(**row) for row in project.query(question).mappings()]


def write(project: Project, stage: Stage, text: str) -> Change:
    if not text.strip():
        raise Refusal("The guideline is empty.", "Write the guideline for the annotators.")
    people.refuse_others(project, "can publish a guideline")
    if stage is Stage.SELECTION:
        _refuse_odd_types(text)
    with project.store.write() as db:
        if text == text_in_force(project, stage):
            raise Refusal("That is already the current text.", "Nothing was changed.")
        version = int(version_in_force(db, stage)) + 1
        guideline = Guideline(
            id=derived_id("guideline", stage.value, version),
            **_checked(stage, version, text, project.by).model_dump(),
        )
        db.execute(insert(GUIDELINE), guideline.model_dump())
        image = {"stage": stage.value, "version": version, "sha256": sha256(text)}
        return record(project, db, Change("guideline", guideline.id, "write guideline", None, image))


def _refuse_odd_types(text: str) -> None:
    try:
        question_types.read(text)
        question_types.bar_of(text)
    except ValueError as error:
        words = str(error)
        raise Refusal(
            f"{words[:1].upper()}{words[1:]}.", f"{question_types.HOW} Nothing was published."
        ) from None


def version_in_force(db: Connection, stage: Stage) -> str:
    """The guideline version with which answers of this stage are stamped now; “1” for the shipped text."""
    return str(_NEWEST.execute(db, {"of_stage": stage.value}).fetchone()[0] or SHIPPED)


def text_in_force(project: Project, stage: Stage) -> str:
    """The Markdown text under which answers of a stage are given now; empty if none is written or shipped."""
    written = current(project, stage)
    return written.text if written is not None else shipped(stage)


def shipped(stage: Stage) -> str:
    path = places.resources() / "guidelines" / f"{stage.value}.md"
    return path.read_text("utf-8") if path.is_file() else ""


def stale(project: Project) -> list[StaleAnswer]:
    """People's drafts and sealed answers whose newest revision was made under an older guideline or form.

    In the project's order, then by stage and person; consensus and imported gold are not answers. Only coordinators get
    other people's.
    """
    me = people.someone(project)
    question = (
        select(
            ITEM.c.id, ITEM.c.key, ARTIFACT.c.kind, ARTIFACT.c.author_id, ARTIFACT.c.id, ARTIFACT.c.state,
            REVISION.c.guideline, REVISION.c.form,
        )
        .select_from(ARTIFACT)
        .join(REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision))
        .join(ITEM, ITEM.c.id == ARTIFACT.c.item_id)
        .where(ARTIFACT.c.author_id != "", ARTIFACT.c.state != State.CONSENSUS.value, ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id, ARTIFACT.c.author_id)
    )  # fmt: skip
    newest = select(GUIDELINE.c.stage, func.max(GUIDELINE.c.version)).group_by(GUIDELINE.c.stage)
    with project.store.read() as db:
        force = {Stage(stage): str(version) for stage, version in db.execute(newest)}
        rows = db.execute(question).all()
    answers = (_answer(force, *row) for row in rows if me.has(Role.COORDINATOR) or row.author_id == me.id)
    result = [
        answer for answer in answers if (answer.then, answer.form_then) != (answer.now, answer.form_now)
    ]
    by_item = {item_id: place for place, item_id in enumerate(dict.fromkeys(one.item_id for one in result))}
    order = list(Stage)
    return sorted(result, key=lambda one: (by_item[one.item_id], order.index(one.stage)))


def _answer(
    force: dict[Stage, str], item_id: str, key: str, kind: str, person_id: str, artifact_id: str, state: str,
    guideline: str, form: str,
) -> StaleAnswer:  # fmt: skip
    stage = stage_of(Kind(kind))
    return StaleAnswer(
        item_id, key, stage, person_id, artifact_id, State(state), guideline,
        force.get(stage, str(SHIPPED)), form, FORM,
    )  # fmt: skip


def _checked(stage: Stage, version: int, text: str, by: str) -> GuidelineFields:
    values = {"stage": stage, "version": version, "text": text, "by": by, "at": now()}
    try:
        return GuidelineFields.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refusal(
            f"The guideline does not fit: {first['msg'].lower()}.", "Nothing was changed."
        ) from None


def types(project: Project) -> tuple[question_types.QuestionType, ...]:
    """The question types of the guideline in force; the shipped ones if it names none."""
    return question_types.read(text_in_force(project, Stage.SELECTION)) or shipped_types()


def shipped_types() -> tuple[question_types.QuestionType, ...]:
    return question_types.read(shipped(Stage.SELECTION))


def bar(project: Project) -> float:
    return question_types.bar_of(text_in_force(project, Stage.SELECTION))


def set_bar(project: Project, words: str) -> Change:
    """Publish a guideline with another mean from which questions are kept; raises Refusal if `words` is none."""
    try:
        text = question_types.with_bar(text_in_force(project, Stage.SELECTION), words)
    except ValueError:
        raise Refusal(f"“{words}” is no bar for means of 1 to 5.", "Give a number such as 4.5.") from None
    return write(project, Stage.SELECTION, text)
