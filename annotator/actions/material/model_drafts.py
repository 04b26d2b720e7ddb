"""Runs in which a model drafts for a person; each draft is held until they take, edit or refuse it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

import orjson
from sqlalchemy import Connection, func, select, update

from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import extracts, items, materials
from annotator.actions.judges import judges
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import RunJournal
from annotator.actions.runs.run_kind import DocumentRun, RunWork, failure_words, with_failures
from annotator.actions.runs.run_records import OpenRun, RunEvent
from annotator.domain.common import (
    Change,
    Refusal,
    checked_text,
    derived_id,
    now,
    refuse_other,
    required,
    sha256,
)
from annotator.domain.experts.assignment import Person
from annotator.domain.judges.judge import Judge, JudgeKind, Status
from annotator.domain.judges.protocol import (
    Case,
    Extraction,
    Protocol,
)
from annotator.domain.kinds.artifact import Document, DraftSource, Kind, State, Unit
from annotator.domain.material.extract import (
    MARK,
    NAMES,
    PIECE_WORDS,
    ItemClassification,
    ProposedType,
    Reference,
    WriterAid,
    as_markdown,
    document_of,
    for_person,
)
from annotator.domain.material.item import ExtractState
from annotator.judging.runner import Finished
from annotator.protocols import DRAFTS
from annotator.protocols.drafts import DRAFTED_DIAGNOSTICS, DRAFTED_RUBRIC
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, DRAFT, EXTRACT, JUDGE, RUN, SOURCE, if_given

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
    """The kind of a draft by its name; raises ValueError for anything else."""
    return WriterAid(kind) if kind in set(WriterAid) else Kind(kind)


def proposals(project: Project, item_id: str = "", kind: Kind | WriterAid | None = None) -> list[Proposal]:
    """The open drafts that the person working asked for, newest first; of all items by default."""
    mine = (requested_by(people.someone(project).id), EXTRACT.c.state == ExtractState.PROPOSED.value)
    narrowed = if_given((EXTRACT.c.item_id, item_id), (EXTRACT.c.kind, kind.value if kind else ""))
    question = _question().where(*mine, *narrowed).order_by(EXTRACT.c.at.desc(), EXTRACT.c.id)
    with project.store.read() as db:
        offers = [_proposal(project, db, row) for row in db.execute(question).mappings()]
    return [proposal for proposal in offers if proposal.left]


def _open(project: Project, extract_id: str, kind: WriterAid) -> Proposal:
    """The open draft of a kind with this id; raises Refusal if the person working has none."""
    for proposal in proposals(project, kind=kind):
        if proposal.id == extract_id:
            return proposal
    raise GONE


def waiting_proposal(project: Project, begins: str, kind: str = "") -> Proposal:
    """The one open draft of the person working, by its item's key or the start of its id.

    Raises Refusal if there is none, or more than one.
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
    """Add units of a draft to the person's own document, below `after` or at the end; by default all that are left.

    The document is started if there is none. Its history then names the model and the draft; units of drafts enter only
    by this action. The one blank unit of a document just started is replaced.
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
    """Refuse the rest of a draft; it is stored, and no longer shown."""
    return settle(project, extract_id, ExtractState.REFUSED, "refuse draft")


def confirm(project: Project, extract_id: str) -> Change:
    """Mark a draft of units as done; it is stored, and no longer shown."""
    with project.store.read() as db:
        _artifacts(mine(project, db, extract_id))
    return settle(project, extract_id, ExtractState.CONFIRMED, "confirm draft")


def drafted(project: Project, artifact_id: str) -> dict[str, DraftSource]:
    """The units of a document that were taken from a model's draft, each with its source."""
    with project.store.read() as db:
        return artifacts.of_artifacts(db, [artifact_id]).get(artifact_id, {})


def taken_id(artifact_id: str, extract_id: str, unit_id: str) -> str:
    """The id of a draft's unit in a document: always the same, so that it cannot be taken twice."""
    return derived_id("taken", artifact_id, extract_id, unit_id)


