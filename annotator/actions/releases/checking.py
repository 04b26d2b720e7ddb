"""Checks of a whole project: its pages, the hash of every row and the links between rows; and a search for copies."""

import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial, reduce
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import delete, select

from annotator.actions.authoring import annotating
from annotator.actions.authoring.artifacts import (
    REFERENCE,
    REMARK,
    RULING,
    artifact_of,
    draft_parts as parts_of,
)
from annotator.actions.project import document_checks, people
from annotator.actions.project.file import (
    Progress,
    Project,
    cut_short,
    item_hash,
    judgement_hash,
    page_hash,
    response_hash,
    row_hash,
    silent,
    source_hash,
)
from annotator.actions.runs.journal import call_hash
from annotator.domain.common import Refusal, counted, sha256
from annotator.domain.experts.publication import CANARY, canary_of
from annotator.domain.kinds.artifact import Kind, chain
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.item import PageState
from annotator.domain.texts.words import SHORTEST, CopyFinder
from annotator.exchange import table_files
from annotator.exchange.release.encryption import plain_text
from annotator.exchange.release.release import canaries_of
from annotator.storage import integrity, store
from annotator.storage.connection import raw_connection
from annotator.storage.opening import CHECKED_AT_ONCE
from annotator.storage.tables import ITEM, RENDERING

Row = Mapping[str, Any]
FROM_BACKUP = "Restore it from a backup; do not release from this file."
MENDABLE = "Your data is not affected; it can be rebuilt (mend)."
SHOWN = 100
# At most this many unreadable files are named.
_NAMED = 8
# The driver raises the second if SQLite's message quotes a broken name.
UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True)
class CheckFinding:
    table: str
    subject: str
    happened: str
    todo: str

    def __str__(self) -> str:
        return f"{self.happened} {self.todo}"


@dataclass(frozen=True, slots=True)
class CheckReport:
    problems: list[CheckFinding]
    counted: dict[str, int]


@dataclass
class _Look:
    raw: sqlite3.Connection
    counted: dict[str, int] = field(default_factory=dict)
    blamed: set[tuple[str, int]] = field(default_factory=set)
    judged: set[tuple[str, str]] = field(default_factory=set)
    units: dict[str, set[str]] = field(default_factory=dict)
    extracts: set[str] = field(default_factory=set)


Step = Callable[[_Look], Iterator[CheckFinding]]


def check(project: Project, progress: Progress | None = None) -> CheckReport:
    """Check the file as it is on disk, not as cached in memory; nothing is changed.

    Works on a copy, so that nobody's saving waits for it; a large project's copy goes to the temporary folder. Raises
    Refusal if there is no room for it.
    """
    problems: list[CheckFinding] = []
    with _copied(project, problems) as raw:
        look = _Look(raw)
        for number, (name, step) in enumerate(STEPS):
            if progress is not None:
                progress(name, number, len(STEPS))
            problems += _attempted(step, look)
    return CheckReport(problems, look.counted)


def mend(project: Project) -> None:
    """Rebuild what is derived from other rows: the search index and the cached renderings of reports."""
    with project.store.write() as db:
        db.execute(delete(RENDERING))
        store.rebuild(db)


@contextmanager
def _copied(project: Project, problems: list[CheckFinding]) -> Iterator[sqlite3.Connection]:
    with tempfile.TemporaryDirectory(prefix="goldsmith-check-", ignore_cleanup_errors=True) as folder:
        place = ":memory:" if project.path.stat().st_size <= CHECKED_AT_ONCE else Path(folder) / "copy"
        with closing(sqlite3.connect(place, isolation_level=None)) as copy:
            try:
                # A connection of its own: the project's caches pages that the disk may have lost since.
                with closing(raw_connection(project.path, readonly=True)) as source:
                    source.backup(copy)
            except sqlite3.OperationalError as error:
                raise Refusal(
                    f"The project could not be copied for the check: {error}.",
                    "Free some space in the temporary folder and try again.",
                ) from error
            except sqlite3.DatabaseError as error:
                problems.append(_unreadable("file", error))
            yield copy


