"""Correction of transcripts: words, speakers and passages left out, each act recorded so that it can be undone."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.engine import Connection

from annotator.actions.items.report_lines import DOES
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import source_hash
from annotator.actions.transcripts.seminars import NAMES
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import document_of
from annotator.domain.material import transcript_edits as edits
from annotator.domain.material.source import Source
from annotator.domain.material.transcript import EXCLUDED, Transcript, of_source
from annotator.domain.material.transcript_edits import MOVED_ON, Stretch
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.quotation import find
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ARTIFACT, AUDIT, ITEM, REVISION, SOURCE

KIND, LEAVE_OUT = "transcript", "leave out passage"
GONE = Refusal("There is no such transcript.", "Open the list again.")
# A name that parts would take for the end of one.
_NO_NAME = (":", "：", "\n")
_LONGEST_NAME = 60
Edit = Callable[[str, Transcript], tuple[Stretch, Stretch]]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A transcript in a list: its source, its item's key, its title and how long it is in characters."""

    source_id: str
    key: str
    title: str
    characters: int


@dataclass(frozen=True, slots=True)
class TranscriptAct:
    """An act in a transcript's history: when, whose, what, and the words before and after."""

    at: datetime
    by: str
    verb: str
    before: str
    after: str
    undone: bool


@dataclass(frozen=True, slots=True)
class OpenTranscript:
    """A transcript with its text, its history, newest first, and who goes by which pseudonym."""

    source: Source
    transcript: Transcript
    history: tuple[TranscriptAct, ...]
    names: Mapping[str, str]


def lines(project: Project) -> list[TranscriptLine]:
    """Every transcript of items in use, in the project's order."""
    people.refuse_others(project, DOES)
    question = (
        select(SOURCE.c.id, ITEM.c.key, SOURCE.c.title, func.length(SOURCE.c.text))
        .join(ITEM, ITEM.c.id == SOURCE.c.item_id)
        .where(SOURCE.c.transcript != "", ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, SOURCE.c.position)
    )
    with project.store.read() as db:
        return [TranscriptLine(*row) for row in db.execute(question)]


def opened(project: Project, source_id: str) -> OpenTranscript:
    """A transcript as it now is; Refusal when it is gone."""
    people.refuse_others(project, DOES)
    with project.store.read() as db:
        source, transcript = _read(db, source_id)
        acts = _acts(db, source_id)
    names = {person.id: person.name for person in people.people(project)}
    history = tuple(_act(row, names.get(row.by, "")) for row in acts)
    return OpenTranscript(source, transcript, history, project.get(NAMES + source_id, {}))


def correct(project: Project, source_id: str, start: int, end: int, words: str) -> Change:
    """Put words in the place of those at [start, end) of the text; the same words settle a doubt."""
    return _edit(
        project, source_id, "correct words", lambda text, of: edits.corrected(text, of, start, end, words)
    )


def leave_out(project: Project, source_id: str, start: int, end: int) -> Change:
    """Take the words at [start, end) out of the text: nobody reads, quotes or is sent them from now on."""
    name = new_id()[:8]
    return _edit(project, source_id, LEAVE_OUT, lambda text, of: edits.left_out(text, of, start, end, name))


def take_back(project: Project, source_id: str, at: int) -> Change:
    """Put the words back that were left out at a character of the text."""

    people.refuse_others(project, DOES)
    with project.store.write() as db:
        source, transcript = _read(db, source_id)
        name = transcript.segments[transcript.place(at)].excluded
        passages = _taken_out(db, source_id, EXCLUDED + name) if name else None
        if passages is None:
            raise Refusal("Nothing is left out here.", "Choose a passage that is left out.")
        return _exchange(project, db, "take passage back", source, transcript, passages)


def _taken_out(db: Connection, source_id: str, mark: str) -> tuple[Stretch, Stretch] | None:
    """What stands for a passage that was left out, and the passage."""
    for row in _acts(db, source_id):
        after = json.loads(row.after)
        if row.verb == LEAVE_OUT and any(mark in one[5] for one in after["passage"]["segments"]):
            return Stretch.of(after["passage"]), Stretch.of(json.loads(row.before)["passage"])
    return None


