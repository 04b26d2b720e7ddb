"""What a model drafted for a person, laid aside until they take, edit or refuse it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import orjson
from sqlalchemy import Connection, select, update

from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import extracts, items
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import Document, DraftSource, Kind, State, Unit
from annotator.domain.material.extract import MARK, document_of
from annotator.domain.material.item import ExtractState
from annotator.domain.material.part import ItemClassification, ProposedType, Reference, WriterAid, as_markdown
from annotator.domain.texts.canonical import Change, checked_text, derived_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, DRAFT, EXTRACT, JUDGE, RUN, SOURCE

GONE = Refusal("That draft no longer exists.", "Ask for another.")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A model's draft, for the person who asked for it; `taken` are ids of units accepted."""

    id: str
    item_id: str
    kind: Kind | WriterAid
    document: Document[Any]
    source: DraftSource
    at: datetime
    taken: frozenset[str] = frozenset()

    @property
    def left(self) -> tuple[Unit, ...]:
        return tuple(unit for unit in self.document.units if unit.id not in self.taken)


def proposed(kind: str) -> Kind | WriterAid:
    """What a model drafts, by its name; ValueError for anything else."""
    return WriterAid(kind) if kind in set(WriterAid) else Kind(kind)


def proposals(project: Project, item_id: str = "", kind: Kind | WriterAid | None = None) -> list[Proposal]:
    """The drafts that the person working asked for and has not dealt with, newest first; of all items by default."""
    mine = (requested_by(people.someone(project).id), EXTRACT.c.state == ExtractState.PROPOSED.value)
    question = _question().where(*mine).order_by(EXTRACT.c.at.desc(), EXTRACT.c.id)
    if item_id:
        question = question.where(EXTRACT.c.item_id == item_id)
    if kind is not None:
        question = question.where(EXTRACT.c.kind == kind.value)
    with project.store.read() as db:
        offers = [_proposal(project, db, row) for row in db.execute(question).mappings()]
    return [proposal for proposal in offers if proposal.left]


def waiting_proposal(project: Project, begins: str, kind: str = "") -> Proposal:
    """The one draft that waits for the person working, by its item's key or the first letters of its id.

    Refusal when there is none, or more.
    """
    mine = [proposal for proposal in proposals(project) if not kind or proposal.kind.value == kind]
    of_item = [one for one in mine if items.read(project, one.item_id).key == begins]
    alike = of_item or [one for one in mine if begins and one.id.startswith(begins)]
    if len(alike) == 1:
        return alike[0]
    if of_item:
        raise Refusal(
            f"Item {begins} has more than one draft.",
            "Say which with --kind, or by the first letters of its id.",
        )
    if alike:
        raise Refusal(f"More than one draft begins with “{begins}”.", "Give more of its id.")
    raise GONE


def numbered(proposal: Proposal, numbers: Sequence[int]) -> list[str]:
    """The ids of the units with these numbers, counted from 1."""
    units = proposal.document.units
    for number in numbers:
        if not 1 <= number <= len(units):
            raise Refusal(f"The draft has no unit {number}.", f"It has {len(units):,}.")
    return [units[number - 1].id for number in numbers]


def take(project: Project, extract_id: str, unit_ids: Sequence[str] = (), after: str = "") -> Change:
    """Put units of a draft into the person's own document, below `after` or at the end; all that are left by default.

    The document is begun when there is none. Its history names the model and the draft from now on, and no unit comes
    in but by this verb. The one blank unit of a document that was only just begun gives way.
    """
    with project.store.write() as db:
        proposal = mine(project, db, extract_id)
        kind = _artifacts(proposal)
        units = _chosen_units(proposal, unit_ids)
        artifact_id = _own(project, db, proposal) or artifacts.start(project, proposal.item_id, kind).subject
        made = {taken_id(artifact_id, proposal.id, unit.id): unit for unit in units}
        trees = [unit.model_dump(mode="json") | {"id": new} for new, unit in made.items()]
        blank = blank_unit(artifacts.read(project, artifact_id).document)
        return artifacts.add_units(
            project,
            artifact_id,
            trees,
            "" if after == blank else after,
            instead_of=blank,
            verb=artifacts.verb(proposal.source),
            about=artifacts.about({new: unit.id for new, unit in made.items()}, proposal.source),
        )


