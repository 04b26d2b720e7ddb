"""Seminars as content to import: each file an item without responses, its transcript the item's source."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select, update

from annotator import loading
from annotator.actions.items.materials import DOES
from annotator.actions.project import people
from annotator.actions.project.file import Progress, Project, record, source_hash
from annotator.actions.project.incoming import ForeignFiles
from annotator.domain.common import Change, Refusal, counted, derived_id, new_id, required, sha256, storable
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import document_of
from annotator.domain.material.item import SEMINARS as DATASET, Source, SourceFormat
from annotator.domain.material.transcript import (
    DOUBTS,
    EXCLUDED,
    MOVED_ON,
    Stretch,
    Transcript,
    corrected,
    exchanged,
    left_out,
    of_source,
    parsed,
    renamed,
)
from annotator.domain.texts.difference import find
from annotator.domain.texts.words import latin, unspaced
from annotator.exchange import transcripts
from annotator.exchange.release.bundle import Bundle, Problem, of_file
from annotator.exchange.release.records import ItemRecord, SourceRecord
from annotator.exchange.texts import documents
from annotator.storage.tables import ARTIFACT, AUDIT, ITEM, REVISION, SOURCE

# The setting with the speakers behind the pseudonyms of a source; it never leaves the project.
NAMES = "speakers/"
LONGEST_KEY = 120
UNDETERMINED = "und"
_HAN, _KANA = re.compile("[\u4e00-\u9fff]"), re.compile("[\u3041-\u30ff]")


class _Known(NamedTuple):
    item: dict[str, Any]
    source: dict[str, Any]
    file: str


def read(
    project: Project, paths: Sequence[Path], tell: Progress, *, pseudonyms: bool = False
) -> ForeignFiles:
    """The seminars of these files, and of those in these folders; raises Refusal if there is none.

    A seminar already imported from the same file is returned as the project has it, with any later changes. With
    `pseudonyms`, speakers become S1, S2 … in the order in which they first speak.
    """
    files = required(
        list(_files(paths)),
        "There is no transcript.",
        f"Choose files or a folder with {', '.join(transcripts.ENDINGS)}.",
    )
    result, known, keys = ForeignFiles(Bundle(), [], {}), _known(project), set[str]()
    for place, path in enumerate(files):
        tell("reading transcripts", place, len(files))
        key = storable(path.stem).strip()[:LONGEST_KEY] or "seminar"
        if key in keys:
            result.problems.append(
                Problem(path.name, None, "another of these files is called the same but for its ending")
            )
            continue
        try:
            _take(result, key, path, known.get(derived_id(DATASET, key)), pseudonyms=pseudonyms)
            keys.add(key)
        except Refusal as refusal:
            result.problems.append(of_file(path.name, refusal))
    return result


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.iterdir() if one.suffix.lower() in transcripts.ENDINGS)
        else:
            yield path


def _known(project: Project) -> dict[str, _Known]:
    with project.store.read() as db:
        items = db.execute(select(ITEM).where(ITEM.c.dataset == DATASET)).mappings()
        by_id = {row["id"]: dict(row) for row in items}
        held = select(SOURCE).where(SOURCE.c.item_id.in_(by_id), SOURCE.c.transcript != "")
        rows = [dict(row) for row in db.execute(held).mappings()]
    return {
        row["item_id"]: _Known(by_id[row["item_id"]], row, parsed(row["transcript"]).file)
        for row in rows
        if row["id"] == _source_id(row["item_id"])
    }


def _source_id(item_id: str) -> str:
    return derived_id(item_id, "source", 0)


# A long transcript becomes a hundred thousand objects, none of them garbage before it ends.
@loading()
def _take(seminars: ForeignFiles, key: str, path: Path, known: _Known | None, *, pseudonyms: bool) -> None:
    content, item_id = documents.read(path), derived_id(DATASET, key)
    file, source_id = sha256(content), _source_id(item_id)
    seminars.bundle.places |= {("items", item_id): (path.name, 0), ("sources", source_id): (path.name, 0)}
    if known is not None:
        if known.file != file:
            reason = f"seminar {key} was imported from a file with other content, which is kept as it is"
            seminars.problems.append(Problem(path.name, None, reason))
        seminars.bundle.items.append(_record(ItemRecord, known.item))
        seminars.bundle.sources.append(_record(SourceRecord, known.source))
        return
    read_transcript = transcripts.read(content, path.name)
    seminars.problems.extend(Problem(path.name, None, one) for one in read_transcript.bad)
    if not read_transcript.lines:
        return
    speakers = dict.fromkeys(line.speaker for line in read_transcript.lines if line.speaker)
    names = {name: f"S{number}" for number, name in enumerate(speakers, 1)} if pseudonyms else {}
    text, transcript = transcripts.assembled(read_transcript.lines, names, file)
    if names:
        seminars.names[source_id] = {pseudonym: name for name, pseudonym in names.items()}
    notes = [*read_transcript.notes, *_remarks(text, transcript, names)]
    seminars.problems.extend(Problem(path.name, None, note, note=True) for note in notes)
    language = read_transcript.language or _language(text[:20_000])
    seminars.bundle.items.append(
        ItemRecord(id=item_id, key=key, dataset=DATASET, question=key, language=language)
    )
    seminars.bundle.sources.append(
        SourceRecord(
            id=source_id,
            item_id=item_id,
            title=key,
            format=SourceFormat.TRANSCRIPT,
            text=text,
            transcript=transcript.content(),
        )
    )


def _language(text: str) -> str:
    if latin(text):
        return "en"
    if not unspaced(text):
        return UNDETERMINED
    han, kana = (len(pattern.findall(text)) for pattern in (_HAN, _KANA))
    if kana * 20 > han + kana:
        return "ja"
    return "zh" if han * 2 > len(text) else UNDETERMINED


def _record(kind: Any, row: dict[str, Any]) -> Any:
    return kind(**{name: row[name] for name in kind.model_fields})


def _remarks(text: str, transcript: Transcript, names: dict[str, str]) -> Iterator[str]:
    """Notes worth reading before the import: how much is doubtful, and whether names still occur in the text."""
    doubts = [doubt for segment in transcript.segments for doubt in segment.doubts]
    for doubt, words in DOUBTS.items():
        if many := doubts.count(doubt):
            yield f"{counted(many, 'passage')} marked: {words}"
    still = [name for name in names if name in text]
    if still:
        yield f"{counted(len(still), 'speaker')} named in what is said too, where pseudonyms change nothing"


KIND, LEAVE_OUT = "transcript", "leave out passage"
GONE = Refusal("There is no such transcript.", "Open the list again.")
# Marks that would be parsed as the end of a name.
_NO_NAME = (":", "：", "\n")
_LONGEST_NAME = 60
Edit = Callable[[str, Transcript], tuple[Stretch, Stretch]]


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """A transcript in a list: its source, its item's key, its title and its length in characters."""

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
    """A transcript with its text, its history, newest first, and the speaker behind each pseudonym."""

    source: Source
    transcript: Transcript
    history: tuple[TranscriptAct, ...]
    names: Mapping[str, str]