def _attempted(step: Step, look: _Look) -> list[CheckFinding]:
    result: list[CheckFinding] = []
    try:
        return _first_findings(step, look, result)
    except UNREADABLE:
        # A flipped bit may leave bytes that are not text; the row should be named, not end the check.
        look.raw.text_factory = partial(str, encoding="utf-8", errors="replace")
    result.clear()
    try:
        return _first_findings(step, look, result)
    except UNREADABLE as error:
        return [*result, _unreadable("file", error)]
    finally:
        look.raw.text_factory = str


def _first_findings(step: Step, look: _Look, findings: list[CheckFinding]) -> list[CheckFinding]:
    for finding in step(look):
        if len(findings) == SHOWN:
            findings.append(
                CheckFinding(finding.table, "", "There are more findings of this kind.", FROM_BACKUP)
            )
            break
        findings.append(finding)
    return findings


def _unreadable(table: str, error: Exception) -> CheckFinding:
    return CheckFinding(table, "", f"A part of the file cannot be read ({error}).", FROM_BACKUP)


def _pages(look: _Look) -> Iterator[CheckFinding]:
    for (verdict,) in look.raw.execute("PRAGMA integrity_check"):
        if verdict != "ok":
            yield CheckFinding("file", "", f"A page of the file is damaged: {verdict}.", FROM_BACKUP)


def _tables(look: _Look) -> Iterator[CheckFinding]:
    if integrity.schema_altered(look.raw):
        yield CheckFinding("file", "", "The tables are not those of the program.", FROM_BACKUP)


def _making(look: _Look) -> Iterator[CheckFinding]:
    if words := cut_short(look.raw.execute):
        yield CheckFinding("meta", "", words, "Rebuild it; your text is still there.")


def _links(look: _Look) -> Iterator[CheckFinding]:
    for table, row, parent, _ in look.raw.execute("PRAGMA foreign_key_check"):
        subject = _name(look, table, row)
        yield CheckFinding(
            table, subject, f"{_called(table, subject)} belongs to a {parent} that is gone.", FROM_BACKUP
        )


def _hashes(table: str, digest: Callable[[Row], str]) -> Step:
    def step(look: _Look) -> Iterator[CheckFinding]:
        cursor = look.raw.execute(f'SELECT rowid AS row, * FROM "{table}"')  # noqa: S608 - our own names only
        names = [column[0] for column in cursor.description]
        look.counted[table] = 0
        for values in cursor:
            look.counted[table] += 1
            row = dict(zip(names, values, strict=True))
            if not _holds(row, digest):
                look.blamed.add((table, row["row"]))
                subject = _name(look, table, row["row"])
                yield CheckFinding(table, subject, f"{_called(table, subject)} was altered.", FROM_BACKUP)
            _remember(look, table, row)

    return step


def _page(row: Row) -> str:
    """The text of a page that was read may have been left out of its release; then only its hash was imported."""
    alone = row["state"] == PageState.OK.value and row["text"] == ""
    return str(row["sha256"]) if alone else page_hash(row["text"])


def _holds(row: Row, digest: Callable[[Row], str]) -> bool:
    try:
        return bool(digest(row) == row["sha256"])
    except (TypeError, ValueError, AttributeError):
        # A bit flip can turn a text into bytes or a date into none.
        return False


def _remember(look: _Look, table: str, row: Row) -> None:
    if table == "judgement" and row["artifact_id"]:
        look.judged.add((row["artifact_id"], row["unit_id"]))
    elif table == "extract":
        look.extracts.add(row["id"])
    elif table == "revision":
        units = look.units.setdefault(row["artifact_id"], set())
        try:
            units.update(unit["id"] for unit in orjson.loads(row["content"])["units"])
        except (TypeError, ValueError, KeyError):
            # Its hash has been reported already.
            return