def refuse(project: Project, extract_id: str) -> Change:
    """Say that nothing more of a draft is wanted; it is kept, and no longer shown."""
    return settle(project, extract_id, ExtractState.REFUSED, "refuse draft")


def confirm(project: Project, extract_id: str) -> Change:
    """Say that all that was wanted of a draft's units is taken; it is kept, and no longer shown."""
    with project.store.read() as db:
        _artifacts(mine(project, db, extract_id))
    return settle(project, extract_id, ExtractState.CONFIRMED, "confirm draft")


def drafted(project: Project, artifact_id: str) -> dict[str, DraftSource]:
    """The units of a document that were taken from a model's draft, each with where from."""
    with project.store.read() as db:
        return artifacts.of_artifacts(db, [artifact_id]).get(artifact_id, {})


def taken_id(artifact_id: str, extract_id: str, unit_id: str) -> str:
    """The id that a unit of a draft gets in a document: always the same, so that it cannot be taken twice."""
    return derived_id("taken", artifact_id, extract_id, unit_id)


def settle(project: Project, extract_id: str, state: ExtractState, verb: str) -> Change:
    with project.store.write() as db:
        mine(project, db, extract_id)
        row = dict(db.execute(select(EXTRACT).where(EXTRACT.c.id == extract_id)).mappings().one())
        db.execute(update(EXTRACT).where(EXTRACT.c.id == extract_id).values(state=state.value))
        before, after = extracts.image(row), extracts.image(row | {"state": state.value})
        return record(project, db, Change("extract", extract_id, verb, before, after))


def _question() -> Any:
    return (
        select(EXTRACT, RUN.c.snapshot, JUDGE.c.name.label("judge"))
        .join(RUN, RUN.c.id == EXTRACT.c.run_id)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
    )


def requested_by(person_id: str) -> Any:
    """The condition on the extract table that leaves the drafts a person asked for, and nobody else's."""
    personal = EXTRACT.c.origin.like(f"judge:%:{'_' * MARK}")
    return (EXTRACT.c.response_id == "") & (EXTRACT.c.by == person_id) & personal


def mine(project: Project, db: Connection, extract_id: str) -> Proposal:
    """A draft of the person working, whatever became of it; Refusal when it is gone, or someone else's."""
    condition = requested_by(people.someone(project).id) & (EXTRACT.c.id == extract_id)
    row = db.execute(_question().where(condition)).mappings().first()
    if row is None:
        raise GONE
    return _proposal(project, db, row)


def _proposal(project: Project, db: Connection, row: Any) -> Proposal:
    kind, item_id = proposed(row["kind"]), row["item_id"]
    document = document_of(kind.value, "", orjson.loads(row["content"]))
    model = str(json.loads(row["snapshot"]).get("model", ""))
    proposal = Proposal(
        row["id"], item_id, kind, document, DraftSource(row["id"], row["judge"], model), row["at"]
    )
    artifact_id = _own(project, db, proposal)
    if not artifact_id:
        return proposal
    there = {unit.id for unit in artifacts.read(project, artifact_id).document.units}
    taken = (unit.id for unit in document.units if taken_id(artifact_id, row["id"], unit.id) in there)
    return replace(proposal, taken=frozenset(taken))


def _own(project: Project, db: Connection, proposal: Proposal) -> str:
    """The id of the person's own document of the kind, empty while there is none."""
    return str(
        db.execute(
            select(ARTIFACT.c.id).where(
                ARTIFACT.c.item_id == proposal.item_id,
                ARTIFACT.c.kind == proposal.kind.value,
                ARTIFACT.c.author_id == people.someone(project).id,
                ARTIFACT.c.state != State.CONSENSUS.value,
            )
        ).scalar()
        or ""
    )


