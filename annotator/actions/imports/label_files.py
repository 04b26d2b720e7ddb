"""Import of labels from files: previewed first, then all of them at once or none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Row, select
from sqlalchemy.engine import Connection

from annotator.actions.imports import label_raters
from annotator.actions.imports.label_matching import MatchedLabel, Matcher, MatchingHints
from annotator.actions.imports.label_raters import NamedRater, Raters
from annotator.actions.items.materials import RESPONSE
from annotator.actions.labelling import label_origins, label_writing
from annotator.actions.labelling.label_rows import (
    JUDGEMENT,
    SAID,
    UNSURE,
    is_given,
    is_waiting,
    pending,
    sealed_by,
    submits,
)
from annotator.actions.labelling.label_writing import SEVERAL, Fields
from annotator.actions.labelling.labels import FLAGGED
from annotator.actions.project import backups, people
from annotator.actions.project.bulk import BATCH, Progress, insert_rows
from annotator.actions.project.file import Project
from annotator.actions.project.hashing import judgement_hash
from annotator.actions.project.recording import record
from annotator.domain.judges.judgement import Judgement, RaterKind
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identity import new_id, now
from annotator.domain.texts.quotation import Span, find
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats import label_files
from annotator.exchange.formats.label_entries import EntryFinding, EntryTrouble, LabelFileContent
from annotator.exchange.formats.tables import TablesMapping
from annotator.protocols import PROTOCOLS, USUAL

__all__ = [
    "EntryFinding",
    "EntryTrouble",
    "LabelImportOptions",
    "LabelImportPreview",
    "NamedRater",
    "preview",
    "run",
]
SHOWN_PROBLEMS = 1000
Spans = Mapping[tuple[str, str], Span | None]

# Protocol, response, unit, person.
Key = tuple[str, str, str, str]
Label = tuple[MatchedLabel, NamedRater]


@dataclass(slots=True)
class Compared:
    """Labels of files compared with the project's.

    `filled` say more than is here (a value, a quote or a note where there was none), `replacing` something else;
    `replaced` tells of each of those what was said before. `drafts` are there alike, and yet to be submitted.
    """

    raters: Raters
    findings: list[EntryFinding]
    notes: list[str]
    new: list[Label] = field(default_factory=list)
    filled: list[Label] = field(default_factory=list)
    replacing: list[Label] = field(default_factory=list)
    replaced: list[EntryFinding] = field(default_factory=list)
    same: int = 0
    drafts: int = 0


class _Here(NamedTuple):
    """The project's row for a label, if any, and whether it can still change."""

    row: Row[Any] | None
    locked: bool

    @property
    def said(self) -> bool:
        """Whether the person has spoken on it."""
        return self.row is not None and self.row.status in SAID


def compare(db: Connection, said: Iterable[MatchedLabel], found: Compared, *, may_replace: bool) -> Compared:
    """Sort the labels into `found`, in this transaction."""
    labels = _told_apart(_by_rater(said, found), found)
    there = _there(db, {key[0] for key in labels}, {key[3] for key in labels})
    sealed = cache(lambda protocol, person: sealed_by(db, person, protocol))
    for key, label in labels.items():
        locked = label[0].item_id in sealed(key[0], key[3])
        _sort(found, label, _Here(there.get(key), locked), may_replace=may_replace)
    if found.drafts:
        verb = "is a draft and counts" if found.drafts == 1 else "are drafts and count"
        found.notes.append(
            f"{counted(found.drafts, 'label')} that {'is' if found.drafts == 1 else 'are'} there alike {verb} once "
            "submitted, or once let take the place of the drafts"
        )
    return found


def _by_rater(said: Iterable[MatchedLabel], found: Compared) -> Iterator[Label]:
    strangers: dict[str, list[MatchedLabel]] = defaultdict(list)
    for one in said:
        rater = found.raters.of(one.entry)
        if isinstance(rater, str):
            strangers[rater].append(one)
        else:
            yield one, rater
    # Who someone is, is asked once, however many labels are theirs.
    for reason, theirs in strangers.items():
        found.findings.append(theirs[0].entry.finding(EntryTrouble.UNKNOWN_RATER, reason, len(theirs)))