def _name(look: _Look, table: str, row: int) -> str:
    keys = [column[1] for column in look.raw.execute(f'PRAGMA table_info("{table}")') if column[5]]
    result = look.raw.execute(f'SELECT "{keys[0]}" FROM "{table}" WHERE rowid = ?', [row]).fetchone()  # noqa: S608
    return str(result[0]) if result else str(row)


def _called(table: str, subject: str) -> str:
    return f"The {table.replace('_', ' ')} {subject}"


def _witnesses(look: _Look) -> Iterator[CheckFinding]:
    for table in integrity.present(look.raw):
        (look.counted[table],) = look.raw.execute(f'SELECT count(*) FROM "{table}"').fetchone()  # noqa: S608
        for row, what in integrity.altered(look.raw, table):
            if (table, row) not in look.blamed:
                look.blamed.add((table, row))
                todo = MENDABLE if table == "rendering" else FROM_BACKUP
                subject = _name(look, table, row)
                yield CheckFinding(table, subject, f"{_called(table, subject)} {what}.", todo)


def _documents(look: _Look) -> Iterator[CheckFinding]:
    for table, row, subject, _ in document_checks.unfit(look.raw):
        if (table, row) not in look.blamed:
            words = f"{_called(table, subject)} cannot be read: it is not what it should be."
            yield CheckFinding(table, subject, words, FROM_BACKUP)


def _chains(look: _Look) -> Iterator[CheckFinding]:
    artifact, number, link = "", 0, ""
    question = (
        "SELECT artifact_id, coalesce(CAST(number AS INTEGER), 0), sha256, chain, skipped FROM revision "
        "ORDER BY artifact_id, number"
    )
    for of_artifact, of_number, digest, stored, skipped in look.raw.execute(question):
        between = str(skipped or "").split()
        if of_artifact != artifact:
            artifact, number, link = of_artifact, of_number - len(between) - 1, ""
        if of_number != number + len(between) + 1 or stored != reduce(chain, [*between, digest], link):
            yield CheckFinding(
                "revision",
                of_artifact,
                f"Revision {of_number} of the artifact {of_artifact} does not follow the one before.",
                FROM_BACKUP,
            )
        number, link = of_number, stored


def _newest_revisions(look: _Look) -> Iterator[CheckFinding]:
    question = (
        "SELECT a.id, a.revision, max(r.number) FROM artifact a LEFT JOIN revision r ON r.artifact_id = a.id "
        "GROUP BY a.id HAVING max(r.number) IS NOT a.revision"
    )
    for artifact, shown, newest in look.raw.execute(question):
        yield CheckFinding(
            "artifact", artifact,
            f"The artifact {artifact} shows revision {shown}, but its newest is {newest or 'gone'}.", FROM_BACKUP,
        )  # fmt: skip


def _judged_units(look: _Look) -> Iterator[CheckFinding]:
    for artifact, unit in sorted(look.judged, key=repr):
        # An extract may be extracted again, and has no revisions.
        if artifact in look.extracts:
            continue
        if artifact not in look.units:
            yield CheckFinding(
                "judgement", artifact, f"The artifact {artifact}, which was judged by, is gone.", FROM_BACKUP
            )
        # A cell of a matrix is named by a unit of each side, of which the artifact has one.
        elif not look.units[artifact].intersection((unit, *unit.split("~"))):
            yield CheckFinding(
                "judgement", unit, f"The unit {unit} was judged, but no revision of its artifact has it.",
                FROM_BACKUP,
            )  # fmt: skip


_OTHER_DRAFTS = {
    RULING: "SELECT 1 FROM ruling WHERE id = ?",
    REFERENCE: "SELECT 1 FROM extract WHERE id = ?",
}


