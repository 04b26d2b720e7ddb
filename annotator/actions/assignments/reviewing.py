"""Draft then review: another person revises a draft openly, answers a form, and its author answers them.

A draft may have several reviewers, one after another: each begins with the version the author last agreed with.
"""

from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, select, update

from annotator.actions.authoring import annotating, artifacts
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, now, required, words_that_hold
from annotator.domain.experts.adjudication import ANSWERS, DraftReview, ReviewedUnit, compared, form_of
from annotator.domain.kinds.documents import document_of
from annotator.domain.kinds.kind import Kind, Role, State, stage_of
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, ITEM, META, REVISION, put

REVIEW_PREFIX, DRAFT = "review/", "draft to review/"
UNDER_REVIEW, AGREED = "under review", "agreed"


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """The status of a review: whose it is, of whose draft, and its state."""

    item_id: str
    item_key: str
    kind: Kind
    author: str
    reviewer: str
    reviewer_id: str
    review: DraftReview | None
    state: str


def is_reviewed(db: Connection, item_id: str, kind: Kind) -> bool:
    """Whether a document of an item is drafted and reviewed, so that nobody is blind to anybody."""
    return any(item == item_id for item, _ in annotating.reviews(db, kind))


def draft_of(
    project: Project, db: Connection, item_id: str, kind: Kind
) -> tuple[str, int, dict[str, Any]] | None:
    """The author, the revision and the document to be reviewed; None while the draft is not submitted."""
    received = _get(project, f"{DRAFT}{item_id}/{kind}")
    if received:
        return received["author"], received["revision"], received["document"]
    authors = {
        person
        for item, person in db.execute(
            select(ASSIGNMENT.c.item_id, ASSIGNMENT.c.person_id).where(
                ASSIGNMENT.c.stage == stage_of(kind).value, ASSIGNMENT.c.trial == 1
            )
        )
        if item == item_id
    }
    authors -= {person for item, person in annotating.reviews(db, kind) if item == item_id}
    question = (
        select(ARTIFACT.c.author_id, REVISION.c.number, REVISION.c.content)
        .join(
            REVISION, (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
        )
        .where(
            ARTIFACT.c.item_id == item_id,
            ARTIFACT.c.kind == kind.value,
            ARTIFACT.c.author_id.in_(authors),
            ARTIFACT.c.state == State.SEALED.value,
        )
        .order_by(ARTIFACT.c.author_id)
    )
    row = db.execute(question).first()
    return (row.author_id, row.number, orjson.loads(row.content)) if row else None


def next_version(
    project: Project, db: Connection, item_id: str, kind: Kind, reviewer_id: str
) -> tuple[str, int, dict[str, Any]] | None:
    """The version a reviewer begins with: the draft, or what its author last agreed with; None if not available yet."""
    result = draft_of(project, db, item_id, kind)
    if result is None or _get(project, f"{DRAFT}{item_id}/{kind}"):
        return result
    if waits_for(project, db, item_id, kind, reviewer_id):
        return None
    agreed = [
        review
        for review in _others(project, db, item_id, kind, reviewer_id).values()
        if review and review.agreed
    ]
    if not agreed:
        return result
    last = max(agreed, key=lambda review: (review.answered_at, review.artifact_id))
    newest = artifacts.read_newest(db, last.artifact_id).artifact
    return last.author, newest.revision, newest.document.tree()


def waits_for(project: Project, db: Connection, item_id: str, kind: Kind, reviewer_id: str) -> str:
    """The alias of the reviewer who comes first; empty if it is this reviewer's turn.

    That is one who has begun and was not answered yet, or else one with a lower alias who has not begun.
    """
    aliases = {person.id: person.alias for person in people.people(project)}
    others = _others(project, db, item_id, kind, reviewer_id)
    begun = [who for who, review in others.items() if review is not None and review.agreed is None]
    own = aliases.get(reviewer_id, "")
    first = [who for who, review in others.items() if review is None and aliases.get(who, "") < own]
    return min((aliases.get(who, who) for who in begun or first), default="")


def _others(
    project: Project, db: Connection, item_id: str, kind: Kind, reviewer_id: str
) -> dict[str, DraftReview | None]:
    reviewers = {person for item, person in annotating.reviews(db, kind) if item == item_id} - {reviewer_id}
    own = select(ARTIFACT.c.author_id, ARTIFACT.c.id).where(
        ARTIFACT.c.item_id == item_id, ARTIFACT.c.kind == kind.value, ARTIFACT.c.author_id.in_(reviewers)
    )
    begun = {who: of_artifact(project, artifact_id) for who, artifact_id in db.execute(own)}
    return dict.fromkeys(reviewers) | begun


def is_mine(project: Project, item_id: str, kind: Kind) -> bool:
    with project.store.read() as db:
        return (item_id, people.someone(project).id) in annotating.reviews(db, kind)


def begin(project: Project, item_id: str, kind: Kind) -> Change:
    """Begin this person's review: their own document starts as the draft, with the same unit ids."""
    me = people.someone(project).id
    with project.store.write() as db:
        if (item_id, me) not in annotating.reviews(db, kind):
            raise Refusal(
                "You are not asked to review this.", "Ask the coordinator to assign the review to you."
            )
        result = next_version(project, db, item_id, kind, me)
        if result is None and (first := waits_for(project, db, item_id, kind, me)):
            raise Refusal(f"The review by {first} comes first.", "Begin once the author has answered it.")
        if result is None:
            raise Refusal("The draft is not submitted yet.", "Review it once its author has submitted it.")
        author, revision, tree = result
        document = document_of(kind, tree)
        change = artifacts.start(
            project,
            item_id,
            kind,
            document.with_units(tuple(unit.model_copy(update={"note": ""}) for unit in document.units)),
        )
        review = DraftReview(
            artifact_id=change.subject,
            item_id=item_id,
            kind=kind,
            author=author,
            revision=revision,
            draft=tree,
        )
        _keep(project, review)
        return change


def of_artifact(project: Project, artifact_id: str) -> DraftReview | None:
    stored = _get(project, f"{REVIEW_PREFIX}{artifact_id}")
    return DraftReview.model_validate(stored) if stored else None


def fill_in(project: Project, artifact_id: str, question: str, value: str, words: str = "") -> Change:
    review, me = _known(project, artifact_id), people.someone(project).id
    artifact = artifacts.read(project, artifact_id)
    if artifact.author_id != me or artifact.state is not State.DRAFT:
        raise Refusal("This review is not yours, or is submitted.", "Reopen your own to change its form.")
    if question not in form_of(review.kind) or value not in ANSWERS:
        raise Refusal(
            "The review form has no such answer.",
            f"Questions: {', '.join(form_of(review.kind))}; answers: {', '.join(ANSWERS)}.",
        )
    made = {"form": review.form | {question: value}, "words": review.words | {question: words}}
    return _change(project, review, review.model_copy(update=made), "answer the review form")


def refuse_unfinished(project: Project, artifact_id: str) -> None:
    review = of_artifact(project, artifact_id)
    if review is not None and review.open_questions:
        raise Refusal(
            f"The review form lacks an answer: {', '.join(review.open_questions)}.",
            "Answer it under Author → Review of a draft, then submit.",
        )


def answer(project: Project, artifact_id: str, agreed: bool, words: str = "") -> Change:
    """Record the author's answer to a review; agreement makes the reviewer's document the settled one."""
    review, me = _known(project, artifact_id), people.someone(project)
    if review.author not in (me.id, me.alias):
        raise Refusal("Only the author of the draft answers its review.", "Ask them to.")
    if not agreed and not words.strip():
        raise Refusal("Say what you do not agree with.", "Write it in the answer; nothing was changed.")
    return take_answer(project, review, agreed, words.strip(), now().isoformat(timespec="seconds"))


def take_answer(project: Project, review: DraftReview, agreed: bool, words: str, at: str) -> Change:
    """Store an author's answer; an agreed review becomes the settled document, in the project it belongs to."""
    made = review.model_copy(update={"agreed": agreed, "answer": words, "answered_at": at})
    with project.store.write() as db:
        state = db.execute(select(ARTIFACT.c.state).where(ARTIFACT.c.id == review.artifact_id)).scalar()
        if state == State.DRAFT.value:
            raise Refusal("The review is not submitted yet.", "Answer it once its reviewer has submitted it.")
        if state is not None:
            if agreed:
                reviewer = artifacts.read(project, review.artifact_id).author_id
                others = _others(project, db, review.item_id, review.kind, reviewer)
                earlier = [one.artifact_id for one in others.values() if one is not None]
                db.execute(
                    update(ARTIFACT)
                    .where(ARTIFACT.c.id.in_(earlier), ARTIFACT.c.state == State.CONSENSUS.value)
                    .values(state=State.SEALED.value)
                )
            settled = State.CONSENSUS if agreed else State.SEALED
            db.execute(
                update(ARTIFACT).where(ARTIFACT.c.id == review.artifact_id).values(state=settled.value)
            )
        return _change(project, review, made, "answer a review")


def units(project: Project, review: DraftReview) -> list[ReviewedUnit]:
    """The units of a draft compared with the review's document: one received with a task, or the one stored here."""
    received = _get(project, f"{REVIEW_PREFIX}{review.artifact_id}/document")
    if received is not None:
        return compared(review.draft, document_of(review.kind, received))
    return compared(review.draft, artifacts.read(project, review.artifact_id).document)


def lines(project: Project) -> list[ReviewLine]:
    """The reviews that concern the person working, by item; all of them for a coordinator."""
    me = people.someone(project)
    aliases = {person.id: person.alias for person in people.people(project)}
    result = []
    with project.store.read() as db:
        keys = dict(db.execute(select(ITEM.c.id, ITEM.c.key)).all())
        own = {
            (row.item_id, row.kind, row.author_id): (row.id, row.state)
            for row in db.execute(select(ARTIFACT))
        }
        for kind in Kind:
            for item_id, reviewer in sorted(annotating.reviews(db, kind)):
                artifact_id, state = own.get((item_id, kind.value, reviewer), ("", ""))
                review = of_artifact(project, artifact_id) if artifact_id else None
                draft = draft_of(project, db, item_id, kind)
                author = review.author if review else draft[0] if draft else ""
                if me.has(Role.COORDINATOR) or me.id in (reviewer, author):
                    first = "" if review else waits_for(project, db, item_id, kind, reviewer)
                    status = _state(review, state, drafted=draft is not None, first=first)
                    names = aliases.get(author, author), aliases.get(reviewer, reviewer)
                    result.append(ReviewLine(item_id, keys[item_id], kind, *names, reviewer, review, status))
    return result + _received(project, keys)


def _received(project: Project, keys: dict[str, str]) -> list[ReviewLine]:
    result = []
    for artifact_id in _get(project, f"{REVIEW_PREFIX}came") or []:
        review = _known(project, artifact_id)
        status = _state(review, State.SEALED.value, drafted=True)
        key = keys.get(review.item_id, "")
        result.append(
            ReviewLine(review.item_id, key, review.kind, review.author, "reviewer", "", review, status)
        )
    return result


def _state(review: DraftReview | None, state: str, *, drafted: bool, first: str = "") -> str:
    agreed = review.agreed if review is not None else None
    return words_that_hold({
        f"waits for the review by {first}": review is None and drafted and first,
        "waits for its reviewer": review is None and drafted,
        "waits for the draft": review is None,
        UNDER_REVIEW: state == State.DRAFT.value,
        "waits for the author's answer": agreed is None,
        AGREED: agreed,
        "disputed by the author": True,
    })[0]  # fmt: skip


def take_draft(
    project: Project, item_id: str, kind: Kind, author: str, revision: int, tree: dict[str, Any]
) -> None:
    _set(project, f"{DRAFT}{item_id}/{kind}", {"author": author, "revision": revision, "document": tree})


def take_review(project: Project, review: DraftReview, tree: dict[str, Any]) -> None:
    """Store a review received with a task for the author to answer; an existing answer stays."""
    known = of_artifact(project, review.artifact_id)
    _set(project, f"{REVIEW_PREFIX}{review.artifact_id}/document", tree)
    _keep(project, review.model_copy(update=known.model_dump(include=ANSWERED)) if known else review)
    received = _get(project, f"{REVIEW_PREFIX}came") or []
    _set(
        project,
        f"{REVIEW_PREFIX}came",
        [*received, *([] if review.artifact_id in received else [review.artifact_id])],
    )


def take_form(
    project: Project, db: Connection, artifact_id: str, person_id: str, came: DraftReview | None
) -> None:
    """Store the form of a review that came back; the draft's author is the one this project knows."""
    if came is None or (came.item_id, person_id) not in annotating.reviews(db, came.kind):
        return
    result = draft_of(project, db, came.item_id, came.kind)
    known = of_artifact(project, artifact_id)
    answers = known.model_dump(include=ANSWERED) if known else dict.fromkeys(ANSWERED, "") | {"agreed": None}
    whose = {"artifact_id": artifact_id, "author": result[0] if result else ""}
    _keep(project, came.model_copy(update=whose | answers))


ANSWERED = {"agreed", "answer", "answered_at"}


def all_reviews(db: Connection) -> list[DraftReview]:
    question = (
        select(META.c.key, META.c.value).where(META.c.key.like(f"{REVIEW_PREFIX}%")).order_by(META.c.key)
    )
    stored = ((key.removeprefix(REVIEW_PREFIX), value) for key, value in db.execute(question))
    return [
        DraftReview.model_validate_json(value) for key, value in stored if "/" not in key and key != "came"
    ]


def restore(project: Project, _db: Connection, artifact_id: str, present: Any, goal: Any) -> None:
    """Restore a review from one state to another; raises Refusal if it has changed or its answer would change."""
    if _get(project, f"{REVIEW_PREFIX}{artifact_id}") != present or present["agreed"] != goal["agreed"]:
        raise Refusal("This review was changed since, or is answered.", "Nothing was undone.")
    _keep(project, DraftReview.model_validate(goal))


def _known(project: Project, artifact_id: str) -> DraftReview:
    return required(
        of_artifact(project, artifact_id), "There is no such review.", "Choose one of those listed."
    )


def _get(project: Project, key: str) -> Any:
    """The value stored under a key, as this transaction sees it: a preview is rolled back."""
    stored = project.query(select(META.c.value).where(META.c.key == key)).scalar()
    return orjson.loads(stored) if stored else None


def _set(project: Project, key: str, value: Any) -> None:
    with project.store.write() as db:
        put(db, META, {"key": key, "value": orjson.dumps(value).decode()})


def _keep(project: Project, review: DraftReview) -> None:
    _set(project, f"{REVIEW_PREFIX}{review.artifact_id}", review.model_dump(mode="json"))


def _change(project: Project, before: DraftReview, after: DraftReview, verb: str) -> Change:
    with project.store.write() as db:
        _keep(project, after)
        was, now_ = before.model_dump(mode="json"), after.model_dump(mode="json")
        return record(project, db, Change("review", before.artifact_id, verb, was, now_))
