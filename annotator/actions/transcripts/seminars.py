"""Seminars as content to import: each file an item without responses, its transcript the item's source."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import select

from annotator.actions.project.bulk import Progress
from annotator.actions.project.file import Project
from annotator.domain.material.item import SEMINARS as DATASET
from annotator.domain.material.source import SourceFormat
from annotator.domain.material.transcript import DOUBTS, Transcript, parsed
from annotator.domain.texts.canonical import sha256, storable
from annotator.domain.texts.change import derived_id
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.words import latin, unspaced
from annotator.exchange.release.bundle import Bundle, Problem, of_file
from annotator.exchange.release.records import ItemRecord, SourceRecord
from annotator.exchange.texts import documents
from annotator.exchange.transcripts import reader
from annotator.storage.tables import ITEM, SOURCE

# The setting that tells who goes by a pseudonym in a source; it leaves the project with nothing.
NAMES = "speakers/"
LONGEST_KEY = 120
UNDETERMINED = "und"
_HAN, _KANA = re.compile("[\u4e00-\u9fff]"), re.compile("[\u3041-\u30ff]")


class Seminars(NamedTuple):
    """What files bring: records, problems, and by source who goes by which pseudonym."""

    bundle: Bundle
    problems: list[Problem]
    names: dict[str, dict[str, str]]


class _Known(NamedTuple):
    item: dict[str, Any]
    source: dict[str, Any]
    file: str


def read(project: Project, paths: Sequence[Path], tell: Progress, *, pseudonyms: bool = False) -> Seminars:
    """The seminars of these files, and of those in these folders; Refusal when there is none.

    A seminar that is there already, from the same file, is given as the project has it, whatever was changed since.
    With `pseudonyms` speakers become S1, S2 … in the order in which they first speak.
    """
    files = list(_files(paths))
    if not files:
        raise Refusal(
            "There is no transcript.", f"Choose files or a folder with {', '.join(reader.ENDINGS)}."
        )
    found, known, keys = Seminars(Bundle(), [], {}), _known(project), set[str]()
    for place, path in enumerate(files):
        tell("reading transcripts", place, len(files))
        key = storable(path.stem).strip()[:LONGEST_KEY] or "seminar"
        if key in keys:
            found.problems.append(
                Problem(path.name, None, "another of these files is called the same but for its ending")
            )
            continue
        try:
            _take(found, key, path, known.get(derived_id(DATASET, key)), pseudonyms=pseudonyms)
            keys.add(key)
        except Refusal as refusal:
            found.problems.append(of_file(path.name, refusal))
    return found


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.iterdir() if one.suffix.lower() in reader.ENDINGS)
        else:
            yield path


def _known(project: Project) -> dict[str, _Known]:
    """The seminars that the project has, by the ids of their items."""
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


def _take(found: Seminars, key: str, path: Path, known: _Known | None, *, pseudonyms: bool) -> None:
    content, item_id = documents.read(path), derived_id(DATASET, key)
    file, source_id = sha256(content), _source_id(item_id)
    found.bundle.places |= {("items", item_id): (path.name, 0), ("sources", source_id): (path.name, 0)}
    if known is not None:
        if known.file != file:
            reason = f"seminar {key} was imported from a file with other content, which is kept as it is"
            found.problems.append(Problem(path.name, None, reason))
        found.bundle.items.append(_record(ItemRecord, known.item))
        found.bundle.sources.append(_record(SourceRecord, known.source))
        return
    heard = reader.read(content, path.name)
    found.problems.extend(Problem(path.name, None, one) for one in heard.bad)
    if not heard.said:
        return
    speakers = dict.fromkeys(one.speaker for one in heard.said if one.speaker)
    names = {name: f"S{number}" for number, name in enumerate(speakers, 1)} if pseudonyms else {}
    text, transcript = reader.assembled(heard.said, names, file)
    if names:
        found.names[source_id] = {pseudonym: name for name, pseudonym in names.items()}
    told = [*heard.notes, *_told(text, transcript, names)]
    found.problems.extend(Problem(path.name, None, note, note=True) for note in told)
    language = heard.language or _language(text[:20_000])
    found.bundle.items.append(
        ItemRecord(id=item_id, key=key, dataset=DATASET, question=key, language=language)
    )
    found.bundle.sources.append(
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
    """The language that the script of a text suggests."""
    if latin(text):
        return "en"
    if not unspaced(text):
        return UNDETERMINED
    han, kana = (len(one.findall(text)) for one in (_HAN, _KANA))
    if kana * 20 > han + kana:
        return "ja"
    return "zh" if han * 2 > len(text) else UNDETERMINED


def _record(kind: Any, row: dict[str, Any]) -> Any:
    return kind(**{name: row[name] for name in kind.model_fields})


def _told(text: str, transcript: Transcript, names: dict[str, str]) -> Iterator[str]:
    """What is worth knowing before it is taken in: how much is doubtful, and whether names are still said."""
    doubts = [doubt for one in transcript.segments for doubt in one.doubts]
    for doubt, words in DOUBTS.items():
        if many := doubts.count(doubt):
            yield f"{counted(many, 'passage')} marked: {words}"
    still = [name for name in names if name in text]
    if still:
        yield f"{counted(len(still), 'speaker')} named in what is said too, where pseudonyms change nothing"