def _drafts(look: _Look) -> Iterator[CheckFinding]:
    question = (
        "SELECT r.content FROM artifact a JOIN revision r ON r.artifact_id = a.id AND r.number = a.revision "
        "WHERE a.id = ?"
    )
    for place, text in look.raw.execute(
        "SELECT CAST(place AS TEXT), CAST(text AS TEXT) FROM draft"
    ).fetchall():
        artifact, unit, name = parts_of(place)
        if artifact in _OTHER_DRAFTS:
            if look.raw.execute(_OTHER_DRAFTS[artifact], [unit]).fetchone() is None:
                yield _lost_draft(place, text)
            continue
        newest = look.raw.execute(question, [artifact]).fetchone()
        if newest is None or not _is_place(newest[0], unit, name):
            yield _lost_draft(place, text)


def _lost_draft(place: str, text: str) -> CheckFinding:
    return CheckFinding(
        "draft", place, f"Unfinished text has lost its place: “{text[:80]}”.",
        "It is kept; enter it again in its place if it is still needed.",
    )  # fmt: skip


def _is_place(content: str, unit: str, name: str) -> bool:
    try:
        document = orjson.loads(content)
        units = {each["id"]: each for each in document["units"]}
    except (ValueError, KeyError, TypeError):
        # Its hash has been reported already.
        return True
    return name in (document if not unit and name == REMARK else units.get(unit, {}))


def _search(look: _Look) -> Iterator[CheckFinding]:
    for item in store.out_of_step(look.raw):
        yield CheckFinding("item", item, f"The search index is out of step with the item {item}.", MENDABLE)
    try:
        look.raw.execute("INSERT INTO item_words(item_words) VALUES ('integrity-check')")
    except sqlite3.DatabaseError:
        yield CheckFinding("item", "", "The search index is damaged.", MENDABLE)


def _judgement(row: Row) -> str:
    at = datetime.fromisoformat(row["at"])
    if at.isoformat(" ", "microseconds") != row["at"]:
        # Python parses several spellings of a time; only one is ever written.
        raise ValueError(row["at"])
    return judgement_hash({**row, "at": at.replace(tzinfo=UTC)})


STEPS: tuple[tuple[str, Step], ...] = (
    ("pages", _pages),
    ("tables", _tables),
    ("making", _making),
    ("links", _links),
    ("items", _hashes("item", item_hash)),
    ("sources", _hashes("source", lambda row: source_hash(row["text"]))),
    ("files of sources", _hashes("source_file", lambda row: sha256(row["content"]))),
    ("responses", _hashes("response", lambda row: response_hash(row["text"]))),
    ("revisions", _hashes("revision", lambda row: sha256(row["content"]))),
    ("extracts", _hashes("extract", lambda row: sha256(row["content"]))),
    ("pages", _hashes("page", _page)),
    ("agreements", _hashes("agreement", lambda row: sha256(row["content"]))),
    ("units paired by judges", _hashes("assisted_pair", lambda row: sha256(row["content"]))),
    ("validation sets", _hashes("validation_set", lambda row: sha256(row["content"]))),
    ("calls", _hashes("call", lambda row: call_hash({**row, "repaired": bool(row["repaired"])}))),
    ("judgements", _hashes("judgement", _judgement)),
    ("history", _hashes("audit", lambda row: row_hash({k: v for k, v in row.items() if k != "row"}))),
    ("all other rows", _witnesses),
    ("documents", _documents),
    ("chains of revisions", _chains),
    ("newest revisions", _newest_revisions),
    ("judged units", _judged_units),
    ("drafts", _drafts),
    ("search", _search),
)


# Kinds whose texts are others': titles of works, the questions they quote, labels.
_OTHERS_WORDS = (Kind.LABELS, Kind.QUERY, Kind.SELECTION, Kind.EVIDENCE)


@dataclass(frozen=True, slots=True)
class CopyOfGold:
    """A copy of an item's gold: all of a text, or a share of its 13-word shingles, and the place with most of them."""

    item: str
    part: str
    text: str
    exact: bool
    share: float
    place: str
    places: int