def _artifacts(proposal: Proposal) -> Kind:
    """The kind of artifact that a draft's units go into; Refusal for one that is taken as a whole."""
    if isinstance(proposal.kind, WriterAid):
        raise Refusal("That draft is not a list of units.", "Edit its text, and add it to the item.")
    return proposal.kind


def _chosen_units(proposal: Proposal, unit_ids: Sequence[str]) -> list[Unit]:
    """The units to be taken, in the draft's order."""
    units = {unit.id: unit for unit in proposal.document.units}
    for unit_id in unit_ids:
        if unit_id not in units:
            raise Refusal(f"The draft has no unit “{unit_id}”.", "Look at the draft again.")
    selected = [unit for unit in proposal.left if not unit_ids or unit.id in unit_ids]
    if not selected:
        raise Refusal(f"That is in your {proposal.kind.value} already.", "Change it there.")
    return selected


def blank_unit(document: Document[Any]) -> str:
    """The id of the one unit of a document in which nothing was written or chosen; empty when there is more."""
    if len(document.units) != 1:
        return ""
    (unit,) = document.units
    return str(unit.id) if unit == type(unit)(id=unit.id) else ""


TITLE = "Reference material"
DOES = "can add reference material to an item, if work is handed out"
NO_SOURCE = "Add a source with text to this item first: a model writes from sources only."
NO_INSIGHTS = "Write key insights first: reference material is written from them and the sources."
# The fields of a draft that is being edited.
PARTS = FROM_SOURCES, BEYOND = "text", "beyond"


@dataclass(frozen=True, slots=True)
class EditedDraft:
    """A draft as edited so far: its two parts, and whether they differ from the original."""

    proposal: Proposal
    from_sources: str
    beyond: str

    @property
    def edited(self) -> bool:
        document = self.proposal.document
        return not (isinstance(document, Reference) and document.parts == (self.from_sources, self.beyond))


def lacks(project: Project, item_id: str) -> str:
    """What an item still needs before a model can be asked, in a sentence; empty when nothing."""
    if not any(source.text.strip() and not source.drafted for source in items.sources(project, item_id)):
        return NO_SOURCE
    documents = (
        artifact.document
        for artifact in annotating.artifacts_of(project, item_id)
        if artifact.kind is Kind.INSIGHTS
    )
    document = next(documents, None)
    has_insights = document is not None and any(unit.text.strip() for unit in document.units)
    return "" if has_insights else NO_INSIGHTS


def waiting(project: Project, item_id: str) -> EditedDraft | None:
    """The draft for an item that the person working has not dealt with, with what they changed in it so far."""
    offers = proposals(project, item_id, WriterAid.REFERENCE)
    return _edited(project, offers[0]) if offers else None


def edit(project: Project, extract_id: str, part: str, text: str) -> None:
    """Keep what is being typed into a part (`text` or `beyond`) of a draft; it goes nowhere before it is confirmed."""
    artifacts.save_draft(project, artifacts.REFERENCE, extract_id, part, text)


def confirm_material(
    project: Project, extract_id: str, from_sources: str | None = None, beyond: str | None = None
) -> Change:
    """Put a draft beside its item as a source for everybody, for good: as edited so far, or with these parts.

    Its `drafted` and the history say which model wrote it, and who confirmed it when. Refusal to all but a
    coordinator where work is handed out, for an empty text, and for a draft that was dealt with.
    """
    refuse_others(project)
    me = people.someone(project)
    with project.store.write() as db:
        proposal = mine(project, db, extract_id)
        row = dict(db.execute(select(EXTRACT).where(EXTRACT.c.id == extract_id)).mappings().one())
        if proposal.kind is not WriterAid.REFERENCE or row["state"] != ExtractState.PROPOSED.value:
            raise GONE
        draft = _edited(project, proposal)
        first = draft.from_sources if from_sources is None else from_sources
        then = draft.beyond if beyond is None else beyond
        text = _reference_material_checked(as_markdown(first, then))
        assert isinstance(proposal.document, Reference)
        drafted_text = as_markdown(*proposal.document.parts)
        how = "confirmed" if text == drafted_text else "edited and confirmed"
        day = f"{now():%Y-%m-%d}"
        note = f"Drafted by {proposal.source.name[:400]}; {how} by {me.alias} on {day}."
        source = items.put(db, proposal.item_id, _title(db, proposal.item_id), text, drafted=note)
        _settle(project, db, row)
        about = artifacts.about({source.id: proposal.id}, proposal.source)
        after = source.model_dump(mode="json", exclude={"text"}) | about
        return record(project, db, Change("source", source.id, artifacts.verb(proposal.source), after=after))


