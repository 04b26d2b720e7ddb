"""Guidelines of each stage: the shipped text first, then the coordinator's versions."""

from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import bindparam, func, insert, select
from sqlalchemy.engine import Connection

from annotator import places
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.experts.guideline import FORM, Guideline, GuidelineFields
from annotator.domain.experts.person import Role
from annotator.domain.kinds import question_types
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import (
    ARTIFACT,
    GUIDELINE,
    ITEM,
    REVISION,
)

# What the program ships is version 1 of every stage; the first that a coordinator writes is version 2.
SHIPPED = 1
# It is asked at every save.
_NEWEST = select(func.max(GUIDELINE.c.version)).where(GUIDELINE.c.stage == bindparam("of_stage"))


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """An answer given under an older guideline or form than the current one."""

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
    """Every version that was written for a stage, the oldest first; the shipped text is not among them."""
    question = select(GUIDELINE).where(GUIDELINE.c.stage == stage.value).order_by(GUIDELINE.c.version)
    with project.store.read() as db:
        return [Guideline(**row) for row in db.execute(question).mappings()]


def write(project: Project, stage: Stage, text: str) -> Change:
    """Put a new version in force; what was answered under earlier ones keeps their stamp."""
    if not text.strip():
        raise Refusal("The guideline is empty.", "Write the guideline for the annotators.")
    people.refuse_others(project, "can publish a guideline")
    if stage is Stage.SELECTION:
        _refuse_odd_types(text)
    with project.store.write() as db:
        if text == text_in_force(project, stage):
            raise Refusal("That is already the current text.", "Nothing was changed.")
        version = _newest(db, stage) + 1
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
    """The version with which an answer of this stage is stamped now; “1” for the text that the program ships."""
    return str(_newest(db, stage))


def text_in_force(project: Project, stage: Stage) -> str:
    """The Markdown that answers of a stage are given under now; empty where none is written or shipped."""
    written = current(project, stage)
    return written.text if written is not None else shipped(stage)


def shipped(stage: Stage) -> str:
    """The Markdown that the program ships for a stage; empty where it ships none."""
    path = places.resources() / "guidelines" / f"{stage.value}.md"
    return path.read_text("utf-8") if path.is_file() else ""


def stale(project: Project) -> list[StaleAnswer]:
    """People's drafts and sealed answers whose newest revision was made under an older text or form.

    In the project's order, then by stage and person; consensus and imported gold are not answers. Anyone who is no
    coordinator is told of their own alone.
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
    found = [one for one in answers if (one.then, one.form_then) != (one.now, one.form_now)]
    by_item = {item_id: place for place, item_id in enumerate(dict.fromkeys(one.item_id for one in found))}
    order = list(Stage)
    return sorted(found, key=lambda one: (by_item[one.item_id], order.index(one.stage)))


def _answer(
    force: dict[Stage, str], item_id: str, key: str, kind: str, person_id: str, artifact_id: str, state: str,
    guideline: str, form: str,
) -> StaleAnswer:  # fmt: skip
    stage = stage_of(Kind(kind))
    return StaleAnswer(
        item_id, key, stage, person_id, artifact_id, State(state), guideline,
        force.get(stage, str(SHIPPED)), form, FORM,
    )  # fmt: skip


def _newest(db: Connection, stage: Stage) -> int:
    version: int | None = db.execute(_NEWEST, {"of_stage": stage.value}).scalar_one()
    return version or SHIPPED


def _checked(stage: Stage, version: int, text: str, by: str) -> GuidelineFields:
    values = {"stage": stage, "version": version, "text": text, "by": by, "at": now()}
    try:
        return GuidelineFields.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        raise Refusal(
            f"The guideline does not fit: {first['msg'].lower()}.", "Nothing was changed."
        ) from None