@dataclass(frozen=True, slots=True)
class CopyReport:
    """The copies found of these texts; `short` ones were not searched for, `unread` files could not be read."""

    copies: tuple[CopyOfGold, ...]
    texts: int
    short: int
    files: int
    unread: tuple[str, ...]

    def words(self) -> list[str]:
        sought, more = counted(self.texts - self.short, "text"), len(self.unread) - _NAMED
        copies = counted(len(self.copies), "copy", "copies")
        return [
            f"Looked for {sought} in {counted(self.files, 'file')}: {copies}.",
            *[f"Not looked for, as shorter than {SHORTEST} words: {counted(self.short, 'text')}."]
            * bool(self.short),
            *(f"Not read: {words}" for words in self.unread[:_NAMED]),
            *[f"Nor were {counted(more, 'more file')}, which --json lists."] * (more > 0),
        ]


def canary(project: Project) -> str:
    """The string by which copies of this project's releases are recognised."""
    return str(project.get(CANARY, "")) or canary_of(project.get("id", ""))


@people.for_coordinators("can look for copies of the gold")
def find_copies(project: Project, paths: Sequence[Path], progress: Progress | None = None) -> CopyReport:
    """Search files and folders for the questions and gold of the items in use; raises Refusal for a missing path.

    Ignores case, punctuation and layout. An encrypted release is decrypted first; that of another project if its
    manifest lies with it. The gold is shown only to coordinators.
    """
    tell, sought = progress or silent, _sought(project)
    finder, files = CopyFinder([text for *_, text in sought]), list(table_files.files_below(paths))
    canaries = {canary(project), *canaries_of(path for path, _ in files)}
    hits = defaultdict[int, dict[str, set[int]]](dict)
    whole, unread = dict[int, str](), list[str]()
    for done, (path, name) in enumerate(files):
        tell("looking through files", done, len(files))
        try:
            for place, text in table_files.texts_of(path):
                for number, start, exact in finder.look(plain_text(text, canaries)):
                    hits[number].setdefault(f"{name}{place}", set()).add(start)
                    if exact:
                        whole.setdefault(number, f"{name}{place}")
        except Refusal as refusal:
            unread.append(f"{name}: {refusal}")
    copies = tuple(
        _copy(*sought[number], whole.get(number, ""), hits[number], finder.shingles(number))
        for number in sorted(hits)
    )
    short = sum(not finder.shingles(number) for number in range(len(sought)))
    return CopyReport(copies, len(sought), short, len(files), tuple(unread))


def _copy(
    item: str, part: str, text: str, whole: str, places: Mapping[str, set[int]], shingles: int
) -> CopyOfGold:
    place = whole or max(places, key=lambda one: len(places[one]))
    share = 1.0 if whole else len(places[place]) / shingles
    return CopyOfGold(item, part, text, bool(whole), share, place, len(places))


def _sought(project: Project) -> list[tuple[str, str, str]]:
    """The key, the part and the text of each question and each unit of gold, item by item."""
    question = select(ITEM.c.id, ITEM.c.key, ITEM.c.question).where(ITEM.c.retired.is_(False))
    with project.store.read() as db:
        rows = db.execute(question.order_by(ITEM.c.position, ITEM.c.key)).all()
        gold = [annotating.judged_rows(db, kind) for kind in Kind if kind not in _OTHERS_WORDS]
    documents = [{own: artifact_of(row) for own, row in of_kind.items()} for of_kind in gold]
    return [
        text
        for own, key, question_text in rows
        for text in (
            (key, "question", question_text),
            *(
                (key, f"{KINDS[artifacts[own].kind].unit} {place}", unit.text)
                for artifacts in documents
                if own in artifacts
                for place, unit in enumerate(artifacts[own].document.units, start=1)
            ),
        )
    ]