def _told_apart(labels: Iterable[Label], found: Compared) -> dict[Key, Label]:
    """Each label once. Where the files contradict themselves none is taken, for nobody knows which holds."""
    once: dict[Key, Label] = {}
    repeated: dict[Key, list[Label]] = {}
    for said, rater in labels:
        key = (*_place(said), rater.person.id)
        first = once.setdefault(key, (said, rater))
        if first[0] is not said:
            repeated.setdefault(key, [first]).append((said, rater))
    again = 0
    for key, ones in repeated.items():
        if len({_words(said) for said, _ in ones}) == 1:
            again += len(ones) - 1
            continue
        del once[key]
        reason = f"the files give this label of {ones[0][1].person.alias} more than once, and not alike"
        found.findings += [said.entry.finding(EntryTrouble.REPEATED, reason) for said, _ in ones]
    if again:
        found.notes.append(f"Found more than once in the files, and alike: {counted(again, 'label')}")
    return once


def _place(said: MatchedLabel) -> tuple[str, str, str]:
    return said.place.protocol, said.place.response_id, said.place.unit_id


def _words(said: MatchedLabel) -> tuple[str, str, str]:
    return said.value, said.entry.quote, said.entry.note


def _there(db: Connection, protocols: set[str], persons: set[str]) -> dict[Key, Row[Any]]:
    """What these people have said already, by where."""
    j = JUDGEMENT.c
    columns = (j.protocol, j.response_id, j.unit_id, j.rater_id, j.value, j.status, j.quote, j.note, j.flags)
    found: dict[Key, Any] = {}
    for person in sorted(persons):
        whose = (j.rater_kind == RaterKind.PERSON.value) & (j.rater_id == person) & (j.trial == 1)
        for row in db.execute(select(*columns).where(whose, j.protocol.in_(protocols))):
            found[row.protocol, row.response_id, row.unit_id, row.rater_id] = row
    return found


def _sort(found: Compared, label: Label, here: _Here, *, may_replace: bool) -> None:
    """One label: new, the same, more than is here, in the place of another, or refused."""
    (said, rater), row = label, here.row
    alias = rater.person.alias
    other = _difference(said, row, alias) if row is not None else ""
    more = row is not None and (not here.said or any(_adds(said, row, name) for name in ("quote", "note")))
    if here.said and not other and (here.locked or not more):
        _sort_alike(found, label, here, may_replace=may_replace)
    elif here.locked:
        reason = f"{alias} has submitted the labels of this item" + (f"; {other}" if other else "")
        found.findings.append(said.entry.finding(EntryTrouble.SUBMITTED, reason))
    elif other and may_replace:
        found.replacing.append(label)
        found.replaced.append(said.entry.finding(EntryTrouble.CONFLICT, other))
    elif other:
        found.findings.append(said.entry.finding(EntryTrouble.CONFLICT, other))
    else:
        (found.filled if more else found.new).append(label)


def _counts(said: MatchedLabel, row: Row[Any] | None) -> bool:
    """Whether a label that is there counts without being submitted item by item."""
    return row is not None and not submits(said.place.protocol) and not is_waiting(row.flags)


def _sort_alike(found: Compared, label: Label, here: _Here, *, may_replace: bool) -> None:
    """A label that is there alike: as finished as in the file, or a draft on one of the two sides."""
    (said, rater), row = label, here.row
    finished = row is not None and is_given(row.flags)
    if here.locked or finished == is_given(said.flags) or _counts(said, row):
        found.same += 1
    elif may_replace:
        words = "a draft again" if finished else "no draft any more"
        found.replacing.append(label)
        found.replaced.append(
            said.entry.finding(EntryTrouble.CONFLICT, f"{rater.person.alias} said the same; it is {words}")
        )
    else:
        found.same += 1
        found.drafts += not finished


def _difference(said: MatchedLabel, row: Row[Any], alias: str) -> str:
    """What a person has said here otherwise than the file; what either leaves open is no difference."""
    before = row.value or UNSURE
    if row.status in SAID and before != said.value:
        return f"{alias} said “{before}” here, the file says “{said.value}”"
    for name in ("quote", "note"):
        told, kept = getattr(said.entry, name), getattr(row, name)
        if told and kept and told != kept:
            return f"the {name} that {alias} left here is another"
    return ""


def _adds(said: MatchedLabel, row: Row[Any], name: str) -> bool:
    return bool(getattr(said.entry, name)) and not getattr(row, name)