@people.for_coordinators(DOES)
def lines(project: Project) -> list[TranscriptLine]:
    question = (
        select(SOURCE.c.id, ITEM.c.key, SOURCE.c.title, func.length(SOURCE.c.text))
        .join(ITEM, ITEM.c.id == SOURCE.c.item_id)
        .where(SOURCE.c.transcript != "", ITEM.c.retired.is_(False))
        .order_by(ITEM.c.position, ITEM.c.key, SOURCE.c.position)
    )
    return [TranscriptLine(*row) for row in project.query(question)]


@people.for_coordinators(DOES)
def opened(project: Project, source_id: str) -> OpenTranscript:
    """The current transcript; raises Refusal if it no longer exists."""
    with project.store.read() as db:
        source, transcript = _read(db, source_id)
        acts = _acts(db, source_id)
    names = {person.id: person.name for person in people.people(project)}
    history = tuple(_act(row, names.get(row.by, "")) for row in acts)
    return OpenTranscript(source, transcript, history, project.get(NAMES + source_id, {}))


def correct(project: Project, source_id: str, start: int, end: int, words: str) -> Change:
    """Replace the words at [start, end) of the text; the same words settle a doubt."""
    return _edit(project, source_id, "correct words", lambda text, of: corrected(text, of, start, end, words))


def leave_out(project: Project, source_id: str, start: int, end: int) -> Change:
    """Leave out the words at [start, end) of the text: nobody reads, quotes or is sent them from now on."""
    name = new_id()[:8]
    return _edit(project, source_id, LEAVE_OUT, lambda text, of: left_out(text, of, start, end, name))


@people.for_coordinators(DOES)
def take_back(project: Project, source_id: str, at: int) -> Change:
    with project.store.write() as db:
        source, transcript = _read(db, source_id)
        name = transcript.segments[transcript.place(at)].excluded
        passages = required(
            _taken_out(db, source_id, EXCLUDED + name) if name else None,
            "Nothing is left out here.",
            "Choose a passage that is left out.",
        )
        return _exchange(project, db, "take passage back", source, transcript, passages)


def _taken_out(db: Connection, source_id: str, mark: str) -> tuple[Stretch, Stretch] | None:
    for row in _acts(db, source_id):
        after = json.loads(row.after)
        if row.verb == LEAVE_OUT and any(mark in one[5] for one in after["passage"]["segments"]):
            return Stretch.of(after["passage"]), Stretch.of(json.loads(row.before)["passage"])
    return None


