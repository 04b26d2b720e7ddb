"""Import of labels from files: previewed first, then all of them at once or none."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.imports import label_raters
from annotator.actions.imports.label_comparing import Compared, compare
from annotator.actions.imports.label_matching import MatchedLabel, Matcher, MatchingHints
from annotator.actions.imports.label_raters import NamedRater, Raters
from annotator.actions.items.materials import RESPONSE
from annotator.actions.labelling import label_origins, label_writing
from annotator.actions.labelling.label_rows import JUDGEMENT, SAID, UNSURE, is_given, pending
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


@dataclass(frozen=True, slots=True)
class LabelImportOptions:
    """Options of an import: facts that the files do not state, such as raters and systems.

    `raters`: name in the files → an id or alias here; an alias that nobody has makes a person. `systems`: question's
    number → system, for benchmarks' own files. Unless `skip_bad`, one bad entry keeps everything out. With
    `replace` a label takes the place of another one that the same person gave. Labels of files are finished work and
    count at once; as `drafts` they wait for their raters to resume them.
    """

    raters: Mapping[str, str] = field(default_factory=dict)
    system: str = ""
    systems: Mapping[str, str] = field(default_factory=dict)
    protocol: str = USUAL
    skip_bad: bool = False
    replace: bool = False
    drafts: bool = False

    def told(self) -> MatchingHints:
        """What is said of the entries beside the files."""
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
        for rater in self.raters:
            who = "a new person, " if rater.new else ""
            name = "" if rater.name == rater.person.name else f", {rater.person.name}"
            lines.append(f"“{rater.name}” is {who}{rater.person.alias}{name}")
        lines += [f"Note: {note}" for note in self.notes]
        named = ", ".join(f"{count:,} {trouble}" for trouble, count in self.counts.items())
        return lines + ([f"Invalid: {named}"] if named else [])


def preview(
    project: Project, paths: Sequence[Path], options: LabelImportOptions = LabelImportOptions()
) -> LabelImportPreview:
    """What an import of these files would do; writes nothing. Refusal when they hold no labels at all."""
    people.refuse_others(project, "can import other people's labels")
    placed = _placed(project, paths, options)
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
    placed = _placed(project, paths, options)
    with project.store.read() as db:
        report = _preview(_compare(project, db, placed, options), options)
    _refuse_bad(report, options)
    if not (report.new or report.filled or report.replaced):
        return Change("import", "labels", "nothing new", after=_told(report, paths)), report
    backups.make(project, "before an import of labels")
    with project.store.write() as db:
        # Someone may have written since the first look.
        found = _compare(project, db, placed, options)
        report = _preview(found, options)
        _refuse_bad(report, options)
        label_raters.add(project, db, found.raters.new())
        source = _write(project, db, found, placed.spans, tell)
        change = Change("import", new_id(), "import labels", after=_told(report, paths) | source)
        return record(project, db, change), report


@dataclass(frozen=True, slots=True)
class _Placed:
    """Matched labels of the files, before their raters are known."""

    said: tuple[MatchedLabel, ...]
    findings: tuple[EntryFinding, ...]
    notes: tuple[str, ...]
    spans: Spans


def _placed(project: Project, paths: Sequence[Path], options: LabelImportOptions) -> _Placed:
    for path in paths:
        if not path.exists():
            raise Refusal(
                f"There is no “{path.name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
    read = label_files.read(paths)
    if not read.entries and not read.findings:
        raise Refusal("The files hold no labels.", "Choose other files.")
    placed = list(Matcher(project, options.told()).place(read.entries))
    said = tuple(one for one in placed if isinstance(one, MatchedLabel))
    findings = (*read.findings, *(one for one in placed if isinstance(one, EntryFinding)))
    spans = _spans(project, said)
    return _Placed(
        said, findings, (*read.notes, *_about_quotes(spans), *_about_systems(read, options)), spans
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
    found = Compared(Raters(project, options.raters), list(placed.findings), list(placed.notes))
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


def _told(report: LabelImportPreview, paths: Sequence[Path]) -> dict[str, Any]:
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