@dataclass(frozen=True, slots=True)
class LabelImportOptions:
    """Options of an import: facts that the files do not state, such as raters and systems.

    `raters`: name in the files → an id or alias here; an alias that nobody has makes a person. `systems`: question's
    number → system, for benchmarks' own files. Unless `skip_bad`, one bad entry keeps everything out. With
    `replace` a label takes the place of another one that the same person gave. Labels of files are finished work and
    count at once; as `drafts` they wait for their raters to resume them. A `mapping` says what the columns of tables
    hold; with `new_raters` names that nobody has become people.
    """

    raters: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    systems: Mapping[str, str] = field(default_factory=dict)
    protocol: str = USUAL
    skip_bad: bool = False
    replace: bool = False
    drafts: bool = False
    mapping: TablesMapping | None = None
    new_raters: bool = False

    def told(self) -> MatchingHints:
        return MatchingHints(self.protocol, self.system, self.systems, drafts=self.drafts)


@dataclass(frozen=True, slots=True)
class LabelImportPreview:
    """The preview or result of an import: new, same and replaced labels.

    `drafts` tells that what comes in does not count before it is submitted.

    `filled` give a value, a quote or a note where a person has left that open here. `findings` are entries that cannot
    be taken; `replaced` those that take the place of what a person said before. `raters` says who each name is, and
    `strangers` lists the names of which nobody has said whose they are.
    """

    new: int
    filled: int
    same: int
    replaced: tuple[EntryFinding, ...]
    findings: tuple[EntryFinding, ...]
    notes: tuple[str, ...]
    raters: tuple[NamedRater, ...]
    strangers: tuple[str, ...] = ()
    drafts: bool = False

    @property
    def changes(self) -> int:
        """How many labels are written."""
        return self.new + self.filled + len(self.replaced)

    @property
    def counts(self) -> dict[str, int]:
        """How many entries cannot be taken, by what is wrong with them."""
        found: Counter[str] = Counter()
        for finding in self.findings:
            found[finding.trouble.value] += finding.labels
        return dict(found.most_common())

    def words(self) -> list[str]:
        """The report in lines."""
        state = "as drafts" if self.drafts else "finished work that counts at once"
        lines = [f"New: {counted(self.new, 'label')}{f', {state}' if self.new else ''}"]
        lines += [f"Completed:  {counted(self.filled, 'label')}"] if self.filled else []
        lines += [f"Already there: {counted(self.same, 'label')}"] if self.same else []
        lines += [f"Replaced:  {counted(len(self.replaced), 'label')}"] if self.replaced else []
        lines += [f"  {finding}" for finding in self.replaced]
        lines += self.raters_in_words()
        lines += [f"Note: {note}" for note in self.notes]
        named = ", ".join(f"{count:,} {trouble}" for trouble, count in self.counts.items())
        return lines + ([f"Invalid: {named}"] if named else [])

    def raters_in_words(self) -> list[str]:
        """Who each name of the files is here."""
        return [
            f"“{rater.name}” is {'a new person, ' if rater.new else ''}{rater.person.alias}"
            + ("" if rater.name == rater.person.name else f", {rater.person.name}")
            for rater in self.raters
        ]


def preview(
    project: Project, paths: Sequence[Path], options: LabelImportOptions = LabelImportOptions()
) -> LabelImportPreview:
    """What an import of these files would do; writes nothing. Refusal when they hold no labels at all."""
    people.refuse_others(project, "can import other people's labels")
    placed = _placed(project, read(paths, options), options)
    with project.store.read() as db:
        return _preview(_compare(project, db, placed, options), options)


def run(
    project: Project,
    paths: Sequence[Path],
    options: LabelImportOptions = LabelImportOptions(),
    progress: Progress | None = None,
) -> tuple[Change, LabelImportPreview]:
    """Take the labels in, in one transaction. Unless `skip_bad`, one bad entry keeps everything out.

    A label that is there already is passed over; one that a person has given otherwise is refused, or with `replace`
    put in its place, the former kept in the audit. What is submitted never changes.
    """
    people.refuse_others(project, "can import other people's labels")
    tell = progress or _silent
    tell("reading files", 0, len(paths))
    placed = _placed(project, read(paths, options), options)
    with project.store.read() as db:
        report = _preview(_compare(project, db, placed, options), options)
    _refuse_bad(report, options)
    if not report.changes:
        return Change("import", "labels", "nothing new", after=_told(report, paths)), report
    backups.make(project, "before an import of labels")
    with project.store.write() as db:
        # Someone may have written since the first look.
        report, source = _take(project, db, placed, options, tell)
        _refuse_bad(report, options)
        change = Change("import", new_id(), "import labels", after=_told(report, paths) | source)
        return record(project, db, change), report