def settle(
    project: Project, extract_id: str, state: ExtractState, verb: str, *, undoable: bool = True
) -> Change:
    with project.store.write() as db:
        mine(project, db, extract_id)
        row = dict(db.execute(select(EXTRACT).where(EXTRACT.c.id == extract_id)).mappings().one())
        db.execute(update(EXTRACT).where(EXTRACT.c.id == extract_id).values(state=state.value))
        before, after = extracts.image(row), extracts.image(row | {"state": state.value})
        return record(project, db, Change("extract", extract_id, verb, before if undoable else None, after))


def _question() -> Any:
    return (
        select(EXTRACT, RUN.c.snapshot, JUDGE.c.name.label("judge"))
        .join(RUN, RUN.c.id == EXTRACT.c.run_id)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
    )


def requested_by(person_id: str) -> Any:
    """The condition on the extract table for the drafts a person asked for, and nobody else's."""
    personal = EXTRACT.c.origin.like(f"judge:%:{'_' * MARK}")
    return (EXTRACT.c.response_id == "") & (EXTRACT.c.by == person_id) & personal


def mine(project: Project, db: Connection, extract_id: str) -> Proposal:
    """A draft of the person working, in any state; raises Refusal if it is gone, or someone else's."""
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
    unit_ids = {unit.id for unit in artifacts.read(project, artifact_id).document.units}
    taken = (unit.id for unit in document.units if taken_id(artifact_id, row["id"], unit.id) in unit_ids)
    return replace(proposal, taken=frozenset(taken))


def _own(project: Project, db: Connection, proposal: Proposal) -> str:
    """The id of the person's own document of the kind; empty if there is none."""
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
    """The kind of artifact that a draft's units go into; raises Refusal for one that is taken as a whole."""
    if isinstance(proposal.kind, WriterAid):
        raise Refusal("That draft is not a list of units.", "Edit its text, and add it to the item.")
    return proposal.kind


def _chosen_units(proposal: Proposal, unit_ids: Sequence[str]) -> list[Unit]:
    """The units to take, in the draft's order."""
    units = {unit.id: unit for unit in proposal.document.units}
    for unit_id in unit_ids:
        if unit_id not in units:
            raise Refusal(f"The draft has no unit “{unit_id}”.", "Look at the draft again.")
    return required(
        [unit for unit in proposal.left if not unit_ids or unit.id in unit_ids],
        f"That is in your {proposal.kind.value} already.",
        "Change it there.",
    )


def blank_unit(document: Document[Any]) -> str:
    """The id of the only unit of a document if it is blank; otherwise empty."""
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
    """What an item still needs before a model can be asked, in a sentence; empty if nothing."""
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
    """The open draft for an item of the person working, with their changes so far."""
    offers = proposals(project, item_id, WriterAid.REFERENCE)
    return _edited(project, offers[0]) if offers else None


def edit(project: Project, extract_id: str, part: str, text: str) -> None:
    """Store what is being typed into a part (`text` or `beyond`) of a draft; it is used only once confirmed."""
    artifacts.save_draft(project, artifacts.REFERENCE, extract_id, part, text)


def confirm_material(
    project: Project, extract_id: str, from_sources: str | None = None, beyond: str | None = None
) -> Change:
    """Add a draft to its item as a source for everybody, for good: as edited so far, or with these parts.

    Its `drafted` field and the history record which model wrote it, and who confirmed it when. Raises Refusal for all
    but a coordinator if work is handed out, for an empty text, and for a draft that is not open.
    """
    refuse_others(project)
    me = people.someone(project)
    with project.store.write() as db:
        proposal = _open(project, extract_id, WriterAid.REFERENCE)
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
        # Without undo: the source made of it cannot be undone either.
        settle(project, extract_id, ExtractState.CONFIRMED, "confirm draft", undoable=False)
        for part in PARTS:
            artifacts.forget_draft(project, artifacts.REFERENCE, extract_id, part)
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
    """Refuse anyone who is not a coordinator, in a project that hands out work and in one made from a task."""
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