def rename(project: Project, source_id: str, names: Mapping[str, str]) -> Change:
    """Call speakers otherwise; those who get the name of another are merged with them."""
    people.refuse_others(project, DOES)
    clean = {old: " ".join(new.split()) for old, new in names.items()}
    for new in clean.values():
        if not 0 < len(new) <= _LONGEST_NAME or any(mark in new for mark in _NO_NAME):
            raise Refusal(f"“{new[:80]}” cannot be a speaker's name.", "Use a short name without a colon.")
    with project.store.write() as db:
        source, before = _read(db, source_id)
        speakers = tuple(clean.get(name, name) for name in before.speakers)
        if speakers == before.speakers:
            return Change(KIND, source_id, "nothing new", None, {})
        text, after = edits.renamed(source.text, before, speakers)
        lost = _write(db, source, text, after)
        images = {"names": list(before.speakers)}, {"names": list(speakers), "lost": lost}
        return record(project, db, Change(KIND, source_id, "name speakers", *images))


def pseudonyms(project: Project, source_id: str) -> Change:
    """Call the speakers S1, S2 … in the order in which they first speak; who is who stays in this project alone."""
    people.refuse_others(project, DOES)
    with project.store.write() as db:
        _, transcript = _read(db, source_id)
        given = {name: f"S{n}" for n, name in enumerate(dict.fromkeys(transcript.speakers), 1)}
        change = rename(project, source_id, given)
        known: dict[str, str] = project.get(NAMES + source_id, {})
        if change.seq:
            told = {pseudonym: known.get(name, name) for name, pseudonym in given.items()}
            project.set(NAMES + source_id, told)
        return change


def restore(project: Project, db: Connection, source_id: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    people.refuse_others(project, DOES)
    source, transcript = _read(db, source_id)
    if "names" in present:
        if list(transcript.speakers) != present["names"]:
            raise MOVED_ON
        _write(db, source, *edits.renamed(source.text, transcript, tuple(goal["names"])))
    else:
        passages = Stretch.of(present["passage"]), Stretch.of(goal["passage"])
        _write(db, source, *edits.exchanged(source.text, transcript, *passages))


def _edit(project: Project, source_id: str, verb: str, edit: Edit) -> Change:
    people.refuse_others(project, DOES)
    with project.store.write() as db:
        source, transcript = _read(db, source_id)
        return _exchange(project, db, verb, source, transcript, edit(source.text, transcript))


def _exchange(
    project: Project,
    db: Connection,
    verb: str,
    source: Source,
    transcript: Transcript,
    passages: tuple[Stretch, Stretch],
) -> Change:
    lost = _write(db, source, *edits.exchanged(source.text, transcript, *passages))
    before, after = ({"passage": one.tree()} for one in passages)
    return record(project, db, Change(KIND, source.id, verb, before, after | {"lost": lost}))


def _read(db: Connection, source_id: str) -> tuple[Source, Transcript]:
    row = db.execute(select(SOURCE).where(SOURCE.c.id == source_id)).mappings().first()
    source = Source(**{name: row[name] for name in Source.model_fields}) if row else None
    transcript = of_source(source) if source else None
    if source is None or transcript is None:
        raise GONE
    return source, transcript


def _write(db: Connection, source: Source, text: str, transcript: Transcript) -> list[str]:
    """Keep a transcript as it now is; the quotations that no longer stand in it."""
    values = {"text": text, "transcript": transcript.content(), "sha256": source_hash(text)}
    db.execute(update(SOURCE).where(SOURCE.c.id == source.id).values(**values))
    stood = (quote for quote in _quotes(db, source) if quote in source.text and quote not in text)
    return sorted({quote for quote in stood if find(text, quote) is None})


def _quotes(db: Connection, source: Source) -> Iterator[str]:
    """The quotations from a source in the newest documents of its item."""
    newest = (
        select(ARTIFACT.c.kind, REVISION.c.content)
        .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
        .where(ARTIFACT.c.item_id == source.item_id, REVISION.c.number == ARTIFACT.c.revision)
    )
    for kind, content in db.execute(newest):
        for unit in document_of(Kind(kind), json.loads(content)).units:
            yield from (one.quote for one in unit.anchors if one.source_id == source.id)


def _acts(db: Connection, source_id: str) -> Sequence[Any]:
    """What was done to a transcript, newest first; acts of undoing are marks on what they undid."""
    done = select(AUDIT).where(AUDIT.c.kind == KIND, AUDIT.c.subject == source_id, AUDIT.c.undoes.is_(None))
    return db.execute(done.order_by(AUDIT.c.seq.desc())).all()


def _act(row: Any, by: str) -> TranscriptAct:
    before, after = (_words(json.loads(image)) for image in (row.before, row.after))
    return TranscriptAct(row.at, by, row.verb, before, after, row.undone)


def _words(image: dict[str, Any]) -> str:
    """What an image is told by: names, or the words of a passage."""
    return ", ".join(dict.fromkeys(image["names"])) if "names" in image else str(image["passage"]["text"])