def take(
    project: Project, db: Connection, content: LabelFileContent, options: LabelImportOptions, tell: Progress
) -> LabelImportPreview:
    """Take labels in within a transaction that brings what they are about; what is wrong with the others is listed."""
    people.refuse_others(project, "can import other people's labels")
    report, source = _take(project, db, _placed(project, content, options), options, tell)
    if report.changes:
        files = sorted({entry.file for entry in content.entries})
        change = Change("import", new_id(), "import labels", after=_told(report, map(Path, files)) | source)
        record(project, db, change)
    return report


def _take(
    project: Project, db: Connection, placed: "_Placed", options: LabelImportOptions, tell: Progress
) -> tuple[LabelImportPreview, Fields]:
    compared = _compare(project, db, placed, options)
    label_raters.add(project, db, compared.raters.new())
    source = _write(project, db, compared, placed.spans, tell)
    return _preview(compared, options), source


def read(paths: Sequence[Path], options: LabelImportOptions) -> LabelFileContent:
    """What the files hold; Refusal when there is no label at all."""
    for path in paths:
        if not path.exists():
            raise Refusal(
                f"There is no “{path.name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
    content = label_files.read(paths, options.mapping)
    if not content.entries and not content.findings:
        raise Refusal("The files hold no labels.", "Choose other files.")
    return content


@dataclass(frozen=True, slots=True)
class _Placed:
    """Matched labels of the files, before their raters are known."""

    said: tuple[MatchedLabel, ...]
    findings: tuple[EntryFinding, ...]
    notes: tuple[str, ...]
    spans: Spans


def _placed(project: Project, content: LabelFileContent, options: LabelImportOptions) -> _Placed:
    placed = list(Matcher(project, options.told()).place(content.entries))
    said = tuple(one for one in placed if isinstance(one, MatchedLabel))
    findings = (*content.findings, *(one for one in placed if isinstance(one, EntryFinding)))
    spans = _spans(project, said)
    return _Placed(
        said, findings, (*content.notes, *_about_quotes(spans), *_about_systems(content, options)), spans
    )


def _about_quotes(spans: Spans) -> list[str]:
    lost = sum(span is None for span in spans.values())
    return (
        [f"{counted(lost, 'quote')} cannot be found in the reports; they are kept as they are"]
        if lost
        else []
    )


def _about_systems(read: LabelFileContent, options: LabelImportOptions) -> list[str]:
    """Where a benchmark's own file names another system than the one it was said to be of."""
    told = options.told()
    other = {
        entry.file: f"{entry.file} speaks of “{entry.system[:80]}”, and is taken for “{told.system_of(entry)}” as told"
        for entry in read.entries
        if entry.peer and entry.system and entry.system != told.system_of(entry)
    }
    return list(other.values())


def _spans(project: Project, said: Iterable[MatchedLabel]) -> Spans:
    """Where each quote stands in its report; of protocols whose quotes are from pages nothing is looked up."""
    quotes: dict[str, dict[str, None]] = defaultdict(dict)
    for one in said:
        if one.entry.quote and not PROTOCOLS[one.place.protocol].parts:
            quotes[one.place.response_id][one.entry.quote] = None
    found: dict[tuple[str, str], Span | None] = {}
    for response_id, listed in quotes.items():
        with project.store.read() as db:
            text = db.execute(select(RESPONSE.c.text).where(RESPONSE.c.id == response_id)).scalar_one()
        found |= {(response_id, quote): find(text, quote) for quote in listed}
    return found


def _compare(project: Project, db: Connection, placed: _Placed, options: LabelImportOptions) -> Compared:
    found = Compared(
        Raters(project, options.raters, add_unknown=options.new_raters),
        list(placed.findings),
        list(placed.notes),
    )
    return compare(db, placed.said, found, may_replace=options.replace)


def _preview(found: Compared, options: LabelImportOptions) -> LabelImportPreview:
    met = tuple(rater for rater in found.raters.met.values() if isinstance(rater, NamedRater))
    unmet = [f"no rater in the files is called “{name}”" for name in found.raters.unmet()]
    return LabelImportPreview(
        len(found.new), len(found.filled), found.same, tuple(found.replaced), tuple(found.findings),
        (*found.notes, *unmet), met, tuple(sorted(found.raters.strangers())), options.drafts,
    )  # fmt: skip


def _refuse_bad(report: LabelImportPreview, options: LabelImportOptions) -> None:
    bad = report.findings
    if bad and not options.skip_bad:
        more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
        only_conflicts = {finding.trouble for finding in bad} == {EntryTrouble.CONFLICT}
        raise Refusal(
            f"{str(bad[0]).rstrip('.')}{more}. Nothing was imported.",
            "Skip these, or let the file's labels replace the others."
            if only_conflicts
            else "Correct the files, or import only the valid records.",
            tuple(str(finding) for finding in bad[:SHOWN_PROBLEMS]),
        )


def _told(report: LabelImportPreview, paths: Iterable[Path]) -> dict[str, Any]:
    whose = {rater.name: rater.person.alias for rater in report.raters}
    named = {"files": sorted(path.name for path in paths), "raters": whose}
    counts = {"new": report.new, "filled": report.filled, "replaced": len(report.replaced)}
    return {"format": "labels", **named, **counts}


def _write(project: Project, db: Connection, found: Compared, spans: Spans, tell: Progress) -> Fields:
    """Write the labels; what the audit keeps so that `label_origins` can tell of which file each came."""
    at, named = now(), [said.entry.file for said, _ in (*found.new, *found.filled, *found.replacing)]
    files = sorted(set(named))
    moments = label_origins.moments(at, files)
    for start in range(0, len(found.new), BATCH):
        rows = [
            _row(said, rater, spans) | {"at": moments[said.entry.file]}
            for said, rater in found.new[start : start + BATCH]
        ]
        insert_rows(db, JUDGEMENT, [row | {"sha256": judgement_hash(row)} for row in rows], _silent)
        tell("writing labels", min(start + BATCH, len(found.new)), len(found.new))
    before: dict[str, Fields] = {}
    after: dict[str, Fields] = {}
    for said, rater in (*found.filled, *found.replacing):
        old = label_writing.kept(db, said.place, rater.person.id, by_file=True)
        if old is None:
            raise LookupError(f"the label {said.place} of {rater.person.id} is gone within one transaction")
        row = Judgement(**old | _put(said, old, spans) | {"at": moments[said.entry.file]}).model_dump()
        row = _standing(said, old, row)
        label_writing.write(db, row, new=False)
        before[row["id"]], after[row["id"]] = label_writing.image(old), label_writing.image(row)
    if before:
        change = Change(
            "judgement", next(iter(before)), "replace labels", {SEVERAL: before}, {SEVERAL: after}
        )
        record(project, db, change)
    return {"at": at.isoformat(), "sources": files}


def _row(said: MatchedLabel, rater: NamedRater, spans: Spans) -> Fields:
    values: Fields = {
        "id": new_id(), "protocol": said.place.protocol, "item_id": said.item_id,
        "response_id": said.place.response_id, "artifact_id": said.artifact_id, "unit_id": said.place.unit_id,
        "rater_kind": RaterKind.PERSON.value, "rater_id": rater.person.id, "note": said.entry.note, "at": now(),
    }  # fmt: skip
    return _standing(said, None, Judgement(**values | said.fields() | _quoted(said, spans)).model_dump())


def _standing(said: MatchedLabel, before: Fields | None, row: Fields) -> Fields:
    """A draft waits for its submission; what is finished counts at once."""
    return row if is_given(said.flags) else pending(before, row) or row


def _quoted(said: MatchedLabel, spans: Spans) -> Fields:
    start, end = spans.get((said.place.response_id, said.entry.quote)) or (None, None)
    return {"quote": said.entry.quote, "quote_start": start, "quote_end": end}


def _put(said: MatchedLabel, old: Fields, spans: Spans) -> Fields:
    """What changes in a row: all of it with another value, otherwise only what the file says more."""
    fields = said.fields()
    whole = old["status"] in SAID and (old["value"] or UNSURE) != said.value
    quoted = _quoted(said, spans) if whole or said.entry.quote else {}
    noted = {"note": said.entry.note} if whole or said.entry.note else {}
    own = [FLAGGED] if FLAGGED in old["flags"].split() else []
    return fields | quoted | noted | {"flags": " ".join([*str(fields["flags"]).split(), *own])}


def _silent(_stage: str, _done: int, _total: int) -> None:
    """Progress that nobody listens to."""