def may_confirm(project: Project) -> bool:
    try:
        refuse_others(project)
    except Refusal:
        return False
    return True


def refuse_others(project: Project) -> None:
    """Refuse anyone who is no coordinator, in a project that hands work out and in one that was handed out."""
    shared = project.query(select(ASSIGNMENT.c.id).limit(1)).first() is not None
    if shared or project.from_task:
        people.refuse_others(project, DOES)


def _edited(project: Project, proposal: Proposal) -> EditedDraft:
    document = proposal.document
    drafted = document.parts if isinstance(document, Reference) else ("", "")
    places = {artifacts.draft_place(artifacts.REFERENCE, proposal.id, part): part for part in PARTS}
    draft = DRAFT
    question = select(draft.c.place, draft.c.text).where(
        draft.c.person_id == people.someone(project).id, draft.c.place.in_(places)
    )
    typed = {places[place]: text for place, text in project.query(question)}
    return EditedDraft(proposal, typed.get(FROM_SOURCES, drafted[0]), typed.get(BEYOND, drafted[1]))


def _reference_material_checked(text: str) -> str:
    try:
        checked_text(text)
    except ValueError as error:
        raise Refusal(f"The text {error}.", "Remove that character; the rest of the text is kept.") from None
    if not text:
        raise Refusal("The text is empty.", "Write something, or dismiss the draft.")
    return text


def _title(db: Connection, item_id: str) -> str:
    """“Reference material”, numbered from the second of an item on."""
    source = SOURCE
    taken = set(db.execute(select(source.c.title).where(source.c.item_id == item_id)).scalars())
    number = 1
    while (title := TITLE if number == 1 else f"{TITLE} {number}") in taken:
        number += 1
    return title


def _settle(project: Project, db: Connection, row: dict[str, object]) -> None:
    """The draft is done with, and stays so: the source that came of it is not taken back."""
    state = {"state": ExtractState.CONFIRMED.value}
    extract_id = str(row["id"])
    db.execute(update(EXTRACT).where(EXTRACT.c.id == extract_id).values(**state))
    for part in PARTS:
        artifacts.forget_draft(project, artifacts.REFERENCE, extract_id, part)
    record(project, db, Change("extract", extract_id, "confirm draft", None, extracts.image(row | state)))


def unconfirmed_classes(project: Project, item_id: str) -> Proposal | None:
    """The draft for an item that the person working has not dealt with."""
    return next(iter(proposals(project, item_id, WriterAid.CLASSIFICATION)), None)


def proposed_class(proposal: Proposal) -> ProposedType:
    """What a draft proposes; Refusal where it is of another kind."""
    if not isinstance(proposal.document, ItemClassification):
        raise GONE
    return proposal.document.units[0]


def confirm_class(
    project: Project, extract_id: str, fields: Mapping[str, str] = MappingProxyType({})
) -> Change:
    """Give an item the type and the subject of a draft, or what `fields` say instead; the draft is done with.

    The history names the model. Refusal for anyone who may not change items, and for a draft that was dealt with.
    """
    with project.store.write() as db:
        proposal = mine(project, db, extract_id)
        proposed_type = proposed_class(proposal)
        if proposal.id not in {one.id for one in proposals(project, proposal.item_id)}:
            raise GONE
        # What a person takes back first is the item's new values.
        settle(project, extract_id, ExtractState.CONFIRMED, "confirm draft")
        values = {"question_type": proposed_type.question_type, "subject": proposed_type.subject, **fields}
        return items.change_all(project, {proposal.item_id: values}, artifacts.verb(proposal.source))