@people.for_coordinators(DOES)
def rename(project: Project, source_id: str, names: Mapping[str, str]) -> Change:
    """Rename speakers; those given the name of another are merged with them."""
    clean = {old: " ".join(new.split()) for old, new in names.items()}
    for new in clean.values():
        if not 0 < len(new) <= _LONGEST_NAME or any(mark in new for mark in _NO_NAME):
            raise Refusal(f"“{new[:80]}” cannot be a speaker's name.", "Use a short name without a colon.")
    with project.store.write() as db:
        source, before = _read(db, source_id)
        speakers = tuple(clean.get(name, name) for name in before.speakers)
        if speakers == before.speakers:
            return Change(KIND, source_id, "nothing new", None, {})
        text, after = renamed(source.text, before, speakers)
        lost = _write(db, source, text, after)
        images = {"names": list(before.speakers)}, {"names": list(speakers), "lost": lost}
        return record(project, db, Change(KIND, source_id, "name speakers", *images))


@people.for_coordinators(DOES)
def pseudonyms(project: Project, source_id: str) -> Change:
    """Name the speakers S1, S2 … in the order in which they first speak; who is who stays in this project alone."""
    with project.store.write() as db:
        _, transcript = _read(db, source_id)
        given = {name: f"S{n}" for n, name in enumerate(dict.fromkeys(transcript.speakers), 1)}
        change = rename(project, source_id, given)
        known: dict[str, str] = project.get(NAMES + source_id, {})
        if change.seq:
            names = {pseudonym: known.get(name, name) for name, pseudonym in given.items()}
            project.set(NAMES + source_id, names)
        return change


@people.for_coordinators(DOES)
def restore(_project: Project, db: Connection, source_id: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    source, transcript = _read(db, source_id)
    if "names" in present:
        if list(transcript.speakers) != present["names"]:
            raise MOVED_ON
        _write(db, source, *renamed(source.text, transcript, tuple(goal["names"])))
    else:
        passages = Stretch.of(present["passage"]), Stretch.of(goal["passage"])
        _write(db, source, *exchanged(source.text, transcript, *passages))


@people.for_coordinators(DOES)
def _edit(project: Project, source_id: str, verb: str, edit: Edit) -> Change:
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
    lost = _write(db, source, *exchanged(source.text, transcript, *passages))
    before, after = ({"passage": passage.tree()} for passage in passages)
    return record(project, db, Change(KIND, source.id, verb, before, after | {"lost": lost}))


def _read(db: Connection, source_id: str) -> tuple[Source, Transcript]:
    row = db.execute(select(SOURCE).where(SOURCE.c.id == source_id)).mappings().first()
    source = Source(**{name: row[name] for name in Source.model_fields}) if row else None
    transcript = of_source(source) if source else None
    if source is None or transcript is None:
        raise GONE
    return source, transcript


def _write(db: Connection, source: Source, text: str, transcript: Transcript) -> list[str]:
    values = {"text": text, "transcript": transcript.content(), "sha256": source_hash(text)}
    db.execute(update(SOURCE).where(SOURCE.c.id == source.id).values(**values))
    stood = (quote for quote in _quotes(db, source) if quote in source.text and quote not in text)
    return sorted({quote for quote in stood if find(text, quote) is None})


def _quotes(db: Connection, source: Source) -> Iterator[str]:
    newest = (
        select(ARTIFACT.c.kind, REVISION.c.content)
        .join(REVISION, REVISION.c.artifact_id == ARTIFACT.c.id)
        .where(ARTIFACT.c.item_id == source.item_id, REVISION.c.number == ARTIFACT.c.revision)
    )
    for kind, content in db.execute(newest):
        for unit in document_of(Kind(kind), json.loads(content)).units:
            yield from (anchor.quote for anchor in unit.anchors if anchor.source_id == source.id)


def _acts(db: Connection, source_id: str) -> Sequence[Any]:
    """The acts on a transcript, newest first; undoing is not an act but a mark on the act undone."""
    done = select(AUDIT).where(AUDIT.c.kind == KIND, AUDIT.c.subject == source_id, AUDIT.c.undoes.is_(None))
    return db.execute(done.order_by(AUDIT.c.seq.desc())).all()


def _act(row: Any, by: str) -> TranscriptAct:
    before, after = (_words(json.loads(image)) for image in (row.before, row.after))
    return TranscriptAct(row.at, by, row.verb, before, after, row.undone)


def _words(image: dict[str, Any]) -> str:
    """An image in words: names, or the text of a passage."""
    return ", ".join(dict.fromkeys(image["names"])) if "names" in image else str(image["passage"]["text"])