def unconfirmed_classes(project: Project, item_id: str) -> Proposal | None:
    """The open draft of the person working for an item."""
    return next(iter(proposals(project, item_id, WriterAid.CLASSIFICATION)), None)


def proposed_class(proposal: Proposal) -> ProposedType:
    """The type that a draft proposes; raises Refusal if the draft is of another kind."""
    if not isinstance(proposal.document, ItemClassification):
        raise GONE
    return proposal.document.units[0]


def confirm_class(
    project: Project, extract_id: str, fields: Mapping[str, str] = MappingProxyType({})
) -> Change:
    """Set the type and the subject of an item from a draft, or from `fields`; the draft is then done.

    The history names the model. Raises Refusal for anyone who may not change items, and for a draft that is not open.
    """
    with project.store.write():
        proposal = _open(project, extract_id, WriterAid.CLASSIFICATION)
        proposed_type = proposed_class(proposal)
        # Undo restores the item's former values first.
        settle(project, extract_id, ExtractState.CONFIRMED, "confirm draft")
        values = {"question_type": proposed_type.question_type, "subject": proposed_type.subject, **fields}
        return items.change_all(project, {proposal.item_id: values}, artifacts.verb(proposal.source))


# The bounds of the words in a piece of a transcript.
FEWEST, MOST = 100, 20_000
# What a model can be asked to draft, by the kind it makes.
OFFERED: dict[Kind | WriterAid, Extraction] = {
    proposed(one.makes): one for one in (*DRAFTS.values(), DRAFTED_RUBRIC, DRAFTED_DIAGNOSTICS)
}
_LETTERS_OF_TRIAL = 8


def kind_of(name: str) -> Kind | WriterAid:
    """The kind of that name; raises Refusal if there is none."""
    if name not in {*Kind, *WriterAid}:
        raise Refusal(f"“{name}” is not a kind of document.", f"Choose one of {', '.join(OFFERED)}.")
    return proposed(name)


def offered(project: Project) -> list[Kind | WriterAid]:
    """The kinds that models draft of those the project uses, besides the type of an item."""
    used = profile.profile(project).kinds
    return [kind for kind in OFFERED if kind in used or kind is WriterAid.REFERENCE]


def protocol_name(kind: Kind | WriterAid) -> str:
    """The name of runs that draft a kind; raises Refusal for a kind that models do not draft."""
    refuse_other(kind, OFFERED, f"Models do not draft {_named(kind)}.", "Choose one of")
    return judge_cases.DRAFT + OFFERED[kind].name


def wording(kind: Kind | WriterAid) -> str:
    """The name of the prompt that asks for a kind."""
    return OFFERED[kind].prompts[0]


def _checked(project: Project, order: judge_cases.RunRequest) -> tuple[Extraction, Judge]:
    result = {judge_cases.DRAFT + one.name: one for one in OFFERED.values()}
    refuse_other(order.protocol, result, f"“{order.protocol}” cannot be drafted.", "Available:")
    if not order.items:
        raise Refusal("No items are given to draft for.", "Name one or more: --item KEY.")
    extraction, judge = result[order.protocol], judges.named(project, order.judge)
    if judge.kind == JudgeKind.DERIVED:
        raise Refusal("A vote drafts nothing.", "Choose a judge with an endpoint.")
    if order.piece_words and not FEWEST <= order.piece_words <= MOST:
        raise Refusal(
            f"Pieces have {FEWEST} to {MOST} words.", "Give another size, or leave --piece-words out."
        )
    if judge.kind == JudgeKind.BASELINE and extraction.baseline is None:
        raise Refusal(
            f"A model is needed to draft {_named(proposed(extraction.makes))}.",
            "Choose a judge with an endpoint.",
        )
    judge_cases.checked_scope(project, replace(order, systems=()))
    items.refuse_kind(project, order.items, proposed(extraction.makes))
    return extraction, judge


def _named(kind: Kind | WriterAid) -> str:
    return NAMES[kind] if isinstance(kind, WriterAid) else f"a {kind.value}"


