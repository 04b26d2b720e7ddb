"""Reference material drafted by a model, attached to an item once a person has edited and confirmed it.

ResearcherBench (§4.1.1, appendix C.1.1) gives it to the experts beside the key insights, for them to write from.
"""

from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating, draft_provenance
from annotator.actions.items import extracts, sources
from annotator.actions.material import drafting_by_model
from annotator.actions.project import drafts, people
from annotator.actions.project.file import Project, record
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.extract import ExtractState
from annotator.domain.material.writer_aid import Reference, WriterAid, as_markdown
from annotator.domain.texts.canonical import checked_text
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ASSIGNMENT, DRAFT, EXTRACT, SOURCE

TITLE = "Reference material"
DOES = "can add reference material to an item, if work is handed out"
NO_SOURCE = "Add a source with text to this item first: a model writes from sources only."
NO_INSIGHTS = "Write key insights first: reference material is written from them and the sources."
# The fields of a draft that is being edited.
PARTS = FROM_SOURCES, BEYOND = "text", "beyond"


@dataclass(frozen=True, slots=True)
class EditedDraft:
    """A draft as edited so far: its two parts, and whether they differ from the original."""

    proposal: drafting_by_model.Proposal
    from_sources: str
    beyond: str

    @property
    def edited(self) -> bool:
        """Whether anything of it was changed."""
        document = self.proposal.document
        return not (isinstance(document, Reference) and document.parts == (self.from_sources, self.beyond))


def lacks(project: Project, item_id: str) -> str:
    """What an item still needs before a model can be asked, in a sentence; empty when nothing."""
    if not any(one.text.strip() and not one.drafted for one in sources.sources(project, item_id)):
        return NO_SOURCE
    found = (one.document for one in annotating.artifacts_of(project, item_id) if one.kind is Kind.INSIGHTS)
    document = next(found, None)
    told = document is not None and any(unit.text.strip() for unit in document.units)
    return "" if told else NO_INSIGHTS


def waiting(project: Project, item_id: str) -> EditedDraft | None:
    """The draft for an item that the person working has not dealt with, with what they changed in it so far."""
    found = drafting_by_model.proposals(project, item_id, WriterAid.REFERENCE)
    return _edited(project, found[0]) if found else None


def edit(project: Project, extract_id: str, part: str, text: str) -> None:
    """Keep what is being typed into a part (`text` or `beyond`) of a draft; it goes nowhere before it is confirmed."""
    drafts.save(project, drafts.REFERENCE, extract_id, part, text)


def confirm(
    project: Project, extract_id: str, from_sources: str | None = None, beyond: str | None = None
) -> Change:
    """Put a draft beside its item as a source for everybody, for good: as edited so far, or with these parts.

    Its `drafted` and the history say which model wrote it, and who confirmed it when. Refusal to all but a
    coordinator where work is handed out, for an empty text, and for a draft that was dealt with.
    """
    refuse_others(project)
    me = people.someone(project)
    with project.store.write() as db:
        proposal = drafting_by_model.mine(project, db, extract_id)
        row = dict(db.execute(select(EXTRACT).where(EXTRACT.c.id == extract_id)).mappings().one())
        if proposal.kind is not WriterAid.REFERENCE or row["state"] != ExtractState.PROPOSED.value:
            raise drafting_by_model.GONE
        kept = _edited(project, proposal)
        first = kept.from_sources if from_sources is None else from_sources
        then = kept.beyond if beyond is None else beyond
        text = _checked(as_markdown(first, then))
        assert isinstance(proposal.document, Reference)
        drafted_text = as_markdown(*proposal.document.parts)
        how = "confirmed" if text == drafted_text else "edited and confirmed"
        day = f"{now():%Y-%m-%d}"
        told = f"Drafted by {proposal.source.name[:400]}; {how} by {me.alias} on {day}."
        source = sources.put(db, proposal.item_id, _title(db, proposal.item_id), text, drafted=told)
        _settle(project, db, row)
        about = draft_provenance.about({source.id: proposal.id}, proposal.source)
        after = source.model_dump(mode="json", exclude={"text"}) | about
        verb = draft_provenance.verb(proposal.source)
        return record(project, db, Change("source", source.id, verb, after=after))


def may_confirm(project: Project) -> bool:
    """Whether the person working may put reference material beside an item."""
    try:
        refuse_others(project)
    except Refusal:
        return False
    return True


def refuse_others(project: Project) -> None:
    """Refuse anyone who is no coordinator, in a project that hands work out and in one that was handed out."""
    with project.store.read() as db:
        shared = db.execute(select(ASSIGNMENT.c.id).limit(1)).first() is not None
    if shared or project.from_task:
        people.refuse_others(project, DOES)


def _edited(project: Project, proposal: drafting_by_model.Proposal) -> EditedDraft:
    document = proposal.document
    drafted = document.parts if isinstance(document, Reference) else ("", "")
    places = {drafts.place_of(drafts.REFERENCE, proposal.id, part): part for part in PARTS}
    draft = DRAFT
    question = select(draft.c.place, draft.c.text).where(
        draft.c.person_id == people.someone(project).id, draft.c.place.in_(places)
    )
    with project.store.read() as db:
        typed = {places[place]: text for place, text in db.execute(question)}
    return EditedDraft(proposal, typed.get(FROM_SOURCES, drafted[0]), typed.get(BEYOND, drafted[1]))


def _checked(text: str) -> str:
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
    question = select(source.c.title).where(source.c.item_id == item_id)
    taken = set(db.execute(question).scalars())
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
        drafts.forget(project, drafts.REFERENCE, extract_id, part)
    record(project, db, Change("extract", extract_id, "confirm draft", None, extracts.image(row | state)))