class DraftRun(DocumentRun):
    """A run in which a judge drafts for the person working; `protocol` names the kind of draft.

    An item with an open draft gets no second one. The last event lists failures with their cause under `failed`.
    """

    doing, resumed, skips = "drafting", False, True
    things, reply_tokens = "drafts", 1_500
    verdict, nothing, may_be_empty = "drafted", "Nothing was drafted.", False

    def read(self, project: Project, order: judge_cases.RunRequest) -> tuple[Judge, Protocol]:
        extraction, judge = _checked(project, order)
        self.kind = proposed(extraction.makes)
        self.person: Person = people.someone(project)
        self.items = materials.item_ids(project, order.items)
        self.to_do = [item for item in self.items if not proposals(project, item, self.kind)]
        self.failed: list[dict[str, Any]] = []
        return judge, self.protocol_by(extraction, order.protocol)

    def work(self, run: OpenRun, journal: RunJournal) -> RunWork:
        return RunWork(
            self.protocol, self.cases, len(self.to_do), 0, f"{self._extraction.makes.value} drafted"
        )

    def ended(self, line: RunEvent, journal: RunJournal) -> RunEvent:
        waiting = [items.read(self.project, item).key for item in self.items if item not in self.to_do]
        return {**with_failures(line, self.failed), "waiting": waiting}

    @staticmethod
    def words(line: RunEvent) -> list[str]:
        sentences = failure_words(line, lambda one: f"Item {one['item']}")
        keys = line.get("waiting", ())
        open_ = f"Not asked again, as a draft is open: {', '.join(keys)}. Take or refuse it first."
        return [*sentences, open_] if keys else sentences

    def cases(self) -> Iterator[Case]:
        """A case for each item, with what this person may see of it.

        Its trial is specific to them: nobody is served from the journal what another was shown.
        """
        material = materials.MaterialRequest((), texts=self._extraction.exemplar, sources=True)
        for at_hand in materials.each(self.project, material, self.to_do):
            item = at_hand.item
            # Consensus takes precedence over the person's own document, and that over imported gold.
            seen = sorted(
                reversed(annotating.artifacts_of(self.project, item.id)),
                key=lambda artifact: artifact.state is State.CONSENSUS,
            )
            documents = {artifact.kind: artifact.document for artifact in seen}
            size = self.order.piece_words or PIECE_WORDS
            own = replace(at_hand.own, documents=documents, piece_words=size)
            self._materials[item.id, own.response.id] = own
            unit = Unit(id=self.kind.value)
            trial = 1 + int(sha256(f"{self.person.id}/{self.number(item.id)}")[:_LETTERS_OF_TRIAL], 16)
            yield Case(self.order.protocol, item, own.response, "", (unit,), trial)

    def number(self, item_id: str) -> int:
        return 1 + int(
            self.project.query(
                select(func.count()).where(
                    EXTRACT.c.item_id == item_id,
                    EXTRACT.c.kind == self.kind.value,
                    requested_by(self.person.id),
                )
            ).scalar_one()
        )

    def keep(self, journal: RunJournal, db: Connection, done: list[Finished], at: datetime) -> int:
        count = 0
        for finished in done:
            item, verdict = finished.case.item, next(iter(finished.verdicts.values()))
            result = self._extracted.pop((item.id, finished.case.response.id), None)
            if result is None or result.document is None or verdict.status is not Status.OK:
                self.failed.append({"item": item.key, "status": verdict.status.value, "cause": verdict.cause})
                continue
            person, kind, run_id = self.person, self.kind, journal.run_id
            origin = for_person(self.judge.id, person.id, self.number(item.id))
            _, row = extracts.keep_row(
                db, (item.id, ""), kind, result.document, origin, flags=verdict.flags, run_id=run_id
            )
            db.execute(update(EXTRACT).where(EXTRACT.c.id == row["id"]).values(by=person.id))
            about = {"item": item.key, "kind": kind.value, "run": run_id, "for": person.id}
            record(self.project, db, Change("extract", row["id"], "draft", None, about))
            count += 1
        return count


run = DraftRun.run
